"""`make release`: builds the distributions, and tests each of them in a clean environment.

The results in dist/ are a wheel, a source distribution, and thudmud.pyz: the server with all its
dependencies except Python, in one file, for the Python version and platform of this machine.
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
    """Build and test the distributions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "dist")
    folder = parser.parse_args().folder.resolve()
    rmtree(folder, ignore_errors=True)
    wheel, source, single = build(folder)
    with tempfile.TemporaryDirectory() as place:
        for what in (wheel, source):
            tried(installed(f"{what}[server]", Path(place) / what.name), Path(place))
            print(f"{what.name}: installed and tried", flush=True)
        # Without any packages installed, and with an empty cache of extracted code.
        os.environ["SHIV_ROOT"] = str(Path(place) / "cache")
        tried([bare(Path(place) / "bare"), single], Path(place))
        print(f"{single.name}: tried where nothing is installed", flush=True)
    if 'home = ""' in (ROOT / "pyproject.toml").read_text(encoding="utf-8"):
        print("pyproject.toml still names no home of the project.")
    return 0


def build(folder: Path) -> tuple[Path, Path, Path]:
    """Build the wheel, the source distribution and the single file into a folder."""
    run(sys.executable, "-m", "hatchling", "build", "-d", folder, "-t", "sdist", "-t", "wheel")
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    single = folder / "thudmud.pyz"
    shiv = [sys.executable, "-m", "shiv", "--compressed", "--extend-pythonpath", "--no-modify"]
    # Shiv leaves out bytecode anyway, so pip need not compile any.
    shiv += ["-c", "thudmud", "-p", "/usr/bin/env python3", "-o", str(single), "--no-compile"]
    # These extras have no compiled parts.
    run(*shiv, f"{wheel}[server,metrics,completion]")
    return wheel, source, single


def bare(folder: Path) -> Path:
    """Create an empty virtual environment; return its Python."""
    venv.create(folder)
    return folder / "bin" / "python"


def installed(what: str, folder: Path) -> list[str | Path]:
    """Install a requirement into a new environment; return the command it provides."""
    run(*PIP, "--python", bare(folder), "install", "--quiet", "--no-compile", what)
    return [folder / "bin" / "thudmud"]


def tried(command: list[str | Path], folder: Path) -> None:
    """Smoke-test a command; exit with a message if it fails."""
    if run(*command, "perft", "--depth", "1", cwd=folder) != "656\n":
        raise SystemExit(f"{command[-1]} counts wrong")
    run(*command, "config", "here.toml", cwd=folder)
    (folder / "here.toml").unlink()  # the next test writes it again
    (folder / "talk").write_text(TALK, encoding="utf-8")
    run(*command, "script", "talk", cwd=folder)
    # Bots also test that the command can start further processes.
    bots = ["thudmud:1", "thudmud:1", "--games", "2", "--plies", "6", "--seconds", "60"]
    run(*command, "match", *bots, cwd=folder)


def run(*words: str | Path, cwd: Path = ROOT) -> str:
    """Run a command without PYTHONPATH, so that it doesn't import the checkout unless run there.

    Returns:
        Its standard output.

    Raises:
        SystemExit: the command failed.
    """
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
