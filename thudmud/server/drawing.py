"""Draws pictures in a process beside the server: one at a time, giving way to whatever else runs.

``python -m thudmud.server.drawing`` is that process. It reads jobs from standard input and writes
what has come of each, both pickled, behind their length; it ends when the server does, however that
ends.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import struct
import sys
from typing import TYPE_CHECKING, Any, BinaryIO

from thudmud.bots.child import ChildProcess
from thudmud.errors import InvalidValueError, ThudmudError
from thudmud.pictures import SCHEMES, gif, png, svg
from thudmud.pictures.drawing import Still
from thudmud.rules import Game, Record
from thudmud.values import Value

NICENESS = 10
"""By how much it gives way, as those do that play."""
PATIENCE = 30.0
"""Seconds after which a picture is given up."""
IDLE = 60.0
"""Seconds after which the process ends if nothing is to be drawn."""
LONGEST = 500
"""The most plies of a GIF: about two megabytes, and four seconds of a processor."""

if TYPE_CHECKING:
    from thudmud.pictures.drawing import Orientation

_ENDED = OSError, EOFError, RuntimeError  # the last is uvloop's, of a pipe that is closed
_LENGTH = struct.Struct("<Q")


class NotDrawnError(ThudmudError):
    """A picture could not be drawn, and may be later."""


class Job(Value):
    """A picture to draw, or a record to write.

    Attributes:
        kind: "svg", "png", "gif" or "thud".
        subject: what a picture shows; the battle of a GIF or a record.
        side: which side of the board is at the bottom.
        colours: a key of `SCHEMES`.
        record: what a record tells besides: its players, day, comments, clock and tournament, as
            `Record` has them.
        spent: the seconds that each ply took, for a record; empty if not known.
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
        """Return the job for a battle, as small as it can be: it has to go to another process.

        Args:
            kind: as above.
            game: the battle.
            ply: after which ply; None as it stands.
            side: as above.
            colours: as above.
            record: as above.
            spent: as above.

        Raises:
            InvalidValueError: the battle has no such ply, or too many for a GIF.
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
        raise InvalidValueError(f"a GIF has at most {LONGEST} plies, and this would have {plies}")


def drawn(job: Job) -> bytes:
    """Return what a job asks for."""
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


class Studio:
    """The process that draws; started when it is first needed, and again after a mistake."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._process: ChildProcess | None = None
        self._killed: ChildProcess | None = None
        """The last one that was, which may not have ended yet."""
        self._rest: asyncio.TimerHandle | None = None

    async def draw(self, job: Job) -> bytes:
        """Return what a job asks for; jobs wait for each other.

        Raises:
            InvalidValueError: it cannot be drawn.
            NotDrawnError: the process has ended, or does not answer.
        """
        async with self._lock:
            if self._rest:
                self._rest.cancel()
            try:
                async with asyncio.timeout(PATIENCE):
                    outcome = await self._ask_twice(job)
            except (*_ENDED, TimeoutError) as error:
                self._end()
                raise NotDrawnError(f"nothing draws: {error!r}") from error
            except asyncio.CancelledError:
                self._end()  # it would answer the next one with this picture
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

    async def _ask_twice(self, job: Job) -> object:
        """Ask, and if the process ends, which it may have done before, another one."""
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
    """Draw until there are no more jobs."""
    while head := jobs.read(_LENGTH.size):
        (length,) = _LENGTH.unpack(head)
        try:
            outcome: object = drawn(pickle.loads(jobs.read(length)))  # noqa: S301  (the server's)
        except (InvalidValueError, ValueError) as error:
            outcome = str(error)
        told = pickle.dumps(outcome)
        pictures.write(_LENGTH.pack(len(told)) + told)
        pictures.flush()


if __name__ == "__main__":
    os.nice(NICENESS)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    main(sys.stdin.buffer, sys.stdout.buffer)
