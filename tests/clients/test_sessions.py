"""Sessions with real clients: login, play, resizing the window, and quitting."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.clients.conftest import Open
from tests.clients.kinds import CLIENTS, Client
from tests.clients.looks import board, check, come_in, until_known
from tests.clients.window import Window
from tests.clients.wire import Wire

PASSWORD = "swordfish"  # noqa: S105  (searched for in the output)

every_client = pytest.mark.parametrize("client", CLIENTS, ids=[each.name for each in CLIENTS])


def leave(window: Window, client: Client) -> None:
    """Quit, and assert that the client exits cleanly."""
    window.type("quit")
    window.until(client.farewell)
    if client.leave.startswith("^"):
        window.press(client.leave[1])
    elif client.leave:
        window.type(client.leave)
    assert window.until_ended() == client.status


@every_client
def test_password_is_not_echoed(client: Client, window: Open) -> None:
    name = f"{client.name}a"
    one = window(client)
    come_in(one, name)
    one.type("register")
    for prompt in ("New password: ", "And again: "):
        one.until(prompt)
        one.type(PASSWORD)
    one.until("is yours now")
    one.until("> ")
    one.type("who")  # echo is back on
    one.until("connected:")
    one.until("> ")
    assert any(line == "who" or line.endswith("> who") for line in one.lines)
    leave(one, client)

    again = window(client)
    again.until("What is your name? ")
    again.type(name)
    again.until("Password: ")
    again.type(PASSWORD)
    again.until("You come into the hall.")
    again.until("> ")
    check(again, client, {name})
    leave(again, client)

    for each in (one, again):
        assert (PASSWORD in each.output) is not client.hides


@every_client
def test_battle_is_displayed(client: Client, window: Open, partner: Callable[[str], Wire]) -> None:
    place = f"{client.name} board"
    orange = "options colour special thud dwarf #ff8800"
    whole = "options rows off"
    typed = [orange, f"join game as dwarf on {place}", "start", "move f15 f8"]
    shown = {"options", whole, *typed}
    bert = partner(f"{client.name}bert")
    anna = window(client)
    come_in(anna, f"{client.name}anna")
    anna.type(whole)
    anna.until("no longer stop")
    anna.until("> ")
    until_known(anna, client)
    anna.type(orange)
    anna.until("is now #ff8800")
    anna.until("> ")
    anna.type(typed[1])
    anna.until("You sit down")
    anna.until("> ")
    assert client.utf8 is not "\n".join(board(anna)).isascii()
    assert client.colours == anna.colours
    bert.type(f"join game as troll on {place}")
    bert.until("You sit down")
    anna.until("to play the trolls")
    anna.until("> ")
    anna.type(typed[2])
    anna.until("begin a match")
    assert "You have the dwarfs. Your move!" in " ".join(anna.until("> ").split())
    anna.type(typed[3])
    anna.until("You move the dwarf from F15 to F8.")
    anna.until("> ")
    check(anna, client, shown)
    bert.until("moves the dwarf from F15 to F8.")
    bert.type("move g7 f7")
    anna.until("moves the troll from G7 to F7.")
    anna.until("> ")
    check(anna, client, shown)
    board(anna)
    leave(anna, client)


def widest(window: Window) -> int:
    window.type("help")
    window.until("\n")
    return max(map(len, window.until("> ").splitlines()))


@every_client
def test_narrower_window_rewraps_text(client: Client, window: Open) -> None:
    one = window(client)
    come_in(one, f"{client.name}n")
    assert 40 < widest(one) < 80
    one.resize(40)
    if not client.tells_width:
        one.type("options width 40")
        one.until("> ")
    while widest(one) > 40:
        pass  # the client reports its new size asynchronously
    assert 30 < max(map(len, one.lines[:-2])) <= 40
    leave(one, client)
