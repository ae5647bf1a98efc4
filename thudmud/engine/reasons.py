"""Reasons: why an attempt is refused.

Owns the reasons and their sentences. Must never decide which one applies.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from thudmud.engine.squares import Square


class Reason(Enum):
    """Why an attempt is refused; the value is the template of the sentence."""

    GAME_OVER = "This battle is over."
    NOT_YOUR_TURN = "It is the {turn}' turn."
    OFF_BOARD = "{square} is off the octagon: {hint}."
    NO_PIECE = "Nothing stands on {square}."


class IllegalMove(ValueError):
    """An attempt that the rules refuse.

    Attributes:
        reason: why.
        squares: the squares that make it so.
    """

    def __init__(self, reason: Reason, squares: tuple[Square, ...] = (), **words: object) -> None:
        super().__init__(reason, squares)
        self.reason = reason
        self.squares = squares
        self._words = words

    def __str__(self) -> str:
        return self.told(str)

    def told(self, name: Callable[[Square], str]) -> str:
        """Return the sentence, with squares named in one's own way."""
        return self.reason.value.format(
            **{key: _in_words(value, name) for key, value in self._words.items()}
        )


def _in_words(value: object, name: Callable[[Square], str]) -> str:
    if isinstance(value, Square):
        return name(value)
    if isinstance(value, tuple):
        return ", ".join(_in_words(each, name) for each in value)
    return str(value)
