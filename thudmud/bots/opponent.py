"""Behaviour of a bot at its boards: starting, offering, agreeing, resigning and leaving.

An `Opponent` receives the same notifications as any player, as values of `thudmud.game`, and
returns commands. It is pure: the time is an argument.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from thudmud.bots.pace import pause_before_ply
from thudmud.features.matchmaking.commands import No
from thudmud.features.playing.moves import OFFERING, Adjourn, End, Play, Resign, Start
from thudmud.features.playing.seats import Leave
from thudmud.features.rooms.commands import Go
from thudmud.game.asides import Invited
from thudmud.game.command import Command
from thudmud.game.delivery import Delivery
from thudmud.game.events import BattleEnded, BattleId, BattleStarted, BoardRenamed, Offer
from thudmud.game.match import RATED_PLIES
from thudmud.game.table import Table
from thudmud.immutable import immutable
from thudmud.rules import Game, Side, read_ply, write_position
from thudmud.values import replace

QUIET = 60
"""Plies without a capture after which a bot always offers to end a battle, and always agrees."""

QUIET_EVEN = 30
"""The same, provided that its evaluation has not risen since and it is not behind in the match."""

QUIET_ENOUGH = 20
"""Plies without a capture after which a bot agrees to end a battle if it expects no gain from
playing on and is not behind in the match."""

LOST_BY, LOST_FOR = 1000, 6
"""Resignation threshold: deficit in hundredths of a dwarf, and number of the bot's own plies for
which it has lasted. A bot only resigns if its own pieces would not score anyway."""

START_AFTER = 60.0
"""Seconds after which a bot starts a battle against another bot. A person decides when it begins:
they may be in another room, or still look at the last one."""

LEAST_PATIENCE = 60.0
"""Minimum time to wait for a player, in seconds."""

_RISE = 50  # hundredths of a dwarf that count as a rise; smaller changes are noise
_FEW = 5  # evaluations to average, because those of weak levels contain errors

TROLLS_AFTER = 5.0
"""Additional seconds for a bot that plays the trolls. If both players said "start" at once, the
second "start" would count as an offer to start over."""

REPEAT_AFTER = 60.0
"""Seconds after which a bot repeats a command that had no effect."""


class SeatStatus(Enum):
    """State of a seat occupied by a bot."""

    ALONE = "nobody has come yet"
    DESERTED = "the other has left"
    AWAY = "the other is away"
    READY = "a battle can begin"
    OVER = "the match is over"
    BATTLE = "battle"


@immutable
@dataclass(frozen=True, slots=True)
class Task:
    """A battle in which the bot is to move.

    Attributes:
        board: name of the board.
        battle: number of the battle within its match.
        game: the battle.
        since: time of the table's last change.
        level: number of the bot's level at this table; None for a program of its own.
    """

    board: str
    battle: int
    game: Game
    since: float = field(default=0.0, compare=False)
    level: int | None = None

    @property
    def setup(self) -> str:
        """The position in the notation of the engine protocol."""
        return write_position(self.game.position)

    def command(self, ply: str) -> Play:
        """Return the game command for a ply in the notation of records.

        Raises:
            InvalidValueError: the string is not a ply.
            IllegalMoveError: the ply is against the rules.
        """
        move = read_ply(ply, self.game.ruleset, self.game.position)
        return Play(move.attempt(), self.board)


@dataclass(slots=True)
class _Seat:
    """A seat occupied by the bot.

    Attributes:
        since: time at which the seat entered its current status.
        changed: time of the table's last change.
        offered: quiet plies at the bot's last offer to end the battle, or 0.
        scores: evaluations from the bot's point of view, by the number of plies played.
        done: commands sent since the table changed, with their times.
        wanted: cached commands with the times at which they are due; None after a change.
    """

    side: Side
    table: Table
    status: SeatStatus
    since: float
    changed: float
    offered: int = 0
    scores: dict[int, int] = field(default_factory=dict)
    done: dict[Command, float] = field(default_factory=dict)
    wanted: list[tuple[Command, float]] | None = None

    @property
    def quiet(self) -> int:
        """The number of plies since the last capture."""
        return self.table.game.quiet_plies if self.table.game else 0

    @property
    def lead(self) -> int:
        """Difference between the bot's score and the other side's, in the current position."""
        score = self.table.game.score if self.table.game else None
        return score.of(self.side) - score.of(self.side.other) if score else 0

    @property
    def is_behind(self) -> bool:
        """Whether the bot would have fewer points in the match if the battle ended now."""
        match = self.table.match
        if match is None:
            return False
        return match.points(self.side) + self.lead < match.points(self.side.other)

    @property
    def plays_person(self) -> bool:
        """Whether the other seat is occupied by a person."""
        return self.table.is_full and self.table.levels.of(self.side.other) is None

    @property
    def is_my_turn(self) -> bool:
        """Whether the bot is to move in a running battle."""
        game = self.table.game
        return game is not None and not game.outcome and game.position.turn is self.side

    @property
    def is_rising(self) -> bool:
        """Whether the bot's evaluation has risen since the last capture.

        The averages of the first and of the last evaluations are compared. Too few evaluations
        count as no rise.
        """
        game = self.table.game
        begun = len(game.moves) - self.quiet if game else 0
        scores = [self.scores[ply] for ply in sorted(self.scores) if ply >= begun][
            -QUIET_EVEN // 2 :
        ]
        if len(scores) < 2 * _FEW:
            return False
        return sum(scores[-_FEW:]) - sum(scores[:_FEW]) > _FEW * _RISE

    @property
    def should_offer_end(self) -> bool:
        """Whether the bot wants to offer an end of the battle, and hasn't done so recently."""
        quiet = self.quiet - self.offered
        if not self.scores or self.is_behind or quiet >= QUIET:
            return quiet >= QUIET
        return quiet >= QUIET_EVEN and not self.is_rising

    @property
    def is_lost(self) -> bool:
        """Whether the bot should resign: long lost, and none of its pieces would score."""
        game = self.table.game
        if game is None or game.ruleset.scoring.score(game.position, self.side.other).of(self.side):
            return False
        last = sorted(self.scores)[-LOST_FOR:]
        return len(last) == LOST_FOR and all(self.scores[ply] <= -LOST_BY for ply in last)

    def offered_by(self, side: Side) -> list[Offer]:
        """Return the pending offers of a side."""
        return [offer for offer, each in self.table.offers.items() if each is side]


