"""A service without sockets, as `tests.service` has it."""

from tests.service.conftest import place, store

__all__ = ["place", "store"]
