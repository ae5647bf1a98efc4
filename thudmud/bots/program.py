"""A program that plays: a process that is asked line by line, and may misbehave in any way.

There is a limit on the time until an answer, and on the output that is read before it.
`thudmud.bots.keeper` runs the program, and ends all its processes.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

from thudmud.bots import LONGEST_LINE, keeper
from thudmud.bots.child import ChildProcess
from thudmud.bots.opponent import Task
from thudmud.errors import ThudmudError

ENGINE = (sys.executable, "-P", "-m", "thudmud.cli.main", "engine")
"""Our own player."""

STARTING = 20.0
"""Seconds that a program may take to start, until its first answer."""

MOST_SAID = 262_144
"""The most bytes that a program may print before it answers."""

_KEEPER = (sys.executable, "-I", "-S", keeper.__file__)
_LEAVING = 1.0  # seconds that it has to end by itself
_ENDING = 5.0  # seconds that its keeper has to end everything
_PIECE = 4096  # bytes that are read before it is the others' turn
_PAUSE = 0.05  # seconds between two reads of its standard error
_MOST_LOGGED = 4000  # bytes of its standard error
_LONGEST_QUOTE = 60
_SESSION, _TIMES = 3, slice(11, 15)  # fields of /proc/PID/stat after the name, see proc(5)
_log = logging.getLogger(__name__)


class ProgramError(ThudmudError):
    """The program cannot be used any longer; the message says why."""


class LateError(ProgramError):
    """It has not answered in time."""


def is_there(program: str, folder: Path) -> bool:
    """Return whether a program exists: in the folder, if it is a path, else on the PATH."""
    return shutil.which(str(folder / program) if "/" in program else program) is not None


class Program:
    """A program that speaks the engine protocol, started when it is first asked.

    The program may take so many seconds for a ply, and for anything else.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        folder: Path,
        seconds: float,
        *,
        niceness: int = 0,
    ) -> None:
        self._name, self._folder, self._seconds = name, folder, seconds
        self._niceness = niceness
        self._command = tuple(command)
        self._process: ChildProcess | None = None
        self._listening: asyncio.Task[None] | None = None
        self._said = b""
        """Output that was read, and not parsed yet."""

    async def start(self) -> None:
        """Start it, unless it is running.

        Raises:
            ProgramError: it cannot be started, or does not answer.
        """
        if self._process is not None:
            return
        program = self._command[0]
        if not is_there(program, self._folder):
            raise ProgramError(f"there is no program {program!a} to be run")
        self._said = b""
        starting = asyncio.create_task(self._begin())
        try:
            # asyncio waits for a start that is cancelled halfway until the pipes are closed, and
            # processes that the program has started by then may keep them open for ever.
            self._process = await asyncio.shield(starting)
        except asyncio.CancelledError:
            await finish(self._end(starting))
            raise
        except (OSError, ValueError) as error:
            raise ProgramError(f"{program} cannot be started: {error}") from error
        self._listening = asyncio.create_task(self._listen(self._process))
        await self.ask("name", STARTING)

    async def _begin(self) -> ChildProcess:
        return await ChildProcess.start(
            *_KEEPER,
            str(os.getpid()),
            str(self._niceness),
            *self._command,
            stderr=asyncio.subprocess.PIPE,
            folder=self._folder,
            limit=LONGEST_LINE,
        )

    async def _end(self, starting: asyncio.Task[ChildProcess]) -> None:
        """End a process whose start was cancelled, as soon as it has started."""
        try:
            await self._kill(await starting)
        except (OSError, ValueError):
            pass  # it did not start
        except Exception:  # noqa: BLE001  (the cancellation has to be raised)
            _log.exception("the program of %s could not be ended", self._name)

    async def ply(self, task: Task) -> str:
        """Return the ply that it chooses; ProgramError if it chooses none, in time."""
        await self.start()
        await self.ask(f"rules {task.game.ruleset}", self._seconds)
        await self.ask(f"position {task.setup}", self._seconds)
        return await self.ask(f"go {self._seconds:g}", self._seconds)

    def cpu_seconds(self) -> float | None:
        """Return the CPU seconds of the program and its processes.

        None where /proc does not tell them.
        """
        if self._process is None:
            return None
        ticks = 0
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                # The second field, a name in brackets, may have any characters.
                fields = (
                    path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
                )
                if int(fields[_SESSION]) == self._process.pid:
                    ticks += sum(map(int, fields[_TIMES]))
        return ticks / os.sysconf("SC_CLK_TCK") if ticks else None

    async def stop(self) -> None:
        """Ask it to quit, or else kill it."""
        try:
            if self._process is not None:
                with suppress(ProgramError):
                    await self.ask("quit", _LEAVING)
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LEAVING):
                        await self._process.wait()
        finally:
            await self.kill()

    async def kill(self) -> None:
        """Kill it, and the processes that it has started, also when cancelled meanwhile."""
        process, self._process = self._process, None
        if process is not None:
            try:
                await finish(self._kill(process))
            finally:
                if self._listening:
                    self._listening.cancel()

    async def _kill(self, process: ChildProcess) -> None:
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)  # it may be suspended
        process.close_outputs()
        try:
            async with asyncio.timeout(_ENDING):
                await process.wait()
        except TimeoutError:
            _log.error("processes of the program of %s cannot be ended", self._name)
            process.send_signal(signal.SIGKILL)
            await process.wait()
        process.close()

    async def stop_thinking(self) -> None:
        """Have it stop thinking, as nobody waits for the answer any more; else kill it."""
        if self._process is None:
            return
        try:
            async with asyncio.timeout(_LEAVING):
                await self._send("stop")
                await self._answer("stop", lambda said: said != "stop")
        except (TimeoutError, OSError, ProgramError):
            await self.kill()

    async def ask(
        self, line: str, seconds: float, note: Callable[[str], object] | None = None
    ) -> str:
        """Ask something; return the answer without its first word.

        Args:
            line: the question; or several lines, sent at once, of which the last is the question.
            seconds: the seconds to wait for the answer.
            note: called with each comment before the answer, after which it may take as long again.

        Raises:
            LateError: there is no answer in time.
            ProgramError: it answers something else, with an error, or not at all.
        """
        words = [each.partition(" ")[0] for each in line.split("\n")]
        word = words[0]

        def is_comment(said: str) -> bool:
            if note and said.startswith("#"):
                note(said)
                limit.reschedule(asyncio.get_running_loop().time() + seconds)
            return not said or said.startswith("#")

        try:
            async with asyncio.timeout(seconds) as limit:
                await self._send(line)
                for word in words:
                    answer = await self._answer(word, is_comment)
                    said, _, rest = answer.partition(" ")
                    if said != word:
                        raise ProgramError(f'it answers "{word}" with {answer[:_LONGEST_QUOTE]!r}')
        except TimeoutError:
            raise LateError(f'it gives no answer to "{word}" for {seconds:g} seconds') from None
        except OSError as error:
            if await self._has_ended():
                raise _ended(word) from None
            raise ProgramError(f'it does not take "{word}": {error}') from None
        return rest.strip()

    async def _has_ended(self) -> bool:
        """Return whether it has ended, once its standard error, which may tell why, is logged."""
        if self._listening:
            await asyncio.wait([self._listening], timeout=_LEAVING)
        return bool(self._listening and self._listening.done())

    async def _send(self, line: str) -> None:
        process = self._process
        if process is None or process.stdin is None:
            raise ProgramError("it is not running")
        if process.stdin.is_closing():  # writing then raises no OSError in uvloop
            raise BrokenPipeError("it reads nothing any more")
        process.stdin.write(f"{line}\n".encode())
        await process.stdin.drain()

    async def _answer(self, word: str, passes: Callable[[str], bool]) -> str:
        """Return the next line that is not to be skipped: the answer to a word."""
        process, left = self._process, MOST_SAID
        if process is None or process.stdout is None:
            raise ProgramError("it is not running")
        while True:
            while b"\n" in self._said:
                said, _, self._said = self._said.partition(b"\n")
                answer = said.decode("ascii", "replace").strip()
                if not passes(answer):
                    return answer
            if len(self._said) > LONGEST_LINE:
                raise ProgramError(f'it answers "{word}" with a line that is too long')
            if left <= 0:
                raise ProgramError(f'it says {MOST_SAID} bytes, but no answer to "{word}"')
            piece = await process.stdout.read(_PIECE)
            if not piece and not self._said:
                await self._has_ended()
                raise _ended(word)
            self._said += piece or b"\n"
            left -= len(piece)
            await asyncio.sleep(0)

    async def _listen(self, process: ChildProcess) -> None:
        """Log the beginning of its standard error; read all of it, so that it does not block."""
        left = _MOST_LOGGED
        while process.stderr and (said := await process.stderr.read(LONGEST_LINE)):
            if left > 0:
                text = said[:left].decode("utf-8", "replace").strip()
                _log.warning("the program of %s complains: %s", self._name, text)
            left -= len(said)
            await asyncio.sleep(_PAUSE)


async def finish(work: Awaitable[object]) -> None:
    """Do something to its end. A cancellation meanwhile is raised behind it."""
    task, cancelled = asyncio.ensure_future(work), None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled
    task.result()


def _ended(word: str) -> ProgramError:
    return ProgramError(f'it has ended instead of answering "{word}"')
