"""States of the page that decide what can be done: no connection, earlier positions, challenges."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import WebSocketRoute, expect

from tests.conftest import FreePort
from tests.web.conftest import Player, Served, Visit

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Return a server of this module's own: names and boards may be those of other modules."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        folder, port = tmp_path_factory.mktemp("states"), holder.getsockname()[1]
        with Served(folder, port, {"pine": "discworld", "oak": "discworld"}) as server:
            yield server


def expect_toast(player: Player, words: str) -> None:
    """Wait until a toast contains some words, and a screen reader is told the same."""
    for host in ("#toast.shown", "#status"):
        expect(player.page.locator(host)).to_contain_text(words)


def test_commands_and_moves_are_refused_without_a_connection(
    visit: Visit, tmp_path: Path, free_port: FreePort
) -> None:
    with Served(tmp_path, free_port(), {"oak": "discworld"}) as server:
        anna = visit(server=server).come_in("Anna").practises("oak")
        anna.loses_server = True
        anna.click("A6").sees(A6="dwarf, picked up")
        server.kill()
        banner = anna.page.locator("#link.banner")
        expect(banner).to_have_text("Connection lost. Reconnecting …")
        expect(anna.page.get_by_role("status").filter(has_text="Connection lost")).to_be_visible()
        anna.click("B6").sees(A6="dwarf", B6="empty")
        expect_toast(anna, "No connection: moves have to wait")
        anna.type("say Are you there?")
        expect_toast(anna, "No connection: nothing was sent.")
        line = anna.page.locator("#line")
        expect(line).to_have_value("say Are you there?")
        anna.press("Hint")
        typed = anna.page.locator("#log .typed")
        expect(typed.filter(has_text=re.compile("Are you|hint|move"))).to_have_count(0)
        server.start()
        expect(banner).to_be_hidden()
        line.press("Enter")
        anna.hears("You say: Are you there?")
        expect(line).to_have_value("")
        anna.click("A6", "B6").sees(B6="dwarf, last move")


def test_unanswered_command_is_named_when_the_connection_is_lost(visit: Visit) -> None:
    anna = visit()
    links: list[WebSocketRoute] = []

    def swallow(link: WebSocketRoute) -> None:
        """Pass on all messages to the server but what is said."""
        links.append(link)
        server = link.connect_to_server()
        link.on_message(lambda frame: None if "say" in str(frame) else server.send(frame))

    anna.page.route_web_socket("**", swallow)
    anna.page.reload()
    anna.come_in("Annegret").type("say Hello?")
    links[-1].close(code=1012)
    anna.hears("The connection was lost before the server answered “say Hello?”.")


def test_earlier_position_takes_no_moves(visit: Visit) -> None:
    anna = visit().come_in("Paula").practises("pine").click("A6", "B6").sees(B6="dwarf, last move")
    first = anna.page.get_by_role("button", name="First move").locator("visible=true")
    for move in (lambda: anna.drag("G7", "G6"), lambda: anna.click("G7")):
        first.click()
        anna.sees(A6="dwarf", B6="empty")
        move()
        expect_toast(anna, "This is an earlier position.")
        anna.sees(A6="dwarf", B6="empty", G7="troll", G6="empty")
        anna.page.keyboard.press("Escape")
        anna.sees(B6="dwarf, last move", G7="troll")
    anna.drag("G7", "G6").sees(G6="troll, last move").type("end game", "leave game")