class Opponent:
    """Behaviour of one bot.

    Args:
        name: name of the bot.
        patience: seconds to wait for a player; at least `LEAST_PATIENCE` is used.
        pause: seconds after which the bot starts a battle against another bot.

    Attributes:
        invitations: received invitations.
    """

    def __init__(self, name: str, patience: float, pause: float = START_AFTER) -> None:
        self.invitations: list[Invited] = []
        self._remarks: deque[tuple[str, bool]] = deque()
        self._name = name
        self._patience, self._pause = max(patience, LEAST_PATIENCE), pause
        self._seats: dict[str, _Seat] = {}
        """Seats by the key of their board, because a board's name may change."""

    @property
    def plays(self) -> bool:
        """Whether the bot occupies any seat."""
        return bool(self._seats)

    def has_seat_at(self, board: str) -> bool:
        """Return whether the bot occupies a seat at a board."""
        return self._seat(board) is not None

    def opponent_at(self, board: str) -> str | None:
        """Return the bot's opponent at a board; None if there is none."""
        seat = self._seat(board)
        return seat.table.seats.get(seat.side.other) if seat else None

    def observe_delivery(self, telling: Delivery, now: float) -> None:
        """Update the bot's seats from a notification."""
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
        is_over = isinstance(event, BattleEnded) and event.points is not None
        was_playing = before is not None and before.status is SeatStatus.BATTLE
        begins = isinstance(event, BattleStarted) and event.number == 1 and not was_playing
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
            seat.scores = {ply: score for ply, score in seat.scores.items() if ply <= plies}
        seat.side, seat.table, seat.status = side, table, status
        seat.offered = min(seat.offered, seat.quiet)
        seat.wanted = None
        self._seats[table.key] = seat
        if (begins or is_over) and seat.plays_person:
            self._remarks.append((table.name, is_over))

    def next_remark(self) -> tuple[str, bool] | None:
        """Return a board where the bot greets or thanks a person, and whether the match is over.

        There is a remark at the beginning and at the end of each match; each is returned once.
        """
        return self._remarks.popleft() if self._remarks else None

    def record_score(self, task: Task, score: int) -> None:
        """Record an evaluation from the bot's point of view, unless the task is out of date.

        Args:
            task: the task with the evaluated position.
            score: evaluation in hundredths of a dwarf.
        """
        if task in self.tasks():
            seat = self._seat(task.board)
            if seat:
                seat.scores[len(task.game.moves)] = score
                seat.wanted = None

    def commands(self, now: float) -> list[Command]:
        """Return the commands that are due, apart from plies, and mark them as sent.

        A command without effect is not repeated for `REPEAT_AFTER` seconds. Otherwise the
        notification of its refusal would trigger the same command again, endlessly.
        """
        done = []
        for seat in self._seats.values():
            for command, when in self._wanted_commands(seat):
                before = seat.done.get(command)
                if when > now or (before is not None and now - before < REPEAT_AFTER):
                    continue
                seat.done[command] = now
                if isinstance(command, End):
                    seat.offered, seat.wanted = seat.quiet, None
                done.append(command)
        return done

    def next_time(self, now: float) -> float | None:
        """Return the time of the next due command; None if there is none without a new event."""
        times = []
        for seat in self._seats.values():
            for command, when in self._wanted_commands(seat):
                done = seat.done.get(command)
                times.append(when if done is None else done + REPEAT_AFTER)
        return max(now, min(times)) if times else None

    def tasks(self) -> list[Task]:
        """Return the battles in which the bot is to move."""
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

    def pause_before(self, task: Task, pause: float, level: int | None) -> float:
        """Return the minimum seconds between the opponent's ply and the bot's for a task.

        It depends on who occupies the other seat now, and on the bot's clock.

        Args:
            task: one of `tasks`, or one that is out of date.
            pause: the bot's configured pause in seconds.
            level: the number of the bot's level; None for a program of its own.
        """
        seat = self._seat(task.board)
        if seat is None:
            return pause
        clock, position = seat.table.clock, task.game.position
        left = clock.seconds_left(seat.side) if clock else None
        return pause_before_ply(pause, position, level, left, plays_person=seat.plays_person)

    def _seat(self, board: str) -> _Seat | None:
        return next((each for each in self._seats.values() if each.table.name == board), None)

    def _wanted_commands(self, seat: _Seat) -> list[tuple[Command, float]]:
        """Return the wanted commands at a board with the times at which they are due.

        The result is cached, because any event at one board leads to calls for all boards.
        """
        if seat.wanted is None:
            seat.wanted = list(self._work_out_commands(seat))
        return seat.wanted

    def _work_out_commands(self, seat: _Seat) -> Iterator[tuple[Command, float]]:
        board = seat.table.name
        theirs, later = seat.offered_by(seat.side.other), seat.since + self._patience
        if theirs:
            yield _answer(theirs, seat), seat.since
            return
        if Offer.RESTART in seat.offered_by(seat.side):
            # The bot's "start" came after the battle had begun, so it became an offer: withdraw it.
            yield No(board), seat.since
            return
        match seat.status:
            case SeatStatus.DESERTED:
                yield Leave(board), seat.since
                yield Go(), seat.since
            case SeatStatus.ALONE | SeatStatus.OVER:
                yield Leave(board), later
                yield Go(), later
            case SeatStatus.AWAY:
                yield Adjourn(board) if seat.table.has_match_under_way else Leave(board), later
            case SeatStatus.READY if not seat.plays_person:
                last = 0.0 if seat.side is Side.DWARF else TROLLS_AFTER
                yield Start(board), seat.since + self._pause + last
            case SeatStatus.BATTLE:
                if seat.is_lost:
                    yield Resign(board), seat.since
                elif not seat.is_my_turn and seat.should_offer_end:
                    yield End(board), seat.since


