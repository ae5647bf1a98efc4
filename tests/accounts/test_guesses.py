"""The throttle of guesses, without secrets: each guess is declared right or wrong."""

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
    """Guesses from several addresses, on a fake clock.

    Attributes:
        now: the time of the event loop; advanced only by ``pass_time``.
        looked: the address of each guess checked, in order.
        told: the messages about delays, in order.
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
        """Start a guess, and let its check begin unless it is delayed."""

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
        """Advance the clock, and let the guesses due by then proceed."""
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
async def test_right_guesses_never_count(people: Guessers, *, is_known: bool) -> None:
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
async def test_wrong_guesses_are_delayed_after_a_free_allowance(
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


async def test_delayed_guess_reports_its_waiting_time(people: Guessers) -> None:
    for address in (*[ABROAD] * FREE, THEIRS, "203.0.113.2"):
        await people.guess(address)
    assert people.told == []
    await people.pass_time(MOMENT)
    wrong = "There have been many wrong answers for that name from elsewhere."
    yours = "Yours will be checked in about"
    assert people.told == [f"{wrong} {yours} {seconds} seconds." for seconds in (29, 59)]
    await people.pass_time(2 * PASSWORD_INTERVAL)
    assert people.looked[FREE:] == [THEIRS, "203.0.113.2"]
    assert len(people.told) == 2


async def test_delay_by_own_wrong_guesses_blames_the_own_address(people: Guessers) -> None:
    for _ in range(FREE + 1):
        await people.guess(is_known=True)
    await people.pass_time(MOMENT)
    assert people.told == [
        "There have been many wrong answers from your address. Yours will be checked in about"
        " 4 seconds."
    ]


async def test_guess_from_a_crowded_known_address_beats_the_seat_grace(
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


async def test_guess_from_a_known_address_waits_for_no_strangers(people: Guessers) -> None:
    for number in range(5 * FREE):
        await people.guess(f"203.0.113.{number % 40}")
    for _ in range(5 * ADDRESS_FREE):
        await people.guess(HOME, f"Bob{len(people.looked)}")
    task = await people.guess(HOME, right=True, is_known=True)
    assert task.result()


async def test_wrong_guesses_at_known_names_count_against_other_names(people: Guessers) -> None:
    """An attacker's own accounts must not raise the limit for other people's."""
    for number in range(ADDRESS_FREE):
        await people.guess(name=f"Bob{number}", is_known=True)
    assert not (await people.guess()).done()


async def test_address_with_many_guesses_does_not_crowd_out_another(people: Guessers) -> None:
    for _ in range(24):
        await people.guess(THEIRS, secret=Secret.WORD)
    mine = await people.guess(ABROAD, secret=Secret.WORD, right=True)
    assert people.looked == [THEIRS] * FREE
    await people.pass_time(2 * WORD_INTERVAL)
    assert ABROAD in people.looked[FREE : FREE + 2]
    assert mine.result()


async def test_addresses_take_turns_at_a_name(people: Guessers) -> None:
    for _ in range(FREE):
        await people.guess("192.0.2.9", secret=Secret.WORD)
    addresses = [ABROAD, THEIRS, HOME]
    for address in addresses:
        for _ in range(3):
            await people.guess(address, secret=Secret.WORD)
    for _ in range(9):
        await people.pass_time(WORD_INTERVAL)
    assert people.looked[FREE:] == addresses * 3


async def test_address_that_tries_many_names_is_delayed(people: Guessers) -> None:
    for number in range(ADDRESS_FREE + 2):
        await people.guess(name=f"Anna{number}")
    assert len(people.looked) == ADDRESS_FREE
    await people.pass_time(MOMENT)
    told = "There have been many wrong answers from your address. Yours will be checked in about"
    assert people.told == [f"{told} {seconds} seconds." for seconds in (9, 19)]
    for more in (1, 2):
        await people.pass_time(ADDRESS_INTERVAL)
        assert len(people.looked) == ADDRESS_FREE + more
    assert (await people.guess(THEIRS, "Anna3", right=True)).result()


async def test_simultaneous_right_guesses_see_no_delay(people: Guessers) -> None:
    found = asyncio.Event()
    everybody = [
        await people.guess(name=f"Anna{number}", right=True, until=found) for number in range(100)
    ]
    await people.pass_time(5 * MOMENT)
    found.set()
    assert all(await asyncio.gather(*everybody))
    assert people.told == []


async def test_guesses_checked_at_once_are_limited_to_the_allowance(people: Guessers) -> None:
    found = asyncio.Event()
    for number in range(2 * FREE):
        await people.guess(f"203.0.113.{number}", until=found)
    assert len(people.looked) == FREE
    found.set()
    await people.pass_time(0)
    assert len(people.looked) == FREE


async def test_cancelled_guess_gives_up_its_place_in_the_queue(people: Guessers) -> None:
    for _ in range(FREE):
        await people.guess()
    waiting = [await people.guess(f"203.0.113.{number}") for number in range(20)]
    mine = await people.guess(HOME, right=True)
    for task in waiting:
        task.cancel()
    await people.pass_time(PASSWORD_INTERVAL)
    assert mine.result()
    assert people.looked == [*[ABROAD] * FREE, HOME]


async def test_guess_cancelled_during_its_check_still_counts(people: Guessers) -> None:
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


async def test_guess_whose_check_fails_does_not_count(people: Guessers) -> None:
    async def fail() -> bool:
        raise OSError("the disk is full")

    for _ in range(2 * FREE):
        with pytest.raises(OSError, match="full"):
            await people.throttle.is_right(
                Guess(Secret.PASSWORD, "Anna", ABROAD, is_known=False), fail, people.told.append
            )
    assert (await people.guess(right=True)).result()


@pytest.mark.parametrize("seed", range(20))
async def test_guesses_under_random_load_all_finish_within_the_budget(
    people: Guessers, seed: int
) -> None:
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
    budgets = 4 * (
        FREE + (people.now - began) / WORD_INTERVAL
    )  # of three addresses, and of strangers
    assert len(wrong) <= budgets
    await people.pass_time(ADDRESS_FREE * ADDRESS_INTERVAL)
    assert (await people.guess(right=True)).result()


async def test_wrong_guesses_survive_a_flood_of_other_names(
    people: Guessers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thudmud.accounts.limiters.MAX_KEYS", 20)
    for _ in range(FREE):
        await people.guess()
    for number in range(100):
        await people.guess(f"203.0.113.{number}", f"Bob{number}")
    assert len(people.looked) == FREE + 100
    assert not (await people.guess(HOME)).done()
