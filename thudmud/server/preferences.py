"""A member's preferences, as they are kept with the account: plain JSON.

Owns the names in it. Must never raise for what it does not know: an older or newer version of this
program may have written it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thudmud.commands import Style

_STYLES = "styles"
_KNOWN = {style.value: style for style in Style}


def styles_of(preferences: Mapping[str, Any]) -> dict[str, Style]:
    """Return how a member wants to see boards, by the boards' names."""
    kept = preferences.get(_STYLES)
    if not isinstance(kept, Mapping):
        return {}
    return {board: _KNOWN[value] for board, value in kept.items() if value in _KNOWN}


def stored_styles(styles: Mapping[str, Style]) -> dict[str, Any]:
    """Return the preference that `styles_of` reads."""
    return {_STYLES: {board: style.value for board, style in styles.items()}}
