"""What happens at a board, as data. The state of a table is the fold of its events.

Events hold no sentences: `thudmud.views` makes words, boards and machine lines of them for each
reader.

Every event says when it was decided (``at``, in seconds since the epoch) and whose command caused
it (``player``). Events are checked when they are made, so readers need not check them again. New
fields go at the end and have a default: fields are stored in this order.
"""

from __future__ import annotations

from enum import Enum
from typing import ClassVar, NamedTuple, get_args

from thudmud.errors import InvalidValueError
from thudmud.game.clocks import Clock, TimeControl
from thudmud.rules import RULESETS, Move, Outcome, Piece, Position, Side, require_possible
from thudmud.values import ArrayValue

BATTLES = 2
"""How many battles a match has."""

MADE = "(board) "
"""The prefix of the keys of boards that players open. Such a board is closed when nobody needs
it."""

LONGEST_NAME = 80
"""The most characters that a player's name may have, from any front end."""

EARLIEST = -62_135_596_800.0
"""The first second of the year 1: `datetime` has no earlier dates."""

LATEST = 253_402_300_799.0
"""The last second of the year 9999: `datetime` has no later dates."""


def require_name(name: str) -> None:
    """Raise InvalidValueError if this cannot be a player's or a board's name."""
    if not (0 < len(name) <= LONGEST_NAME and name.isprintable() and name.strip() == name):
        raise InvalidValueError(f"{name!r:.50} cannot be anybody's name")


def require_time(at: float, since: float = 0.0) -> None:
    """Raise InvalidValueError if a time is out of range, in seconds since the epoch."""
    if not since <= at <= LATEST:
        raise InvalidValueError(f"{at} is no time in seconds since the epoch")


def require_match(battle: int, before: tuple[int, int]) -> None:
    """Raise InvalidValueError if the number of a battle, or the points before it, cannot be."""
    if not 1 <= battle <= BATTLES:
        raise InvalidValueError(f"a match has {BATTLES} battles, so none is battle {battle}")
    if min(before) < 0:
        raise InvalidValueError(f"nobody has points below 0: {before}")


def _require_rules(name: str, opening: Position | None = None) -> None:
    """Raise InvalidValueError if there is no such ruleset, or no battle can begin from the opening.

    None stands for the ruleset's own opening.
    """
    if name not in RULESETS:
        raise InvalidValueError(f"there are no {name!r:.50} rules")
    if opening is not None:
        rules = RULESETS[name]
        require_possible(opening, rules)
        if opening == rules.initial_position or rules.outcome(opening) is not None:
            raise InvalidValueError("no battle is set up like that: it is over, or as by the rules")


