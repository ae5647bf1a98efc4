"""Past battles, ratings and standings as values, and how a decision looks them up.

A hall does not hold past battles. A decision asks `Found` for them, which raises `Unread` if they
have not been looked up yet. The service then looks them up in the store and decides again.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Generic, NamedTuple, TypeVar, cast

from msgspec import field

from thudmud.errors import ThudmudError
from thudmud.game.clocks import TimeClass, TimeControl
from thudmud.game.events import BattleId, SavedMatch, TournamentRound, tournament_name
from thudmud.rules import DEFAULT_RULES, Comment, Game, Outcome, Side
from thudmud.values import Value


class State(Enum):
    """The state of a battle."""

    RUNNING = "running"
    ENDED = "ended"
    ADJOURNED = "adjourned"
    UNFINISHED = "unfinished"
    """Abandoned: both left, or began another battle."""


GOES_ON = frozenset({State.RUNNING, State.ADJOURNED})
"""The states of battles that are not over: their players get no help with them."""


def is_player(name: str) -> bool:
    """Whether this can be the name of somebody who played a battle."""
    return name.isascii() and name.isalpha() and 2 <= len(name) <= 20


def unless_erased(name: str) -> str:
    """Return a player's name; "" if it was erased, so that no name stands in its place."""
    return name if is_player(name) else ""


class Battle(NamedTuple):
    """A battle without its plies. A tuple, since there are many.

    Attributes:
        number: the number by which players ask for it, from 1.
        id: the stream and version at which it began.
        at: when it began, in seconds since the epoch.
        rules: its ruleset's name.
        dwarf: who played the dwarfs at the end; "" if that is not known.
        troll: the same for the trolls.
        source: the event from which its plies are read: where it began, was resumed or was
            imported.
        until: the version of its last event in the stream of ``source``; None while it is running.
        state: how far it has come.
        part: 1 or 2, its number in the match.
        before: the points from earlier battles, of the dwarfs' player and of the trolls' player.
        plies: how many were played; None if only its events tell.
        outcome: how it ended; None if it has not, or if that is not known of an imported battle.
        rated: whether it counts for ratings, or may while it is running.
        points: the points of the match for the dwarfs' and the trolls' player, if it ended the
            match.
        imported: whether it was imported.
        set_up: whether it began from a position that was set up, and so does not count.
        time: its time control; None without a clock.
        tournament: the tournament that it was a part of, and the round, if any.
        title: what the tournament is called; "" for nothing.
        ratings: the points of the dwarfs' and the trolls' player when it ended, of the rating that
            such a battle counts for; None if they had none, or a provisional one.
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
    tournament: TournamentRound | None = None
    title: str = ""
    ratings: tuple[int | None, int | None] = (None, None)

    @property
    def event(self) -> str:
        """What the tournament of the battle is called; "" if it was of none."""
        if self.tournament is None:
            return ""
        return tournament_name(self.tournament.number, self.title)

    @property
    def round(self) -> str:
        """The number of the round of the tournament; "" if it was of none."""
        return str(self.tournament.round) if self.tournament else ""

    @property
    def players(self) -> tuple[str, str]:
        """The players of the dwarfs and of the trolls; "" if not known."""
        return self.dwarf, self.troll

    def player(self, side: Side) -> str:
        """Return who played a side; "" if not known."""
        return self.dwarf if side is Side.DWARF else self.troll

    @property
    def is_practice(self) -> bool:
        """Whether one player played both sides."""
        return self.dwarf == self.troll and not self.imported

    @property
    def length(self) -> int | None:
        """How many events to read from its source; None for all that follow."""
        return None if self.until is None else self.until - self.source.version + 1


class Tally(NamedTuple):
    """How often a player won, drew and lost."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    def and_one(self, *, mine: bool, theirs: bool) -> Tally:
        """Return the tally with one more result: a win, a loss, or a draw if neither won."""
        return Tally(self.won + mine, self.drawn + (not (mine or theirs)), self.lost + theirs)


MIDDLE = 1500
"""The rating of a new player."""

PROVISIONAL = 6
"""A rating that rests on fewer results is provisional.

In trials with players whose strength was known, ratings were wrong by some 200 points after one
match, by some 135 after six, and by hardly less after twenty."""


