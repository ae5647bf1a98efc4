"""Why a line could not be read: the word it stumbled on, and what was probably meant.

Owns the plain names of what may stand in a line, and the sentences for mistakes that everybody
makes. Must never show anything to anybody: ``thudmud.text.mistakes`` does.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from lark import UnexpectedInput, UnexpectedToken

from thudmud.commands.building_options import spoken
from thudmud.commands.errors import ParseError
from thudmud.commands.language import END_OF_LINE, WORDS, following
from thudmud.commands.near import near_miss

_PHRASES = {
    "POSITION": "a position such as A6",
    "OBJECT": "the name of a board",
    "PLAYER": "the name of a player",
    "NUMBER": "a number such as 12",
    "SPEECH": "what you want to say",
    "DEED": "what you do",
    "_COMMA": "a comma",
}
"""What stands for more than its own letters, in plain words; told before the keywords."""

_ROWS = range(1, 16)
_NAMED_POSITION = re.compile(r"([A-Z]) ?([0-9]{1,4})(?![0-9A-Z_])", re.ASCII | re.IGNORECASE)
_GLUED_POSITIONS = re.compile(
    r"([A-O][0-9]{1,2})[-x>;/]{0,2}([A-O][0-9]{1,2})", re.ASCII | re.IGNORECASE
)
_ENDS_IN_POSITION = re.compile(r"[A-O] ?[0-9]{1,2}$", re.ASCII | re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]{1,4}(?=[ ,]|$)")
_MEANT_NUMBER = re.compile(r"#?0*([0-9]*)[.#]?", re.ASCII)
_LONGEST_NUMBER = 9
_AGREEING = {"yes", "y", "yeah", "ok", "okay", "agree", "agreed", "accept", "accepted"}
_HIDDEN = {"register", "password"}


def diagnose(line: str, error: UnexpectedInput) -> ParseError:
    """Return what is wrong with a cleaned line that the grammar refused with ``error``."""
    place = _Place.of(line, _column(line, error))
    detail, suggestion = next(filter(None, (found(place) for found in _MISTAKES)), (None, None))
    return ParseError(
        line,
        place.column,
        place.word,
        expected=_phrases(place.terminals),
        suggestion=suggestion or near_miss(place.word, place.spellings, first=place.column == 0),
        detail=detail,
    )


def _column(line: str, error: UnexpectedInput) -> int:
    at_end = isinstance(error, UnexpectedToken) and error.token.type == END_OF_LINE
    if at_end or error.pos_in_stream is None:
        return len(line)  # Lark gives the end the place of the last word
    return error.pos_in_stream


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a line stopped making sense: in which column, and which terminals might have come."""

    line: str
    column: int
    terminals: frozenset[str]

    @classmethod
    def of(cls, line: str, column: int) -> _Place:
        return cls(line, column, _following(line[:column].strip()))

    @property
    def before(self) -> str:
        """What made sense."""
        return self.line[: self.column].strip()

    @property
    def rest(self) -> str:
        """What did not, to the end of the line."""
        return self.line[self.column :]

    @property
    def word(self) -> str:
        """What stands there, up to a blank or a comma; a comma is a word of its own."""
        return self.rest[:1] if self.rest.startswith(",") else _unbroken(self.rest)

    @property
    def whole_word(self) -> str:
        """The same with the letters right before it, if it is the end of a word."""
        return _unbroken(self.line[: self.column][::-1])[::-1] + self.word

    @property
    def spellings(self) -> list[str]:
        """All keywords that might have stood there."""
        return [word for name, words in WORDS.items() if name in self.terminals for word in words]


def _unbroken(text: str) -> str:
    return re.split("[ ,]", text, maxsplit=1)[0]


_following = lru_cache(maxsize=256)(following)


def _phrases(terminals: frozenset[str]) -> tuple[str, ...]:
    if "_CAPTURING" in terminals:
        terminals -= {"_COMMA"}  # it may stand before "capturing", but says nothing there
    return (
        *(phrase for name, phrase in _PHRASES.items() if name in terminals),
        *(f'"{spoken(name)}"' for name in WORDS if name in terminals),
        *(["the end of the line"] if END_OF_LINE in terminals else []),
    )


