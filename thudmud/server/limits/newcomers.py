"""How many new names guests may take from one place.

Owns what who takes too many is told. Pure: the time comes in as an argument.
"""

from __future__ import annotations

from thudmud.rules.english import lasting
from thudmud.server.limits.addresses import origin
from thudmud.server.limits.buckets import Buckets

_HOUR = 3600.0


class Newcomers:
    """Counts the names taken from each address.

    Args:
        per_hour: names, at once and in an hour.
    """

    def __init__(self, per_hour: int) -> None:
        self._buckets = Buckets(per_hour / _HOUR, per_hour)

    def problem(self, address: str, now: float) -> str | None:
        """Count a new name; or return why it cannot be taken."""
        wait = self._buckets.of(origin(address)).take(now)
        if not wait:
            return None
        return (
            "Many new names have been taken from where you are. You can take another one in "
            f"{lasting(wait)}, and come back under one of yours at any time."
        )
