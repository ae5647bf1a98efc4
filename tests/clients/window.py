"""A terminal window with a program in it, and what somebody in front of it would see.

Owns the pseudo-terminal and the picture of its screen (pyte). Nothing here waits for a guessed
time: it waits for words on the way to the screen, and gives up after `PATIENCE`.
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
    """Leaves out control characters, as terminals do; pyte would leave out all that follows."""

    def draw(self, data: str) -> None:
        super().draw("".join(char for char in data if wcwidth(char) >= 0))


class Window:
    """A window of 80 columns and 24 rows, in which a command runs.

    Args:
        command: the program, and its arguments.
        folder: where it runs, and its home: no settings of anybody's are there.
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
            codec_errors="replace",  # what nc shows of telnet's bytes
            dimensions=(24, 80),
            cwd=str(folder),
            env=kept | home,
        )
        self._child.delaybeforesend = None

    def type(self, line: str) -> None:
        """Type a line and press Enter; `until` looks only at what comes from now on."""
        self._unread = ""
        self._child.send(line + "\r")

    def send(self, keys: str) -> None:
        """Press keys, and not Enter."""
        self._child.send(keys)

    def press(self, key: str) -> None:
        """Press a key together with Ctrl."""
        self._unread = ""
        self._child.sendcontrol(key)

    def resize(self, columns: int, rows: int = 24) -> None:
        """Give the window another size."""
        self._glass.resize(rows, columns)
        self._child.setwinsize(rows, columns)

    def until(self, words: str) -> str:
        """Wait until these words have come; return what came before them, and begin behind them."""
        self._wait(lambda: words in plain(self._unread), words)
        before, _, self._unread = plain(self._unread).partition(words)
        return before

    def until_shown(self, is_there: Callable[[Window], bool], what: str) -> None:
        """Wait until the screen is as it should be."""
        self._wait(lambda: is_there(self), what)

    def until_ended(self) -> int | None:
        """Wait until the program has ended by itself; return its exit status."""
        self._wait(lambda: self._child.closed or self._child.flag_eof, "the end")
        self._child.wait()
        return self._child.exitstatus

    @property
    def lines(self) -> list[str]:
        """The rows of the screen, without the blanks at their ends and the empty rows below."""
        rows = "\n".join(row.rstrip() for row in self._glass.display)
        return rows.rstrip().split("\n")

    @property
    def cursor(self) -> tuple[int, int]:
        """The row and the column of the cursor, from 0."""
        return self._glass.cursor.y, self._glass.cursor.x

    @property
    def colours(self) -> int:
        """How many colours what is on the screen is chosen from."""
        rows = self._glass.buffer.values()
        if all(cell.fg == cell.bg == "default" for row in rows for cell in row.values()):
            return 0
        return 2**24 if "8;2;" in self.output else 256 if "8;5;" in self.output else 16

    def close(self) -> None:
        """End the program, whatever it is doing."""
        if not self._child.closed:
            self._child.kill(signal.SIGKILL)  # pexpect gives it a tenth of a second to end by less
            self._child.wait()
        self._child.close()

    def stop(self) -> None:
        """Ask the program to end."""
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
    """Return output without what only moves the cursor or colours, its lines ended by LF."""
    return re.sub(r"\r+\n?", "\n", _SEQUENCE.sub("", output)).replace("\n\n", "\n")
