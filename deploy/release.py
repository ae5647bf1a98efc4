"""`make release`: builds what is given away, and tries each of it in an environment of its own.

In dist/ there are then a wheel, the source (sdist), and thudmud.pyz: all that a server needs but
Python itself, in one file, for the Python and the kind of machine that it is made on.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from shutil import rmtree

ROOT = Path(__file__).parents[1]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
TALK = "Anna> say hi\nAnna| You say: hi\n"


def main() -> int:
    """Build, and try."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "dist")
    folder = parser.parse_args().folder.resolve()
    rmtree(folder, ignore_errors=True)
    wheel, source, single = build(folder)
    with tempfile.TemporaryDirectory() as place:
        for what in (wheel, source):
            tried(installed(f"{what}[server]", Path(place) / what.name), Path(place))
            print(f"{what.name}: installed and tried", flush=True)
        # Where nothing is installed, with a cache of its own.
        os.environ["SHIV_ROOT"] = str(Path(place) / "cache")
        tried([bare(Path(place) / "bare"), single], Path(place))
        print(f"{single.name}: tried where nothing is installed", flush=True)
    if "example.org" in (ROOT / "pyproject.toml").read_text(encoding="utf-8"):
        print("[project.urls] of pyproject.toml still names no home of the project.")
    return 0


def build(folder: Path) -> tuple[Path, Path, Path]:
    """Return the wheel, the source and the single file, which are made in a folder."""
    run(sys.executable, "-m", "hatchling", "build", "-d", folder, "-t", "sdist", "-t", "wheel")
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    single = folder / "thudmud.pyz"
    shiv = [sys.executable, "-m", "shiv", "--compressed", "--extend-pythonpath", "--no-modify"]
    # What pip would compile is left out anyhow.
    shiv += ["-c", "thudmud", "-p", "/usr/bin/env python3", "-o", str(single), "--no-compile"]
    run(*shiv, f"{wheel}[server]")
    return wheel, source, single


def bare(folder: Path) -> Path:
    """Return the Python of a new environment with nothing in it."""
    venv.create(folder)
    return folder / "bin" / "python"


def installed(what: str, folder: Path) -> list[str | Path]:
    """Return the command that is there once something is installed in a new environment."""
    run(*PIP, "--python", bare(folder), "install", "--quiet", "--no-compile", what)
    return [folder / "bin" / "thudmud"]


def tried(command: list[str | Path], folder: Path) -> None:
    """End with a message if a command does not do what it should."""
    if run(*command, "perft", "--depth", "1", cwd=folder) != "656\n":
        raise SystemExit(f"{command[-1]} counts wrong")
    run(*command, "config", "here.toml", cwd=folder)
    (folder / "here.toml").unlink()  # whoever tries next writes it anew
    (folder / "talk").write_text(TALK, encoding="utf-8")
    run(*command, "script", "talk", cwd=folder)
    # That starts processes of its own.
    bots = ["thudmud:1", "thudmud:1", "--games", "2", "--plies", "6", "--seconds", "60"]
    run(*command, "match", *bots, cwd=folder)


def run(*words: str | Path, cwd: Path = ROOT) -> str:
    """Return what a command prints, away from the checkout if it is not run there."""
    environment = {key: each for key, each in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(  # noqa: S603  (our own commands)
        words, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(done.stdout + done.stderr, file=sys.stderr)
        raise SystemExit(f"{' '.join(map(str, words))}: exit status {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
