"""How much the search for tramples works, counted, so that no test depends on a clock."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from thudmud.rules import Square, tramples

Looks = list[int]


def looks_of(monkeypatch: pytest.MonkeyPatch) -> Looks:
    """Return a list that grows by each square round which the search for paths looks."""
    seen: Looks = []
    leaps: Callable[[int], tuple[tuple[int, int, Square], ...]] = tramples.leaps

    def look(bit: int) -> tuple[tuple[int, int, Square], ...]:
        seen.append(bit)
        return leaps(bit)

    monkeypatch.setattr(tramples, "leaps", look)
    return seen
