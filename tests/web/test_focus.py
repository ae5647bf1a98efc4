"""The focus when what had it goes, and what is said to those who hear the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Player, Served, Visit, served_boards

pytestmark = pytest.mark.slow

BOARDS = "oak", "elm", "ash", "fir", "yew", "box", "gum", "bay", "fig", "may", "nut", "tea"

SIZES = {"ivy": (390, 844), "sal": (768, 1024), "ruta": (1280, 800), "cup": (1366, 650)}
"""Screens on which the order of the Tab key is tested, by boards."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    boards = dict.fromkeys((*BOARDS, *SIZES), "discworld")
    with served_boards(tmp_path_factory.mktemp("focus"), boards) as server:
        yield server


def begin(visit: Visit, server: Served, board: str, *names: str) -> tuple[Player, Player]:
    """Seat two players at a board, and begin."""
    dwarf, troll = (visit(server=server).come_in(name) for name in names)
    dwarf.type(f"join game as dwarf on {board} board")
    troll.type(f"join game as troll on {board} board", "start")
    for each in (dwarf, troll):
        expect(each.page.locator("#board")).to_be_visible()
        each.sees(A6="dwarf")
    return dwarf, troll


MOVE = "A6\N{EN DASH}B6, move 1: dwarf."


def expect_said(player: Player, words: str) -> None:
    expect(player.page.locator("#status")).to_contain_text(words)


def test_steps_through_moves_are_said(visit: Visit, server: Served) -> None:
    dwarf, troll = begin(visit, server, "oak", "Stella", "Stanley")
    dwarf.click("A6")
    expect_said(dwarf, "A6 can go to ")
    dwarf.click("A6")
    expect_said(dwarf, "A6 is put back.")
    dwarf.click("G7")
    expect(dwarf.page.locator("#toast.shown")).to_have_text(
        re.compile(r"^That.s Stanley.s troll\. You play the dwarfs\.$")
    )
    dwarf.click("A6", "B6").sees(B6="dwarf")
    troll.sees(B6="dwarf").type("g7-g6").sees(G6="troll")
    dwarf.sees(G6="troll")
    dwarf.press("Previous move")
    expect_said(dwarf, MOVE)
    dwarf.page.keyboard.press("Home")
    expect_said(dwarf, "The position at the beginning.")
    dwarf.page.keyboard.press("Escape")
    expect_said(dwarf, "The current position.")
    troll.press("Resign").press("Resign", within="dialog")
    title = troll.page.locator("#result-title")
    expect(title).to_be_focused()
    expect(dwarf.page.locator(".result")).to_be_visible()
    dwarf.page.get_by_role("link", name="Analyse").click()
    expect(dwarf.page.locator("#replay-title")).to_be_focused()
    expect(dwarf.page.locator("#replay-moves .ply")).to_have_count(2)
    dwarf.page.keyboard.press("Home")
    dwarf.page.keyboard.press("ArrowRight")
    expect_said(dwarf, MOVE)
    dwarf.page.get_by_role("button", name="Try other moves").press("Enter")
    expect(dwarf.page.locator("#replay-board :focus")).to_have_attribute("role", "gridcell")
    dwarf.page.get_by_role("button", name="Back to the game").press("Enter")
    expect(dwarf.page.get_by_role("button", name="Try other moves")).to_be_focused()


