"""A server killed at any moment forgets nothing that it has acknowledged.

Two pairs play by script on a real server, take plies back, put matches away and go on with them,
and newcomers register, one after the other. Round after round the server is killed (SIGKILL) at a
random moment: while they play, while it shuts down (SIGTERM), or while it starts. What its store
then holds has to be all that was acknowledged, in order, and at most the one command of each pair
that was in flight; the board that the next server shows has to be the fold of it; and every
newcomer who was told of a word or a password has it. 15 rounds by default; `make soak` plays 200.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import cast

import pytest

from tests.server.plain import Client
from thudmud.accounts.passwords import Passwords, is_same
from thudmud.play.commands import Adjourn, Command, Join, Play, Resign, Resume, Start, Undo
from thudmud.play.events import (
    Absent,
    Adjourned,
    BattleId,
    Event,
    Moved,
    Offer,
    Resumed,
    Returned,
    SavedMatch,
    TableEvent,
    TakenBack,
)
from thudmud.play.table import BoardSpec, Table
from thudmud.play.table_decisions import Context, TableCommand, decide, resume
from thudmud.rules import Game, Side
from thudmud.store import Entry, Store
from thudmud.views import boards
from thudmud.views.view import Display

WIDTH = 80

ROUNDS = int(os.environ.get("THUDMUD_SOAK_ROUNDS", "15"))
MOST = 130
"""How many commands are acknowledged before a server is killed, at most."""

MOMENT = 0.01
"""How many seconds later it is killed, at most: that may be in the midst of anything."""

TO_START = 2.0
"""How many seconds after it was started a server is killed, at most; most are ready by then."""

TO_STOP = 0.3
"""How many seconds after SIGTERM, at most."""

# They come, register, offer and sit down faster than people do.
CONFIG = """\
[server]
accepts_per_second = 1000
accepts_at_once = 1000
[players]
names_per_hour = 1000000
chat_at_once = 1000
"""
PASSWORD = "correct horse"  # noqa: S105  (nobody's)

BOARDS = {"oak board": ("Anna", "Bert"), "pine board": ("Carla", "Dora")}
WORD = re.compile(rb"Your resume word, (\w+): ([a-z-]+)")

pytestmark = pytest.mark.slow


class Killing(Enum):
    """When a server is killed."""

    PLAYING = "while they play"
    STOPPING = "while it shuts down"
    STARTING = "while it starts"


KILLINGS = (Killing.PLAYING, Killing.STARTING, Killing.PLAYING, Killing.STOPPING)
"""One after the other."""


class Killed(Exception):
    """The server is gone."""


@dataclass
class Player:
    """Somebody with a real connection, and the word to come back with."""

    name: str
    word: bytes = b""
    client: Client | None = None

    async def connect(self, port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        self.client = Client(reader, writer)
        await self.say(self.name)
        if self.word:
            await self.say(self.word.decode())
        await self.say("set board brief on oak board")

    async def say(self, line: str) -> str:
        """Type a line, and return what is shown once it has been answered."""
        assert self.client
        try:
            await self.client.send(line.encode() + b"\r\n")
            seen = await self.client.fence()
        except (OSError, AssertionError) as error:
            raise Killed from error
        found = WORD.search(seen)
        if found:
            self.word = found[2]
        return seen.decode("utf-8", "replace")

    async def hang_up(self) -> None:
        if self.client:
            await self.client.close()
            self.client = None


@dataclass
class Pair:
    """Two players at a board, who only ever have one command in flight between them.

    ``table`` is what should stand on the board: the fold of what is known to have happened, without
    any absences. ``stored`` is how many events its stream held when this round began.
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

    async def come_in(self, port: int) -> None:
        """Come in, back to the board, which has to stand as it should."""
        for player in self.players.values():
            await player.connect(port)
            await player.say(f"go {self.board}")
            seen = await player.say(f"look at {self.board}")
            shown = [line.rstrip() for line in seen.split("\r\n")]
            drawn = boards.draw(self.table, Display(WIDTH))
            assert [line for line in drawn if line.strip() and line not in shown] == []

    async def play(self, acknowledged: asyncio.Semaphore) -> None:
        """Play until the server is gone; each command that is acknowledged is counted."""
        with suppress(Killed):
            while True:
                await self.type(*self.choose())
                acknowledged.release()

    async def type(self, side: Side, command: Command) -> None:
        free = [name for name in self.players if self.table.side_of(name) is None]
        name = self.table.seats.get(side) or free[0]
        if isinstance(command, Resume):
            assert self.saved
            self.in_flight = resume(self.table, name, self.saved, Context(0))
        else:
            assert isinstance(command, TableCommand)
            self.in_flight = decide(self.table, name, command, Context(0))
        await self.players[name].say(str(command))
        self.happened(self.in_flight)
        self.acknowledged += self.in_flight
        self.in_flight = ()

    def happened(self, events: Sequence[TableEvent]) -> None:
        for event in events:
            self.table = self.table.apply(event)
            self.saved = event.match if isinstance(event, Adjourned) else self.saved

    def choose(self) -> tuple[Side, Command]:
        """Return something that is allowed as the table stands."""
        either = self.dice.choice(list(Side))
        table = self.table
        for side in Side:
            if side not in table.seats and not (self.saved and not table.seats):
                return side, Join(side, self.board)
        if not table.seats:
            return either, Resume(None, self.board)
        if not table.running or table.game is None:
            return either, Start(self.board)
        for offer, by in table.offers.items():
            if self.dice.random() < 0.7:
                return by.other, Undo(self.board) if offer is Offer.UNDO else Adjourn(self.board)
        return self._choose_in(table.game)

    def _choose_in(self, game: Game) -> tuple[Side, Command]:
        turn, chance = game.position.turn, self.dice.random()
        if chance < 0.1 and game.moves and Offer.UNDO not in self.table.offers:
            return turn.other, Undo(self.board)
        if chance < 0.13 and Offer.ADJOURN not in self.table.offers:
            return turn, Adjourn(self.board)
        if chance < 0.15:
            return turn, Resign(self.board)
        move = self.dice.choice(game.legal_moves())
        return turn, Play(move.attempt(), self.board)

    def check(self, entries: Sequence[Entry]) -> None:
        """Hold what is stored since then to what was acknowledged, and begin anew from there."""
        events = [plain(cast("Event", entry.event)) for entry in entries]
        stored = [event for event in events if not isinstance(event, Absent | Returned)]
        expected = [plain(event) for event in self.acknowledged]
        assert stored[: len(expected)] == expected, "what was acknowledged is not there"
        more = stored[len(expected) :]
        assert more in ([], [plain(event) for event in self.in_flight]), "more is there"
        self.happened(self.in_flight if more else ())
        self.kinds |= set(map(type, stored))
        self.stored, self.acknowledged, self.in_flight = self.stored + len(entries), [], ()


