"""How a bot behaves at its boards: when it sits down, starts, agrees, declines and leaves.

An `Opponent` is told what the player of its name is told, as values of `thudmud.play`, and answers
with commands. Pure: the time comes in as an argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum

from thudmud.play.asides import Invited
from thudmud.play.command import Command
from thudmud.play.events import BattleId, BoardRenamed, Offer
from thudmud.play.table import Table
from thudmud.play.telling import Telling
from thudmud.rules import Game, Side, read_ply, write_position
from thudmud.values import value
from thudmud.verbs.matchmaking import No
from thudmud.verbs.moves import OFFERING, Adjourn, End, Play, Resign, Start
from thudmud.verbs.rooms import Go
from thudmud.verbs.seats import Leave

QUIET = 60
"""After how many plies without a capture it offers to end a battle in any case, and agrees to."""

QUIET_EVEN, QUIET_BEHIND = 30, 40
"""After how many it does so if its worth has not risen meanwhile; the second if it counts less."""

QUIET_ENOUGH = 20
"""After how many it agrees if it thinks that it gains nothing by playing on."""

LOST_BY, LOST_FOR = 1000, 6
"""It resigns when its side has been worth so many hundredths of a dwarf less than the other, for so
many plies of its own; but only where the pieces of who loses count nothing anyway."""

START_AFTER = 60.0
"""How many seconds it leaves it to the other player to begin a battle."""

LEAST_PATIENCE = 60.0
"""How many seconds it waits for somebody at least."""

_RISE = 50  # hundredths of a dwarf by which a worth has risen: less comes and goes by chance
_FEW = 5  # worths of which the mean is taken, since those of weak levels err

TROLLS_AFTER = 5.0
"""How many seconds more if it plays the trolls: what two say at once is an offer to start over."""

REPEAT_AFTER = 60.0
"""After how many seconds it does again what has come to nothing."""


class SeatStatus(Enum):
    """How things stand for a bot that has a seat."""

    ALONE = "nobody has come yet"
    DESERTED = "the other has left"
    AWAY = "the other is away"
    READY = "a battle can begin"
    OVER = "the match is over"
    BATTLE = "battle"


@value
class Task:
    """A battle in which it is the bot's turn.

    Attributes:
        board: where it is played.
        battle: its number.
        game: how it stands.
        since: since when.
        level: at which the bot plays there.
    """

    board: str
    battle: int
    game: Game
    since: float = field(default=0.0, compare=False)
    level: int | None = None

    @property
    def setup(self) -> str:
        """The position as the engine protocol writes it."""
        return write_position(self.game.position)

    def command(self, ply: str) -> Play:
        """Return what plays a ply that is written as records write it.

        Raises:
            ValueError: it is none.
            IllegalMove: the rules refuse it.
        """
        move = read_ply(ply, self.game.ruleset, self.game.position)
        return Play(move.attempt(), self.board)


@dataclass(slots=True)
class _Seat:
    """A seat of the bot's.

    Attributes:
        side: which of the two.
        table: the board, as it was told of last.
        status: how things stand there.
        since: since when they do.
        changed: when something last changed at the board.
        offered: after how many plies without a capture it last offered to end the battle, or 0.
        worths: what it thought that its side was worth, by how many plies had been played.
        done: what it has done since anything changed, and when.
        wanted: what it would do, and when; None until that is worked out anew.
    """

    side: Side
    table: Table
    status: SeatStatus
    since: float
    changed: float
    offered: int = 0
    worths: dict[int, int] = field(default_factory=dict)
    done: dict[Command, float] = field(default_factory=dict)
    wanted: list[tuple[Command, float]] | None = None

    @property
    def quiet(self) -> int:
        """For how many plies nothing has been captured."""
        return self.table.game.quiet_plies if self.table.game else 0

    @property
    def lead(self) -> int:
        """By how much its side counts more as it stands."""
        score = self.table.game.score if self.table.game else None
        return score.of(self.side) - score.of(self.side.other) if score else 0

    @property
    def is_my_turn(self) -> bool:
        """Whether it is to play in a battle that is going on."""
        game = self.table.game
        return game is not None and not game.outcome and game.position.turn is self.side

    @property
    def is_rising(self) -> bool:
        """Whether it has made its side worth more since something was last captured."""
        game = self.table.game
        begun = len(game.moves) - self.quiet if game else 0
        worths = [self.worths[ply] for ply in sorted(self.worths) if ply >= begun][
            -QUIET_EVEN // 2 :
        ]
        if len(worths) < 2 * _FEW:
            return False
        return sum(worths[-_FEW:]) - sum(worths[:_FEW]) > _FEW * _RISE

    @property
    def leads_nowhere(self) -> bool:
        """Whether it wants to end the battle, and has not just offered that."""
        quiet = self.quiet - self.offered
        if not self.worths or quiet >= QUIET:
            return quiet >= QUIET
        return quiet >= (QUIET_BEHIND if self.lead < 0 else QUIET_EVEN) and not self.is_rising

    @property
    def is_lost(self) -> bool:
        """Whether it has been lost for long, and nothing counts that is still on the board."""
        game = self.table.game
        if game is None or game.ruleset.scoring.score(game.position, self.side.other).of(self.side):
            return False
        last = sorted(self.worths)[-LOST_FOR:]
        return len(last) == LOST_FOR and all(self.worths[ply] <= -LOST_BY for ply in last)

    def offered_by(self, side: Side) -> list[Offer]:
        """Return what a side has offered."""
        return [offer for offer, each in self.table.offers.items() if each is side]


class Opponent:
    """What one bot makes of what it is told.

    Args:
        name: what it is called.
        patience: for how many seconds it waits for somebody, `LEAST_PATIENCE` at least.
        pause: how many seconds it leaves it to others to begin a battle.

    Attributes:
        invitations: who has asked it to a board, and has not been answered.
    """

    def __init__(self, name: str, patience: float, pause: float = START_AFTER) -> None:
        self.invitations: list[Invited] = []
        self._name = name
        self._patience, self._pause = max(patience, LEAST_PATIENCE), pause
        self._seats: dict[str, _Seat] = {}
        """By the keys of their boards, whose names may change."""

    @property
    def plays(self) -> bool:
        """Whether it has a seat anywhere."""
        return bool(self._seats)

    def sits_at(self, board: str) -> bool:
        """Whether it has a seat at a board."""
        return self._seat(board) is not None

    def other(self, board: str) -> str | None:
        """Return who has the other seat at a board."""
        seat = self._seat(board)
        return seat.table.seats.get(seat.side.other) if seat else None

    def told(self, telling: Telling, now: float) -> None:
        """Take note of something that has happened."""
        event, table = telling.event, telling.table
        if isinstance(event, Invited) and event.to == self._name:
            self.invitations.append(event)
        if table is None:
            return
        if isinstance(event, BoardRenamed):
            table = replace(table, name=event.name)
        side = table.side_of(self._name)
        if side is None:
            self._seats.pop(table.key, None)
            return
        before = self._seats.get(table.key)
        status = _status(table, side, before)
        seat = before or _Seat(side, table, status, now, now)
        if status is not seat.status:
            seat.since = now
        if table.version != seat.table.version:
            seat.done, seat.changed = {}, now
            plies = (
                len(table.game.moves)
                if table.game and _battle(table) == _battle(seat.table)
                else -1
            )
            seat.worths = {ply: worth for ply, worth in seat.worths.items() if ply <= plies}
        seat.side, seat.table, seat.status = side, table, status
        seat.offered = min(seat.offered, seat.quiet)
        seat.wanted = None
        self._seats[table.key] = seat

    def weighed(self, task: Task, worth: int) -> None:
        """Take note of what its side is worth where it is to play, in hundredths of a dwarf."""
        if task in self.tasks():
            seat = self._seat(task.board)
            if seat:
                seat.worths[len(task.game.moves)] = worth
                seat.wanted = None

    def commands(self, now: float) -> list[Command]:
        """Return what it does now, but for plies.

        What comes to nothing is not done again for a while; else it would be told that at once, and
        do it again.
        """
        done = []
        for seat in self._seats.values():
            for command, when in self._wanted(seat):
                before = seat.done.get(command)
                if when > now or (before is not None and now - before < REPEAT_AFTER):
                    continue
                seat.done[command] = now
                if isinstance(command, End):
                    seat.offered, seat.wanted = seat.quiet, None
                done.append(command)
        return done

    def next_time(self, now: float) -> float | None:
        """Return when it will want to do something, if nothing happens before."""
        times = []
        for seat in self._seats.values():
            for command, when in self._wanted(seat):
                done = seat.done.get(command)
                times.append(when if done is None else done + REPEAT_AFTER)
        return max(now, min(times)) if times else None

    def tasks(self) -> list[Task]:
        """Return where it is to play."""
        return [
            Task(
                seat.table.name,
                match.number or 0,
                match.game,
                seat.changed,
                seat.table.levels.of(seat.side),
            )
            for seat in self._seats.values()
            if (match := seat.table.match) and seat.status is SeatStatus.BATTLE and seat.is_my_turn
        ]

    def _seat(self, board: str) -> _Seat | None:
        return next((each for each in self._seats.values() if each.table.name == board), None)

    def _wanted(self, seat: _Seat) -> list[tuple[Command, float]]:
        """Return what it would do at a board, each with the time for it.

        It is asked at all boards whenever something happens at one.
        """
        if seat.wanted is None:
            seat.wanted = list(self._worked_out(seat))
        return seat.wanted

    def _worked_out(self, seat: _Seat) -> Iterator[tuple[Command, float]]:
        board = seat.table.name
        theirs, later = seat.offered_by(seat.side.other), seat.since + self._patience
        if theirs:
            yield _answer(theirs, seat), seat.since
            return
        if Offer.RESTART in seat.offered_by(seat.side):
            yield No(board), seat.since  # it was to begin the battle that has begun
            return
        match seat.status:
            case SeatStatus.DESERTED:
                yield Leave(board), seat.since
                yield Go(), seat.since
            case SeatStatus.ALONE | SeatStatus.OVER:
                yield Leave(board), later
                yield Go(), later
            case SeatStatus.AWAY:
                yield Adjourn(board) if seat.table.under_way else Leave(board), later
            case SeatStatus.READY:
                last = 0.0 if seat.side is Side.DWARF else TROLLS_AFTER
                yield Start(board), seat.since + self._pause + last
            case SeatStatus.BATTLE:
                if seat.is_lost:
                    yield Resign(board), seat.since
                elif not seat.is_my_turn and seat.leads_nowhere:
                    yield End(board), seat.since


def _battle(table: Table) -> BattleId | None:
    """Return what tells the battle that is on the board from all others."""
    return table.match.began if table.match else None


def _status(table: Table, mine: Side, before: _Seat | None) -> SeatStatus:
    if mine.other not in table.seats:
        # Once somebody has sat there, nobody else is waited for.
        met = table.match or (before and before.status is not SeatStatus.ALONE)
        return SeatStatus.DESERTED if met else SeatStatus.ALONE
    if mine.other in table.away:
        return SeatStatus.AWAY
    if table.running:
        return SeatStatus.BATTLE
    return SeatStatus.OVER if table.match and table.match.over else SeatStatus.READY


def _answer(offers: list[Offer], seat: _Seat) -> Command:
    """Return the answer to what the other player has offered."""
    agreeable = (offer for offer in offers if offer is not Offer.END or _may_end(seat))
    answer = next((OFFERING[offer] for offer in agreeable), No)
    return answer(seat.table.name)


def _may_end(seat: _Seat) -> bool:
    """Whether it agrees to end a battle: it gains nothing, or both have gained nothing for long."""
    if seat.quiet >= QUIET or seat.leads_nowhere:
        return True
    if not seat.worths:
        return seat.lead <= 0
    return seat.quiet >= QUIET_ENOUGH and seat.worths[max(seat.worths)] <= 100 * seat.lead
