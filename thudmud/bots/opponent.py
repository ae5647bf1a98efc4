"""How a bot behaves at its boards: when it sits down, starts, agrees, declines and leaves.

An `Opponent` is told what its player is told, as values of `thudmud.game`, and answers with
commands. Pure: the time comes in as an argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from thudmud.features.matchmaking.commands import No
from thudmud.features.playing.moves import OFFERING, Adjourn, End, Play, Resign, Start
from thudmud.features.playing.seats import Leave
from thudmud.features.rooms.commands import Go
from thudmud.game.asides import Invited
from thudmud.game.command import Command
from thudmud.game.events import BattleId, BoardRenamed, Offer
from thudmud.game.match import RATED_PLIES
from thudmud.game.table import Table
from thudmud.game.telling import Telling
from thudmud.rules import Game, Side, read_ply, write_position
from thudmud.values import replace

QUIET = 60
"""Plies without a capture after which it offers to end a battle in any case, and agrees to."""

QUIET_EVEN = 30
"""The same if its worth has not risen meanwhile, and it is not behind in the match."""

QUIET_ENOUGH = 20
"""Plies without a capture after which it agrees if it expects no gain from playing on, and is not
behind in the match."""

LOST_BY, LOST_FOR = 1000, 6
"""It resigns when its side has been worth so many hundredths of a dwarf less than the other, for so
many of its own plies; but only where the loser's pieces do not count anyway."""

START_AFTER = 60.0
"""Seconds after which it begins a battle itself. With a clock it waits for the word of a person,
whose clock would run while they may be in another room."""

LEAST_PATIENCE = 60.0
"""The least seconds that it waits for a player."""

_RISE = 50  # hundredths of a dwarf that count as a rise: less is noise
_FEW = 5  # worths that are averaged, since those of weak levels err

TROLLS_AFTER = 5.0
"""Further seconds if it plays the trolls: if both say "start" at once, the second counts as an
offer to start over."""

REPEAT_AFTER = 60.0
"""Seconds after which it repeats what had no effect."""


class SeatStatus(Enum):
    """The state of a seat that a bot has."""

    ALONE = "nobody has come yet"
    DESERTED = "the other has left"
    AWAY = "the other is away"
    READY = "a battle can begin"
    OVER = "the match is over"
    BATTLE = "battle"


@dataclass(frozen=True, slots=True)
class Task:
    """A battle in which it is the bot's turn, since when, and at which level it plays there."""

    board: str
    battle: int
    game: Game
    since: float = field(default=0.0, compare=False)
    level: int | None = None

    @property
    def setup(self) -> str:
        """The position in the engine protocol."""
        return write_position(self.game.position)

    def command(self, ply: str) -> Play:
        """Return the command for a ply in the notation of records.

        Raises:
            ValueError: it is no ply.
            IllegalMove: the rules refuse it.
        """
        move = read_ply(ply, self.game.ruleset, self.game.position)
        return Play(move.attempt(), self.board)


@dataclass(slots=True)
class _Seat:
    """A seat that the bot has.

    Attributes:
        since: since when it has that state.
        changed: when the table last changed.
        offered: the quiet plies at which it last offered to end the battle, or 0.
        worths: its estimates of its side's worth, by the number of plies played.
        done: its commands since the table changed, and when.
        wanted: the commands that it wants, and when; None until they are worked out again.
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
        """The number of plies since the last capture."""
        return self.table.game.quiet_plies if self.table.game else 0

    @property
    def lead(self) -> int:
        """By how much its side's score is higher now."""
        score = self.table.game.score if self.table.game else None
        return score.of(self.side) - score.of(self.side.other) if score else 0

    @property
    def is_behind(self) -> bool:
        """Whether its side has fewer points in the match, as the battle stands now."""
        match = self.table.match
        if match is None:
            return False
        return match.points(self.side) + self.lead < match.points(self.side.other)

    @property
    def plays_person(self) -> bool:
        """Whether a person has the other seat."""
        return self.table.full and self.table.levels.of(self.side.other) is None

    @property
    def is_my_turn(self) -> bool:
        """Whether it is to move in a running battle."""
        game = self.table.game
        return game is not None and not game.outcome and game.position.turn is self.side

    @property
    def is_rising(self) -> bool:
        """Whether its side's worth has risen since the last capture."""
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
        if not self.worths or self.is_behind or quiet >= QUIET:
            return quiet >= QUIET
        return quiet >= QUIET_EVEN and not self.is_rising

    @property
    def is_lost(self) -> bool:
        """Whether the battle has been lost for long, and no piece of the bot's counts."""
        game = self.table.game
        if game is None or game.ruleset.scoring.score(game.position, self.side.other).of(self.side):
            return False
        last = sorted(self.worths)[-LOST_FOR:]
        return len(last) == LOST_FOR and all(self.worths[ply] <= -LOST_BY for ply in last)

    def offered_by(self, side: Side) -> list[Offer]:
        """Return what a side has offered."""
        return [offer for offer, each in self.table.offers.items() if each is side]


