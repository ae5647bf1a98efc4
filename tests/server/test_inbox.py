"""Rate limits and queueing of client input."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import pytest
from websockets.frames import Opcode

from tests.server.plain import Client, Serving
from tests.telnet.commands import GMCP, framed
from tests.web.test_connection import frame, raw
from thudmud.accounts import login
from thudmud.accounts.limiters import TokenBucket
from thudmud.server.config import ServerSettings
from thudmud.server.inbox import ANSWER_PIECE, TURN_TIME, FairScheduler, Inbox
from thudmud.telnet.interface import Item, Watch
from thudmud.telnet.negotiation import Negotiation
from thudmud.web.sockets import WebClient


async def test_paste_within_the_burst_is_handled_without_delaying_others(serving: Serving) -> None:
    setup = await serving(commands_per_second=1, commands_at_once=130)
    anna, bob = await setup.connect("Anna"), await setup.connect("Bob")
    await anna.send("".join(f"line {number}\n" for number in range(200)).encode())
    await anna.until(b"echo line 120\r\n")
    await bob.send(b"look\n")
    await bob.until(b"echo look")
    assert "line 199" not in setup.service.typed


async def test_paste_beyond_the_burst_is_delayed_without_loss(serving: Serving) -> None:
    setup = await serving(commands_per_second=20, commands_at_once=30)
    anna = await setup.connect("Anna")
    lines = [f"line {number}" for number in range(60)]
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await anna.send("".join(f"{line}\n" for line in lines).encode())
    await anna.until(b"echo line 59\r\n> ")
    assert loop.time() - begun > (60 - 30 - 1) / 20
    assert [line for line in setup.service.typed if line in lines] == lines


@pytest.mark.parametrize("line", ["hard 150", "dear 150"])
async def test_slow_line_is_charged_for_its_time(serving: Serving, line: str) -> None:
    setup = await serving(commands_per_second=100, commands_at_once=5)
    anna = await setup.connect("Anna")
    await anna.fence()
    begun = asyncio.get_running_loop().time()
    await anna.send(f"{line}\nlook\n".encode())
    await anna.until(b"echo look")
    assert asyncio.get_running_loop().time() - begun > (1 + 149 + 1 - 5) / 100


def charges(monkeypatch: pytest.MonkeyPatch, method: str) -> list[float]:
    """Return a list that records the CPU seconds charged to inboxes by a method."""
    charged: list[float] = []
    monkeypatch.setattr(Inbox, method, lambda _, seconds: charged.append(seconds))
    return charged


async def test_line_delayed_by_the_machine_costs_no_extra(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    charged = charges(monkeypatch, "charge")
    setup = await serving()
    anna = await setup.connect("Anna")
    await anna.send(b"stall 100\nlook\n")
    await anna.until(b"echo look")
    assert max(charged) < 0.1


async def test_package_delayed_by_the_machine_costs_no_extra(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    charged = charges(monkeypatch, "charge_package")
    monkeypatch.setattr(Negotiation, "handle_subnegotiation", lambda *_: time.sleep(0.1))
    setup = await serving()
    anna = await setup.connect("Anna")
    await anna.send(framed(GMCP, b"Core.Ping"))
    await anna.fence()
    assert max(charged) < 0.1


async def test_name_prompt_line_delayed_by_the_machine_costs_no_extra(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    charged = charges(monkeypatch, "charge")
    monkeypatch.setattr(login, "parse_option", lambda _: time.sleep(0.1))
    setup = await serving()
    anna = await setup.connect()
    await anna.send(b"a name of four words\r\n")
    await anna.until(b"\n")
    await anna.fence()
    assert max(charged) < 0.1


class HeldReading:
    """A fake read pauser that records its holders."""

    def __init__(self) -> None:
        self.holders: set[object] = set()

    def hold(self, holder: object) -> None:
        self.holders.add(holder)

    def release(self, holder: object) -> None:
        self.holders.discard(holder)


def inbox_of(
    reading: HeldReading,
    settings: ServerSettings,
    package_time: TokenBucket,
    handle: Callable[[Item], bool] = lambda _: True,
    *,
    turns: FairScheduler | None = None,
    source: str = "192.0.2.1",
) -> Inbox:
    return Inbox(
        cast("Any", reading),
        turns or FairScheduler(),
        settings,
        package_time,
        source=source,
        handle=handle,
        is_busy=lambda: False,
    )


@pytest.mark.parametrize(("seconds", "owed"), [(0.05, 49), (0.1, 99), (0.2, 100), (60.0, 100)])
async def test_line_costs_at_most_ten_seconds_of_the_rate(
    monkeypatch: pytest.MonkeyPatch, seconds: float, owed: int
) -> None:
    loop, now = asyncio.get_running_loop(), 0.0
    settings = ServerSettings(commands_per_second=10, commands_at_once=5)
    inbox = inbox_of(HeldReading(), settings, TokenBucket(1, 1))
    monkeypatch.setattr(loop, "time", lambda: now)
    inbox.put(["look"])
    assert inbox.has_line_next
    inbox.charge(seconds)
    until = (owed + 1 - 5) / 10
    now = until - 0.1
    assert not inbox.has_line_next
    now = until + 0.1
    assert inbox.has_line_next


async def test_telnet_queries_count_against_the_rate(serving: Serving) -> None:
    setup = await serving(commands_per_second=10, commands_at_once=5)
    anna = await setup.connect("Anna")
    await anna.fence()
    begun = asyncio.get_running_loop().time()
    await anna.send(b"\xff\xf6" * 10)
    assert (await anna.fence()).count(b"thudmud is here") == 10
    assert asyncio.get_running_loop().time() - begun > (10 - 5 - 1) / 10


async def test_input_beyond_the_queue_is_not_read(serving: Serving) -> None:
    setup = await serving(commands_per_second=1, commands_at_once=5, queue_length=3)
    anna = await setup.connect("Anna")
    bob = await setup.connect("Bob")
    transport = anna.writer.transport
    anna.writer.write(b"x\n" * 10_000_000)
    while setup.service.typed.count("x") < 6:
        await bob.send(b"look\n")
        await bob.until(b"echo look")
    # The rest is still in the sender's buffer: only the socket buffers have been filled.
    assert transport.get_write_buffer_size() > 5_000_000


async def turns_taken(turns: FairScheduler, taken: list[str], count: int) -> list[str]:
    """Wait until `count` items have been handled; return them grouped by turn."""
    seen = [""]
    while len("".join(seen)) < count:
        await asyncio.sleep(0)
        seen.append("".join(taken))
        taken.clear()
    return [each for each in seen if each]


async def test_single_line_precedes_sources_with_several(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop, turns, taken = asyncio.get_running_loop(), FairScheduler(), list[str]()
    now = loop.time()
    monkeypatch.setattr(loop, "time", lambda: now)

    def take(name: str) -> None:
        nonlocal now
        taken.append(name)
        now += TURN_TIME / 4.5

    for name in "abcdefg":
        turns.schedule("", partial(take, name), again=True)
    turns.schedule("", partial(take, "X"))
    turns.schedule("", partial(take, "Y"))
    assert await turns_taken(turns, taken, 9) == ["XYabc", "defg"]
    # One source with a backlog is served per turn, however many single lines there are.
    for name in "abc":
        turns.schedule("", partial(take, name), again=True)
    for name in "TUVWXYZ":
        turns.schedule("", partial(take, name))
    assert await turns_taken(turns, taken, 10) == ["TUVWXa", "YZbc"]


@pytest.mark.parametrize("again", [False, True])
async def test_sources_take_turns_regardless_of_their_backlog(again: bool) -> None:  # noqa: FBT001
    turns, taken = FairScheduler(), list[str]()
    for name in ("a1", "a2", "a3", "b1", "b2", "c1", "victim"):
        turns.schedule(name[0], partial(taken.append, name), again=again)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert taken == ["a1", "b1", "c1", "victim", "a2", "b2", "a3"]


class Crowd:
    """Guests whose inboxes share a scheduler; a line takes half a millisecond.

    Attributes:
        handled: the source address of each line handled.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **limits: int) -> None:
        self.loop, self.turns = asyncio.get_running_loop(), FairScheduler()
        self.now, self.handled = self.loop.time(), list[str]()
        self._settings = ServerSettings.model_validate(limits)
        monkeypatch.setattr(self.loop, "time", lambda: self.now)

    def inbox(self, address: str) -> Inbox:
        def handle(_: Item) -> bool:
            self.handled.append(address)
            self.now += 0.0005
            return True

        bucket = TokenBucket(200, 500)
        return inbox_of(
            HeldReading(), self._settings, bucket, handle, turns=self.turns, source=address
        )

    async def others_before(self, victim: Inbox) -> Counter[str]:
        """Send a line as the victim; count the lines of each address handled before it."""
        self.handled.clear()
        victim.put(["look"])
        while "victim" not in self.handled:  # noqa: ASYNC110  (some turns of the loop)
            await asyncio.sleep(0)
        return Counter(self.handled[: self.handled.index("victim")])


