"""Events of boards, seeks and tournaments. The state of a table is the fold of its events.

Events hold no sentences: `thudmud.views` renders them as words, boards and machine lines for each
reader.

Every event records when it was decided (``at``, in seconds since the epoch) and whose command
caused it (``player``). Events are validated on construction, so readers need not validate them
again. New fields go at the end and have a default: fields are stored in this order.
"""

from __future__ import annotations

from enum import Enum
from typing import ClassVar, NamedTuple, Self, get_args

from thudmud.errors import InvalidValueError
from thudmud.game.clocks import Clock, TimeControl
from thudmud.rules import RULESETS, Move, Outcome, Piece, Position, Side, require_possible
from thudmud.values import ArrayValue, replace

BATTLES = 2
"""The number of battles in a match."""

MADE = "(board) "
"""The key prefix of boards opened by players. Such a board is closed once nobody needs it."""

LONGEST_NAME = 80
"""The maximum length of a player's name in any front end, in characters."""

EARLIEST = -62_135_596_800.0
"""The first second of the year 1: `datetime` has no earlier dates."""

LATEST = 253_402_300_799.0
"""The last second of the year 9999: `datetime` has no later dates."""


def require_name(name: str) -> None:
    """Raise InvalidValueError if a name is invalid for players and boards."""
    if not (0 < len(name) <= LONGEST_NAME and name.isprintable() and name.strip() == name):
        raise InvalidValueError(
            f"expected a name of 1 to {LONGEST_NAME} printable characters, got {name!r:.50}"
        )


def require_time(at: float, since: float = 0.0) -> None:
    """Raise InvalidValueError unless ``since <= at <= LATEST``, in seconds since the epoch."""
    if not since <= at <= LATEST:
        raise InvalidValueError(f"expected a time in seconds since the epoch, got {at}")


def require_match(battle: int, before: tuple[int, int]) -> None:
    """Raise InvalidValueError if a battle's number or its earlier points are out of range."""
    if not 1 <= battle <= BATTLES:
        raise InvalidValueError(f"expected a battle from 1 to {BATTLES}, got {battle}")
    if min(before) < 0:
        raise InvalidValueError(f"expected non-negative points, got {before}")


def _require_rules(name: str, opening: Position | None = None) -> None:
    """Raise InvalidValueError for an unknown ruleset or an invalid opening.

    An opening is invalid if no battle can begin from it, or if it is the ruleset's own, which is
    written as None.
    """
    if name not in RULESETS:
        raise InvalidValueError(f"unknown rules: {name!r:.50}")
    if opening is not None:
        rules = RULESETS[name]
        require_possible(opening, rules)
        if opening == rules.initial_position or rules.outcome(opening) is not None:
            raise InvalidValueError(
                "expected a set-up position, got the ruleset's own opening or a finished battle"
            )


class Levels(NamedTuple):
    """The levels of the players of the dwarfs and of the trolls.

    None stands for a person, `OWN_PROGRAM` for a bot without levels, any other number for a bot's
    level.
    """

    dwarf: int | None = None
    troll: int | None = None

    def of(self, side: Side) -> int | None:
        """Return the level of the player of a side."""
        return self.dwarf if side is Side.DWARF else self.troll

    def with_level(self, side: Side, level: int | None) -> Levels:
        """Return the levels with another player on a side."""
        return self._replace(**{side.value: level})


NO_BOTS = Levels()
"""The levels of a battle between two people."""

OWN_PROGRAM = 0
"""The level of a bot that has its own program."""


def _require_levels(*levels: int | None) -> None:
    """Raise InvalidValueError if a level is negative."""
    for level in levels:
        if level is not None and level < 0:
            raise InvalidValueError(f"expected a non-negative level, got {level}")


class BattleId(NamedTuple):
    """The identity of a battle: the key of its board, and the version of its first event there.

    For an imported battle, ``board`` is the key of its own stream.
    """

    board: str
    version: int


