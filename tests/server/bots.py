"""Programs for bots, good ones and bad ones, and players to play with them."""

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
from thudmud.server import serve as serving
from thudmud.server.config import Settings
from thudmud.server.sessions import Sessions
from thudmud.service import Dismissal, Result
from thudmud.telnet.screen import CloseReason
from thudmud.views import Message, Terminal

PATIENCE = 60.0  # seconds after which what was waited for will not come

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
    """Return a command that does something when it is to play; all else it answers well."""
    body = "\n".join(f"    {line}" for line in going.strip().splitlines())
    return [sys.executable, "-S", "-c", _LOOP + body]


def noting(words: Sequence[str], going: str) -> list[str]:
    """Return a command that does the same, and notes in files what followed some words."""
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
    """Wait for something that has no bell."""
    async with asyncio.timeout(patience):
        while not is_so():  # noqa: ASYNC110  (it has no bell)
            await asyncio.sleep(0.01)


class Person:
    """A player without a connection, who notes what is shown."""

    def __init__(self, sessions: Sessions, name: str) -> None:
        self.name, self.address, self.shown = name, "", ""
        self._lobby = sessions
        self._news = asyncio.Event()
        self.ended = False

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

    def dismissed(self, why: Dismissal) -> None:
        self.end("")

    def end(self, sentence: str, why: CloseReason = CloseReason.STOPPED) -> None:
        self.ended = True
        self._lobby.remove(self)

    def begin(self, line: str) -> asyncio.Task[Result]:
        """Type a line for which something has to be waited."""
        return asyncio.create_task(self._lobby.submit(self._visit, line))

    async def type(self, *lines: str) -> None:
        for line in lines:
            await self._lobby.submit(self._visit, line)

    async def sees(self, text: str) -> str:
        """Wait until something has been shown since it was last waited for; return all up to it."""
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
    """Return settings with a bot, Grog."""
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
    """Open a sessions with bots in it, and a player, Anna; close it in the end as a server does.

    Args:
        settings: the bots.
        folder: where files and programs are.
        pause: how many seconds bots leave it to others to begin a battle.
        starting: how many seconds a program may take to start.
        worker: what thinks for bots without a command, instead of our own player.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serving, "START_AFTER", pause)
        patch.setattr(bot_program, "STARTING", starting)
        if worker:
            patch.setattr(serving, "Workers", partial(Workers, command=worker))
        async with serving.open_sessions(settings, folder) as sessions:
            anna = Person(sessions, "Anna")
            await anna.come()
            await until(lambda: all(sessions.is_here(bot.name) for bot in settings.bot))
            yield sessions, anna
            sessions.close("The server stops.")
            async with asyncio.timeout(PATIENCE):
                await sessions.wait_closed()


def is_alive(pid: int) -> bool:
    """Whether a process is there, and is not only waiting for its parent to notice its end."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
