"""The clients that people come with, as far as they run in a terminal, and how each is handled."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass

HERE = "127.0.0.1"
FOLDERS = os.pathsep.join((os.environ.get("PATH", ""), "/usr/games"))
"""Debian keeps TinTin++ with the games, which root does not look for."""


@dataclass(frozen=True, slots=True)
class Client:
    """What a client is, and what it can do.

    Attributes:
        name: what it is called, in one word.
        command: how it is started; ``PORT`` stands for the port.
        hides: whether it can hide what is typed.
        tells_width: whether it tells the server how wide its window is.
        utf8: whether it tells that it can show more than ASCII.
        colours: how many it tells that it can show, where TERM is xterm-256color.
        input_apart: whether what is typed stands below what is received, not among it.
        status: its exit status after a clean end.
        farewell: what it shows, at the latest, when the server has closed the connection.
        leave: what is typed then, if it does not end by itself. ``^D`` is that key.
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
        """Return the command that connects to a port of this machine."""
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
