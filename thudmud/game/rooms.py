"""Index of players by room, with the observers of each room."""

from __future__ import annotations

from collections import defaultdict
from operator import attrgetter

from thudmud.game.delivery import Occupants
from thudmud.game.options import Toggle
from thudmud.game.people import Person

MOST_OBSERVED = 10
"""Maximum number of boards that a player may observe at a time."""


class Rooms:
    """Index of the players in each room and its observers, with cached name lists.

    Attributes:
        machine_readers: the names of the players who get lines for programs.
    """

    def __init__(self) -> None:
        self._here: defaultdict[str | None, dict[str, Person]] = defaultdict(dict)
        self._observers: defaultdict[str, dict[str, Person]] = defaultdict(dict)
        self.machine_readers: set[str] = set()
        self._arrivals = 0
        self._occupants_cache: dict[str | None, Occupants] = {}
        self._audience_cache: dict[str | None, Occupants] = {}

    def occupants(self, room: str | None) -> Occupants:
        """Return the people in a room."""
        if (known := self._occupants_cache.get(room)) is not None:
            return known
        here = self._here.get(room, {}).values()
        names = tuple(map(attrgetter("name"), sorted(here, key=attrgetter("number"))))
        occupants = Occupants(names, frozenset(names))
        if names:
            self._occupants_cache[room] = occupants
        return occupants

    def count(self, room: str | None) -> int:
        """Return the number of people in a room."""
        return len(self._here.get(room, ()))

    def occupants_and_observers(self, room: str) -> Occupants:
        """Return the people in a room, followed by its observers who are elsewhere."""
        if (known := self._audience_cache.get(room)) is not None:
            return known
        told, observers = self.occupants(room), self._observers.get(room, ())
        if elsewhere := [name for name in observers if name not in told.members]:
            names = (*told.names, *elsewhere)
            told = Occupants(names, frozenset(names))
        if told.names:
            self._audience_cache[room] = told
        return told

    def observers(self, room: str) -> list[Person]:
        """Return the observers of a room."""
        return list(self._observers.get(room, {}).values())

    def observe(self, person: Person, rooms: tuple[str, ...]) -> None:
        """Replace the rooms that a player observes."""
        for room in person.observed:
            self._observers[room].pop(person.name, None)
            if not self._observers[room]:
                del self._observers[room]
        self.update(person)
        person.observed = rooms
        for room in rooms:
            self._observers[room][person.name] = person
        self.update(person)

    def enter(self, person: Person) -> None:
        """Add a player to their room, as the latest arrival."""
        self._arrivals += 1
        person.number = self._arrivals
        self.move(person, person.room)

    def rename(self, room: str, name: str) -> None:
        """Rename a room."""
        for person in self._here.pop(room, {}).values():
            person.room = name
            self._here[name][person.name] = person
        for person in self._observers.pop(room, {}).values():
            person.observed = tuple(name if each == room else each for each in person.observed)
            self._observers[name][person.name] = person
        self._occupants_cache.pop(room, None)
        self._audience_cache.pop(room, None)

    def move(self, person: Person, room: str | None) -> None:
        """Move a player to a room."""
        self.leave(person)
        person.room = room
        self._here[room][person.name] = person
        self.update(person)

    def update(self, person: Person) -> None:
        """Update the index and its caches after a player's move or changed option."""
        if person.options.has(Toggle.MACHINE):
            self.machine_readers.add(person.name)
        else:
            self.machine_readers.discard(person.name)
        self._occupants_cache.pop(person.room, None)
        for room in (person.room, *person.observed):
            self._audience_cache.pop(room, None)

    def leave(self, person: Person) -> None:
        """Remove a player from their room, if they are in one."""
        self.update(person)
        self.machine_readers.discard(person.name)
        here = self._here[person.room]
        here.pop(person.name, None)
        if not here:
            del self._here[person.room]
