"""Whoever reads may stop, and Ctrl-C may come at any moment: no subcommand makes a fuss of it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from thudmud.cli.main import SERVER_NEEDS, main

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "thudmud.cli.main"]
MATCH = str(ROOT / "tests" / "transcripts" / "discworld-match.thud-script")
PATIENCE = 60.0


def begun(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *words], cwd=ROOT,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [["script", MATCH], ["perft", "--depth", "1", "--divide"], ["play"], ["engine"]],
    ids=lambda words: words[0],
)
def test_nobody_reads_on(words: list[str]) -> None:
    with begun(*words) as process:
        assert process.stdout
        process.stdout.close()
        _, said = process.communicate(b"view\nhelp\nquit\n", PATIENCE)
    assert (process.returncode, said) == (128 + signal.SIGPIPE, b"")


@pytest.mark.parametrize(
    ("words", "typed"),
    [(["play"], b""), (["engine"], b"name\n")],
    ids=["play", "engine"],
)
def test_it_is_interrupted(words: list[str], typed: bytes) -> None:
    with begun(*words) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(typed)
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    # If it comes while text is run as code, as when dataclasses make a method, "python -m" ends by
    # the signal, whoever has caught the exception. To a shell both are 130.
    assert process.returncode in {128 + signal.SIGINT, -signal.SIGINT}
    assert said == b""


@pytest.mark.parametrize("missing", sorted(SERVER_NEEDS))
def test_without_what_a_server_needs_there_is_a_sentence(
    missing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def without(name: str) -> None:
        raise ModuleNotFoundError(f"No module named '{missing}'", name=f"{missing}.frames")

    monkeypatch.setattr("thudmud.cli.main.import_module", without)
    assert main([]) == 2
    said = capsys.readouterr().err
    assert '"thudmud serve" needs more than the library: pip install "thudmud[server]"' in said


def test_what_a_server_needs_is_what_the_extra_brings() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = {re.split(r"[^\w-]", each)[0] for each in settings["optional-dependencies"]["server"]}
    brought = {name for name in SERVER_NEEDS if set(packages_distributions()[name]) & named}
    assert brought == SERVER_NEEDS - {"pydantic_core"}
    assert len(named) == len(brought)
    # What else is imported, but for extras, is of the library: it can do without these.
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({sorted(SERVER_NEEDS)}));"
        "from thudmud import BoardSpec, House; House([BoardSpec('oak board')])"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