class TournamentKind(Enum):
    """How a tournament pairs its players."""

    ROUND_ROBIN = "round robin"
    """Every pair of players meets once."""
    DOUBLE_ROUND_ROBIN = "double round robin"
    """Every pair of players meets twice."""
    SWISS = "swiss"
    """A fixed number of rounds, each pairing players of similar scores who haven't met."""
    KNOCK_OUT = "knock-out"
    """The loser of a match is out."""
    ARENA = "arena"
    """Free players are paired again and again until the time is up."""

    @property
    def allows_late_entry(self) -> bool:
        """Whether players may enter after the first round was paired."""
        return self in {TournamentKind.SWISS, TournamentKind.ARENA}

    @property
    def is_round_robin(self) -> bool:
        """Whether this is a round robin, single or double."""
        return self in {TournamentKind.ROUND_ROBIN, TournamentKind.DOUBLE_ROUND_ROBIN}


class BattleScore(NamedTuple):
    """The score of a battle of a pairing: its players' points, and its length in plies."""

    first: int
    second: int
    plies: int


class TournamentRound(NamedTuple):
    """The tournament that a match belongs to, by number, and the round."""

    number: int
    round: int


class SavedMatch(ArrayValue):
    """The state of an adjourned match: everything needed to resume play at any board.

    Attributes:
        battle_id: the current battle.
        battle: the number of the current battle in the match, 1 or 2.
        rules: the name of the ruleset.
        earlier_points: the points from earlier battles, of the dwarfs' player and of the trolls'
            player.
        dwarf: the player of the dwarfs.
        troll: the player of the trolls.
        rated: whether this battle may count for ratings.
        moves: the plies so far.
        outcome: how the current battle ended; None while it goes on.
        levels: the levels of bots in the match.
        opening: the initial position of the battles, if it was set up; else None.
        clock: the clock at the time of adjournment; None without a clock.
    """

    battle_id: BattleId
    battle: int
    rules: str
    earlier_points: tuple[int, int]
    dwarf: str
    troll: str
    rated: bool
    moves: tuple[Move, ...]
    outcome: Outcome | None
    levels: Levels = NO_BOTS
    opening: Position | None = None
    clock: Clock | None = None

    @property
    def time(self) -> TimeControl | None:
        """The time control of the match; None without a clock."""
        return self.clock.control if self.clock else None

    def __post_init__(self) -> None:
        require_match(self.battle, self.earlier_points)
        _require_levels(*self.levels)
        require_name(self.dwarf)
        require_name(self.troll)
        _require_rules(self.rules, self.opening)
        # A running clock checks only its last ply, but this one may come from outside.
        least = min(self.clock.spent, default=0.0) if self.clock else 0.0
        if least < 0:
            raise InvalidValueError(f"expected non-negative times of plies, got {least}")


class Parting(Enum):
    """Why a player left a seat, or the server."""

    LEFT = "left"
    QUIT = "quit"
    LOST = "lost"
    IDLE = "idle"
    """Disconnected for being idle too long."""
    RESTART = "restart"
    """The server was restarted."""
    CUT_OFF = "cut_off"
    """Their server died while others ran, or lost touch with the store."""

    @property
    def is_by_server(self) -> bool:
        """Whether a server is the cause, so that the player's clock gets a grace period."""
        return self in {Parting.RESTART, Parting.CUT_OFF}


class Offer(Enum):
    """Something that needs the consent of both players."""

    END = "end"
    RESTART = "restart"
    REMATCH = "rematch"
    BEGIN = "begin"
    ADJOURN = "adjourn"
    UNDO = "undo"


