"""The turns of guesses, without secrets: each is known to be right or wrong."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator

import pytest

from thudmud.accounts.guesses import (
    ADDRESS_FREE,
    ADDRESS_INTERVAL,
    FREE,
    KNOWN_SHARE,
    MOMENT,
    PASSWORD_INTERVAL,
    WORD_INTERVAL,
    Guess,
    GuessThrottle,
    Secret,
)
from thudmud.server.config import GameSettings

HOME, ABROAD, THEIRS = "192.0.2.1", "198.51.100.1", "203.0.113.1"


class Guessers:
    """People who guess, and what became of it.

    Attributes:
        now: the time of the loop, which stands still unless it is told to pass.
        looked: the addresses of those whose turn has come, in order.
        told: what each of them was told, in order.
    """

    def __init__(self) -> None:
        self.now = asyncio.get_running_loop().time()
        self.throttle = GuessThrottle()
        self.looked: list[str] = []
        self.told: list[str] = []
        self._tasks: list[asyncio.Task[bool]] = []

    async def guess(
        self,
        address: str = ABROAD,
        name: str = "Anna",
        *,
        right: bool = False,
        is_known: bool = False,
        secret: Secret = Secret.PASSWORD,
        until: asyncio.Event | None = None,
    ) -> asyncio.Task[bool]:
        """Begin a guess, and give it time to be looked at if it may be at once."""

        async def look() -> bool:
            self.looked.append(address)
            if until:
                await until.wait()
            return right

        guess = Guess(secret, name, address, is_known)
        task = asyncio.create_task(self.throttle.is_right(guess, look, self.told.append))
        self._tasks.append(task)
        await self.pass_time(0)
        return task

    async def pass_time(self, seconds: float) -> None:
        """Let time pass, and those have their turn whose turn it is then."""
        self.now += seconds
        for _ in range(30):
            await asyncio.sleep(0)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@pytest.fixture
async def people(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Guessers]:
    people = Guessers()
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: people.now)
    yield people
    await people.close()


@pytest.mark.parametrize("is_known", [False, True])
async def test_right_ones_never_count(people: Guessers, *, is_known: bool) -> None:
    for _ in range(5 * ADDRESS_FREE):
        task = await people.guess(right=True, is_known=is_known)
        assert task.result()
    assert len([await people.guess(is_known=is_known) for _ in range(FREE)]) == FREE
    assert len(people.looked) == 5 * ADDRESS_FREE + FREE


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize(
    ("secret", "interval"),
    [(Secret.PASSWORD, PASSWORD_INTERVAL), (Secret.WORD, WORD_INTERVAL)],
)
async def test_some_wrong_ones_cost_nothing_then_each_waits(
    people: Guessers, secret: Secret, interval: float, *, is_known: bool
) -> None:
    for _ in range(FREE):
        await people.guess(secret=secret, is_known=is_known)
    assert len(people.looked) == FREE
    for extra in range(1, 4):
        task = await people.guess(secret=secret, is_known=is_known)
        assert not task.done()
        await people.pass_time(interval / KNOWN_SHARE if is_known else interval)
        assert len(people.looked) == FREE + extra
        assert task.result() is False


async def test_who_waits_is_told_how_long(people: Guessers) -> None:
    for address in (*[ABROAD] * FREE, THEIRS, "203.0.113.2"):
        await people.guess(address)
    assert people.told == []
    await people.pass_time(MOMENT)
    wrong = "Many wrong answers for that name have come from elsewhere."
    yours = "Your answer is looked at in about"
    assert people.told == [f"{wrong} {yours} {seconds} seconds." for seconds in (29, 59)]
    await people.pass_time(2 * PASSWORD_INTERVAL)
    assert people.looked[FREE:] == [THEIRS, "203.0.113.2"]
    assert len(people.told) == 2


async def test_who_was_wrong_themselves_is_told_of_nobody_else(people: Guessers) -> None:
    for _ in range(FREE + 1):
        await people.guess(is_known=True)
    await people.pass_time(MOMENT)
    assert people.told == [
        "Many wrong answers have come from your address. Your answer is looked at in about 4"
        " seconds."
    ]


async def test_a_crowd_at_a_known_address_keeps_nobody_out_for_as_long_as_a_seat_is_kept(
    people: Guessers,
) -> None:
    for _ in range(FREE + 30):
        await people.guess(is_known=True)
    task = await people.guess(right=True, is_known=True)
    began = people.now
    while not task.done():
        await people.pass_time(PASSWORD_INTERVAL / KNOWN_SHARE)
    assert task.result()
    assert people.now - began < GameSettings().seat_grace


async def test_where_a_name_has_come_from_nobody_waits_for_others(people: Guessers) -> None:
    for number in range(5 * FREE):
        await people.guess(f"203.0.113.{number % 40}")
    for _ in range(5 * ADDRESS_FREE):
        await people.guess(HOME, f"Bob{len(people.looked)}")
    task = await people.guess(HOME, right=True, is_known=True)
    assert task.result()


async def test_where_a_name_has_come_from_others_names_count(people: Guessers) -> None:
    """Whoever has an account of their own does not walk through those of others with it."""
    for number in range(ADDRESS_FREE):
        await people.guess(name=f"Bob{number}", is_known=True)
    assert not (await people.guess()).done()


async def test_each_address_has_one_guess_in_the_line_of_a_name(people: Guessers) -> None:
    for _ in range(24):
        await people.guess(THEIRS, secret=Secret.WORD)
    mine = await people.guess(ABROAD, secret=Secret.WORD, right=True)
    assert people.looked == [THEIRS] * FREE
    await people.pass_time(2 * WORD_INTERVAL)
    assert ABROAD in people.looked[FREE : FREE + 2]
    assert mine.result()


async def test_addresses_take_turns(people: Guessers) -> None:
    for _ in range(FREE):
        await people.guess("192.0.2.9", secret=Secret.WORD)
    addresses = [ABROAD, THEIRS, HOME]
    for address in addresses:
        for _ in range(3):
            await people.guess(address, secret=Secret.WORD)
    for _ in range(9):
        await people.pass_time(WORD_INTERVAL)
    assert people.looked[FREE:] == addresses * 3


async def test_one_address_does_not_walk_through_names(people: Guessers) -> None:
    for number in range(ADDRESS_FREE + 2):
        await people.guess(name=f"Anna{number}")
    assert len(people.looked) == ADDRESS_FREE
    await people.pass_time(MOMENT)
    told = "Many wrong answers have come from your address. Your answer is looked at in about"
    assert people.told == [f"{told} {seconds} seconds." for seconds in (9, 19)]
    for more in (1, 2):
        await people.pass_time(ADDRESS_INTERVAL)
        assert len(people.looked) == ADDRESS_FREE + more
    assert (await people.guess(THEIRS, "Anna3", right=True)).result()


async def test_many_who_are_right_at_once_are_told_nothing(people: Guessers) -> None:
    found = asyncio.Event()
    everybody = [
        await people.guess(name=f"Anna{number}", right=True, until=found) for number in range(100)
    ]
    await people.pass_time(5 * MOMENT)
    found.set()
    assert all(await asyncio.gather(*everybody))
    assert people.told == []


async def test_as_many_are_looked_at_at_once_as_may_be_wrong(people: Guessers) -> None:
    found = asyncio.Event()
    for number in range(2 * FREE):
        await people.guess(f"203.0.113.{number}", until=found)
    assert len(people.looked) == FREE
    found.set()
    await people.pass_time(0)
    assert len(people.looked) == FREE


async def test_who_goes_gives_the_place_up(people: Guessers) -> None:
    for _ in range(FREE):
        await people.guess()
    waiting = [await people.guess(f"203.0.113.{number}") for number in range(20)]
    mine = await people.guess(HOME, right=True)
    for task in waiting:
        task.cancel()
    await people.pass_time(PASSWORD_INTERVAL)
    assert mine.result()
    assert people.looked == [*[ABROAD] * FREE, HOME]


async def test_who_does_not_wait_for_the_answer_has_guessed_all_the_same(people: Guessers) -> None:
    for right, count in ((True, 3 * FREE), (False, FREE)):
        for _ in range(count):
            found = asyncio.Event()
            task = await people.guess(right=right, until=found)
            task.cancel()
            await people.pass_time(0)
            found.set()
            await people.pass_time(0)
            assert task.cancelled()
    assert len(people.looked) == 4 * FREE
    assert not (await people.guess()).done()


async def test_what_cannot_be_found_out_does_not_count(people: Guessers) -> None:
    async def fail() -> bool:
        raise OSError("the disk is full")

    for _ in range(2 * FREE):
        with pytest.raises(OSError, match="full"):
            await people.throttle.is_right(
                Guess(Secret.PASSWORD, "Anna", ABROAD, is_known=False), fail, people.told.append
            )
    assert (await people.guess(right=True)).result()


@pytest.mark.parametrize("seed", range(20))
async def test_whoever_comes_and_goes_all_have_their_turn(people: Guessers, seed: int) -> None:
    chance, began = random.Random(seed), people.now  # noqa: S311  (a test's)
    tasks = []
    for _ in range(150):
        match chance.randrange(4):
            case 0 | 1:
                address, is_known = chance.choice([ABROAD, THEIRS, HOME]), chance.random() < 0.2
                tasks.append(
                    await people.guess(
                        address, right=chance.random() < 0.3, is_known=is_known, secret=Secret.WORD
                    )
                )
            case 2 if tasks:
                for task in chance.sample(tasks, min(len(tasks), 3)):
                    task.cancel()
            case _:
                await people.pass_time(chance.choice([0, 0.3, WORD_INTERVAL, 3 * WORD_INTERVAL]))
    while not all(task.done() for task in tasks):
        before = sum(task.done() for task in tasks)
        await people.pass_time(ADDRESS_INTERVAL)
        assert sum(task.done() for task in tasks) > before
    wrong = [task for task in tasks if not task.cancelled() and not task.result()]
    budgets = 4 * (FREE + (people.now - began) / WORD_INTERVAL)  # three addresses', and strangers'
    assert len(wrong) <= budgets
    await people.pass_time(ADDRESS_FREE * ADDRESS_INTERVAL)
    assert (await people.guess(right=True)).result()


async def test_whoever_uses_many_names_is_not_forgiven(
    people: Guessers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thudmud.accounts.limiters.MAX_KEYS", 20)
    for _ in range(FREE):
        await people.guess()
    for number in range(100):
        await people.guess(f"203.0.113.{number}", f"Bob{number}")
    assert len(people.looked) == FREE + 100
    assert not (await people.guess(HOME)).done()