def _battle(table: Table) -> BattleId | None:
    """Return the id of the battle on the board."""
    return table.match.battle_id if table.match else None


def _status(table: Table, mine: Side, before: _Seat | None) -> SeatStatus:
    if mine.other not in table.seats:
        # After one opponent, the bot does not wait for another.
        met = table.match or (before and before.status is not SeatStatus.ALONE)
        return SeatStatus.DESERTED if met else SeatStatus.ALONE
    if mine.other in table.away:
        return SeatStatus.AWAY
    if table.is_running:
        return SeatStatus.BATTLE
    return SeatStatus.OVER if table.match and table.match.is_over else SeatStatus.READY


def _answer(offers: list[Offer], seat: _Seat) -> Command:
    """Return the command that accepts an acceptable offer, or else declines all offers."""
    answer = next((OFFERING[offer] for offer in offers if _should_accept(offer, seat)), No)
    return answer(seat.table.name)


def _should_accept(offer: Offer, seat: _Seat) -> bool:
    match offer:
        case Offer.END:
            return _may_end(seat)
        case Offer.RESTART:
            return _may_restart(seat)
        case _:
            return True


def _may_end(seat: _Seat) -> bool:
    """Return whether the bot agrees to end a battle: a long quiet phase, or no gain expected."""
    if seat.quiet >= QUIET or seat.should_offer_end:
        return True
    if not seat.scores or seat.is_behind:
        return False
    return seat.quiet >= QUIET_ENOUGH and seat.scores[max(seat.scores)] <= 100 * seat.lead


def _may_restart(seat: _Seat) -> bool:
    """Return whether the bot agrees to start over: only early in a match, before any capture."""
    match = seat.table.match
    if match is None or match.is_over:
        return True
    plies = len(match.game.moves)
    return match.battle == 1 and plies < RATED_PLIES and match.game.quiet_plies == plies