def test_keyboard_leads_to_own_pieces_and_to_the_chat(visit: Visit, server: Served) -> None:
    dwarf, troll = (visit(server=server).come_in(name) for name in ("Keyla", "Keith"))
    dwarf.type("match keith as dwarf")
    troll.page.locator("#challenges").get_by_role("button", name="Accept").press("Enter")
    focused = troll.page.locator("#board [role=gridcell]:focus")
    expect(focused).to_have_attribute("aria-label", re.compile(", troll"))
    expect(troll.page.locator("#board .ring")).to_be_visible()
    dwarf.sees(A6="dwarf").click("A6", "B6")
    troll.sees(B6="dwarf").page.keyboard.press("/")
    troll.page.keyboard.type("hello")
    troll.page.keyboard.press("Enter")
    expect(dwarf.page.locator("#chat")).to_contain_text("Keith hello")
    troll.page.keyboard.press("Escape")
    expect(focused).to_have_count(1)
    troll.press("First move")
    troll.square("G7").press("l")
    troll.hears("Current position:")
    troll.press("Resign").press("Resign", within="dialog")
    troll.press("Play the second battle")
    dwarf.page.get_by_role("button", name="Accept").press("Enter")
    second = dwarf.page.locator("#board [role=gridcell]:focus")
    expect(second).to_have_attribute("aria-label", re.compile(", troll"))


def ask_to_undo(dwarf: Player, troll: Player) -> None:
    dwarf.click("A6", "B6").sees(B6="dwarf")
    troll.sees(B6="dwarf").type("g7-g6").sees(G6="troll")
    dwarf.sees(G6="troll").press("Undo").press("Undo", within="dialog")


def test_focus_goes_on_when_its_button_has_gone(visit: Visit, server: Served) -> None:
    dwarf, troll = begin(visit, server, "elm", "Florian", "Flora")
    ask_to_undo(dwarf, troll)
    troll.page.locator("#notices").get_by_role("button", name="Decline").press("Enter")
    expect(troll.page.locator("#board [role=gridcell]:focus")).to_have_count(1)
    expect(dwarf.page.locator("#notices")).not_to_contain_text("You ask")


def test_asking_to_undo_is_called_a_request(visit: Visit, server: Served) -> None:
    dwarf, troll = begin(visit, server, "ash", "Undine", "Umberto")
    ask_to_undo(dwarf, troll)
    expect(dwarf.page.locator("#notices")).to_contain_text("You ask to take back the last move.")
    words = "Undine asks to take back the last move."
    expect(troll.page.locator("#notices")).to_contain_text(words)
    troll.press("Resign").press("Resign", within="dialog")


def test_address_is_followed_while_a_tv_is_on(visit: Visit, server: Served) -> None:
    watcher = visit(server=server).come_in("Tilda").type("tv")
    begin(visit, server, "fir", "Tamara", "Tancred")
    expect(watcher.page).to_have_url(f"{server.address}/tv")
    watcher.page.goto(f"{server.address}/lessons")
    expect(watcher.page.locator("#lessons-title")).to_be_visible()
    watcher.hears("You carry on")
    expect(watcher.page).to_have_url(f"{server.address}/lessons")
    watcher.page.goto(f"{server.address}/tv")
    expect(watcher.page.locator("#game-title")).to_contain_text("\N{EN DASH}")  # of its players


NOTE_FOCUS = """() => {
    window.focused = [];
    document.addEventListener("focusin", ({ target }) => {
        const label = target.getAttribute("aria-label") || target.textContent;
        window.focused.push(label.trim());
    });
}"""


def note_focus(player: Player) -> None:
    """Note from now on what gets the focus."""
    player.page.evaluate(NOTE_FOCUS)


def focused(player: Player) -> list[str]:
    """Return what has got the focus since then."""
    noted: list[str] = player.page.evaluate("() => window.focused")
    return noted


def test_focus_stays_when_an_opponent_offers_something(visit: Visit, server: Served) -> None:
    dwarf, troll = begin(visit, server, "yew", "Ottilie", "Otto")
    dwarf.press("Resign").press("Resign", within="dialog")
    expect(dwarf.page.locator("#result-title")).to_be_focused()
    link = dwarf.page.locator(".result").get_by_role("link", name="Analyse")
    link.focus()
    note_focus(dwarf)
    troll.press("Play the second battle")
    expect(dwarf.page.locator(".result")).to_contain_text("Otto offers to begin")
    expect(link).to_be_focused()
    troll.press("Withdraw", within="#notices")
    expect(dwarf.page.locator(".result")).not_to_contain_text("Otto offers to begin")
    own = dwarf.page.locator(".result").get_by_role("button", name="Play the second battle")
    own.focus()
    troll.press("Play the second battle")
    accept = dwarf.page.locator(".result").get_by_role("button", name="Accept")
    expect(accept).to_be_focused()
    assert focused(dwarf) == ["Play the second battle"]


