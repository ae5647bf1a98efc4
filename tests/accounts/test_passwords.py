from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Literal

import pytest
from argon2 import PasswordHasher

from thudmud.accounts.passwords import Passwords, password_problem

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture
def passwords() -> Iterator[Passwords]:
    passwords = Passwords(CHEAP)
    yield passwords
    passwords.close()


@pytest.mark.parametrize(
    "password", ["12345678", "x" * 128, "blank blank", "🦊" * 8, "👩‍👩‍👧 family", "e\u0301" * 128]
)
async def test_valid_password_is_accepted_and_verified(passwords: Passwords, password: str) -> None:
    assert password_problem(password, "Anna") is None
    stored = await passwords.hash_password(password)
    assert stored.startswith("$argon2id$")
    assert await passwords.is_correct(password, stored)
    assert not await passwords.is_correct(password[:-1], stored)


@pytest.mark.parametrize(
    ("password", "problem"),
    [
        ("", "at least 8"),
        ("1234567", "at least 8"),
        ("e\u0301" * 7, "at least 8"),  # counted as é
        ("x" * 129, "at most 128"),
        ("x" * 10_000, "at most 128"),
        ("Bartholomew ", "Your name"),
    ],
)
def test_invalid_password_is_refused_with_the_reason(password: str, problem: str) -> None:
    assert problem in str(password_problem(password, "bartholomeW"))


async def test_password_is_normalized_before_hashing(passwords: Passwords) -> None:
    stored = await passwords.hash_password("caf\u00e9 noir")
    assert await passwords.is_correct("cafe\u0301 noir", stored)
    assert not await passwords.is_correct("cafe noir", stored)


async def test_malformed_hash_matches_no_password(passwords: Passwords) -> None:
    for stored in ("", "$argon2id$", "password"):
        assert not await passwords.is_correct("password", stored)
    assert not await passwords.is_correct(
        "x" * 10_000_000, await passwords.hash_password("password")
    )


async def test_hash_with_other_parameters_is_outdated(passwords: Passwords) -> None:
    stored = await passwords.hash_password("password")
    assert not passwords.is_outdated(stored)
    others = Passwords(PasswordHasher(time_cost=2, memory_cost=8, parallelism=1))
    assert others.is_outdated(stored)
    assert await others.is_correct("password", stored)
    others.close()


async def test_default_hash_parameters_are_costly() -> None:
    passwords = Passwords()
    assert "$m=65536,t=3,p=1$" in await passwords.hash_password("password")
    passwords.close()


class Slow(PasswordHasher):
    """Counts concurrent hashes; each blocks until a second one is running."""

    def __init__(self) -> None:
        super().__init__()
        self.at_once = 0
        self.most = 0
        self.meeting = threading.Barrier(2)

    def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        self.meeting.wait(20)
        self.at_once -= 1
        return "hash"


class Stopped(PasswordHasher):
    """Blocks each verification until ``may`` is released, and records their order."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[object] = []
        self.may = threading.Semaphore(0)

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:  # noqa: A002  (argon2's name)
        self.asked.append(password)
        self.may.acquire(timeout=20)
        return True


async def test_priority_checks_overtake_the_others() -> None:
    stopped = Stopped()
    passwords = Passwords(stopped)

    def fits(password: str, *, first: bool) -> asyncio.Task[bool]:
        return asyncio.create_task(passwords.is_correct(password, "hash", first=first))

    others = [fits("other", first=False) for _ in range(20)]
    while len(stopped.asked) < 2:  # noqa: ASYNC110  (polls a thread)
        await asyncio.sleep(0)
    gone = [fits("gone", first=True) for _ in range(5)]
    mine = [fits("mine", first=True) for _ in range(5)]
    await asyncio.sleep(0)
    for task in (*gone, others[0]):  # the last one is already being verified
        task.cancel()
    for asked in range(3, 28):  # one at a time, since two threads would record in any order
        stopped.may.release()
        while len(stopped.asked) < min(asked, 25):  # noqa: ASYNC110
            await asyncio.sleep(0)
    assert all(await asyncio.gather(*mine))
    assert all(await asyncio.gather(*others[1:]))
    assert stopped.asked == [*[b"other"] * 2, *[b"mine"] * 5, *[b"other"] * 18]
    passwords.close()


async def test_hashing_runs_two_at_a_time_off_the_event_loop() -> None:
    slow = Slow()
    passwords = Passwords(slow)
    assert (
        await asyncio.gather(*(passwords.hash_password("password") for _ in range(6)))
        == ["hash"] * 6
    )
    assert slow.most == 2
    passwords.close()
