"""Starts thudmud from a preloaded process (a fork server), since imports dominate the start time.

Within `warm`, ``subprocess.Popen`` delegates a plain ``python -m thudmud.cli.main ...``, and the
same for the yardstick of the server benchmarks, to a process of this module that has imported
everything. It forks, and the copy runs the command line with the requested streams, folder,
environment and signals. The copy is a child of the requesting process, as usual. Everything else,
such as a shell or other module paths, is started normally, and so is everything in a test with the
fixture ``cold``.
"""

from __future__ import annotations

import ctypes
import gc
import io
import json
import os
import resource
import runpy
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from tests import leaks

ROOT = Path(__file__).parents[1]
MODULE = "thudmud.cli.main"
MODULES = (
    *(MODULE, "thudmud.server.drawing", "thudmud.store"),
    *("tests.store.other", "benchmarks.load.echo"),
)
"""The modules that a copy may run."""
PYTHON = sys.executable
"""The Python interpreter, even if a test replaces `sys.executable`."""
LARGEST = 1 << 20
"""The maximum size of a request in bytes; environments are smaller."""

_SET_CHILD_SUBREAPER = 36
_CATCHABLE = sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})


def _words(args: object) -> list[str] | None:
    """Return the module of a command and its arguments, or None if it cannot be delegated."""
    if not isinstance(args, Sequence) or isinstance(args, str | bytes):
        return None
    program, *words = (os.fsdecode(each) for each in args)
    if program == PYTHON and words[:1] == ["-m"] and words[1] in MODULES:
        return words[1:]
    return None


