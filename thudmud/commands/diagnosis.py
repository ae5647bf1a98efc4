"""Why a line could not be read: the word it stumbled on, and what was probably meant.

Owns the plain names of what may stand in a line. Must never show anything to anybody:
``thudmud.text.mistakes`` does.
"""

from __future__ import annotations

from functools import lru_cache

from thudmud.commands.building_options import spoken
from thudmud.commands.errors import ParseError
from thudmud.commands.language import END_OF_LINE, WORDS
from thudmud.commands.near import near_miss
from thudmud.commands.options import WIDTHS
from thudmud.commands.place import Place
from thudmud.commands.slips import SLIPS
from thudmud.commands.slips_options import OPTION_SLIPS

_PHRASES = {
    "POSITION": "a position such as A6",
    "OBJECT": "the name of a board",
    "PLAYER": "the name of a player",
    "NUMBER": "a number such as 12",
    "ROW": "a row such as 5",
    "COLUMN": "a column such as F",
    "COLUMNS": f"a number from {WIDTHS[0]} to {WIDTHS[-1]}",
    "SHADE": "a colour such as red",
    "SPEECH": "what you want to say",
    "DEED": "what you do",
    "_COMMA": 'a comma, "and"',
}
"""What stands for more than its own letters, in plain words; told before the keywords."""


def diagnose(line: str, column: int) -> ParseError:
    """Return what is wrong with a cleaned line that makes sense up to a column."""
    place = Place.of(line, column)
    found = filter(None, (slip(place) for slip in (*SLIPS, *OPTION_SLIPS)))
    detail, suggestion = next(found, (None, None))
    return ParseError(
        line,
        place.column,
        place.word,
        expected=_phrases(place.terminals),
        suggestion=suggestion or _nearest(place.word, place.spellings, first=place.column == 0),
        detail=detail,
    )


_nearest = lru_cache(maxsize=1024)(near_miss)
"""The same slips are made again and again, and to compare a word with all others takes long."""


@lru_cache(maxsize=256)
def _phrases(terminals: frozenset[str]) -> tuple[str, ...]:
    if "_CAPTURING" in terminals:
        terminals -= {"_COMMA"}  # it may stand before "capturing", but says nothing there
    if "MOVE" in terminals:
        terminals -= {"_MOVES"}  # "last moves" is "last move"
    more = {"LAST": " move"} if "SQUARES" in terminals else {}  # an element, not the verb
    return (
        *(phrase for name, phrase in _PHRASES.items() if name in terminals),
        *(f'"{spoken(name)}{more.get(name, "")}"' for name in WORDS if name in terminals),
        *(["the end of the line"] if END_OF_LINE in terminals else []),
    )
