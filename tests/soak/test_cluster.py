"""Servers and databases that are killed at any moment forget nothing that they have acknowledged.

Two servers serve from one database, which has a synchronous standby. Two pairs play by script, one
of each on each server. Round after round one of the servers is killed (SIGKILL), or the database
with all of its processes, while they play: then the standby is promoted, and another one made.
What is stored has to be all that was acknowledged, once and in order, nothing that was refused, and
of each pair at most the one command that was in flight, or of which was told that it is not known
what came of it. Then all go on, those of the dead server at the other one. 3 rounds by default;
`make soak` plays 200.
"""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import Process
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from random import Random

import psycopg
import pytest

from tests.server.nodes import LONG, KilledError, Nodes, Player, kill, port_of
from tests.soak.pairs import Pair, seated, several
from tests.store.clusters import FAST, Cluster, either
from tests.waits import told_of
from thudmud.game.events import Moved
from thudmud.store import Store
from thudmud.store.backend import Lock

ROUNDS = int(os.environ.get("THUDMUD_SOAK_ROUNDS", "3"))
MOST = 40
"""How many commands are acknowledged before something is killed, at most."""

LEAST = 5
"""How many each pair goes on with after that."""

MOMENT = 0.02
"""How many seconds later it is killed, at most: that may be in the midst of anything."""

CHECK = 10
"""After so many rounds all that is stored is checked."""

FIRST = "first node", "primary", "second node"
"""What is killed in the first rounds: of each kind one, however few rounds are played."""

LATER = "primary", "primary", "first node", "second node"
"""What it is chosen from after these."""

# Two hundred dead servers would be waited for half an hour, with the lease that they have.
PROGRAM = (
    "-c",
    (
        "from thudmud.service.nodes import Node; Node.__init__.__kwdefaults__['lease'] = 3.0;"
        "from thudmud.cli.main import main; raise SystemExit(main())"
    ),
)
REFUSED = "so that has not happened", '"type":"refused"'
ASKED = '"code":"sure_resigns"'
"""The question that is put before somebody resigns: no refusal."""

UNKNOWN = "cannot tell whether that has happened"

pytestmark = pytest.mark.slow


class FarPair(Pair):
    """A pair whose players are on two servers, of which either may be behind the other."""

    async def come_back(self, ports: Sequence[int]) -> None:
        """Have those come in who are not here; wait until all see the board as it should be."""
        for player, port in zip(self.players.values(), cycle(ports), strict=False):
            async with asyncio.timeout(LONG):
                while not await self._is_back(player, port):  # noqa: ASYNC110  (it has no bell)
                    await asyncio.sleep(0.05)

    async def _is_back(self, player: Player, port: int) -> bool:
        try:
            if player.client is None:
                await player.connect(port)
                await player.say("set machine on")
                await player.say(f"go {self.board}")
            return await self.not_seen_by(player) == []
        except KilledError:  # the server that they were on, or they are kept outside for now
            await player.hang_up()
            return False

    async def asked(self, player: Player, line: str, *, asks: bool = False) -> bool:
        """Have a line typed; return whether it was done, and not refused.

        A server that is behind can also put a question where none is due: nothing was done then.

        Raises:
            KilledError: that is not known.
        """
        try:
            answer = " ".join((await player.say(line)).split())  # sentences are wrapped
        except KilledError:
            await player.hang_up()
            raise
        if UNKNOWN in answer:
            raise KilledError
        is_asked = asks and ASKED in answer
        if any(words in answer for words in REFUSED) and not is_asked:
            await asyncio.sleep(0.02)
            return False
        assert f'"board":"{self.board}"' in answer, answer
        return True


