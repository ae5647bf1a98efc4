"""The people in the hall: their places, preferences, and lists of ignored and followed players."""

from __future__ import annotations

from collections import defaultdict
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
"""The maximum number of players on an ignore list."""

MOST_FOLLOWED = 100
"""The maximum number of players that a player can follow."""

LONGEST_PLAN = 200
"""The maximum length of a plan, in characters."""


class PersonPart(Value):
    """Base class of a feature's state about a person, kept for the duration of a visit.

    Subclasses are immutable values, constructible without arguments: that is the initial state.

    Attributes:
        can_be_interrupted: whether the state is dropped once a ply is played in the person's
            battle, or the person goes to a private board.
    """

    can_be_interrupted: ClassVar[bool] = False

    def board_closed(self, board: str) -> PersonPart:  # noqa: ARG002  (others use it)
        """Return the state after a board was closed."""
        return self

    def board_renamed(self, board: str, name: str) -> PersonPart:  # noqa: ARG002
        """Return the state after a board was renamed."""
        return self

    def adapt_observe_aside(self, chosen: ObserveChosen) -> ObserveChosen:
        """Return the aside for the end of observing a board: ``chosen``, or a more specific one."""
        return chosen


class PrivateBoard(NamedTuple):
    """A board outside the hall, visible to one player only.

    The player's commands refer to this board unless they name another. Features decide them, see
    `thudmud.game.hooks.private_deciders`.

    Attributes:
        table: the current table.
        left: the aside for leaving the board.
    """

    table: Table
    left: Aside


PartT = TypeVar("PartT", bound=PersonPart)


@dataclass(slots=True)
class Person:
    """A player who is here.

    Attributes:
        name: the player's name.
        is_member: whether the player has an account.
        room: the current room, by the board's name; None for the hall.
        last_board: the board used last, to which "it" refers.
        styles: the chosen styles, by board.
        options: the options.
        ignored: the names of ignored players.
        followed: the names of followed players.
        plan: the player's description of themselves.
        last_active: roughly when the player last typed something, in seconds since the epoch.
        observed: the names of the observed boards.
        parts: the state of features about the player, by type, see `PersonPart`.
        news: the edition of the news last seen.
        invitations: the latest invitation from each player.
        private: the private board that the player is at, such as that of a lesson. Opening one ends
            a replay, and the other way round.
        number: the place in the order of arrival, from 1.
        node: the node that last announced the player; "" for this one, or if unknown.
        is_lost: whether the connection is lost, and may come back soon. Other nodes don't know.
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
    is_lost: bool = field(default=False, compare=False)

    def part(self, kind: type[PartT]) -> PartT:
        """Return a feature's state about the person; by default the initial state."""
        part = self.parts.get(kind)
        return kind() if part is None else cast("PartT", part)

    def keep(self, part: PersonPart) -> None:
        """Store a feature's state about the person, replacing an earlier one."""
        self.parts[type(part)] = part

    def interrupt(self) -> None:
        """Drop the parts that can be interrupted, see `PersonPart`."""
        for kind in [each for each in self.parts if each.can_be_interrupted]:
            del self.parts[kind]

    def forget_invitations(self, board: str) -> None:
        """Drop the invitations to a board."""
        asked = self.invitations.items()
        self.invitations = {by: each for by, each in asked if each.board != board}


class BotLevel(Value):
    """A level of play of bots.

    Attributes:
        number: the rank, from 1 for the weakest.
        name: the name of the level.
        sentence: a description for players.
    """

    number: int
    name: str
    sentence: str

    def __str__(self) -> str:
        """Return the number and name, such as ``3 Marble``. Players can type either."""
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
        names: the names of the people here, by their lower-case forms.
        members: the names of the members among the people here.
        left: remembered people: those who left but have a seat, in the state of their departure.
    """

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[str, str] = {}
        self.members: Container[str] = Members(self)
        self.left: dict[str, Person] = {}
        self._ignorers, self._followers = ByPlayer(), ByPlayer()
        """Inverse lists: the people here who ignore, and those who follow, a player."""
        self._invited: defaultdict[str, set[str]] = defaultdict(set)
        """The names of all whom a player has invited."""

    def add_person(self, entered: Entered) -> Person:
        """Add a player; one who is remembered gets back the known preferences."""
        player = entered.player
        before = self.left.pop(player, None) or Person(player)
        person = Person(player, entered.is_member, entered.room, last_active=entered.active)
        self[player], self.names[player.lower()] = person, player
        self.apply_preferences(person, before)
        self.apply_preferences(person, entered)
        return person

    def apply_preferences(self, person: Person, wanted: Person | Entered | Profile) -> None:
        """Apply known preferences to a player who is here."""
        person.styles = person.styles | dict(wanted.styles)
        person.options = wanted.options or person.options
        person.news = wanted.news or person.news
        person.plan = person.plan if wanted.plan is None else wanted.plan
        if wanted.ignored is not None:
            self.ignore(person.name, wanted.ignored)
        if wanted.followed is not None:
            self.follow(person.name, wanted.followed)

    def remove_person(self, player: str, *, is_remembered: bool) -> Person:
        """Remove a player.

        Args:
            player: the player's name.
            is_remembered: whether to remember the preferences, as the player still has a seat.
        """
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
        """Forget a player who left and no longer has a seat, and the player's invitations."""
        self.left.pop(player, None)
        for name in self._invited.pop(player, ()):
            if person := self.get(name):
                person.invitations.pop(player, None)

    def add_invitation(self, asked: Person, invited: Invited) -> None:
        """Note an invitation of a player who is here; it replaces one by the same player."""
        asked.invitations[invited.player] = invited
        self._invited[invited.player].add(asked.name)

    def present_and_remembered(self) -> Iterable[Person]:
        """Return the people who are here, and those who left but are remembered."""
        return *self.values(), *self.left.values()

    def names_starting_with(self, words: str) -> list[str]:
        """Return the names here that begin with ``words``, ignoring case, in order of arrival."""
        return [name for name in self if name.lower().startswith(words.lower())]

    def options_after_choices(
        self, player: str, options: Options | None, choices: Iterable[SetOption]
    ) -> Options:
        """Return a player's options after some choices.

        Args:
            player: the player's name.
            options: the stored options of a player who isn't here; None if unknown.
            choices: the choices, in order.
        """
        here, left = self.get(player), self.left.get(player)
        before = here.options if here else options or (left.options if left else DEFAULTS)
        return before.with_choices(choices)

    def is_ignoring(self, player: str, other: str) -> bool:
        """Whether ``player``, who is here, ignores ``other``, whose name is case-insensitive."""
        return player in self._ignorers.holders_of(other)

    def ignore(self, player: str, others: Sequence[str]) -> None:
        """Replace a player's list of ignored players."""
        person = self[player]
        self._ignorers.change(player, person.ignored, others)
        person.ignored = tuple(others)

    def follow(self, player: str, others: Sequence[str]) -> None:
        """Replace a player's list of followed players."""
        person = self[player]
        self._followers.change(player, person.followed, others)
        person.followed = tuple(others)

    def without_ignorers(
        self, player: str, names: tuple[str, ...], besides: Container[str] = ()
    ) -> tuple[str, ...]:
        """Return names without the people who ignore a player, except those in ``besides``."""
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
