"""An engine dialogue on a fake clock that advances a tenth of a second a reading."""

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
    """Return the answers to some lines."""
    whom = to or dialogue()
    return [whom.answer(line) for line in lines.splitlines()]
