"""Connection limits, alone and in a real server, and the limit of open files."""

from __future__ import annotations

import asyncio
import os
import resource
from collections import Counter
from itertools import cycle

import pytest

from tests.server.plain import Serving
from thudmud.accounts.limiters import network
from thudmud.server import acceptor
from thudmud.server.acceptor import ConnectionCapacity, ConnectionLimiter, Rejection
from thudmud.server.config import ServerSettings

HERE = "127.0.0.1"


def limiter(**changed: int) -> ConnectionLimiter:
    settings = ServerSettings.model_validate({"connections_reserved": 0} | changed)
    return ConnectionLimiter(settings, ConnectionCapacity(settings.connections))


def test_limiter_caps_total_connections() -> None:
    limited = limiter(connections=3, connections_reserved=1)
    assert limited.acquire("192.0.2.1", 0.0) is None
    assert limited.acquire("192.0.2.2", 0.0) is None
    assert limited.acquire("192.0.2.3", 0.0) is Rejection.FULL
    assert limited.acquire(HERE, 0.0) is None
    assert limited.acquire("::1", 0.0) is Rejection.FULL
    limited.release("192.0.2.1")
    assert limited.acquire("192.0.2.3", 0.0) is Rejection.FULL
    assert limited.acquire("::ffff:127.0.0.2", 0.0) is None
    limited.release(HERE)
    limited.release("192.0.2.2")
    assert limited.acquire("192.0.2.3", 0.0) is None


@pytest.mark.parametrize(
    ("twins", "other"),
    [
        (["192.0.2.1", "192.0.2.1", "::ffff:192.0.2.1"], "192.0.2.2"),
        (["2001:db8::1", "2001:db8::2", "2001:db8::3:4:5:6"], "2001:db8:0:1::1"),
        (["fe80::1%eth0", "fe80::2%eth0", "fe80::3"], "fe81::1"),
        (["127.0.0.1"] * 3, "127.0.0.2"),
        (["a socket"] * 3, "another"),
    ],
)
def test_limiter_caps_connections_per_address(twins: list[str], other: str) -> None:
    limited = limiter(connections_per_address=2)
    assert [limited.acquire(each, 0.0) for each in twins] == [None, None, Rejection.CROWDED]
    assert limited.acquire(other, 0.0) is None
    limited.release(twins[2])
    assert limited.acquire(twins[0], 0.0) is None


def test_limiter_caps_accepts_per_second() -> None:
    limited = limiter(accepts_per_second=4, accepts_at_once=40)
    came = [limited.acquire(f"192.0.{number}.1", 0.0) for number in range(37)]
    assert came == [None] * 36 + [Rejection.HASTY]
    assert [limited.acquire(HERE, 0.0) for _ in range(3)] == [None, None, Rejection.HASTY]
    assert limited.acquire("192.0.99.1", 0.5) is Rejection.HASTY
    assert limited.acquire("192.0.99.1", 0.75) is None


def hang_up_at_once(limited: ConnectionLimiter, address: str, now: float) -> bool:
    """Connect from an address and close immediately; return whether it was accepted."""
    if limited.acquire(address, now):
        return False
    limited.release(address)
    return True


ATTACKERS = {
    "4 of a network": [f"198.51.100.{each}" for each in range(4)],
    "16 of a network": [f"198.51.100.{each}" for each in range(16)],
    "64 of a network": [f"198.51.100.{each}" for each in range(64)],
    "64 of 64 networks": [f"198.51.{each}.1" for each in range(64)],
    "64 networks of a customer": [f"2001:db8:0:{each:x}::1" for each in range(64)],
    "all of loopback": [f"127.{n % 250}.{n // 250}.1" for n in range(50_000)],
}


