"""The battles that were played, the standings, and how a decision asks for them.

A hall does not hold what was played before. A decision asks `Found` for it, which raises `Unread`
for what has not been looked up yet. Whoever wants the decision then looks it up in the store, and
decides again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar, cast

from thudmud.errors import ThudmudError
from thudmud.play.clocks import TimeClass, TimeControl
from thudmud.play.events import BattleId, SavedMatch
from thudmud.rules import DEFAULT_RULES, Comment, Game, Outcome, Side
from thudmud.values import value


class State(Enum):
    """How far a battle has come."""

    RUNNING = "running"
    ENDED = "ended"
    ADJOURNED = "adjourned"
    UNFINISHED = "unfinished"
    """Given up without an end: both left, or began another one."""


class Battle(NamedTuple):
    """What is known of a battle without its plies. A tuple, since there are many.

    Attributes:
        number: as players ask for it: 1 for the first that began or was imported.
        id: where it began.
        at: when, in seconds since the epoch.
        rules: its ruleset's name.
        dwarf: who played the dwarfs, in the end; "" if that is not known.
        troll: the same for the trolls.
        source: from where on its plies are read: the event that it began, was resumed or was
            imported with.
        until: the version of its last event in the stream of ``source``; None while it is running.
        state: how far it has come.
        part: 1 or 2, which of the two battles of its match.
        before: the points of the match before it, of who has the dwarfs and of who has the trolls.
        plies: how many were played; None where only its events tell that.
        outcome: how it ended; None if it has not, or if it was imported and that is not known.
        rated: whether it counts for ratings; while it is running, whether it may.
        points: if its match was over with it, the points of who has the dwarfs and of who has the
            trolls.
        imported: whether it was brought in from elsewhere.
        set_up: whether it began from a position that was set up: then it counts for nothing.
        time: how much time it gave; None if it was played without a clock.
    """

    number: int
    id: BattleId
    at: float
    rules: str
    dwarf: str
    troll: str
    source: BattleId
    until: int | None = None
    state: State = State.RUNNING
    part: int = 1
    before: tuple[int, int] = (0, 0)
    plies: int | None = None
    outcome: Outcome | None = None
    rated: bool = False
    points: tuple[int, int] | None = None
    imported: bool = False
    set_up: bool = False
    time: TimeControl | None = None

    @property
    def players(self) -> tuple[str, str]:
        """Who played the dwarfs and who played the trolls; "" if that is not known."""
        return self.dwarf, self.troll

    def player(self, side: Side) -> str:
        """Return who played a side; "" if that is not known."""
        return self.dwarf if side is Side.DWARF else self.troll

    @property
    def is_practice(self) -> bool:
        """Whether one player had both sides."""
        return self.dwarf == self.troll and not self.imported

    @property
    def length(self) -> int | None:
        """How many events have to be read for it from its source on; None for all that follow."""
        return None if self.until is None else self.until - self.source.version + 1


class Tally(NamedTuple):
    """How often a player won, drew and lost."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    def and_one(self, *, mine: bool, theirs: bool) -> Tally:
        """Return it with one more, which the player, the opponent or neither has won."""
        return Tally(self.won + mine, self.drawn + (not (mine or theirs)), self.lost + theirs)


MIDDLE = 1500
"""The rating of a player who is not known yet."""

PROVISIONAL = 6
"""How many results a rating has to rest on, or it is provisional.

In trials with players whose strength was known, ratings were wrong by some 200 points after one
match, by some 135 after six, and by hardly less after twenty."""


class Pool(NamedTuple):
    """The matches that a rating is about: those by a ruleset and at about the same pace.

    Battles against bots are told apart by ruleset alone: a bot takes no longer for a slow clock.
    """

    rules: str
    time: TimeClass = TimeClass.UNTIMED

    def __str__(self) -> str:
        """Return it in words: ``discworld, untimed``."""
        return f"{self.rules}, {self.time.value}"


