"""A server killed at any moment loses nothing that it has acknowledged.

Two pairs play by script on a real server, take plies back, adjourn matches and resume them, while
newcomers register one after another. In every round the server is killed (SIGKILL) at a random
moment: during play, during shutdown (SIGTERM), or while it starts. Its store must then hold every
acknowledged event in order, plus at most the one command of each pair that was in flight; the next
server must show the resulting boards; and every newcomer who was given a resume word or a
password must still have it. There are 4 rounds by default; `make soak` plays 200.
"""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from itertools import cycle, islice
from pathlib import Path
from random import Random

import pytest

from tests.server.nodes import LONG, KilledError, Player, kill, port_of
from tests.soak.pairs import Pair, seated, several
from tests.waits import told_of
from thudmud.accounts.passwords import Passwords, is_same_word
from thudmud.game.events import Adjourned, Moved, Resumed, TakenBack
from thudmud.store import Store, accounts

ROUNDS = int(os.environ.get("THUDMUD_SOAK_ROUNDS", "4"))
MOST = 130
"""Maximum number of acknowledged commands before a kill."""

MOMENT = 0.01
"""Maximum delay of a kill in seconds, so that it hits any stage of a command."""

TO_START = 2.0
"""Maximum seconds from the start of a server to its kill; most are ready by then."""

TO_STOP = 0.3
"""Maximum seconds from SIGTERM to the kill."""

# The scripted players connect, register, make offers and sit down faster than people do.
CONFIG = """\
[server]
accepts_per_second = 1000
accepts_at_once = 1000
[players]
names_per_hour = 1000000
chat_at_once = 1000
"""
PASSWORD = "correct horse"  # noqa: S105  (nobody's)


pytestmark = pytest.mark.slow


class Killing(Enum):
    """The moment at which a server is killed."""

    PLAYING = "while they play"
    STOPPING = "while it shuts down"
    STARTING = "while it starts"


KILLINGS = (Killing.PLAYING, Killing.STARTING, Killing.PLAYING, Killing.STOPPING)
"""The moments of successive rounds."""


@dataclass
class Newcomers:
    """Players who connect, register and leave, one after another.

    ``words`` holds the resume words given to newcomers in this round, ``members`` those who were
    told that they have a password, and ``trying`` the one who is about to.
    """

    count: int = 0
    registered: int = 0
    words: dict[str, str] = field(default_factory=dict)
    members: set[str] = field(default_factory=set)
    trying: str = ""

    async def come(self, port: int) -> None:
        """Connect and register new players until the server is gone."""
        with suppress(KilledError, OSError):
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
        """Compare the store with the words and passwords given out, and start afresh."""
        passwords = Passwords()
        for name, word in self.words.items():
            account = await store.read(accounts.find, name)
            if name in self.members or (account and name == self.trying):
                assert account, f"{name} has registered, and is no member"
                assert await passwords.is_correct(PASSWORD, account.password)
            else:
                assert account is None, f"{name} is a member, and has not registered"
                kept = await store.read(accounts.find_guest, name)
                assert kept, f"{name} was told a word, and is not known"
                assert is_same_word(word, kept.word)
        passwords.close()
        self.registered += len(self.members)
        self.words, self.members, self.trying = {}, set(), ""


def letters(number: int) -> str:
    """Return a number in letters, as names contain no digits."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


async def start(folder: Path) -> Process:
    command = (sys.executable, "-m", "thudmud.cli.main", "--port", "0")
    return await asyncio.create_subprocess_exec(*command, cwd=folder, stdout=PIPE)


async def play_until_killed(
    server: Process, pairs: Sequence[Pair], newcomers: Newcomers, dice: Random, killing: Killing
) -> None:
    """Let everybody play for a while, then kill the server."""
    port = await port_of(server)
    for pair in pairs:
        await pair.come_in(port)
    acknowledged = asyncio.Semaphore(0)
    playing = [asyncio.create_task(pair.play(acknowledged)) for pair in pairs]
    coming = asyncio.create_task(newcomers.come(port))
    enough = asyncio.create_task(several(acknowledged, dice.randrange(MOST)))
    await asyncio.wait([enough, coming, *playing], return_when=asyncio.FIRST_COMPLETED)
    async with asyncio.timeout(LONG):  # in a few rounds on a busy machine, few may have connected
        while not (newcomers.registered or newcomers.members):  # noqa: ASYNC110  (it has no bell)
            await asyncio.sleep(0.01)
    await asyncio.sleep(dice.uniform(0, MOMENT))
    if killing is Killing.STOPPING:
        server.terminate()
        with suppress(TimeoutError):
            await asyncio.wait_for(server.wait(), dice.uniform(0, TO_STOP))
    await kill(server)
    enough.cancel()
    await asyncio.gather(coming, *playing)


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
        pair.check(await store.read_stream(pair.board, pair.stored + 1))
    await newcomers.check(store)
    await store.close()


@pytest.mark.parametrize("seed", [20261121])
async def test_acknowledged_events_survive_a_kill(tmp_path: Path, seed: int) -> None:
    dice = Random(seed)  # noqa: S311  (what to try, no secrets)
    (tmp_path / "config.toml").write_text(CONFIG, "utf-8")
    newcomers = Newcomers()
    pairs = seated(Pair, dice)
    for number, killing in enumerate(islice(cycle(KILLINGS), ROUNDS), 1):
        with told_of():
            await play_a_round(tmp_path, pairs, newcomers, dice, killing)
        plies = sum(pair.stored for pair in pairs)
        print(f"{number} rounds, {plies} events stored, {newcomers.registered} registered")
    assert plies > ROUNDS, "too little was played for this to mean anything"
    assert newcomers.registered, "nobody has registered"
    kinds = {kind for pair in pairs for kind in pair.kinds}
    assert {Moved, TakenBack, Adjourned, Resumed} <= kinds, "too few kinds of things were done"
