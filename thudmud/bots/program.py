"""Client side of the engine protocol: an engine process, which may misbehave in any way.

The time until an answer and the amount of output before it are limited. `thudmud.bots.keeper` runs
the program, and kills all its processes in the end.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import sys
from codecs import BOM_UTF8
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

from thudmud.bots import LONGEST_LINE, keeper
from thudmud.bots.opponent import Task
from thudmud.child import ChildProcess
from thudmud.errors import ThudmudError

ENGINE = (sys.executable, "-P", "-m", "thudmud.cli.main", "engine")
"""Command of the built-in engine."""

STARTING = 20.0
"""Seconds that a program may take from its start to its first answer."""

MOST_SAID = 262_144
"""Maximum output before an answer, in bytes."""

_KEEPER = (sys.executable, "-I", "-S", keeper.__file__)
_LEAVING = 1.0  # seconds for the program to end by itself
_ENDING = 5.0  # seconds for the keeper to kill everything
_PIECE = 4096  # bytes to read before yielding to other tasks
_PAUSE = 0.05  # seconds between two reads of standard error
_MOST_LOGGED = 4000  # bytes of standard error to log
_LONGEST_QUOTE = 60
_SESSION, _TIMES = 3, slice(11, 15)  # fields of /proc/PID/stat after the name, see proc(5)
_log = logging.getLogger(__name__)


class ProgramError(ThudmudError):
    """The program cannot be used any longer; the message gives the reason."""


class LateError(ProgramError):
    """The program has not answered in time."""


def is_installed(program: str, folder: Path) -> bool:
    """Return whether a program exists: relative to the folder if it is a path, else on PATH."""
    # An absolute path, since "./pebble" in the folder "." would become "pebble", a word for PATH.
    path = str(folder.absolute() / program) if "/" in program else program
    return shutil.which(path) is not None


class Program:
    """A program that speaks the engine protocol; `ply` starts it on first use.

    Args:
        name: name of the program in the log.
        command: the program and its arguments.
        folder: working directory.
        seconds: time limit for a ply, and for any other answer.
        niceness: increment of the niceness.
        starting: time limit for its first answer.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        folder: Path,
        seconds: float,
        *,
        niceness: int = 0,
        starting: float = STARTING,
    ) -> None:
        self._name, self._folder, self._seconds = name, folder, seconds
        self._niceness, self._starting = niceness, starting
        self._command = tuple(command)
        self._process: ChildProcess | None = None
        self._listening: asyncio.Task[None] | None = None
        self._said = b""
        """Output that has been read but not parsed."""

    async def start(self) -> None:
        """Start the program, unless it is running.

        Raises:
            ProgramError: the program cannot be started, or does not answer.
        """
        if self._process is not None:
            return
        program = self._command[0]
        if not hasattr(os, "posix_spawnp"):
            raise ProgramError(f"cannot start {program}: that takes POSIX, so not Windows")
        if not is_installed(program, self._folder):
            raise ProgramError(f"no executable program {program!a}")
        self._said = b""
        starting = asyncio.create_task(self._begin())
        try:
            # If a start is cancelled halfway, asyncio waits until the pipes close. Descendants of
            # the program may hold them open for ever, hence the shield.
            self._process = await asyncio.shield(starting)
        except asyncio.CancelledError:
            await finish(self._end(starting))
            raise
        except (OSError, ValueError) as error:
            raise ProgramError(f"cannot start {program}: {error}") from error
        self._listening = asyncio.create_task(self._listen(self._process))
        await self.ask("name", self._starting)

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
        """Kill a process whose start was cancelled, as soon as it has started."""
        try:
            await self._kill(await starting)
        except (OSError, ValueError):
            pass  # the start failed, so there is nothing to end
        except Exception:  # noqa: BLE001  (the cancellation has to be raised)
            _log.exception("could not end the program of %s", self._name)

    async def ply(self, task: Task) -> str:
        """Ask the program for a ply.

        Raises:
            ProgramError: the program gives no answer in time, or a wrong one.
        """
        await self.start()
        await self.ask(f"rules {task.game.ruleset}", self._seconds)
        await self.ask(f"position {task.setup}", self._seconds)
        return await self.ask(f"go {self._seconds:g}", self._seconds)

    def cpu_seconds(self) -> float | None:
        """Return the CPU seconds of all processes in the program's session.

        None if the program isn't running, or on systems without /proc.
        """
        if self._process is None:
            return None
        ticks = 0
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                # Split after the second field: a name in brackets that may contain any characters.
                fields = (
                    path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
                )
                if int(fields[_SESSION]) == self._process.pid:
                    ticks += sum(map(int, fields[_TIMES]))
        return ticks / os.sysconf("SC_CLK_TCK") if ticks else None

    async def stop(self) -> None:
        """Ask the program to quit, and kill it if it doesn't."""
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
        """Kill the program and its descendants, even if the caller is cancelled meanwhile."""
        process, self._process = self._process, None
        if process is not None:
            try:
                await finish(self._kill(process))
            finally:
                if self._listening:
                    self._listening.cancel()

    async def _kill(self, process: ChildProcess) -> None:
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)  # a suspended keeper would not handle SIGTERM
        process.close_outputs()
        try:
            async with asyncio.timeout(_ENDING):
                await process.wait()
        except TimeoutError:
            _log.error("could not end processes of the program of %s", self._name)
            process.send_signal(signal.SIGKILL)
            await process.wait()
        process.close()

    async def stop_thinking(self) -> None:
        """Abort a search and discard its answer; kill the program if it doesn't obey."""
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
        """Send commands and wait for the answers.

        Args:
            line: a command, or several lines that are sent at once.
            seconds: time limit for all answers together.
            note: called with each comment before an answer; a comment restarts the time limit.

        Returns:
            The answer to the last command, without its first word.

        Raises:
            LateError: there is no answer in time.
            ProgramError: the program answers with an error or another word, or has ended.
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
                        raise ProgramError(
                            f'expected an answer to "{word}", got {answer[:_LONGEST_QUOTE]!r}'
                        )
        except TimeoutError:
            raise LateError(f'no answer to "{word}" within {seconds:g} seconds') from None
        except OSError as error:
            if await self._has_ended():
                raise _ended_error(word) from None
            raise ProgramError(f'could not send "{word}": {error}') from None
        return rest.strip()

    async def _has_ended(self) -> bool:
        """Return whether the program has ended; wait for its standard error to be logged first.

        The end of standard error is taken as the end of the program.
        """
        if self._listening:
            await asyncio.wait([self._listening], timeout=_LEAVING)
        return bool(self._listening and self._listening.done())

    async def _send(self, line: str) -> None:
        process = self._process
        if process is None or process.stdin is None:
            raise ProgramError("the program is not running")
        if process.stdin.is_closing():  # writing then raises no OSError in uvloop
            raise BrokenPipeError("the program has closed its input")
        process.stdin.write(f"{line}\n".encode())
        await process.stdin.drain()

    async def _answer(self, word: str, passes: Callable[[str], bool]) -> str:
        """Read the answer to a command.

        Args:
            word: first word of the command, for error messages.
            passes: returns whether to skip a line, such as a comment.
        """
        process, left = self._process, MOST_SAID
        if process is None or process.stdout is None:
            raise ProgramError("the program is not running")
        while True:
            while b"\n" in self._said:
                said, _, self._said = self._said.partition(b"\n")
                answer = said.removeprefix(BOM_UTF8).decode("ascii", "replace").strip()
                if not passes(answer):
                    return answer
            if len(self._said) > LONGEST_LINE:
                raise ProgramError(f'the answer to "{word}" is too long')
            if left <= 0:
                raise ProgramError(f'{MOST_SAID} bytes of output, but no answer to "{word}"')
            piece = await process.stdout.read(_PIECE)
            if not piece and not self._said:
                await self._has_ended()
                raise _ended_error(word)
            self._said += piece or b"\n"
            left -= len(piece)
            await asyncio.sleep(0)

    async def _listen(self, process: ChildProcess) -> None:
        """Drain standard error, so that the program doesn't block; log only the beginning."""
        left = _MOST_LOGGED
        while process.stderr and (said := await process.stderr.read(LONGEST_LINE)):
            if left > 0:
                text = said[:left].decode("utf-8", "replace").strip()
                _log.warning("standard error of the program of %s: %s", self._name, text)
            left -= len(said)
            await asyncio.sleep(_PAUSE)


async def finish(work: Awaitable[object]) -> None:
    """Await something to its end; raise a cancellation only afterwards."""
    task, cancelled = asyncio.ensure_future(work), None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled
    task.result()


def _ended_error(word: str) -> ProgramError:
    return ProgramError(f'the program ended instead of answering "{word}"')
