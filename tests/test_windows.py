"""What Windows lacks isn't needed by the library, transcripts in a house, and the pytest plugin.

Nothing runs on Windows here. A process hides the modules of the standard library that Windows
lacks, and the functions of others, and plays.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

MODULES = [
    "crypt", "fcntl", "grp", "posix", "pty", "pwd", "resource", "spwd", "syslog", "termios", "tty",
]  # fmt: skip
"""Modules of the standard library that Windows lacks."""

HIDE = f"""
import asyncio, importlib.metadata, logging.handlers, multiprocessing, os, pathlib, pytest, select
import shutil, signal, subprocess, sys, tempfile
import telnetlib3  # has another module in place of termios on Windows

for name in {MODULES}:
    sys.modules[name] = None
for module, names in {{
    os: "fork getuid geteuid getgid getegid getpgid getpgrp nice fchmod fchown chown killpg setsid "
    "O_CLOEXEC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK WNOHANG getloadavg pread pwrite "
    "posix_spawn posix_spawnp statvfs sysconf tcgetpgrp ttyname uname sched_getaffinity",
    select: "poll epoll",
    signal: "SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGUSR1 SIGUSR2 "
    "SIGXFSZ alarm pthread_sigmask setitimer sigwait",
}}.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
"""

BATTLE = """
from thudmud import BoardSpec, House
from thudmud.rules import CLASSIC, Game, perft

assert perft(CLASSIC, Game.start(CLASSIC).position, 1) == 656
house = House([BoardSpec("oak board")], bots={"Grog": "Chalk"})
for name in ("Anna", "Bert"):
    house.enter(name, 1.0, room="oak board")
for name, line in (
    ("Anna", "join game as dwarf"), ("Bert", "join game as troll"), ("Anna", "start"),
    ("Anna", "a6 b7"), ("Bert", "resign"), ("Bert", "yes"),
):
    house.obey(name, line, 2.0)
again = House([BoardSpec("oak board")], events=house.events())
print(repr(again.game("oak board")))
"""

SCRIPT = "Anna+\nAnna...\nAnna> say hi\nAnna| You say: hi\n"


def run_hidden(code: str, folder: Path, status: int = 0) -> str:
    """Run code in a process without the modules; return its output and error output."""
    done = subprocess.run(
        [sys.executable, "-c", HIDE + code], cwd=folder, env={"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == status, done.stdout
    return done.stdout


def test_house_plays_a_battle_without_posix(tmp_path: Path) -> None:
    shown = run_hidden(BATTLE, tmp_path)
    assert shown == "<Game discworld: 1 ply; over (resignation): won by the dwarfs>\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["script", "hi.thud-script"], "2 steps compared: all as expected"),
        (["perft", "--depth", "1"], "656"),
        (["--version"], "thudmud "),
    ],
)
def test_command_runs_without_posix(tmp_path: Path, words: list[str], expected: str) -> None:
    (tmp_path / "hi.thud-script").write_text(SCRIPT, "utf-8")
    code = f"sys.argv[1:] = {words}\nfrom thudmud.cli.main import main\nsys.exit(main())"
    assert expected in run_hidden(code, tmp_path)


def test_pytest_plugin_plays_a_transcript_without_posix(tmp_path: Path) -> None:
    (tmp_path / "hi.thud-script").write_text(SCRIPT, "utf-8")
    plugins = "-p", "pytest_thudmud", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:asyncio"
    assert "1 passed" in run_hidden(f"sys.exit(pytest.main({['-q', *plugins]}))", tmp_path)


@pytest.mark.parametrize(
    "code",
    [
        "from thudmud.store import Store\nasyncio.run(Store.open('x.db'))",
        "from thudmud.bots.program import Program\n"
        "asyncio.run(Program('worker', ['worker'], pathlib.Path(), 1.0).start())",
    ],
)
def test_posix_only_part_says_so(tmp_path: Path, code: str) -> None:
    assert re.search(r"Error: .* takes POSIX, so not Windows", run_hidden(code, tmp_path, 1))
    assert list(tmp_path.iterdir()) == []


def test_server_says_that_it_takes_posix(tmp_path: Path) -> None:
    code = (
        "from thudmud.cli.main import main\n"
        "sys.exit(main(['serve', '--port', '0', '--web-port', '0']))"
    )
    assert "takes POSIX, so not Windows" in run_hidden(code, tmp_path, 2)


def test_classifiers_name_the_system_of_the_server() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    systems = [each for each in project["classifiers"] if each.startswith("Operating System")]
    assert systems == ["Operating System :: POSIX"]
