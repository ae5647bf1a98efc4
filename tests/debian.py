"""Programs of Debian packages that `tests/clients.sh` only unpacks unless they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

UNPACKED = Path(__file__).parents[1] / "build" / "unpacked"

_PYTHON = Path("/usr/bin/python3")
"""The Python that the packages are made for."""


def program(name: str) -> str:
    """Return the path of an installed or unpacked program."""
    places = [os.environ["PATH"], "/usr/sbin", UNPACKED / "usr/bin", UNPACKED / "usr/sbin"]
    found = shutil.which(name, path=os.pathsep.join(map(str, places)))
    assert found, f'{name} is missing: "make clients" unpacks it'
    return found


def run(
    name: str, *words: str | Path, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; its output is all in ``stdout``."""
    path = program(name)
    command = [path]
    if path.startswith(str(UNPACKED)):
        libraries = (UNPACKED / "usr/lib").glob("*-linux-*")
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(map(str, libraries))
        if Path(path).read_bytes().startswith(b"#!"):
            environment["PYTHONPATH"] = str(UNPACKED / "usr/lib/python3/dist-packages")
            command.insert(0, str(_PYTHON) if _PYTHON.exists() else sys.executable)
    return subprocess.run(
        [*command, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        cwd=cwd,
        env=os.environ | environment,
    )
