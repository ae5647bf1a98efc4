"""How a character wants to be shown boards, kept with the character.

Owns the one Attribute that it is kept in. Must never fail for what it does not know: another
version may have written it.
"""

from __future__ import annotations

import json
from typing import Any

from thudmud.language.preferences import options_of, stored, styles_of
from thudmud.play.commands import Style
from thudmud.play.options import Options

_ATTRIBUTE = "thud_preferences"


def kept(character: Any) -> tuple[Options, dict[str, Style]]:
    """Return the options of a character, and the styles that they have chosen, by boards' ids."""
    try:
        preferences = json.loads(character.attributes.get(_ATTRIBUTE, default="{}"))
    except (TypeError, ValueError):
        preferences = {}
    if not isinstance(preferences, dict):
        preferences = {}
    return options_of(preferences), styles_of(preferences)


def keep(character: Any, options: Options, styles: dict[str, Style]) -> None:
    """Keep them."""
    character.attributes.add(_ATTRIBUTE, json.dumps(stored(styles, options)))
