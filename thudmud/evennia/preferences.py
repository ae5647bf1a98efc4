"""How a character wants to be shown boards, kept with the character in one Attribute.

What is not known there is passed over: another version may have written it.
"""

from __future__ import annotations

import json
from typing import Any

from thudmud.language.preferences import options_of, stored, styles_of
from thudmud.play.commands import Style
from thudmud.play.options import Options

_ATTRIBUTE = "thud_preferences"


def options(character: Any) -> Options:
    """Return how a character wants to see everything."""
    return options_of(_kept(character))


def styles(character: Any) -> dict[str, Style]:
    """Return the styles that a character has chosen, by the boards' ids."""
    return styles_of(_kept(character))


def keep(character: Any, options: Options, styles: dict[str, Style]) -> None:
    """Keep them."""
    character.attributes.add(_ATTRIBUTE, json.dumps(stored(styles, options)))


def _kept(character: Any) -> dict[str, Any]:
    try:
        preferences = json.loads(character.attributes.get(_ATTRIBUTE, default="{}"))
    except (TypeError, ValueError):
        return {}
    return preferences if isinstance(preferences, dict) else {}
