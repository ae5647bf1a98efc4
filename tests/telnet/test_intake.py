"""The budget for telnet commands, and fairness between clients that send many."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from tests.fuzz.targets import WILLING
from tests.server.plain import CHUNK, Client, Serving
from tests.telnet.commands import END, GMCP, IAC, SB, framed, naws
from tests.telnet.test_connection import well
from thudmud.accounts.limiters import TokenBucket
from thudmud.server import acceptor
from thudmud.server.config import ServerSettings
from thudmud.telnet.intake import TelnetQueue

NOP = IAC + b"\xf1"
TOO_MUCH = b"Your client has sent more telnet commands than this server accepts"
SMALL = {"telnet_bytes": 2048, "max_subnegotiation": 256, "telnet_bytes_per_second": 1}
FLOODS = {
    "NOP": NOP,
    "IAC IAC": IAC + IAC,
    "EC": IAC + b"\xf7",
    "DO": IAC + b"\xfd\x22",
    "empty": IAC + SB + END,
    "short": framed(b"\x45", b"x" * 20),
    "sizes between": naws(100) + NOP,
    "GMCP": framed(GMCP, b'Core.Supports.Add ["Thud 1"]'),
    "lines between": NOP + b"\r\n",
}


async def last_words(client: Client) -> bytes:
    """Return all output up to the end of the connection, which may come as a reset."""
    seen = client.unread
    with suppress(ConnectionError):
        while data := await client.reader.read(CHUNK):
            seen += data
    return seen


async def flood(client: Client, data: bytes) -> bytes:
    """Send `data` repeatedly until the connection ends; return the output."""
    reading = asyncio.create_task(last_words(client))
    async with asyncio.timeout(60):
        while not reading.done():
            with suppress(ConnectionError):
                await client.send(data)
            await asyncio.sleep(0)
    return reading.result()


@pytest.mark.parametrize("name", ["", "Anna"])
@pytest.mark.parametrize("command", FLOODS.values(), ids=FLOODS)
async def test_telnet_flood_ends_the_connection(
    serving: Serving, command: bytes, name: str
) -> None:
    setup = await serving(**SMALL, commands_per_second=100_000)
    bob, client = await setup.connect("Bob"), await setup.connect(name)
    told = await flood(client, command * 1000)
    assert TOO_MUCH in told
    assert told.endswith(b"disconnected.\r\n")
    assert await well(bob)


@pytest.mark.parametrize("name", ["", "Anna"])
async def test_endless_subnegotiation_counts_against_the_budget(
    serving: Serving, name: str
) -> None:
    setup = await serving(**SMALL)
    client = await setup.connect(name)
    await client.send(IAC + SB + GMCP + b"x" * 1000)
    assert TOO_MUCH in await flood(client, b"x" * 1000)


async def test_typed_text_does_not_count_against_the_telnet_budget(serving: Serving) -> None:
    client = await (await serving(**SMALL)).connect("Anna")
    await client.send(NOP * 1000)
    await client.send("".join(f"line {number}\r\n" for number in range(1000)).encode())
    await client.until(b"echo line 999")  # typed text is free
    assert await well(client)
    assert TOO_MUCH in await flood(client, NOP * 100)


async def test_full_negotiation_stays_within_the_budget(serving: Serving) -> None:
    setup = await serving(telnet_bytes=1024, max_subnegotiation=512, telnet_bytes_per_second=1)
    client = await setup.connect()
    await client.send(WILLING + naws(120))
    for name in (b"MUDLET", b"XTERM-TRUECOLOR", b"MTTS 2349"):
        await client.send(framed(b"\x18", b"\0" + name))
    await client.send(framed(b"\x2a", b"\x02UTF-8"))
    await client.send(framed(b"\x27", b"\0\0CLIENT_NAME\x01Mudlet\0CHARSET\x01UTF-8\0MTTS\x012349"))
    await client.send(framed(GMCP, b'Core.Hello {"client": "Mudlet", "version": "4.17.2"}'))
    await client.send(framed(GMCP, b'Core.Supports.Set ["Thud 1", "Char 1", "Char.Login 1"]'))
    await client.until(b"Char.Login.Default")
    await client.send(b"Anna\r\n")
    await client.until(b"Anna comes in.")
    for columns in range(80, 100):
        await client.send(naws(columns))
    await client.send(b"width\r\n")
    await client.until(b"width 99")


async def test_longest_subnegotiation_fits_the_default_budget(serving: Serving) -> None:
    client = await (await serving()).connect("Anna")
    most = ServerSettings().max_subnegotiation
    await client.send(framed(GMCP, b"x" * (most - 1)))
    assert await well(client)


async def test_budget_refills_over_time(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    class Bucket(TokenBucket):
        def balance(self, _: float) -> float:
            return super().balance(now)

    monkeypatch.setattr(acceptor, "TokenBucket", Bucket)
    setup = await serving(**{**SMALL, "telnet_bytes_per_second": 1000})
    client = await setup.connect("Anna")
    for _ in range(50):
        await client.send(NOP * 100)
        await client.fence()
        now += 0.5
    assert await well(client)
    with suppress(ConnectionError):  # no refill while the clock stands still
        await client.send(NOP * 2000)
    assert TOO_MUCH in await last_words(client)


async def test_queued_lines_and_commands_keep_their_order(serving: Serving) -> None:
    setup = await serving(telnet_bytes=1_000_000)
    clients = [await setup.connect(name) for name in ("Anna", "Bob", "Cara")]
    pieces = [f"line {number}\r\n".encode() + NOP * 300 for number in range(100)]
    for client in clients:
        await client.send(b"".join(pieces) + b"look\r\n")
    for client in clients:
        told = (await client.fence()).replace(b"> ", b"").replace(b"\r\n", b"")
        wanted = b"".join(f"echo line {number}".encode() for number in range(100)) + b"echo look"
        assert told.endswith(wanted)


async def test_typed_line_is_not_delayed_by_telnet_of_others(serving: Serving) -> None:
    setup = await serving()
    crowd = [await setup.connect() for _ in range(40)]
    bob = await setup.connect("Bob")
    for client in crowd:
        client.unread = b""
        client.writer.write(NOP * 3000 + b"\xff\xfd\x06")
    fences = [asyncio.create_task(client.until(b"\xff\xfb\x06")) for client in crowd]
    await bob.send(b"look\r\n")
    await bob.until(b"echo look")
    assert not all(fence.done() for fence in fences)
    await asyncio.gather(*fences)


async def test_end_of_input_follows_queued_input(serving: Serving) -> None:
    client = await (await serving()).connect("Anna")
    await client.send(NOP * 1000 + b"look\r\n" + NOP * 1000 + b"say goodbye\r\n")
    client.writer.write_eof()
    told = await client.rest()
    assert b"echo look\r\n" in told
    assert b"Anna says: goodbye\r\n" in told


async def test_connection_lost_with_queued_telnet_delays_nobody(serving: Serving) -> None:
    setup = await serving()
    bob = await setup.connect("Bob")
    for name in ("Anna", "Cara", "Dora"):
        client = await setup.connect(name)
        await client.send(NOP * 2000)
        client.cut()
        await client.close()
        await bob.until(f"{name} is lost.".encode())
    assert await well(bob)


# The queue by itself


class Backlog:
    """A connection with bytes to interpret; records how many it handled in each turn."""

    def __init__(self, size: int, turns: list[list[str]], name: str) -> None:
        self.size, self.turns, self.name = size, turns, name
        self.aborted = False

    @property
    def is_behind(self) -> bool:
        return self.size > 0

    def interpret(self, most: int) -> int:
        done = min(most, self.size)
        self.size -= done
        self.turns[-1] += [self.name] * done
        return done

    def abort(self) -> None:
        self.aborted = True


class Broken(Backlog):
    def interpret(self, most: int) -> int:
        raise ValueError(most)


async def test_queue_limits_bytes_per_turn_and_rotates() -> None:
    turns: list[list[str]] = [[]]
    queue = TelnetQueue(per_turn=100)
    for name, size in (("a", 170), ("b", 90), ("c", 3)):
        queue.take(Backlog(size, turns, name))
    for _ in range(2):
        turns.append([])
        await asyncio.sleep(0)
    assert turns == [["a"] * 100, ["a"] * 64 + ["b"] * 36, ["c"] * 3 + ["a"] * 6 + ["b"] * 54]


async def test_queue_is_first_in_first_out() -> None:
    turns: list[list[str]] = [[]]
    queue = TelnetQueue(per_turn=10)
    queue.take(Backlog(20, turns, "a"))
    queue.take(Backlog(2, turns, "b"))
    turns.append([])
    await asyncio.sleep(0)
    queue.take(Backlog(2, turns, "c"))
    turns.append([])
    await asyncio.sleep(0)
    assert turns == [["a"] * 10, ["a"] * 10, ["b"] * 2 + ["c"] * 2]


async def test_exception_aborts_only_its_own_connection(
    caplog: pytest.LogCaptureFixture,
) -> None:
    turns: list[list[str]] = [[]]
    queue = TelnetQueue(per_turn=10)
    broken = [Broken(1, turns, "x") for _ in range(2)]
    for source in (broken[0], Backlog(15, turns, "a"), broken[1], Backlog(1, turns, "b")):
        queue.take(source)
    await asyncio.sleep(0)
    assert all(each.aborted for each in broken)
    assert turns == [["a"] * 15 + ["b"]]
    assert len(caplog.records) == 2
