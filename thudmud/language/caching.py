"""A cache for functions of players' input that doesn't retain the input.

A player can type anything by mistake, even a password. `functools.lru_cache` would retain it until
enough other lines had been typed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def cache_by_hash(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that caches results by the hash of the arguments instead of the arguments.

    A string's hash has 64 bits and a random key per process, so that two different arguments
    practically never share one. Results must not refer to an argument.

    Args:
        most: the maximum number of cached results; the cache is emptied when full.
    """

    def decorate(work: Callable[P, T]) -> Callable[P, T]:
        kept: dict[int, T] = {}

        @wraps(work)
        def cached(*args: P.args, **kwargs: P.kwargs) -> T:
            key = hash((args, *kwargs.items()))
            try:
                return kept[key]
            except KeyError:
                pass
            result = work(*args, **kwargs)
            if len(kept) >= most:
                kept.clear()
            kept[key] = result
            return result

        return cached

    return decorate
