"""Gateways, one per test, and links to them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import pytest

from tests.conftest import ASYNCIO, LOOPS, Loops
from tests.gateway.client import Client, opened
from thudmud.gateway.gateway import Gateway

Connect = Callable[[], Client]


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Loops:
    """Run the socket tests in every event loop that a gateway supports."""
    return LOOPS if item.path.name == "test_listening.py" else ASYNCIO


@pytest.fixture
async def gateway() -> AsyncIterator[Gateway]:
    gateway = await opened()
    yield gateway
    await gateway.close()


@pytest.fixture
async def connect(gateway: Gateway) -> AsyncIterator[Connect]:
    """Return a factory for further links."""
    async with AsyncExitStack() as stack:

        def connect() -> Client:
            client = Client(gateway)
            stack.callback(client.running.cancel)
            return client

        yield connect


@pytest.fixture
async def client(connect: Connect) -> Client:
    """Return a client that has received its welcome."""
    client = connect()
    assert (await client.greet())["type"] == "welcome"
    return client
