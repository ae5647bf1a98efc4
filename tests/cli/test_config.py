"""`thudmud config`: the default configuration, and the check of one."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import FreePort, RunServer
from thudmud.cli.main import main

SHIPPED = Path(__file__).parents[2] / "config.toml"

Shown = pytest.CaptureFixture[str]


def test_default_configuration_is_printed(capsys: Shown) -> None:
    assert main(["config"]) == 0
    assert capsys.readouterr() == (SHIPPED.read_text("utf-8"), "")


def test_configuration_file_is_written_but_never_overwritten(tmp_path: Path, capsys: Shown) -> None:
    file = tmp_path / "config.toml"
    assert main(["config", str(file)]) == 0
    assert file.read_text("utf-8") == SHIPPED.read_text("utf-8")
    assert capsys.readouterr().out == (f"Wrote {file}. To use it: thudmud serve --config {file}\n")
    file.write_text("mine", "utf-8")
    assert main(["config", str(file)]) == 2
    assert capsys.readouterr().err == (
        f"thudmud: {file} already exists; not overwritten. "
        f"To check it: thudmud config check {file}\n"
    )
    assert file.read_text("utf-8") == "mine"


def test_unwritable_configuration_file_is_reported(tmp_path: Path, capsys: Shown) -> None:
    file = tmp_path / "nowhere" / "config.toml"
    assert main(["config", str(file)]) == 2
    assert capsys.readouterr().err == (f"thudmud: {file}: no folder {file.parent}\n")


# The check of a configuration.


@pytest.fixture
def taken() -> Iterator[int]:
    """Return a port that another program listens on."""
    with socket.create_server(("127.0.0.1", 0)) as end:
        yield end.getsockname()[1]


def configure(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text, "utf-8")
    return path


QUIET = "[server]\nport = 0\n[web]\nport = 0\n"


def test_usable_configuration_is_in_order_and_nothing_is_made(
    tmp_path: Path, capsys: Shown
) -> None:
    text = f"{QUIET}public_url = 'https://thud.example.org'\n[push]\nenabled = true\n"
    path = configure(tmp_path, f"{text}[metrics]\nenabled = true\nport = 0\n")
    assert main(["config", "check", str(path)]) == 0
    assert capsys.readouterr() == (f"{path} is in order.\n", "")
    assert main(["serve", "--check", "--config", str(path)]) == 0
    assert [*tmp_path.iterdir()] == [path]


def test_default_file_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Shown
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["config", "check"]) == 2
    assert capsys.readouterr().err == "thudmud: config.toml: no such file\n"
    configure(tmp_path, QUIET)
    assert main(["config", "check"]) == 0


def test_problems_of_all_kinds_are_listed(tmp_path: Path, taken: int, capsys: Shown) -> None:
    path = configure(
        tmp_path,
        f"""
