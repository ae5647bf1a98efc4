"""How the time that something takes grows with its input, as an exponent.

Time is that of this thread on its processor, so that other programs do not count, and the shortest
of several runs. Inputs grow from short ones, so that nothing takes long, however fast its time
grows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from time import thread_time

STEP = 4
"""How many times as long the longer of two inputs is."""

_MEASURED = 0.003
"""Seconds that the longer of two runs takes at least, so that their quotient says something."""

_PROVEN = 0.25
"""Seconds that prove it, if a quarter of the input took no more than is quick."""

_ROUNDS = 3

_SHORT = 64


def exponent(run: Callable[[int], object], longest: int, quick: float) -> float:
    """Return the exponent by which the time of ``run`` grows with the size of its input.

    It is 1 for a time that grows steadily, and 2 for one that grows with the square; 0 if the
    longest input is done so quickly that it is not looked at more closely.

    Args:
        run: does the work for an input of some size.
        longest: the size of the input that has to be quick, or is measured.
        quick: seconds.
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
    """Return a larger size: by little at first, since exponential growth would never end."""
    return size * 3 // 2 if size < _SHORT else size * STEP


def _fitted(run: Callable[[int], object], size: int) -> float:
    short = min(_took(run, size // STEP) for _ in range(3))
    long = min(_took(run, size) for _ in range(2))
    return math.log(long / short, STEP)


def _took(run: Callable[[int], object], size: int) -> float:
    begun = thread_time()
    run(size)
    return thread_time() - begun
