"""What a command is decided from: the hall, the player and the time."""

from __future__ import annotations

from typing import Any, NamedTuple

from thudmud.game.archive import Found
from thudmud.game.asides import Aside, Asked, CameIn, WentOut
from thudmud.game.command import Command
from thudmud.game.hall import Decision, Hall
from thudmud.game.people import Person


class Scene(NamedTuple):
    """What a command is decided from. Deciding changes nothing in it.

    Attributes:
        hall: the hall as it stands.
        person: the player who typed the command.
        now: the time, in seconds since the epoch.
        found: what has been looked up for this decision.
        me: the player's name.
    """

    hall: Hall
    person: Person
    now: float
    found: Found
    me: str

    def tell(self, *asides: Aside) -> Decision:
        """Return a decision that tells asides and stores nothing."""
        return Decision(self.me, asides=asides)

    def answer(self, question: Command, board: str | None = None, answer: Any = None) -> Decision:
        """Return the decision that answers a question, with what was looked up for it."""
        return Decision(self.me, board, asides=(Asked(self.me, question, board, answer),))


def walk(person: Person, to: str | None, *, sits: bool = False) -> tuple[WentOut, CameIn]:
    """Return the asides of a player who walks to a room, perhaps to take a seat there."""
    return WentOut(person.name, person.room, to), CameIn(person.name, to, sits)


def put_aside(person: Person) -> tuple[Aside, ...]:
    """Return the aside of a player who leaves their private board; nothing if they have none."""
    return (person.private.left,) if person.private else ()