class _Event(ArrayValue):
    """Base class of nearly all events; validates their times and names.

    Attributes:
        at: the time of the decision, in seconds since the epoch.
        player: the player whose command caused the event.
        NAMES: the other fields that hold names.
        BY_SERVER: whether ``player`` may be "", for the operator or the server.
    """

    NAMES: ClassVar[tuple[str, ...]] = ()
    BY_SERVER: ClassVar[bool] = False

    at: float
    player: str

    def __post_init__(self) -> None:
        require_time(self.at, EARLIEST)  # a machine whose clock is wrong plays on
        if self.player or not self.BY_SERVER:
            require_name(self.player)
        for field in self.NAMES:
            require_name(getattr(self, field))
        self._require()

    def _require(self) -> None:
        """Raise InvalidValueError if another field is invalid. Called after the common checks."""


class Joined(_Event, tag="joined"):
    """A player took a free seat; ``level`` is as in `Levels`."""

    side: Side
    level: int | None = None

    def _require(self) -> None:
        _require_levels(self.level)


class Left(_Event, tag="left"):
    """A player gave up a seat. A running battle waits for somebody to sit down."""

    side: Side
    parting: Parting


class Absent(_Event, tag="absent"):
    """A seated player went away. The seat is kept, and the battle waits.

    For the last ``waited`` seconds nobody was told, since the player might have come back.
    """

    side: Side
    parting: Parting
    waited: float = 0.0

    def _require(self) -> None:
        if not 0 <= self.waited <= LATEST:
            raise InvalidValueError(f"expected a number of seconds, got {self.waited}")

    @property
    def since(self) -> float:
        """The time at which the player went away, in seconds since the epoch."""
        return self.at - self.waited


class Returned(_Event, tag="returned"):
    """A seated player came back."""

    side: Side


class Cleared(_Event, tag="cleared"):
    """The board was reset: the last player left, or the board is about to be closed.

    ``player`` is "" for the operator.
    """

    BY_SERVER = True


class RulesSet(_Event, tag="rules"):
    """The ruleset for the next match was chosen, by name."""

    rules: str

    def _require(self) -> None:
        _require_rules(self.rules)


class PositionSet(_Event, tag="set up"):
    """The opening of the next match was set up.

    ``opening`` is None for the ruleset's own. ``rules`` is the ruleset's name.
    """

    rules: str
    opening: Position | None

    def _require(self) -> None:
        _require_rules(self.rules, self.opening)


class TimeSet(_Event, tag="time"):
    """The time control of the next match was chosen; None for no clock."""

    time: TimeControl | None


class BattleStarted(_Event, tag="started"):
    """A battle began.

    Attributes:
        at: when.
        player: the player who started the battle; "" in a tournament, where battles start by
            themselves.
        number: the number of the battle in its match; 2 is played with the seats swapped.
        rules: the name of the ruleset.
        dwarf: the player of the dwarfs.
        troll: the player of the trolls.
        rated: whether the battle may count for ratings: both players have accounts, or one is a
            bot.
        levels: which of the players are bots.
        opening: the initial position, if it was set up; such a battle is never rated.
        time: the time control; None without a clock.
        tournament: the tournament and round that the match belongs to, if any.
        first_move: seconds for the first move of each side before its clock starts.
    """

    NAMES = "dwarf", "troll"
    BY_SERVER = True

    number: int
    rules: str
    dwarf: str
    troll: str
    rated: bool = False
    levels: Levels = NO_BOTS
    opening: Position | None = None
    time: TimeControl | None = None
    tournament: TournamentRound | None = None
    first_move: float = 0.0

    def with_time(self, time: TimeControl | None, first_move: float) -> Self:
        """Return the event with a time control, and with time for first moves where it counts."""
        waits = time is not None and not time.is_correspondence
        return replace(self, time=time, first_move=first_move if waits else 0.0)

    def _require(self) -> None:
        require_match(self.number, (0, 0))
        if not 0 <= self.first_move <= LATEST:
            raise InvalidValueError(f"expected a number of seconds, got {self.first_move}")
        _require_levels(*self.levels)
        _require_rules(self.rules, self.opening)
        if self.rated and self.opening is not None:
            raise InvalidValueError("a battle from a set-up position can't be rated")


