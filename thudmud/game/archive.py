"""Values for past battles, ratings and standings, and the lookups that decisions need.

The hall doesn't hold past battles. A decision reads them from `LookupResults`, which raises
`LookupNeededError` for a missing answer. The service then queries the store and decides again.
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
    """Abandoned: both players left or began another battle."""


GOES_ON = frozenset({State.RUNNING, State.ADJOURNED})
"""The states of unfinished battles, for which the players get no help."""


def is_player(name: str) -> bool:
    """Whether a name is valid for the player of a battle: 2 to 20 ASCII letters."""
    return name.isascii() and name.isalpha() and 2 <= len(name) <= 20


def name_or_empty(name: str) -> str:
    """Return a player's name, or "" if an erasure replaced the name."""
    return name if is_player(name) else ""


class Battle(NamedTuple):
    """A battle without its plies; a tuple to save memory, since there are many.

    Attributes:
        number: the public number of the battle, from 1.
        id: the stream and version at which it began.
        at: the start time, in seconds since the epoch.
        rules: the name of the ruleset.
        dwarf: the player of the dwarfs at the end; "" if unknown.
        troll: the player of the trolls at the end; "" if unknown.
        source: the event from which its plies are read: the start, resumption or import.
        until: the version of its last event in the stream of ``source``; None while it is running.
        state: the state of the battle.
        part: the number of the battle in its match, 1 or 2.
        earlier_points: the points from earlier battles, of the dwarfs' player and of the trolls'
            player.
        plies: the number of plies; None if it has to be counted from the events.
        outcome: the result; None for an unfinished battle, or an imported one with an unknown
            result.
        rated: whether it counts for ratings, or may count while it is running.
        points: the points of the match for the dwarfs' and the trolls' player, if it ended the
            match.
        imported: whether it was imported.
        has_custom_opening: whether it began from a custom position and so doesn't count.
        time: the time control; None without a clock.
        tournament: the tournament and round that it belongs to, if any.
        title: the title of the tournament; "" for none.
        ratings: the points of the dwarfs' and the trolls' player at the end, in the rating that
            such a battle counts for; None for no rating or a provisional one.
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
    earlier_points: tuple[int, int] = (0, 0)
    plies: int | None = None
    outcome: Outcome | None = None
    rated: bool = False
    points: tuple[int, int] | None = None
    imported: bool = False
    has_custom_opening: bool = False
    time: TimeControl | None = None
    tournament: TournamentRound | None = None
    title: str = ""
    ratings: tuple[int | None, int | None] = (None, None)

    @property
    def event(self) -> str:
        """The name of the battle's tournament; "" without one."""
        if self.tournament is None:
            return ""
        return tournament_name(self.tournament.number, self.title)

    @property
    def round(self) -> str:
        """The number of the tournament round, as text; "" without a tournament."""
        return str(self.tournament.round) if self.tournament else ""

    @property
    def players(self) -> tuple[str, str]:
        """The players of the dwarfs and of the trolls; "" for an unknown player."""
        return self.dwarf, self.troll

    def player(self, side: Side) -> str:
        """Return the player of a side; "" if unknown."""
        return self.dwarf if side is Side.DWARF else self.troll

    @property
    def is_practice(self) -> bool:
        """Whether one player played both sides."""
        return self.dwarf == self.troll and not self.imported

    @property
    def length(self) -> int | None:
        """The number of events to read from ``source``; None for all later events."""
        return None if self.until is None else self.until - self.source.version + 1


class Tally(NamedTuple):
    """Counts of a player's wins, draws and losses."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    def plus_result(self, *, mine: bool, theirs: bool) -> Tally:
        """Return the tally with one more result: a win, a loss, or a draw if neither won."""
        return Tally(self.won + mine, self.drawn + (not (mine or theirs)), self.lost + theirs)


MIDDLE = 1500
"""The rating of a new player."""

PROVISIONAL = 6
"""The minimum number of results for an established rating; with fewer it is provisional.

