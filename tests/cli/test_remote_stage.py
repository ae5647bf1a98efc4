"""`RemoteStage` on misbehaving servers: every step ends with a message, never a traceback."""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import RunServer
from thudmud.cli import remote_stage
from thudmud.cli.remote_stage import RemoteStage
from thudmud.script import StageError

Manners = Callable[[socket.socket], None]


@contextmanager
def server(manners: Manners) -> Iterator[tuple[str, int]]:
    """Run a server that treats each connection with ``manners``; yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                manners(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        yield listening.getsockname()[:2]
        thread.join()


def silent(connection: socket.socket) -> None:
    while connection.recv(1024):
        pass


def resetting(connection: socket.socket) -> None:
    connection.recv(1)
    linger = struct.pack("ii", 1, 0)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


def closing(connection: socket.socket) -> None:
    connection.sendall(b"Go away: \xe9.\r\n")
    connection.shutdown(socket.SHUT_WR)
    silent(connection)


def test_silent_server_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_stage, "PATIENCE", 0.1)
    with (
        server(silent) as address,
        RemoteStage(*address) as stage,
        pytest.raises(StageError, match=r"no answer within 0\.1 seconds"),
    ):
        stage.enter("Anna")


def test_connection_reset_is_reported() -> None:
    with (
        server(resetting) as address,
        RemoteStage(*address) as stage,
        pytest.raises(StageError, match="nothing answers at"),
    ):
        stage.enter("Anna")


def test_undecodable_refusal_is_quoted_with_replacements() -> None:
    with (
        server(closing) as address,
        RemoteStage(*address) as stage,
        pytest.raises(StageError, match="Anna could not log in: Go away: �"),
    ):
        stage.enter("Anna")


def test_absent_player_cannot_act() -> None:
    with RemoteStage("127.0.0.1", 9) as stage:
        with pytest.raises(StageError, match="Anna is not here; use Anna"):
            stage.type("Anna", "look")
        with pytest.raises(StageError, match="Anna is not here"):
            stage.vanish("Anna")
        with pytest.raises(StageError, match="Anna is not here"):
            stage.wait("Anna", lambda _: True, 1)


def test_lost_player_resumes_and_names_are_released(run_server: RunServer, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[players]\nreturn_within = 0\n")
    command = [sys.executable, "-m", "thudmud.cli.main", "--port", "0"]
    with run_server(command, cwd=tmp_path) as address:
        for _ in range(2):
            with RemoteStage(*address) as stage:
                came = stage.enter("Anna")
                assert not [line for line in came["Anna"] if "comeback words" in line]
                stage.enter("Bob")
                for who, side in (("Anna", "dwarf"), ("Bob", "troll")):
                    stage.type(who, f"join game as {side} on oak board")
                assert any("Anna" in line for line in stage.vanish("Anna")["Bob"])
                assert not [line for line in stage.enter("Anna")["Anna"] if "resume" in line]
                stage.type("Bob", "quit")
                stage.enter("Bob")
        with RemoteStage(*address) as stage, RemoteStage(*address) as other:
            stage.enter("Anna")
            with pytest.raises(StageError, match="Anna could not log in: Somebody called Anna is"):
                other.enter("Anna")


def test_password_is_typed_like_any_line(run_server: RunServer, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "thudmud.cli.main", "--port", "0"]
    with run_server(command, cwd=tmp_path) as address, RemoteStage(*address) as stage:
        stage.enter("Anna")
        advice = "Choose a password of at least 8 characters, or just press Enter to stop."
        assert stage.type("Anna", "register") == {"Anna": [advice]}
        assert stage.type("Anna", "password") == {}
        line, *_ = stage.type("Anna", "password")["Anna"]
        assert line.startswith("The name Anna is yours now")
        stage.vanish("Anna")
        with pytest.raises(StageError, match="Anna could not log in"):
            stage.enter("Anna")


def test_wait_returns_the_lines_that_arrive_in_time(run_server: RunServer, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "thudmud.cli.main", "--port", "0"]
    with run_server(command, cwd=tmp_path) as address, RemoteStage(*address) as stage:

        def talk() -> None:
            with RemoteStage(*address) as other:
                other.enter("Bob")
                other.type("Bob", "say One")
                other.type("Bob", "say Two")

        stage.enter("Anna")
        assert stage.wait("Anna", lambda _: True, 0.01) == {}
        thread = threading.Thread(target=talk)
        thread.start()
        seen = stage.wait("Anna", "Bob says: Two".__eq__, 20)
        assert seen["Anna"][:3] == ["Bob comes into the hall.", "Bob says: One", "Bob says: Two"]
        thread.join()
        assert stage.type("Anna", "say Three")["Anna"][-1] == "You say: Three"


def test_wait_ends_with_the_connection() -> None:
    def greeting(connection: socket.socket) -> None:
        connection.sendall(b"Half a line")
        connection.shutdown(socket.SHUT_WR)
        silent(connection)

    async def wait(address: tuple[str, int]) -> list[str]:
        player = await remote_stage._Player.connect(*address)
        await player.read_until(lambda _: False)
        seen = await player.read_new_lines()
        await player.close()
        return seen

    with server(greeting) as address:
        assert asyncio.run(wait(address)) == ["Half a line"]
