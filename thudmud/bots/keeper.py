"""Runs a program, and ends all that it has started: ``python keeper.py SERVER NICE COMMAND...``.

It stands between the server, which is the process SERVER, and the program, and is in nobody's way:
the program has the pipes. Both give way to other processes by NICE, as nice(1) has it. When the
program ends, when the keeper is told to end (SIGTERM), or when the server is gone, however that
ended, it kills the program and every process that has come of it.

On Linux none escapes by a session of its own, or by outliving its parent: whatever loses its parent
becomes a child of the nearest subreaper, prctl(2), which the keeper is. Elsewhere it kills what has
stayed in the program's process group. It is run as a file, without the rest of thudmud: it is small
and starts at once.
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
_PAUSE = 0.01  # seconds that what was killed has to be gone
_SIGNALS = {signal.SIGTERM, signal.SIGCHLD}


def keep(server: int, niceness: int, command: list[str]) -> int:
    """Run a program to its end, or that of the server; leave nothing of it behind."""
    _give_way(niceness)
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    _adopt_all()
    if os.getppid() != server:  # it went before it could be told to us
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
    for stream in (0, 1, 2):  # the program's alone: the server sees when it closes them
        os.dup2(nowhere, stream)
    try:
        while signal.sigwait(_SIGNALS) == signal.SIGCHLD and _is_running(program):
            pass
    finally:
        _end_all(program)
    return 0


def _give_way(niceness: int) -> None:
    """Give way to other processes, also where Linux shares processors out by sessions first.

    There (sched(7), autogroups) a process is only as nice as its session, and this is one.
    """
    os.nice(niceness)
    if niceness:
        with suppress(OSError):  # most systems have no such file
            Path("/proc/self/autogroup").write_text(str(niceness), encoding="ascii")


def _adopt_all() -> None:
    """Ask Linux for the orphans, and for a signal when the server ends."""
    import ctypes  # noqa: PLC0415  (it may be missing where there is no such call)

    with suppress(OSError, AttributeError):
        prctl = ctypes.CDLL(None).prctl
        prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _is_running(program: int) -> bool:
    """Wait for all that has ended; return whether the program is not among it."""
    while True:
        ended, _ = os.waitpid(-1, os.WNOHANG)
        if ended in {0, program}:
            return not ended


def _end_all(program: int) -> None:
    """Kill everything until nothing is left; what a process had started becomes ours with it."""
    with suppress(ChildProcessError):  # nothing is left
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(program, signal.SIGKILL)
        while True:
            for child in _children():
                # A child of ours is there until we wait for it: its number is no other's.
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            time.sleep(_PAUSE)


def _children() -> Iterator[int]:
    """Yield the processes whose parent this one is, where /proc tells."""
    own = str(os.getpid())
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # The name, in brackets, may hold anything; behind it stand the state and the parent.
            _, parent, *_ = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            if parent.decode() == own:
                yield int(folder.name)


if __name__ == "__main__":
    sys.exit(keep(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
