"""Server processes: how they are started, and the resources they use.

Owns the configuration that thudmud is measured with. Must never drive a server.
"""

from __future__ import annotations

import os
import resource
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
"""Settings of a configuration, by section and name; text values include their quotes."""

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
"""Settings that raise the limits for single clients: here one machine plays everyone. The number of
commands handled in a turn, and the length of the queue, keep their defaults."""


def raise_file_limit() -> int:
    """Raise the soft limit of open files to the hard limit, for child processes, too; return it."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


def letters(number: int) -> str:
    """Return a number as four letters, since names cannot contain digits."""
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
    """Write a configuration file, and return its path.

    Args:
        folder: the server's working directory.
        boards: number of boards.
        sections: settings that differ from the defaults.
        more: text to append.
        rules: ruleset of all boards.
    """
    text = "" if "web" in sections else "[web]\nenabled = false\n"
    for section, values in sections.items():
        text += f"[{section}]\n" + "".join(f"{key} = {value}\n" for key, value in values.items())
    for number in range(boards):
        text += f'[[board]]\nname = "{board(number)}"\nrules = "{rules}"\n'
    path = folder / "config.toml"
    path.write_text(text + more, encoding="utf-8")
    return path


_modules = [str(ROOT)]  # PYTHONPATH of servers


@contextmanager
def without_uvloop() -> Iterator[None]:
    """Hide uvloop from servers that are started in the context."""
    with TemporaryDirectory(prefix="thudmud.") as folder:
        (Path(folder) / "uvloop.py").write_text("raise ImportError\n", encoding="utf-8")
        _modules.append(folder)
        try:
            yield
        finally:
            _modules.remove(folder)


@contextmanager
def servers_of_checkout(root: Path) -> Iterator[None]:
    """Start servers in the context from the modules of another checkout."""
    before = _modules[:]
    _modules[:] = [str(root.resolve()), *before[1:]]
    try:
        yield
    finally:
        _modules[:] = before


@dataclass(frozen=True)
class Running:
    """A running server.

    Attributes:
        pid: process id.
        place: address and port.
        started: seconds that the start took.
        web: address and port of the page, if any.
    """

    pid: int
    place: tuple[str, int]
    started: float
    web: tuple[str, int] = ("", 0)

    @property
    def cpu(self) -> float:
        """CPU seconds of all threads so far."""
        return time.clock_gettime((~self.pid << 3) | 2)  # Linux's CPU clock of another process

    @property
    def files(self) -> int:
        """Number of open files, including connections."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))  # noqa: PTH208  (there may be thousands)

    @property
    def memory(self) -> float:
        """Resident memory, in KiB."""
        pages = Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / KIB


@contextmanager
def started(
    words: Iterable[str | Path], folder: Path, log: Path | None = None, files: int = 0
) -> Iterator[Running]:
    """Start a server, wait until it is ready, and kill it on exit.

    Args:
        words: the module and its arguments.
        folder: working directory.
        log: file for standard error; by default it is inherited.
        files: limit of open files; 0 to inherit it.
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
            # The ready line lists plain telnet before TLS.
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
    """Start the real server, or another module in its place; see `configured` and `started`."""
    folder.mkdir(parents=True, exist_ok=True)
    config = configured(folder, boards, sections, more, rules)
    words = [module, "serve", "--config", str(config)]
    with started(words, folder, log, files) as running:
        yield running


WAIT = 4.0
"""Default seconds for which telnetlib3 waits for a client that doesn't negotiate."""


@contextmanager
def yardstick(kind: str, folder: Path) -> Iterator[Running]:
    """Start one of the servers of ``echo.py``."""
    with started(["benchmarks.load.echo", kind, str(WAIT)], folder) as running:
        yield running
