"""Programs are asked in each loop that a server may run in."""

from __future__ import annotations

import pytest

from tests.conftest import ASYNCIO, LOOPS, Loops


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Loops:
    """Test the workers in each loop, and all else in one, as what needs to set its clock."""
    in_one = "pass_time" in getattr(item, "fixturenames", ())
    return LOOPS if item.path.name == "test_workers.py" and not in_one else ASYNCIO