@value
class Rating:
    """How good a player is.

    Attributes:
        points: the rating, as a chess player would read it.
        uncertainty: one standard deviation of it, in points: it is as likely as two to one that the
            player is that near.
        results: on how many it rests: of matches between people, of battles in which a bot
            played, or of puzzles.
    """

    points: int
    uncertainty: int
    results: int

    @property
    def is_provisional(self) -> bool:
        """Whether it rests on too little to be in the standings."""
        return self.results < PROVISIONAL

    @property
    def proven(self) -> int:
        """The least that the player is worth, almost certainly. Players are ranked by it."""
        return self.points - 2 * self.uncertainty


@value
class Performance:
    """What somebody has won and lost against people, or against bots.

    Attributes:
        battles: by ruleset's name and side.
        matches: by ruleset's name.
        ratings: how good that makes them, where any of it was rated.
    """

    battles: Mapping[tuple[str, Side], Tally] = field(default_factory=dict)
    matches: Mapping[str, Tally] = field(default_factory=dict)
    ratings: Mapping[Pool, Rating] = field(default_factory=dict)

    @property
    def in_all(self) -> Tally:
        """How all battles ended."""
        tallies = self.battles.values()
        return Tally(*map(sum, zip(*tallies, strict=True))) if tallies else Tally()


@value
class PlayerScore:
    """All that a player has won and lost.

    Attributes:
        name: what they are called now.
        people: what, against people.
        bots: what, against bots.
        levels: if they are a bot: what, against people, by the level at which it played. The
            ratings rest on battles between bots, too.
        puzzles: how good they are at puzzles, if they have tried any.
        curves: how their ratings against people have come to be what they are, where that was
            looked up: the points before the last `CURVE` matches, and after each of them.
    """

    name: str
    people: Performance = Performance()
    bots: Performance = Performance()
    levels: Mapping[int, Performance] = field(default_factory=dict)
    puzzles: Rating | None = None
    curves: Mapping[Pool, tuple[int, ...]] = field(default_factory=dict)


class RatingChange(NamedTuple):
    """How a match has changed a player's rating.

    Attributes:
        player: whose.
        pool: which of theirs.
        before: the points that it had.
        after: what it is now.
    """

    player: str
    pool: Pool
    before: int
    after: Rating


class StudyRecord(NamedTuple):
    """What a player has done of the lessons and the puzzles, and how hard the puzzles are.

    Attributes:
        lessons: the numbers of the lessons that they have done.
        tried: whether they have solved each of the puzzles that they have tried, at the first try.
        rating: how good that makes them; None if they have tried none.
        difficulties: how hard those puzzles are that anybody has tried.
    """

    lessons: frozenset[int] = frozenset()
    tried: Mapping[int, bool] = MappingProxyType({})
    rating: Rating | None = None
    difficulties: Mapping[int, Rating] = MappingProxyType({})


PAGE = 20
"""Battles on a page of the history, and players in the standings."""

CURVE = 60
"""The matches of a curve: as many as fit across a screen of 80 columns."""

AnswerT = TypeVar("AnswerT")


class FoundBattle(NamedTuple):
    """A battle, and what is kept of it.

    Attributes:
        battle: the battle.
        game: it as far as it has come; None if its plies are no longer kept.
        comments: what was said about its plies, in their order.
        players: the names of those of its players who have them still: a guest's may be another's.
        spent: how many seconds each ply took; nothing if it was played without a clock.
    """

    battle: Battle
    game: Game | None
    comments: tuple[Comment, ...] = ()
    players: frozenset[str] = frozenset()
    spent: tuple[float, ...] = ()


class AdjournedMatch(NamedTuple):
    """A match that is put away, and the battle that it has come to."""

    battle: Battle
    match: SavedMatch


class HistoryPage(NamedTuple):
    """Some battles, the last one first, and how many there are in all."""

    battles: tuple[Battle, ...]
    in_all: int


class SeenMember(NamedTuple):
    """A player with an account.

    Attributes:
        name: what they are called.
        at: when they were last here, in seconds since the epoch.
        plan: what they say about themselves; "" for nothing.
    """

    name: str
    at: float
    plan: str = ""


PLAN = "plan"
"""Under which key of a member's preferences that is kept."""