@pytest.mark.parametrize("attackers", ATTACKERS.values(), ids=ATTACKERS)
def test_reconnect_flood_admits_newcomers_and_returning_players(
    attackers: list[str],
) -> None:
    limited = limiter()
    turns = cycle(attackers)
    came, returned = list[bool](), list[bool]()
    for tick in range(24 * 50):
        now = tick / 50
        for _ in range(10):  # 500 a second
            hang_up_at_once(limited, next(turns), now)
        if now >= 10 and tick % 12 == 0:
            came.append(hang_up_at_once(limited, f"172.16.{tick // 12}.1", now))
        if now >= 10 and tick % 50 == 0:
            returned.append(hang_up_at_once(limited, f"203.0.113.{tick // 50 % 7}", now))
    assert sum(came) >= 0.95 * len(came)
    assert sum(returned) >= 0.9 * len(returned)


def test_reconnect_flood_of_a_thousand_networks_admits_newcomers() -> None:
    limited = limiter()
    turns = cycle([f"10.{each // 250}.{each % 250}.1" for each in range(1000)])
    came = list[bool]()
    for tick in range(24 * 50):
        for _ in range(10):
            hang_up_at_once(limited, next(turns), tick / 50)
        if tick >= 10 * 50 and tick % 12 == 0:  # all of the thousand have been accepted by then
            came.append(hang_up_at_once(limited, f"172.16.{tick // 12}.1", tick / 50))
    assert sum(came) >= 0.95 * len(came)


def test_newcomers_of_a_flooding_network_precede_the_flooders() -> None:
    limited = limiter()
    came = list[bool]()
    for tick in range(30 * 50):
        for each in range(4):
            hang_up_at_once(limited, f"198.51.100.{each}", tick / 50)
        if tick >= 10 * 50 and tick % 12 == 0:
            came.append(hang_up_at_once(limited, f"198.51.100.{100 + tick // 12}", tick / 50))
    assert sum(came) >= 0.95 * len(came)


def test_accepts_are_shared_fairly_between_unequal_floods() -> None:
    limited = limiter()
    accepted = Counter[str]()
    for tick in range(60 * 100):
        for number in range(9):
            address = "192.0.2.1" if number == 0 else f"198.51.100.{number}"
            accepted[address] += hang_up_at_once(limited, address, tick / 100)
    assert accepted["192.0.2.1"] > accepted.total() / 9


def test_rejected_connections_are_not_remembered() -> None:
    limited = limiter(accepts_per_second=1, accepts_at_once=40)
    accepted = sum(hang_up_at_once(limited, f"10.0.{each}.1", 0.0) for each in range(200))
    assert accepted == 36
    assert [len(each) for each in limited.recent] == [36, 36]


def test_single_address_cannot_exhaust_the_accept_rate() -> None:
    limited = limiter(accepts_per_second=4, accepts_at_once=20)
    for second in range(30):
        came = [limited.acquire("192.0.2.1", float(second)) for _ in range(100)]
        assert came.count(None) == (5 if second == 0 else 1)
        assert limited.acquire("192.0.2.2", float(second)) is None
        for _ in range(came.count(None)):
            limited.release("192.0.2.1")
        limited.release("192.0.2.2")


async def test_per_address_cap_applies_to_ipv6(serving: Serving) -> None:
    setup = await serving(host="::1", connections_per_address=2)
    await setup.connect("Anna")
    bert = await setup.connect("Bert")
    third = await setup.connect()
    assert await third.rest() == Rejection.CROWDED.value.encode() + b"\r\n"
    await bert.close()
    async with asyncio.timeout(20):
        while "Bert" in setup.service.widths:  # noqa: ASYNC110  (no event to wait for)
            await asyncio.sleep(0)
    await setup.connect("Cara")


