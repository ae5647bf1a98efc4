from __future__ import annotations

import asyncio

import pytest

from thudmud.server.session import Idleness


@pytest.mark.parametrize(
    ("warning", "limit", "told"),
    [
        (3300, 3600, "for 55 minutes. After 5 minutes more the connection ends."),
        (100, 161, "for 100 seconds. After 61 seconds more the connection ends."),
        (1, 3600, "for 1 second. After 60 minutes more the connection ends."),
    ],
)
async def test_what_is_told(warning: float, limit: float, told: str) -> None:
    said: list[str] = []
    idleness = Idleness(
        warning, limit, 0, is_excused=lambda: False, warn=said.append, end=said.append
    )
    idleness.start()
    for _ in range(2):  # it is told once
        idleness._heard -= warning
        idleness._look()
        idleness._heard += warning
    assert said == [f"You have typed nothing {told}"]
    idleness.heard()
    idleness._heard -= warning
    idleness._look()
    assert len(said) == 2  # and again after something has been typed
    idleness._heard -= limit
    idleness._look()
    assert said[2].endswith("Goodbye!")
    idleness.stop()


async def test_nobody_is_warned_of_what_never_comes() -> None:
    said: list[str] = []
    for warning, limit in [(1, 0), (0, 1)]:
        idleness = Idleness(
            warning, limit, 0, is_excused=lambda: False, warn=said.append, end=said.append
        )
        idleness.start()
        if limit:
            idleness._heard -= 10
            idleness._look()
        idleness.stop()
    assert said == ["You have typed nothing for 1 second. Goodbye!"]


async def test_a_timer_is_set_for_the_whole_time_that_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = asyncio.get_running_loop()
    now = 1_000.0
    waits: list[float] = []
    said: list[str] = []
    monkeypatch.setattr(loop, "time", lambda: now)
    monkeypatch.setattr(loop, "call_later", lambda wait, _look: waits.append(wait))
    idleness = Idleness(1, 3, 0, is_excused=lambda: now < 1_002, warn=said.append, end=said.append)
    idleness.start()
    for late in [0.0, 0.5, -0.0005]:  # the last is early, as timers may be
        now += waits[-1] + late
        idleness._look()
    assert waits == [1, 1, 1.5]
    assert len(said) == 2
