"""`thudmud gateway` as a process: on a port, a Unix socket, and standard input and output."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import RunServer
from thudmud.cli.main import main

SECRET = "a secret that is long enough"  # noqa: S105  (nobody's)
COMMAND = [sys.executable, "-m", "thudmud.cli.main", "gateway"]
HELLO = {"type": "hello", "version": 1, "client": "mud"}
OPEN = {"type": "open", "board": "oak", "name": "oak board"}
PATIENCE = 60  # seconds before a wait is given up


def written(*data: dict[str, object]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in data)


def configured(folder: Path, **settings: object) -> Path:
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    path = folder / "gateway.toml"
    path.write_text("\n".join(["[gateway]", *lines]), "utf-8")
    return path


def entering(player: str, number: int) -> dict[str, object]:
    return {"type": "enter", "id": number, "board": "oak", "player": player}


def typing(player: str, number: int, line: str) -> dict[str, object]:
    return {"type": "line", "id": number, "board": "oak", "player": player, "line": line}


@contextmanager
def link(place: str | tuple[str, int]) -> Iterator[tuple[socket.socket, Iterator[Any]]]:
    """Yield a connection to a gateway and the lines received from it."""
    family = socket.AF_UNIX if isinstance(place, str) else socket.AF_INET
    with socket.socket(family) as connection, connection.makefile("rb") as lines:
        connection.settimeout(PATIENCE)
        connection.connect(place)
        yield connection, (json.loads(line) for line in lines)


def piped(folder: Path, given: bytes, *options: str) -> tuple[list[Any], str]:
    """Send ``given`` to a stdio gateway; return its messages and its standard error."""
    done = subprocess.run(
        [*COMMAND, "--stdio", *options],
        input=given, capture_output=True, cwd=folder, check=True, timeout=PATIENCE,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


# Standard input and output.


@pytest.mark.slow
@pytest.mark.usefixtures("cold")
def test_stdio_gateway_resumes_its_boards_after_a_restart(tmp_path: Path) -> None:
    said = written(HELLO, OPEN | {"id": 1}, entering("Anna", 2))
    said += written(typing("Anna", 3, "join game as dwarf"))
    heard, complaints = piped(tmp_path, said)
    assert [each["type"] for each in heard] == ["welcome", *["answer"] * 2, "tell", "answer"]
    assert complaints == ""
    # The board and the seat outlast the process; the player has left in between.
    heard, _ = piped(tmp_path, written(HELLO, OPEN | {"id": 1}))
    assert heard[-1]["version"] == 2


def test_stdio_gateway_works_with_redirected_files(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(written(HELLO, OPEN | {"id": 1}))
    with (tmp_path / "in").open("rb") as given, (tmp_path / "out").open("wb") as taken:
        subprocess.run(
            [*COMMAND, "--stdio"], stdin=given, stdout=taken, cwd=tmp_path, check=True,
            timeout=PATIENCE,
        )  # fmt: skip
    heard = [json.loads(line) for line in (tmp_path / "out").read_bytes().splitlines()]
    assert [each["type"] for each in heard] == ["welcome", "answer"]


@pytest.mark.slow
@pytest.mark.parametrize("said", [b"\xff\xff\xff", b"\n" * 10], ids=["no text", "blank lines"])
def test_garbage_on_standard_input_is_answered_with_an_error(tmp_path: Path, said: bytes) -> None:
    heard, complaints = piped(tmp_path, said)
    assert [each["code"] for each in heard] == (["hello_first"] if said.strip() else [])
    assert complaints == ""


@pytest.mark.slow
def test_signal_closes_the_gateway_cleanly(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(written(HELLO))
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["type"] == "welcome"
        process.send_signal(signal.SIGINT)  # the servers of other tests get SIGTERM
        assert json.loads(process.stdout.readline())["code"] == "closing"
        assert process.wait(PATIENCE) == 0


@pytest.mark.slow
def test_closed_standard_output_ends_the_gateway_quietly(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, cwd=tmp_path,
    ) as process:  # fmt: skip
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        process.stdin.write(written(HELLO, OPEN | {"id": 1}))
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
        assert b"Traceback" not in process.stderr.read()


# A port and a Unix socket.


def test_gateway_on_a_port_requires_the_secret(tmp_path: Path, run_server: RunServer) -> None:
    words = [*COMMAND, "--config", configured(tmp_path, secret=SECRET), "--port", "0"]
    with run_server(words) as place:
        with link(place) as (connection, heard):
            connection.sendall(written(HELLO))
            assert next(heard)["code"] == "wrong_secret"
            assert next(heard, None) is None
        with link(place) as (connection, heard):
            connection.sendall(written(HELLO | {"secret": SECRET}))
            token = next(heard)["session"]
            connection.sendall(written(OPEN | {"id": 1}))
            assert next(heard)["seq"] == 1
        with link(place) as (connection, heard):
            greeting = HELLO | {"secret": SECRET, "session": token, "seen": 0}
            connection.sendall(written(greeting))
            welcome = next(heard)
            assert (welcome["resumed"], welcome["received"]) == (True, 1)
            assert next(heard)["seq"] == 1


@pytest.mark.slow
def test_killed_gateway_has_lost_nothing(tmp_path: Path, run_server: RunServer) -> None:
    path = configured(tmp_path, socket="socket")
    with subprocess.Popen(
        [*COMMAND, "--config", path], stdout=subprocess.PIPE, cwd=tmp_path
    ) as process:
        assert process.stdout
        assert (
            process.stdout.readline() == f"thudmud gateway is ready: {tmp_path}/socket\n".encode()
        )
        with link(f"{tmp_path}/socket") as (connection, heard):
            connection.sendall(written(HELLO))
            next(heard)
            lines = [("Anna", "join game as dwarf"), ("Bert", "join game as troll")]
            lines += [("Anna", "start"), ("Anna", "move from f1 to f6")]
            asked: list[dict[str, object]] = [
                OPEN | {"id": 1},
                entering("Anna", 2),
                entering("Bert", 3),
            ]
            asked += [typing(who, n, line) for n, (who, line) in enumerate(lines, 4)]
            connection.sendall(written(*asked))
            while next(heard).get("id") != 7:
                pass
            process.kill()
        process.wait(PATIENCE)
    assert oct((tmp_path / "socket").stat().st_mode & 0o777) == "0o600"
    # The leftover socket file does no harm.
    with subprocess.Popen(
        [*COMMAND, "--config", path], stdout=subprocess.PIPE, cwd=tmp_path
    ) as process:
        assert process.stdout
        assert process.stdout.readline()
        with link(f"{tmp_path}/socket") as (connection, heard):
            connection.sendall(written(HELLO))
            assert next(heard)["resumed"] is False
            connection.sendall(written(OPEN | {"id": 1}, {"type": "show", "id": 2, "board": "oak"}))
            assert next(heard)["version"] == 6
            shown = next(heard)
            assert shown["position"]["last"]["to"] == "F6"
            assert all(seat["away_since"] for seat in shown["table"]["seats"])
        process.terminate()
        assert process.wait(PATIENCE) == 0
    assert not (tmp_path / "socket").exists()


@pytest.mark.slow
def test_client_that_stops_reading_is_disconnected(tmp_path: Path, run_server: RunServer) -> None:
    path = configured(tmp_path, secret=SECRET, outbox_bytes=65_536)
    with run_server([*COMMAND, "--config", path, "--port", "0"]) as place:
        with link(place) as (connection, _):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(written(HELLO | {"secret": SECRET}, OPEN | {"id": 1}))
            shows = ({"type": "show", "id": n, "board": "oak"} for n in range(2, 80_000))
            with suppress(ConnectionError):
                connection.sendall(written(*shows))
            told = 0
            with suppress(ConnectionError):
                while piece := connection.recv(65_536):
                    told += len(piece)
            assert told < 100_000_000  # kernel buffers hold less than half of the output
        with link(place) as (connection, heard):
            connection.sendall(written(HELLO | {"secret": SECRET}))
            assert next(heard)["type"] == "welcome"


def test_second_gateway_on_the_same_file_is_refused(
    tmp_path: Path, run_server: RunServer, capsys: pytest.CaptureFixture[str]
) -> None:
    path = configured(tmp_path, secret=SECRET, file="boards.db")
    said = written(HELLO, OPEN | {"id": 1})
    with run_server([*COMMAND, "--config", path, "--port", "0"]):
        for options in ([], ["--port", "0"], ["--stdio"]):
            assert main(["gateway", "--config", str(path), *options]) == 2
            told = capsys.readouterr()
            assert told.out == ""
            assert told.err == (
                f"thudmud: The store {tmp_path}/boards.db is in use by another server. Stop "
                "that one first, or give this one a file of its own.\n"
            )
    # The file is free once the first gateway has ended.
    assert piped(tmp_path, said, "--config", str(path))[0][-1]["ok"]


@pytest.mark.slow
def test_successive_gateways_share_one_file(tmp_path: Path) -> None:
    """Simulate a MUD that starts its own gateway with ``--stdio`` and has crashed."""
    with subprocess.Popen(
        [*COMMAND, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(written(HELLO, OPEN | {"id": 1}))
        process.stdin.flush()
        assert [json.loads(process.stdout.readline())["type"] for _ in range(2)]
        again = subprocess.run(
            [*COMMAND, "--stdio"],
            input=b"", capture_output=True, cwd=tmp_path, check=False, timeout=PATIENCE,
        )  # fmt: skip
        assert again.returncode == 2
        assert b"is in use" in again.stderr
        process.kill()
        process.wait(PATIENCE)
    heard, _ = piped(tmp_path, written(HELLO, OPEN | {"id": 1}))
    assert heard[-1]["ok"]


# Refusals at startup.


def test_port_without_a_secret_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["gateway"]) == 2
    assert capsys.readouterr().err.startswith("thudmud: gateway.secret: ")
    assert list(tmp_path.iterdir()) == []


def test_short_secret_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = configured(tmp_path, secret="x" * 15)
    assert main(["gateway", "--config", str(path)]) == 2
    problem = "gateway.secret: expected 16 to 256 characters"
    assert capsys.readouterr().err == f"thudmud: {path}, line 2: {problem}\n"


def test_unusable_listening_address_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        path = configured(tmp_path, secret=SECRET, port=port)
        assert main(["gateway", "--config", str(path)]) == 2
    told = f"thudmud: gateway.port: port {port} of 127.0.0.1 is in use by another program\n"
    assert capsys.readouterr().err == told
    (tmp_path / "file").touch()
    for name in ("file", "nowhere/socket", "x" * 200):
        path = configured(tmp_path, socket=name)
        assert main(["gateway", "--config", str(path)]) == 2
        assert capsys.readouterr().err.startswith(f"thudmud: {tmp_path}/{name}: ")
    assert (tmp_path / "file").exists()


def test_foreign_file_is_refused_and_unchanged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "boards.db").write_bytes(b"x" * 5000)
    path = configured(tmp_path, file="boards.db")
    assert main(["gateway", "--stdio", "--config", str(path)]) == 2
    assert capsys.readouterr().err.startswith("thudmud: ")
    assert (tmp_path / "boards.db").read_bytes() == b"x" * 5000
