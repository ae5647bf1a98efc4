"""Fixtures: a store whose calls a test can hold up, and a service on it."""

from __future__ import annotations

import pytest

from tests.service.place import Place
from tests.service.stores import SlowStore


@pytest.fixture
def store() -> SlowStore:
    return SlowStore.make()


@pytest.fixture
async def place(store: SlowStore) -> Place:
    place = Place(store)
    await place.open()
    return place
