"""Seeds of the simulated world pass, reproducibly, and detect mutants.

Each run is a separate program: mutants are applied when modules are imported, and the order of a
set of names has to be the same in each run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import SOAKING
from tests.simulation.__main__ import WENT_WRONG
from tests.simulation.breaks import BREAKS, changed

SEEDS = (0, 20), (305, 315)
"""Ranges of seeds that a test plays, 30 in all. Some worlds from 300 on have mails, and some from
310 on have tournaments. The soak test plays more."""

FOUND = [name for name, each in BREAKS.items() if each.seed is not None]
TRIED = FOUND if SOAKING else FOUND[::8]
"""The mutants tried; each takes a program of its own."""

NEARBY = 40
"""Seeds tried for a mutant, from its own on: most changes of the program change the worlds."""

pytestmark = pytest.mark.slow


def played(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.simulation", *words, "--processes", "1"],
        env={**os.environ, "PYTHONHASHSEED": "0"},  # otherwise it would restart itself to set it
        capture_output=True,
        text=True,
        check=False,
    )


def plan(done: subprocess.CompletedProcess[str]) -> str:
    """Return the line that describes the plan of the world."""
    return done.stdout.partition("\n")[0]


@pytest.mark.parametrize(("first", "end"), SEEDS)
def test_simulated_worlds_run_without_errors(first: int, end: int) -> None:
    done = played(str(first), str(end))
    assert f"0 of {end - first} went wrong" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0


def test_seed_replays_identically() -> None:
    first, again = played("1"), played("1")
    assert first.stdout == again.stdout
    assert len(first.stdout.splitlines()) > 300
    assert first.returncode == 0


def test_shrinking_drops_steps_a_mistake_does_not_need() -> None:
    name = "asides do not reach other nodes"
    done = played(str(BREAKS[name].seed), "--shrink", "--break", name)
    assert done.returncode == WENT_WRONG, done.stdout[-2000:] + done.stderr
    whole = played(str(BREAKS[name].seed), "--break", name)
    assert len(plan(done)) < len(plan(whole))


@pytest.mark.parametrize("name", BREAKS)
def test_mutants_apply_to_the_current_code(name: str) -> None:
    changes = BREAKS[name].changes
    for module in {each.module for each in changes}:
        found = find_spec(module)
        assert found
        assert found.origin
        source = Path(found.origin).read_text("utf-8")
        changed(source, [each for each in changes if each.module == module])


@pytest.mark.parametrize("name", TRIED)
def test_mutants_are_detected(name: str) -> None:
    first = BREAKS[name].seed
    assert first is not None
    done = played(str(first), str(first + NEARBY), "--break", name)
    assert done.returncode == WENT_WRONG, done.stdout[-2000:] + done.stderr
