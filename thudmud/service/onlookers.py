"""Onlookers: spectators without a name, who get everything that everybody in a room gets.

They aren't in the hall and nobody sees them. Messages for a single player don't reach them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from thudmud.errors import RefusedError
from thudmud.game import asides, events
from thudmud.game.delivery import Delivery
from thudmud.game.hall import Hall
from thudmud.game.people import Person
from thudmud.game.resolution import resolve_hall_board
from thudmud.service.interface import Onlooker, Outbox
from thudmud.values import replace
from thudmud.views.data import Fact
from thudmud.views.facts import refusal_fact, room_state_facts
from thudmud.views.messages import fact_messages
from thudmud.views.view import Screens, Terminal


class Onlookers:
    """All onlookers of a service.

    Args:
        hall: the hall.
        screens: the terminals; an onlooker's is kept under a name that no player can have.

    Attributes:
        here: the onlookers, by that name.
    """

    def __init__(self, hall: Hall, screens: Screens) -> None:
        self._hall, self._screens = hall, screens
        self._numbers = count(1)
        self.here: dict[str, Onlooker] = {}
        self._rooms: frozenset[str | None] | None = None
        """The rooms with onlookers; None if they have to be computed anew."""

    @property
    def rooms(self) -> frozenset[str | None]:
        """The rooms with onlookers: the names of boards, and None for the hall."""
        if self._rooms is None:
            self._rooms = frozenset(each.room for each in self.here.values())
        return self._rooms

    def outbox(self, name: str) -> Outbox | None:
        """Return the outbox of an onlooker; None if there is none of that name."""
        onlooker = self.here.get(name)
        return onlooker.outbox if onlooker else None

    def add(self, outbox: Outbox, terminal: Terminal, words: str | None) -> Onlooker | None:
        """Let somebody watch a board, or the hall, and send the present state as facts.

        Args:
            outbox: the outbox for the onlooker's messages.
            terminal: the onlooker's terminal.
            words: words for the board; None for the hall.

        Returns:
            The onlooker, for `remove`; None if there is no such board, after a message says so.
        """
        name = f"~{next(self._numbers)}"
        try:
            room = words and resolve_hall_board(self._hall, Person(name), words).name
        except RefusedError as refusal:
            send_facts(outbox, terminal, [refusal_fact(refusal, name)])
            return None
        onlooker = self.here[name] = Onlooker(name, outbox, room or None)
        self._rooms = None
        self._screens.fit(name, terminal.nearest())
        send_facts(outbox, terminal, room_state_facts(self._hall, onlooker.room, name))
        return onlooker

    def remove(self, onlooker: Onlooker) -> None:
        """Remove an onlooker."""
        del self.here[onlooker.name]
        self._rooms = None
        self._screens.forget(onlooker.name)

    def with_onlookers(self, telling: Delivery) -> Delivery:
        """Return a delivery with the onlookers of the room added to the audience."""
        rooms = _rooms_of(telling)
        names = [each.name for each in self.here.values() if each.room in rooms]
        if not names:
            return telling
        programs = (*telling.programs, *names) if telling.programs else ()
        return replace(telling, recipients=(*telling.recipients, *names), programs=programs)

    def follow_board_changes(self, telling: Delivery) -> None:
        """Let onlookers follow a renamed board, and move those of a closed one to the hall."""
        event, table = telling.event, telling.table
        here = [each for each in self.here.values() if table and each.room == table.name]
        match event:
            case events.BoardRenamed(name=name):
                self._rooms = None
                for each in here:
                    each.room = name
            case events.BoardClosed():
                self._rooms = None
                for each in here:
                    each.room = None
                    known = room_state_facts(self._hall, None, each.name)
                    send_facts(each.outbox, self._screens.terminals[each.name], known)


def _rooms_of(telling: Delivery) -> tuple[str | None, ...]:
    """Return the rooms in which everybody can see an event."""
    event, table = telling.event, telling.table
    match event:
        case asides.Spoke() | asides.Emoted() | asides.CameIn() | asides.WentOut():
            return (event.room,)
        case asides.Entered(room=None) | asides.Gone(is_announced=False):
            return (event.room,)
        case events.SeekMade(to="") | events.SeekEnded(to="") | events.BoardOpened():
            return (None,)
        case asides.BoardListed() | asides.ResultTold():
            return (None,)
        case events.BoardClosed() | events.BoardRenamed() if table:
            return None, table.name
    return (table.name,) if table and isinstance(event, events.TableEvent) else ()


def send_facts(outbox: Outbox, terminal: Terminal, known: Iterable[Fact]) -> None:
    """Send facts to an onlooker."""
    facts = [replace(each, to=None) for each in known]
    for message in fact_messages(facts, [""], {"": terminal}):
        outbox.put(message)
