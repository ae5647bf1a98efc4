"""What happens round about the boards: comings and goings, speech, and questions.

Owns the happenings that no table is folded from and nobody stores. Must never hold a sentence.
A ``room`` is the name of a board, or None for the hall.
"""

from __future__ import annotations

from dataclasses import dataclass

from thudmud.commands.model import (
    Boards,
    Help,
    Look,
    Style,
    Syntax,
    ViewGame,
    ViewPossible,
    Who,
)
from thudmud.tables.events import Parting

Question = Boards | Help | Look | Syntax | ViewGame | ViewPossible | Who


@dataclass(frozen=True, slots=True)
class Entered:
    """A player came in, to the hall."""

    player: str


@dataclass(frozen=True, slots=True)
class Gone:
    """A player is here no longer.

    ``told`` says that the others in the room know, since the player has left a seat in it.
    """

    player: str
    room: str | None
    parting: Parting
    told: bool = False


@dataclass(frozen=True, slots=True)
class WentOut:
    """A player left a room for another; told to those who stay."""

    player: str
    room: str | None
    to: str | None


@dataclass(frozen=True, slots=True)
class CameIn:
    """A player came to a room; told there, and to the player.

    ``sits`` says that they do so to take a seat, which is told next.
    """

    player: str
    room: str | None
    sits: bool = False


@dataclass(frozen=True, slots=True)
class Spoke:
    """A player said something to a room."""

    player: str
    room: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Emoted:
    """A player did something that a room sees."""

    player: str
    room: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Told:
    """A player said something to one other."""

    player: str
    to: str
    text: str


@dataclass(frozen=True, slots=True)
class StyleChosen:
    """A player chose how to be shown a board."""

    player: str
    board: str
    style: Style


@dataclass(frozen=True, slots=True)
class Asked:
    """A player asked for something that changes nothing; the answer is for them alone."""

    player: str
    question: Question
    board: str | None = None


Happening = Entered | Gone | WentOut | CameIn | Spoke | Emoted | Told | StyleChosen
Aside = Happening | Asked
