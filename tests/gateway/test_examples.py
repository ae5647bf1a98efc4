"""The examples of clients: the one in Node plays a match, the one in LPC asks for what there is."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import RunServer
from tests.gateway.client import SECRET
from thudmud.gateway.requests import FATAL, KINDS, Code, LineRequest, Request
from thudmud.language import parse

ROOT = Path(__file__).parents[2]
NODE = ROOT / "examples" / "node"
LPC = ROOT / "examples" / "lpmud"
BOARD = (LPC / "thud_board.c").read_text("utf-8")
HANDLER = (LPC / "thud_gateway.c").read_text("utf-8")
MATCH = ROOT / "tests" / "transcripts" / "discworld-match.thud-script"


@pytest.fixture
def port(tmp_path: Path, run_server: RunServer) -> Iterator[int]:
    config = tmp_path / "config.toml"
    config.write_text(f"[gateway]\nsecret = {json.dumps(SECRET)}\n", "utf-8")
    words = [sys.executable, "-m", "thudmud.cli.main", "gateway", "--port", "0"]
    with run_server([*words, "--config", config]) as (_, port):
        yield port


def play(port: int, script: Path, *options: str, secret: str = SECRET) -> tuple[int, str, str]:
    done = subprocess.run(
        ["node", NODE / "play.mjs", "--port", str(port), *options, script],  # noqa: S607  (wherever it is)
        capture_output=True, text=True, check=False, timeout=60,
        env=os.environ | {"THUDMUD_SECRET": secret},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def steps_of(text: str) -> int:
    steps = len(re.findall(r"^[A-Z][a-z]+[>+-]", text, re.MULTILINE))
    assert steps > 50
    return steps


@pytest.mark.slow
def test_a_match_in_node(port: int) -> None:
    steps = steps_of(MATCH.read_text("utf-8"))
    assert play(port, MATCH) == (0, f"{MATCH.name}: {steps} steps, none not as expected\n", "")


@pytest.mark.slow
def test_what_is_wrong_with_a_match_in_node(port: int, tmp_path: Path) -> None:
    text = MATCH.read_text("utf-8")
    wrong = tmp_path / "wrong.thud-script"
    wrong.write_text(text.replace("Bert| You sit down", "Bert| You stand up"), "utf-8")
    status, out, err = play(port, wrong)
    assert (status, err) == (1, "")
    assert out.count("sees what was not expected") == 1
    assert out.endswith(f"{steps_of(text)} steps, 1 not as expected\n")
    assert play(port, MATCH, secret="x" * 20) == (
        2,
        "",
        "wrong_secret: The secret is not the one in the configuration.\n",
    )
    status, _, err = play(port, MATCH, "--client", "another-mud")
    assert (status, err) == (2, "not_yours: Another client has a board of that name.\n")


@pytest.mark.slow
def test_a_match_in_node_whose_link_drops_time_and_again(port: int) -> None:
    status, out, err = play(port, MATCH, "--drop", "3")
    assert (status, err) == (0, "")
    assert out.endswith("none not as expected\n")


def test_the_client_in_node_knows_the_codes_it_names() -> None:
    [named] = re.findall(r"!\[(.*?)\]\.includes", (NODE / "gateway.mjs").read_text("utf-8"))
    assert {Code(word) for word in json.loads(f"[{named}]")} < FATAL


# The LPC: no driver is packaged, so it is held against what the gateway takes.


def asked(source: str) -> list[tuple[str, list[str]]]:
    """Return the requests that an LPC source makes, with their keys."""
    calls = re.findall(r'ask\("(\w+)", \(\[(.*?)\]\)', source, re.DOTALL)
    return [(kind, re.findall(r'"(\w+)":', keys)) for kind, keys in calls]


def test_the_requests_in_lpc_are_requests() -> None:
    requests = asked(BOARD) + asked(HANDLER)
    assert {kind for kind, _ in requests} == {"open", "show", "enter", "leave", "line", "close"}
    for name, keys in requests:
        kind = KINDS[name]
        assert issubclass(kind, Request)
        known = kind.model_fields
        assert set(keys) <= set(known)
        needed = {key for key, each in known.items() if each.is_required()}
        assert needed <= {*keys, "id"}


def test_all_else_that_is_said_in_lpc_is_known() -> None:
    said = re.findall(r'say\(\(\[ "type": "(\w+)"', HANDLER)
    assert set(said) == {"hello", "pong", "ack"}
    hello = re.findall(r'"(\w+)":', HANDLER.split('"type": "hello"')[1].split(";")[0])
    assert set(hello) <= set(KINDS["hello"].model_fields)


SAMPLES = {
    "side": "dwarf", "square": "c5", "squares": "d8, e8", "full or brief": "brief",
    "rules": "koom valley", "board": "board",
}  # fmt: skip


def commands() -> list[tuple[str, str]]:
    """Return what is typed at the board in LPC, and the line that the gateway is told."""
    here = re.findall(r'#define HERE "(.*?)"', BOARD)[0]
    table = BOARD.split("#define COMMANDS")[1].split("})\n\n")[0].replace('" + HERE + "', here)
    rows = re.findall(r'\(\{ "(.*?)", "(.*?)"( \+ HERE)?, (?:\\\n *)?"(.*?)" \}\)', table)
    told = []
    for verb, pattern, ends_here, line in rows:
        slots = re.findall(r"<.*?'(.*?)'>", pattern + (here if ends_here else ""))
        typed = line
        for number, slot in enumerate(slots, 1):
            typed = typed.replace(f"%{number}", SAMPLES[slot])
        told.append((verb, typed))
    return told


def test_every_command_in_lpc_becomes_a_line_of_the_game() -> None:
    told = commands()
    assert len(told) == BOARD.split("#define COMMANDS")[1].split("})\n\n")[0].count('({ "')
    assert {"join", "move", "hurl", "shove", "start", "end"} <= {verb for verb, _ in told}
    for _, line in told:
        assert "%" not in line
        parse(line)
    assert (
        LineRequest(id=1, board="oak", player="Anna", line=told[0][1]).line == "join game as dwarf"
    )


@pytest.mark.parametrize("source", [BOARD, HANDLER], ids=["board", "gateway"])
def test_brackets_in_lpc_are_closed(source: str) -> None:
    code = re.sub(r"/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|.)'", "", source, flags=re.DOTALL)
    open_ones = []
    for bracket in re.findall(r"[\[\](){}]", code):
        if bracket in "([{":
            open_ones.append(bracket)
        else:
            assert open_ones.pop() + bracket in {"()", "[]", "{}"}
    assert open_ones == []