class Levels(NamedTuple):
    """The levels at which bots play the dwarfs and the trolls.

    None is a person, `OWN_PROGRAM` a bot without levels, any other number a level.
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
"""Two people play."""

OWN_PROGRAM = 0
"""The level of a bot that has its own program."""


def _require_levels(*levels: int | None) -> None:
    """Raise InvalidValueError if there are no such levels."""
    for level in levels:
        if level is not None and level < 0:
            raise InvalidValueError(f"nobody plays at level {level}")


class BattleId(NamedTuple):
    """What identifies a battle: the key of its board, and the version of its first event there.

    For an imported battle, ``board`` is the key of its own stream.
    """

    board: str
    version: int


class TournamentKind(Enum):
    """How a tournament pairs its players."""

    ROUND_ROBIN = "round robin"
    """Everybody meets everybody once."""
    DOUBLE_ROUND_ROBIN = "double round robin"
    """Everybody meets everybody twice."""
    SWISS = "swiss"
    """So many rounds, each among players of about the same score, who have not met."""
    KNOCK_OUT = "knock-out"
    """Who loses a match is out."""
    ARENA = "arena"
    """For so many minutes, whoever is free is paired."""

    @property
    def allows_late_entry(self) -> bool:
        """Whether players may enter after the first round was paired."""
        return self in {TournamentKind.SWISS, TournamentKind.ARENA}

    @property
    def is_round_robin(self) -> bool:
        """Whether everybody meets everybody."""
        return self in {TournamentKind.ROUND_ROBIN, TournamentKind.DOUBLE_ROUND_ROBIN}


class BattleScore(NamedTuple):
    """How a battle of a pairing ended: the points of its first and its second player."""

    first: int
    second: int
    plies: int


class TournamentRound(NamedTuple):
    """The tournament that a match belongs to, by number, and the round."""

    number: int
    round: int


class SavedMatch(ArrayValue):
    """The state of a match that was put away: all that is needed to resume it at any board.

    Attributes:
        battle_id: the battle that it has come to.
        battle: 1 or 2, the number of that battle in the match.
        rules: its ruleset's name.
        earlier_points: the points from earlier battles, of the dwarfs' player and of the trolls'
            player.
        dwarf: who plays the dwarfs.
        troll: who plays the trolls.
        rated: whether this battle may count for ratings.
        moves: its plies so far.
        outcome: how it ended; None while it goes on.
        levels: the levels of bots in it.
        opening: the position that its battles begin from if it was set up, else None.
        clock: the clock when the match was put away; None without a clock.
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
        """The time control of its battles; None without a clock."""
        return self.clock.control if self.clock else None

    def __post_init__(self) -> None:
        require_match(self.battle, self.earlier_points)
        _require_levels(*self.levels)
        require_name(self.dwarf)
        require_name(self.troll)
        _require_rules(self.rules, self.opening)
        # A running clock checks only its last ply, but this one may come from outside.
        if self.clock and min(self.clock.spent, default=0.0) < 0:
            raise InvalidValueError("no ply takes less than no time")


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
        """Whether a server has caused it, so that no clock runs against the player for a while."""
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
    """The base of nearly all events. Checks their time and names.

    Attributes:
        at: when it was decided, in seconds since the epoch.
        player: whose command caused it.
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
    """A seated player went away. The seat is kept, and the battle waits."""

    side: Side
    parting: Parting


class Returned(_Event, tag="returned"):
    """A seated player came back."""

    side: Side


class Cleared(_Event, tag="cleared"):
    """The board was reset, because the last player left or it is about to be closed.

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
    """A battle began: ``number`` 1 opens a new match, 2 is played with the seats swapped.

    ``dwarf`` and ``troll`` are the players, ``levels`` says which of them are bots. ``rated`` says
    whether the battle may count for ratings: both have accounts, or one is a bot. ``opening`` is
    the position that it begins from if it was set up; such a battle is never rated. ``time`` is its
    time control; None without a clock. ``tournament`` is what it is a part of, if anything; a
    battle of a tournament begins by itself, and ``player`` is "".
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

    def _require(self) -> None:
        require_match(self.number, (0, 0))
        _require_levels(*self.levels)
        _require_rules(self.rules, self.opening)
        if self.rated and self.opening is not None:
            raise InvalidValueError("a battle from a position that was set up is never rated")


class Moved(_Event, tag="moved"):
    """A ply was played; ``ply`` counts from 1 within the battle."""

    side: Side
    move: Move
    ply: int

    def _require(self) -> None:
        if self.ply < 1:
            raise InvalidValueError(f"plies are counted from 1, and this is ply {self.ply}")
        mover = self.move.piece.side or Side.DWARF  # who moves the Rock
        if mover is not self.side or self.move.piece is Piece.STONE:
            raise InvalidValueError(f"the {self.side.plural} do not play {self.move}")


class Offered(_Event, tag="offered"):
    """A player made an offer. The opponent accepts by giving the same command."""

    offer: Offer


class OfferLapsed(_Event, tag="lapsed"):
    """An offer lapsed, because a ply was played."""

    offer: Offer


class Declined(_Event, tag="declined"):
    """A player declined the opponent's offer."""

    offer: Offer


class TakenBack(_Event, tag="taken back"):
    """Both agreed to take back the last ply of ``side`` and any reply to it.

    ``player`` is the one who agreed. ``moves`` are the plies, in the order they were played.
    """

    side: Side
    moves: tuple[Move, ...]

    def _require(self) -> None:
        if not self.moves:
            raise InvalidValueError("no ply was taken back")


