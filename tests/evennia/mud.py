"""A MUD of Evennia's, made and run as its people would do it: one portal, one server."""

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
"""Has Python do without ``typeguard``. What Evennia makes plurals by rewrites all of its code with
the real one, for seconds at each start."""
PASSWORD = "a dwarf in the hand"  # noqa: S105 (of people who are made up)

_TRY_AGAIN = "Connection to Evennia timed out. Try again."
_STARTED = "Evennia Server successfully started."
_MADE = "successfully restarted in 'reset' mode"
_LOGIN_SCREEN = "look will re-show this screen."  # its last words
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
    """A MUD with a superuser called Anna, set up as docs/evennia.md has it.

    Args:
        commands: the folder of the commands of an environment with Evennia.
        folder: where it is made.
        free_port: returns a port for it to listen on.
        more: settings besides.

    Attributes:
        address: where its web client is.
        port: where it listens for telnet.
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
        """Start it, and wait until people can come in."""
        before = self.log().count(_STARTED)
        if _TRY_AGAIN in self._run("start"):
            # On a busy machine Evennia loses patience with its own portal, which is there by now.
            self._run("start")
        # When all is new it restarts once more: puppets are let go then, and lines are lost.
        self._wait_until(lambda: self.log().count(_STARTED) > before and _MADE in self.log())

    def stop(self) -> None:
        """Stop both processes, however they are; one of them may be just starting the other."""
        while self.clients:
            self.clients.pop().close()
        pids = self.pids
        for pid in pids:
            # As a machine does that is shut down; what Evennia has for it takes seconds to start.
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        for pid in pids | self.pids:
            _end(pid, str(self._game))

    def client(self) -> Player:
        """Return somebody who is at the login screen, and connected until the MUD stops.

        Evennia takes two connections a second. Who has to wait has no session yet, and what they
        type is dropped without a word; the login screen is the first that a session is shown.
        """
        self.clients.append(Player(self.port))
        self.clients[-1].until(lambda line: _LOGIN_SCREEN in line)
        return self.clients[-1]

    def log(self) -> str:
        logs = sorted((self._game / "server" / "logs").glob("*.log"))
        return "\n".join(log.read_text("utf-8", "replace") for log in logs)

    @property
    def pids(self) -> set[int]:
        """The processes, portal and server, of those that run."""
        pids = set()
        for name in ("portal", "server"):
            with suppress(FileNotFoundError):  # each takes its file away when it ends
                pids.add(int((self._game / "server" / f"{name}.pid").read_text("utf-8")))
        return pids

    def _wait_until(self, is_so: Callable[[], bool]) -> None:
        limit = time.monotonic() + _PATIENCE
        while not is_so():
            assert time.monotonic() < limit, self.log()
            time.sleep(0.05)

    def _run(self, *words: str, cwd: Path | None = None) -> str:
        """Run a command of Evennia's; return what it says."""
        environment = {
            **os.environ,
            # Evennia starts what it finds by its name.
            "PATH": f"{self._commands}{os.pathsep}{os.environ['PATH']}",
            # Evennia's launcher puts a folder of its own in the place of the first.
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
    """See to it that a process that was started for a game is gone."""
    limit = time.monotonic() + _PATIENCE
    while _runs(pid, game):
        if time.monotonic() > limit:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def _runs(pid: int, game: str) -> bool:
    # Evennia's processes are nobody's children, and a number may be another's by now.
    try:
        return game.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
