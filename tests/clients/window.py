"""A terminal window that runs a program, with an emulated screen.

Owns the pseudo-terminal and the screen (pyte). Nothing here sleeps for a guessed time: every
wait is for output, and fails after `PATIENCE` seconds.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pexpect
import pyte
from wcwidth import wcwidth

PATIENCE = 30.0
"""Seconds for which anything is waited for."""

_SEQUENCE = re.compile(r"\x1b(\][^\x07\x1b]*(\x07|\x1b\\)|\[[0-?]*[ -/]*[@-~]|[ -/]*[0-~])")


class _Glass(pyte.Screen):
    """Drops control characters, as terminals do; pyte would drop the text after them as well."""

    def draw(self, data: str) -> None:
        super().draw("".join(char for char in data if wcwidth(char) >= 0))


class Window:
    """A terminal window of 80 columns and 24 rows that runs a command.

    Args:
        command: the program and its arguments.
        folder: the working and home directory, so that no user settings apply.
    """

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self.output = ""
        """Everything that has come out of the program, as it was."""
        self._unread = ""
        self._glass = _Glass(80, 24)
        self._stream = pyte.Stream(self._glass)
        home = {"HOME": str(folder), "LANG": "C.UTF-8", "TERM": "xterm-256color"}
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        self._child = pexpect.spawn(
            command[0],
            list(command[1:]),
            encoding="utf-8",
            codec_errors="replace",  # nc prints raw telnet bytes
            dimensions=(24, 80),
            cwd=str(folder),
            env=kept | home,
        )
        self._child.delaybeforesend = None

    def type(self, line: str) -> None:
        """Type a line and press Enter; `until` sees only later output."""
        self._unread = ""
        self._child.send(line + "\r")

    def send(self, keys: str) -> None:
        """Type keys without Enter."""
        self._child.send(keys)

    def press(self, key: str) -> None:
        """Press Ctrl and a key."""
        self._unread = ""
        self._child.sendcontrol(key)

    def resize(self, columns: int, rows: int = 24) -> None:
        """Resize the window."""
        self._glass.resize(rows, columns)
        self._child.setwinsize(rows, columns)

    def until(self, words: str) -> str:
        """Wait for these words; return the output before them and consume both."""
        self._wait(lambda: words in plain(self._unread), words)
        before, _, self._unread = plain(self._unread).partition(words)
        return before

    def until_shown(self, is_there: Callable[[Window], bool], what: str) -> None:
        """Wait until a condition on the screen holds."""
        self._wait(lambda: is_there(self), what)

    def until_ended(self) -> int | None:
        """Wait until the program exits; return its exit status."""
        self._wait(lambda: self._child.closed or self._child.flag_eof, "the end")
        self._child.wait()
        return self._child.exitstatus

    @property
    def lines(self) -> list[str]:
        """The rows of the screen, without trailing blanks and empty rows."""
        rows = "\n".join(row.rstrip() for row in self._glass.display)
        return rows.rstrip().split("\n")

    @property
    def cursor(self) -> tuple[int, int]:
        """The zero-based row and column of the cursor."""
        return self._glass.cursor.y, self._glass.cursor.x

    @property
    def colours(self) -> int:
        """The size of the palette in use on the screen; 0 without colour."""
        rows = self._glass.buffer.values()
        if all(cell.fg == cell.bg == "default" for row in rows for cell in row.values()):
            return 0
        return 2**24 if "8;2;" in self.output else 256 if "8;5;" in self.output else 16

    def close(self) -> None:
        """Kill the program and close the terminal."""
        if not self._child.closed:
            self._child.kill(signal.SIGKILL)  # pexpect's gentler signals wait 0.1 s each
            self._child.wait()
        self._child.close()

    def stop(self) -> None:
        """Send SIGTERM to the program."""
        self._child.kill(signal.SIGTERM)

    def _wait(self, is_done: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not is_done():
            try:
                came = self._child.read_nonblocking(65536, timeout=max(end - time.monotonic(), 0))
            except pexpect.TIMEOUT:
                raise AssertionError(f"no {what!r} on:\n" + "\n".join(self.lines)) from None
            except pexpect.EOF:
                if is_done():
                    return
                raise AssertionError(f"ended without {what!r}:\n" + "\n".join(self.lines)) from None
            self.output += came
            self._unread += came
            self._stream.feed(came)


def plain(output: str) -> str:
    """Return output without escape sequences and with LF line ends."""
    return re.sub(r"\r+\n?", "\n", _SEQUENCE.sub("", output)).replace("\n\n", "\n")
