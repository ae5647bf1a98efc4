"""The real thing: `thudmud` as a process, and people at real telnet clients (inetutils)."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pexpect
import pytest

ROOT = Path(__file__).parents[2]
PATIENCE = 20  # seconds

if TYPE_CHECKING:
    Terminal = pexpect.spawn[str]


@pytest.fixture
def terminals(tmp_path: Path) -> Iterator[list[Terminal]]:
    """A server, then one telnet client for each of two players, before they have given a name."""
    spawned: list[Terminal] = []

    def spawn(*command: str) -> Terminal:
        child = pexpect.spawn(
            command[0],
            list(command[1:]),
            encoding="utf-8",
            timeout=PATIENCE,
            dimensions=(24, 80),
            cwd=str(tmp_path),
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        spawned.append(child)
        return child

    server = spawn(sys.executable, "-m", "thudmud.server.main", "--port", "0")
    server.expect_exact("telnet 127.0.0.1 ")
    port = server.readline().strip()
    players = [spawn("telnet", "127.0.0.1", port) for _ in range(2)]
    for player in players:
        player.expect_exact("What is your name? ")
    yield [server, *players]
    for child in spawned:
        child.close(force=True)


def enter(player: Terminal, line: str) -> str:
    """Type a line; return what is shown for it before the next prompt."""
    player.sendline(line)
    player.expect_exact(f"{line}\r\n")  # the client's own echo
    player.expect_exact("> ")
    return str(player.before)


PLIES = """\
move f15 f8, move g9 f9, hurl f8 g7, move i7 h6, hurl g7 g8, move f9 g9, hurl g8 g9, move h9 g10,
hurl g9 g10, move i9 h9, hurl g10 h9, move h7 g8, hurl h9 i8, move h6 i7, hurl i8 i7, move g8 h7,
hurl i7 h7""".replace("\n", " ").split(", ")
"""A battle in which the dwarfs, who begin, hurl every troll off the board."""


def test_two_people_play_a_whole_match(terminals: list[Terminal]) -> None:
    _, anna, bob = terminals
    enter(anna, "anna")
    enter(bob, "bob")
    enter(anna, "join game as dwarf on pine board")
    enter(bob, "join game as troll on pine board")
    enter(anna, "start")
    for number, ply in enumerate(PLIES):
        assert "score" in enter((anna, bob)[number % 2], ply)
    bob.expect_exact(
        "The trolls have no move. The battle is over: dwarfs (Anna) 32, trolls (you) 0."
    )
    assert "you play the dwarfs, Anna plays" in " ".join(enter(bob, "start").split())
    enter(bob, "move f15 f8")
    assert "felling" not in enter(anna, "move g7 f7 capturing f8")
    enter(bob, "end game")
    ended = " ".join(enter(anna, "end game").split())
    assert "The match is over: Bob 31, you 64. You win the match by 33." in ended
    bob.expect_exact("The match is over: you 31, Anna 64.")


def test_two_people_begin_a_game(terminals: list[Terminal]) -> None:
    server, anna, bob = terminals
    enter(anna, "anna")
    enter(bob, "bob")
    anna.expect_exact("Bob")
    anna.expect_exact("\r\n> ")
    enter(anna, "join game as dwarf on oak board")
    enter(bob, "join game as troll on oak board")
    enter(anna, "start game on oak board")
    board = enter(anna, "move from a6 to b6 on board").splitlines()
    assert len(board) < 24
    assert all(len(line) <= 80 for line in board)
    assert any("A B C D E F G H I J K L M N O" in line for line in board)
    bob.expect_exact("Anna moves")
    bob.expect_exact("\r\n> ")
    server.kill(signal.SIGTERM)
    for player in (anna, bob):
        player.expect_exact("The server is shutting down. Goodbye.\r\n")
        player.expect_exact("Connection closed by foreign host.")
    server.expect(pexpect.EOF)
    server.wait()
    assert server.exitstatus == 0


def test_a_narrower_window_rewraps(terminals: list[Terminal]) -> None:
    _, anna, _ = terminals
    enter(anna, "anna")
    wide = enter(anna, "help").splitlines()
    assert 40 < max(map(len, wide)) < 80
    anna.setwinsize(24, 40)
    assert max(map(len, enter(anna, "help").splitlines())) <= 40


def test_a_password_is_not_seen(terminals: list[Terminal]) -> None:
    _, anna, bob = terminals
    enter(anna, "anna")
    anna.sendline("register")
    for prompt in ("New password: ", "The same again: "):
        anna.expect_exact(prompt)
        anna.sendline("swordfish")
    anna.expect_exact("> ")
    assert "swordfish" not in str(anna.before)
    assert "The name Anna is yours now" in str(anna.before)
    enter(anna, "who")  # which is seen again
    anna.sendline("quit")
    bob.sendline("anna")
    bob.expect_exact("Password: ")
    bob.sendline("swordfish")
    bob.expect_exact("> ")
    assert "swordfish" not in str(bob.before)
    enter(bob, "who")


def test_what_a_telnet_client_can_say_without_a_word(terminals: list[Terminal]) -> None:
    _, anna, bob = terminals
    enter(anna, "anna")
    anna.sendcontrol("]")
    anna.expect_exact("telnet> ")
    anna.sendline("send ayt")
    anna.expect_exact("Yes, thudmud is here.\r\n> ")
    anna.send("nonsense")
    anna.sendcontrol("c")
    enter(anna, "who")
    enter(anna, "say été")
    anna.sendline("quit")
    anna.expect_exact("Connection closed by foreign host.")
    bob.sendline("quit")
    bob.expect_exact("Goodbye!\r\n")
    bob.expect_exact("Connection closed by foreign host.")
