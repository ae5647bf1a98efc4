"""The example clients: Node plays a match; LPC is checked against the protocol."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import FreePort, RunServer
from tests.gateway.client import SECRET, Client, opened
from tests.plain_telnet import PlainTelnet
from thudmud.gateway.boards import LEFT_OUT
from thudmud.gateway.requests import FATAL, KINDS, Code, LineRequest, Request
from thudmud.language import parse
from thudmud.language.vocabulary import Vocabulary
from thudmud.script import Transcript
from thudmud.values import defaults_of

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
def test_node_client_plays_a_match(port: int) -> None:
    steps = steps_of(MATCH.read_text("utf-8"))
    assert play(port, MATCH) == (0, f"{MATCH.name}: {steps} steps, none not as expected\n", "")


@pytest.mark.slow
def test_node_client_reports_mismatches_and_errors(port: int, tmp_path: Path) -> None:
    text = MATCH.read_text("utf-8")
    wrong = tmp_path / "wrong.thud-script"
    wrong.write_text(text.replace("Bert| You sit down", "Bert| You stand up"), "utf-8")
    status, out, err = play(port, wrong)
    assert (status, err) == (1, "")
    assert out.count("sees what was not expected") == 1
    assert out.endswith(f"{steps_of(text)} steps, 1 not as expected\n")
    wrong.write_text("Anna+\nAnna> join game as dwarf on oak board\nAnna> start\n", "utf-8")
    assert play(port, wrong, "--board", "another")[:2] == (
        1,
        '"Anna> start" was not done: needs_opponent\n'
        "wrong.thud-script: 3 steps, 1 not as expected\n",
    )
    assert play(port, MATCH, secret="x" * 20) == (
        2,
        "",
        "wrong_secret: Wrong secret: expected the gateway.secret of the configuration.\n",
    )
    status, _, err = play(port, MATCH, "--client", "another-mud")
    assert (status, err) == (2, "not_yours: Another client owns a board of that name.\n")


@pytest.mark.slow
def test_node_client_plays_a_match_over_a_flaky_link(port: int) -> None:
    status, out, err = play(port, MATCH, "--drop", "3")
    assert (status, err) == (0, "")
    assert out.endswith("none not as expected\n")


def test_node_client_handles_only_existing_fatal_codes() -> None:
    [named] = re.findall(r"!\[(.*?)\]\.includes", (NODE / "gateway.mjs").read_text("utf-8"))
    assert {Code(word) for word in json.loads(f"[{named}]")} < FATAL


# The Ranvier bundle, in the example's own MUD.


@pytest.fixture
def ranvier(port: int) -> Iterator[int]:
    """Return the port of the example's MUD."""
    modules = ROOT / "build" / "ranvier" / "node_modules"
    told = {"THUDMUD_SECRET": SECRET, "NODE_PATH": str(modules)}
    command = ["node", str(ROOT / "examples" / "ranvier" / "mud.js"), "0", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | told) as mud:
        try:
            assert mud.stdout
            yield int(mud.stdout.readline().split()[-1])
        finally:
            mud.kill()


@pytest.mark.slow
def test_ranvier_bundle_puts_a_board_into_a_room(ranvier: int) -> None:
    with PlainTelnet(ranvier, "Zoë2", "The taproom") as bert:
        with PlainTelnet(ranvier, "Anna", "The taproom") as anna:
            anna.type("join game as dwarf", "You sit down at the oak board")
            bert.type("join game as troll", "You sit down at the oak board")
            anna.type("start", "You and Zoë2 begin a match")
            anna.type("move f15 f8", "You move the dwarf from F15 to F8")
            bert.sees("Anna moves the dwarf from F15 to F8")
            assert "command" not in anna.type("sharpen axe", r"Huh\?")
            anna.type("move table", 'After "move" comes a position')
            anna.type("south", "The yard")
            bert.sees("Anna walks away; the dwarf seat at the oak board is kept.")
            anna.type("move f8 f7", r"Huh\?")
            anna.type("north", "You're back at the oak board, playing the dwarfs.")
        bert.sees("Anna has lost the connection.")


