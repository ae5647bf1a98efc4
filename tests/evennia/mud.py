"""A MUD of Evennia's, made and run as its people would do it: one portal, one server."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

from tests.evennia.players import Player

ROOT = Path(__file__).parents[2]
PASSWORD = "a dwarf in the hand"  # noqa: S105 (of people who are made up)

_MADE = "successfully restarted in 'reset' mode"
_PATIENCE = 120.0  # seconds

_SETTINGS = """
TELNET_PORTS = [{telnet}]
TELNET_INTERFACES = ["127.0.0.1"]
AMP_PORT = {amp}
WEBSERVER_ENABLED = False
WEBCLIENT_ENABLED = False
"""
PAGE = (ROOT / "docs" / "evennia.md").read_text("utf-8")
SETTINGS_OF_THE_PAGE, *_ = re.findall(r"```python\n(FILE_.*?)```", PAGE, re.DOTALL)


class Mud:
    """A MUD with a superuser called Anna, set up as docs/evennia.md has it.

    Args:
        commands: the folder of the commands of an environment with Evennia.
        folder: where it is made.
    """

    def __init__(self, commands: Path, folder: Path) -> None:
        self.port, amp = _free_port(), _free_port()
        self.clients: list[Player] = []
        self._commands = commands
        self._game = folder / "mud"
        self._run("--init", "mud", cwd=folder)
        conf = self._game / "server" / "conf" / "settings.py"
        with conf.open("a", encoding="utf-8") as file:
            file.write(_SETTINGS.format(telnet=self.port, amp=amp) + SETTINGS_OF_THE_PAGE)
        self._run("migrate")

    def start(self) -> None:
        """Start it, and wait until people can come in."""
        # On a busy machine Evennia loses patience with its own portal; asked again, it goes on.
        for _ in range(4):
            self._run("start")
            if len(self._pids()) == 2:
                self._wait_until_made()
                return
        raise AssertionError(f"it does not start: {self.log()}")

    def _wait_until_made(self) -> None:
        """Wait until it has restarted, as it does once when all is new: puppets are let go then."""
        limit = time.monotonic() + _PATIENCE
        while _MADE not in self.log():
            assert time.monotonic() < limit, self.log()
            time.sleep(0.05)

    def stop(self) -> None:
        """Stop both processes, however they are; one of them may be just starting the other."""
        while self.clients:
            self.clients.pop().close()
        pids = self._pids()
        try:
            self._run("stop")
        finally:
            for pid in pids | self._pids():
                _end(pid, str(self._game))

    def client(self) -> Player:
        """Return somebody who is connected until the MUD stops."""
        self.clients.append(Player(self.port))
        return self.clients[-1]

    def log(self) -> str:
        logs = sorted((self._game / "server" / "logs").glob("*.log"))
        return "\n".join(log.read_text("utf-8", "replace") for log in logs)

    def _pids(self) -> set[int]:
        files = (self._game / "server" / f"{name}.pid" for name in ("portal", "server"))
        return {int(file.read_text("utf-8")) for file in files if file.is_file()}

    def _run(self, *words: str, cwd: Path | None = None) -> None:
        environment = {
            **os.environ,
            # Evennia starts what it finds by its name.
            "PATH": f"{self._commands}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
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


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _end(pid: int, game: str) -> None:
    """See to it that a process that was started for a game is gone."""
    limit = time.monotonic() + 20
    while _runs(pid, game):
        if time.monotonic() > limit:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def _runs(pid: int, game: str) -> bool:
    # Evennia's processes are nobody's children, and a number may be another's by now.
    try:
        return game.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
