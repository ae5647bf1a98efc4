"""Servers and databases killed at any moment lose nothing that they have acknowledged.

Two servers share a database with a synchronous standby. Two pairs play by script, with one player
of each pair on each server. In every round, one of the servers or the database with all its
processes is killed (SIGKILL) during play; if it was the database, the standby is promoted and a new
one created. The store must then hold every acknowledged event, once and in order, no refused one,
and for each pair at most the one command that was in flight or reported as uncertain. After that
everybody continues, the players of a dead server on the other one. There are 3 rounds by default;
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
"""Maximum number of acknowledged commands before a kill."""

LEAST = 5
"""Number of commands that each pair plays after a kill."""

MOMENT = 0.02
"""Maximum delay of a kill in seconds, so that it hits any stage of a command."""

CHECK = 10
"""Rounds between two checks of the whole store."""

FIRST = "first node", "primary", "second node"
"""Targets of the first rounds, so that even a short run kills one of each kind."""

LATER = "primary", "primary", "first node", "second node"
"""Targets from which later rounds choose at random."""

# With the default lease, waiting for two hundred dead servers would take half an hour.
PROGRAM = (
    "-c",
    (
        "from thudmud.service.nodes import Node; Node.__init__.__kwdefaults__['lease'] = 3.0;"
        "from thudmud.cli.main import main; raise SystemExit(main())"
    ),
)
REFUSED = "so nothing has changed", '"type":"refused"'
ASKED = '"code":"sure_resigns"'
"""The confirmation asked before a resignation; not a refusal."""

UNKNOWN = "can't tell whether that worked"

pytestmark = pytest.mark.slow


class FarPair(Pair):
    """A pair whose players are on two servers, either of which may lag behind the other."""

    async def come_back(self, ports: Sequence[int]) -> None:
        """Reconnect missing players and wait until everybody sees the expected board."""
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
        except KilledError:  # their former server, or they are kept outside for now
            await player.hang_up()
            return False

    async def asked(self, player: Player, line: str, *, asks: bool = False) -> bool:
        """Type a line; return whether it was carried out rather than refused.

        A lagging server may also ask a question that is not due; then nothing was carried out.

        Raises:
            KilledError: The outcome is unknown.
        """
        try:
            answer = " ".join((await player.say(line)).split())  # output is wrapped
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
        """Start servers until both are running."""
        while len(self.running) < 2:
            server = await self.nodes.start()
            self.ports.append(await port_of(server))
            self.running.append(server)

    async def kill_node(self, which: int) -> None:
        await kill(self.running.pop(which))
        del self.ports[which]

    def fail_over(self) -> None:
        """Kill the primary and promote the standby."""
        self.primary.kill()
        self.standby.promote()

    def renew_standby(self) -> None:
        """Replace the killed primary with a new standby."""
        killed, self.primary = self.primary, self.standby
        self.standby = self.primary.standby(killed)
        killed.remove()

    async def check(self, pairs: Sequence[FarPair]) -> None:
        """Compare the stored events with the acknowledged ones."""
        with psycopg.connect(self.dsn, target_session_attrs="read-write") as session:
            # Nothing sent by a dead process is in flight any longer.
            session.execute(f"select pg_advisory_lock({Lock.WRITING:d})".encode())
        store = await Store.connect(self.dsn)
        for pair in pairs:
            pair.check(await store.read_stream(pair.board, pair.stored + 1))
        await store.close()

    async def check_all(self) -> None:
        """Check the whole store and all rows derived from its events."""
        store = await Store.connect(self.dsn)
        assert await store.check() is None
        await store.close()

    async def close(self) -> None:
        await self.nodes.close()
        self.primary.remove()
        self.standby.remove()


class Playing:
    """A context in which some pairs play until `stop`."""

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
        """Let each pair finish its current command."""
        for pair in self._pairs:
            pair.is_over = True
        await asyncio.gather(*self._tasks)


async def play_a_round(place: Place, pairs: Sequence[FarPair], dice: Random, killed: str) -> None:
    """Let everybody play, kill a target, and let everybody continue."""
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
