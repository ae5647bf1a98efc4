"""What a board and a player may be called, so that others can type it."""

from __future__ import annotations

import re
from collections.abc import Container

from thudmud.language import KEYWORDS
from thudmud.play.meaning import RESERVED

LONGEST_NAME = 30
"""The most characters that the name of a board may have."""

NAME_LENGTHS = range(2, 21)
"""How many letters the name of a player may have."""

TAKEN_WORDS = KEYWORDS | RESERVED | {"you", "nobody", "somebody", "everybody"}
"""Lower-case words that would be misread as the name of a player."""

_NAME = re.compile(r"[A-Za-z]+( [A-Za-z]+)*")


def is_name(name: str) -> bool:
    """Whether a text is of a form that players can type as a board's name."""
    return len(name) <= LONGEST_NAME and _NAME.fullmatch(name) is not None


def board_problem(name: str) -> str | None:
    """Return what the name of a board should or should not be, or None if it can be typed."""
    if not is_name(name):
        return f"should be at most {LONGEST_NAME} letters and single blanks"
    words = name.lower().split(" ")
    reserved = RESERVED.intersection(words) or (KEYWORDS - {"board"}).intersection(
        [" ".join(words)]
    )
    if reserved:
        return f'should not hold "{min(reserved)}", which means something else to players'
    return None


def player_problem(name: str, board_words: Container[str] = ()) -> str | None:
    """Return why nobody can be called that, as a sentence, or None if somebody can.

    Args:
        name: the name.
        board_words: the lower-case words of the names of boards, which no player may have.
    """
    if name.lower() == "help":
        return 'First come in with any name of 2 to 20 letters; then "help" tells the rest.'
    if not (name.isascii() and name.isalpha() and len(name) in NAME_LENGTHS):
        return "A name is 2 to 20 letters from A to Z, without blanks."
    if name.lower() in TAKEN_WORDS or name.lower() in board_words:
        return f'"{name}" has a meaning here already, so it cannot be a name.'
    return None