_Finding = tuple[str | None, str | None] | None
"""A sentence for a mistake, if it needs one of its own, and what was probably meant if that is
known."""


def _split_number(place: _Place) -> _Finding:
    """``A1 5``: a blank between the digits of a row."""
    position = _ENDS_IN_POSITION.search(place.before)
    digits = _DIGITS.match(place.rest)
    if position is None or digits is None:
        return None
    meant = position[0].upper().replace(" ", "") + digits[0]
    sentence = f'There is a blank inside a number: "{position[0]} {digits[0]}".'
    return sentence, meant if int(meant[1:]) in _ROWS else None


def _no_such_position(place: _Place) -> _Finding:
    """``I16``, ``Z3``: what looks like a position but lies outside the grid."""
    named = _NAMED_POSITION.match(place.rest)
    if named is None or "POSITION" not in place.terminals:
        return None
    if named[1].upper() > "O":
        return f"There is no column {named[1].upper()}: columns go from A to O.", None
    if int(named[2]) not in _ROWS:
        return f"There is no row {named[2]}: rows go from 1 to 15.", None
    return None


def _glued_positions(place: _Place) -> _Finding:
    """``a6b6``, ``a6-b6``: two positions in one word."""
    glued = _GLUED_POSITIONS.fullmatch(place.whole_word)
    if glued is None or not (
        "POSITION" in place.terminals or _ENDS_IN_POSITION.search(place.before)
    ):
        return None
    return f"Write {glued[1].upper()} and {glued[2].upper()} apart from each other.", None


def _captures_nothing(place: _Place) -> _Finding:
    """A shove that does not say what it captures."""
    if (
        place.rest
        or not place.before.lower().startswith("shove ")
        or "_CAPTURING" not in place.terminals
    ):
        return None
    return 'A shove has to capture: add "capturing" and positions such as D8, E8, or "all".', None


def _no_such_number(place: _Place) -> _Finding:
    """``#12``, ``012``, ``0``, ``12345678901``: what is a number, but not as we write them."""
    digits = _MEANT_NUMBER.fullmatch(place.word)
    if digits is None or place.word in {"", "#"} or "NUMBER" not in place.terminals:
        return None
    if not digits[1]:
        return "Numbers begin with 1 here.", None
    if len(digits[1]) > _LONGEST_NUMBER:
        return f"That number is too long: numbers have at most {_LONGEST_NUMBER} digits.", None
    return None, digits[1]


def _no_number(place: _Place) -> _Finding:
    """``replay``, ``record anna``: a battle that is not said by its number."""
    if place.before.lower() not in {"replay", "record"}:
        return None
    return 'Say which battle, by its number: "history" lists them.', None


def _page_without_a_word(place: _Place) -> _Finding:
    """``history 2``."""
    digits = _MEANT_NUMBER.fullmatch(place.word)
    if digits is None or not digits[1] or "_PAGE" not in place.terminals:
        return None
    return None, f"page {digits[1]}"


def _agreeing(place: _Place) -> _Finding:
    """``yes``: it might answer several offers, so it answers none."""
    if place.column or place.word.lower().rstrip(".!") not in _AGREEING:
        return None
    return 'To agree to an offer say the same: "undo", "end", "start" or "adjourn".', None


def _playing(place: _Place) -> _Finding:
    """``play dwarf``: the word is about a replay, and others use it for sitting down."""
    if place.before.lower() != "play":
        return None
    return 'To take a seat, type "join game as dwarf" or "join game as troll".', None


def _said_openly(place: _Place) -> _Finding:
    """``register swordfish``: a password in the line itself."""
    verb = place.before.lower()
    if verb not in _HIDDEN:
        return None
    return f'Type "{verb}" by itself: you are asked for the rest, and it is not shown.', None


_MISTAKES: tuple[Callable[[_Place], _Finding], ...] = (
    _split_number,
    _no_such_position,
    _glued_positions,
    _captures_nothing,
    _no_such_number,
    _no_number,
    _page_without_a_word,
    _agreeing,
    _playing,
    _said_openly,
)
