"""Levels of the computer player, from one that a child beats to full strength.

Weaker levels have human weaknesses: they look ahead less, miss some replies, overlook long hurls
and shoves, and misjudge positions. `Player` implements them in a separate module, so that naming a
level doesn't load the search.
"""

from __future__ import annotations

from dataclasses import dataclass

from thudmud.errors import InvalidValueError
from thudmud.immutable import immutable


@immutable
@dataclass(frozen=True, slots=True)
class Level:
    """A level of strength.

    Attributes:
        number: the level's number, from 1, the weakest.
        name: the level's name: a stone, the harder the stronger.
        sentence: a description for a player who chooses an opponent.
        nodes: the maximum number of positions searched for a ply.
        depth: the maximum depth in plies; 0 to evaluate each ply by itself.
        error: the standard deviation of the error of each ply's score, in hundredths of a dwarf.
        sees: the probability of seeing the reply to a ply.
        far: the length up to which all hurls and shoves are seen; one in three longer ones is
            overlooked.
    """

    number: int
    name: str
    sentence: str
    nodes: int
    depth: int
    error: int = 0
    sees: float = 1.0
    far: int = 15

    def __str__(self) -> str:
        """Return the number and the name, ``3 Marble``; players can type either."""
        return f"{self.number} {self.name}"


LEVELS: tuple[Level, ...] = (
    Level(1, "Chalk", "Plays more or less at random, but grabs what it can.", 0, 0, 400, 0.0, 1),
    Level(2, "Slate", "Knows what's worth taking, but walks into most traps.", 0, 0, 90, 0.0, 2),
    Level(3, "Marble", "Often sees what you could take next.", 0, 0, 30, 0.6, 3),
    Level(
        4,
        "Granite",
        "Never overlooks a simple capture, and keeps its pieces together.",
        0,
        0,
        15,
    ),
    Level(5, "Flint", "Looks two moves ahead, and through every exchange.", 2_000, 2, 6),
    Level(6, "Quartz", "Plans a few moves ahead. Few people beat it.", 5_000, 60),
    Level(7, "Diamond", "Thinks as far ahead as it can.", 30_000, 60),
)
"""All levels, the weakest first."""

STRONGEST = LEVELS[-1]

_LONGEST_QUOTE = 40


def find_level(words: str) -> Level:
    """Return the level whose number or case-insensitive name is ``words``.

    Raises:
        InvalidValueError: there is no such level.
    """
    for level in LEVELS:
        if words.lower() in {level.name.lower(), str(level.number)}:
            return level
    known = ", ".join(map(str, LEVELS))
    raise InvalidValueError(f"unknown level {words[:_LONGEST_QUOTE]!a}; expected one of {known}")
