"""Scripted players who record what their server has acknowledged."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar, cast

from tests.server.nodes import KilledError, Player
from thudmud.features.playing.moves import Adjourn, Play, Resign, Start, Undo
from thudmud.features.playing.resuming import Resume
from thudmud.features.playing.seats import Join
from thudmud.game.command import Command
from thudmud.game.events import (
    Absent,
    Adjourned,
    BattleId,
    Event,
    Offer,
    Resumed,
    Returned,
    SavedMatch,
    TableEvent,
)
from thudmud.game.table import BoardSpec, Table
from thudmud.game.tables import Context, TableCommand, decide, resume
from thudmud.rules import Game, Side
from thudmud.store import Entry
from thudmud.values import replace
from thudmud.views import boards
from thudmud.views.view import Display

WIDTH = 80
TRIES = 50
"""Attempts at an agreement that the other server may not know about yet."""

BOARDS = {"oak board": ("Anna", "Bert"), "pine board": ("Carla", "Dora")}


@dataclass
class Pair:
    """Two players at a board with at most one command in flight between them.

    They play until the server is gone or ``is_over`` is set. ``table`` is the expected state of the
    board: the fold of all events known to have happened, without absences. ``stored`` is the length
    of the board's stream at the start of the round.
    """

    board: str
    players: dict[str, Player]
    dice: Random
    table: Table
    saved: SavedMatch | None = None
    stored: int = 0
    acknowledged: list[TableEvent] = field(default_factory=list)
    in_flight: tuple[TableEvent, ...] = ()
    kinds: set[type[Event]] = field(default_factory=set)
    is_over: bool = False

    async def come_in(self, port: int) -> None:
        """Connect and return to the board, which must be in the expected state."""
        for player in self.players.values():
            await player.connect(port)
            await player.say(f"go {self.board}")
            assert await self.not_seen_by(player) == []

    async def not_seen_by(self, player: Player) -> list[str]:
        """Return the lines of the expected board that are not shown to a player."""
        seen = await player.say(f"look at {self.board}")
        shown = [line.rstrip() for line in seen.split("\r\n")]
        drawn = boards.draw(self.table, Display(WIDTH))
        return [line for line in drawn if line.strip() and line not in shown]

    async def play(self, acknowledged: asyncio.Semaphore) -> None:
        """Play until the server is gone, counting each acknowledged command."""
        with suppress(KilledError):
            while not self.is_over:
                if await self.type(*self.choose()):
                    acknowledged.release()

    async def type(self, side: Side, command: Command) -> bool:
        """Type a command as the player on a side; return whether it was carried out."""
        free = [name for name in self.players if self.table.side_of(name) is None]
        name = self.table.seats.get(side) or free[0]
        (other,) = self.players.keys() - {name}
        if isinstance(command, Resume):
            assert self.saved
            self.in_flight = resume(self.table, other, self.saved, Context(0))
        else:
            assert isinstance(command, TableCommand)
            self.in_flight = decide(self.table, name, command, Context(0))
        asks = isinstance(command, Resign)
        is_done = await self.asked(self.players[name], str(command), asks=asks)
        if is_done and asks:
            is_done = await self.asked(self.players[name], "yes")
        elif is_done and isinstance(command, Resume):
            is_done = await self._agreed(self.players[other])
        if is_done:
            self.happened(self.in_flight)
            self.acknowledged += self.in_flight
        self.in_flight = ()
        return is_done

    async def _agreed(self, player: Player) -> bool:
        """Let a player agree once they are asked; return whether it was carried out."""
        for _ in range(TRIES):
            if await self.asked(player, "yes"):
                return True
        return False

    async def asked(self, player: Player, line: str, *, asks: bool = False) -> bool:
        """Type a line; return whether it was carried out, as it always is on a single server.

        Args:
            player: the player who types the line.
            line: the text to type.
            asks: whether the line is answered with a request for confirmation.
        """
        await player.say(line)
        return True

    def happened(self, events: Sequence[TableEvent]) -> None:
        for event in events:
            self.table = self.table.apply(event)
            self.saved = event.match if isinstance(event, Adjourned) else self.saved

    def choose(self) -> tuple[Side, Command]:
        """Choose a legal command for the current state of the table."""
        either = self.dice.choice(list(Side))
        table = self.table
        for side in Side:
            if side not in table.seats and not (self.saved and not table.seats):
                return side, Join(side, self.board)
        if not table.seats:
            return either, Resume(None, self.board)
        if not table.is_running or table.game is None:
            offered = table.offers.get(Offer.BEGIN) or table.offers.get(Offer.REMATCH)
            return offered.other if offered else either, Start(self.board)
        for offer, by in table.offers.items():
            if self.dice.random() < 0.7:
                return by.other, Undo(self.board) if offer is Offer.UNDO else Adjourn(self.board)
        return self._choose_in(table.game)

    def _choose_in(self, game: Game) -> tuple[Side, Command]:
        turn, chance = game.position.turn, self.dice.random()
        if chance < 0.1 and game.moves and Offer.UNDO not in self.table.offers:
            return turn.other, Undo(self.board)
        if chance < 0.16 and Offer.ADJOURN not in self.table.offers:
            return turn, Adjourn(self.board)
        if chance < 0.18:
            return turn, Resign(self.board)
        move = self.dice.choice(game.legal_moves())
        return turn, Play(move.attempt(), self.board)

    def check(self, entries: Sequence[Entry]) -> None:
        """Compare newly stored events with the acknowledged ones, and start afresh."""
        events = [plain(cast("Event", entry.event)) for entry in entries]
        stored = [event for event in events if not isinstance(event, Absent | Returned)]
        expected = [plain(event) for event in self.acknowledged]
        told = f"{expected}, perhaps {self.in_flight}, not {stored}"
        assert stored[: len(expected)] == expected, f"what was acknowledged is not there: {told}"
        more = stored[len(expected) :]
        assert more in ([], [plain(event) for event in self.in_flight]), f"more is there: {told}"
        self.happened(self.in_flight if more else ())
        self.kinds |= set(map(type, stored))
        self.stored, self.acknowledged, self.in_flight = self.stored + len(entries), [], ()


P = TypeVar("P", bound=Pair)


def seated(kind: type[P], dice: Random) -> list[P]:
    """Return pairs yet to connect, each with its own dice, as they play concurrently."""
    return [
        kind(
            name,
            {each: Player(each) for each in pair},
            Random(dice.random()),  # noqa: S311  (games to try, no secrets)
            Table.set_up(BoardSpec(name)),
        )
        for name, pair in BOARDS.items()
    ]


def plain(event: Event) -> Event:
    """Return an event without its time and without the version at which its battle began.

    Both depend on how often somebody was away.
    """
    if isinstance(event, Adjourned | Resumed):
        match = replace(event.match, battle_id=BattleId(event.match.battle_id.board, 0))
        event = replace(event, match=match)
    return replace(event, at=0.0)


async def several(counted: asyncio.Semaphore, number: int) -> None:
    """Acquire a semaphore the given number of times."""
    for _ in range(number):
        await counted.acquire()