@pytest.mark.slow
def test_node_client_waits_for_a_gateway_that_starts_later(
    tmp_path: Path, run_server: RunServer, free_port: FreePort
) -> None:
    port = str(free_port())
    command = ["node", str(NODE / "play.mjs"), "--port", port, str(MATCH)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"THUDMUD_SECRET": SECRET},
    ) as playing:  # fmt: skip
        assert playing.stderr
        assert playing.stderr.readline().startswith("The gateway can't be reached: ")
        config = tmp_path / "config.toml"
        config.write_text(f"[gateway]\nsecret = {json.dumps(SECRET)}\n", "utf-8")
        words = [sys.executable, "-m", "thudmud.cli.main", "gateway", "--port", port]
        with run_server([*words, "--config", config]):
            out, err = playing.communicate(timeout=60)
    assert out.endswith(" steps, none not as expected\n")
    assert (playing.returncode, err) == (0, "")


# The LPC client: no driver is packaged, so its source is checked against the protocol.


def asked(source: str) -> list[tuple[str, list[str]]]:
    """Return the requests of an LPC source and their keys."""
    calls = re.findall(r'ask\("(\w+)", \(\[(.*?)\]\)', source, re.DOTALL)
    return [(kind, re.findall(r'"(\w+)":', keys)) for kind, keys in calls]


def test_lpc_client_requests_match_the_protocol() -> None:
    requests = asked(BOARD) + asked(HANDLER)
    assert {kind for kind, _ in requests} == {"open", "show", "enter", "leave", "line", "close"}
    for name, keys in requests:
        kind = KINDS[name]
        assert issubclass(kind, Request)
        known = kind.__struct_fields__
        assert set(keys) <= set(known)
        needed = set(known) - set(defaults_of(kind))
        assert needed <= {*keys, "id"}


def test_lpc_client_sends_only_known_messages() -> None:
    said = re.findall(r'say\(\(\[ "type": "(\w+)"', HANDLER)
    assert set(said) == {"hello", "pong", "ack"}
    hello = re.findall(r'"(\w+)":', HANDLER.split('"type": "hello"')[1].split(";")[0])
    assert set(hello) <= set(KINDS["hello"].__struct_fields__)


SAMPLES = {
    "side": "dwarf", "square": "c5", "squares": "d8, e8", "full or brief": "brief",
    "rules": "koom valley", "board": "board",
}  # fmt: skip


HERE = re.findall(r'#define HERE "(.*?)"', BOARD)[0]
TABLE = BOARD.split("#define COMMANDS")[1].split("})\n\n")[0]


def rows() -> list[tuple[str, str, str]]:
    """Return the commands of the LPC board: verb, pattern and line for the gateway."""
    found = re.findall(
        r'\(\{ "(.*?)", "(.*?)"( \+ HERE)?, (?:\\\n *)?"(.*?)" \}\)',
        TABLE.replace('" + HERE + "', HERE),
    )
    return [(verb, words + (HERE if ends else ""), line) for verb, words, ends, line in found]


def commands() -> list[tuple[str, str]]:
    """Return each verb of the LPC board and a sample line for the gateway."""
    told = []
    for verb, pattern, line in rows():
        typed = line
        for number, slot in enumerate(re.findall(r"<.*?'(.*?)'>", pattern), 1):
            typed = typed.replace(f"%{number}", SAMPLES[slot])
        told.append((verb, typed))
    return told


def test_lpc_board_commands_all_parse_as_game_lines() -> None:
    told = commands()
    assert len(told) == TABLE.count('({ "')
    assert {"join", "move", "hurl", "shove", "start", "end"} <= {verb for verb, _ in told}
    for _, line in told:
        assert "%" not in line
        parse(line)
    assert (
        LineRequest(id=1, board="oak", player="Anna", line=told[0][1]).line == "join game as dwarf"
    )


def as_furniture(line: str, board: str) -> str:
    """Convert a line of the game to the form typed at the LPC furniture."""
    line = line.removesuffix(f" on {board}").replace(f" on {board} ", " ")
    line = "start game" if line == "start" else line
    words = line.split(" capturing ", 1)
    return " on board capturing ".join(words) if len(words) > 1 else f"{line} on board"


