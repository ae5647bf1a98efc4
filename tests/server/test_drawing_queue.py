"""The queue of drawings: fair order among addresses, shares, and dropped drawings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import pytest

from thudmud.server import drawing_queue
from thudmud.server.drawing import DrawingProcess
from thudmud.server.drawing_queue import DrawingQueue, QueueFullError, ShareError

SHARE = 3


class Desk:
    """A queue with fake drawings that wait to be finished by the test.

    Attributes:
        begun: the names of the drawings begun, in order.
    """

    def __init__(self) -> None:
        self.queue = DrawingQueue(SHARE)
        self.begun: list[str] = []
        self._tasks: list[asyncio.Task[bytes]] = []
        self._ends: list[asyncio.Future[None]] = []

    async def ask(
        self, name: str, network: str = "", is_gone: Callable[[], bool] = lambda: False
    ) -> asyncio.Task[bytes]:
        """Request a drawing for the network named by its first letter; wait until it is queued."""

        async def work(_: DrawingProcess) -> bytes:
            self.begun.append(name)
            end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._ends.append(end)
            await end
            return name.encode()

        asked = self.queue.draw(name, network or name[0], is_gone, work)
        self._tasks.append(asyncio.create_task(asked))
        await turns()
        return self._tasks[-1]

    async def finish(self, error: Exception | None = None) -> None:
        """Finish the current drawing."""
        end = self._ends.pop()
        if error:
            end.set_exception(error)
        else:
            end.set_result(None)
        await turns()

    async def finish_all(self) -> list[str]:
        """Finish all drawings; return their names in the order of their beginning."""
        while self._ends:
            await self.finish()
        return self.begun

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.queue.close()


async def turns() -> None:
    """Let all tasks run until they wait for something external."""
    for _ in range(8):
        await asyncio.sleep(0)


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    desk = Desk()
    yield desk
    await desk.close()


async def test_addresses_are_served_in_turn(desk: Desk) -> None:
    for name in ("a1", "a2", "a3", "b1", "b2", "c1"):
        await desk.ask(name)
    assert await desk.finish_all() == ["a1", "b1", "c1", "a2", "b2", "a3"]


async def test_newcomer_waits_only_for_the_current_drawing(desk: Desk) -> None:
    for name in ("a1", "a2", "a3"):
        await desk.ask(name)
    await desk.finish()
    assert desk.begun == ["a1", "a2"]
    await desk.ask("a4")
    await desk.ask("b1")
    assert await desk.finish_all() == ["a1", "a2", "b1", "a3", "a4"]


async def test_address_over_its_share_is_refused_until_a_drawing_ends(desk: Desk) -> None:
    for name in ("a1", "a2", "a3"):
        await desk.ask(name)
    with pytest.raises(ShareError):
        await (await desk.ask("a4"))
    await desk.ask("b1")
    await desk.finish()
    assert not (await desk.ask("a4")).done()
    assert await desk.finish_all() == ["a1", "b1", "a2", "a3", "a4"]


async def test_full_queue_drops_the_last_drawing_of_the_busiest_address(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing_queue, "MOST_WAITING", 3)
    asked = {name: await desk.ask(name) for name in ("z1", "a1", "a2", "a3")}
    assert not (await desk.ask("b1")).done()
    with pytest.raises(QueueFullError):
        await asked["a3"]
    with pytest.raises(QueueFullError):
        await (await desk.ask("b2"))
    assert await desk.finish_all() == ["z1", "a1", "b1", "a2"]


async def test_duplicate_request_is_drawn_once(desk: Desk) -> None:
    first, again = await desk.ask("a1"), await desk.ask("a1", "b")
    await desk.finish()
    assert (await first, await again, desk.begun) == (b"a1", b"a1", ["a1"])


async def test_waiting_drawing_is_dropped_with_its_last_requester(desk: Desk) -> None:
    await desk.ask("z1")
    alone, shared, _ = await desk.ask("a1"), await desk.ask("a2"), await desk.ask("a2", "b")
    for task in (alone, shared):
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    assert await desk.finish_all() == ["z1", "a2"]


async def test_drawing_of_a_disconnected_client_is_skipped(desk: Desk) -> None:
    gone = False
    await desk.ask("a1")
    left = [await desk.ask(name, is_gone=lambda: gone) for name in ("a2", "a3")]
    gone = True
    assert not (await desk.ask("a4")).done()
    assert await desk.finish_all() == ["a1", "a4"]
    for task in left:
        with pytest.raises(QueueFullError):
            await task


async def test_current_drawing_is_finished_without_requesters(desk: Desk) -> None:
    first = await desk.ask("a1")
    first.cancel()
    await turns()
    again = await desk.ask("a1", "b")
    assert await desk.finish_all() == ["a1"]
    assert await again == b"a1"


async def test_failed_drawing_does_not_stop_the_queue(desk: Desk) -> None:
    failed, other = await desk.ask("a1"), await desk.ask("b1")
    await desk.finish(ValueError("boom"))
    with pytest.raises(ValueError, match="boom"):
        await failed
    await desk.finish()
    assert await other == b"b1"


async def test_closed_queue_cancels_all_requests(desk: Desk) -> None:
    asked = [await desk.ask(name) for name in ("a1", "b1")]
    await desk.queue.close()
    await turns()
    assert all(each.cancelled() for each in asked)
