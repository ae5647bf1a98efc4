"""The people in the hall, their preferences, and whom they ignore and follow."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, TypeVar, cast

from thudmud.game.asides import Aside, Entered, Invited, ObserveChosen
from thudmud.game.boards import ByPlayer
from thudmud.game.options import Options, Profile, SetOption, Style
from thudmud.game.table import Table
from thudmud.values import Value

DEFAULTS = Options()

MOST_IGNORED = 100
"""How many others a player may ignore."""

MOST_FOLLOWED = 100
"""How many others a player may follow."""

LONGEST_PLAN = 200
"""The most characters of a plan."""


class PersonPart(Value):
    """A feature's state about a person, for the duration of their visit.

    An immutable value. Its class has to be constructible without arguments: the initial state.

    Attributes:
        can_be_interrupted: whether it ends once a ply is played in their battle, or they go to a
            private board.
    """

    can_be_interrupted: ClassVar[bool] = False

    def board_closed(self, board: str) -> PersonPart:  # noqa: ARG002  (others use it)
        """Return the state after a board was closed."""
        return self

    def board_renamed(self, board: str, name: str) -> PersonPart:  # noqa: ARG002
        """Return the state after a board was renamed."""
        return self

    def adapt_observe_aside(self, chosen: ObserveChosen) -> ObserveChosen:
        """Return ``chosen``, or a more specific aside, when they stop observing a board."""
        return chosen


class PrivateBoard(NamedTuple):
    """A board that is in no hall, and that only one player sees.

    What they type is about it unless it names another board, and features decide their commands
    there, see `thudmud.game.hooks.private_deciders`.

    Attributes:
        table: the board, as it stands.
        left: the aside that they left it.
    """

    table: Table
    left: Aside


PartT = TypeVar("PartT", bound=PersonPart)


@dataclass(slots=True)
class Person:
    """A player who is here.

    Attributes:
        name: what they are called.
        is_member: whether they have an account.
        room: where they are; None is the hall.
        last_board: the board they used last, which "it" means.
        styles: the styles they chose, by board.
        options: their options.
        ignored: the names of players they ignore.
        followed: the names of players they follow.
        plan: what they say about themselves.
        last_active: roughly when they last typed something, in seconds since the epoch.
        observed: the boards they observe.
        parts: the state of features about them, by type, see `PersonPart`.
        news: the edition of the news they last saw.
        invitations: the latest invitation from each player.
        private: a board of their own that they are at, such as that of a lesson. Going there ends a
            replay, and the other way round.
        number: their place in the order of arrival, from 1.
        node: the node that has told of them last; "" if they are on this one, or it is not known.
    """

    name: str
    is_member: bool = False
    room: str | None = None
    last_board: str | None = None
    styles: dict[str, Style] = field(default_factory=dict)
    options: Options = DEFAULTS
    ignored: tuple[str, ...] = ()
    followed: tuple[str, ...] = ()
    plan: str = ""
    last_active: float = 0.0
    observed: tuple[str, ...] = ()
    parts: dict[type[PersonPart], PersonPart] = field(default_factory=dict)
    news: str = ""
    invitations: dict[str, Invited] = field(default_factory=dict)
    private: PrivateBoard | None = None
    number: int = field(default=0, compare=False)
    node: str = field(default="", compare=False)

    def part(self, kind: type[PartT]) -> PartT:
        """Return a feature's state about them; the initial state if none is stored."""
        part = self.parts.get(kind)
        return kind() if part is None else cast("PartT", part)

    def keep(self, part: PersonPart) -> None:
        """Replace a feature's state about them."""
        self.parts[type(part)] = part

    def interrupt(self) -> None:
        """Forget the parts that end when something else begins."""
        for kind in [each for each in self.parts if each.can_be_interrupted]:
            del self.parts[kind]

    def forget_invitations(self, board: str) -> None:
        """Forget the invitations to a board."""
        asked = self.invitations.items()
        self.invitations = {by: each for by, each in asked if each.board != board}


class BotLevel(Value):
    """How well a bot plays.

    Attributes:
        number: 1 for the weakest.
        name: what it is called.
        sentence: a description for players.
    """

    number: int
    name: str
    sentence: str

    def __str__(self) -> str:
        """Return its number and name, such as ``3 Marble``. Either can be typed."""
        return f"{self.number} {self.name}"


