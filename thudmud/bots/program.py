"""One bot's program: a process that is asked line by line, and may do anything wrong.

An answer is waited for so long and no longer, and no more than a line of what it says is kept. Only
processes that were started here are ever ended.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from thudmud.bots import LONGEST_LINE
from thudmud.bots.opponent import Task
from thudmud.errors import ThudmudError

ENGINE = (sys.executable, "-P", "-m", "thudmud.cli.main", "engine")
"""Our own player."""

OWN_LEVEL = "4"
"""How well it plays where a bot has no command: modestly, and with little work for the machine."""

STARTING = 20.0
"""How many seconds a program may take to start, which is told by its first answer."""

_LEAVING = 1.0  # seconds that it has to end by itself
_MOST_LOGGED = 4000  # bytes of what it complains of
_LONGEST_QUOTE = 60
_GROUP, _TIMES = 2, slice(11, 15)  # fields of /proc/PID/stat behind the name, see proc(5)
_log = logging.getLogger(__name__)


class ProgramError(ThudmudError):
    """The program cannot be used any longer, for a reason that this tells."""


class LateError(ProgramError):
    """It has given no answer in time."""


class Program:
    """A program that speaks the engine protocol, which is started when it is first asked.

    Args:
        name: what the bot is called.
        command: what is run, and its arguments; nothing for our own player.
        folder: where it is run.
        seconds: how long it may take for a ply, and for anything else.
    """

    def __init__(self, name: str, command: Sequence[str], folder: Path, seconds: float) -> None:
        self._name, self._command, self._folder = (
            name,
            tuple(command) or (*ENGINE, "--level", OWN_LEVEL),
            folder,
        )
        self._seconds = seconds
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start it, unless it is running.

        Raises:
            ProgramError: it cannot be started, or gives no answer.
        """
        if self._process is not None:
            return
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=self._folder,
                limit=LONGEST_LINE,
                start_new_session=True,  # so that what it starts is ended with it
            )
        except (OSError, ValueError) as error:
            raise ProgramError(f"{self._command[0]} cannot be started: {error}") from error
        self._listening = asyncio.create_task(self._listen(self._process))
        self._ending = asyncio.create_task(_end_children(self._process))
        await self.ask("name", STARTING)

    async def ply(self, task: Task) -> str:
        """Return what it would play.

        Raises:
            ProgramError: it does not tell, in time.
        """
        await self.start()
        await self.ask(f"rules {task.game.ruleset}", self._seconds)
        await self.ask(f"position {task.setup}", self._seconds)
        return await self.ask(f"go {self._seconds:g}", self._seconds)

    def cpu_seconds(self) -> float | None:
        """Return what it has used of the processor, with all that it has started.

        Linux tells; elsewhere it is not known.
        """
        if self._process is None:
            return None
        ticks = 0
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                # The second field, a name in brackets, may hold anything.
                fields = (
                    path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
                )
                if int(fields[_GROUP]) == self._process.pid:
                    ticks += sum(map(int, fields[_TIMES]))
        return ticks / os.sysconf("SC_CLK_TCK") if ticks else None

    async def stop(self) -> None:
        """Let it end, or end it."""
        if self._process is not None:
            with suppress(ProgramError):
                await self.ask("quit", _LEAVING)
            with suppress(TimeoutError):
                async with asyncio.timeout(_LEAVING):
                    await self._process.wait()
        await self.kill()

    async def kill(self) -> None:
        """End it, and what it has started."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        # To asyncio it has only ended when its pipes have: what it has left behind may keep them
        # open, and nobody reads any more of what one that says too much has said.
        transport = process._transport  # type: ignore[attr-defined]  # noqa: SLF001  (asyncio has no other way)
        for output in (1, 2):
            transport.get_pipe_transport(output).close()
        await process.wait()
        if self._ending:
            await self._ending
        if self._listening:
            self._listening.cancel()
        transport.close()

    async def ask(self, line: str, seconds: float) -> str:
        """Return what is behind the first word of the answer to a line.

        Raises:
            LateError: there is none in time.
            ProgramError: it answers something else, with an error, or not at all.
        """
        word = line.partition(" ")[0]
        try:
            async with asyncio.timeout(seconds):
                answer = await self._answer(line)
        except TimeoutError:
            raise LateError(f'it gives no answer to "{word}" for {seconds:g} seconds') from None
        except ValueError:
            raise ProgramError(f'it answers "{word}" with a line that is too long') from None
        except OSError as error:
            raise ProgramError(f'it does not take "{word}": {error}') from None
        said, _, rest = answer.partition(" ")
        if said != word:
            raise ProgramError(f'it answers "{word}" with {answer[:_LONGEST_QUOTE]!r}')
        return rest.strip()

    async def _answer(self, line: str) -> str:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise ProgramError("it is not running")
        process.stdin.write(f"{line}\n".encode())
        await process.stdin.drain()
        while said := await process.stdout.readline():
            answer = said.decode("ascii", "replace").strip()
            if answer and not answer.startswith("#"):
                return answer
        raise ProgramError(f"it has ended instead of answering {line.partition(' ')[0]!r}")

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Log how its complaints begin, and take all of them, so that it does not have to wait."""
        left = _MOST_LOGGED
        while process.stderr and (said := await process.stderr.read(_MOST_LOGGED)):
            if left > 0:
                text = said[:left].decode("utf-8", "replace").strip()
                _log.warning("the program of %s complains: %s", self._name, text)
            left -= len(said)


async def _end_children(process: asyncio.subprocess.Process) -> None:
    """End what a program has started as soon as it ends: later its number may be another's."""
    await process.wait()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
