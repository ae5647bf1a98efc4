"""What happens at a board, as data: a table is folded from these, and nothing else of it is stored.

There is no sentence here: words, boards and machine lines are renderings of events, made for one
viewer in `thudmud.views`.

Every event says when it was decided (``at``, seconds since the epoch) and whose command brought it
about (``player``). Events are checked when they are made, so whoever reads them need not. Fields
are only ever added at the end, with a default: they are stored in this order.
"""

from __future__ import annotations

from enum import Enum
from typing import ClassVar, NamedTuple

from thudmud.errors import InvalidValueError
from thudmud.play.clocks import Clock, TimeControl
from thudmud.rules import RULESETS, Move, Outcome, Piece, Position, Side, require_possible
from thudmud.values import value

BATTLES = 2
"""How many battles a match has."""

MADE = "(board) "
"""What the key of a board begins with that players have opened: it goes when it is not needed."""

LONGEST_NAME = 80
"""The most characters that a player's name may have, wherever it comes from."""

EARLIEST = -62_135_596_800.0
"""The first second of the year 1, which is the first one that has a date."""

LATEST = 253_402_300_799.0
"""The last second of the year 9999, which is the last one that has a date."""


def require_name(name: str) -> None:
    """Raise InvalidValueError if nobody can be called that, wherever they come from."""
    if not (0 < len(name) <= LONGEST_NAME and name.isprintable() and name.strip() == name):
        raise InvalidValueError(f"{name!r:.50} cannot be anybody's name")


def require_time(at: float, since: float = 0.0) -> None:
    """Raise InvalidValueError if a number is not that of a second that has a date."""
    if not since <= at <= LATEST:
        raise InvalidValueError(f"{at} is no time in seconds since the epoch")


def require_match(battle: int, before: tuple[int, int]) -> None:
    """Raise InvalidValueError if no match has such a battle, or such points before it."""
    if not 1 <= battle <= BATTLES:
        raise InvalidValueError(f"a match has {BATTLES} battles, so none is battle {battle}")
    if min(before) < 0:
        raise InvalidValueError(f"nobody has points below 0: {before}")


def _require_rules(name: str, opening: Position | None = None) -> None:
    """Raise InvalidValueError if there are no such rules, or no such opening of a battle by them.

    A ruleset's own opening is None.
    """
    if name not in RULESETS:
        raise InvalidValueError(f"there are no {name!r:.50} rules")
    if opening is not None:
        rules = RULESETS[name]
        require_possible(opening, rules)
        if opening == rules.opening or rules.outcome(opening) is not None:
            raise InvalidValueError("no battle is set up like that: it is over, or as by the rules")


class Levels(NamedTuple):
    """At which levels bots play the dwarfs and the trolls.

    None for a person; `OWN_PROGRAM` for a bot that plays at no level; else the level's number.
    """

    dwarf: int | None = None
    troll: int | None = None

    def of(self, side: Side) -> int | None:
        """Return the level of a side's player."""
        return self.dwarf if side is Side.DWARF else self.troll

    def changed(self, side: Side, level: int | None) -> Levels:
        """Return them with another player on a side."""
        return self._replace(**{side.value: level})


NO_BOTS = Levels()
"""No bot plays."""

OWN_PROGRAM = 0
"""The level of a bot whose plies are chosen by a program of its own."""


def _require_levels(*levels: int | None) -> None:
    """Raise InvalidValueError if no bot can play at these levels."""
    for level in levels:
        if level is not None and level < 0:
            raise InvalidValueError(f"nobody plays at level {level}")


class BattleId(NamedTuple):
    """What no two battles share: the board that one began at, and its first event's version there.

    A battle that was imported has another stream of events in the place of a board.
    """

    board: str
    version: int


@value
class SavedMatch:
    """A match as it stands, by itself: all that it takes to go on with it at any board.

    Attributes:
        began: which battle it has come to.
        battle: 1 or 2, which of the two of the match.
        rules: its ruleset's name.
        before: the points of the battles before this one, of who has the dwarfs and of who has the
            trolls in it.
        dwarf: who plays the dwarfs.
        troll: who plays the trolls.
        rated: whether this battle may count for ratings.
        moves: its plies so far.
        outcome: how it ended; None while it goes on.
        levels: at which bots play in it.
        opening: the position that its battles begin from, if that was set up; else None.
        clock: as it stood when the match was put away; None if it is played without.
    """

    began: BattleId
    battle: int
    rules: str
    before: tuple[int, int]
    dwarf: str
    troll: str
    rated: bool
    moves: tuple[Move, ...]
    outcome: Outcome | None
    levels: Levels = NO_BOTS
    opening: Position | None = None
    clock: Clock | None = None

    def __post_init__(self) -> None:
        require_match(self.battle, self.before)
        _require_levels(*self.levels)
        require_name(self.dwarf)
        require_name(self.troll)
        _require_rules(self.rules, self.opening)
        # A clock that goes on checks its last ply alone; this one may come from elsewhere.
        if self.clock and min(self.clock.spent, default=0.0) < 0:
            raise InvalidValueError("no ply takes less than no time")


