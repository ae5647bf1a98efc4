"""A complete match over inetutils telnet, its special keys, and UTF-8."""

from __future__ import annotations

from pathlib import Path

from tests.clients.conftest import Open, Served
from tests.clients.kinds import TELNET
from tests.clients.window import Window

PLIES = """\
move f15 f8, move g9 f9, hurl f8 g7, move i7 h6, hurl g7 g8, move f9 g9, hurl g8 g9, move h9 g10,
hurl g9 g10, move i9 h9, hurl g10 h9, move h7 g8, hurl h9 i8, move h6 i7, hurl i8 i7, move g8 h7,
hurl i7 h7""".replace("\n", " ").split(", ")
"""A battle in which the dwarfs, who begin, hurl every troll off the board."""


def enter(player: Window, line: str) -> str:
    """Type a line; return the unwrapped output before the next prompt."""
    player.type(line)
    player.until(f"{line}\n")  # the client's own echo
    return " ".join(player.until("\n> ").split())


def come_in(player: Window, name: str) -> None:
    player.until("What is your name? ")
    enter(player, name)


def test_complete_match_over_telnet(window: Open) -> None:
    anna, bob = window(TELNET), window(TELNET)
    come_in(anna, "anna")
    come_in(bob, "bob")
    enter(anna, "join game as dwarf on card table")
    enter(bob, "join game as troll on card table")
    anna.until("to play the trolls")
    anna.until("\n> ")
    enter(anna, "start")
    one, other = anna, bob
    for ply in PLIES[:-1]:
        assert "Score: dwarfs" in enter(one, ply)
        other.until("It is your turn")
        other.until("\n> ")
        one, other = other, one
    enter(anna, PLIES[-1])
    bob.until("Every troll has been captured. Anna wins the battle, 32 to 0.")
    bob.until("\n> ")
    assert "You offer to begin the second battle" in enter(bob, "start")
    anna.until("\n> ")
    assert "You and Bob begin the second battle" in enter(anna, "start")
    bob.until("\n> ")
    enter(bob, "move f15 f8")
    anna.until("\n> ")
    assert "felling" not in enter(anna, "move g7 f7 capturing f8")
    bob.until("\n> ")
    enter(bob, "end game")
    anna.until("end game")
    anna.until("\n> ")
    ended = enter(anna, "end game")
    assert "The match is over: Bob 31, you 64. You win the match by 33!" in ended
    bob.until("The match\nis over: you 31, Anna 64.")


def test_server_shutdown_is_announced(window: Open, tmp_path: Path) -> None:
    server = Served(tmp_path, "card table")
    try:
        anna, bob = window(TELNET, server), window(TELNET, server)
        come_in(anna, "anna")
        come_in(bob, "bob")
        anna.until("Bob")
    finally:
        status = server.stop()
    assert status == 0
    for player in (anna, bob):
        player.until("The server is shutting down. Goodbye.\n")
        player.until("Connection closed by foreign host.")
        assert player.until_ended() == 0


def test_ayt_and_interrupt_keys_are_handled(window: Open) -> None:
    anna = window(TELNET)
    come_in(anna, "ayta")
    anna.press("]")
    anna.until("telnet> ")
    anna.type("send ayt")
    anna.until("Yes, thudmud is here.\n> ")
    anna.send("nonsense")
    anna.press("c")
    assert "connected" in enter(anna, "who")
    assert "été" in enter(anna, "say été")
    anna.type("quit")
    anna.until("Connection closed by foreign host.")


def test_typed_utf8_arrives_intact(window: Open) -> None:
    """With the high bit stripped, "Ä" contains Ctrl-D, "Ý" the escape key and "☃" Ctrl-C."""
    anna, bob = window(TELNET), window(TELNET)
    come_in(anna, "umla")
    come_in(bob, "umlb")
    anna.until("Umlb comes into the hall.")
    words = "Ärger, Übung, Ýmir: ☃ ß €"
    assert f"You say: {words}" in enter(anna, f"say {words}")
    assert [line for line in anna.lines if line.startswith("You say")] == [f"You say: {words}"]
    bob.until(f"Umla says: {words}\n")
    bob.type("quit")
    bob.until("Connection closed by foreign host.")


def test_quit_at_the_name_prompt_closes_the_connection(window: Open) -> None:
    bob = window(TELNET)
    bob.until("What is your name? ")
    bob.type("quit")
    bob.until("Goodbye!\nConnection closed by foreign host.")
    assert bob.until_ended() == 0