def test_buttons_stay_when_an_opponent_moves(visit: Visit, server: Served) -> None:
    dwarf, troll = begin(visit, server, "box", "Benno", "Berta")
    button = troll.page.get_by_role("button", name="Offer to end")
    button.focus()
    node = button.element_handle()
    note_focus(troll)
    dwarf.click("A6", "B6")
    troll.sees(B6="dwarf")
    assert node.evaluate("(each) => each === document.activeElement")
    assert focused(troll) == []


def test_focus_goes_to_the_hall_once(visit: Visit, server: Served) -> None:
    dwarf, _ = begin(visit, server, "gum", "Hanno", "Hedda")
    dwarf.page.locator("#places").get_by_role("button", name="Hall").focus()
    note_focus(dwarf)
    dwarf.page.keyboard.press("Enter")
    expect(dwarf.page.locator("#lobby-title")).to_be_focused()
    assert focused(dwarf) == ["The hall"]


def test_focus_goes_to_a_new_game_once(visit: Visit, server: Served) -> None:
    one, other = (visit(server=server).come_in(name) for name in ("Nelly", "Norbert"))
    one.type("match norbert as dwarf")
    accept = other.page.locator("#challenges").get_by_role("button", name="Accept")
    accept.focus()
    note_focus(other)
    other.page.keyboard.press("Enter")
    square = other.page.locator("#board [role=gridcell]:focus")
    expect(square).to_have_attribute("aria-label", re.compile(", troll"))
    expect(other.page.locator("#game-facts")).to_contain_text("battle 1 of 2")
    (only,) = focused(other)
    assert ", troll" in only


def test_focus_goes_to_the_first_square_of_a_lesson_once(visit: Visit, server: Served) -> None:
    learner = visit(server=server).come_in("Leonie")
    learner.page.get_by_role("link", name="All lessons and puzzles").press("Enter")
    learner.page.locator("#lesson-list a").first.focus()
    note_focus(learner)
    learner.page.keyboard.press("Enter")
    square = learner.page.locator("#board [role=gridcell]:focus")
    expect(square).to_have_attribute("aria-label", re.compile(", named in the lesson"))
    (only,) = focused(learner)
    assert "named in the lesson" in only


def test_focus_goes_from_the_button_to_the_analysis(visit: Visit, server: Served) -> None:
    dwarf, troll = begin(visit, server, "bay", "Anselm", "Ansgar")
    dwarf.click("A6", "B6")
    troll.sees(B6="dwarf").type("g7-g6").sees(G6="troll")
    dwarf.sees(G6="troll").press("Resign").press("Resign", within="dialog")
    dwarf.page.get_by_role("link", name="Analyse").click()
    curve = dwarf.page.locator("#replay-curve")
    dwarf.page.get_by_role("button", name="Computer analysis").press("Enter")
    expect(curve).to_be_focused()
    expect(curve.locator("svg")).to_be_visible()
    expect(curve).to_be_focused()


def test_resign_is_the_last_button_that_tab_comes_to(visit: Visit, server: Served) -> None:
    dwarf, _ = begin(visit, server, "may", "Resa", "Resi")
    dwarf.page.set_viewport_size({"width": 390, "height": 844})
    chat = dwarf.page.locator("#to-chat")
    chat.focus()
    for name in ("More", "Resign"):
        dwarf.page.keyboard.press("Tab")
        button = dwarf.page.locator("#game").get_by_role("button", name=name, exact=True)
        expect(button).to_be_focused()
    places = [each.bounding_box() for each in (chat, button)]
    assert places[0]
    assert places[1]
    assert places[0]["x"] < places[1]["x"] or places[0]["y"] < places[1]["y"]


