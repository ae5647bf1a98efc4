"""What drives the service: coroutines that may have nothing to wait for."""

from __future__ import annotations

import asyncio

import pytest

from thudmud.service.driving import now


async def nothing() -> str:
    return "done"


async def test_what_need_not_wait_is_no_task() -> None:
    assert now(nothing()) == "done"


async def test_what_waits_has_begun_and_is_a_task_for_the_rest() -> None:
    gate, begun = asyncio.Event(), []

    async def waits() -> str:
        begun.append(True)
        await gate.wait()
        return "done"

    task = now(waits())
    assert begun
    assert isinstance(task, asyncio.Task)
    gate.set()
    assert await task == "done"


async def test_what_waits_can_fail_and_be_cancelled() -> None:
    async def fails() -> None:
        await asyncio.sleep(0)
        raise ValueError("wrong")

    failing, cancelled = now(fails()), now(asyncio.Event().wait())
    assert isinstance(failing, asyncio.Task)
    assert isinstance(cancelled, asyncio.Task)
    with pytest.raises(ValueError, match="wrong"):
        await failing
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled


@pytest.mark.parametrize("turns", [0, 1])
async def test_what_waits_is_told_when_it_is_cancelled(turns: int) -> None:
    """Be it before the first step of the task."""
    told = []

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            told.append(True)
            raise

    task = now(waits())
    assert isinstance(task, asyncio.Task)
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert told == [True]
