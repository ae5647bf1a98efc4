"""Run the worker tests on every event loop that a server may use."""

from __future__ import annotations

import pytest

from tests.conftest import ASYNCIO, LOOPS, Loops


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Loops:
    """Use every loop for the workers, except where a test sets the clock; else asyncio alone."""
    in_one = "pass_time" in getattr(item, "fixturenames", ())
    return LOOPS if item.path.name == "test_workers.py" and not in_one else ASYNCIO
