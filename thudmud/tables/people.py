"""The people in the hall: who is in which room, and who sits where.

Owns what makes these quick to find: what it costs must not grow with the boards and the people
elsewhere. Must never decide where somebody goes; `thudmud.tables.hall` does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from operator import attrgetter

from thudmud.commands import Style
from thudmud.commands.options import Options
from thudmud.tables.asides import Replayed

DEFAULTS = Options()


@dataclass(slots=True)
class Person:
    """Somebody who is here.

    Attributes:
        name: what they are called.
        member: whether they have an account.
        room: where they are; None is the hall.
        used: the board that ``it`` means to them.
        styles: how they want to see boards, where they have chosen.
        options: how they want to see everything.
        replay: the battle that they are seeing again, and where they are in it.
        number: which of all who have come they are, counted from 1.
    """

    name: str
    member: bool = False
    room: str | None = None
    used: str | None = None
    styles: dict[str, Style] = field(default_factory=dict)
    options: Options = DEFAULTS
    replay: Replayed | None = None
    number: int = field(default=0, compare=False)


class Members(Set[str]):
    """The names of those, of some people, who have accounts."""

    def __init__(self, people: Mapping[str, Person]) -> None:
        self._people = people

    def __contains__(self, name: object) -> bool:
        person = self._people.get(name) if isinstance(name, str) else None
        return person is not None and person.member

    def __iter__(self) -> Iterator[str]:
        return (person.name for person in self._people.values() if person.member)

    def __len__(self) -> int:
        return sum(person.member for person in self._people.values())


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Company:
    """Those in a room, as long as nobody comes or goes, or chooses to see things otherwise.

    What is worked out of them all may be kept as long as there is this company, and no longer.

    Attributes:
        names: in the order they came to the server.
        members: the same, quick to look up.
    """

    names: tuple[str, ...]
    members: frozenset[str]


class Rooms:
    """Who is in which room."""

    def __init__(self) -> None:
        self._here: defaultdict[str | None, dict[str, Person]] = defaultdict(dict)
        self._come = 0
        self._companies: dict[str | None, Company] = {}

    def company(self, room: str | None) -> Company:
        """Return those in a room."""
        if (known := self._companies.get(room)) is not None:
            return known
        here = self._here.get(room, {}).values()
        names = tuple(person.name for person in sorted(here, key=attrgetter("number")))
        company = Company(names, frozenset(names))
        if names:
            self._companies[room] = company
        return company

    def enter(self, person: Person) -> None:
        """Let somebody be where they are, last of all who have come."""
        self._come += 1
        person.number = self._come
        self.move(person, person.room)

    def move(self, person: Person, room: str | None) -> None:
        """Let somebody go to a room."""
        self.leave(person)
        person.room = room
        self._here[room][person.name] = person
        self.changed(person)

    def changed(self, person: Person) -> None:
        """Take note that somebody sees things otherwise than before, or is there anew."""
        self._companies.pop(person.room, None)

    def leave(self, person: Person) -> None:
        """Let somebody leave the room where they are, if they are in any."""
        self.changed(person)
        here = self._here[person.room]
        here.pop(person.name, None)
        if not here:
            del self._here[person.room]


class Seats:
    """At which boards each player has a seat."""

    def __init__(self) -> None:
        self._boards: defaultdict[str, set[str]] = defaultdict(set)

    def of(self, player: str) -> Collection[str]:
        """Return the boards at which a player of that name, in any case, has a seat."""
        return self._boards.get(player.lower(), ())

    def change(self, board: str, before: Iterable[str], after: Iterable[str]) -> None:
        """Take note of who had seats at a board, and who has now."""
        for player in before:
            boards = self._boards[player.lower()]
            boards.discard(board)
            if not boards:
                del self._boards[player.lower()]
        for player in after:
            self._boards[player.lower()].add(board)