class BattleEnded(_Event, tag="ended"):
    """The battle is over; its points are added to the match.

    Attributes:
        at: when.
        player: whose command ended it.
        outcome: how it ended.
        plies: how many were played.
        dwarf: who played the dwarfs, or sat there last if the seat is free.
        troll: the same for the trolls.
        rated: whether it counts for ratings; with a bot, for those against bots.
        points: the points of the match for the dwarfs' and the trolls' player in this battle, if
            the match is over; else None.
        levels: which of them are bots.
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
            raise InvalidValueError(f"a battle has no {self.plies} plies, or {self.points} points")


class ClockHeld(_Event, tag="held"):
    """For part of the time since the last event no server ran. That time does not count.

    ``player`` is "". ``seconds`` is how long that was in all.
    """

    BY_SERVER = True

    seconds: float

    def _require(self) -> None:
        if self.seconds < 0:
            raise InvalidValueError(f"no clock stands still for {self.seconds} seconds")


class IdleWarned(_Event, tag="warned"):
    """Both were warned that the battle can soon be claimed, because ``player`` does not move."""

    side: Side


class Adjourned(_Event, tag="adjourned"):
    """A match was put away for another day. The board is reset.

    ``player`` is "" for the operator.
    """

    BY_SERVER = True

    match: SavedMatch


class Resumed(_Event, tag="resumed"):
    """A match that was put away is resumed at this board."""

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
"""The events of boards."""

TABLE_EVENTS = get_args(TableEvent)
"""Their classes."""

TABLE_EVENTS_BUT_MOVES = tuple(kind for kind in TABLE_EVENTS if kind is not Moved)
"""The same without `Moved`, which is by far the most frequent."""


class Imported(ArrayValue, tag="imported"):
    """A battle played elsewhere was imported. It belongs to no board.

    Attributes:
        at: when it was played, as far as that is known.
        player: who imported it; "" for the operator.
        rules: its ruleset's name.
        dwarf: who played the dwarfs; "" if that is not known.
        troll: the same for the trolls.
        record: the battle as a game record.
        plies: how many were played.
        outcome: how it ended, if a ply ended it.
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
        for name in (self.player, self.dwarf, self.troll):  # however long: files tell them
            if not name.isprintable() or name.strip() != name:
                raise InvalidValueError(f"{name!r:.50} cannot be anybody's name")
        _require_rules(self.rules)
        if self.plies < 0:
            raise InvalidValueError(f"a battle has no {self.plies} plies")


Event = TableEvent | Imported
"""All events of boards, and imported battles."""


class BoardOpened(_Event, tag="opened"):
    """A board was opened in the hall, or opened again.

    Attributes:
        at: when.
        player: whose doing it was; "" for the operator.
        key: the key its events are stored under, which never changes.
        name: what the board is called, its noun last.
        rules: the name of the ruleset that it begins with.
        version: how many events were stored under its key before.
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
            raise InvalidValueError(f"nothing is stored as event {self.version} of a board")


class BoardClosed(_Event, tag="closed"):
    """A board was closed. It was cleared, or its match put away, first."""

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
        player: who.
        puzzle: its key, which depends on its position alone.
        solved: whether their first ply was right, without a hint.
    """

    puzzle: int
    solved: bool

    def _require(self) -> None:
        _require_number(self.puzzle)


LONGEST_COMMENT = 300
"""The most characters that a comment may have."""

JOINERS = "\u200c\u200d"
"""Invisible characters that words of several scripts, and emoji, need."""


class Commented(_Event, tag="commented"):
    """A player commented on a ply of a battle. It replaces their earlier comment on that ply.

    Attributes:
        at: when.
        player: who; "" if the author is not known, in an imported battle.
        key: the stream in which the battle began.
        version: the version of the battle's first event there.
        ply: which ply, from 1; 0 is the opening.
        text: the comment; "" to remove it.
    """

    NAMES = ("key",)
    BY_SERVER = True

    key: str
    version: int
    ply: int
    text: str

    def _require(self) -> None:
        if self.version < 1 or self.ply < 0:
            raise InvalidValueError(f"no battle has a ply {self.version}, {self.ply}")
        shown = self.text.translate(dict.fromkeys(map(ord, JOINERS)))
        is_a_line = shown.isprintable() and self.text.strip() == self.text
        if not is_a_line or len(self.text) > LONGEST_COMMENT:
            raise InvalidValueError(f"{self.text!r:.50} cannot be a comment")


def _require_number(number: int) -> None:
    if number < 1:
        raise InvalidValueError(f"no lesson and no puzzle has the number {number}")


