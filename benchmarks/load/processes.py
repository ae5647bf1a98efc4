"""Servers as processes: how they are started, and what they take.

Owns the configuration that thudmud is measured with. Must never drive a server.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
KIB = 1024

Sections = Mapping[str, Mapping[str, object]]
"""Of a configuration: each setting's value by its name, by section. Texts are in quotes."""

RAISED: Sections = {
    "server": {
        "port": 0,
        "connections": 10_000,
        "connections_per_address": 10_000,
        "accepts_per_second": 100_000,
        "accepts_at_once": 1_000_000,
        "commands_per_second": 100_000,
        "commands_at_once": 1_000_000,
        "outbox_bytes": 1 << 24,
    },
    "players": {"names_per_hour": 1_000_000, "chat_per_minute": 100_000, "chat_at_once": 100_000},
}
"""The caps that keep one client from harming others, raised: here one machine is everybody. How
many commands are handled in a turn, and how many may wait, is as it is by default."""


def letters(number: int) -> str:
    """Return a number as four letters; names have no digits."""
    word = ""
    for _ in range(4):
        number, digit = divmod(number, 26)
        word = chr(ord("a") + digit) + word
    return word


def board(number: int) -> str:
    """Return the name of a board."""
    return f"b{letters(number)} board"


def configured(
    folder: Path, boards: int, sections: Sections = RAISED, more: str = "", rules: str = "discworld"
) -> Path:
    """Write a configuration, in a folder where the server keeps its files.

    Args:
        folder: that folder.
        boards: how many there are.
        sections: the settings that are not as they are by default.
        more: what comes behind the boards.
        rules: those of all boards.
    """
    text = "" if "web" in sections else "[web]\nenabled = false\n"
    for section, values in sections.items():
        text += f"[{section}]\n" + "".join(f"{key} = {value}\n" for key, value in values.items())
    for number in range(boards):
        text += f'[[board]]\nname = "{board(number)}"\nrules = "{rules}"\n'
    path = folder / "config.toml"
    path.write_text(text + more, encoding="utf-8")
    return path


_modules = [str(ROOT)]  # the folders in which servers look for modules first


@contextmanager
def without_uvloop() -> Iterator[None]:
    """Let servers that are started meanwhile find no uvloop."""
    with TemporaryDirectory(prefix="thudmud.") as folder:
        (Path(folder) / "uvloop.py").write_text("raise ImportError\n", encoding="utf-8")
        _modules.append(folder)
        try:
            yield
        finally:
            _modules.remove(folder)


@dataclass(frozen=True)
class Running:
    """A server that runs.

    Attributes:
        pid: its process.
        place: where it listens.
        started: how many seconds its start took.
        web: where its page is, if it has one.
    """

    pid: int
    place: tuple[str, int]
    started: float
    web: tuple[str, int] = ("", 0)

    @property
    def cpu(self) -> float:
        """The seconds that its processor has worked for it so far, all threads together."""
        return time.clock_gettime((~self.pid << 3) | 2)  # Linux's clock of another process

    @property
    def files(self) -> int:
        """How many files it has open, connections among them."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))  # noqa: PTH208  (there may be thousands)

    @property
    def memory(self) -> float:
        """The KiB of memory that it takes."""
        pages = Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / KIB


@contextmanager
def started(
    words: Iterable[str | Path], folder: Path, log: Path | None = None, files: int = 0
) -> Iterator[Running]:
    """Start a server, wait until it is ready, and stop it in the end.

    Args:
        words: its module, and what that is told.
        folder: where it runs.
        log: where it reports; by default where we do.
        files: how many it may open, if not as many as we.
    """
    limited = ["prlimit", f"--nofile={files}"] if files else []
    begun = time.perf_counter()
    with (
        nullcontext() if log is None else log.open("ab") as errors,
        subprocess.Popen(  # noqa: S603  (our own commands)
            [*limited, sys.executable, "-m", *words],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(_modules)},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout
            ways = process.stdout.readline().split(" or ")
            taken = time.perf_counter() - begun
            links = [urlsplit(each.split()[-1]) for each in ways if "://" in each]
            page = [(link.hostname or "", link.port or 0) for link in links]
            # Plain telnet comes before TLS.
            *_, host, port = next(each for each in ways if "://" not in each).split()
            yield Running(process.pid, (host, int(port)), taken, *page)
        finally:
            process.kill()


@contextmanager
def thudmud(
    folder: Path,
    boards: int = 4,
    sections: Sections = RAISED,
    *,
    more: str = "",
    rules: str = "discworld",
    log: Path | None = None,
    files: int = 0,
    module: str = "thudmud.cli.main",
) -> Iterator[Running]:
    """Start the real server; `configured` and `started` tell how, and what is run is a module."""
    folder.mkdir(parents=True, exist_ok=True)
    config = configured(folder, boards, sections, more, rules)
    words = [module, "serve", "--config", str(config)]
    with started(words, folder, log, files) as running:
        yield running


WAIT = 4.0
"""How many seconds telnetlib3 waits, by default, for a client that does not say what it can."""


@contextmanager
def yardstick(kind: str, folder: Path) -> Iterator[Running]:
    """Start one of the servers of ``echo.py``."""
    with started(["benchmarks.load.echo", kind, str(WAIT)], folder) as running:
        yield running
