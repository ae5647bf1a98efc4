"""Moderation on a real server: three telnet players, one an operator, and the command line."""

from __future__ import annotations

import re
import socket
import sys
from pathlib import Path

import pytest

from tests.conftest import RunServer
from tests.server.plain import PATIENCE
from tests.server.test_proxies import header
from thudmud.cli.main import main
from thudmud.server.acceptor import FAREWELL

CONFIG = """
bot = []
[server]
port = 0
proxies = ["127.0.0.1"]
[web]
enabled = false
[listing]
contact = "ops@example.net"
"""


class Player:
    """A proxied connection from a given address."""

    def __init__(self, place: tuple[str, int], address: str) -> None:
        self._socket = socket.create_connection(place, timeout=PATIENCE)
        self._socket.sendall(header(address))
        self._unread = b""

    def type(self, *lines: str) -> None:
        for line in lines:
            self._socket.sendall(line.encode() + b"\r\n")

    def until(self, words: str) -> str:
        """Return the output up to a pattern as one line, or to the end if ``words`` is empty."""
        while not (words and re.search(words, self._told())):
            data = self._socket.recv(65_536)
            if not data:
                assert not words, f"{words!r} did not come, only {self._told()!r}"
                break
            self._unread += data
        told, self._unread = self._told(), b""
        return told

    def _told(self) -> str:
        return re.sub(r"\s+", " ", self._unread.decode("utf-8", "replace"))

    def close(self) -> None:
        self._socket.close()


def come(place: tuple[str, int], address: str, name: str) -> Player:
    player = Player(place, address)
    player.type(name)
    player.until("into the hall.")
    return player


def test_operator_moderates_players_by_telnet_and_command_line(
    run_server: RunServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.toml").write_text(CONFIG)
    serve = [sys.executable, "-m", "thudmud.cli.main", "--config", "config.toml"]
    with run_server(serve, cwd=tmp_path, ends_itself=True) as place:
        olga = come(place, "198.51.100.1", "olga")
        olga.type("register", "a password", "a password")
        olga.until("is yours now")
        bert, carla = come(place, "203.0.113.7", "bert"), come(place, "203.0.113.8", "carla")
        olga.type("broadcast hello")
        olga.until("Only operators")
        assert main(["user", "operator", "olga"]) == 0
        olga.until('"help operators" explains what you can do.')
        olga.type("broadcast hello")
        for player in (bert, carla):
            player.until("Olga, an operator, tells everybody: hello")
        olga.type("mute bert for an hour because of the noise")
        bert.until("muted you for 1 hour, because of the noise.")
        bert.type("say hi")
        bert.until("You are muted for another")
        bert.type("join game as dwarf on oak board")
        bert.until("You sit down")
        olga.type("kick bert")
        assert "You're being disconnected. Any seats you have are kept for you." in bert.until("")
        olga.type("ban 203.0.113.0/24 for 3 days because of spam")
        told = carla.until("")
        assert "has banned 203.0.113.0/24 (your network) until" in told
        newcomer = Player(place, "203.0.113.200")
        told = newcomer.until("")
        assert "name?" not in told
        assert "The operator of this server has banned 203.0.113.0/24" in told
        assert told.endswith("because of spam. If that's a mistake, write to ops@example.net. ")
        capsys.readouterr()
        assert main(["user", "list"]) == 0
        listed = " ".join(capsys.readouterr().out.split())
        assert re.search(
            r"Olga since .* operator 203.0.113.0/24 banned until \S+ \S+ UTC by Olga", listed
        )
        olga.type("unban 203.0.113.0/24")
        olga.until("You unban 203.0.113.0/24.")
        assert main(["user", "unban", "203.0.113.0/24"]) == 2
        again = come(place, "203.0.113.8", "dora")
        olga.type("shutdown in 2 seconds because of an update")
        again.until("The server is shutting down in 2 seconds, because of an update.")
        assert FAREWELL in again.until("")
        for player in (olga, bert, carla, newcomer, again):
            player.close()
    assert main(["user", "operator", "olga", "--revoke"]) == 0
    assert main(["user", "operator", "olga", "--revoke"]) == 2
    assert "Olga is not an operator" in capsys.readouterr().err
