"""Counts the work of the trample search, so that no test depends on a clock."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from thudmud.rules import Square, tramples

Looks = list[int]


def looks_of(monkeypatch: pytest.MonkeyPatch) -> Looks:
    """Return a list to which the path search appends every square it expands."""
    seen: Looks = []
    leaps: Callable[[int], tuple[tuple[int, int, Square], ...]] = tramples.trample_steps

    def look(bit: int) -> tuple[tuple[int, int, Square], ...]:
        seen.append(bit)
        return leaps(bit)

    monkeypatch.setattr(tramples, "trample_steps", look)
    return seen
