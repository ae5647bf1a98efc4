"""A line of text -> a command, or a ParseError.

Owns the door: nothing that anybody types gets past it but a command. Must never know what a
command does.
"""

from __future__ import annotations

from functools import lru_cache

from lark import UnexpectedInput, UnexpectedToken

from thudmud.commands.cleaning import MAX_LINE, clean
from thudmud.commands.diagnosis import diagnose
from thudmud.commands.errors import ParseError
from thudmud.commands.language import (
    END_OF_LINE,
    RESERVED_WORDS,
    WORDS,
    following,
    openings,
    opens,
    read,
    read_any_words,
)
from thudmud.commands.model import Command

_FIRST = following("")

VERBS: tuple[str, ...] = tuple(
    word for name, words in WORDS.items() if name in _FIRST for word in words
)
"""The words and signs that a line can begin with, in the order of the grammar."""

_OF_ROOMS = openings("room_command")

BOARD_VERBS: tuple[str, ...] = tuple(
    word for name, words in WORDS.items() if name in _FIRST - _OF_ROOMS for word in words
)
"""Those of them that ask for something about boards, or how they are shown."""

KEYWORDS: frozenset[str] = frozenset(
    word for phrase in (*RESERVED_WORDS, *VERBS) for word in phrase.split()
)
"""The lower-case words of the command language, which no player may be named like."""


def second_words(verb: str) -> tuple[str, ...]:
    """Return the keywords that can follow the first word of a line."""
    return tuple(word for name, words in WORDS.items() if name in following(verb) for word in words)


_REMEMBERED = 8192
"""How many different lines are kept with their commands: all the moves that are played often."""

_LONGEST_REMEMBERED = 64
"""The most characters that such a line has, so that all together they take a few megabytes."""


def parse(line: str) -> Command:
    """Return the command that ``line`` asks for; raises only ``ParseError``, for any text."""
    if len(line) > MAX_LINE:
        begun = clean(line[:MAX_LINE])
        detail = f"That is too long: a line has at most {MAX_LINE:,} characters."
        raise ParseError(begun, len(begun), detail=detail)
    cleaned = clean(line)
    if (command := read_any_words(cleaned)) is not None:
        return command
    if len(cleaned) > _LONGEST_REMEMBERED:
        return parse_afresh(cleaned)
    found = _remembered(cleaned)
    if isinstance(found, ParseError):
        raise found.anew()  # what is raised comes to hold on to whoever was told of it
    return found


def parse_afresh(line: str) -> Command:
    """Do as ``parse`` does for a line that is already clean, without its memory of lines."""
    if not opens(_FIRST, line):  # nor would Lark understand anything of it
        raise diagnose(line, 0)
    try:
        return read(line)
    except UnexpectedInput as error:
        raise diagnose(line, _column(line, error)) from None


def _column(line: str, error: UnexpectedInput) -> int:
    """Return where Lark stumbled in a line."""
    at_end = isinstance(error, UnexpectedToken) and error.token.type == END_OF_LINE
    if at_end or error.pos_in_stream is None:
        return len(line)  # Lark gives the end the place of the last word
    return error.pos_in_stream


@lru_cache(maxsize=_REMEMBERED)
def _remembered(line: str) -> Command | ParseError:
    """Return what comes of a clean line; finding out what is wrong with one costs the most."""
    try:
        return parse_afresh(line)
    except ParseError as error:
        return error.with_traceback(None)
