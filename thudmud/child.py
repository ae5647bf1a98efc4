"""Child processes with pipes: engines, the drawing of pictures, and the check of a store.

asyncio reports the end of a process only after its pipes have closed as well. Descendants of the
process may hold them open for ever, and a reader that has stopped never sees EOF. `ChildProcess`
therefore has methods that close the pipes, which `asyncio.subprocess.Process` lacks.
"""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from contextlib import suppress
from pathlib import Path


def send_signal(pid: int, number: int) -> None:
    """Send a signal to a process, if it still exists.

    asyncio's own method polls the process first. If the poll reaps the process before asyncio's
    watcher does, the watcher logs a warning and reports return code 255 (python/cpython#87744).
    """
    with suppress(ProcessLookupError):
        os.kill(pid, number)


class ChildProcess(Process):
    """A child process in its own session, with pipes as standard input and output.

    Because of the separate session, a Ctrl-C in the server's terminal doesn't reach it.
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
            stderr: `PIPE`; None to inherit the server's standard error.
            folder: working directory; None for the server's.
            limit: size of the output buffer in bytes; a full buffer makes the child wait.

        Raises:
            OSError: the program can't be started.
            ValueError: an argument contains a NUL character.
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
        """Close standard output and standard error here, even if descendants hold them open."""
        for number in (1, 2):
            if pipe := self._pipes.get_pipe_transport(number):
                pipe.close()

    def close(self) -> None:
        """Close all pipes, and kill the process if still running."""
        self._pipes.close()
