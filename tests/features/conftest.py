"""A service without sockets, as `tests.service` has it, and the tables of `tests.game`."""

from tests.game.conftest import empty, first_over, match_over, seated, started
from tests.service.conftest import place, store

__all__ = ["empty", "first_over", "match_over", "place", "seated", "started", "store"]