class SeekMade(_Event, tag="seek"):
    """A player looks for an opponent: anybody, or one player.

    Attributes:
        at: when.
        player: who.
        number: its number, the lowest that no other seek has.
        rules: the name of the ruleset.
        side: the side they want in the first battle; None for either.
        rated: whether the match is to count for ratings, if both have accounts.
        to: the player they ask; "" for anybody.
        time: the time control; None for no clock.
        answers: the number of a seek of the player they ask, who is busy; None if it stands alone.
        until: when it ends unless it is answered, in seconds since the epoch; None for never.
        keeps_looking: whether they look for somebody else if it is not accepted.
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

    @property
    def is_by_days(self) -> bool:
        """Whether it is for a match by correspondence."""
        return self.time is not None and self.time.is_correspondence

    def is_open(self, now: float) -> bool:
        """Whether it can be answered at a time."""
        return self.until is None or now < self.until

    def _require(self) -> None:
        if self.to:
            require_name(self.to)
        _require_rules(self.rules)
        if self.number < 1:
            raise InvalidValueError(f"seeks are counted from 1, and this is {self.number}")


class SeekEnd(Enum):
    """Why a seek ended."""

    ACCEPTED = "accepted"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    GONE = "gone"
    """The player who made it, or was asked, left."""
    PLAYING = "playing"
    """The player who made it began another match."""
    UNANSWERED = "unanswered"
    """The player who was asked did not say in time."""
    MET = "met"
    """Its maker was asked about somebody who had accepted it, and plays them."""


class SeekEnded(_Event, tag="seek ended"):
    """A seek ended.

    Attributes:
        at: when.
        player: whose doing it was.
        number: the number of the seek.
        why: the reason.
        seeker: who made it.
        to: the player who was asked; "" for anybody.
    """

    NAMES = ("seeker",)

    number: int
    why: SeekEnd
    seeker: str
    to: str = ""


# Tournaments.


LONGEST_TITLE = 40
"""The most characters that the title of a tournament may have."""


def tournament_name(number: int, title: str) -> str:
    """Return what a tournament is called: by its title, or without one by its number."""
    return title or f"tournament {number}"


class _OfTournament(_Event):
    """The base of the events of tournaments. ``number`` is the tournament's, from 1."""

    number: int

    def __post_init__(self) -> None:
        _Event.__post_init__(self)
        if self.number < 1:
            raise InvalidValueError(f"tournaments are counted from 1, and this is {self.number}")


