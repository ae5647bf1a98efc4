"""Sessions over dropped links: exactly-once events and requests."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.gateway.client import SECRET, Client, Heard, opened
from tests.gateway.conftest import Connect
from thudmud.gateway.gateway import Gateway
from thudmud.gateway.session import GatewayPolicy

LINES = [
    ("Anna", "join game as dwarf"),
    ("Bert", "join game as troll"),
    ("Anna", "start"),
    ("Anna", "move from f1 to f6"),
    ("Bert", "move from a1 to a2"),
    ("Bert", "move from g7 to f7 capturing f6"),
    ("Anna", "say Ouch!"),
    ("Anna", "hurl from a6 to b6"),
    ("Bert", "undo"),
    ("Anna", "undo"),
    ("Anna", "quit"),
]


def requests() -> list[bytes]:
    """Return the request lines of a game at two boards, mistakes included."""
    asked: list[dict[str, object]] = []
    for board in ("oak", "elm"):
        asked += [{"type": "open", "board": board, "name": "oak board", "style": "brief"}]
        for player in ("Anna", "Bert"):
            asked += [{"type": "enter", "board": board, "player": player, "data": board == "elm"}]
    for player, line in LINES:
        for board in ("oak", "elm"):
            asked += [{"type": "line", "board": board, "player": player, "line": line}]
    asked += [{"type": "line", "board": "ash", "player": "Anna"}, {"type": "close", "board": "oak"}]
    return [json.dumps({"id": n, **each}).encode() + b"\n" for n, each in enumerate(asked, 1)]


REQUESTS = requests()


@dataclass(frozen=True)
class Cut:
    """A link that drops.

    Attributes:
        up: bytes of the client's requests that still reach the gateway.
        down: bytes from the gateway that still reach the client, its welcome included.
        again: number of already received requests that are repeated.
        unnoticed: whether the gateway notices the drop only when the next link is opened.
    """

    up: int
    down: int
    again: int
    unnoticed: bool


class Robot:
    """A client that resumes after every drop, as docs/gateway.md prescribes."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self.token = ""
        self.told: list[Heard] = []
        self._links: list[Client] = []

    async def connect(self, cut: Cut | None = None) -> None:
        """Send the outstanding requests until the link drops or all are answered."""
        client = Client(self.gateway)
        self._links.append(client)
        more = {"session": self.token, "seen": len(self.told)} if self.token else {}
        client.say(type="hello", version=1, client="mud", secret=SECRET, **more)
        await self._quiet(client)
        if cut is None or b"\n" in client.wire.written[: cut.down]:
            welcome = json.loads(client.wire.written.split(b"\n")[0])
            assert welcome["type"] == "welcome"
            assert welcome["resumed"] is bool(self.token)
            self.token = welcome["session"]
            first = max(0, welcome["received"] - (cut.again if cut else 3))
            asked = b"".join(REQUESTS[first:])
            client.write(asked[: cut.up] if cut else asked)
            await self._quiet(client)
        if cut and not (cut.unnoticed and self.token):
            await client.cut()
        self._take(bytes(client.wire.written[: cut.down] if cut else client.wire.written))

    async def end(self) -> None:
        await self.gateway.close()
        for client in self._links:
            await client.end()

    def _take(self, heard: bytes) -> None:
        for line in heard.split(b"\n")[:-1]:
            told = json.loads(line)
            if told.get("seq", 0) > len(self.told):
                assert told["seq"] == len(self.told) + 1
                self.told.append(told)

    @staticmethod
    async def _quiet(client: Client) -> None:
        """Wait until the output stops growing; no task here waits for anything but its turn."""
        quiet, length = 0, 0
        while quiet < 20:
            await asyncio.sleep(0)
            quiet = quiet + 1 if len(client.wire.written) == length else 0
            length = len(client.wire.written)


async def outcome(cuts: list[Cut]) -> list[Heard]:
    robot = Robot(await opened())
    for cut in cuts:
        await robot.connect(cut)
    await robot.connect()
    await robot.end()
    return robot.told


CUTS = st.builds(
    Cut,
    up=st.integers(0, 3000),
    down=st.integers(0, 20_000) | st.integers(0, 2000),
    again=st.integers(0, 5),
    unnoticed=st.booleans(),
)


