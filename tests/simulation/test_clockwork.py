"""The event loop of a simulated process behaves like asyncio's."""

from __future__ import annotations

import asyncio

from tests.simulation.clockwork import Process, World


def test_thread_work_finishes_after_its_waiter_is_cancelled() -> None:
    world = World(0)
    ended: list[str] = []

    async def main() -> None:
        work = asyncio.get_running_loop().run_in_executor(None, ended.append, "the work")
        work.cancel()
        await asyncio.sleep(1.0)
        ended.append("all")

    Process(world, "a program").run(main())
    world.run(2.0)
    world.close()
    assert ended == ["the work", "all"]
    assert world.wrong == []
