"""Programs are asked in each loop that a server may run in."""

from __future__ import annotations

import pytest

from tests.conftest import ASYNCIO, LOOPS, Loops


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Loops:
    """Test the workers in each loop, and all else in one."""
    return LOOPS if item.path.name == "test_workers.py" else ASYNCIO
