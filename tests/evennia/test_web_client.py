"""Evennia's own web client, in a browser: text in colours, and the board in a panel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from tests.conftest import FreePort
from tests.evennia.mud import PASSWORD, Mud
from thudmud.play.options import Scheme

pytestmark = pytest.mark.slow


@pytest.fixture
def mud(evennia_bin: Path, tmp_path: Path, free_port: FreePort) -> Iterator[Mud]:
    mud = Mud(evennia_bin, tmp_path, free_port, has_web=True)
    try:
        mud.start()
        yield mud
    finally:
        mud.stop()


class Client:
    """Anna at the web client."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        page.goto(address)
        self.text = page.locator("#messagewindow")
        expect(self.text).to_contain_text("connect <username> <password>")
        self.type(f"connect Anna {PASSWORD}", "You become Anna.")

    def type(self, line: str, answer: str) -> None:
        """Type a line, and wait for what is to be seen then."""
        self.page.locator(".inputfield").fill(line)
        self.page.locator(".inputfield").press("Enter")
        expect(self.text).to_contain_text(answer)

    @property
    def panel(self) -> FrameLocator:
        return self.page.frame_locator("iframe[title='Thud board']")

    def shown(self, square: str, piece: str) -> None:
        """Wait until a piece is drawn on a square."""
        cell = self.panel.locator(f"[data-square='{square}']")
        expect(cell).to_have_attribute("aria-label", re.compile(rf"{square}, {piece}\b"))


def test_boards_are_seen_in_colours_and_drawn_in_a_panel(mud: Mud, web_page: Page) -> None:
    anna = Client(web_page, mud.address)
    expect(web_page.locator("iframe")).to_have_count(0)
    anna.type("create/drop oak board:thudmud.evennia.ThudBoard", "You create a new ThudBoard")
    anna.type("practice", "You practise at the oak board")
    seen = set()
    for scheme in Scheme:
        anna.type(f"options colour scheme {scheme.value}", "Boards are")
        anna.text.evaluate("element => element.replaceChildren()")
        anna.type("view game", "It is your turn")
        seen.add(anna.text.inner_text())
        colours = anna.text.locator("span").evaluate_all(
            "all => new Set(all.map(each => getComputedStyle(each).color)).size"
        )
        assert colours > 2, scheme
    (text,) = seen  # colour takes no room
    assert "\x1b" not in text

    anna.shown("A6", "dwarf")
    for square in ("A6", "B7"):
        anna.panel.locator(f"[data-square='{square}']").click(force=True)
    expect(anna.text).to_contain_text("You move the dwarf from A6 to B7.")
    anna.shown("B7", "dwarf")
    expect(anna.panel.locator("#above")).to_contain_text("to move")
    expect(anna.text).not_to_contain_text("Unhandled event")

    web_page.reload()  # the layout is kept by the client, and is asked for anew
    anna.shown("B7", "dwarf")
    assert "Traceback" not in mud.log(), mud.log()
