"""Well-behaved and faulty bot programs, and players to play against them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from thudmud.bots import program as bot_program
from thudmud.bots.workers import Workers
from thudmud.server import runtime as serving
from thudmud.server.config import Settings
from thudmud.server.session_registry import Sessions
from thudmud.service import Dismissal, Result
from thudmud.telnet.screen import CloseReason
from thudmud.views import Message, Terminal

PATIENCE = 60.0  # timeout of every wait, in seconds

_LOOP = """
import os, sys, time
from pathlib import Path
setup = ""
for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    if word == "position":
        setup = rest
    if word != "go":
        print(word, flush=True)
        if word == "quit":
            break
        continue
"""


def program(going: str) -> list[str]:
    """Return a bot command that runs the given code when asked for a move."""
    body = "\n".join(f"    {line}" for line in going.strip().splitlines())
    return [sys.executable, "-S", "-c", _LOOP + body]


def noting(words: Sequence[str], going: str) -> list[str]:
    """Return such a command that also writes the arguments of the given words to files."""
    *command, code = program(going)
    loop, note = "    if word != ", f"    if word in {words!r}: Path(word).write_text(rest)\n"
    return [*command, code.replace(loop, note + loop, 1)]


AMBLING = program('print("go", "TG7-F7" if "TG7" in setup else "TF7-G7", flush=True)')
"""A good player of the trolls, while nobody is in its way."""

BAD = {
    "crashing": program("sys.exit(3)"),
    "dying": program("os.kill(os.getpid(), 9)"),
    "silent": program("pass"),
    "slow": program("time.sleep(3600)"),
    "nonsense": program('print("\\x1b[2J\\x00\\xff bestmove", flush=True)'),
    "illegal": program('print("go TG7-H8", flush=True)'),
    "cheating": program('print("go dA6-A7", flush=True)'),
    "passing": program('print("go", flush=True)'),
    "complaining": program('print("error I do not know", flush=True)'),
    "binary": program(
        "sys.stdout.buffer.write(bytes(range(128, 256)) + b'\\n'); sys.stdout.flush()"
    ),
    "endless": program("while True: print('x' * 65536, end='', flush=True)"),
    "chattering": program("while True: print('# thinking')"),
    "deaf": program("sys.stdin.close(); sys.stdout.close(); time.sleep(3600)"),
    "screaming": program("while True: print('x' * 65536, file=sys.stderr)"),
}
"""Programs that start well, and then do something wrong."""


async def until(is_so: Callable[[], bool], patience: float = PATIENCE) -> None:
    """Poll until a condition holds, where there is no event to wait for."""
    async with asyncio.timeout(patience):
        while not is_so():  # noqa: ASYNC110  (no event to wait for)
            await asyncio.sleep(0.01)


class Person:
    """A player without a connection, who records all output."""

    def __init__(self, sessions: Sessions, name: str) -> None:
        self.name, self.address, self.shown = name, "", ""
        self._lobby = sessions
        self._news = asyncio.Event()
        self.has_ended = False

    async def come(self) -> None:
        self._lobby.add(self)
        terminal = Terminal(packages=frozenset({"thud"}))
        visit = await self._lobby.admit(self, self.name, terminal)
        assert visit
        self._visit = visit

    def put(self, message: Message) -> None:
        if not message.package:
            self.shown += " ".join(message.text.split()) + "\n"
        self._news.set()

    def handle_dismissal(self, why: Dismissal) -> None:
        self.end("")

    def end(self, sentence: str, why: CloseReason = CloseReason.STOPPED) -> None:
        self.has_ended = True
        self._lobby.remove(self)

    def begin(self, line: str) -> asyncio.Task[Result]:
        """Type a line without waiting for its answer."""
        return asyncio.create_task(self._lobby.submit(self._visit, line))

    async def type(self, *lines: str) -> None:
        for line in lines:
            await self._lobby.submit(self._visit, line)

    async def sees(self, text: str) -> str:
        """Wait for a string in the output since the last wait; return the output up to it."""
        try:
            async with asyncio.timeout(PATIENCE):
                while text not in self.shown:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"{text!r} was not shown, only: {self.shown[-1500:]}") from None
        before, _, self.shown = self.shown.partition(text)
        return before


def settings(
    command: Sequence[str] = (),
    seconds: float = 10.0,
    restarts: int = 1,
    backend: str = "memory",
    pause: float = 0.0,
) -> Settings:
    """Return settings with one bot, Grog."""
    grog = {
        "name": "Grog",
        "command": list(command),
        "seconds": seconds,
        "restarts": restarts,
        "pause": pause,
    }
    return Settings.model_validate({"storage": {"backend": backend}, "bot": [grog]})


@asynccontextmanager
async def opened(
    settings: Settings,
    folder: Path,
    *,
    pause: float = 3600.0,
    starting: float = PATIENCE,
    worker: Sequence[str] | None = None,
) -> AsyncIterator[tuple[Sessions, Person]]:
    """Open sessions with bots and a player, Anna; close them at the end as the server does.

    Args:
        settings: settings that include the bots.
        folder: the folder of files and programs.
        pause: seconds that bots wait for others to begin a battle.
        starting: seconds that a program may take to start.
        worker: the command that replaces the built-in engine for bots without a command.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serving, "START_AFTER", pause)
        patch.setattr(bot_program, "STARTING", starting)
        if worker:
            patch.setattr(serving, "Workers", partial(Workers, command=worker))
        async with serving.open_sessions(settings, folder) as sessions:
            anna = Person(sessions, "Anna")
            await anna.come()
            await until(lambda: all(sessions.is_online(bot.name) for bot in settings.bot))
            yield sessions, anna
            sessions.close("The server stops.")
            async with asyncio.timeout(PATIENCE):
                await sessions.wait_closed()


def is_alive(pid: int) -> bool:
    """Whether a process exists and isn't a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