async def test_ipv6_network_counts_as_one_address(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = list[str]()

    def counted(address: str) -> str:
        seen.append(address)
        return network(f"2001:db8::{len(seen)}")  # another address in the same /64

    monkeypatch.setattr(acceptor, "network", counted)
    setup = await serving(host="::1", connections_per_address=2)
    for _ in range(2):
        await (await setup.connect()).until(b"name? ")
    assert await (await setup.connect()).rest() == Rejection.CROWDED.value.encode() + b"\r\n"
    assert set(seen) == {"::1"}


async def test_excess_connection_is_told_the_reason_and_closed(serving: Serving) -> None:
    setup = await serving(connections_per_address=2)
    bob = await setup.connect("Bob")
    await setup.connect()
    for late_words in (b"", b"\xff\xfb\x1fAnna\r\n" * 1000):
        third = await setup.connect()
        await third.send(late_words)
        assert await third.rest() == Rejection.CROWDED.value.encode() + b"\r\n"
    await bob.send(b"look\r\n")
    await bob.until(b"echo look")
    await bob.close()
    async with asyncio.timeout(20):
        while "Bob" in setup.service.widths:  # noqa: ASYNC110  (no event to wait for)
            await asyncio.sleep(0)
    await setup.connect("Cara")


async def test_last_slots_are_reserved_for_local_connections(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acceptor, "is_local", lambda _: False)
    setup = await serving(connections=3, connections_reserved=2)
    await setup.connect("Bob")
    assert b"The server is full." in await (await setup.connect()).rest()
    monkeypatch.undo()
    await setup.connect("Anna")
    await setup.connect("Cara")
    assert b"The server is full." in await (await setup.connect()).rest()


async def test_connection_flood_is_turned_away(serving: Serving) -> None:
    setup = await serving(accepts_per_second=1, accepts_at_once=40)
    bob = await setup.connect("Bob")
    clients = await asyncio.gather(*(setup.connect() for _ in range(200)))
    told = await asyncio.gather(*(client.until(b"\n") for client in clients))
    refused = [words for words in told if b"Too many connections" in words]
    assert 180 <= len(refused) <= 191
    await bob.send(b"look\r\n")
    await bob.until(b"echo look")


async def test_rejected_client_that_lingers_is_cut_off(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acceptor, "REJECTION_GRACE", 0.1)
    monkeypatch.setattr(acceptor, "MAX_CLOSING", 1)
    setup = await serving(connections=1, connections_reserved=0)
    await setup.connect()
    slow, other = await setup.connect(), await setup.connect()
    for client in (slow, other):
        await client.until(b"full. Please try again in a while.\r\n")
    async with asyncio.timeout(20):
        while not slow.writer.transport.is_closing():
            slow.writer.write(b"x")
            await asyncio.sleep(0)


# Open files


@pytest.mark.parametrize(
    ("now", "granted", "connections"),
    [
        ((100, 5000), 400 + 150 + 24, 400),
        ((100, resource.RLIM_INFINITY), 400 + 150 + 24, 400),
        ((100, 300), 300, (300 - 24) // 2),
        ((100, 100), 100, (100 - 24) // 2),
        ((20, 20), 20, 1),
        ((5000, 5000), None, 400),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), None, 400),
    ],
)
def test_open_file_limit_is_raised_as_needed(
    now: tuple[int, int],
    granted: int | None,
    connections: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    set_to: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: now)
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: set_to.append(limits))
    monkeypatch.setattr(os, "listdir", lambda _: [])
    room = acceptor.reserve_file_descriptors(400, programs=0)
    assert set_to == ([] if granted is None else [(granted, now[1])])
    assert room.connections == connections
    assert room.is_short == (connections < 400) == bool(caplog.records)


def test_bot_programs_reduce_connection_capacity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (200, 200))
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
    assert (
        acceptor.reserve_file_descriptors(400, 10).connections
        < acceptor.reserve_file_descriptors(400, 0).connections
    )


def test_refused_open_file_limit_is_logged_and_reduces_capacity(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_number: int, _limits: tuple[int, int]) -> None:
        raise ValueError

    monkeypatch.setattr(resource, "getrlimit", lambda _: (100, 5000))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert acceptor.reserve_file_descriptors(400, programs=0).connections < 50
    [record] = caplog.records
    assert record.__dict__["allowed"] == 100