def _loads(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables that affect the start of Python."""
    return {
        key: value
        for key, value in environment.items()
        if key.startswith(("PYTHON", "LC_", "LANG")) and key != "PYTHONPATH"
    }


def _folders(environment: Mapping[str, str]) -> set[str]:
    """Return the folders of ``PYTHONPATH`` other than the checkout."""
    return set(environment.get("PYTHONPATH", "").split(os.pathsep)) - {"", str(ROOT)}


class _Warm:
    """Client of the preloaded process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loads, self._folders = _loads(os.environ), _folders(os.environ)
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        words = [sys.executable, "-m", "tests.warm", str(theirs.fileno())]
        with theirs, leaks.shared():
            self._process = subprocess.Popen(words, cwd=ROOT, pass_fds=[theirs.fileno()])

    def close(self) -> None:
        self._socket.close()
        self._process.wait()

    def can_start(self, environment: Mapping[str, str]) -> bool:
        """Whether a normal start would load the same modules."""
        return _loads(environment) == self._loads and _folders(environment) <= self._folders

    def start(
        self,
        words: list[str],
        files: Sequence[int],
        folder: str,
        environment: Mapping[str, str],
        *,
        in_new_session: bool,
    ) -> int:
        """Run a command line and return its pid; the process is a child of this one."""
        request = {
            "words": words,
            "folder": folder,
            "environment": dict(environment),
            "ignored": [each for each in _CATCHABLE if signal.getsignal(each) is signal.SIG_IGN],
            "files": resource.getrlimit(resource.RLIMIT_NOFILE),
            "in_new_session": in_new_session,
        }
        data = json.dumps(request).encode()
        libc = ctypes.CDLL(None)
        with self._lock:
            # The copy's parent exits at once; as subreaper, this process adopts the orphan.
            libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            try:
                socket.send_fds(self._socket, [data], files)
                if not (number := self._socket.recv(16)):
                    raise OSError("no copy could be made")
                return int(number)
            finally:
                libc.prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


_is_cold = False


@contextmanager
def cold() -> Iterator[None]:
    """Start everything normally for the duration of the context."""
    global _is_cold  # noqa: PLW0603 (``subprocess`` is global, too)
    _is_cold = True
    try:
        yield
    finally:
        _is_cold = False


@contextmanager
def warm() -> Iterator[None]:
    """Make ``subprocess`` delegate starts of thudmud to the preloaded process."""
    if sys.platform != "linux":  # only Linux has subreapers
        yield
        return
    started: list[_Warm] = []
    as_ever: Any = subprocess.Popen._execute_child  # type: ignore[attr-defined]

    def execute(popen: Any, *given: Any) -> None:
        args, executable, preexec_fn, close_fds, pass_fds, folder, environment, *others = given
        _, _, shell, *streams, restore_signals, gid, gids, uid, umask, is_apart, group = others
        words = _words(args)
        special = executable, preexec_fn, shell, pass_fds, gid, gids, uid
        is_plain = close_fds and restore_signals and (umask, group) == (-1, -1)
        if words is None or not is_plain or any(special) or _is_cold:
            as_ever(popen, *given)
            return
        if not started:
            started.append(_Warm())
        environment = os.environ if environment is None else environment
        if not started[0].can_start(environment):
            as_ever(popen, *given)
            return
        reads, _, _, writes, _, complains = streams
        theirs = reads, writes, complains
        popen.pid = started[0].start(
            words,
            [number if each == -1 else each for number, each in enumerate(theirs)],
            os.fspath(folder or Path.cwd()),
            environment,
            in_new_session=is_apart,
        )
        popen._child_created = True
        popen._close_pipe_fds(*streams)

    subprocess.Popen._execute_child = execute  # type: ignore[attr-defined]
    try:
        yield
    finally:
        subprocess.Popen._execute_child = as_ever  # type: ignore[attr-defined]
        for each in started:
            each.close()


def _serve(place: socket.socket) -> dict[str, Any] | None:
    """Fork for each request, returning it in the copy; return None in the parent at the end."""
    while True:
        data, numbers, _, _ = socket.recv_fds(place, LARGEST, 3)
        if not data:
            return None
        ours, theirs = os.pipe()
        if (parent := os.fork()) == 0:
            if (copy := os.fork()) == 0:
                os.close(ours)
                os.close(theirs)
                place.close()
                for number, each in enumerate(numbers):
                    os.dup2(each, number)
                for each in numbers:
                    os.close(each)
                return dict(json.loads(data))
            os.write(theirs, str(copy).encode())
            os._exit(0)
        os.close(theirs)  # otherwise the read below would never end if the fork failed
        os.waitpid(parent, 0)  # from now on the copy is a child of the requesting process
        place.send(os.read(ours, 16))
        for each in (ours, *numbers):
            os.close(each)


def _become(request: Mapping[str, Any]) -> None:
    """Take on the state of a freshly started process."""
    if request["in_new_session"]:
        os.setsid()
    for each in set(_CATCHABLE) - {signal.SIGPIPE, signal.SIGXFSZ}:  # Python ignores these itself
        if each in request["ignored"]:
            signal.signal(each, signal.SIG_IGN)
        elif signal.getsignal(each) is signal.SIG_IGN:
            is_by_key = each == signal.SIGINT
            signal.signal(each, signal.default_int_handler if is_by_key else signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_NOFILE, tuple(request["files"]))
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old: io.TextIOWrapper = getattr(sys, name)
        stream = open(  # noqa: SIM115 (open until the process ends)
            number,
            "w" if number else "r",
            encoding=old.encoding,
            errors=old.errors,
            closefd=False,
            buffering=1 if number == 2 or os.isatty(number) else -1,
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.path[0] = request["folder"]


def _load() -> None:
    """Import everything that a command line may need."""
    from thudmud.cli.main import SUBCOMMANDS  # noqa: PLC0415 (only in the preloaded process)

    for module, *_ in SUBCOMMANDS.values():
        import_module(f"thudmud.cli.{module}")
    for name in (
        *("uvloop", "psycopg", "prometheus_client", "telnetlib3", "thudmud.server.runtime"),
        *("thudmud.pictures", "PIL.Image", "resvg_py"),
    ):
        import_module(name)
    # ``runpy`` has to run these modules as if they had not been imported.
    for name in MODULES:
        if not hasattr(
            sys.modules.get(name), "__path__"
        ):  # packages stay: only their __main__ is run
            sys.modules.pop(name, None)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    _load()
    with socket.socket(fileno=int(sys.argv[1])) as place:
        asked = _serve(place)
    if asked is not None:
        _become(asked)
        module, *words = asked["words"]
        sys.argv = ["", *words]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
