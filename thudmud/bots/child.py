"""Child processes with pipes: one maker of them, for programs that play and for pictures.

asyncio says that a process has ended only once its pipes are closed, too. Processes that it has
left behind may hold them open for ever, and a reader who has stopped never sees their end. So a
child's pipes can be closed here, which `asyncio.subprocess.Process` has no method for.
"""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from contextlib import suppress
from pathlib import Path


def send_signal(pid: int, number: int) -> None:
    """Send a signal to a process, if it still exists.

    asyncio's own method polls the process first. If that reaps it before asyncio's watcher does,
    the watcher warns of an unknown process, and makes up a return code (python/cpython#87744).
    """
    with suppress(ProcessLookupError):
        os.kill(pid, number)


class ChildProcess(Process):
    """A process of a session of its own, whose standard input and output are pipes.

    As it leads its session, a Ctrl-C at the server doesn't reach it.
    """

    def __init__(
        self,
        transport: asyncio.SubprocessTransport,
        protocol: SubprocessStreamProtocol,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        super().__init__(transport, protocol, loop)
        self._pipes = transport

    @classmethod
    async def start(
        cls,
        *command: str,
        stderr: int | None = None,
        folder: Path | None = None,
        limit: int = 65_536,
    ) -> ChildProcess:
        """Start a command.

        Args:
            command: the program and its arguments.
            stderr: `PIPE`; None to write to the server's standard error.
            folder: its working directory; None for the server's.
            limit: bytes of output to buffer before the child has to wait.

        Raises:
            OSError: it can't be started.
            ValueError: an argument has a NUL character.
        """
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.subprocess_exec(
            lambda: SubprocessStreamProtocol(limit=limit, loop=loop),
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=stderr,
            cwd=folder,
            start_new_session=True,
        )
        return cls(transport, protocol, loop)

    def send_signal(self, signal: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.returncode is None:
            send_signal(self.pid, signal)

    def close_outputs(self) -> None:
        """Stop reading standard output and standard error, whoever still holds them open."""
        for number in (1, 2):
            if pipe := self._pipes.get_pipe_transport(number):
                pipe.close()

    def close(self) -> None:
        """Close all pipes; kill the process if it's still running."""
        self._pipes.close()