def by_pattern(typed: str) -> str | None:
    """Convert typed text as ``add_command()`` does; None if no pattern matches."""
    for verb, pattern, line in rows():
        fits = re.escape(f"{verb} {pattern}").replace("\\ ", " ")
        fits = fits.replace(re.escape("{on|at}"), "(?:on|at)")
        fits = re.sub("<direct:.*?>", "(board)", fits)
        fits = re.sub("<word'.*?>", r"(\\S+)", fits)
        fits = re.sub("<string'.*?>", "(.+)", fits)
        if found := re.fullmatch(fits, typed):
            told = line
            for number, part in enumerate(found.groups(), 1):
                told = told.replace(f"%{number}", part)
            return told
    return None


def by_action(typed: str) -> str | None:
    """Convert typed text as ``typed()`` does on drivers with ``add_action()`` alone."""
    verbs = re.findall(r'"(\w+)"', BOARD.split("#define VERBS")[1].split("})")[0])
    studies: dict[str, str] = dict(re.findall(r'"(study \w+)": "(.*?)"', BOARD))
    bare = re.findall(r'"([\w ]+)"', BOARD.split("#define BARE")[1].split("})")[0])
    if " on " not in typed and any(typed == each or typed.startswith(f"{each} ") for each in bare):
        return typed
    what, sign, where = typed.partition(" on ")
    where, also, squares = where.partition(" capturing ")
    if what.split()[0] not in verbs or not sign or where != "board":
        return None
    what += also + squares
    return studies.get(what, what)


@pytest.mark.parametrize("passed_on", [by_pattern, by_action])
async def test_lpc_furniture_plays_a_match(
    passed_on: Callable[[str], str | None],
) -> None:
    gateway = await opened()
    client, sets = Client(gateway), {"set board", "set rules"}
    await client.greet()
    await client.answer("open", board="oak", name="pine board", style="brief")
    steps = [step for step in Transcript.parse(MATCH.read_text("utf-8")).steps if step.text]
    here: set[str] = set()
    played = 0
    for step in steps:
        line = passed_on(as_furniture(step.text, "pine board"))
        if line is None:  # talk, and the like, is for the MUD
            assert not step.text.startswith((*sets, "move", "hurl", "shove", "join", "start"))
            continue
        if step.who not in here:
            await client.answer("enter", board="oak", player=step.who, data=True)
            here.add(step.who)
        before = len(client.heard)
        answer = await client.answer("line", board="oak", player=step.who, line=line)
        assert answer["understood"], line
        moves = [each for each in client.heard[before:] if each.get("package") == "Thud.Move"]
        played += bool(moves)
    assert played == sum(step.text.startswith(("move", "hurl", "shove")) for step in steps) > 10
    await gateway.close()


def test_lpc_board_has_all_verbs_that_the_mud_does_not_have() -> None:
    defined = BOARD.replace("\\\n", "").split("#define WITHOUT")[1].split("\n")[0]
    words = "".join(re.findall(r'"(.*?)"', defined)).split()
    vocabulary = Vocabulary(without=LEFT_OUT | set(words))
    listed = set(re.findall(r'"(\w+)"', BOARD.split("#define VERBS")[1].split("})")[0]))
    assert listed == {word.split()[0] for word in vocabulary.first_words} | {"study"}


def test_lpc_furniture_ignores_unrelated_lines() -> None:
    for typed in ("move", "move table", "set rules chess on table", "say on board", "look"):
        assert by_action(typed) is None
    assert by_action("study rules on board") == by_pattern("study rules at board") == "help rules"


@pytest.mark.parametrize("source", [BOARD, HANDLER], ids=["board", "gateway"])
def test_lpc_brackets_are_balanced(source: str) -> None:
    code = re.sub(r"/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|.)'", "", source, flags=re.DOTALL)
    open_ones = []
    for bracket in re.findall(r"[\[\](){}]", code):
        if bracket in "([{":
            open_ones.append(bracket)
        else:
            assert open_ones.pop() + bracket in {"()", "[]", "{}"}
    assert open_ones == []
