"""An adviser that answers when a test lets it."""

from __future__ import annotations

import asyncio
from typing import Generic, TypeVar

from tests.service.place import until

AskedT = TypeVar("AskedT")


class GatedAdviser(Generic[AskedT]):
    """An adviser that waits at a gate, then answers or fails; subclasses say what it answers.

    Attributes:
        asked: what it was asked, in order.
        gate: what it waits for.
        error: what it raises instead of answering.
    """

    at_once = 1

    def __init__(self) -> None:
        self.asked: list[AskedT] = []
        self.gate = asyncio.Event()
        self.error: Exception | None = None

    async def wait(self, asked: AskedT) -> None:
        """Note a question, and wait until it may be answered."""
        self.asked.append(asked)
        await self.gate.wait()
        if self.error:
            raise self.error

    async def settle(self) -> None:
        """Open the gate, and wait until everything is delivered."""
        self.gate.set()
        await until(lambda: asyncio.all_tasks() == {asyncio.current_task()})