class Opponent:
    """The behaviour of one bot.

    It waits for a player for ``patience`` seconds, and `LEAST_PATIENCE` at least; after ``pause``
    seconds it begins a battle itself.
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
        """Return the player in the other seat at a board."""
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
        """Take note of its side's worth at a task, in hundredths of a dwarf."""
        if task in self.tasks():
            seat = self._seat(task.board)
            if seat:
                seat.worths[len(task.game.moves)] = worth
                seat.wanted = None

    def commands(self, now: float) -> list[Command]:
        """Return its commands now, without plies.

        A command without effect is not repeated for a while: its refusal would be told at once, and
        cause the same command again.
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
        """Return when it will next want to do something, if nothing happens before."""
        times = []
        for seat in self._seats.values():
            for command, when in self._wanted(seat):
                done = seat.done.get(command)
                times.append(when if done is None else done + REPEAT_AFTER)
        return max(now, min(times)) if times else None

    def tasks(self) -> list[Task]:
        """Return the battles in which it is to move."""
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
        """Return what it wants to do at a board, each with the time for it.

        This is called for all boards whenever something happens at one.
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
            yield No(board), seat.since  # meant to begin the battle, which has begun
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
            case SeatStatus.READY if seat.table.time and seat.plays_person:
                pass
            case SeatStatus.READY:
                last = 0.0 if seat.side is Side.DWARF else TROLLS_AFTER
                yield Start(board), seat.since + self._pause + last
            case SeatStatus.BATTLE:
                if seat.is_lost:
                    yield Resign(board), seat.since
                elif not seat.is_my_turn and seat.leads_nowhere:
                    yield End(board), seat.since


def _battle(table: Table) -> BattleId | None:
    """Return the id of the battle on the board."""
    return table.match.began if table.match else None


def _status(table: Table, mine: Side, before: _Seat | None) -> SeatStatus:
    if mine.other not in table.seats:
        # Once a player has sat there, it does not wait for another.
        met = table.match or (before and before.status is not SeatStatus.ALONE)
        return SeatStatus.DESERTED if met else SeatStatus.ALONE
    if mine.other in table.away:
        return SeatStatus.AWAY
    if table.running:
        return SeatStatus.BATTLE
    return SeatStatus.OVER if table.match and table.match.over else SeatStatus.READY


def _answer(offers: list[Offer], seat: _Seat) -> Command:
    """Return the answer to the other player's offers."""
    answer = next((OFFERING[offer] for offer in offers if _agrees(offer, seat)), No)
    return answer(seat.table.name)


def _agrees(offer: Offer, seat: _Seat) -> bool:
    match offer:
        case Offer.END:
            return _may_end(seat)
        case Offer.RESTART:
            return _may_restart(seat)
        case _:
            return True


def _may_end(seat: _Seat) -> bool:
    """Return whether it agrees to end a battle: it gains nothing, or neither side has for long."""
    if seat.quiet >= QUIET or seat.leads_nowhere:
        return True
    if not seat.worths or seat.is_behind:
        return False
    return seat.quiet >= QUIET_ENOUGH and seat.worths[max(seat.worths)] <= 100 * seat.lead


def _may_restart(seat: _Seat) -> bool:
    """Return whether it agrees to start over: so early that neither side loses anything by it."""
    match = seat.table.match
    if match is None or match.over:
        return True
    plies = len(match.game.moves)
    return match.battle == 1 and plies < RATED_PLIES and match.game.quiet_plies == plies