class Parting(Enum):
    """How a player came to leave a seat, or the server."""

    LEFT = "left"
    QUIT = "quit"
    LOST = "lost"
    IDLE = "idle"
    """Disconnected, since nothing was typed for too long."""
    RESTART = "restart"
    """The server itself was gone for a while."""


class Offer(Enum):
    """What needs both players' word."""

    END = "end"
    RESTART = "restart"
    ADJOURN = "adjourn"
    UNDO = "undo"


@value
class _Event:
    """What is checked of nearly all events: their time, and the names that they hold.

    Attributes:
        NAMES: the fields that hold names, besides that of the player.
        BY_SERVER: whether the player may be "", for the operator or the server.
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
        """Raise InvalidValueError if anything else is wrong with it."""


@value
class Joined(_Event):
    """A player took a free seat; ``level`` is as in `Levels`."""

    side: Side
    level: int | None = None

    def _require(self) -> None:
        _require_levels(self.level)


@value
class Left(_Event):
    """A player gave a seat up; a battle that was running waits for somebody to sit down."""

    side: Side
    parting: Parting


@value
class Absent(_Event):
    """A seated player is away: the seat is kept, and the game waits."""

    side: Side
    parting: Parting


@value
class Returned(_Event):
    """A seated player who was away is back."""

    side: Side


@value
class Cleared(_Event):
    """The last player left, or the board is to be closed: it is as new.

    ``player`` is "" for the operator.
    """

    BY_SERVER = True


@value
class RulesSet(_Event):
    """The board's ruleset for the next match was chosen, by the ruleset's name."""

    rules: str

    def _require(self) -> None:
        _require_rules(self.rules)


@value
class PositionSet(_Event):
    """The position that the next match begins from was set up.

    ``opening`` is None if it is the ruleset's own again; ``rules`` is the ruleset's name.
    """

    rules: str
    opening: Position | None

    def _require(self) -> None:
        _require_rules(self.rules, self.opening)


@value
class TimeSet(_Event):
    """How much time the next match gives was chosen; ``time`` is None for no clock."""

    time: TimeControl | None


@value
class BattleStarted(_Event):
    """A battle began: ``number`` 1 opens a new match, 2 is played with the seats swapped.

    ``dwarf`` and ``troll`` are who sits where from now on, ``levels`` whether they are bots;
    ``rated`` says whether the battle may count for their ratings, since both have accounts or one
    is a bot. ``opening`` is the position that it begins from, if that was set up: such a battle is
    never rated. ``time`` is how much time there is; None if it is played without a clock.
    """

    NAMES = "dwarf", "troll"

    number: int
    rules: str
    dwarf: str
    troll: str
    rated: bool = False
    levels: Levels = NO_BOTS
    opening: Position | None = None
    time: TimeControl | None = None

    def _require(self) -> None:
        require_match(self.number, (0, 0))
        _require_levels(*self.levels)
        _require_rules(self.rules, self.opening)
        if self.rated and self.opening is not None:
            raise InvalidValueError("a battle from a position that was set up is never rated")


@value
class Moved(_Event):
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


@value
class Offered(_Event):
    """A player offers what the other may agree to by saying the same."""

    offer: Offer


@value
class OfferLapsed(_Event):
    """An offer no longer stands, because a ply was played."""

    offer: Offer


@value
class Declined(_Event):
    """A player said no to what the other had offered."""

    offer: Offer


@value
class TakenBack(_Event):
    """Both agreed to take plies back: the last one of ``side``, and what followed it.

    ``player`` is who agreed; ``moves`` are the plies, in the order in which they were played.
    """

    side: Side
    moves: tuple[Move, ...]

    def _require(self) -> None:
        if not self.moves:
            raise InvalidValueError("no ply was taken back")


@value
class BattleEnded(_Event):
    """The battle is over; its points are added to the match.

    Attributes:
        at: when.
        player: whose command ended it.
        outcome: how it ended.
        plies: how many were played.
        dwarf: who played the dwarfs; where the seat is free, who sat there last.
        troll: the same for the trolls.
        rated: whether it counts for their ratings; if one is a bot, for those against bots.
        points: if the match is over with it, the points of who has the dwarfs and of who has the
            trolls in this battle.
        levels: whether they are bots.
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


@value
class ClockHeld(_Event):
    """No server was there to play on for some of the time since the last event: it does not count.

    ``player`` is "" for the server; ``seconds`` is how long that was in all.
    """

    BY_SERVER = True

    seconds: float

    def _require(self) -> None:
        if self.seconds < 0:
            raise InvalidValueError(f"no clock stands still for {self.seconds} seconds")


