"""The mistakes that everybody makes about options, colours and widths.

Owns the sentences for them. Must never know the grammar; `thudmud.commands.place` does.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from thudmud.commands.near import near_miss
from thudmud.commands.options import SHADES, WIDTHS
from thudmud.commands.place import Finding, Place, goes_on, is_sound

_HUES = SHADES[:8]
_NAMED = f"{', '.join(_HUES[:-1])} or {_HUES[-1]}"
_NUMBER = re.compile("(-?)0*([0-9]+)", re.ASCII)
_SIX_DIGITS = re.compile("[0-9a-f]{6}", re.ASCII | re.IGNORECASE)
_THREE_DIGITS = re.compile("#([0-9a-f]{3})", re.ASCII | re.IGNORECASE)
_PLURALS = {"colours": "colour", "colors": "colour"}
_SWITCHED = {"yes": "on", "no": "off", "none": "off"}
_LEFT_OUT = {
    "": ("scan", "options", "set board"),
    "scan": ("row", "column"),
    "set": ("board", "rules"),
    "options": ("charset", "width", "orient", "colour scheme", "colour special thud"),
    "options colour": ("scheme", "special thud"),
    "options colour special": ("thud",),
}
"""After which beginnings words are left out, and which. What might be meant for several of them,
as "on" might, is in none."""


def _no_such_width(place: Place) -> Finding:
    """``options width 7``."""
    number = _NUMBER.fullmatch(place.word)
    if number is None or "COLUMNS" not in place.terminals:
        return None
    sign, digits = number.groups()
    if not sign and is_sound(f"{place.before} {digits}"):
        return None, digits
    return f"A screen is {WIDTHS[0]} to {WIDTHS[-1]} columns wide here.", None


def _no_such_number_of_a_colour(place: Place) -> Finding:
    """``256``, ``#ff8``, ``ff8800``: colours that are not written as we write them."""
    if "SHADE" not in place.terminals:
        return None
    word = place.word
    number, short = _NUMBER.fullmatch(word), _THREE_DIGITS.fullmatch(word)
    if _SIX_DIGITS.fullmatch(word):
        return None, f"#{word.lower()}"
    if short is not None:
        return None, "#" + "".join(digit * 2 for digit in short[1].lower())
    if word.startswith("#"):
        return 'Write # and six digits, 0 to 9 and a to f, such as "#ff8800".', None
    if number is None:
        return None
    sign, digits = number.groups()
    if not sign and is_sound(f"{place.before} {digits}"):
        return None, digits
    return "The numbers of colours go from 0 to 255.", None


def _no_such_colour(place: Place) -> Finding:
    """``orange``, ``bright``: a word that is no colour."""
    word = place.word.lower()
    if "SHADE" not in place.terminals or not word.isalnum():
        return None
    if word == "bright":
        following = place.rest[len(word) :].split(" ")
        meant = near_miss(following[1], _HUES) if len(following) > 1 else None
        return f'After "bright" comes {_NAMED}.', meant and f"bright {meant}"
    meant = near_miss(word, [*place.spellings, *_HUES, "bright", "grey"])
    if meant is not None and meant not in _HUES:
        return None, meant
    named = f'{_NAMED}, "bright" before them or not'
    return f"That is no colour here: name {named}; or a number, 0 to 255, or #rrggbb.", meant


def _second_colour(place: Place) -> Finding:
    """``red blue``: the second is the ground."""
    before, word = place.before.lower(), place.word
    if not re.match("options? colou?r special ", before) or "_ON" not in place.terminals:
        return None
    return (None, f"on {word}") if word and is_sound(f"{before} on {word}") else None


def _words_left_out(place: Place) -> Finding:
    """``options vivid``, ``colour off``, ``colours``, ``scan 5``, ``brief``."""
    before = re.sub(r"\boption\b", "options", place.before.lower())
    before = re.sub(r"\bcolor\b", "colour", before)
    word = _PLURALS.get(place.word.lower(), place.word)
    for words in _LEFT_OUT.get(before, ()):
        if place.word and goes_on(f"{before} {words}".strip(), word):
            return None, f"{words} {word}"
    return None


def _yes_or_no(place: Place) -> Finding:
    """``options colour yes``."""
    meant = _SWITCHED.get(place.word.lower())
    return (None, meant) if meant and {"_ON", "OFF"} <= place.terminals else None


def _set_like_an_option(place: Place) -> Finding:
    """``set width 60``."""
    option = f"options {place.rest}"
    if place.before.lower() != "set" or not place.rest or not is_sound(option):
        return None
    return f'That is one of the options: type "{option}".', None


OPTION_SLIPS: tuple[Callable[[Place], Finding], ...] = (
    _no_such_width,
    _no_such_number_of_a_colour,
    _no_such_colour,
    _second_colour,
    _words_left_out,
    _yes_or_no,
    _set_like_an_option,
)
