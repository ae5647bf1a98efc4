"""Broken pipes and Ctrl-C: every subcommand ends quietly, at any moment."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from thudmud.cli.main import SERVER_NEEDS, SUBCOMMANDS, main
from thudmud.rules import CLASSIC, Game, Record
from thudmud.store import Store

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "thudmud.cli.main"]
MATCH = str(ROOT / "tests" / "transcripts" / "discworld-match.thud-script")
PATIENCE = 60.0


def begun(*words: str, output: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *words], cwd=ROOT,
        stdin=subprocess.PIPE, stdout=output, stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ["script", MATCH],
        ["perft", "1", "--divide"],
        ["draw", str(ROOT / "examples" / "viewer" / "game.thud")],
        ["completion", "bash"],
        ["manual"],
        ["play"],
        ["engine"],
    ],
    ids=lambda words: words[0],
)
def test_closed_pipe_ends_the_command_like_sigpipe(words: list[str]) -> None:
    unread, output = os.pipe()
    os.close(unread)  # before anything can be written, however quick the machine is
    with begun(*words, output=output) as process:
        os.close(output)
        _, said = process.communicate(b"view\nhelp\nquit\n", PATIENCE)
    assert (process.returncode, said) == (128 + signal.SIGPIPE, b"")


@pytest.mark.parametrize(
    ("words", "typed"),
    [(["play"], b""), (["engine"], b"name\n")],
    ids=["play", "engine"],
)
def test_interrupt_ends_the_command_without_a_traceback(words: list[str], typed: bytes) -> None:
    with begun(*words) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(typed)
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    # If the signal arrives during exec(), as when dataclasses generate a method, "python -m" dies
    # of the signal even though the exception is caught. A shell reports 130 for both.
    assert process.returncode in {128 + signal.SIGINT, -signal.SIGINT}
    assert said == b""


SIGNALLED = """
import os, signal, sys
from thudmud.cli import main
load = main.import_module
def signalled(name):
    os.kill(os.getpid(), signal.SIGHUP)
    return load(name)
main.import_module, sys.argv = signalled, ["thudmud", *sys.argv[1:], "--help"]
main.main()
"""
"""Runs a command line and sends SIGHUP to its process while it imports its modules."""


@pytest.mark.parametrize(("subcommand", "status"), [("serve", 0), ("perft", -signal.SIGHUP)])
def test_sighup_during_startup_does_not_end_the_server(subcommand: str, status: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SIGNALLED, subcommand],
        cwd=ROOT, start_new_session=True, capture_output=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (status, b"")


@pytest.mark.parametrize("given", [{"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONIOENCODING": "latin-1"}])
def test_characters_missing_from_the_locale_are_harmless(
    tmp_path: Path, given: dict[str, str]
) -> None:
    lacking = given | {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    typed = "set board full\nlook\nsay h\xe9 \U0001f600\nquit\n".encode()
    done = subprocess.run(
        [*COMMAND, "play"], cwd=ROOT, env=os.environ | lacking,
        input=typed, capture_output=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Goodbye!" in done.stdout
    script = tmp_path / "unlike.thud-script"
    script.write_text("Anna> say \u540d\nAnna| You say: \U0001f600\n", "utf-8")
    done = subprocess.run(
        [*COMMAND, "script", script], cwd=ROOT, env=os.environ | lacking,
        capture_output=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"You say: \\u540d" in done.stdout


@pytest.mark.parametrize("missing", sorted(SERVER_NEEDS))
def test_missing_server_dependency_is_explained_in_a_sentence(
    missing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def without(name: str) -> None:
        raise ModuleNotFoundError(f"No module named '{missing}'", name=f"{missing}.frames")

    monkeypatch.setattr("thudmud.cli.main.import_module", without)
    assert main([]) == 2
    said = capsys.readouterr().err
    assert f'"thudmud serve" needs more than the library: {missing}.frames is missing.' in said
    assert 'pip install "thudmud[server]"' in said


def test_server_extra_matches_the_imported_dependencies() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = {re.split(r"[^\w-]", each)[0] for each in settings["optional-dependencies"]["server"]}
    brought = {name for name in SERVER_NEEDS if set(packages_distributions()[name]) & named}
    assert brought == SERVER_NEEDS - {"pydantic_core"}
    assert len(named) == len(brought)
    # All other imports, except for extras, belong to the library, which works without these.
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({sorted(SERVER_NEEDS)}));"
        "from thudmud import BoardSpec, House; House([BoardSpec('oak board')])"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


PRINTING = {
    "config": 0,
    "user list": 0,
    "user ban 192.0.2.7": 0,
    "board list": 0,
    "board open elm board": 0,
    "store check": 0,
    "store prune --before 2025-01-01": 0,
    "store compact": 0,
    "store copy db copied": 0,
    "import game.thud": 0,
    "completion bash": 0,
    "manual": 0,
    "export --to out": 0,
    "perft --depth 1": 0,
    "replay game.thud": 0,
    "draw game.thud": 0,
    "script hello.thud-script": 1,
    "match thudmud:1 thudmud:1 --games 2 --plies 2": 0,
    "engine": 0,
    "play": 0,
    "--version": 0,
    "serve --help": 0,
    "doctor": 0,
    "health": 1,
    "user list Bert": 2,
}
"""Commands that print something, with their exit status."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a record, a transcript, a configuration and its store."""
    (tmp_path / "game.thud").write_text(str(Record(Game.start(CLASSIC).push("dA6-B6"))), "utf-8")
    (tmp_path / "hello.thud-script").write_text("Anna> say Hello!\n", "utf-8")
    ports = "[server]\nport = 0\n[web]\nport = 0\n"
    (tmp_path / "config.toml").write_text(f'bot = []\n[storage]\nfile = "db"\n{ports}', "utf-8")

    async def fill() -> None:
        await (await Store.open(tmp_path / "db")).close()

    asyncio.run(fill())
    return tmp_path