class Moved(_Event, tag="moved"):
    """A ply was played; ``ply`` counts from 1 within the battle."""

    side: Side
    move: Move
    ply: int

    def _require(self) -> None:
        if self.ply < 1:
            raise InvalidValueError(f"expected a ply number of at least 1, got {self.ply}")
        mover = self.move.piece.side or Side.DWARF  # who moves the Rock
        if mover is not self.side or self.move.piece is Piece.STONE:
            raise InvalidValueError(f"expected a move of the {self.side.plural}, got {self.move}")


class Offered(_Event, tag="offered"):
    """A player made an offer. The opponent accepts by giving the same command.

    ``moves``: the number of the player's moves to take back; 1 for other offers.
    """

    offer: Offer
    moves: int = 1

    def _require(self) -> None:
        if self.moves < 1:
            raise InvalidValueError("expected at least one move to take back")


class OfferLapsed(_Event, tag="lapsed"):
    """An offer lapsed, because a ply was played."""

    offer: Offer


class Declined(_Event, tag="declined"):
    """A player declined the opponent's offer."""

    offer: Offer


class TakenBack(_Event, tag="taken back"):
    """Both players agreed to take back the last plies of ``side`` and the replies.

    ``player`` is the one who accepted. ``moves`` are the plies, in the order in which they were
    played.
    """

    side: Side
    moves: tuple[Move, ...]

    def _require(self) -> None:
        if not self.moves:
            raise InvalidValueError("expected at least one move to take back")


class BattleEnded(_Event, tag="ended"):
    """A battle ended; its points are added to the match.

    Attributes:
        at: when.
        player: the player whose command ended the battle.
        outcome: the outcome.
        plies: the number of plies played.
        dwarf: the player of the dwarfs, or the last one if the seat is free.
        troll: the same for the trolls.
        rated: whether the battle counts for ratings; with a bot, for ratings against bots.
        points: if the match is over, its points, of the dwarfs' and of the trolls' player in this
            battle; else None.
        levels: which of the players are bots.
    """

    NAMES = "dwarf", "troll"

    outcome: Outcome
    plies: int
    dwarf: str
    troll: str
    rated: bool = False
    points: tuple[int, int] | None = None
    levels: Levels = NO_BOTS

    def _require(self) -> None:
        _require_levels(*self.levels)
        if self.plies < 0 or min(self.points or (0, 0)) < 0:
            raise InvalidValueError(
                f"expected non-negative plies and points, got {self.plies} and {self.points}"
            )


class ClockHeld(_Event, tag="held"):
    """The clock was stopped retroactively, for the time in which no server ran.

    ``player`` is "". ``seconds`` is the total length of the outages since the last event.
    """

    BY_SERVER = True

    seconds: float

    def _require(self) -> None:
        if self.seconds < 0:
            raise InvalidValueError(
                f"expected a non-negative number of seconds, got {self.seconds}"
            )


class IdleWarned(_Event, tag="warned"):
    """Both players were warned that the battle of the idle ``player`` can soon be claimed."""

    side: Side


class Adjourned(_Event, tag="adjourned"):
    """A match was adjourned, and the board was reset.

    ``player`` is "" for the operator.
    """

    BY_SERVER = True

    match: SavedMatch


class Resumed(_Event, tag="resumed"):
    """An adjourned match was resumed at this board."""

    match: SavedMatch


TableEvent = (
    Joined
    | Left
    | Absent
    | Returned
    | Cleared
    | RulesSet
    | PositionSet
    | TimeSet
    | BattleStarted
    | Moved
    | Offered
    | OfferLapsed
    | Declined
    | TakenBack
    | BattleEnded
    | ClockHeld
    | IdleWarned
    | Adjourned
    | Resumed
)
"""An event of a board."""

TABLE_EVENTS = get_args(TableEvent)
"""The classes of board events."""

TABLE_EVENTS_BUT_MOVES = tuple(kind for kind in TABLE_EVENTS if kind is not Moved)
"""The classes of board events except `Moved`, which is by far the most frequent."""