class Members(Container[str]):
    """The names of the members among some people."""

    def __init__(self, people: Mapping[str, Person]) -> None:
        self._people = people

    def __contains__(self, name: object) -> bool:
        person = self._people.get(name) if isinstance(name, str) else None
        return person is not None and person.is_member


class People(dict[str, Person]):
    """The people who are here, by name, in the order of arrival.

    Attributes:
        names: their names, by the lower-case forms.
        members: the names of the members among them.
        left: people who left but have a seat, as they were.
    """

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[str, str] = {}
        self.members: Container[str] = Members(self)
        self.left: dict[str, Person] = {}
        self._ignorers, self._followers = ByPlayer(), ByPlayer()
        """By player, the people here who ignore, and who follow, that player."""

    def add_person(self, entered: Entered) -> Person:
        """Add a player, who may be back at a seat they left."""
        player = entered.player
        before = self.left.pop(player, None) or Person(player)
        person = Person(player, entered.is_member, entered.room, last_active=entered.active)
        self[player], self.names[player.lower()] = person, player
        self.apply_preferences(person, before)
        self.apply_preferences(person, entered)
        return person

    def apply_preferences(self, person: Person, wanted: Person | Entered | Profile) -> None:
        """Take over the known preferences of a player who is here."""
        person.styles = person.styles | dict(wanted.styles)
        person.options = wanted.options or person.options
        person.news = wanted.news or person.news
        person.plan = person.plan if wanted.plan is None else wanted.plan
        if wanted.ignored is not None:
            self.ignore(person.name, wanted.ignored)
        if wanted.followed is not None:
            self.follow(person.name, wanted.followed)

    def remove_person(self, player: str, *, is_remembered: bool) -> Person:
        """Remove a player, who is remembered if they have a seat."""
        person = self[player]
        ignored, followed = person.ignored, person.followed
        self.ignore(player, ())
        self.follow(player, ())
        del self[player], self.names[player.lower()]
        person.ignored, person.followed = ignored, followed
        if is_remembered:
            self.left[player] = person
        else:
            self.forget(player)
        return person

    def forget(self, player: str) -> None:
        """Forget a player who left and has no seat, and their invitations."""
        self.left.pop(player, None)
        for person in self.values():
            person.invitations.pop(player, None)

    def present_and_remembered(self) -> Iterable[Person]:
        """Return the people who are here and those who are remembered."""
        return *self.values(), *self.left.values()

    def names_starting_with(self, words: str) -> list[str]:
        """Return the names here that begin with a prefix, in any case, in order of arrival."""
        return [name for name in self if name.lower().startswith(words.lower())]

    def options_after_choices(
        self, player: str, options: Options | None, choices: Iterable[SetOption]
    ) -> Options:
        """Return a player's options after some choices.

        ``options`` are the options of a player who is not here, if known.
        """
        here, left = self.get(player), self.left.get(player)
        before = here.options if here else options or (left.options if left else DEFAULTS)
        return before.with_choices(choices)

    def is_ignoring(self, player: str, other: str) -> bool:
        """Whether a player who is here ignores another, named in any case."""
        return player in self._ignorers.holders_of(other)

    def ignore(self, player: str, others: Sequence[str]) -> None:
        """Replace the list of those whom a player ignores."""
        person = self[player]
        self._ignorers.change(player, person.ignored, others)
        person.ignored = tuple(others)

    def follow(self, player: str, others: Sequence[str]) -> None:
        """Replace the list of those whom a player follows."""
        person = self[player]
        self._followers.change(player, person.followed, others)
        person.followed = tuple(others)

    def without_ignorers(
        self, player: str, names: tuple[str, ...], besides: Container[str] = ()
    ) -> tuple[str, ...]:
        """Return those of ``names`` who do not ignore a player, or are in ``besides``."""
        ignorers = self._ignorers.holders_of(player)
        if not ignorers:
            return names
        return tuple(name for name in names if name not in ignorers or name in besides)

    def followers_of(self, player: str) -> list[str]:
        """Return the followers of a player who are here, unless either ignores the other."""
        return [
            name
            for name in sorted(self._followers.holders_of(player))
            if not self.is_ignoring(player, name) and not self.is_ignoring(name, player)
        ]
