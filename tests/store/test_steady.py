"""The clock that never goes back, however the machine's clock is set."""

from __future__ import annotations

from pathlib import Path

from thudmud.game.events import Joined
from thudmud.rules import Side
from thudmud.store import Store
from thudmud.store.database import Database
from thudmud.store.steady import SteadyClock


class Machine:
    """A machine whose clock can be set."""

    def __init__(self) -> None:
        self.wall, self.ticks = 1_000_000.0, 5.0

    def clock(self) -> SteadyClock:
        return SteadyClock(lambda: self.wall, lambda: self.ticks)

    def runs(self, seconds: float) -> None:
        self.wall += seconds
        self.ticks += seconds


def test_steady_clock_follows_the_machine() -> None:
    machine = Machine()
    clock = machine.clock()
    machine.runs(90)
    assert clock() == machine.wall
    assert clock.offset == 0


def test_steady_clock_ignores_clock_changes() -> None:
    machine = Machine()
    clock = machine.clock()
    for jump in (3600.0, -86400.0):
        before = clock()
        machine.wall += jump
        machine.runs(2)
        assert clock() == before + 2
    assert clock.offset == 3600.0 - 86400.0


def test_steady_clock_starts_no_earlier_than_given() -> None:
    machine = Machine()
    clock = machine.clock()
    clock.advance_to(machine.wall - 100)
    assert clock() == machine.wall
    clock.advance_to(machine.wall + 100)
    machine.runs(1)
    assert clock() == machine.wall + 100


async def test_store_time_continues_after_its_last_event(tmp_path: Path) -> None:
    machine = Machine()
    clock = machine.clock()
    store = await Store.open(tmp_path / "thud.db", clock=clock)
    await store.append({"oak board": (0, [Joined(0.0, "Anna", Side.DWARF)])})
    await store.close()
    machine.wall -= 3600  # set back while no server runs
    again = machine.clock()
    store = await Store.open(tmp_path / "thud.db", clock=again)
    machine.runs(60)
    assert await store.read(Database.now) == again() == 1_000_060.0
    await store.close()