@value
class IdleWarned(_Event):
    """Both were told that the other may soon claim the battle, since ``player`` does not move."""

    side: Side


@value
class Adjourned(_Event):
    """A match was put away for another day: the board is as new.

    ``player`` is "" for the operator.
    """

    BY_SERVER = True

    match: SavedMatch


@value
class Resumed(_Event):
    """A match that was put away goes on, at this board."""

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


@value
class Imported:
    """A battle played elsewhere was brought in; it belongs to no table.

    Attributes:
        at: when it was played, as far as that is known.
        player: who brought it in; "" for the operator.
        rules: its ruleset's name.
        dwarf: who played the dwarfs; "" if that is not known.
        troll: the same for the trolls.
        record: it, as a game record.
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
"""Everything that happens at a board, and battles that were played elsewhere."""


@value
class BoardOpened(_Event):
    """A board was put up in the hall, or put up again.

    Attributes:
        at: when.
        player: whose doing it was; "" for the operator.
        key: what the board's events are stored under. It never changes.
        name: what the board is called, its noun last.
        rules: the name of the ruleset that it begins with.
        version: how many events the board already had when it was put up, from earlier times.
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


@value
class BoardClosed(_Event):
    """A board was taken down. Whatever stood on it was cleared or put away first."""

    NAMES = ("key",)
    BY_SERVER = True

    key: str


@value
class BoardRenamed(_Event):
    """A board is called something else from now on."""

    NAMES = "key", "name"
    BY_SERVER = True

    key: str
    name: str


@value
class Interrupted:
    """No server ran from ``since`` until ``at``: nobody can be blamed for that time."""

    at: float
    since: float

    def __post_init__(self) -> None:
        require_time(self.since)
        require_time(self.at, self.since)


@value
class LessonDone(_Event):
    """A member has come to the end of a lesson of the tutorial for the first time."""

    lesson: int

    def _require(self) -> None:
        _require_number(self.lesson)


@value
class PuzzleTried(_Event):
    """A member has tried a puzzle for the first time; that alone counts.

    Attributes:
        at: when.
        player: who.
        puzzle: its number.
        solved: whether the first ply that they played was right, without a hint.
    """

    puzzle: int
    solved: bool

    def _require(self) -> None:
        _require_number(self.puzzle)


LONGEST_COMMENT = 300
"""The most characters that a comment may have."""

JOINERS = "\u200c\u200d"
"""Invisible characters that are part of words in several scripts, and of emoji."""


@value
class Commented(_Event):
    """A player commented on a ply of a battle, in the place of what they had said about it before.

    Attributes:
        at: when.
        player: who; "" if that is not known of a battle that was imported.
        key: what the events of the battle's beginning are stored under.
        version: of the first of them.
        ply: which ply, from 1; 0 is the opening.
        text: what they say; "" if they take away what they have said.
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


@value
class SeekMade(_Event):
    """Somebody would like to play: anybody, or one player in particular.

    Attributes:
        at: when.
        player: who.
        number: by which players call it, the lowest that no other seek has.
        rules: the name of the ruleset.
        side: what they would play in the first battle; None if that is left to chance and order.
        rated: whether the match is to count for ratings, if both have accounts.
        to: whom they ask; "" for anybody.
        time: how much time there is; None if it is to be played without a clock.
    """

    number: int
    rules: str
    side: Side | None = None
    rated: bool = True
    to: str = ""
    time: TimeControl | None = None

    def _require(self) -> None:
        if self.to:
            require_name(self.to)
        _require_rules(self.rules)
        if self.number < 1:
            raise InvalidValueError(f"seeks are counted from 1, and this is {self.number}")


class SeekEnd(Enum):
    """Why a seek stands no more."""

    ACCEPTED = "accepted"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    GONE = "gone"
    """Who had made it, or was asked, is not here any more."""


@value
class SeekEnded(_Event):
    """A seek stands no more.

    Attributes:
        at: when.
        player: whose doing it was.
        number: that of the seek.
        why: how it came to that.
        seeker: who had made it.
        to: whom they had asked; "" for anybody.
    """

    NAMES = ("seeker",)

    number: int
    why: SeekEnd
    seeker: str
    to: str = ""


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
)
"""What happens to the hall itself and at none of its boards, as a stream of its own."""

StoredEvent = Event | HallEvent
"""Everything that a store holds."""

LANDMARKS = (BattleStarted, BattleEnded, Adjourned, Resumed, Cleared, Imported)
"""The events that battles are told apart by. There are few of them in a battle."""


def is_complete(event: Event) -> bool:
    """Whether the state of a table after ``event`` does not depend on what happened before.

    A fold of a table's events may begin with the last one of which that is true.
    """
    match event:
        case BattleStarted(number=number):
            return number == 1
        case Cleared() | Adjourned() | Resumed():
            return True
    return False