class Place:
    """Two servers on a database with a standby."""

    def __init__(self, folder: Path) -> None:
        self.primary = Cluster(**FAST)
        self.primary.start()
        self.standby = self.primary.standby()
        self.dsn = either(self.primary, self.standby)
        self.nodes = Nodes(folder, self.dsn, PROGRAM)
        self.running: list[Process] = []
        self.ports: list[int] = []

    async def start(self) -> None:
        """Start as many servers as there should be."""
        while len(self.running) < 2:
            server = await self.nodes.start()
            self.ports.append(await port_of(server))
            self.running.append(server)

    async def kill_node(self, which: int) -> None:
        await kill(self.running.pop(which))
        del self.ports[which]

    def fail_over(self) -> None:
        """Kill the primary, and promote the standby."""
        self.primary.kill()
        self.standby.promote()

    def renew_standby(self) -> None:
        """Put a new standby in the place of the primary that was killed."""
        killed, self.primary = self.primary, self.standby
        self.standby = self.primary.standby(killed)
        killed.remove()

    async def check(self, pairs: Sequence[FarPair]) -> None:
        """Hold what is stored to what was acknowledged."""
        with psycopg.connect(self.dsn, target_session_attrs="read-write") as session:
            # Nothing is on its way any more that somebody has sent who is dead.
            session.execute(f"select pg_advisory_lock({Lock.WRITING:d})".encode())
        store = await Store.connect(self.dsn)
        for pair in pairs:
            pair.check(await store.read_stream(pair.board, pair.stored + 1))
        await store.close()

    async def check_all(self) -> None:
        """Check all that is stored, and what was made of it."""
        store = await Store.connect(self.dsn)
        assert await store.check() is None
        await store.close()

    async def close(self) -> None:
        await self.nodes.close()
        self.primary.remove()
        self.standby.remove()


class Playing:
    """Some pairs that play, until `stop`."""

    def __init__(self, pairs: Sequence[FarPair]) -> None:
        self._pairs = pairs
        for pair in pairs:
            pair.is_over = False
        self.acknowledged = [asyncio.Semaphore(0) for _ in pairs]
        self._tasks = [
            asyncio.create_task(pair.play(counted))
            for pair, counted in zip(pairs, self.acknowledged, strict=True)
        ]

    async def stop(self) -> None:
        """Let each end what is under way."""
        for pair in self._pairs:
            pair.is_over = True
        await asyncio.gather(*self._tasks)


async def play_a_round(place: Place, pairs: Sequence[FarPair], dice: Random, killed: str) -> None:
    """Let all play, kill something, and let all go on."""
    await place.start()
    for pair in pairs:
        await pair.come_back(place.ports)
    playing = Playing(pairs)
    async with asyncio.timeout(LONG):
        await several(playing.acknowledged[0], dice.randrange(MOST))
    await asyncio.sleep(dice.uniform(0, MOMENT))
    if killed == "primary":
        await asyncio.to_thread(place.fail_over)
    else:
        await place.kill_node(killed.startswith("second"))
    await playing.stop()
    await place.check(pairs)

    for pair in pairs:
        await pair.come_back(place.ports)
    playing = Playing(pairs)
    async with asyncio.timeout(LONG):
        for each in playing.acknowledged:
            await several(each, LEAST)
    await playing.stop()
    await place.check(pairs)
    if killed == "primary":
        await asyncio.to_thread(place.renew_standby)


@pytest.mark.parametrize("seed", [20261123])
async def test_acknowledged_events_exist_once_after_cluster_kills(
    tmp_path: Path, seed: int
) -> None:
    dice = Random(seed)  # noqa: S311  (what to try, no secrets)
    pairs = seated(FarPair, dice)
    place = Place(tmp_path)
    try:
        for number in range(1, ROUNDS + 1):
            killed = FIRST[number - 1] if number <= len(FIRST) else dice.choice(LATER)
            with told_of():
                await play_a_round(place, pairs, dice, killed)
            plies = sum(pair.stored for pair in pairs)
            print(f"{number} rounds, {plies} events stored, the {killed} was killed", flush=True)
            if number % CHECK == 0 or number == ROUNDS:
                await place.check_all()
    finally:
        for pair in pairs:
            for player in pair.players.values():
                await player.hang_up()
        await place.close()
    assert Moved in {kind for pair in pairs for kind in pair.kinds}
