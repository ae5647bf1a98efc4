from __future__ import annotations

import subprocess
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def evennia_bin() -> Path:
    """Return the folder of the commands of an environment with Evennia in it.

    It is not the one that the tests run in: what Evennia needs brings along a package called
    "tests". Since it takes a minute to install, it is made once and kept.
    """
    folder = ROOT / "build" / "evennia"
    done = folder / "installed"
    wanted = (ROOT / "pyproject.toml").read_text("utf-8")
    if not done.exists() or done.read_text("utf-8") != wanted:
        venv.create(folder, with_pip=True, clear=True)
        pip = folder / "bin" / "pip"
        words = ["install", "--quiet", "--disable-pip-version-check", "-e", f"{ROOT}[evennia]"]
        installed = subprocess.run([pip, *words], capture_output=True, text=True, check=False)
        assert installed.returncode == 0, installed.stderr
        done.write_text(wanted, "utf-8")
    return folder / "bin"