FOCUSED = """() => {
    const { left, top, bottom } = document.activeElement.getBoundingClientRect();
    const isIn = document.activeElement.closest("#game .panel") !== null;
    return [isIn, left, top + scrollY, bottom + scrollY];
}"""
"""Returns whether the focus is in the panel, and where on the page."""


@pytest.mark.parametrize("board", SIZES)
def test_order_of_tab_is_that_on_the_screen(visit: Visit, server: Served, board: str) -> None:
    width, height = SIZES[board]
    dwarf, troll = begin(visit, server, board, f"Tabea{board}", f"Tabor{board}")
    dwarf.click("A6", "B6")
    troll.sees(B6="dwarf").press("Offer to end").press("Offer to end", within="dialog")
    dwarf.page.set_viewport_size({"width": width, "height": height})
    expect(dwarf.page.locator("#notices").get_by_role("button", name="Accept")).to_be_visible()
    dwarf.page.locator("#board [tabindex='0']").focus()
    row, end, last = 0, 0, 0
    names = []
    for _ in range(30):
        dwarf.page.keyboard.press("Tab")
        is_in, left, top, bottom = dwarf.page.evaluate(FOCUSED)
        if not is_in:
            break
        assert top >= row
        assert left > last or top >= end - 1
        row, end, last = (top, bottom, left) if top >= end - 1 else (row, end, left)
        names.append(dwarf.page.evaluate("document.activeElement.textContent"))
    assert names[names.index("Resign") - 1] in ("Share", "More")


def test_name_field_has_the_focus_where_there_are_keys(visit: Visit, server: Served) -> None:
    expect(visit(server=server).page.get_by_label("Your name")).to_be_focused()
    phone = visit(server=server, has_touch=True, is_mobile=True)
    expect(phone.page.locator("#rules figure")).to_have_count(3)
    expect(phone.page.get_by_label("Your name")).not_to_be_focused()


def test_dialogs_begin_at_what_they_are_for(visit: Visit, server: Served) -> None:
    """Must hold on a phone: to close them is neither first nor what most will do."""
    phone: dict[str, Any] = {
        "viewport": {"width": 390, "height": 844},
        "has_touch": True,
        "is_mobile": True,
    }
    player = visit(server=server, **phone).come_in("Dialoga").press("Settings")
    dialog = player.page.locator("dialog")
    expect(dialog.get_by_role("radio", name="Auto")).to_be_focused()
    close = dialog.get_by_role("button", name="Close", exact=True)
    expect(close).to_have_class("")
    close.click()
    player.page.goto(f"{server.address}/board/nut%20board")
    player.sees(A6="dwarf").press("Share").press("Picture")
    expect(dialog.get_by_role("link", name="SVG")).to_be_focused()
    expect(close).to_have_class("")


FOLLOW_FOCUS = """() => {
    window.focused = [];
    addEventListener("focusin", ({ target }) => window.focused.push(target.ariaLabel));
}"""
"""Notes the names of what gets the focus."""


def test_second_battle_begins_at_a_piece_of_the_new_side(visit: Visit, server: Served) -> None:
    dwarf, troll = begin(visit, server, "tea", "Zwila", "Zwilo")
    dwarf.press("Resign").press("Resign", within="dialog")
    dwarf.press("Play the second battle")
    for each in (dwarf, troll):
        each.page.evaluate(FOLLOW_FOCUS)
    troll.press("Accept")
    for each, piece in ((dwarf, "troll"), (troll, "dwarf")):
        focus = each.page.locator(f".board:visible [data-square][aria-label*=', {piece}']:focus")
        expect(focus).to_have_count(1)
        squares = each.page.evaluate("focused.filter((name) => /^[A-P]\\d/.test(name))")
        assert [name.split(", ")[1] for name in squares] == [piece]
        each.type("quit")
