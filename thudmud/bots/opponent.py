"""How a bot behaves at its boards: when it sits down, starts, agrees, declines and leaves.

All it knows are the packages of GMCP that any player's client gets, and all it does are lines that
any player can type. Pure: the time comes in as an argument.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from thudmud.play.commands import Adjourn, End, Go, Join, Leave, Look, No, Play, Start, Undo
from thudmud.rules import RULESETS, SQUARES, Piece, Position, Side, read_ply, write_position

QUIET = 60
"""After how many plies without a capture it offers to end a battle, and agrees to that."""

START_AFTER = 60.0
"""How many seconds it leaves it to the other player to begin a battle."""

LEAST_PATIENCE = 60.0
"""How many seconds it waits for somebody at least."""

TROLLS_AFTER = 5.0
"""How many seconds more if it plays the trolls: what two say at once is an offer to start over."""

REPEAT_AFTER = 60.0
"""After how many seconds it does again what has come to nothing."""

Facts = Mapping[str, Any]
"""What a package holds, as JSON is read."""

Line = Adjourn | End | Go | Join | Leave | Look | No | Play | Start | Undo


class Lot(Enum):
    """What a bot that has a seat may have to wait in."""

    ALONE = "nobody has come yet"
    DESERTED = "the other has left"
    AWAY = "the other is away"
    READY = "a battle can begin"
    OVER = "the match is over"
    BATTLE = "battle"


@dataclass(frozen=True, slots=True)
class Task:
    """A position in which the bot has to play."""

    board: str
    battle: int
    ply: int
    rules: str
    position: Position

    @property
    def setup(self) -> str:
        """The position as the protocol writes it."""
        return write_position(self.position)

    def line(self, ply: str) -> str:
        """Return what plays a ply that is written as records write it.

        Raises:
            ValueError: it is none, or the rules refuse it.
        """
        move = read_ply(ply, RULESETS[self.rules], self.position)
        return str(Play(move.attempt(), self.board))


@dataclass(frozen=True, slots=True)
class Invitation:
    """What the bot was asked to, and by whom."""

    player: str
    board: str
    side: Side


@dataclass(slots=True)
class _Seat:
    """A board at which the bot sits, as far as it has been told."""

    side: Side
    table: Facts
    lot: Lot
    since: float
    position: Position | None = None
    rules: str = ""
    ply: int = 0
    quiet: int = 0
    ahead: bool = False
    offer_at: int = QUIET
    lost: bool = False
    done: dict[str, float] = field(default_factory=dict)

    def offered_by(self, side: Side) -> list[str]:
        return [each["offer"] for each in self.table["offers"] if each["side"] == side.value]

    @property
    def is_my_turn(self) -> bool:
        return bool(self.position and self.position.turn is self.side)


class Opponent:
    """What one bot makes of what it is told.

    Args:
        name: what it is called.
        patience: for how many seconds it waits for somebody, `LEAST_PATIENCE` at least.
        pause: how many seconds it leaves it to others to begin a battle.
    """

    def __init__(self, name: str, patience: float, pause: float = START_AFTER) -> None:
        self.invitations: list[Invitation] = []
        self._name = name
        self._patience, self._pause = max(patience, LEAST_PATIENCE), pause
        self._versions: dict[str, int] = {}
        self._seats: dict[str, _Seat] = {}

    @property
    def plays(self) -> bool:
        """Whether it has a seat anywhere."""
        return bool(self._seats)

    def sits_at(self, board: str) -> bool:
        """Whether it has a seat at a board."""
        return board in self._seats

    def other(self, board: str) -> str | None:
        """Return who has the other seat at a board."""
        seat = self._seats.get(board)
        return _player(seat.table, seat.side.other) if seat else None

    # What it is told.

    def told(self, package: str, facts: Facts, now: float) -> None:
        """Take note of a fact; those that it needs not know are passed over."""
        if package == "Thud.Invite" and facts["to"] == self._name:
            side = Side(facts["side"])
            self.invitations.append(Invitation(facts["player"], facts["board"], side))
        if package not in {"Thud.Table", "Thud.Board", "Thud.Move"}:
            return
        board, version = facts["board"], facts["version"]
        if version < self._versions.get(board, 0):
            return  # an old one
        self._versions[board] = version
        if package == "Thud.Table":
            self._table(board, facts, now)
        elif (seat := self._seats.get(board)) is None:
            return
        elif package == "Thud.Board":
            _set_up(seat, facts)
        else:
            _follow(seat, facts)

    def _table(self, board: str, facts: Facts, now: float) -> None:
        mine = next((side for side in Side if _player(facts, side) == self._name), None)
        before = self._seats.pop(board, None)
        if mine is None:
            return
        lot = _lot(facts, mine, before)
        seat = before or _Seat(mine, facts, lot, now, lost=True)
        if lot is not seat.lot:
            seat.since = now
        if facts["version"] > seat.table["version"]:
            seat.done = {}
        seat.side, seat.table, seat.lot = mine, facts, lot
        self._seats[board] = seat

    # What it does.

    def lines(self, now: float) -> list[str]:
        """Return what it types now. What it has typed comes to nothing, or changes what is told."""
        return [
            str(line)
            for board, seat in list(self._seats.items())
            for line, when in self._wanted(board, seat)
            if when <= now and _is_new(seat, str(line), now)
        ]

    def next_time(self, now: float) -> float | None:
        """Return when it will want to type something, if nothing happens before."""
        times = []
        for board, seat in self._seats.items():
            for line, when in self._wanted(board, seat):
                done = seat.done.get(str(line))
                times.append(when if done is None else done + REPEAT_AFTER)
        return max(now, min(times)) if times else None

    def task(self) -> Task | None:
        """Return where it is to play, if it is its turn anywhere."""
        for board, seat in self._seats.items():
            if seat.lot is Lot.BATTLE and seat.position and seat.is_my_turn and not seat.lost:
                battle = seat.table["battle"] or 0
                return Task(board, battle, seat.ply, seat.rules, seat.position)
        return None

    def _wanted(self, board: str, seat: _Seat) -> list[tuple[Line, float]]:
        """Return what it would type at a board, each with the time for it."""
        wanted: list[tuple[Line, float]] = []
        if seat.lost:
            return [(Look(board), seat.since)]
        theirs = seat.offered_by(seat.side.other)
        if theirs:
            return [(_answered(theirs, board, seat), seat.since)]
        if "restart" in seat.offered_by(seat.side):
            return [(No(board), seat.since)]  # it was to begin the battle that has begun
        match seat.lot:
            case Lot.DESERTED:
                return [(Leave(board), seat.since), (Go(), seat.since)]
            case Lot.ALONE | Lot.OVER:
                later = seat.since + self._patience
                return [(Leave(board), later), (Go(), later)]
            case Lot.AWAY:
                away: Line = Adjourn(board) if _is_under_way(seat.table) else Leave(board)
                return [(away, seat.since + self._patience)]
            case Lot.READY:
                later = 0.0 if seat.side is Side.DWARF else TROLLS_AFTER
                return [(Start(board), seat.since + self._pause + later)]
        if seat.position and not seat.is_my_turn and seat.quiet >= seat.offer_at:
            wanted.append((End(board), seat.since))
        return wanted


def _lot(facts: Facts, mine: Side, before: _Seat | None) -> Lot:
    """Return what a seat is good for now."""
    [other] = [each for each in facts["seats"] if each["side"] == mine.other.value]
    met = facts["part"] is not None or (before is not None and before.lot is not Lot.ALONE)
    if other["player"] is None:
        return Lot.DESERTED if met else Lot.ALONE
    if other["away_since"] is not None:
        return Lot.AWAY
    if facts["running"]:
        return Lot.BATTLE
    return Lot.OVER if facts["over"] else Lot.READY


def _answered(offers: list[str], board: str, seat: _Seat) -> Line:
    """Return the answer to what the other player has offered."""
    agreeable: dict[str, Line] = {
        "undo": Undo(board),
        "adjourn": Adjourn(board),
        "restart": Start(board),
    }
    if not seat.ahead or seat.quiet >= QUIET:
        agreeable["end"] = End(board)
    return next((agreeable[offer] for offer in offers if offer in agreeable), No(board))


def _is_under_way(table: Facts) -> bool:
    return table["part"] is not None and not table["over"]


def _player(table: Facts, side: Side) -> str | None:
    return next((each["player"] for each in table["seats"] if each["side"] == side.value), None)


def _is_new(seat: _Seat, line: str, now: float) -> bool:
    """Whether something has not just been typed, and note that it is."""
    before = seat.done.get(line)
    if before is not None and now - before < REPEAT_AFTER:
        return False
    seat.done[line] = now
    if line.startswith("end "):
        seat.offer_at = seat.quiet + QUIET
    return True


def _set_up(seat: _Seat, facts: Facts) -> None:
    """Take a position whole."""
    rows, turn = facts["rows"], facts["turn"]
    marks = {square: rows[square.row][square.column] for square in SQUARES}
    pieces = {square: Piece(mark) for square, mark in marks.items() if mark != "."}
    seat.position = Position.of(pieces, Side(turn)) if turn else None
    seat.rules, seat.ply, seat.lost = facts["rules"], facts["ply"], False
    seat.quiet, seat.offer_at, seat.done = 0, QUIET, {}
    _count(seat, facts)


def _follow(seat: _Seat, facts: Facts) -> None:
    """Apply a ply; one that is taken back is followed by the position."""
    if facts["taken_back"] or seat.position is None or facts["ply"] != seat.ply + 1:
        seat.lost = True
        return
    rules = RULESETS[seat.rules]
    seat.position = rules.after(seat.position, read_ply(facts["record"], rules, seat.position))
    seat.ply, seat.done = facts["ply"], {}
    seat.quiet = 0 if facts["captures"] else seat.quiet + 1
    seat.offer_at = min(seat.offer_at, seat.quiet + QUIET)
    _count(seat, facts)


def _count(seat: _Seat, facts: Facts) -> None:
    score = facts["score"]
    seat.ahead = score[seat.side.value] > score[seat.side.other.value]
