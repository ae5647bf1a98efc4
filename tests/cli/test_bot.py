"""`thudmud bot`, and the examples of bots that come by a WebSocket."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import FreePort, RunServer
from tests.plain_telnet import PlainTelnet
from thudmud.bots.visitor import TIMED, UNTIMED, ChallengePolicy, Visitor
from thudmud.cli.main import main

ROOT = Path(__file__).parents[2]
SERVE = [sys.executable, "-m", "thudmud.cli.main", "serve", "--port"]
ENGINE = f"{sys.executable} -m thudmud.cli.main engine --level 1"
CAME = "You come into the hall"


@contextmanager
def started(command: Sequence[str], **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Run a bot until the end of the context."""
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=os.environ | environment
    ) as bot:
        try:
            yield bot
        finally:
            bot.kill()


def own(port: int, *options: str, program: str = ENGINE) -> list[str]:
    """Return the command line of a bot called Pebble."""
    words = [sys.executable, "-m", "thudmud.cli.main", "bot", "--connect", f"127.0.0.1:{port}"]
    return [*words, "--name", "Pebble", *options, program]


def next_line(bot: subprocess.Popen[str]) -> str:
    """Return the next line that the bot tells its user."""
    assert bot.stderr
    return bot.stderr.readline().rstrip("\n")


@pytest.mark.slow
def test_bot_from_outside_plays_a_match(run_server: RunServer) -> None:
    with run_server([*SERVE, "0"]) as (_, port), started(own(port)) as bot:
        assert next_line(bot) == "Pebble: connected; waiting for challenges"
        with PlainTelnet(port, "Anna", CAME) as anna:
            anna.type("match pebble", "You and Pebble begin a match")
            anna.type("f15 f8", "Pebble (moves|hurls|shoves)")
            anna.type("a6 b6", "Pebble (moves|hurls|shoves)")
            anna.type("undo", "You take back A6 to B6 and the reply")
            anna.type("resign", 'Type "yes"')
            anna.type("yes", "Pebble wins the battle")
            anna.type("start", "You and Pebble begin the second battle")
            anna.sees("Pebble (moves|hurls)")
        bot.send_signal(signal.SIGTERM)
        assert bot.wait(60) == 0


@pytest.mark.slow
def test_bot_from_outside_comes_back_to_its_seat(
    run_server: RunServer, tmp_path: Path, free_port: FreePort
) -> None:
    word, port = tmp_path / "word", free_port()
    config = tmp_path / "config.toml"
    config.write_text("[web]\nenabled = false\n", "utf-8")
    serve = [*SERVE, str(port), "--config", str(config)]
    with started(own(port, "--word-file", str(word))) as bot:
        assert next_line(bot).startswith("Pebble: not connected: ")  # once, whatever it takes
        with run_server(serve, tmp_path):
            assert next_line(bot) == "Pebble: connected; waiting for challenges"
            with PlainTelnet(port, "Anna", CAME) as anna:
                anna.type("match pebble", "You and Pebble begin a match")
        assert next_line(bot).startswith("Pebble: not connected: ")
        with run_server(serve, tmp_path):
            assert next_line(bot) == "Pebble: connected; waiting for challenges"
    assert word.stat().st_mode & 0o777 == 0o600
    with run_server(serve, tmp_path), started(own(port, "--word-file", str(word))) as bot:
        assert next_line(bot) == "Pebble: connected; waiting for challenges"
        with PlainTelnet(port, "Bert", CAME) as bert:
            bert.type("who", "Pebble plays the trolls at the ash board")


@pytest.mark.slow
def test_bot_from_outside_declines_and_resigns(run_server: RunServer) -> None:
    options = ("--rules", "classic", "--clocks", "untimed", "--seconds", "0.5")
    command = own(0, *options, program="cat")
    with run_server([*SERVE, "0"]) as (_, port):
        command[5] = f"127.0.0.1:{port}"
        with started(command) as bot, PlainTelnet(port, "Anna", CAME) as anna:
            assert next_line(bot) == "Pebble: connected; waiting for challenges"
            anna.type("match pebble", "Pebble declines")
            anna.type("match pebble classic 5+3", "Pebble declines")
            anna.type("match pebble classic", "You and Pebble begin a match")
            anna.type("f15 f8", "My program has failed too often")
            anna.sees("Pebble resigns")
            assert next_line(bot).startswith("Pebble: the program failed: ")


@pytest.mark.slow
def test_bot_that_is_not_let_in_says_why(run_server: RunServer) -> None:
    with (
        run_server([*SERVE, "0"]) as (_, port),
        PlainTelnet(port, "Pebble", CAME),
        started(own(port)) as bot,
    ):
        assert bot.wait(60) == 2
        assert next_line(bot).startswith("thudmud: Pebble was not let in: ")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["./nowhere"], 'thudmud: no executable program "./nowhere"\n'),
        (['"'], 'thudmud: ": No closing quotation\n'),
    ],
)
def test_bot_without_a_program_is_refused(
    words: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bot", "--connect", "localhost", "--name", "Pebble", *words]) == 2
    assert capsys.readouterr().err == error


@pytest.mark.parametrize("address", ["", "a b", "host:0", "host:99999", "host:x"])
def test_invalid_address_is_refused(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bot", "--connect", address, "--name", "Pebble", "cat"])
    assert f'expected HOST or HOST:PORT, got "{address}"' in capsys.readouterr().err


def seek(**changed: object) -> dict[str, object]:
    asked = {"seek": 1, "player": "Anna", "rules": "discworld", "rated": False, "to": "Pebble"}
    return {**asked, "time": None, **changed}


@pytest.mark.parametrize(
    ("challenge", "answer"),
    [
        (seek(), ["accept 1"]),
        (seek(rules="classic"), ["decline 1"]),
        (seek(time="10+5"), ["decline 1"]),
        (seek(rated=True), ["decline 1"]),
        (seek(to=None), []),
        (seek(to="Bert"), []),
        (seek(player="Pebble", to="Bert"), []),
    ],
)
def test_challenges_are_answered_by_rule(challenge: dict[str, object], answer: list[str]) -> None:
    policy = ChallengePolicy(["discworld"], [UNTIMED], [False])
    assert Visitor("Pebble", policy).receive("Thud.Seek", challenge, 0.0) == answer
    assert TIMED not in policy.clocks


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        [sys.executable, str(ROOT / "examples" / "bots" / "outside.py")],
        ["node", "--experimental-websocket", str(ROOT / "examples" / "bots" / "outside.mjs")],
    ],
    ids=["python", "javascript"],
)
def test_example_over_a_websocket_plays(
    run_server: RunServer, free_port: FreePort, command: list[str]
) -> None:
    web = free_port()
    serve = [*SERVE, "0", "--web-port", str(web)]
    bot = [*command, f"ws://127.0.0.1:{web}/ws", "Chance"]
    with run_server(serve) as (_, port), started(bot) as chance:
        assert next_line(chance) == "Waiting for challenges."
        with PlainTelnet(port, "Anna", CAME) as anna:
            anna.type("match chance", "You and Chance begin a match")
            anna.type("f15 f8", "Chance (moves|shoves)")