class Imported(ArrayValue, tag="imported"):
    """A battle played elsewhere was imported. It belongs to no board.

    Attributes:
        at: when the battle was played, as precisely as known.
        player: the player who imported it; "" for the operator.
        rules: the name of the ruleset.
        dwarf: the player of the dwarfs; "" if unknown.
        troll: the player of the trolls; "" if unknown.
        record: the battle as a game record.
        plies: the number of plies played.
        outcome: the outcome, if a ply ended the battle; else None.
    """

    at: float
    player: str
    rules: str
    dwarf: str
    troll: str
    record: str
    plies: int
    outcome: Outcome | None

    def __post_init__(self) -> None:
        require_time(self.at, EARLIEST)
        for name in (self.player, self.dwarf, self.troll):  # of any length: they come from files
            if not name.isprintable() or name.strip() != name:
                raise InvalidValueError(
                    f"expected a name of 1 to {LONGEST_NAME} printable characters, got {name!r:.50}"
                )
        _require_rules(self.rules)
        if self.plies < 0:
            raise InvalidValueError(f"expected a non-negative number of plies, got {self.plies}")


Event = TableEvent | Imported
"""An event of a board, or an imported battle."""


class BoardOpened(_Event, tag="opened"):
    """A board was opened or reopened in the hall.

    Attributes:
        at: when.
        player: the player who opened the board; "" for the operator.
        key: the key under which the board's events are stored; it never changes.
        name: the board's name, with the noun last.
        rules: the name of the initial ruleset.
        version: the number of events already stored under the key.
    """

    NAMES = "key", "name"
    BY_SERVER = True

    key: str
    name: str
    rules: str
    version: int = 0

    def _require(self) -> None:
        _require_rules(self.rules)
        if self.version < 0:
            raise InvalidValueError(f"expected a non-negative version, got {self.version}")


class BoardClosed(_Event, tag="closed"):
    """A board was closed, after it was cleared or its match adjourned."""

    NAMES = ("key",)
    BY_SERVER = True

    key: str


class BoardRenamed(_Event, tag="renamed"):
    """A board was renamed."""

    NAMES = "key", "name"
    BY_SERVER = True

    key: str
    name: str


class Interrupted(ArrayValue, tag="interrupted"):
    """No server ran from ``since`` until ``at``. Clocks do not count that time."""

    at: float
    since: float

    def __post_init__(self) -> None:
        require_time(self.since)
        require_time(self.at, self.since)


class LessonDone(_Event, tag="lesson done"):
    """A member finished a lesson of the tutorial for the first time."""

    lesson: int

    def _require(self) -> None:
        _require_number(self.lesson)


class PuzzleTried(_Event, tag="puzzle tried"):
    """A member tried a puzzle for the first time. Only that try counts.

    Attributes:
        at: when.
        player: the member.
        puzzle: the puzzle's key, which depends on its position alone.
        solved: whether the first ply was right, without a hint.
    """

    puzzle: int
    solved: bool

    def _require(self) -> None:
        _require_number(self.puzzle)


LONGEST_COMMENT = 300
"""The maximum length of a comment, in characters."""

JOINERS = "\u200c\u200d"
"""The zero-width non-joiner and joiner, which words of several scripts, and emoji, need."""


class Commented(_Event, tag="commented"):
    """A player commented on a ply of a battle, replacing any earlier comment by the same player.

    Attributes:
        at: when.
        player: the author; "" if unknown, in an imported battle.
        key: the key of the stream in which the battle began.
        version: the version of the battle's first event there.
        ply: the number of the ply, from 1; 0 is the opening.
        text: the comment; "" removes the earlier one.
    """

    NAMES = ("key",)
    BY_SERVER = True

    key: str
    version: int
    ply: int
    text: str

    def _require(self) -> None:
        if self.version < 1 or self.ply < 0:
            raise InvalidValueError(f"invalid battle or ply number: {self.version}, {self.ply}")
        shown = self.text.translate(dict.fromkeys(map(ord, JOINERS)))
        is_a_line = shown.isprintable() and self.text.strip() == self.text
        if not is_a_line or len(self.text) > LONGEST_COMMENT:
            raise InvalidValueError(f"invalid comment: {self.text!r:.50}")


