"""`thudmud play`, by pipe and in a terminal."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

import pytest

from thudmud.cli.main import main

SEQUENCE = re.compile("\x1b\\[[0-9;?]*[a-zA-Z]")
PLAY = [sys.executable, "-m", "thudmud.cli.main", "play", "--seed", "3", "--level", "1"]


class Shown(Protocol):
    """Play by typing ``typed``, check for a clean exit, and return the output."""

    def __call__(self, typed: str, *words: str) -> str: ...


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shown:
    """Return a function that plays in this process, where all modules are loaded already."""
    monkeypatch.setenv("COLUMNS", "80")

    def play(typed: str, *words: str) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        assert main([*PLAY[3:], *words]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return out

    return play


def test_game_by_pipe_is_played_through() -> None:
    done = subprocess.run(
        PLAY, input="set board brief\nmove a6 to b6\nwhat\nhelp thud\nquit\n",
        capture_output=True, text=True, timeout=60, check=True,
        env=os.environ | {"COLUMNS": "80", "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert done.stderr == ""
    text = done.stdout
    assert text.startswith("Your opponent is Chalk. ")
    assert "and Chalk begin a match" in text
    assert "You move the dwarf from A6 to B6. It is Chalk's turn (trolls)." in text
    assert "Chalk moves the troll from " in text or "Chalk shoves the troll from " in text
    assert 'There is no command "what".' in text
    assert "Oak board: dwarfs 32 (Visitor)" in text
    assert text.endswith("\nGoodbye!\n")
    assert "seat at the oak board is kept" not in text
    assert text.isascii()
    assert "> " not in text


def test_game_ends_with_its_input(shown: Shown) -> None:
    assert "You move the dwarf from A6 to B6." in shown("move a6 to b6")


def test_same_seed_gives_the_same_game(shown: Shown) -> None:
    typed = "set board brief\nmove a6 b6\nmove a7 b7\nmove a9 b9\n"
    assert shown(typed) == shown(typed)


def test_bot_moves_first_when_the_player_takes_the_trolls(shown: Shown) -> None:
    text = shown("", "--as", "troll", "--rules", "koom valley", "--name", "Anna")
    assert "You have the trolls. It is Chalk's turn (dwarfs)." in " ".join(text.split())
    assert text.index("Chalk's turn") < text.index("It is your turn.")
    assert "Trolls: Anna" in text


@pytest.mark.parametrize(
    ("words", "side"),
    [("dwarf", "dwarfs"), ("Dwarves", "dwarfs"), ("t", "trolls"), ("trolls",) * 2],
)
def test_side_is_taken_in_the_plural_or_shortened(shown: Shown, words: str, side: str) -> None:
    assert f"You have the {side}." in " ".join(shown("", "--as", words, "--rules", "koom").split())


def test_help_leaves_out_what_needs_other_people(shown: Shown) -> None:
    text = shown("help all\n")
    topics = set(re.findall(r"[a-z]+", text[text.index("The game:") :]))
    assert topics >= {"thud", "invite", "move", "hint", "undo", "options", "quit"}
    assert not topics & {"tournaments", "tell", "who", "seek", "match", "play", "tv", "register"}
    assert 'There is no command "tell".' in shown("tell anna hello\n")


def test_second_battle_swaps_the_sides(shown: Shown) -> None:
    text = shown("resign\nyes\nstart\n")
    second = text[text.index("begin the second battle") :]
    assert "You have the trolls." in " ".join(second.split())
    assert "It is your turn." in second


def test_bot_accepts_undo_but_declines_an_early_end(shown: Shown) -> None:
    text = shown("set board brief\nmove a6 b6\nundo\n")
    assert "You take back A6 to B6" in text
    assert "Chalk declines the offer to end the battle." in shown("end\n")


def test_bot_returns_when_invited(shown: Shown) -> None:
    text = shown("leave game\njoin game as troll\ninvite chalk\nstart\n")
    told = " ".join(text.split())
    assert 'For another match, type "join game as dwarf", "invite chalk" and "start".' in told
    assert '"invite chalk" has a bot take it.' in told
    assert "Chalk sits down at the oak board to play the dwarfs" in text
    assert "Trolls: Visitor" in text
    assert text.count("It is your turn.") >= 1


def test_bot_plays_at_the_level_it_is_invited_with(shown: Shown) -> None:
    text = shown(
        "leave game\njoin game as dwarf\ninvite chalk level 2\nstart\nmove a6 b6\nlook chalk\n"
    )
    assert "plays the trolls at the oak board (level 2)" in " ".join(text.split())
    assert text.count("It is your turn.") == 1


@contextmanager
def terminal(*words: str, columns: int = 80) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Run the game in a pseudoterminal; yield the process and the controlling end."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    known = {"TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", "PYTHONUNBUFFERED": "1"}
    environment = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "COLUMNS"}} | known
    with subprocess.Popen(
        [*PLAY, *words], stdin=its, stdout=its, stderr=its, env=environment,
        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
    ) as game:  # fmt: skip
        os.close(its)
        try:
            yield game, ours
        finally:
            game.kill()
            os.close(ours)


def read_until(ours: int, words: str) -> str:
    text = ""
    while words not in text:
        piece = b""
        with suppress(OSError):  # the process has ended
            piece = os.read(ours, 65536)
        if not piece:
            break
        text += piece.decode("utf-8", "replace")
    assert words in text
    return text


def test_game_in_a_terminal_follows_its_width_and_options() -> None:
    with terminal(columns=60) as (game, ours):
        text = read_until(ours, "\n> ")
        assert max(map(len, SEQUENCE.sub("", text).splitlines())) < 60
        assert "\N{INCREMENT}" in text
        os.write(ours, b"options colour scheme vivid\n")
        read_until(ours, "\n> ")
        os.write(ours, b"move a6 b6\n")
        assert "\x1b[" in read_until(ours, "It is your turn.")
        read_until(ours, "\n> ")
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        os.write(ours, b"options\n")
        assert "100 columns here" in read_until(ours, "\n> ")
        os.write(ours, b"quit\n")
        assert game.wait(timeout=30) == 0


# A Ctrl-C before readline waits for input is only noticed with the next key.
@pytest.mark.parametrize(("keys", "status"), [(b"\x04", 0), (b"\x03\n", 130)])
def test_end_of_file_and_interrupt_keys_end_the_game(keys: bytes, status: int) -> None:
    with terminal() as (game, ours):
        read_until(ours, "\n> ")
        os.write(ours, keys)
        assert game.wait(timeout=30) == status
        assert "Traceback" not in read_until(ours, "\r\n")


@pytest.mark.parametrize("name", ["Chalk", "chalk", "A", "Board", "x1"])
def test_unusable_player_name_is_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "--level", "1", "--name", name]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("thudmud: --name: ")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("words", [["--as", "elf"], ["--level", "0"], ["--rules", "chess"]])
def test_invalid_options_are_a_usage_error(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["play", *words])
    assert ended.value.code == 2
    assert f"argument {words[0]}" in capsys.readouterr().err
