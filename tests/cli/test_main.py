"""`thudmud` as a process: what it prints, how it stops, and its exit status."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.server.plain import PATIENCE, Client
from thudmud.cli.main import main

ROOT = Path(__file__).parents[2]
READY = re.compile(r"thudmud is ready: telnet 127\.0\.0\.1 ([0-9]+)\n")

Process = asyncio.subprocess.Process
Run = Callable[..., Awaitable[Process]]
Shown = pytest.CaptureFixture[str]


@pytest.fixture
async def run(tmp_path: Path) -> AsyncIterator[Run]:
    """Run ``thudmud`` with some arguments in a directory of its own."""
    processes: list[Process] = []

    async def start(*arguments: str) -> Process:
        process = await asyncio.create_subprocess_exec(
            *[sys.executable, "-m", "thudmud.cli.main", *arguments],
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def port_of(process: Process) -> int:
    """Wait until a server is ready; return its port."""
    assert process.stdout
    async with asyncio.timeout(PATIENCE):
        line = await process.stdout.readline()
    ready = READY.fullmatch(line.decode())
    assert ready, line or await outcome(process)
    return int(ready[1])


async def outcome(process: Process) -> tuple[int | None, str, str]:
    """Wait for the end; return the exit status and what was printed since."""
    async with asyncio.timeout(PATIENCE):
        out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def connected(port: int) -> Client:
    async with asyncio.timeout(PATIENCE):
        client = Client(*await asyncio.open_connection("127.0.0.1", port))
    await client.until(b"name? ")
    return client


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_it_says_one_line_when_ready_and_stops_on_a_signal(
    run: Run, number: signal.Signals
) -> None:
    process = await run("--port", "0")
    client = await connected(await port_of(process))
    await client.login("Anna")
    process.send_signal(number)
    assert (await client.rest()).endswith(b"\r\nThe server is shutting down. Goodbye.\r\n")
    assert await outcome(process) == (0, "", "")
    await client.close()


async def test_serve_is_what_it_does_without_a_subcommand(run: Run, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[server]\nport = 0\n", encoding="utf-8")
    for arguments in [(), ("serve",), ("serve", "--host", "127.0.0.1")]:
        process = await run(*arguments)
        assert await port_of(process)
        process.terminate()
        assert await outcome(process) == (0, "", "")


async def test_the_version(run: Run) -> None:
    status, out, err = await outcome(await run("--version"))
    assert (status, err) == (0, "")
    assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+\n", out)


async def test_a_port_in_use_is_one_line(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, out, err = await outcome(await run("serve", "--port", str(port)))
    assert (status, out) == (2, "")
    assert err == f"thudmud: server.port: port {port} of 127.0.0.1 is in use by another program\n"


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("/dev/null", "it is not a file, but a device or a pipe"),
        ("pipe", "it is not a file, but a device or a pipe"),
        ("folder", "it is a folder"),
        ("text", "nor any other database"),
        ("nowhere/file", "there is no folder"),
    ],
)
def test_a_file_that_is_none_for_a_store_is_one_line_and_nothing_is_left(
    file: str, why: str, tmp_path: Path, capsys: Shown
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("dear diary\n")
    path = tmp_path / "config.toml"
    for section, words in (("storage", ["serve", "--port", "0"]), ("gateway", ["gateway"])):
        secret = 'secret = "a secret that is long enough"\n' if section == "gateway" else ""
        path.write_text(f"[{section}]\nfile = '{file}'\n{secret}")
        assert main([*words, "--config", str(path)]) == 2
        told = capsys.readouterr()
        assert (told.out, told.err.count("\n")) == ("", 1)
        assert told.err.startswith(f"thudmud: {section}.file: ")
        assert why in told.err
    assert {each.name for each in tmp_path.iterdir()} == {"config.toml", "folder", "pipe", "text"}
    assert not Path("/dev/null-head").exists()


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid", "x" * 300])
def test_a_host_that_is_not_ours_is_one_line(host: str, tmp_path: Path, capsys: Shown) -> None:
    path = tmp_path / "config.toml"
    path.write_text("", encoding="utf-8")
    assert main(["--config", str(path), "--host", host, "--port", "0"]) == 2
    told = f"thudmud: server.host: this machine cannot listen on '{host}'\n"
    assert capsys.readouterr() == ("", told)


def test_a_host_that_no_system_takes_is_one_line(tmp_path: Path, capsys: Shown) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[server]\nhost = "a\\u0000b"\n', encoding="utf-8")
    assert main(["--config", str(path)]) == 2
    told = "thudmud: server.host: this machine cannot listen on 'a\\x00b'\n"
    assert capsys.readouterr() == ("", told)


def test_a_configuration_that_cannot_be_used_is_a_line_for_each_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Shown
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("other.toml").write_text("[server]\nport = 'x'\nprot = 1\n", encoding="utf-8")
    assert main(["serve", "--config", "other.toml"]) == 2
    assert capsys.readouterr() == (
        "",
        'thudmud: other.toml: server.port: should be a whole number from 0 to 65535, not "x"\n'
        'thudmud: other.toml: server.prot: there is no such setting; did you mean "port"?\n',
    )
    assert main(["--config", "none.toml"]) == 2
    told = "thudmud: none.toml: cannot be read: No such file or directory\n"
    assert capsys.readouterr() == ("", told)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--port", "99999"], "thudmud serve: error: "),
        (["--port", "x"], "thudmud serve: error: "),
        (["--host", ""], "thudmud serve: error: "),
        (["--nonsense"], "thudmud: error: "),
        (["sreve"], "invalid choice: 'sreve'"),
    ],
)
def test_options_that_cannot_be_used(words: list[str], problem: str, capsys: Shown) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert problem in err.splitlines()[-1]


async def test_help(run: Run) -> None:
    status, out, _ = await outcome(await run("--help"))
    assert status == 0
    assert "serve" in out