def _require_number(number: int) -> None:
    if number < 1:
        raise InvalidValueError(f"invalid lesson or puzzle number: {number}")


class SeekMade(_Event, tag="seek"):
    """A player looks for an opponent: anybody, or one player.

    Attributes:
        at: when.
        player: the seeker.
        number: the number of the seek, the lowest free one.
        rules: the name of the ruleset.
        side: the side wanted in the first battle; None for either.
        rated: whether the match is to count for ratings, if both players have accounts.
        to: the player challenged; "" for anybody.
        time: the time control; None for no clock.
        answers: the number of a busy player's seek that this one asks about; None for an
            ordinary seek.
        until: when the seek expires, in seconds since the epoch; None for never.
        keeps_looking: whether to look for another opponent if this seek isn't accepted.
        word: the word by which alone it can be accepted; "" for an ordinary seek. Such a seek is to
            its own maker, so that nobody else hears of it.
    """

    number: int
    rules: str
    side: Side | None = None
    rated: bool = True
    to: str = ""
    time: TimeControl | None = None
    answers: int | None = None
    until: float | None = None
    keeps_looking: bool = False
    word: str = ""

    @property
    def is_by_days(self) -> bool:
        """Whether the seek is for a correspondence match."""
        return self.time is not None and self.time.is_correspondence

    def is_open(self, now: float) -> bool:
        """Whether the seek is still open at ``now``, in seconds since the epoch."""
        return self.until is None or now < self.until

    def _require(self) -> None:
        if self.to:
            require_name(self.to)
        _require_rules(self.rules)
        if self.number < 1:
            raise InvalidValueError(f"expected a seek number of at least 1, got {self.number}")


class SeekEnd(Enum):
    """Why a seek ended."""

    ACCEPTED = "accepted"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    GONE = "gone"
    """The seeker or the challenged player left."""
    PLAYING = "playing"
    """The seeker began another match."""
    UNANSWERED = "unanswered"
    """The challenged player did not answer in time."""
    MET = "met"
    """The busy seeker was asked about a player who had accepted, and agreed to play."""


class SeekEnded(_Event, tag="seek ended"):
    """A seek ended.

    Attributes:
        at: when.
        player: the player whose command ended the seek.
        number: the number of the seek.
        why: the reason.
        seeker: the player who made the seek.
        to: the player challenged; "" for anybody.
    """

    NAMES = ("seeker",)

    number: int
    why: SeekEnd
    seeker: str
    to: str = ""


# Tournaments.


LONGEST_TITLE = 40
"""The maximum length of a tournament's title, in characters."""


def tournament_name(number: int, title: str) -> str:
    """Return a tournament's title, or ``tournament`` and its number if it has none."""
    return title or f"tournament {number}"


class _OfTournament(_Event):
    """Base class of tournament events. ``number`` is the tournament's, from 1."""

    number: int

    def __post_init__(self) -> None:
        _Event.__post_init__(self)
        if self.number < 1:
            raise InvalidValueError(
                f"expected a tournament number of at least 1, got {self.number}"
            )


