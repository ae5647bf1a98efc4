"""`thudmud` as a process: its output, its shutdown and its exit status."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx
import pytest

from tests.conftest import FreePort
from tests.server.plain import PATIENCE, Client
from thudmud.cli.main import main
from thudmud.server.acceptor import FAREWELL

ROOT = Path(__file__).parents[2]
READY = re.compile(
    r"thudmud is ready: (http://127\.0\.0\.1:[0-9]+/) or telnet 127\.0\.0\.1 ([0-9]+)\n"
)

Process = asyncio.subprocess.Process
Run = Callable[..., Awaitable[Process]]
Shown = pytest.CaptureFixture[str]


@pytest.fixture
async def run(tmp_path: Path) -> AsyncIterator[Run]:
    """Return a function that runs ``thudmud`` in a directory of its own."""
    processes: list[Process] = []

    async def start(*arguments: str, files: int | None = None) -> Process:
        words, path = [sys.executable, "-m", "thudmud.cli.main", *arguments], [str(ROOT)]
        if files:
            words = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *words]
            path = [str(tmp_path), *path]
        process = await asyncio.create_subprocess_exec(
            *words,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path)},
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def port_of(process: Process) -> int:
    """Wait until a server is ready and return its port."""
    assert process.stdout
    async with asyncio.timeout(PATIENCE):
        line = await process.stdout.readline()
    ready = READY.fullmatch(line.decode())
    assert ready, line or await outcome(process)
    return int(ready[2])


async def outcome(process: Process) -> tuple[int | None, str, str]:
    """Wait for the process to end; return its exit status and the remaining output."""
    async with asyncio.timeout(PATIENCE):
        out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def connected(port: int) -> Client:
    client = await open_client(port)
    await client.until(b"name? ")
    return client


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_server_prints_one_ready_line_and_stops_on_a_signal(
    run: Run, number: signal.Signals
) -> None:
    process = await run("--port", "0")
    client = await connected(await port_of(process))
    await client.login("Anna")
    process.send_signal(number)
    assert (await client.rest()).endswith(f"\r\n{FAREWELL}\r\n".encode())
    assert await outcome(process) == (0, "", "")
    await client.close()


async def test_inherited_ignored_signal_stays_ignored(run: Run) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        process = await run("--port", "0")
    finally:
        signal.signal(signal.SIGHUP, before)
    client = await connected(await port_of(process))
    process.send_signal(signal.SIGHUP)
    await client.login("Anna")
    process.terminate()
    await client.rest()
    assert await outcome(process) == (0, "", "")
    await client.close()


async def test_full_disk_under_the_log_is_reported_in_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        '[server]\nport = 0\nlog_level = "info"\nlog_file = "/dev/full"\n[web]\nport = 0\n',
        encoding="utf-8",
    )
    process = await run()
    port = await port_of(process)
    for name in ("Anna", "Bert", "Cara"):
        client = await connected(port)
        await client.login(name)
        await client.close()
    process.terminate()
    problem = "server.log_file: cannot write /dev/full: No space left on device"
    assert await outcome(process) == (0, "", f"thudmud: {problem}\n")


CROWDED = """
[server]
port = 0
connections_per_address = 1000
accepts_per_second = 100000
accepts_at_once = 100000
log_file = "log"
[players]
chat_at_once = 1000
[web]
port = 0
"""


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
async def test_connected_players_play_on_when_file_descriptors_run_out(
    run: Run, tmp_path: Path, loop: str
) -> None:
    (tmp_path / "config.toml").write_text(CROWDED, encoding="utf-8")
    if loop == "asyncio":
        (tmp_path / "uvloop.py").write_text("raise ModuleNotFoundError", encoding="utf-8")
    process = await run(files=64)
    port = await port_of(process)
    players = [await connected(port) for _ in range(2)]
    for player, name in zip(players, ("Anna", "Bert"), strict=True):
        await player.login(name)
    crowd: list[Client] = []
    for _ in range(5):
        came = await asyncio.gather(*(open_client(port) for _ in range(100)))
        crowd += came
        first_words = await asyncio.gather(*(first_line(client) for client in came))
        assert any(line.startswith(b"The server is full.") for line in first_words)
        for number in range(20):
            await players[number % 2].send(b"say %d\r\n" % number)
            await asyncio.gather(*(player.until(b": %d" % number) for player in players))
    for client in crowd:
        await client.close()
    async with asyncio.timeout(PATIENCE):
        while b"thudmud" not in await first_line(late := await open_client(port)):
            await late.close()
    process.terminate()
    assert (await outcome(process))[0] == 0
    [line] = (tmp_path / "log").read_text("ascii").splitlines()
    assert "the limit on open files" in line
    assert "allowed=64" in line
    for client in (*players, late):
        await client.close()


async def open_client(port: int) -> Client:
    async with asyncio.timeout(PATIENCE):
        return Client(*await asyncio.open_connection("127.0.0.1", port))


async def first_line(client: Client) -> bytes:
    """Return the first line received, or nothing if the connection ends first."""
    try:
        async with asyncio.timeout(PATIENCE):
            return await client.reader.readline()
    except ConnectionError:
        return b""


async def test_default_subcommand_is_serve(run: Run, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[server]\nport = 0\n[web]\nport = 0\n", encoding="utf-8")
    for arguments in [(), ("serve", "--host", "127.0.0.1")]:
        process = await run(*arguments)
        assert await port_of(process)
        process.terminate()
        assert await outcome(process) == (0, "", "")


async def test_printed_link_opens_the_web_page(run: Run, free_port: FreePort) -> None:
    port = free_port()
    process = await run("--port", "0", "--web-port", str(port))
    assert process.stdout
    ready = READY.fullmatch((await process.stdout.readline()).decode())
    assert ready
    assert ready[1] == f"http://127.0.0.1:{port}/"
    async with httpx.AsyncClient() as client:
        assert "<title>Thud" in (await client.get(ready[1])).text
    process.terminate()
    assert await outcome(process) == (0, "", "")


async def test_version_is_printed(run: Run) -> None:
    status, out, err = await outcome(await run("--version"))
    assert (status, err) == (0, "")
    assert re.fullmatch(r"thudmud [0-9]+\.[0-9]+\.[0-9]+\n", out)


async def test_port_in_use_is_reported_in_one_line(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, out, err = await outcome(await run("serve", "--port", str(port)))
    assert (status, out) == (2, "")
    assert err == f"thudmud: server.port: port {port} of 127.0.0.1 is in use by another program\n"


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("/dev/null", "not a file, but a device or a pipe"),
        ("pipe", "not a file, but a device or a pipe"),
        ("folder", "it is a folder"),
        ("text", "nor any other database"),
        ("nowhere/file", "no folder"),
    ],
)
def test_unusable_store_file_is_one_line_and_leaves_nothing_behind(
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
def test_foreign_host_is_reported_in_one_line(host: str, tmp_path: Path, capsys: Shown) -> None:
    path = tmp_path / "config.toml"
    path.write_text("", encoding="utf-8")
    assert main(["--config", str(path), "--host", host, "--port", "0"]) == 2
    told = f"thudmud: server.host: cannot listen on '{host}': this machine has no such address\n"
    assert capsys.readouterr() == ("", told)


def test_malformed_host_is_reported_in_one_line(tmp_path: Path, capsys: Shown) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[server]\nhost = "a\\u0000b"\n', encoding="utf-8")
    assert main(["--config", str(path)]) == 2
    told = "thudmud: server.host: cannot listen on 'a\\x00b': this machine has no such address\n"
    assert capsys.readouterr() == ("", told)


def test_invalid_configuration_is_reported_one_line_per_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Shown
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("other.toml").write_text("[server]\nport = 'x'\nprot = 1\n", encoding="utf-8")
    assert main(["serve", "--config", "other.toml"]) == 2
    assert capsys.readouterr() == (
        "",
        "thudmud: other.toml, line 2: server.port: expected a whole number from 0 to 65535, "
        'got "x"\n'
        'thudmud: other.toml, line 3: server.prot: unknown setting; did you mean "port"?\n',
    )
    assert main(["--config", "none.toml"]) == 2
    told = "thudmud: none.toml: no such file\n"
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
def test_invalid_options_are_a_usage_error(words: list[str], problem: str, capsys: Shown) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert problem in err.splitlines()[-1]


async def test_help_lists_the_subcommands(run: Run) -> None:
    status, out, _ = await outcome(await run("--help"))
    assert status == 0
    assert "serve" in out
