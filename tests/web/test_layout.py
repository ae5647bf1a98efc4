"""The layout of the page in a real browser: phones, zoom, wide screens and forced colours."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Player, Visit

pytestmark = pytest.mark.slow

PHONES = [(320, 568), (360, 640), (390, 844)]

CLIPPED = """width => {
    const controls = "button, a, input, select, summary, .board, .clock, .strip .left";
    const isShown = (each) =>
        each.checkVisibility({ visibilityProperty: true }) &&
        !each.closest(".skip, #places, .scrolls, .choices label");
    return [...document.querySelectorAll(controls)]
        .filter(isShown)
        .filter((each) => {
            const { left, right } = each.getBoundingClientRect();
            return left < -0.5 || right > width + 0.5;
        })
        .map((each) => each.outerHTML.slice(0, 100));
}"""
"""Lists what can be used or has to be seen, and isn't within the width of the screen."""


def phone(width: int, height: int) -> dict[str, Any]:
    """Return the options of a browser context for a phone."""
    return {
        "viewport": {"width": width, "height": height},
        "has_touch": True,
        "is_mobile": True,
        "reduced_motion": "reduce",
    }


def assert_fits(player: Player, width: int) -> None:
    """Assert that nothing is wider than the screen."""
    assert player.page.evaluate("document.documentElement.scrollWidth") == width
    assert player.page.evaluate(CLIPPED, width) == []


def start_match(
    visit: Visit, names: tuple[str, str], time: str, **how: Any
) -> tuple[Player, Player]:
    """Return two players of a match; the first plays the dwarfs, and has the given screen."""
    dwarf, troll = visit(**how).come_in(names[0]), visit().come_in(names[1])
    dwarf.type(f"match {names[1]} {time} as dwarf casual")
    troll.press("Accept", within="#seeks")
    for each in (dwarf, troll):
        expect(each.page.locator("body")).to_have_attribute("data-view", "game")
        expect(each.page.locator("#strip-bottom .clock")).to_be_visible()
    return dwarf, troll


def resign(player: Player, opponent: Player) -> None:
    """Resign, and wait until both players see it."""
    player.press("Resign").press("Resign", within="dialog")
    for each in (player, opponent):
        expect(each.page.get_by_role("link", name="Replay")).to_be_visible()


@pytest.mark.parametrize(("width", "height"), PHONES)
def test_screens_fit_the_width_of_phones(visit: Visit, width: int, height: int) -> None:
    letter = chr(ord("a") + PHONES.index((width, height)))
    name, other = f"Margaretanncatherin{letter}", f"Christopheralexande{letter}"
    anna = visit(**phone(width, height))
    expect(anna.page.locator("#welcome")).to_be_visible()
    assert_fits(anna, width)
    anna.page.close()
    anna, bert = start_match(visit, (name, other), "3 days", **phone(width, height))
    assert_fits(anna, width)
    clock = anna.page.locator("#strip-bottom .clock")
    height_in_lines = "each => each.offsetHeight / parseFloat(getComputedStyle(each).fontSize)"
    assert clock.evaluate(height_in_lines) < 2
    anna.click("A6", "B6")
    bert.sees(B6="dwarf").click("G7", "G6")
    anna.sees(G6="troll")
    assert_fits(anna, width)
    resign(anna, bert)
    assert_fits(anna, width)
    anna.page.get_by_role("link", name="Replay").click()
    anna.press("Last move", within="#replay").sees(G6="troll")
    assert_fits(anna, width)
    anna.press("Settings")
    assert_fits(anna, width)
    anna.press("Close").press("Hall")
    expect(anna.page.locator("#lobby")).to_be_visible()
    assert_fits(anna, width)
    for each in (anna, bert):
        each.type("quit")


def test_new_battle_is_scrolled_into_view(visit: Visit) -> None:
    anna, bert = visit(**phone(360, 640)).come_in("Scarlett"), visit().come_in("Scott")
    bert.type("match scarlett 15+10 as dwarf casual")
    expect(anna.page.locator("#seeks")).to_contain_text("Scott")
    anna.page.evaluate("scrollTo(0, 300)")
    anna.press("Accept", within="#seeks")
    board = anna.page.locator("#board .board")
    expect(board).to_be_in_viewport(ratio=1)
    resign(anna, bert)
    anna.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(board).not_to_be_in_viewport()
    bert.type("start game")
    expect(anna.page.get_by_role("button", name="Resign", exact=True)).to_be_visible()
    expect(board).to_be_in_viewport(ratio=1)
    for each in (anna, bert):
        each.type("quit")