class TournamentMade(_OfTournament, tag="tournament"):
    """A tournament was announced.

    Attributes:
        at: when.
        player: the player who announced it.
        number: the tournament's number, one more than the last tournament's.
        title: the title; "" for none.
        kind: the pairing system.
        rules: the name of the ruleset.
        time: the time control of the battles.
        starts: the start, in seconds since the epoch.
        rounds: the number of rounds announced for a Swiss; 0 if none was given, and for all other
            kinds.
        seconds: the length of an arena, in seconds; for other kinds, the limit of a round, or 0
            for none.
        rated: whether the matches are to count for ratings.
        uses_bot_filler: whether a bot joins if an odd number of players has entered.
        until: the latest end, in seconds since the epoch; None for no limit.
    """

    title: str
    kind: TournamentKind
    rules: str
    time: TimeControl
    starts: float
    rounds: int = 0
    seconds: int = 0
    rated: bool = True
    uses_bot_filler: bool = False
    until: float | None = None

    def _require(self) -> None:
        _require_rules(self.rules)
        require_time(self.starts, EARLIEST)
        if self.until is not None:
            require_time(self.until, self.starts)
        title = self.title
        if len(title) > LONGEST_TITLE or not title.isprintable() or title.strip() != title:
            raise InvalidValueError(f"invalid tournament title: {title!r:.50}")
        if min(self.rounds, self.seconds) < 0:
            raise InvalidValueError(
                f"invalid number of rounds or seconds: {self.rounds}, {self.seconds}"
            )


class TournamentEntered(_OfTournament, tag="entered"):
    """A player entered a tournament.

    Attributes:
        at: when.
        player: the player.
        number: the tournament's number.
        rating: the rating by which the player is seeded; None without a rating.
        is_member: whether the player has an account.
    """

    rating: int | None = None
    is_member: bool = False


class TournamentLeaving(Enum):
    """Why a player left a tournament."""

    WITHDRAWN = "withdrawn"
    REMOVED = "removed"
    """Removed by the player who announced the tournament, or by an operator."""
    ABSENT = "absent"
    """Missed two matches in a row."""


class TournamentLeft(_OfTournament, tag="left tournament"):
    """A player left a tournament, or was removed.

    Before the first round, this cancels the entry. A player who was removed can't enter again.

    Attributes:
        at: when.
        player: the player.
        number: the tournament's number.
        why: the reason.
        by: the player who did the removing; "" if nobody did.
    """

    why: TournamentLeaving
    by: str = ""

    def __post_init__(self) -> None:
        _OfTournament.__post_init__(self)
        if self.by:
            require_name(self.by)


class RoundPaired(_OfTournament, tag="paired"):
    """A round was paired.

    Attributes:
        at: when.
        player: "".
        number: the tournament's number.
        round: the number of the round, from 1; in an arena every batch of pairings is a round.
        players: the players of all matches, two for each match; the first of them has the dwarfs
            first. The opponent of a player with a bye is "".
        missing: the entrants who were not here when the tournament started; their entries are
            cancelled.
    """

    BY_SERVER = True

    round: int
    players: tuple[str, ...]
    missing: tuple[str, ...] = ()

    def _require(self) -> None:
        known = [each for each in self.players if each]
        for each in known:
            require_name(each)
        is_paired = len(self.players) % 2 == 0 and all(self.players[::2])
        if self.round < 1 or not known or not is_paired or len(set(known)) != len(known):
            raise InvalidValueError(f"invalid pairings of round {self.round}: {self.players}")
        for each in self.missing:
            require_name(each)
        if both := set(known).intersection(self.missing):
            raise InvalidValueError(f"expected nobody paired to be missing, got {sorted(both)}")

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The players of each match."""
        return tuple(zip(self.players[::2], self.players[1::2], strict=True))


class _OfPairing(_OfTournament):
    """Base class of the events of one match of a round.

    ``index`` is the place of the match in the round, from 0.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("first", "second")
    BY_SERVER = True

    round: int
    index: int
    first: str
    second: str

    def __post_init__(self) -> None:
        _OfTournament.__post_init__(self)
        if self.round < 1 or self.index < 0:
            raise InvalidValueError(f"invalid round or match index: {self.round}, {self.index}")


class PairingBegun(_OfPairing, tag="pairing begun"):
    """A board was opened for a match of a tournament.

    Attributes:
        at: when.
        player: "".
        number: the tournament's number.
        round: the number of the round.
        index: the place of the match in the round, from 0.
        first: the player of the dwarfs in the first battle.
        second: the player of the trolls in the first battle.
        key: the key of the board.
    """

    NAMES = "first", "second", "key"

    key: str