@dataclass
class Newcomers:
    """Those who come in, register and leave, one after the other.

    ``words`` has the resume word of each of this round who was told one, ``members`` those who were
    told that they have a password, ``trying`` who was about to.
    """

    count: int = 0
    registered: int = 0
    words: dict[str, str] = field(default_factory=dict)
    members: set[str] = field(default_factory=set)
    trying: str = ""

    async def come(self, port: int) -> None:
        """Come and register, until the server is gone."""
        with suppress(Killed, OSError):
            while True:
                self.count += 1
                player = Player(f"New{letters(self.count)}")
                try:
                    await self._register(player, port)
                finally:
                    if player.word:
                        self.words[player.name] = player.word.decode()
                    await player.hang_up()

    async def _register(self, player: Player, port: int) -> None:
        await player.connect(port)
        await player.say("register")
        await player.say(PASSWORD)
        self.trying = player.name
        if "is yours now" in await player.say(PASSWORD):
            self.members.add(player.name)
            self.trying = ""

    async def check(self, store: Store) -> None:
        """Hold what is stored to what they were told, and begin anew."""
        passwords = Passwords()
        for name, word in self.words.items():
            account = await store.find(name)
            if name in self.members or (account and name == self.trying):
                assert account, f"{name} has registered, and is no member"
                assert await passwords.fits(PASSWORD, account.password)
            else:
                assert account is None, f"{name} is a member, and has not registered"
                kept = await store.find_guest(name)
                assert kept, f"{name} was told a word, and is not known"
                assert is_same(word, kept.word)
        passwords.close()
        self.registered += len(self.members)
        self.words, self.members, self.trying = {}, set(), ""


