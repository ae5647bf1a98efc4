"""What a small screen shows at a glance, and what may cover it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Player, Served, Visit, served_boards
from tests.web.test_layout import PHONES, phone, resign, screen

pytestmark = pytest.mark.slow

WHOLE = 1
"""All of an element is in view."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    boards = dict.fromkeys(("oak", "elm", "ash", "fir", "yew", "larch", "pine"), "discworld")
    with served_boards(tmp_path_factory.mktemp("small"), boards) as server:
        yield server


def begin(visit: Visit, board: str, names: tuple[str, str], **how: Any) -> tuple[Player, Player]:
    """Return two players of a match after a move of each; the first has the given screen."""
    dwarf, troll = visit(**how).come_in(names[0]), visit().come_in(names[1])
    dwarf.type(f"join game as dwarf on {board} board")
    troll.type(f"join game as troll on {board} board", "start")
    expect(dwarf.page.get_by_role("button", name="Resign", exact=True)).to_be_visible()
    dwarf.type("a6-b6")
    troll.sees(B6="dwarf").type("g7-g6")
    dwarf.sees(G6="troll")
    dwarf.page.get_by_role("tab", name="Chat").click()
    dwarf.page.evaluate("scrollTo(0, 0)")
    return dwarf, troll


OVERLAP = """([one, other]) => {
    const [a, b] = [one, other].map((each) => document.querySelector(each).getBoundingClientRect());
    return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}"""
"""Whether two elements overlap."""


def overlap(player: Player, *selectors: str) -> bool:
    return bool(player.page.evaluate(OVERLAP, list(selectors)))


@pytest.mark.parametrize(("width", "height"), PHONES)
def test_moves_are_stepped_through_beside_the_board(visit: Visit, width: int, height: int) -> None:
    letter = chr(ord("a") + PHONES.index((width, height)))
    board = ("oak", "elm", "ash")[PHONES.index((width, height))]
    dwarf, _ = begin(visit, board, (f"Stina{letter}", f"Steen{letter}"), **phone(width, height))
    for part in ("#board .board", "#steps", "#moves [aria-current]"):
        expect(dwarf.page.locator(part)).to_be_in_viewport(ratio=WHOLE)
    tops = (
        "() => ['.danger', '#share button'].map((each) => document.querySelector(each).offsetTop)"
    )
    resigns, shares = dwarf.page.evaluate(tops)
    assert resigns == shares, "no button has a row to itself"
    left, right = dwarf.page.evaluate("""() => {
        const { left, right } = document.querySelector("#board .edge").getBoundingClientRect();
        return [left, innerWidth - right];
    }""")
    assert abs(left - right) < 1


@pytest.mark.parametrize("how", [phone(390, 844), phone(844, 390)], ids=["upright", "on its side"])
def test_chat_leaves_the_board_in_view(visit: Visit, how: dict[str, Any]) -> None:
    letter = "a" if how["viewport"]["width"] == 390 else "b"
    board = "fir" if letter == "a" else "yew"
    dwarf, troll = begin(visit, board, (f"Chara{letter}", f"Chaz{letter}"), **how)
    dwarf.page.locator("#to-chat").tap()
    line = dwarf.page.get_by_role("textbox", name="Say something, or /help")
    expect(line).to_be_focused()
    expect(line).to_be_in_viewport(ratio=WHOLE)
    assert dwarf.page.evaluate("scrollY") == 0
    assert not overlap(dwarf, "#talk", "#board .cells")
    line.fill("Hello!")
    line.press("Enter")
    expect(troll.page.locator("#chat")).to_contain_text("Hello!")
    dwarf.page.locator("#talk").get_by_role("button", name="Close", exact=True).tap()
    expect(dwarf.page.locator("#close-talk")).to_be_hidden()
    expect(dwarf.page.locator("#board [role=gridcell]:focus")).to_have_count(1)
    resign(dwarf, troll)


@pytest.mark.parametrize("how", [phone(360, 640), screen(640, 400)], ids=["phone", "zoom of 200 %"])
def test_toast_covers_neither_board_nor_places(visit: Visit, how: dict[str, Any]) -> None:
    letter = "a" if how["viewport"]["width"] == 360 else "b"
    player = visit(**how).come_in(f"Tosti{letter}").practises("larch").type("a6-b6")
    player.sees(B6="dwarf").page.evaluate("scrollTo(0, 0)")
    toast = player.page.locator("#toast.shown")
    player.press("Previous move").click("A6")
    expect(toast).to_contain_text("This is an earlier position.")
    player.page.evaluate("""() => Promise.all(
        document.querySelector("#toast").getAnimations().map((each) => each.finished),
    )""")
    player.page.evaluate("scrollTo(0, 0)")
    assert not overlap(player, "#toast", "#board .cells")
    if letter == "a":
        assert not overlap(player, "#toast", "header")
        toast.tap()
    else:
        player.page.keyboard.press("Escape")
    expect(toast).to_have_count(0)
    player.type("end game", "leave game")


@pytest.mark.parametrize(("width", "height"), PHONES)
def test_seeks_are_listed_next_to_the_button(visit: Visit, width: int, height: int) -> None:
    letter = chr(ord("a") + PHONES.index((width, height)))
    seeker = visit().come_in(f"Sucha{letter}").type("seek classic")
    player = visit(**phone(width, height)).come_in(f"Finda{letter}")
    entry = player.page.get_by_text(f"Sucha{letter}", exact=True)
    expect(entry.first).to_be_in_viewport(ratio=WHOLE)
    accept = player.page.get_by_role("button", name=f"Accept Sucha{letter}'s match")
    expect(accept).to_have_count(1)
    seeker.type("quit")


def test_result_card_answers_the_offer_of_the_second_battle(visit: Visit) -> None:
    dwarf, troll = begin(visit, "pine", ("Karla", "Karl"), **phone(390, 844))
    troll.press("Resign").press("Resign", within="dialog").press("Offer the second battle")
    card = dwarf.page.locator(".result")
    expect(card).to_contain_text("Karl offers to begin the second battle.")
    for name in ("Accept", "Decline"):
        expect(card.get_by_role("button", name=name, exact=True)).to_be_in_viewport(ratio=WHOLE)
    expect(dwarf.page.get_by_role("button", name="Swap seats and play on")).to_have_count(0)
    dwarf.press("Accept").sees(G7="troll")
    expect(dwarf.page.locator("#game-facts")).to_contain_text("battle 2 of 2")
