"""Play survives the failure, suspension and disconnection of real servers and databases."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import psycopg
import pytest

from tests.server.nodes import LONG, Nodes, Player, kill, port_of
from tests.store.clusters import FAST, Cluster, either, program
from tests.store.deeds import OAK
from tests.store.proxies import Proxy
from thudmud.game.events import Moved
from thudmud.store import Store
from thudmud.store import nodes as node_rows

pytestmark = pytest.mark.slow

FIRST, SECOND, THIRD = "move a6 to b6", "move g7 to f7", "move b6 to c6"
REFUSED = "so nothing has changed"
LOST_TOUCH = b"lost touch with its storage"
AWAY = "Anna has lost the connection. The dwarf seat at the oak board is kept for Anna."


@pytest.fixture
async def nodes(tmp_path: Path, dsn: str) -> AsyncIterator[Nodes]:
    """Return servers on the shared database, ended after the test."""
    nodes = Nodes(tmp_path, dsn)
    yield nodes
    await nodes.close()


@pytest.fixture
async def players() -> AsyncIterator[tuple[Player, Player]]:
    """Return two players who haven't connected yet."""
    players = Player("Anna"), Player("Bert")
    yield players
    for each in players:
        await each.hang_up()


async def begin(players: tuple[Player, Player], *ports: int) -> None:
    """Log both in, the first at the first port and the second at the last, and begin a match."""
    anna, bert = players
    await anna.connect(ports[0])
    await bert.connect(ports[-1])
    await anna.say("join game as dwarf on oak board")
    await bert.say("join game as troll on oak board")
    await bert.say("start")
    await anna.until("begin a match")


async def plies(dsn: str) -> list[str]:
    """Return the stored plies with their players."""
    store = await Store.connect(dsn)
    events = [entry.event for entry in await store.read_stream(OAK)]
    assert await store.check() is None
    await store.close()
    return [f"{each.player} {each.move}" for each in events if isinstance(each, Moved)]


async def until_done(player: Player, line: str, done: str) -> str:
    """Repeat a line until it succeeds; return all output."""
    told = ""
    async with asyncio.timeout(LONG):
        while done not in (answer := await player.say(line)):
            told += answer
            await asyncio.sleep(0.1)  # about as fast as a person types
    return told + answer


async def until_renewed(dsn: str, name: str) -> None:
    """Wait until a player's node renews its lease, which then has its full term."""
    store = await Store.connect(dsn)
    (node,) = [each.node for each in await store.read(node_rows.all_claims) if each.name == name]
    await store.close()
    async with asyncio.timeout(LONG):
        with psycopg.connect(dsn, autocommit=True) as session:
            asked = "select until from node where name = %s"
            before = session.execute(asked, [node]).fetchall()
            while session.execute(asked, [node]).fetchall() == before:  # noqa: ASYNC110
                await asyncio.sleep(0.1)


def commit_of(pattern: bytes) -> Callable[[bytes], bool]:
    """Return a predicate over a client's data: whether it commits a transaction with a pattern."""
    said = bytearray()

    def commits(data: bytes) -> bool:
        said.extend(data)  # a transaction may be split over several packets
        found = re.search(pattern, said)
        return found is not None and said.find(b"\0commit\0", found.end()) >= 0

    return commits


async def test_play_continues_after_database_failover(
    tmp_path: Path, players: tuple[Player, Player]
) -> None:
    clusters = [Cluster(**FAST)]
    try:
        clusters[0].start()
        clusters.append(clusters[0].standby())
        nodes = Nodes(tmp_path, either(*clusters))
        anna, bert = players
        try:
            started = [await nodes.start(), await nodes.start()]
            await begin(players, *[await port_of(each) for each in started])
            assert "You move" in await anna.say(FIRST)
            await bert.until("Anna moves the dwarf from A6 to B6")
            clusters[0].kill()
            moving = asyncio.create_task(until_done(bert, SECOND, "You move"))
            await asyncio.to_thread(clusters[1].promote)
            await moving
            await anna.until("Bert moves the troll from G7 to F7")
            assert "You move" in await anna.say(THIRD)
            await bert.until("Anna moves the dwarf from B6 to C6")
        finally:
            await nodes.close()
        assert await plies(clusters[1].dsn()) == ["Anna dA6-B6", "Bert TG7-F7", "Anna dB6-C6"]
    finally:
        for each in clusters:
            each.remove()


async def test_player_on_a_suspended_node_is_away_and_returns(
    nodes: Nodes, players: tuple[Player, Player], dsn: str
) -> None:
    """Lines typed at the suspended node aren't carried out when it resumes."""
    first, second = await nodes.start(), await nodes.start()
    port = await port_of(first)
    anna, bert = players
    await begin(players, port, await port_of(second))
    assert "You move" in await anna.say(FIRST)
    await bert.until("Anna moves the dwarf from A6 to B6")
    first.send_signal(signal.SIGSTOP)
    assert anna.client
    await anna.client.send(b"resign on oak board\r\nyes\r\n")
    await bert.until(AWAY)
    assert "You move" in await bert.say(SECOND)
    first.send_signal(signal.SIGCONT)
    assert LOST_TOUCH in await anna.client.rest()
    assert "It is your turn" in await anna.connect(port)
    assert "You move" in await anna.say(THIRD)
    await bert.until("Anna moves the dwarf from B6 to C6")
    assert await plies(dsn) == ["Anna dA6-B6", "Bert TG7-F7", "Anna dB6-C6"]


