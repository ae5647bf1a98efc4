"""A dialogue with a clock of its own, on which each look at it takes a tenth of a second."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from thudmud.bots import Dialogue


def dialogue(
    clock: Callable[[], float] | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
    tell: Callable[[str], object] = lambda _: None,
) -> Dialogue:
    ticks = count()
    slow = clock or (lambda: next(ticks) / 10)
    return Dialogue("thudmud 0.1.0", slow, is_stopped=is_stopped, tell=tell)


def asked(lines: str, to: Dialogue | None = None) -> list[str | None]:
    """Return what some lines are answered."""
    whom = to or dialogue()
    return [whom.answer(line) for line in lines.splitlines()]
