"""Supervisor of an engine process: ``python keeper.py SERVER NICE COMMAND...``.

The keeper runs between the server (the process with the id SERVER) and the program, which inherits
the pipes. NICE is added to the niceness of keeper and program, as by nice(1). The keeper kills the
program and all its descendants when the program ends, when SIGTERM arrives, or when the server has
ended for whatever reason.

On Linux no descendant escapes by starting a session or by outliving its parent: orphans become
children of the nearest subreaper, prctl(2), which is the keeper. On other systems the keeper kills
the program's process group. This file is run by its path and imports nothing else of thudmud, so
that it stays small and starts quickly.
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
_PAUSE = 0.01  # seconds between two rounds of killing


def supervise(server: int, niceness: int, command: list[str]) -> int:
    """Run a program until it or the server ends, then kill all its processes.

    Args:
        server: process id of the server, the expected parent.
        niceness: increment of the niceness.
        command: the program and its arguments.

    Returns:
        The exit status of the keeper.
    """
    _lower_priority(niceness)
    awaited = {signal.SIGTERM, signal.SIGCHLD}  # here, since Windows imports this module
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    _become_subreaper()
    if os.getppid() != server:  # the server ended before PR_SET_PDEATHSIG took effect
        return 1
    try:
        program = os.posix_spawnp(
            command[0],
            command,
            os.environ,
            setpgroup=0,
            setsigmask=(),
            setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),  # Python ignores these two
        )
    except OSError as error:
        print(f"cannot start {command[0]}: {error.strerror}", file=sys.stderr)
        return 1
    nowhere = os.open(os.devnull, os.O_RDWR)
    # Only the program may hold the pipes, so that the server notices when it closes them.
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    try:
        while signal.sigwait(awaited) == signal.SIGCHLD and _is_running(program):
            pass
    finally:
        _end_all(program)
    return 0


def _lower_priority(niceness: int) -> None:
    """Lower the priority, even where Linux schedules by autogroup.

    With autogroups, sched(7), niceness only applies within a session, and the keeper leads its own.
    """
    os.nice(niceness)
    if niceness:
        with suppress(OSError):  # most systems have no such file
            Path("/proc/self/autogroup").write_text(str(niceness), encoding="ascii")


def _become_subreaper() -> None:
    """Become a subreaper, and request SIGTERM for the end of the server (Linux only)."""
    import ctypes  # noqa: PLC0415  (may be missing on systems without such a call)

    with suppress(OSError, AttributeError):
        prctl = ctypes.CDLL(None).prctl
        prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _is_running(program: int) -> bool:
    """Reap processes that have ended; return whether the program is still running."""
    while True:
        ended, _ = os.waitpid(-1, os.WNOHANG)
        if ended in {0, program}:
            return not ended


def _end_all(program: int) -> None:
    """Kill child processes until none is left; orphans of a killed process are adopted."""
    with suppress(ChildProcessError):  # raised by `waitpid` when no child is left
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(program, signal.SIGKILL)
        while True:
            for child in _children():
                # No race: the id of a child isn't reused before it is waited for.
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            time.sleep(_PAUSE)


def _children() -> Iterator[int]:
    """Yield the ids of the keeper's child processes, on systems with /proc."""
    own = str(os.getpid())
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # Split after the process name, which is in brackets and may contain any characters;
            # the state and the parent's id follow, proc(5).
            _, parent, *_ = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            if parent.decode() == own:
                yield int(folder.name)


if __name__ == "__main__":
    sys.exit(supervise(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
