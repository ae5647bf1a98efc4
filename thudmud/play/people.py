"""Who is here, how they want things, and whom they ignore and follow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from thudmud.play.asides import Entered, Invited, Replayed
from thudmud.play.exercises import NOTHING_DONE, Exercise, Studies
from thudmud.play.options import Options, Profile, SetOption, Style
from thudmud.values import value

DEFAULTS = Options()

MOST_IGNORED = 100
"""How many others a player may ignore."""

MOST_FOLLOWED = 100
"""How many others a player may follow."""

LONGEST_PLAN = 200
"""The most characters that a player may say about themselves."""


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
        ignored: the names of those whom they do not want to hear.
        followed: the names of those of whom they are told what they begin.
        plan: what they say about themselves.
        active: when they typed something last, about, in seconds since the epoch.
        observed: the boards that they are told of wherever they are.
        knows_deaf: whether they have been told that players do not hear those who only watch.
        news: the edition of the news that they have seen last.
        replay: the battle that they are seeing again, and where they are in it.
        invitations: to which seats they were asked last, by whom they were.
        exercise: the lesson or the puzzle that they are at; it ends a replay, and the other way
            round.
        studies: what they have done of the lessons and the puzzles.
        number: which of all who have come they are, counted from 1.
    """

    name: str
    member: bool = False
    room: str | None = None
    used: str | None = None
    styles: dict[str, Style] = field(default_factory=dict)
    options: Options = DEFAULTS
    ignored: tuple[str, ...] = ()
    followed: tuple[str, ...] = ()
    plan: str = ""
    active: float = 0.0
    observed: tuple[str, ...] = ()
    knows_deaf: bool = False
    news: str = ""
    replay: Replayed | None = None
    invitations: dict[str, Invited] = field(default_factory=dict)
    exercise: Exercise | None = None
    studies: Studies = NOTHING_DONE
    number: int = field(default=0, compare=False)

    def forget_invitations(self, board: str) -> None:
        """Forget who has asked them to a seat at a board."""
        asked = self.invitations.items()
        self.invitations = {by: each for by, each in asked if each.board != board}


@value
class BotLevel:
    """How well a bot plays.

    Attributes:
        number: 1 for the weakest.
        name: what it is called.
        sentence: what can be expected of it.
    """

    number: int
    name: str
    sentence: str

    def __str__(self) -> str:
        """Return its number and its name, ``3 Marble``: either can be typed."""
        return f"{self.number} {self.name}"


class Members(Container[str]):
    """The names of those, of some people, who have accounts."""

    def __init__(self, people: Mapping[str, Person]) -> None:
        self._people = people

    def __contains__(self, name: object) -> bool:
        person = self._people.get(name) if isinstance(name, str) else None
        return person is not None and person.member


class ByPlayer:
    """Which boards have a player's name on them, or who has it on a list of theirs."""

    def __init__(self) -> None:
        self._known: defaultdict[str, set[str]] = defaultdict(set)

    def of(self, player: str) -> Collection[str]:
        """Return what has a player of that name, in any case."""
        return self._known.get(player.lower(), ())

    def change(self, holder: str, before: Iterable[str], after: Iterable[str]) -> None:
        """Note whom a board, or somebody's list, had, and whom it has now."""
        for player in before:
            holders = self._known[player.lower()]
            holders.discard(holder)
            if not holders:
                del self._known[player.lower()]
        for player in after:
            self._known[player.lower()].add(holder)


class People(dict[str, Person]):
    """Those who are here, by name, in the order in which they came.

    Attributes:
        names: their names, by the lower-case forms of these.
        members: the names of those of them who have accounts.
        left: those who are gone and have a seat, as they were.
    """

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[str, str] = {}
        self.members: Container[str] = Members(self)
        self.left: dict[str, Person] = {}
        self._ignorers, self._followers = ByPlayer(), ByPlayer()
        """Who of those here ignores somebody, and who follows them."""

    def let_in(self, entered: Entered) -> Person:
        """Note that somebody is here, who may have left a seat behind and be back."""
        player = entered.player
        before = self.left.pop(player, None) or Person(player)
        person = Person(player, entered.member, entered.room, active=entered.active)
        self[player], self.names[player.lower()] = person, player
        self.adopt(person, before)
        self.adopt(person, entered)
        return person

    def adopt(self, person: Person, wanted: Person | Entered | Profile) -> None:
        """Note how somebody who is here wants things, as far as that is known."""
        person.styles = person.styles | dict(wanted.styles)
        person.options = wanted.options or person.options
        person.news = wanted.news or person.news
        person.plan = person.plan if wanted.plan is None else wanted.plan
        if wanted.ignored is not None:
            self.ignore(person.name, wanted.ignored)
        if wanted.followed is not None:
            self.follow(person.name, wanted.followed)

    def take_leave(self, player: str, *, is_remembered: bool) -> Person:
        """Note that somebody is here no longer; who has a seat is remembered."""
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
        """Forget somebody who is gone and has no seat, and whom they have invited."""
        self.left.pop(player, None)
        for person in self.values():
            person.invitations.pop(player, None)

    def known(self) -> Iterable[Person]:
        """Return those who are here, and those who are remembered."""
        return *self.values(), *self.left.values()

    def begins(self, words: str) -> list[str]:
        """Return those here whose names begin so, in any case, in the order in which they came."""
        return [name for name in self if name.lower().startswith(words.lower())]

    def chosen(self, player: str, options: Options | None, choices: Iterable[SetOption]) -> Options:
        """Return a player's options after some choices.

        What held before for somebody who is not here are ``options``, if that is known.
        """
        here, left = self.get(player), self.left.get(player)
        before = here.options if here else options or (left.options if left else DEFAULTS)
        return before.chosen(choices)

    def ignores(self, player: str, other: str) -> bool:
        """Whether somebody who is here does not want to hear another, named in any case."""
        return player in self._ignorers.of(other)

    def ignore(self, player: str, others: Sequence[str]) -> None:
        """Note whom somebody who is here does not want to hear: these, and nobody else."""
        person = self[player]
        self._ignorers.change(player, person.ignored, others)
        person.ignored = tuple(others)

    def follow(self, player: str, others: Sequence[str]) -> None:
        """Note whom somebody who is here follows: these, and nobody else."""
        person = self[player]
        self._followers.change(player, person.followed, others)
        person.followed = tuple(others)

    def hearers(
        self, player: str, names: tuple[str, ...], besides: Container[str] = ()
    ) -> tuple[str, ...]:
        """Return those of some people who do not ignore a player, or hear them all the same."""
        ignorers = self._ignorers.of(player)
        if not ignorers:
            return names
        return tuple(name for name in names if name not in ignorers or name in besides)

    def followers_of(self, player: str) -> list[str]:
        """Return those here who follow a player, but for those of whom one ignores the other."""
        return [
            name
            for name in sorted(self._followers.of(player))
            if not self.ignores(player, name) and not self.ignores(name, player)
        ]
