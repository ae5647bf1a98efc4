"""Seeds of the world go well, always in the same way; and what they would find, if it was there.

Each run is a program of its own: a mistake is made as the modules are imported, and the order of a
set of names has to be the same each time.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.world.__main__ import WENT_WRONG
from tests.world.breaks import BREAKS

SEEDS = 40

pytestmark = pytest.mark.slow


def played(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.world", *words], capture_output=True, text=True, check=False
    )


def test_nothing_goes_wrong() -> None:
    done = played("0", str(SEEDS))
    assert f"0 of {SEEDS} went wrong" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0


def test_a_seed_is_played_again_to_the_byte() -> None:
    first, again = played("1"), played("1")
    assert first.stdout == again.stdout
    assert len(first.stdout.splitlines()) > 500
    assert first.returncode == 0


@pytest.mark.parametrize("name", [name for name, each in BREAKS.items() if each.seed is not None])
def test_a_mistake_is_found(name: str) -> None:
    done = played(str(BREAKS[name].seed), "--break", name)
    assert done.returncode == WENT_WRONG, done.stdout[-2000:] + done.stderr
