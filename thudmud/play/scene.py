"""What a command is decided by: the hall as it stands, who has typed it, and when."""

from __future__ import annotations

from typing import Any, NamedTuple

from thudmud.play.archive import Found
from thudmud.play.asides import Aside, Asked, CameIn, ExerciseLeft, WentOut
from thudmud.play.command import Command
from thudmud.play.hall import Decision, Hall
from thudmud.play.people import Person


class Scene(NamedTuple):
    """What a command is decided by. Nothing in it is changed.

    Attributes:
        hall: as it stands.
        person: who has typed the command.
        now: the time, in seconds since the epoch.
        found: what has been looked up for this decision.
        me: the name of who has typed it.
    """

    hall: Hall
    person: Person
    now: float
    found: Found
    me: str

    def tell(self, *asides: Aside) -> Decision:
        """Return that this is told, and nothing is stored."""
        return Decision(self.me, asides=asides)

    def answer(self, question: Command, board: str | None = None, answer: Any = None) -> Decision:
        """Return the answer to a question, perhaps about a board: what was looked up for it."""
        return Decision(self.me, board, asides=(Asked(self.me, question, board, answer),))


def walk(person: Person, to: str | None, *, sits: bool = False) -> tuple[WentOut, CameIn]:
    """Return that somebody walks to a room, perhaps to take a seat there."""
    return WentOut(person.name, person.room, to), CameIn(person.name, to, sits)


def put_aside(person: Person) -> tuple[Aside, ...]:
    """Return that somebody turns to something else than the exercise that they are at, if any."""
    return (ExerciseLeft(person.name, person.exercise),) if person.exercise else ()
