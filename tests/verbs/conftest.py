"""The tables of `tests.game`, as fixtures."""

from tests.game.conftest import empty, first_over, match_over, seated, started

__all__ = ["empty", "first_over", "match_over", "seated", "started"]