async def test_suspended_database_refuses_moves_but_not_talk(
    nodes: Nodes, players: tuple[Player, Player], dsn: str, cluster: Cluster
) -> None:
    """No player is declared dead or disconnected, although all leases expire."""
    anna, bert = players
    started = [await nodes.start(), await nodes.start()]
    await begin(players, await port_of(started[0]))
    carla = Player("Carla")
    await carla.connect(await port_of(started[1]))
    await until_renewed(dsn, "Anna")
    assert "You move" in await anna.say(FIRST)  # the node has noticed the renewal, too
    cluster.signal(signal.SIGSTOP)
    try:
        await anna.say("say Where were we?")
        await bert.until("Anna says: Where were we?")
        assert REFUSED in await bert.say(SECOND)
        for each in (*players, carla):
            await until_done(each, "say Hello?", REFUSED)  # their node's lease has expired
    finally:
        cluster.signal(signal.SIGCONT)
    await until_done(carla, "say Here I am", "You say: Here I am")
    await until_done(bert, SECOND, "You move")
    assert "You move" in await anna.say(THIRD)
    await until_done(carla, "who", "3 players connected")
    await carla.hang_up()
    assert await plies(dsn) == ["Anna dA6-B6", "Bert TG7-F7", "Anna dB6-C6"]


async def test_move_with_a_lost_commit_reply_is_stored_once(
    nodes: Nodes, players: tuple[Player, Player], dsn: str, cluster: Cluster
) -> None:
    with closing(Proxy(cluster.port)) as proxy:
        through = dsn.replace(f"port={cluster.port}", f"port={proxy.port}")
        started = [await nodes.start(dsn=through), await nodes.start()]
        await begin(players, *[await port_of(each) for each in started])
        anna, bert = players
        proxy.cuts_after = commit_of(rb'\[\\?"moved\\?",')  # escaped if it was prepared
        assert "You move" in await anna.say(FIRST)
        assert proxy.cuts == 1
        await bert.until("Anna moves the dwarf from A6 to B6")
        assert "You move" in await bert.say(SECOND)
        await anna.until("Bert moves the troll from G7 to F7")
        assert await plies(dsn) == ["Anna dA6-B6", "Bert TG7-F7"]


HAPROXY = """\
defaults
    mode tcp
    timeout connect 5s
    timeout client 1h
    timeout server 1h
    retries 3
    option redispatch 1

frontend telnet
    bind fd@{listening}
    default_backend nodes

backend nodes
    balance roundrobin
    default-server check inter 200ms send-proxy-v2 source 127.0.0.2
    server first 127.0.0.1:{ports[0]}
    server second 127.0.0.1:{ports[1]}
"""


async def test_player_of_a_dead_node_continues_on_another(
    nodes: Nodes, players: tuple[Player, Player], dsn: str, tmp_path: Path
) -> None:
    """Players connect from different addresses through one proxy port in front of all nodes."""
    anna, bert = players
    anna.source, bert.source = "127.0.0.5", "127.0.0.6"
    started = [await nodes.start(server='proxies = ["127.0.0.2"]') for _ in range(2)]
    ports = [await port_of(each) for each in started]
    async with proxied(tmp_path, ports) as port:
        await begin(players, port)
        assert "You move" in await anna.say(FIRST)
        await bert.until("Anna moves the dwarf from A6 to B6")
        logs = [(tmp_path / f"log-{number}").read_text("utf-8") for number in (1, 2)]
        on = ["127.0.0.5" in log for log in logs]
        assert sorted(on) == [False, True]
        assert ["127.0.0.6" in log for log in logs] == on[::-1]
        await kill(started[on.index(True)])
        await bert.until(AWAY)
        assert "You move" in await bert.say(SECOND)
        await anna.connect(port)
        assert "Bert moves the troll from G7 to F7" in await anna.say("last")
        assert "You move" in await anna.say(THIRD)
        await bert.until("Anna moves the dwarf from B6 to C6")
    assert await plies(dsn) == ["Anna dA6-B6", "Bert TG7-F7", "Anna dB6-C6"]


@asynccontextmanager
async def proxied(folder: Path, ports: list[int]) -> AsyncIterator[int]:
    """Run HAProxy in front of two nodes; yield its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = folder / "haproxy.cfg"
        config.write_text(HAPROXY.format(listening=listening.fileno(), ports=ports), "utf-8")
        words = program("haproxy"), "-db", "-f", str(config)
        proxy = await asyncio.create_subprocess_exec(*words, pass_fds=[listening.fileno()])
        port = listening.getsockname()[1]
    try:
        yield port
    finally:
        proxy.terminate()
        await proxy.wait()
