"""A member's preferences, as they are kept with the account: plain JSON.

An older or newer version of this program may have written them: what is not known is passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thudmud.language.parsing import ParseError, parse
from thudmud.play.commands import Style
from thudmud.play.options import (
    Options,
    SetCharset,
    SetColour,
    SetElement,
    SetMachine,
    SetOption,
    SetOrient,
    SetReader,
    SetScheme,
    SetWidth,
    after,
)

_STYLES = "styles"
_OPTIONS = "options"
_KNOWN = {style.value: style for style in Style}


def styles_of(preferences: Mapping[str, Any]) -> dict[str, Style]:
    """Return how a member wants to see boards, by the boards' names."""
    kept = preferences.get(_STYLES)
    if not isinstance(kept, Mapping):
        return {}
    return {board: _KNOWN[value] for board, value in kept.items() if value in _KNOWN}


def options_of(preferences: Mapping[str, Any]) -> Options:
    """Return how a member wants to see everything."""
    kept = preferences.get(_OPTIONS)
    options = Options()
    for line in kept if isinstance(kept, list) else ():
        if choice := chosen_by(str(line)):
            options = after(options, choice)
    return options


def chosen_by(line: str) -> SetOption | None:
    """Return the choice of an option that a line is; None if it is anything else."""
    try:
        command = parse(line)
    except ParseError:
        return None
    return command if isinstance(command, SetOption) else None


def stored(styles: Mapping[str, Style], options: Options) -> dict[str, Any]:
    """Return the preferences that `styles_of` and `options_of` read.

    The options are kept as the commands that choose them: those are what stays the same.
    """
    choices: list[SetOption] = [
        SetCharset(options.charset),
        SetColour(options.colour),
        SetWidth(options.width),
        SetOrient(options.orient),
        SetReader(options.reader),
        SetMachine(options.machine),
        SetScheme(options.scheme),
        *(SetElement(element, colour) for element, colour in options.elements),
    ]
    return {
        _STYLES: {board: style.value for board, style in styles.items()},
        _OPTIONS: [str(choice) for choice in choices],
    }
