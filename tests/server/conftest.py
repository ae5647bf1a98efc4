"""Servers for one test each, on a free port."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from tests.server.plain import PlainHouse, Serving, Setup
from thudmud.server.listening import Server
from thudmud.server.settings import ServerSettings


@pytest.fixture
async def serving() -> AsyncIterator[Serving]:
    """Start servers: ``await serving(queue_length=3)``."""
    async with AsyncExitStack() as stack:

        async def start(**changed: object) -> Setup:
            house = PlainHouse()
            settings = ServerSettings.model_validate({"port": 0, "shutdown_grace": 0.2} | changed)
            setup = Setup(Server(settings, house), house, stack)
            await setup.start()
            return setup

        yield start
