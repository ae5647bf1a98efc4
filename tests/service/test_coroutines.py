"""Eager execution, metering and keyed locks of coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

import pytest

from thudmud.service.coroutines import KeyedLock, await_in_steps, metered_step, run_eagerly


async def nothing() -> str:
    return "done"


async def test_eager_coroutine_that_never_waits_returns_its_result() -> None:
    assert run_eagerly(nothing()) == "done"


async def test_eager_coroutine_that_waits_becomes_a_task() -> None:
    gate, begun = asyncio.Event(), []

    async def waits() -> str:
        begun.append(True)
        await gate.wait()
        return "done"

    task = run_eagerly(waits())
    assert begun
    assert isinstance(task, asyncio.Task)
    gate.set()
    assert await task == "done"


async def test_eager_task_wraps_a_real_coroutine() -> None:
    """Since Python 3.12, tasks accept no generators, decorated or not."""
    task = run_eagerly(asyncio.sleep(0))
    assert isinstance(task, asyncio.Task)
    assert isinstance(task.get_coro(), Coroutine)
    await task


async def test_eager_task_can_fail_and_be_cancelled() -> None:
    async def fails() -> None:
        await asyncio.sleep(0)
        raise ValueError("wrong")

    failing, cancelled = run_eagerly(fails()), run_eagerly(asyncio.Event().wait())
    assert isinstance(failing, asyncio.Task)
    assert isinstance(cancelled, asyncio.Task)
    with pytest.raises(ValueError, match="wrong"):
        await failing
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled


@pytest.mark.parametrize("turns", [0, 1])
async def test_eager_coroutine_receives_its_cancellation(turns: int) -> None:
    """Even when it is cancelled before the first step of its task."""
    told = []

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            told.append(True)
            raise

    task = run_eagerly(waits())
    assert isinstance(task, asyncio.Task)
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert told == [True]


class Clock:
    """A clock that the test advances."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


async def test_metered_time_excludes_waiting() -> None:
    clock, ran, gate = Clock(), list[float](), asyncio.Event()

    async def works() -> str:
        clock.seconds += 2
        await gate.wait()
        clock.seconds += 3
        return "done"

    task = run_eagerly(works(), metered_step(ran.append, clock))
    assert isinstance(task, asyncio.Task)
    clock.seconds += 100
    gate.set()
    assert await task == "done"
    assert ran == [3]  # whoever starts it eagerly can meter the first stretch


async def test_metered_coroutine_can_fail_and_be_cancelled() -> None:
    clock, ran = Clock(), list[float]()
    metered = metered_step(ran.append, clock)

    async def fails() -> None:
        await asyncio.sleep(0)
        clock.seconds += 1
        raise ValueError("wrong")

    failing = run_eagerly(fails(), metered)
    assert isinstance(failing, asyncio.Task)
    with pytest.raises(ValueError, match="wrong"):
        await failing
    cancelled = run_eagerly(asyncio.Event().wait(), metered)
    assert isinstance(cancelled, asyncio.Task)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    assert ran == [1, 0]


async def test_metered_coroutine_in_a_task_returns_fails_and_is_cancelled() -> None:
    clock, ran = Clock(), list[float]()
    metered = metered_step(ran.append, clock)

    async def works(seconds: int) -> int:
        clock.seconds += seconds
        if seconds == 3:
            raise ValueError("wrong")
        await asyncio.sleep(0)
        clock.seconds += 10
        return seconds

    assert await await_in_steps(works(2), metered) == 2
    with pytest.raises(ValueError, match="wrong"):
        await await_in_steps(works(3), metered)
    waiting = asyncio.create_task(await_in_steps(asyncio.Event().wait(), metered))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ran == [2, 10, 3, 0, 0]


async def test_lock_is_not_granted_twice_when_a_waiter_is_cancelled_at_once() -> None:
    turns, done = KeyedLock(), asyncio.Event()
    at_work = most = 0

    async def line() -> None:
        nonlocal at_work, most
        async with turns.holding("Anna"):
            at_work += 1
            most = max(most, at_work)
            await done.wait()
            at_work -= 1

    lines = [run_eagerly(line()) for _ in range(2)]
    await asyncio.sleep(0)
    lines.append(run_eagerly(line()))
    tasks = [each for each in lines if each is not None]
    tasks[-1].cancel()  # before its first step
    await asyncio.wait(tasks[-1:])
    done.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert most == 1
    assert not turns
