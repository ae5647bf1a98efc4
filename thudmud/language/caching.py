"""A cache for functions of what players type, which does not keep what they have typed.

A player can type anything by mistake, a password as well. `functools.lru_cache` would keep it until
enough others have been typed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def cache_by_hash(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that caches results by the hash of the arguments, and not by themselves.

    Strings have a hash of 64 bits, which is keyed anew in each process, so that two arguments will
    not have the same one. The results must not hold any argument.

    Args:
        most: how many results are kept. The cache is emptied when there are as many.
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