[server]
port = {taken}
tls_port = 8992
tls_certificate = "none.pem"
log_file = "nowhere/log"
[players]
news = "news.txt"
[storage]
file = "."
[mail]
relay = "localhost"
sender = "thud@example.org"
password_file = "password"
user = "thud"
[web]
port = 0
public_url = "https://thud.example.org"
[[bot]]
name = "Grog"
command = ["./none"]
""",
    )
    told = [
        "bot 1, command: no executable program './none'",
        f"players.news: {tmp_path}/news.txt: no such file",
        f"server.tls_certificate: cannot read {tmp_path}/none.pem: no such file",
        f"server.log_file: {tmp_path}/nowhere/log: no folder {tmp_path}/nowhere",
        f"mail.password_file: cannot read {tmp_path}/password: no such file",
        f"storage.file: The store {tmp_path} could not be used: it is a folder.",
        f"server.port: port {taken} of 127.0.0.1 is in use by another program",
    ]
    assert main(["config", "check", str(path)]) == 2
    assert capsys.readouterr().err.splitlines() == [f"thudmud: {path}: {each}" for each in told]


def test_wrong_values_are_reported_by_the_check(tmp_path: Path, capsys: Shown) -> None:
    path = configure(tmp_path, "[server]\nport = 8484\n[metrics]\nenabled = true\nport = 8484\n")
    assert main(["config", "check", str(path)]) == 2
    assert capsys.readouterr().err == (
        f"thudmud: {path}, line 3: metrics: port 8484 is already used by server.port; "
        "give metrics.port another\n"
    )


def test_two_settings_with_one_port_are_a_problem_beside_a_server_too(
    tmp_path: Path, free_port: FreePort, capsys: Shown
) -> None:
    """With a database, a server may run; the port of two settings isn't that server's."""
    port = free_port()
    path = configure(
        tmp_path,
        f"[server]\nhost = 'localhost'\nport = {port}\n[web]\nhost = '127.0.0.1'\nport = {port}\n"
        "[storage]\nbackend = 'postgresql'\ndsn = 'host=127.0.0.1 dbname=thud'\n",
    )
    assert main(["config", "check", str(path)]) == 2
    told = f"web.port: port {port} is already used by server.port; give each its own port"
    assert capsys.readouterr().err == f"thudmud: {path}: {told}\n"


@pytest.mark.parametrize("host", ["*", "::", "0.0.0.0"])  # noqa: S104  (nothing listens)
def test_port_of_all_addresses_is_taken_for_each(tmp_path: Path, host: str, capsys: Shown) -> None:
    path = configure(
        tmp_path,
        f"[server]\nhost = '{host}'\nport = 8484\n[metrics]\nenabled = true\nport = 8484\n",
    )
    assert main(["config", "check", str(path)]) == 2
    assert "port 8484 is already used by server.port" in capsys.readouterr().err


def test_port_in_use_may_be_the_server_s_without_a_store(
    tmp_path: Path, taken: int, capsys: Shown
) -> None:
    text = f"[server]\nport = {taken}\n[web]\nport = 0\n[storage]\nbackend = 'memory'\n"
    path = configure(tmp_path, text)
    assert main(["config", "check", str(path)]) == 0
    assert capsys.readouterr().out.endswith(f"by the server that runs now: {taken}.\n")


def test_malformed_connection_string_is_a_problem(tmp_path: Path, capsys: Shown) -> None:
    path = configure(
        tmp_path, f"{QUIET}[storage]\nbackend = 'postgresql'\ndsn = 'nonsense secret'\n"
    )
    assert main(["config", "check", str(path)]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"thudmud: {path}: storage.dsn: Could not parse the connection string")
    assert "secret" not in told


def test_options_are_checked_too(tmp_path: Path, taken: int, capsys: Shown) -> None:
    path = configure(tmp_path, QUIET)
    words = ["serve", "--check", "--config", str(path), "--port", str(taken), "--web-port", "0"]
    assert main(words) == 2
    assert f"port {taken} of 127.0.0.1 is in use" in capsys.readouterr().err


def test_two_files_are_refused(capsys: Shown) -> None:
    with pytest.raises(SystemExit):
        main(["config", "check", "a", "b"])
    assert "expected one file, got 2" in capsys.readouterr().err


def test_ports_of_the_running_server_are_in_order(
    tmp_path: Path, run_server: RunServer, free_port: FreePort, capsys: Shown
) -> None:
    port = free_port()
    path = configure(tmp_path, f"bot = []\n[server]\nport = {port}\n[web]\nport = 0\n")
    command = [sys.executable, "-m", "thudmud.cli.main", "serve", "--config", path]
    with run_server(command):
        assert main(["config", "check", str(path)]) == 0
        assert capsys.readouterr().out == (
            f"{path} is in order. Ports in use, presumably by the server that runs now: {port}.\n"
        )
    with socket.create_server(("127.0.0.1", port)):
        assert main(["config", "check", str(path)]) == 2
