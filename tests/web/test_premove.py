"""Premoves: moves chosen during the opponent's turn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Player, Served, Visit, served_boards
from tests.web.test_page import sit_down

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def boards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    names = dict.fromkeys(("oak", "elm", "yew", "ash", "larch", "alder", "aspen"), "discworld")
    with served_boards(
        tmp_path_factory.mktemp("premove"), {**names, "fir": "koom valley"}
    ) as server:
        yield server


def is_announced(player: Player, words: str) -> None:
    expect(player.page.locator("#status")).to_have_text(words)


def is_toasted(player: Player, words: str) -> None:
    expect(player.page.locator("#toast")).to_have_text(words)


def test_premove_by_mouse_and_keys_is_played_after_the_reply(visit: Visit, boards: Served) -> None:
    anna, bert = sit_down(visit, "oak", ("Ada", "Ben"), server=boards)
    bert.click("G7")
    bert.sees(G7="troll, picked up", G6="empty, can go here")
    bert.click("G6").sees(G7="troll, premove", G6="empty, premove")
    is_announced(bert, "Premove: G7 to G6. Press Esc to cancel it.")
    anna.click("A6", "B6")
    for each in (anna, bert):
        each.sees(B6="dwarf", G6="troll, last move")
    bert.drag("H7", "H6").sees(H6="empty, premove")  # and again, by dragging
    anna.by_keys("F1", "F5").sees(H6="troll, last move", F5="dwarf")
    bert.square("H6").focus()
    for key in ("Enter", "ArrowDown", "Enter"):
        bert.page.keyboard.press(key)
    bert.sees(H6="troll, last move, premove", H7="empty, last move, premove")
    anna.click("B6", "C6").sees(H7="troll, last move")


def test_premove_is_cancelled_by_escape_right_click_and_click(visit: Visit, boards: Served) -> None:
    anna, bert = sit_down(visit, "elm", ("Alma", "Bob"), server=boards)

    def is_cancelled() -> None:
        is_announced(bert, "Premove cancelled.")
        expect(bert.square("G6")).to_have_attribute("aria-label", "G6, empty")

    bert.click("G7", "G6").sees(G6="empty, premove").page.keyboard.press("Escape")
    is_cancelled()
    bert.click("G7", "G6").sees(G6="empty, premove").square("K8").click(button="right")
    is_cancelled()
    bert.click("G7", "G6").sees(G6="empty, premove").click("K8")
    is_cancelled()
    bert.click("G7", "G6").sees(G6="empty, premove").page.locator("#line").focus()
    bert.page.locator("#moves").evaluate(
        "moves => moves.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))"
    )
    is_cancelled()
    anna.click("A6", "B6")
    bert.sees(B6="dwarf, last move", G7="troll", G6="empty")


def test_illegal_premove_is_dropped_with_a_toast(visit: Visit, boards: Served) -> None:
    setup = "setup dwarfs a9, e6, f6, g12 trolls g8, g9, h6 turn dwarfs"
    anna, bert = sit_down(visit, "yew", ("Amy", "Bill"), setup, server=boards)
    bert.click("G8", "K4").sees(K4="empty, premove")
    anna.click("A9", "B9")
    bert.sees(B9="dwarf, last move", G8="troll")
    is_toasted(bert, "Premove cancelled: G8 can\N{RIGHT SINGLE QUOTATION MARK}t go to K4 now.")
    bert.click("G9", "G10").sees(G10="troll, last move")
    bert.click("H6", "H7").sees(H7="empty, premove")
    anna.click("F6", "H6").sees(H6="dwarf, last move")  # it captures the troll
    is_toasted(bert, "Premove cancelled: H6 has no piece of yours any more.")
    bert.sees(H7="empty")


def test_trolls_premove_captures_all_it_can(visit: Visit, boards: Served) -> None:
    setup = "setup dwarfs a6, f6, h6 trolls g8, g9 turn dwarfs"
    anna, bert = sit_down(visit, "ash", ("Abby", "Bud"), setup, server=boards)
    bert.click("G8", "G7").sees(G7="empty, premove")
    anna.click("A6", "B6")
    bert.sees(G7="troll, last move", F6="empty, last move", H6="empty, last move")
    setup = "setup dwarfs a6, f5, g6, g4, h5 trolls f4 turn dwarfs"
    anna, bert = sit_down(visit, "fir", ("Ann", "Bart"), setup, server=boards)
    bert.click("F4", "H6").sees(H6="empty, premove")
    anna.click("A6", "B6").sees(H6="troll, last move", G4="empty", H5="empty")


def test_premoves_can_be_turned_off(visit: Visit, boards: Served) -> None:
    anna, bert = sit_down(visit, "larch", ("Alba", "Beau"), server=boards)
    expect(bert.page.locator(".board.ahead")).to_be_visible()
    bert.press("Settings").page.get_by_label("Premoves").uncheck()
    bert.press("Close", within="dialog")
    expect(bert.page.locator(".board.ahead")).to_be_hidden()
    bert.click("G7", "G6")
    anna.click("A6", "B6")
    bert.sees(B6="dwarf, last move", G7="troll", G6="empty").click("G7", "G6")
    anna.sees(G6="troll")
