"""A whole evening of two players: every view of the page, without an error or an axe violation.

The fixture `visit` fails if anything was logged as an error on the console.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.ports import free_ports
from tests.web.conftest import Player, Served, Visit
from tests.web.test_hall import BOT, ServedBots
from tests.web.test_page import violations

pytestmark = pytest.mark.slow

DESK = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def with_bot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("evening")
    with free_ports() as free_port, ServedBots(folder, free_port(), BOARDS, BOT) as server:
        yield server


BOARDS = {"oak": "discworld", "elm": "classic"}


class Evening:
    """A player who is asked at every view whether anything is wrong with it.

    Attributes:
        found: the violations so far, and what is wider than the screen.
    """

    def __init__(self, player: Player) -> None:
        self.player = player
        self.found: list[str] = []

    def see(self, view: str, selector: str = "") -> None:
        """Examine a view, once an element of it is seen."""
        if selector:
            expect(self.player.page.locator(selector).first).to_be_visible()
        self.found += violations(self.player, view)
        overflow = self.player.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        if overflow > 0:
            self.found.append(f"{view}: {overflow} px too wide")


@pytest.mark.parametrize(("how", "size"), [(DESK, "desk"), (PHONE, "phone")])
def test_evening_has_no_errors_and_no_violations(
    visit: Visit, with_bot: Served, how: dict[str, Any], size: str
) -> None:
    anna = visit(server=with_bot, **how)
    bert = visit(server=with_bot).come_in("Bert" + size)
    evening = Evening(anna)
    evening.see("welcome", "#showcase .board")
    anna.come_in("Anna" + size)
    evening.see("hall", "#history")
    anna.press("Wait for a person")
    evening.see("waiting", "#seeks button")
    anna.press("Stop waiting")
    bert.type(f"match anna{size} 5+3 as dwarf")
    evening.see("challenged", "#challenges button")
    anna.press("Accept", within="#challenges")
    bert.click("A6", "B6")
    anna.sees(B6="dwarf, last move")
    evening.see("clocked game", "#strip-bottom")
    menu = anna.page.locator("#share > button")  # on small screens it also has more to do
    menu.click()
    evening.see("menu to share")
    menu.click()
    bert.type("say Good evening.", "end game")
    evening.see("offer", "#notices button")
    anna.press("Accept", within="#notices")
    evening.see("result", ".result")
    anna.press("Hall")
    evening.see("hall with a result", "#history a")
    anna.page.locator("#history a").first.click()
    evening.see("replay", "#replay-board .board")
    anna.press("Try other moves")
    evening.see("analysis board", "#replay-tree")
    anna.page.goto(f"{with_bot.address}/player/bert{size}")
    evening.see("player", "#player-battles a")
    anna.page.goto(f"{with_bot.address}/lessons")
    evening.see("lessons", "#puzzle-list a")
    anna.page.goto(f"{with_bot.address}/lesson/2")
    evening.see("lesson", "#lesson")
    anna.page.goto(f"{with_bot.address}/puzzle/2")
    evening.see("puzzle", "#lesson")
    anna.press("Leave")
    anna.press("TV")
    evening.see("TV")
    anna.page.keyboard.press("?")
    evening.see("keys", "dialog")
    anna.press("Close")
    anna.press("Settings")
    evening.see("settings", "dialog")
    anna.press("Register", within="dialog")
    evening.see("form to register", "dialog input[type=password]")
    anna.press("Cancel", within="dialog")
    anna.page.context.set_offline(True)
    evening.see("connection lost", "#link.banner")
    anna.page.context.set_offline(False)
    expect(anna.page.locator("#link")).to_be_empty()
    anna.errors = [each for each in anna.errors if "INTERNET_DISCONNECTED" not in each]
    assert evening.found == []