def with_streams(folder: Path, words: str, redirections: str) -> subprocess.Popen[str]:
    """Start a subcommand with its standard streams redirected by a shell."""
    line = f'exec "$0" -m thudmud.cli.main {words} {redirections}'
    return subprocess.Popen(
        ["/bin/sh", "-c", line, sys.executable], cwd=folder, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip


@pytest.mark.parametrize("words", PRINTING)
def test_closed_output_does_not_change_the_exit_status(folder: Path, words: str) -> None:
    with with_streams(folder, words, "<&- >&-") as process:
        _, said = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in said
    assert process.returncode == PRINTING[words], said
    assert {each.name for each in folder.iterdir()} >= {"db", "game.thud"}


@pytest.mark.parametrize("words", PRINTING)
def test_full_output_device_is_reported_once(folder: Path, words: str) -> None:
    with with_streams(folder, words, ">/dev/full") as process:
        _, said = process.communicate("quit\n", timeout=PATIENCE)
    lines = [line for line in said.splitlines() if "No space left" in line]
    full = ["thudmud: standard output: No space left on device"]
    assert "Traceback" not in said
    assert (process.returncode, lines) == (PRINTING[words] or 2, [] if PRINTING[words] else full)


def test_every_subcommand_is_tried_without_an_output() -> None:
    assert {words.split()[0] for words in PRINTING} >= {*SUBCOMMANDS} - {"gateway", "bot"}


def test_gateway_runs_without_a_writable_output(folder: Path) -> None:
    (folder / "config.toml").write_text('[gateway]\nsocket = "socket"\nfile = "boards"\n', "utf-8")
    with with_streams(folder, "gateway", ">/dev/full") as process:
        status = 1
        while status:
            with with_streams(folder, "health --gateway", ">&-") as asked:
                _, said = asked.communicate(timeout=PATIENCE)
                status = asked.returncode
            assert "Traceback" not in said
            assert process.poll() is None
        process.terminate()
        assert process.communicate(timeout=PATIENCE) == ("", "")
    assert process.returncode == 0


def test_unprintable_errors_do_not_change_the_exit_status(folder: Path) -> None:
    for redirection in ("2>&-", "2>/dev/full"):
        with with_streams(folder, "user list Bert", redirection) as process:
            assert process.communicate(timeout=PATIENCE) == ("", "")
        assert process.returncode == 2


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full", ""], ids=["closed", "full", "unread"])
def test_server_runs_without_a_writable_output(folder: Path, redirection: str) -> None:
    with with_streams(folder, "serve", f"2>&- {redirection}") as process:
        assert process.stdout
        process.stdout.close()
        for health in (">&-", ">/dev/full"):
            status = 1
            while status:
                with with_streams(folder, "health", health) as asked:
                    _, said = asked.communicate(timeout=PATIENCE)
                    assert "Traceback" not in said
                    status = asked.returncode
                assert process.poll() is None
        process.terminate()
        assert process.wait(PATIENCE) == 0