In trials with players whose strength was known, ratings were wrong by some 200 points after one
match, by some 135 after six, and by hardly less after twenty."""


class Pool(NamedTuple):
    """A rating pool: the matches by one ruleset at one pace.

    Ratings against bots are separated by ruleset only, since bots don't use slow clocks.
    """

    rules: str
    time: TimeClass = TimeClass.UNTIMED

    def __str__(self) -> str:
        """Describe the pool in words, such as ``discworld, untimed``."""
        return f"{self.rules}, {self.time.value}"


class Rating(Value):
    """A player's rating.

    Attributes:
        points: the rating, on the scale of chess ratings.
        uncertainty: one standard deviation, in points.
        results: the number of results behind it: matches between people, battles with bots, or
            puzzles.
    """

    points: int
    uncertainty: int
    results: int

    @property
    def is_provisional(self) -> bool:
        """Whether the rating has too few results for the standings."""
        return self.results < PROVISIONAL

    @property
    def proven(self) -> int:
        """The rating minus two standard deviations, by which players are ranked."""
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
    """A player's place in a finished tournament.

    Attributes:
        number: the tournament's number.
        title: the tournament's title; "" for none.
        place: the place, from 1.
        entrants: the number of players.
    """

    number: int
    title: str
    place: int
    entrants: int

    @property
    def name(self) -> str:
        """The tournament's title, or a name made from its number if it has none."""
        return tournament_name(self.number, self.title)


class PlayerScore(Value):
    """All results of a player.

    Attributes:
        name: the player's current name.
        people: the results against people.
        bots: the results against bots.
        levels: for a bot, the results against people by level. Its ratings include battles between
            bots.
        puzzles: the rating at puzzles, if any were tried.
        curves: for each pool, the points before the last `CURVE` matches and after each of them;
            filled only on request.
        tournaments: the places in the last tournaments, the latest first; filled only on request.
    """

    name: str
    people: Performance = Performance()
    bots: Performance = Performance()
    levels: Mapping[int, Performance] = field(default_factory=dict)
    puzzles: Rating | None = None
    curves: Mapping[Pool, tuple[int, ...]] = field(default_factory=dict)
    tournaments: tuple[TournamentPlace, ...] = ()


class RatingChange(NamedTuple):
    """The change of a player's rating by a match between people or a battle with a bot.

    Attributes:
        player: the player's name.
        pool: the pool of the rating.
        before: the points before the change.
        after: the rating after the change.
        with_bot: whether it is a rating against bots.
    """

    player: str
    pool: Pool
    before: int
    after: Rating
    with_bot: bool = False


PAGE = 20
"""The number of battles on a page of the history, and of players in the standings."""

CURVE = 60
"""The maximum number of matches in a rating curve, which has to fit into 80 columns."""

AnswerT = TypeVar("AnswerT")


class FoundBattle(NamedTuple):
    """A battle with all its stored data.

    Attributes:
        battle: the battle.
        game: the game so far; None if its plies are no longer stored.
        comments: the comments on its plies, in order.
        players: the players who still have the same names. A guest's name may belong to another
            player by now.
        spent: the seconds taken for each ply; empty without a clock.
    """

    battle: Battle
    game: Game | None
    comments: tuple[Comment, ...] = ()
    players: frozenset[str] = frozenset()
    spent: tuple[float, ...] = ()


class AdjournedMatch(NamedTuple):
    """An adjourned match and its current battle."""

    battle: Battle
    match: SavedMatch


class HistoryPage(NamedTuple):
    """A page of battles, the latest first, with the total number of battles."""

    battles: tuple[Battle, ...]
    in_all: int


class LetterCount(NamedTuple):
    """The numbers of new letters, and of all letters, in a member's mailbox."""

    new: int = 0
    in_all: int = 0


class SeenMember(NamedTuple):
    """A member and the time of the last visit.

    Attributes:
        name: the member's name.
        at: the time of the last visit, in seconds since the epoch.
        plan: the member's text about themselves; "" for none.
    """

    name: str
    at: float
    plan: str = ""


PLAN = "plan"
"""The key of the plan among a member's preferences."""


