"""Fixtures of `tests.service` (a service without sockets) and `tests.game` (tables)."""

from tests.game.conftest import empty, first_over, match_over, seated, started
from tests.service.conftest import place, store

__all__ = ["empty", "first_over", "match_over", "place", "seated", "started", "store"]