def letters(number: int) -> str:
    """Return a number as letters: names have no digits."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def plain(event: Event) -> Event:
    """Return an event without the time, and without the version that its battle began at.

    Those depend on how often somebody was away.
    """
    if isinstance(event, Adjourned | Resumed):
        match = replace(event.match, began=BattleId(event.match.began.board, 0))
        event = replace(event, match=match)
    return replace(event, at=0.0)


async def start(folder: Path) -> Process:
    command = (sys.executable, "-m", "thudmud.cli.main", "--port", "0")
    return await asyncio.create_subprocess_exec(*command, cwd=folder, stdout=PIPE)


async def port_of(server: Process) -> int:
    """Wait until a server is ready; return its port."""
    assert server.stdout
    line = await server.stdout.readline()
    return int(line.split()[-1])


async def several(counted: asyncio.Semaphore, number: int) -> None:
    """Wait for something so many times."""
    for _ in range(number):
        await counted.acquire()


async def play_until_killed(
    server: Process, pairs: Sequence[Pair], newcomers: Newcomers, dice: Random, killing: Killing
) -> None:
    """Let everybody play for a while; kill the server."""
    port = await port_of(server)
    for pair in pairs:
        await pair.come_in(port)
    acknowledged = asyncio.Semaphore(0)
    playing = [asyncio.create_task(pair.play(acknowledged)) for pair in pairs]
    coming = asyncio.create_task(newcomers.come(port))
    enough = asyncio.create_task(several(acknowledged, dice.randrange(MOST)))
    await asyncio.wait([enough, coming, *playing], return_when=asyncio.FIRST_COMPLETED)
    await asyncio.sleep(dice.uniform(0, MOMENT))
    if killing is Killing.STOPPING:
        server.terminate()
        with suppress(TimeoutError):
            await asyncio.wait_for(server.wait(), dice.uniform(0, TO_STOP))
    await kill(server)
    enough.cancel()
    await asyncio.gather(coming, *playing)


async def kill(server: Process) -> None:
    with suppress(ProcessLookupError):  # it may have ended by itself
        server.kill()
    await server.wait()


async def play_a_round(
    folder: Path, pairs: Sequence[Pair], newcomers: Newcomers, dice: Random, killing: Killing
) -> None:
    server = await start(folder)
    try:
        if killing is Killing.STARTING:
            await asyncio.sleep(dice.uniform(0, TO_START))
        else:
            await play_until_killed(server, pairs, newcomers, dice, killing)
    finally:
        await kill(server)
    for pair in pairs:
        for player in pair.players.values():
            await player.hang_up()
    store = await Store.open(folder / "thudmud.db")
    assert await store.check() is None
    for pair in pairs:
        pair.check(await store.read(pair.board, pair.stored + 1))
    await newcomers.check(store)
    await store.close()


@pytest.mark.parametrize("seed", [20261121])
async def test_what_was_acknowledged_is_there_after_a_kill(tmp_path: Path, seed: int) -> None:
    dice = Random(seed)  # noqa: S311  (it has to come again the same)
    (tmp_path / "config.toml").write_text(CONFIG, "utf-8")
    newcomers = Newcomers()
    pairs = [
        Pair(name, {each: Player(each) for each in pair}, dice, Table.set_up(BoardSpec(name)))
        for name, pair in BOARDS.items()
    ]
    for number, killing in enumerate(islice(cycle(KILLINGS), ROUNDS), 1):
        await play_a_round(tmp_path, pairs, newcomers, dice, killing)
        plies = sum(pair.stored for pair in pairs)
        print(f"{number} rounds, {plies} events stored, {newcomers.registered} registered")
    assert plies > ROUNDS, "too little was played for this to mean anything"
    assert newcomers.registered, "nobody has registered"
    kinds = {kind for pair in pairs for kind in pair.kinds}
    assert {Moved, TakenBack, Adjourned, Resumed} <= kinds, "too few kinds of things were done"
