"""An Evennia MUD, created and run as by its operators: one portal, one server."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.evennia.players import Player

ROOT = Path(__file__).parents[2]
UNTYPED = Path(__file__).parent / "untyped"
"""Disables ``typeguard``, with which Evennia's library for plurals would rewrite all of its code,
for seconds at each start."""
PASSWORD = "a dwarf in the hand"  # noqa: S105 (of fictitious players)

_TRY_AGAIN = "Connection to Evennia timed out. Try again."
_STARTED = "Evennia Server successfully started."
_MADE = "successfully restarted in 'reset' mode"
_LOGIN_SCREEN = "look will re-show this screen."  # its last line
_PATIENCE = 120.0  # seconds

_SETTINGS = """
TELNET_PORTS = [{telnet}]
TELNET_INTERFACES = ["127.0.0.1"]
AMP_PORT = {amp}
WEBSERVER_PORTS = [({web}, {inner})]
WEBSERVER_INTERFACES = ["127.0.0.1"]
WEBSOCKET_CLIENT_PORT = {socket}
WEBSOCKET_CLIENT_INTERFACE = "127.0.0.1"
# Tests type faster than people: by default, no more than 80 lines of anybody's a second are read.
MAX_COMMAND_RATE = 10_000
# Tables are made from the models: the migrations of Evennia are Evennia's to test.
MIGRATION_MODULES = dict.fromkeys([each.rpartition(".")[2] for each in INSTALLED_APPS] + ["admin"])
"""
PAGE = (ROOT / "docs" / "evennia.md").read_text("utf-8")
SETTINGS_OF_THE_PAGE = "".join(
    re.findall(r"```python\n((?:FILE_|from thudmud.evennia import web).*?)```", PAGE, re.DOTALL)
)


class Mud:
    """A MUD with a superuser called Anna, set up as described in docs/evennia.md.

    Args:
        commands: the bin folder of an environment with Evennia.
        folder: the parent of the game directory.
        free_port: returns a port to listen on.
        more: additional settings.

    Attributes:
        address: the URL of its web client.
        port: its telnet port.
    """

    def __init__(
        self, commands: Path, folder: Path, free_port: Callable[[], int], more: str = ""
    ) -> None:
        self.clients: list[Player] = []
        self.port = free_port()
        web = free_port()
        self.address = f"http://127.0.0.1:{web}/webclient/"
        self._commands = commands
        self._game = folder / "mud"
        self._run("--init", "mud", cwd=folder)
        conf = self._game / "server" / "conf" / "settings.py"
        with conf.open("a", encoding="utf-8") as file:
            ports = {"amp": free_port(), "inner": free_port(), "socket": free_port()}
            file.write(_SETTINGS.format(telnet=self.port, web=web, **ports))
            file.write(SETTINGS_OF_THE_PAGE + more)
        self._run("migrate", "--run-syncdb")

    def start(self) -> None:
        """Start the MUD and wait until players can log in."""
        before = self.log().count(_STARTED)
        if _TRY_AGAIN in self._run("start"):
            # On a busy machine Evennia gives up on its own portal, which is running by now.
            self._run("start")
        # A new game restarts once more, which releases puppets and loses lines.
        self._wait_until(lambda: self.log().count(_STARTED) > before and _MADE in self.log())

    def stop(self) -> None:
        """Stop both processes in any state, even while one is starting the other."""
        while self.clients:
            self.clients.pop().close()
        pids = self.pids
        for pid in pids:
            # SIGTERM, as at system shutdown; Evennia's own stop command takes seconds to start.
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        for pid in pids | self.pids:
            _end(pid, str(self._game))

    def client(self) -> Player:
        """Return a player at the login screen, connected until the MUD stops.

        Evennia accepts two connections a second. A waiting one has no session yet, and its input is
        dropped silently; the login screen is the first output of a session.
        """
        self.clients.append(Player(self.port))
        self.clients[-1].until(lambda line: _LOGIN_SCREEN in line)
        return self.clients[-1]

    def log(self) -> str:
        logs = sorted((self._game / "server" / "logs").glob("*.log"))
        return "\n".join(log.read_text("utf-8", "replace") for log in logs)

    @property
    def pids(self) -> set[int]:
        """The process ids of the portal and the server, if running."""
        pids = set()
        for name in ("portal", "server"):
            with suppress(FileNotFoundError):  # each removes its file when it ends
                pids.add(int((self._game / "server" / f"{name}.pid").read_text("utf-8")))
        return pids

    def _wait_until(self, is_so: Callable[[], bool]) -> None:
        limit = time.monotonic() + _PATIENCE
        while not is_so():
            assert time.monotonic() < limit, self.log()
            time.sleep(0.05)

    def _run(self, *words: str, cwd: Path | None = None) -> str:
        """Run an ``evennia`` command and return its output."""
        environment = {
            **os.environ,
            # Evennia finds its programs through PATH.
            "PATH": f"{self._commands}{os.pathsep}{os.environ['PATH']}",
            # Evennia's launcher replaces the first entry with a folder of its own.
            "PYTHONPATH": os.pathsep.join(map(str, [ROOT / "grammar", UNTYPED, ROOT])),
            "EVENNIA_SUPERUSER_USERNAME": "Anna",
            "EVENNIA_SUPERUSER_EMAIL": "anna@example.com",
            "EVENNIA_SUPERUSER_PASSWORD": PASSWORD,
        }
        done = subprocess.run(
            [self._commands / "evennia", *words],
            cwd=cwd or self._game,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def _end(pid: int, game: str) -> None:
    """Wait for a process of the game to end, and kill it if it takes too long."""
    limit = time.monotonic() + _PATIENCE
    while _runs(pid, game):
        if time.monotonic() > limit:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def _runs(pid: int, game: str) -> bool:
    # Evennia's processes are daemons, and their pids may have been reused.
    try:
        return game.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
