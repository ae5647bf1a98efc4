"""Servers for one test each, on a free port."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from tests.conftest import ASYNCIO, LOOPS, Loops
from tests.server.desks import CHEAP
from tests.server.plain import PlainService, Serving, Setup
from thudmud.server.listening import Server
from thudmud.server.lobby import Lobby
from thudmud.server.settings import PlayerSettings, ServerSettings
from thudmud.store import Store

GENEROUS = {
    "port": 0,
    "shutdown_grace": 0.2,
    # Tests come from one address, and faster than people type.
    "connections_per_address": 1000,
    "accepts_at_once": 10_000,
    "commands_at_once": 1_000_000,
}

SERVERS = {"serving", "secure"}
"""What starts a server in the loop of a test."""


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Loops:
    """Test a server in each loop that it may run in; what is slow, and all else, in one."""
    fixtures = set(getattr(item, "fixturenames", ()))
    in_one = "pass_time" in fixtures or item.get_closest_marker("slow")
    return LOOPS if SERVERS & fixtures and not in_one else ASYNCIO


@pytest.fixture
async def serving() -> AsyncIterator[Serving]:
    """Start servers: ``await serving(queue_length=3)``."""
    async with AsyncExitStack() as stack:

        async def start(**changed: object) -> Setup:
            of_players = {
                key: changed.pop(key) for key in PlayerSettings.model_fields & changed.keys()
            }
            settings = ServerSettings.model_validate(GENEROUS | changed)
            players = PlayerSettings.model_validate(of_players)
            store = Store.in_memory()
            stack.push_async_callback(store.close)
            lobby = Lobby(PlainService(store))
            setup = Setup(Server(settings, players, CHEAP), lobby, stack)
            await setup.start()
            return setup

        yield start
