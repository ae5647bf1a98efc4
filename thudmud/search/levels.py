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

    Scores and errors are in hundredths of a dwarf.

    Attributes:
        number: the level's number, from 1, the weakest.
        name: the level's name: a stone, the harder the stronger.
        sentence: a description for a player who chooses an opponent.
        nodes: the maximum number of positions searched for a ply.
        depth: the maximum depth in plies; 0 for a first look, which follows captures only.
        temperature: how freely the player chooses among plies that seem about as good.
        most: the most by which a ply is misjudged. Below half a dwarf, the player never prefers a
            ply that plainly loses a piece.
        lapses: the mean probability of a hasty ply. With a depth of 0, only its own captures count
            then; else it follows a first look. A battle's probability is up to half more or less.
        greed: by how much each captured piece is overrated.
        timidity: by how much a ply is underrated for each enemy near its target.
        overlooks: the probability of overlooking a hurl or shove from more than three squares away,
            the player's own or the opponent's.
    """

    number: int
    name: str
    sentence: str
    nodes: int
    depth: int
    temperature: int = 0
    most: int = 40
    lapses: float = 0.0
    greed: int = 0
    timidity: int = 0
    overlooks: float = 0.0

    @property
    def is_fallible(self) -> bool:
        """Whether the level makes deliberate errors, which depend on a seed."""
        return bool(self.temperature or self.lapses or self.overlooks)

    def __str__(self) -> str:
        """Return the number and the name, ``3 Marble``; players can type either."""
        return f"{self.number} {self.name}"


LEVELS: tuple[Level, ...] = (
    Level(
        1,
        "Chalk",
        "Grabs what it can, and now and then forgets that you move, too.",
        nodes=0,
        depth=0,
        temperature=40,
        most=60,
        lapses=0.05,
        greed=30,
        overlooks=0.3,
    ),
    Level(
        2,
        "Slate",
        "Sees what can be taken at once, but plans nothing, and keeps out of fights.",
        nodes=2_000,
        depth=2,
        temperature=20,
        lapses=0.95,
        timidity=10,
        overlooks=0.2,
    ),
    Level(
        3,
        "Marble",
        "Likes to capture, and mostly trusts its first impression.",
        nodes=2_000,
        depth=2,
        temperature=10,
        lapses=0.5,
        greed=15,
        overlooks=0.12,
    ),
    Level(
        4,
        "Granite",
        "Usually thinks of your answer before it moves, and overlooks little.",
        nodes=2_000,
        depth=60,
        temperature=8,
        lapses=0.25,
        overlooks=0.06,
    ),
    Level(
        5,
        "Flint",
        "Looks two moves ahead, and through every exchange. Rarely hasty.",
        nodes=2_500,
        depth=60,
        temperature=4,
        lapses=0.06,
    ),
    Level(6, "Quartz", "Plans a few moves ahead. Few people beat it.", 6_000, 60),
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
