"""Conversion between a member's preferences and the JSON stored with the account.

Unknown preferences are ignored, since an older or newer version may have written them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from thudmud.features.options.commands import (
    SetCharset,
    SetColour,
    SetElement,
    SetOrient,
    SetReader,
    SetRows,
    SetScheme,
    SetSize,
    SetToggle,
    SetWidth,
)
from thudmud.game.archive import PLAN
from thudmud.game.options import Options, Profile, SetOption, Style, Toggle
from thudmud.game.people import LONGEST_PLAN, MOST_FOLLOWED, MOST_IGNORED, Person
from thudmud.language.cleaning import clean
from thudmud.language.parsing import parse_option

_STYLES = "styles"
_OPTIONS = "options"
_IGNORED = "ignored"
_FOLLOWED = "followed"
_NEWS = "news"
_KNOWN = {style.value: style for style in Style}


def styles_of(preferences: Mapping[str, Any]) -> dict[str, Style]:
    """Return the board styles in a member's preferences, by the name of the board."""
    kept = preferences.get(_STYLES)
    if not isinstance(kept, Mapping):
        return {}
    return {board: _KNOWN[value] for board, value in kept.items() if value in _KNOWN}


def options_of(preferences: Mapping[str, Any]) -> Options:
    """Return the options in a member's preferences."""
    kept = preferences.get(_OPTIONS)
    options = Options()
    for line in kept if isinstance(kept, list) else ():
        if choice := parse_option(str(line)):
            options = choice.apply_to(options)
    return options


def profile_of(preferences: Mapping[str, Any]) -> Profile:
    """Parse a member's preferences."""
    return Profile(
        styles_of(preferences),
        options_of(preferences),
        ignored_of(preferences),
        str(preferences.get(_NEWS, "")),
        followed_of(preferences),
        clean(str(preferences.get(PLAN, "")))[:LONGEST_PLAN],
    )


def ignored_of(preferences: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of players that a member ignores."""
    return _names(preferences.get(_IGNORED))[:MOST_IGNORED]


def followed_of(preferences: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of players that a member follows."""
    return _names(preferences.get(_FOLLOWED))[:MOST_FOLLOWED]


def _names(kept: object) -> tuple[str, ...]:
    return tuple(map(str, kept)) if isinstance(kept, list) else ()


def preferences_of(
    styles: Mapping[str, Style],
    options: Options,
    ignored: Iterable[str] = (),
    news: str = "",
    *,
    followed: Iterable[str] = (),
    plan: str = "",
) -> dict[str, Any]:
    """Return preferences as JSON values, the inverse of `profile_of`.

    Options are stored as the lines of the commands that set them, since commands remain compatible.
    """
    choices: list[SetOption] = [
        SetCharset(options.charset),
        SetColour(options.colour),
        SetWidth(options.width),
        SetOrient(options.orient),
        SetSize(options.size),
        SetReader(options.reader),
        SetRows(options.rows),
        *(SetToggle(toggle, options.has(toggle)) for toggle in Toggle),
        SetScheme(options.scheme),
        *(SetElement(element, colour) for element, colour in options.elements),
    ]
    return {
        _STYLES: {board: style.value for board, style in styles.items()},
        _OPTIONS: [str(choice) for choice in choices],
        _IGNORED: list(ignored),
        _FOLLOWED: list(followed),
        PLAN: plan,
        **({_NEWS: news} if news else {}),
    }


def preferences_of_person(person: Person) -> dict[str, Any]:
    """Return everything that a player has chosen as JSON values, see `preferences_of`."""
    return preferences_of(
        person.styles,
        person.options,
        person.ignored,
        person.news,
        followed=person.followed,
        plan=person.plan,
    )
