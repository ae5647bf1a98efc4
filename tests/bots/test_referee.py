"""A battle between two programs: time limits, and the end of both even after a failure."""

from __future__ import annotations

import asyncio
import itertools
import time
from typing import cast

import pytest

from thudmud.bots.program import LateError, Program, ProgramError
from thudmud.bots.referee import Contender, Terms, play_battle
from thudmud.rules import DISCWORLD, Game, Side


class Pretended:
    """A fake contender that fails to start just as its battle is cancelled."""

    def __init__(self, battle: asyncio.Future[asyncio.Task[object]]) -> None:
        self.name, self._battle, self.is_ended = "bad", battle, False

    async def start(self) -> None:
        battle = await self._battle
        # Runs once the contenders have begun to end, but before either has ended.
        asyncio.get_running_loop().call_soon(battle.cancel)
        raise ProgramError("there is no such program")

    def cpu_seconds(self) -> float | None:
        return None

    async def end(self, *, at_once: bool) -> None:
        self.is_ended = True


async def test_battle_cancelled_while_it_fails_ends_both_programs() -> None:
    begun: asyncio.Future[asyncio.Task[object]] = asyncio.get_running_loop().create_future()
    pair = Pretended(begun), Pretended(begun)
    contenders = {side: cast("Contender", each) for side, each in zip(Side, pair, strict=True)}
    terms = Terms("nodes 1", seconds=1.0, quiet=1, plies=1)
    battle = asyncio.create_task(play_battle(Game.start(DISCWORLD), contenders, terms))
    begun.set_result(battle)
    with pytest.raises(asyncio.CancelledError):
        await battle
    assert [each.is_ended for each in pair] == [True, True]


@pytest.mark.parametrize(("used", "is_late"), [(0.5, False), (0.6, True), (None, False)])
async def test_cpu_limit_ignores_the_clock(
    used: float | None, *, is_late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program takes 1,000 seconds for each answer; half a second of CPU is tolerated."""

    async def ask(program: Program, line: str, seconds: float) -> str:
        waited.append(seconds)
        return "dA6-B6"

    waited: list[float] = []
    clock, cpu = itertools.count(step=1000), iter([used and 1.0, used and 1.0 + used])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(Program, "ask", ask)
    monkeypatch.setattr(Program, "cpu_seconds", lambda _: next(cpu))
    contender = Contender("busy", ["program"], patience=300.0)
    terms = Terms("0.04", seconds=60.0, quiet=1, plies=1, cpu_seconds=0.04)
    if is_late:
        with pytest.raises(LateError, match=r"0\.60 CPU seconds for a ply, limit 0\.04"):
            await contender.ply(Game.start(DISCWORLD), terms)
    else:
        assert await contender.ply(Game.start(DISCWORLD), terms) == "dA6-B6"
    assert waited == [300.0, 300.0, 60.5]  # "rules" and "position", then "go"
