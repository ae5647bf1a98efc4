"""The whole of thudmud without a socket: named players type lines, readers are told text.

Owns what is done at once for whoever keeps no journal, and the state of it all, to be kept and gone
on with. Must never know a socket, a clock or a disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from thudmud.tables import Refusal, Refused, Unread
from thudmud.text.display import DEFAULT_WIDTH, Terminal
from thudmud.text.plan import Message
from thudmud.text.premises import Premises
from thudmud.text.state import read_state, write_state


class House(Premises):
    """A hall of boards, and the people in it, in text."""

    # All at once, for whoever keeps no journal.

    def enter(self, name: str, width: int = DEFAULT_WIDTH, now: float = 0.0) -> list[Message]:
        """Let a player in, and return what everybody is told."""
        self.fit(name, Terminal(width))
        return self._all(self.arrive(name, now))

    def depart(self, name: str, now: float) -> list[Message]:
        """See out a player whose connection is lost."""
        return self._all(self.part(name, now))

    def obey(self, name: str, line: str, now: float) -> list[Message]:
        """Do what a player's line asks for, and return what everybody is told, as `plan` has it."""
        try:
            plan = self.plan(name, line, now)
        except Unread as unread:
            return [self.answer(name, str(Refused(Refusal.NOT_KEPT, number=unread.battle.number)))]
        told = [*plan.messages, *self._all(plan.decisions)]
        while self.is_playing(name):
            told += self.play_on(name)
        return told

    # To be kept, and gone on with.

    def state(self) -> dict[str, Any]:
        """Return all of the house, of nothing but what JSON holds."""
        return write_state(self.hall, self._terminals)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Return a house that goes on where one of that state was.

        Raises:
            StateError: it is not the state of a house, or a later version wrote it.
        """
        hall, terminals = read_state(state)
        house = cls(hall.boards, hall.quiet_plies, hall.seat_grace, hall.most_games)
        house.hall, house._terminals = hall, terminals
        return house