class Fingered(NamedTuple):
    """The answer to `finger`: public facts about a player, who may be offline.

    Attributes:
        name: the player's name.
        member: the stored data of the account; None without one.
        score: the results; None without a finished battle.
    """

    name: str
    member: SeenMember | None
    score: PlayerScore | None


class ListedBot(NamedTuple):
    """A connected bot with its usual level and its results at that level."""

    name: str
    level: int
    fared: Performance

    @property
    def rating(self) -> Rating | None:
        """The bot's rating at that level by the default rules, if any."""
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
        players: the best players, followed by the requesting player if ranked lower.
        in_all: the number of ranked players.
        mine: the rating of the requesting player, if any.
        others: the other pools with their numbers of ranked players, the largest first.
    """

    pool: Pool
    players: tuple[RankedPlayer, ...] = ()
    in_all: int = 0
    mine: Rating | None = None
    others: tuple[tuple[Pool, int], ...] = ()


class Lookup(Value, Generic[AnswerT]):
    """A query outside the hall's state; ``AnswerT`` is the type of its answer."""


class BattleLookup(Lookup["FoundBattle | None"]):
    """The battle with the given number; None if there is none."""

    number: int


class AdjournedLookup(Lookup[tuple[AdjournedMatch, ...]]):
    """The adjourned matches of a player, whose name is case-insensitive."""

    player: str


class HistoryLookup(Lookup[HistoryPage]):
    """A page of past battles.

    Attributes:
        player: restricts the page to battles of this player, ignoring case; None for all battles.
        page: the number of the page, from 1.
        opponent: restricts the page to battles against this player, ignoring case.
        rules: restricts the page to battles under the ruleset of this name.
        day: restricts the page to battles that began on a day such as 2026-11-20, ``today`` or
            ``yesterday``.
    """

    player: str | None
    page: int = 1
    opponent: str | None = None
    rules: str | None = None
    day: str | None = None


class ScoreLookup(Lookup["PlayerScore | None"]):
    """The results of a player, ignoring case; None without a finished battle.

    ``with_curves`` includes the rating history and the places in tournaments.
    """

    player: str
    with_curves: bool = False


class ScoresLookup(Lookup["dict[str, PlayerScore | None]"]):
    """The results of several players, keyed by the names exactly as given."""

    players: tuple[str, ...]


class StandingsLookup(Lookup[Ranking]):
    """The standings by a ruleset and at a pace, with the place of the requesting player.

    A ruleset or pace of None selects the one in which most players have ratings.
    """

    player: str
    rules: str | None = None
    time: TimeClass | None = None


class LetterCountLookup(Lookup[LetterCount]):
    """The number of letters of a member, whose name is case-insensitive."""

    player: str


class MemberLookup(Lookup["SeenMember | None"]):
    """The member called ``name``, ignoring case; None if there is none."""

    name: str


class LookupNeededError(ThudmudError):
    """A decision needs the answer to a lookup that hasn't been made yet."""

    def __init__(self, lookup: Lookup[Any]) -> None:
        super().__init__(lookup)
        self.lookup = lookup

    def __str__(self) -> str:
        return f"missing the answer to the lookup {self.lookup}"


class LookupResults:
    """The answers to the lookups of one decision; the next decision starts empty."""

    def __init__(self, answers: Mapping[Lookup[Any], Any] | None = None) -> None:
        self._answers: dict[Lookup[Any], Any] = dict(answers or {})

    def store(self, lookup: Lookup[AnswerT], answer: AnswerT) -> None:
        """Store the answer to a lookup."""
        self._answers[lookup] = answer

    def get(self, lookup: Lookup[AnswerT]) -> AnswerT | None:
        """Return the answer to a lookup; None if there is none yet."""
        return cast("AnswerT | None", self._answers.get(lookup))

    def __getitem__(self, lookup: Lookup[AnswerT]) -> AnswerT:
        """Return the answer to a lookup.

        Raises:
            LookupNeededError: there is no answer yet.
        """
        try:
            return cast("AnswerT", self._answers[lookup])
        except KeyError:
            raise LookupNeededError(lookup) from None


NOTHING_FOUND = LookupResults()
"""The empty set of answers, as for most decisions. It is shared and must not be changed."""