ADDRESSES = [f"198.51.100.{each}" for each in (11, 12, 13, 14)]


async def test_line_waits_for_at_most_one_of_each_other_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crowd = Crowd(monkeypatch)
    guests = [crowd.inbox(ADDRESSES[number % 4]) for number in range(112)]
    victim = crowd.inbox("victim")
    for _ in range(10):
        for guest in guests:
            guest.put(["who"])
        waited_for = await crowd.others_before(victim)
        # In addition, one source with a backlog is served in each turn, for a millisecond.
        assert waited_for.total() <= len(ADDRESSES) + 3


async def test_line_precedes_sources_that_send_several_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crowd = Crowd(monkeypatch)
    for number in range(112):
        crowd.inbox(ADDRESSES[number % 4]).put(["who"] * 10)
    assert (await crowd.others_before(crowd.inbox("victim"))).total() == 0


async def test_line_precedes_throttled_sources(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crowd = Crowd(monkeypatch, commands_per_second=1, commands_at_once=1)
    guests = [crowd.inbox(ADDRESSES[number % 4]) for number in range(112)]
    victim = crowd.inbox("victim")
    for guest in guests:
        guest.put(["who"] * 30)
    for expected in range(len(guests), 5 * len(guests), len(guests)):
        while crowd.turns.throttled < expected:  # noqa: ASYNC110  (no event to wait for)
            await asyncio.sleep(0)
        crowd.now += 1.0
        await asyncio.sleep(0)  # the delays end: the guests queue for a turn again
        assert (await crowd.others_before(victim)).total() <= 1


async def test_exception_in_a_turn_does_not_delay_others() -> None:
    loop, turns, taken = asyncio.get_running_loop(), FairScheduler(), list[str]()
    failed: list[object] = []
    loop.set_exception_handler(lambda _loop, context: failed.append(context["exception"]))
    error = ValueError("ours")

    def fail() -> None:
        raise error

    turns.schedule("", fail)
    turns.schedule("", partial(taken.append, "a"))
    assert await turns_taken(turns, taken, 1) == ["a"]
    assert failed == [error]


async def test_packages_from_one_address_share_its_time_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop, now = asyncio.get_running_loop(), 0.0
    monkeypatch.setattr(loop, "time", lambda: now)
    shared, of_others = TokenBucket(200, 500), TokenBucket(200, 500)
    readings = [HeldReading() for _ in range(3)]
    one, another, stranger = (
        inbox_of(reading, ServerSettings(), bucket)
        for reading, bucket in zip(readings, (shared, shared, of_others), strict=True)
    )
    for _ in range(600):
        one.charge_package(0.0009)
    for each in (another, stranger):
        each.charge_package(0.0001)
    assert [bool(reading.holders) for reading in readings] == [True, True, False]
    while readings[0].holders or readings[1].holders:
        now += 0.01
        await asyncio.sleep(0)
    stranger.charge_answer(10_000 * ANSWER_PIECE)
    stranger.charge_package(0.0)
    assert readings[2].holders


async def test_query_waits_for_the_time_budget_of_its_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop, now = asyncio.get_running_loop(), 0.0
    monkeypatch.setattr(loop, "time", lambda: now)
    answered: list[object] = []
    inbox: Inbox

    def answer(item: object) -> bool:
        answered.append(item)
        if isinstance(item, Watch):
            inbox.charge_answer(300 * ANSWER_PIECE)
        return True

    inbox = inbox_of(HeldReading(), ServerSettings(), TokenBucket(200, 500), answer)
    inbox.put([Watch(battle=1), Watch(battle=2), Watch(battle=3), "look"])
    for _ in range(9):
        await asyncio.sleep(0)
    assert answered == [Watch(battle=1), Watch(battle=2)]
    while len(answered) < 4:
        now += 0.01
        await asyncio.sleep(0)
    assert now > 0.5  # 100 tokens, at 200 a second


class SlowWork:
    """Work that uses 0.1 seconds of CPU time while the loop's clock stands still.

    Attributes:
        count: the number of completed runs.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        loop = asyncio.get_running_loop()
        self._now, self.count = loop.time(), 0
        monkeypatch.setattr(loop, "time", lambda: self._now)

    def do(self, *_: object) -> None:
        self.count += 1
        done = time.thread_time() + 0.1
        while time.thread_time() < done:
            pass

    async def assert_next_waits_for_payment(self, bob: Client) -> None:
        """Assert that the second run waits until time passes, while Bob is answered."""
        while not self.count:
            await bob.fence()
        for _ in range(3):
            await bob.fence()
        assert self.count == 1
        while self.count < 2:
            self._now += 60  # in each round, since Bob's input is charged as well
            await bob.fence()


@pytest.mark.parametrize("port", ["telnet", "web"])
async def test_slow_package_is_paid_for_before_the_next_is_read(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, port: str
) -> None:
    setup = await serving(commands_per_second=100, commands_at_once=20, web={"port": 0})
    bob = await setup.connect("Bob")
    if port == "telnet":
        anna, package = await setup.connect("Anna"), framed(GMCP, b"Core.Ping")
    else:
        anna, package = await raw(setup), frame(Opcode.TEXT, b"Core.Ping")
    work = SlowWork(monkeypatch)
    monkeypatch.setattr(Negotiation, "handle_subnegotiation", work.do)
    monkeypatch.setattr(WebClient, "receive_package", work.do)
    await anna.send(package)
    while not work.count:
        await bob.fence()
    await anna.send(package)
    await work.assert_next_waits_for_payment(bob)


async def test_slow_line_at_the_name_prompt_is_paid_for_before_the_next(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = await serving(commands_per_second=100, commands_at_once=20)
    bob, work = await setup.connect("Bob"), SlowWork(monkeypatch)
    anna = await setup.connect()
    monkeypatch.setattr(login, "parse_option", work.do)
    await anna.send(b"a name of four words\r\n" * 2)
    await work.assert_next_waits_for_payment(bob)