class Pool(NamedTuple):
    """The matches that a rating is about: a ruleset and a pace.

    Battles against bots are told apart by ruleset only, since bots do not use slow clocks.
    """

    rules: str
    time: TimeClass = TimeClass.UNTIMED

    def __str__(self) -> str:
        """Return it in words: ``discworld, untimed``."""
        return f"{self.rules}, {self.time.value}"


class Rating(Value):
    """A player's rating.

    Attributes:
        points: the rating, on the scale of chess ratings.
        uncertainty: one standard deviation, in points.
        results: how many results it rests on: matches between people, battles with bots, or
            puzzles.
    """

    points: int
    uncertainty: int
    results: int

    @property
    def is_provisional(self) -> bool:
        """Whether it rests on too few results for the standings."""
        return self.results < PROVISIONAL

    @property
    def proven(self) -> int:
        """The rating less two standard deviations. Players are ranked by it."""
        return self.points - 2 * self.uncertainty


class Performance(Value):
    """A player's results in one role, such as against people.

    Attributes:
        battles: tallies of battles, by ruleset's name and side.
        matches: tallies of matches, by ruleset's name.
        ratings: the ratings, by pool.
    """

    battles: Mapping[tuple[str, Side], Tally] = field(default_factory=dict)
    matches: Mapping[str, Tally] = field(default_factory=dict)
    ratings: Mapping[Pool, Rating] = field(default_factory=dict)

    @property
    def in_all(self) -> Tally:
        """The tally of all battles."""
        tallies = self.battles.values()
        return Tally(*map(sum, zip(*tallies, strict=True))) if tallies else Tally()


class TournamentPlace(NamedTuple):
    """A player's place in a tournament that is over.

    Attributes:
        number: the tournament's number.
        title: what it was called; "" for nothing.
        place: the place, from 1.
        entrants: how many players there were.
    """

    number: int
    title: str
    place: int
    entrants: int

    @property
    def name(self) -> str:
        """Its title; one without is called by its number."""
        return tournament_name(self.number, self.title)


class PlayerScore(Value):
    """All results of a player.

    Attributes:
        name: what they are called now.
        people: the results against people.
        bots: the results against bots.
        levels: for a bot, the results against people by level. Its ratings include battles between
            bots.
        puzzles: the rating at puzzles, if any were tried.
        curves: for each pool the points before the last `CURVE` matches and after each of them, if
            looked up.
        tournaments: the places in the last tournaments, the latest first, if looked up.
    """

    name: str
    people: Performance = Performance()
    bots: Performance = Performance()
    levels: Mapping[int, Performance] = field(default_factory=dict)
    puzzles: Rating | None = None
    curves: Mapping[Pool, tuple[int, ...]] = field(default_factory=dict)
    tournaments: tuple[TournamentPlace, ...] = ()


class RatingChange(NamedTuple):
    """How a match between people, or a battle with a bot, changed a player's rating.

    Attributes:
        player: whose.
        pool: which of theirs.
        before: the points before it.
        after: the rating after it.
        with_bot: whether it is a rating against bots.
    """

    player: str
    pool: Pool
    before: int
    after: Rating
    with_bot: bool = False


PAGE = 20
"""Battles on a page of the history, and players in the standings."""

CURVE = 60
"""The most matches of a curve: as many as fit across 80 columns."""

AnswerT = TypeVar("AnswerT")


class FoundBattle(NamedTuple):
    """A battle, with everything that is stored of it.

    Attributes:
        battle: the battle.
        game: the game so far; None if its plies are no longer stored.
        comments: the comments on its plies, in order.
        players: those of its players who still have their names. A guest's name may be another's
            now.
        spent: how many seconds each ply took; nothing if it was played without a clock.
    """

    battle: Battle
    game: Game | None
    comments: tuple[Comment, ...] = ()
    players: frozenset[str] = frozenset()
    spent: tuple[float, ...] = ()


class AdjournedMatch(NamedTuple):
    """A match that was put away, and its current battle."""

    battle: Battle
    match: SavedMatch


class HistoryPage(NamedTuple):
    """A page of battles, the latest first, and how many there are in all."""

    battles: tuple[Battle, ...]
    in_all: int


class LetterCount(NamedTuple):
    """How many letters a member has."""

    new: int = 0
    in_all: int = 0


class SeenMember(NamedTuple):
    """A member, and when they were last here.

    Attributes:
        name: what they are called.
        at: when they were last here, in seconds since the epoch.
        plan: what they say about themselves; "" if nothing.
    """

    name: str
    at: float
    plan: str = ""


