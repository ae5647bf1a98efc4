"""Measures how running time grows with the input size, as an exponent.

The time is the CPU time of this thread, which is independent of other programs, and the minimum of
several runs. Inputs start short, so that even exponential growth is detected quickly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from time import thread_time

STEP = 4
"""The ratio of the sizes of two consecutive inputs."""

_MEASURED = 0.003
"""Minimum time in seconds of the longer run, for a meaningful quotient."""

_PROVEN = 0.25
"""A time in seconds that proves superlinear growth if a quarter of the input was quick."""

_ROUNDS = 3

_SHORT = 64


def exponent(run: Callable[[int], object], longest: int, quick: float) -> float:
    """Return the exponent by which the time of ``run`` grows with the size of its input.

    The result is 1 for linear and 2 for quadratic time, and 0 if even the longest input takes less
    than ``quick`` seconds.

    Args:
        run: does the work for an input of the given size.
        longest: the size of the longest input.
        quick: the time in seconds below which growth is not measured.
    """
    size = 8
    while (took := _took(run, size)) < quick:
        if size >= longest:
            return 0.0
        size = min(_next(size), longest)
    while took < _MEASURED and size < longest * STEP**2:
        size = _next(size)
        took = _took(run, size)
    rounds = 1 if took > _PROVEN else _ROUNDS
    return min(_fitted(run, size) for _ in range(rounds))


def _next(size: int) -> int:
    """Return the next size; growing slowly at first, since exponential time would never end."""
    return size * 3 // 2 if size < _SHORT else size * STEP


def _fitted(run: Callable[[int], object], size: int) -> float:
    short = min(_took(run, size // STEP) for _ in range(3))
    long = min(_took(run, size) for _ in range(2))
    return math.log(long / short, STEP)


def _took(run: Callable[[int], object], size: int) -> float:
    begun = thread_time()
    run(size)
    return thread_time() - begun