class Fingered(NamedTuple):
    """Who a player is, here or not.

    Attributes:
        name: what they are called.
        member: what is kept of them, if they have an account.
        score: what they have won and lost, if they have ended a battle.
    """

    name: str
    member: SeenMember | None
    score: PlayerScore | None


class ListedBot(NamedTuple):
    """A bot that is here, the level at which it usually plays, and how it has fared at that."""

    name: str
    level: int
    fared: Performance

    @property
    def rating(self) -> Rating | None:
        """How good it is at that level by the rules that most are played by, if that is known."""
        return self.fared.ratings.get(Pool(DEFAULT_RULES.name))


class RankedPlayer(NamedTuple):
    """A player, their place, from 1, and why it is theirs."""

    place: int
    name: str
    rating: Rating


class Ranking(NamedTuple):
    """The best players by one kind of ratings.

    Attributes:
        pool: which ratings.
        players: the best, and who asked if they are among the others.
        in_all: how many have such a rating that is not provisional.
        mine: that of who asked, if they have one.
        others: how many have one of another kind, those of which most have one first.
    """

    pool: Pool
    players: tuple[RankedPlayer, ...] = ()
    in_all: int = 0
    mine: Rating | None = None
    others: tuple[tuple[Pool, int], ...] = ()


class Lookup(Generic[AnswerT]):
    """Something to be looked up, and what kind of answer it has."""

    __slots__ = ()


@value
class BattleLookup(Lookup["FoundBattle | None"]):
    """The battle with a number; None if there is none."""

    number: int


@value
class AdjournedLookup(Lookup[tuple[AdjournedMatch, ...]]):
    """The matches of a player, named in any case, that are put away."""

    player: str


@value
class HistoryLookup(Lookup[HistoryPage]):
    """A page of the battles that were played.

    Attributes:
        player: whose, named in any case; None for everybody's.
        page: which, from 1.
        opponent: with whom, likewise.
        rules: by which ruleset; None for any.
        day: only those that began on a day such as 2026-11-20, ``today`` or ``yesterday``.
    """

    player: str | None
    page: int = 1
    opponent: str | None = None
    rules: str | None = None
    day: str | None = None


@value
class ScoreLookup(Lookup["PlayerScore | None"]):
    """What a player, named in any case, has won and lost; None if they have ended no battle.

    With ``curves`` it is told, too, how their ratings have come about.
    """

    player: str
    curves: bool = False


@value
class StandingsLookup(Lookup[Ranking]):
    """The best players, and the one who asks: by a ruleset, and at a pace.

    Where one of the two is None, it is that of which most players have ratings.
    """

    player: str
    rules: str | None = None
    time: TimeClass | None = None


@value
class StudiesLookup(Lookup[StudyRecord]):
    """What a player, named in any case, has done of the lessons and the puzzles."""

    player: str


@value
class MemberLookup(Lookup["SeenMember | None"]):
    """The player with an account who has a name, in any case; None if nobody has."""

    name: str


class Unread(ThudmudError):
    """Something has to be looked up before it can be decided what a command brings about."""

    def __init__(self, lookup: Lookup[Any]) -> None:
        super().__init__(lookup)
        self.lookup = lookup

    def __str__(self) -> str:
        return f"{self.lookup} has not been looked up"


class Found:
    """What has been looked up for one decision. The next decision looks it up anew."""

    def __init__(self, answers: Mapping[Lookup[Any], Any] | None = None) -> None:
        self._answers: dict[Lookup[Any], Any] = dict(answers or {})

    def take(self, lookup: Lookup[AnswerT], answer: AnswerT) -> None:
        """Keep an answer."""
        self._answers[lookup] = answer

    def __getitem__(self, lookup: Lookup[AnswerT]) -> AnswerT:
        """Return an answer; Unread if there is none yet."""
        try:
            return cast("AnswerT", self._answers[lookup])
        except KeyError:
            raise Unread(lookup) from None


NOTHING_FOUND = Found()
"""Nothing, as before most decisions; nobody adds to it."""
