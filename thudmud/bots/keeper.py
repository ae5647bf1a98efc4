"""Runs a program, and ends all its processes: ``python keeper.py SERVER NICE COMMAND...``.

It runs between the server, the process with the id SERVER, and the program, which has the pipes.
Both are niced by NICE, as by nice(1). When the program ends, when the keeper is told to end
(SIGTERM), or when the server is gone, however it ended, the keeper kills the program and all its
descendants.

On Linux none escapes by a session of its own, or by outliving its parent: an orphan becomes a child
of the nearest subreaper, prctl(2), which the keeper is. Elsewhere the keeper kills what is still in
the program's process group. It is run as a file, without the rest of thudmud: it is small and
starts at once.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h
_PAUSE = 0.01  # seconds that killed processes have to be gone
_SIGNALS = {signal.SIGTERM, signal.SIGCHLD}


def keep(server: int, niceness: int, command: list[str]) -> int:
    """Run a program to its end, or the server's; leave none of its processes behind."""
    _give_way(niceness)
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    _adopt_all()
    if os.getppid() != server:  # it has ended already
        return 1
    try:
        program = os.posix_spawnp(
            command[0],
            command,
            os.environ,
            setpgroup=0,
            setsigmask=(),
            setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),  # which Python ignores
        )
    except OSError as error:
        print(f"{command[0]} cannot be started: {error.strerror}", file=sys.stderr)
        return 1
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # only the program has them: the server notices when it closes them
        os.dup2(nowhere, stream)
    try:
        while signal.sigwait(_SIGNALS) == signal.SIGCHLD and _is_running(program):
            pass
    finally:
        _end_all(program)
    return 0


def _give_way(niceness: int) -> None:
    """Lower the priority, also where Linux shares processors by session first.

    With autogroups, sched(7), niceness only counts within a session, and this is one.
    """
    os.nice(niceness)
    if niceness:
        with suppress(OSError):  # most systems have no such file
            Path("/proc/self/autogroup").write_text(str(niceness), encoding="ascii")


def _adopt_all() -> None:
    """Ask Linux to make orphans our children, and for a signal when the server ends."""
    import ctypes  # noqa: PLC0415  (may be missing on systems without such a call)

    with suppress(OSError, AttributeError):
        prctl = ctypes.CDLL(None).prctl
        prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _is_running(program: int) -> bool:
    """Reap ended processes; return whether the program is still running."""
    while True:
        ended, _ = os.waitpid(-1, os.WNOHANG)
        if ended in {0, program}:
            return not ended


def _end_all(program: int) -> None:
    """Kill processes until none is left; children of a killed process become ours."""
    with suppress(ChildProcessError):  # none is left
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(program, signal.SIGKILL)
        while True:
            for child in _children():
                # The id of a child of ours is not reused until we wait for it.
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            time.sleep(_PAUSE)


def _children() -> Iterator[int]:
    """Yield our child processes, where /proc lists them."""
    own = str(os.getpid())
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # The name, in brackets, may have any characters; after it come the state and the
            # parent.
            _, parent, *_ = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            if parent.decode() == own:
                yield int(folder.name)


if __name__ == "__main__":
    sys.exit(keep(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
