"""The tests based on Evennia's own test classes, in a separate process."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.evennia.mud import ROOT, UNTYPED

HERE = Path(__file__).parent

pytestmark = pytest.mark.slow


def test_evennia_cases_all_pass(evennia_bin: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [evennia_bin / "python", HERE / "run_cases.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{UNTYPED}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ran = re.search(r"^Ran (\d+) tests", done.stderr, re.MULTILINE)
    written = sum(path.read_text("utf-8").count("def test_") for path in HERE.glob("cases/*.py"))
    assert ran
    assert int(ran[1]) == written