class TournamentMade(_OfTournament, tag="tournament"):
    """A player has announced a tournament.

    Attributes:
        at: when.
        player: who.
        number: its number: one more than that of the last one there was.
        title: what it is called; "" for nothing.
        kind: how it pairs its players.
        rules: the name of the ruleset.
        time: the time control of its battles.
        starts: when it starts, in seconds since the epoch.
        rounds: how many rounds a Swiss was announced with; 0 if none were named, and for all
            other kinds.
        seconds: how long an arena takes, in seconds; elsewhere, how long a round may take, 0 for
            as long as its matches do.
        rated: whether its matches are to count for ratings.
        uses_bot_filler: whether a bot comes in if an odd number of players has entered.
        until: when it ends at the latest, in seconds since the epoch; None for never.
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
            raise InvalidValueError(f"{title!r:.50} cannot be the title of a tournament")
        if min(self.rounds, self.seconds) < 0:
            raise InvalidValueError(f"no tournament has {self.rounds} rounds, {self.seconds} s")


class TournamentEntered(_OfTournament, tag="entered"):
    """A player has entered a tournament.

    Attributes:
        at: when.
        player: who.
        number: the tournament's number.
        rating: their rating, by which they are seeded; None if they have none.
        is_member: whether they have an account.
    """

    rating: int | None = None
    is_member: bool = False


class TournamentLeaving(Enum):
    """Why a player takes no part in a tournament any more."""

    WITHDRAWN = "withdrawn"
    REMOVED = "removed"
    """By whoever announced the tournament, or by an operator."""
    ABSENT = "absent"
    """They did not come to two matches in a row."""


class TournamentLeft(_OfTournament, tag="left tournament"):
    """``player`` takes no part any more.

    Before the first round it is as if they had not entered, but those who were removed stay out.

    Attributes:
        at: when.
        player: who.
        number: the tournament's number.
        why: the reason.
        by: who removed them; "" if nobody did.
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
        round: the number of the round, from 1; of an arena each time some are paired.
        players: the players of all matches, one match after the other, in each first who has the
            dwarfs first. "" is the opponent of who has a bye.
        missing: the entrants who were not here as the tournament started, and so are out: it is as
            if they had not entered.
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
            raise InvalidValueError(f"round {self.round} has no such pairings: {self.players}")
        for each in self.missing:
            require_name(each)
        if both := set(known).intersection(self.missing):
            raise InvalidValueError(f"expected nobody paired to be missing, got {sorted(both)}")

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The players of each match."""
        return tuple(zip(self.players[::2], self.players[1::2], strict=True))


class _OfPairing(_OfTournament):
    """The base of the events of one match of a round: its place in the round, and its players."""

    NAMES: ClassVar[tuple[str, ...]] = ("first", "second")
    BY_SERVER = True

    round: int
    index: int
    first: str
    second: str

    def __post_init__(self) -> None:
        _OfTournament.__post_init__(self)
        if self.round < 1 or self.index < 0:
            raise InvalidValueError(f"round {self.round} has no match {self.index}")


class PairingBegun(_OfPairing, tag="pairing begun"):
    """A board was opened for a match of a tournament.

    Attributes:
        at: when.
        player: "".
        number: the tournament's number.
        round: the number of the round.
        index: the place of the match in the round, from 0.
        first: who has the dwarfs in the first battle.
        second: who has the trolls in it.
        key: the key of the board.
    """

    NAMES = "first", "second", "key"

    key: str


class PairingScored(_OfPairing, tag="pairing scored"):
    """A battle of a match of a tournament has ended, or the match is over without.

    Attributes:
        at: when.
        player: "".
        number: the tournament's number.
        round: the number of the round.
        index: the place of the match in the round, from 0.
        first: who has the dwarfs in the first battle.
        second: who has the trolls in it.
        battles: the scores of all battles of the match so far.
        absent: whether the first and the second player did not come, and so have lost the match.
        is_over: whether the match is over.
    """

    battles: tuple[BattleScore, ...] = ()
    absent: tuple[bool, bool] = (False, False)
    is_over: bool = True

    def _require(self) -> None:
        if len(self.battles) > BATTLES or any(min(each) < 0 for each in self.battles):
            raise InvalidValueError(f"no match has such battles: {self.battles}")


class TournamentPaused(_OfTournament, tag="tournament paused"):
    """A tournament was paused: no round is paired, no match begins, and nobody has to come.

    Attributes:
        at: when.
        player: who has paused it.
        number: its number.
        until: when it goes on by itself, in seconds since the epoch; None for never.
    """

    until: float | None = None

    def _require(self) -> None:
        if self.until is not None:
            require_time(self.until, self.at)


class TournamentContinued(_OfTournament, tag="tournament continued"):
    """A tournament that was paused goes on. ``player`` is "" if it does so by itself."""

    BY_SERVER = True


class TournamentEnd(Enum):
    """Why a tournament ended."""

    OVER = "over"
    CANCELLED = "cancelled"
    TOO_FEW = "too few"
    """Hardly anybody had entered."""


class TournamentEnded(_OfTournament, tag="tournament ended"):
    """A tournament has ended.

    Attributes:
        at: when.
        player: who cancelled it; "" if nobody did.
        number: its number.
        why: the reason.
        players: its players, the winner first; nobody if it did not come to its end.
        places: the place of each, from 1; who are equal share one.
    """

    BY_SERVER = True

    why: TournamentEnd
    players: tuple[str, ...] = ()
    places: tuple[int, ...] = ()

    def _require(self) -> None:
        for each in self.players:
            require_name(each)
        if len(self.players) != len(self.places) or min(self.places, default=1) < 1:
            raise InvalidValueError(f"{len(self.players)} players do not have {self.places}")


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
"""The events of tournaments, which are the hall's."""

TOURNAMENTS = get_args(TournamentEvent)
"""Their classes."""

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
"""The events of the hall itself. They have a stream of their own."""

StoredEvent = Event | HallEvent
"""Everything that a store holds."""

LANDMARKS = (BattleStarted, BattleEnded, Adjourned, Resumed, Cleared, Imported)
"""The events that mark where battles begin and end."""


def is_complete(event: StoredEvent) -> bool:
    """Whether the state of a table after ``event`` is independent of earlier events.

    A table can be folded from the last such event on.
    """
    match event:
        case BattleStarted(number=number):
            return number == 1
        case Cleared() | Adjourned() | Resumed():
            return True
    return False
