"""Token buckets: so much at once, and in the long run so much a second.

Owns the arithmetic. Pure: the time comes in as an argument. Must never know what is counted.
"""

from __future__ import annotations

_MOST_KEYS = 20_000  # more are not remembered at once
_ROUNDING = 1e-6  # tokens; to wait for so few would be too short for any clock


class Bucket:
    """Fills at a steady rate up to a size; each thing that is allowed takes a token out.

    Args:
        rate: tokens that come in a second, more than 0.
        size: the most that it holds, at least 1; it begins full.
    """

    __slots__ = ("_rate", "_seen", "_size", "_tokens")

    def __init__(self, rate: float, size: float) -> None:
        self._rate, self._size = rate, size
        self._tokens = size
        self._seen: float | None = None

    def take(self, now: float, leaving: float = 0.0) -> float:
        """Take a token; or return the seconds until there will be one, and take none.

        Args:
            now: the time, in seconds since whenever; if it goes back, nothing comes in.
            leaving: tokens that have to be left in, fewer than the size.
        """
        wait = self.wait(now, leaving)
        if not wait:
            self._tokens -= 1
        return wait

    def wait(self, now: float, leaving: float = 0.0) -> float:
        """Return the seconds until a token could be taken; 0 if one can be taken now."""
        if self._seen is not None and now > self._seen:
            self._tokens = min(self._size, self._tokens + (now - self._seen) * self._rate)
        self._seen = now
        if self._tokens >= 1 + leaving:
            return 0.0
        missing = min(1 + leaving, self._size) - self._tokens
        return missing / self._rate if missing > _ROUNDING else 0.0


class Buckets:
    """A bucket for each key; those that were used longest ago are forgotten, and so full again.

    Args:
        rate: of each.
        size: of each.
    """

    def __init__(self, rate: float, size: float) -> None:
        self._rate, self._size = rate, size
        self._buckets: dict[str, Bucket] = {}  # the one used last comes last

    def of(self, key: str) -> Bucket:
        """Return the bucket of a key."""
        bucket = self._buckets.pop(key, None) or Bucket(self._rate, self._size)
        self._buckets[key] = bucket
        if len(self._buckets) > _MOST_KEYS:
            del self._buckets[next(iter(self._buckets))]
        return bucket
