"""The tables of `tests.play`, as fixtures."""

from tests.play.conftest import empty, first_over, match_over, seated, started

__all__ = ["empty", "first_over", "match_over", "seated", "started"]