PLAN = "plan"
"""The key of the plan among a member's preferences."""


class Fingered(NamedTuple):
    """What `finger` tells of a player, who need not be here.

    Attributes:
        name: what they are called.
        member: what is stored of them, if they have an account.
        score: their results, if they have ended a battle.
    """

    name: str
    member: SeenMember | None
    score: PlayerScore | None


class ListedBot(NamedTuple):
    """A bot that is here, its usual level, and its results at that level."""

    name: str
    level: int
    fared: Performance

    @property
    def rating(self) -> Rating | None:
        """Its rating at that level by the default rules, if it has one."""
        return self.fared.ratings.get(Pool(DEFAULT_RULES.name))


class RankedPlayer(NamedTuple):
    """A player's place in the standings, from 1."""

    place: int
    name: str
    rating: Rating


class Ranking(NamedTuple):
    """The standings in one pool.

    Attributes:
        pool: the pool.
        players: the best players, and the one who asked if ranked lower.
        in_all: how many players are ranked.
        mine: the rating of the player who asked, if any.
        others: the other pools and how many players are ranked there, the largest first.
    """

    pool: Pool
    players: tuple[RankedPlayer, ...] = ()
    in_all: int = 0
    mine: Rating | None = None
    others: tuple[tuple[Pool, int], ...] = ()


class Lookup(Value, Generic[AnswerT]):
    """Something to look up, and the type of its answer."""


class BattleLookup(Lookup["FoundBattle | None"]):
    """The battle with a number; None if there is none."""

    number: int


class AdjournedLookup(Lookup[tuple[AdjournedMatch, ...]]):
    """The matches of a player, named in any case, that were put away."""

    player: str


class HistoryLookup(Lookup[HistoryPage]):
    """A page of past battles.

    Attributes:
        player: whose battles, named in any case; None for everybody's.
        page: which, from 1.
        opponent: only those against this player, named in any case.
        rules: only those by this ruleset, by name.
        day: only those that began on a day such as 2026-11-20, ``today`` or ``yesterday``.
    """

    player: str | None
    page: int = 1
    opponent: str | None = None
    rules: str | None = None
    day: str | None = None


class ScoreLookup(Lookup["PlayerScore | None"]):
    """The results of a player, named in any case; None if they have ended no battle.

    ``curves`` asks for the history of their ratings, and their places in tournaments, as well.
    """

    player: str
    curves: bool = False


class ScoresLookup(Lookup["dict[str, PlayerScore | None]"]):
    """The results of several players, by their names as they are given here."""

    players: tuple[str, ...]


class StandingsLookup(Lookup[Ranking]):
    """The standings by a ruleset and at a pace, with the place of the player who asks.

    If one of the two is None, the one in which most players have ratings is taken.
    """

    player: str
    rules: str | None = None
    time: TimeClass | None = None


class LetterCountLookup(Lookup[LetterCount]):
    """How many letters a member has, named in any case."""

    player: str


class MemberLookup(Lookup["SeenMember | None"]):
    """The member with a name, in any case; None if there is none."""

    name: str


class Unread(ThudmudError):
    """Something has to be looked up before a command can be decided."""

    def __init__(self, lookup: Lookup[Any]) -> None:
        super().__init__(lookup)
        self.lookup = lookup

    def __str__(self) -> str:
        return f"{self.lookup} has not been looked up"


class Found:
    """What was looked up for one decision. The next decision starts afresh."""

    def __init__(self, answers: Mapping[Lookup[Any], Any] | None = None) -> None:
        self._answers: dict[Lookup[Any], Any] = dict(answers or {})

    def take(self, lookup: Lookup[AnswerT], answer: AnswerT) -> None:
        """Keep an answer."""
        self._answers[lookup] = answer

    def get(self, lookup: Lookup[AnswerT]) -> AnswerT | None:
        """Return an answer; None if it was not looked up."""
        return cast("AnswerT | None", self._answers.get(lookup))

    def __getitem__(self, lookup: Lookup[AnswerT]) -> AnswerT:
        """Return an answer; raises Unread if there is none yet."""
        try:
            return cast("AnswerT", self._answers[lookup])
        except KeyError:
            raise Unread(lookup) from None


NOTHING_FOUND = Found()
"""Nothing looked up, as for most decisions. It is shared, so nothing is added to it."""
