"""The supported terminal clients: command lines, capabilities and peculiarities."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass

HERE = "127.0.0.1"
FOLDERS = os.pathsep.join((os.environ.get("PATH", ""), "/usr/games"))
"""Debian keeps TinTin++ with the games, which root does not look for."""


@dataclass(frozen=True, slots=True)
class Client:
    """A telnet client and its capabilities.

    Attributes:
        name: a single word.
        command: the command line; ``PORT`` is replaced by the port.
        hides: whether it can hide typed passwords.
        tells_width: whether it reports the width of its window.
        utf8: whether it announces support for UTF-8.
        colours: the number of colours it announces with TERM=xterm-256color.
        input_apart: whether input has its own line below the output.
        status: the exit status after a clean end.
        farewell: text on the screen by the time the server has closed the connection.
        leave: input that then ends the client, if it doesn't exit by itself; ``^D`` is Ctrl-D.
    """

    name: str
    command: tuple[str, ...]
    hides: bool = True
    tells_width: bool = True
    utf8: bool = False
    colours: int = 256
    input_apart: bool = False
    status: int = 0
    farewell: str = "Goodbye!"
    leave: str = ""

    def arguments(self, port: str) -> list[str]:
        """Return the command line that connects to a local port."""
        path = shutil.which(self.command[0], path=FOLDERS)
        assert path, f"{self.command[0]} is missing: see tests/clients.sh"
        return [path, *(word.replace("PORT", port) for word in self.command[1:])]


TELNET = Client("telnet", ("telnet", HERE, "PORT"), farewell="Connection closed by foreign host.")
PLINK = Client("plink", ("plink", "-telnet", "-P", "PORT", HERE), colours=16)
NC = Client("nc", ("nc", HERE, "PORT"), hides=False, tells_width=False, colours=0, leave="^D")
TINTIN = Client(
    "tintin",
    ("tt++", "-G", "-e", f"#session thud {HERE} PORT"),
    utf8=True,
    colours=2**24,
    farewell="#SESSION 'thud' DIED.",
    leave="#end",
)
TINYFUGUE = Client(
    "tinyfugue",
    ("tf", HERE, "PORT"),
    colours=16,
    input_apart=True,
    farewell="% Connection to",
    leave="/quit",
)
CLIENTS = (TELNET, PLINK, NC, TINTIN, TINYFUGUE)