class PairingScored(_OfPairing, tag="pairing scored"):
    """A tournament battle was scored, or its match was forfeited.

    Attributes:
        at: when.
        player: "".
        number: the tournament's number.
        round: the number of the round.
        index: the place of the match in the round, from 0.
        first: the player of the dwarfs in the first battle.
        second: the player of the trolls in the first battle.
        battles: the scores of all battles of the match so far.
        absent: whether the first and the second player were absent, and so have lost the match.
        is_over: whether the match is over.
        numbers: the numbers of the battles in the archive; None for an unknown one. Empty if the
            event was stored by an earlier version.
    """

    battles: tuple[BattleScore, ...] = ()
    absent: tuple[bool, bool] = (False, False)
    is_over: bool = True
    numbers: tuple[int | None, ...] = ()

    def _require(self) -> None:
        if len(self.battles) > BATTLES or any(min(each) < 0 for each in self.battles):
            raise InvalidValueError(f"invalid battles of a match: {self.battles}")


class TournamentPaused(_OfTournament, tag="tournament paused"):
    """A tournament was paused: no round is paired, no match begins, and nobody has to come.

    Attributes:
        at: when.
        player: the player who paused the tournament.
        number: the tournament's number.
        until: when the pause ends by itself, in seconds since the epoch; None for never.
    """

    until: float | None = None

    def _require(self) -> None:
        if self.until is not None:
            require_time(self.until, self.at)


class TournamentContinued(_OfTournament, tag="tournament continued"):
    """A paused tournament was resumed. ``player`` is "" if the pause ended by itself."""

    BY_SERVER = True


class TournamentEnd(Enum):
    """Why a tournament ended."""

    OVER = "over"
    CANCELLED = "cancelled"
    TOO_FEW = "too few"
    """Fewer than two players had entered or come."""


class TournamentEnded(_OfTournament, tag="tournament ended"):
    """A tournament ended.

    Attributes:
        at: when.
        player: the player who cancelled the tournament; "" if nobody did.
        number: the tournament's number.
        why: the reason.
        players: the players, winner first; empty if the tournament was not finished.
        places: the place of each player, from 1; tied players share a place.
    """

    BY_SERVER = True

    why: TournamentEnd
    players: tuple[str, ...] = ()
    places: tuple[int, ...] = ()

    def _require(self) -> None:
        for each in self.players:
            require_name(each)
        if len(self.players) != len(self.places) or min(self.places, default=1) < 1:
            raise InvalidValueError(
                f"expected the places of {len(self.players)} players, got {self.places}"
            )


TournamentEvent = (
    TournamentMade
    | TournamentEntered
    | TournamentLeft
    | RoundPaired
    | PairingBegun
    | PairingScored
    | TournamentPaused
    | TournamentContinued
    | TournamentEnded
)
"""An event of a tournament; stored in the hall's stream."""

TOURNAMENTS = get_args(TournamentEvent)
"""The classes of tournament events."""

HallEvent = (
    BoardOpened
    | BoardClosed
    | BoardRenamed
    | SeekMade
    | SeekEnded
    | LessonDone
    | PuzzleTried
    | Commented
    | Interrupted
    | TournamentEvent
)
"""An event of the hall itself. These have a stream of their own."""

StoredEvent = Event | HallEvent
"""Any event in a store."""

LANDMARKS = (BattleStarted, BattleEnded, Adjourned, Resumed, Cleared, Imported)
"""The classes of events that mark the beginning or end of a battle."""


def is_complete(event: StoredEvent) -> bool:
    """Whether the state of a table after ``event`` is independent of earlier events.

    A table can be folded from the last such event on: it serves as a snapshot.
    """
    match event:
        case BattleStarted(number=number):
            return number == 1
        case Cleared() | Adjourned() | Resumed():
            return True
    return False
