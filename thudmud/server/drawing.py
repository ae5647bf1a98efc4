"""Rendering of pictures in a low-priority worker process, one at a time.

``python -m thudmud.server.drawing`` runs the worker. It reads jobs from standard input and writes
results to standard output, both pickled and prefixed with their length. It exits at end of file, so
it never outlives the server, even after a crash.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import struct
import sys
from typing import TYPE_CHECKING, Any, BinaryIO

from thudmud.child import ChildProcess
from thudmud.errors import InvalidValueError, ThudmudError
from thudmud.pictures import SCHEMES, gif, png, svg
from thudmud.pictures.drawing import Still
from thudmud.rules import Game, Record
from thudmud.values import Value

NICENESS = 10
"""The worker's nice value, the same as that of engines."""
PATIENCE = 30.0
"""Timeout for a picture, in seconds."""
IDLE = 60.0
"""Seconds without a job after which the worker process is killed."""
LONGEST = 500
"""Limit on the plies of a GIF; this many take about 2 MB and four seconds of CPU."""

if TYPE_CHECKING:
    from thudmud.pictures.drawing import Orientation

_ENDED = OSError, EOFError, RuntimeError  # uvloop raises RuntimeError for a closed pipe
_LENGTH = struct.Struct("<Q")


class NotDrawnError(ThudmudError):
    """A picture couldn't be drawn for a temporary reason; a later attempt may succeed."""


class Job(Value):
    """A picture to draw or a game record to write.

    Attributes:
        kind: "svg", "png", "gif" or "thud" (a game record).
        subject: the position for a still picture; the battle for a GIF or a record.
        side: the board's orientation: "north" or "south".
        colours: a key of `SCHEMES`.
        record: further fields of `Record`: both players, date, comments, clock, event and round.
        spent: seconds per ply, for a record; empty if unknown.
    """

    kind: str
    subject: Game | Still
    side: str
    colours: str
    record: tuple[Any, ...] = ()
    spent: tuple[float, ...] = ()

    @staticmethod
    def of(
        kind: str,
        game: Game,
        ply: int | None,
        side: str,
        colours: str,
        *,
        record: tuple[Any, ...] = (),
        spent: tuple[float, ...] = (),
    ) -> Job:
        """Return the job for a battle, without data that the worker doesn't need.

        Jobs are pickled and piped to another process, so a still carries only its position.

        Args:
            kind: see `Job`.
            game: the battle.
            ply: number of plies to show; None for all of them.
            side: see `Job`.
            colours: see `Job`.
            record: see `Job`.
            spent: see `Job`.

        Raises:
            InvalidValueError: the battle has fewer plies, or too many for a GIF.
        """
        if kind == "thud":
            return Job(kind, game, side, colours, record, spent)
        if kind != "gif":
            return Job(kind, Still.of(game, ply), side, colours)
        plies = len(game.moves) if ply is None else ply
        require_short(plies)
        if plies > len(game.moves):
            raise InvalidValueError(f"the battle has {len(game.moves)} plies")
        return Job(kind, game.after(plies), side, colours)


def require_short(plies: int) -> None:
    """Raise InvalidValueError if a battle has too many plies for a GIF."""
    if plies > LONGEST:
        raise InvalidValueError(f"expected at most {LONGEST} plies for a GIF, got {plies}")


def render(job: Job) -> bytes:
    """Render a job's picture or record, as bytes."""
    subject = job.subject
    if job.kind == "thud" and isinstance(subject, Game):
        dwarf, troll, date, comments, clock, event, round_ = job.record
        kept = tuple(each for each in comments if each.ply <= len(subject.moves))
        record = Record(subject, dwarf, troll, date, kept, clock, job.spent, event, round_)
        return str(record).encode()
    colours = SCHEMES[job.colours]
    side: Orientation = "north" if job.side == "north" else "south"
    if isinstance(subject, Game):
        return gif(subject, orientation=side, colours=colours)
    position, last, title = subject
    picture = svg(position, last, orientation=side, colours=colours, title=title)
    return picture.encode() if job.kind == "svg" else png(picture)


class DrawingProcess:
    """The drawing worker process: started on first use, and restarted after a failure."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._process: ChildProcess | None = None
        self._killed: ChildProcess | None = None
        """The previous process, which may still be exiting."""
        self._rest: asyncio.TimerHandle | None = None

    async def draw(self, job: Job) -> bytes:
        """Render a job in the worker; concurrent jobs run one after the other.

        Raises:
            InvalidValueError: the worker rejected the job.
            NotDrawnError: the worker has exited or doesn't answer in time.
        """
        async with self._lock:
            if self._rest:
                self._rest.cancel()
            try:
                async with asyncio.timeout(PATIENCE):
                    outcome = await self._ask_with_retry(job)
            except (*_ENDED, TimeoutError) as error:
                self._end()
                raise NotDrawnError(f"the drawing process failed: {error!r}") from error
            except asyncio.CancelledError:
                self._end()  # otherwise the next job would get this picture
                raise
            self._rest = asyncio.get_running_loop().call_later(IDLE, self._end)
        if isinstance(outcome, bytes):
            return outcome
        raise InvalidValueError(str(outcome))

    async def close(self) -> None:
        """End the process."""
        if self._rest:
            self._rest.cancel()
        self._end()
        if self._killed:
            await self._killed.wait()

    async def _ask_with_retry(self, job: Job) -> object:
        """Send a job; retry once in a new process, as the old one may have exited while idle."""
        try:
            return await self._ask(job)
        except _ENDED:
            self._end()
            return await self._ask(job)

    async def _ask(self, job: Job) -> object:
        process = self._process
        if process is None or process.returncode is not None:
            if self._killed:
                await self._killed.wait()
            process = self._process = await ChildProcess.start(sys.executable, "-m", __name__)
        if process.stdin is None or process.stdout is None:
            raise EOFError
        told = pickle.dumps(job)
        process.stdin.write(_LENGTH.pack(len(told)) + told)
        await process.stdin.drain()
        (length,) = _LENGTH.unpack(await process.stdout.readexactly(_LENGTH.size))
        return pickle.loads(await process.stdout.readexactly(length))  # noqa: S301  (our own)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process and process.returncode is None:
            self._killed = process
            process.send_signal(signal.SIGKILL)
            process.close_outputs()


def main(jobs: BinaryIO, pictures: BinaryIO) -> None:
    """Run the worker: answer jobs until end of file."""
    while head := jobs.read(_LENGTH.size):
        (length,) = _LENGTH.unpack(head)
        try:
            outcome: object = render(pickle.loads(jobs.read(length)))  # noqa: S301  (the server's)
        except (InvalidValueError, ValueError) as error:
            outcome = str(error)
        told = pickle.dumps(outcome)
        pictures.write(_LENGTH.pack(len(told)) + told)
        pictures.flush()


if __name__ == "__main__":
    os.nice(NICENESS)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    main(sys.stdin.buffer, sys.stdout.buffer)