UNCUT: list[Heard] = []
"""Events received over a link that never drops; computed on first use."""


async def check(cuts: list[Cut]) -> None:
    if not UNCUT:
        UNCUT.extend(await outcome([]))
        numbers = [each["id"] for each in UNCUT if each["type"] == "answer"]
        assert numbers == list(range(1, len(REQUESTS) + 1))
    assert await outcome(cuts) == UNCUT


@examples(40)
@given(st.lists(CUTS, min_size=1, max_size=8))
async def test_dropped_links_deliver_every_event_exactly_once(cuts: list[Cut]) -> None:
    await check(cuts)


async def test_repeated_request_is_answered_but_not_executed_again(client: Client) -> None:
    await client.seat()
    line = {"type": "line", "id": 7, "board": "oak", "player": "Anna"}
    client.say(**line, line="move from f1 to f6")
    while (moved := await client.hear())["type"] != "answer":
        pass
    client.say(**line, line="move from g1 to g6", seen=moved["seq"])
    assert await client.hear() == moved
    assert (await client.answer_as(8, "show", board="oak"))["version"] == 4


async def test_forgotten_repeated_request_is_refused(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thudmud.gateway.session.REMEMBERED", 3)
    for _ in range(5):
        last = await client.answer("open", board="oak")
    client.say(type="close", id=1, board="oak", seen=last["seq"])
    heard = await client.hear()
    assert (heard["type"], heard["code"], heard["id"]) == ("error", "repeated", 1)
    assert (await client.answer("show", board="oak"))["ok"]


@pytest.mark.parametrize("seen", [0, 4, 99])
async def test_resumption_with_an_impossible_position_is_refused(
    client: Client, connect: Connect, seen: int
) -> None:
    for _ in range(3):
        last = await client.answer("open", board="oak")
    client.say(type="ack", seen=last["seq"] - 1)
    await client.cut()
    again = connect()
    assert (await again.greet(session="token-1", seen=seen))["code"] == "bad_seen"
    assert (await connect().greet(session="token-1", seen=2))["resumed"] is True


async def test_old_link_is_told_that_it_was_replaced(client: Client, connect: Connect) -> None:
    await client.answer("open", board="oak")
    again = connect()
    assert (await again.greet(session="token-1", seen=1))["received"] == 1
    assert [each["code"] for each in await client.end()] == ["replaced"]
    assert (await again.answer_as(2, "show", board="oak"))["ok"]


async def test_session_is_not_resumed_without_its_token(client: Client, connect: Connect) -> None:
    """The MUD has crashed and lost its token."""
    await client.seat()
    await client.cut()
    again = connect()
    welcome = await again.greet(session="guess")
    assert (welcome["resumed"], welcome["session"], welcome["received"]) == (False, "token-2", 0)
    assert (await again.answer("show", board="oak"))["code"] == "unknown_board"
    opened = await again.answer("open", board="oak", name="oak board")
    assert (opened["version"], opened["players"]) == (5, [])  # both players are away
    await again.answer("enter", board="oak", player="Anna")
    line = {"board": "oak", "player": "Anna", "line": "move from f1 to f6"}
    assert (await again.answer("line", **line))["version"] == 7


async def test_session_expires_after_the_grace_period() -> None:
    gateway = await opened(policy=GatewayPolicy(secret=SECRET, resume_grace=0))
    client = Client(gateway)
    await client.greet()
    await client.seat()
    await client.cut()
    other = Client(gateway)
    while (welcome := await other.greet(session="token-1"))["type"] == "error":
        other = Client(gateway)
    assert welcome["resumed"] is False
    assert (await other.answer("open", board="oak", name="oak board"))["version"] == 5
    await gateway.close()


async def test_request_started_before_a_drop_is_answered_after_it(
    client: Client, connect: Connect
) -> None:
    client.say(type="open", id=1, board="oak")
    await asyncio.sleep(0)
    await client.cut()
    again = connect()
    welcome = await again.greet(session="token-1")
    if welcome["received"] == 0:
        again.say(type="open", id=1, board="oak")
    assert (await again.hear())["id"] == 1
