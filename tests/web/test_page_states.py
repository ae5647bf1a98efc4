"""States of the page that decide what can be done: no connection, earlier positions, challenges."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import WebSocketRoute, expect

from tests.conftest import FreePort
from tests.web.conftest import Player, Served, Visit, served_boards

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Return a server of this module's own: names and boards may be those of other modules."""
    with served_boards(
        tmp_path_factory.mktemp("states"), {"pine": "discworld", "oak": "discworld"}
    ) as server:
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
        expect(anna.page.locator("#toast.shown")).to_have_count(0)
        line.press("Enter")
        anna.hears("You say: Are you there?")
        expect(line).to_have_value("")
        anna.click("A6", "B6").sees(B6="dwarf, last move")


def test_unanswered_command_is_named_when_the_connection_is_lost(visit: Visit) -> None:
    anna = visit()
    links: list[WebSocketRoute] = []
    is_silent = False

    def connect(link: WebSocketRoute) -> None:
        """Pass on all messages, those of the server until it is silent."""
        links.append(link)
        server = link.connect_to_server()
        link.on_message(server.send)
        server.on_message(lambda frame: None if is_silent else link.send(frame))

    anna.page.route_web_socket("**", connect)
    anna.page.reload()
    anna.come_in("Annegret").type("say Well?").hears("You say: Well?")
    is_silent = True  # whatever comes later would count as an answer
    anna.type("say Hello?")
    links[-1].close(code=1012)
    is_silent = False
    anna.hears("The connection was lost before the server answered “say Hello?”.")


def test_earlier_position_takes_no_moves(visit: Visit) -> None:
    anna = visit().come_in("Paula").practises("pine").click("A6", "B6").sees(B6="dwarf, last move")
    first = anna.page.get_by_role("button", name="First move").locator("visible=true")
    for target in ("G6", ""):
        first.click()
        anna.sees(A6="dwarf", B6="empty")
        anna.drag("G7", target) if target else anna.click("G7")
        expect_toast(anna, "This is an earlier position.")
        anna.sees(A6="dwarf", B6="empty", G7="troll", G6="empty")
        anna.page.keyboard.press("Escape")
        anna.sees(B6="dwarf, last move", G7="troll")
    anna.drag("G7", "G6").sees(G6="troll, last move").leaves()


COUNT_TONES = """() => {
    window.tones = 0;
    const create = AudioContext.prototype.createOscillator;
    AudioContext.prototype.createOscillator = function () {
        window.tones += 1;
        return create.call(this);
    };
}"""
"""Counts the tones that the page plays."""


@pytest.mark.parametrize("view", ["lobby", "game", "replay"])
def test_challenge_is_noticed_and_answered_in_every_view(visit: Visit, view: str) -> None:
    names = {"lobby": ("Gus", "Tia"), "game": ("Greta", "Tom"), "replay": ("Gwen", "Ted")}[view]
    asked, challenger = (visit().come_in(name) for name in names)
    if view == "replay":
        asked.practises("pine").click("A6", "B6").sees(B6="dwarf").type("end game")
        asked.page.get_by_role("link", name="Analyse").click()
        asked.page.evaluate("document.body.click()")
    elif view == "game":
        asked.type("go to pine")
    expect(asked.page.locator("body")).to_have_attribute("data-view", view)
    asked.page.evaluate(COUNT_TONES)
    notice = asked.page.locator("#challenges")
    words = f"{names[1]} challenges you to a match (Discworld, 5+3, {names[1]} as dwarfs"
    match = f"match {names[0]} 5+3 as dwarf"
    challenger.type(match)
    expect(notice).to_contain_text(words)
    expect(notice).to_be_in_viewport(ratio=1)
    expect(asked.page).to_have_title(f"● {names[1]} challenges you \N{EN DASH} Thud")
    expect(asked.page.locator("#toast.shown")).to_have_count(0)  # it would say the same again
    assert asked.page.evaluate("window.tones") == 2
    asked.press("Decline", within="#challenges")
    challenger.hears(f"{names[0]} declines")
    expect(notice).to_be_hidden()
    expect(asked.page).not_to_have_title(re.compile("challenges"))
    challenger.type(match)
    expect(notice).to_contain_text(words)
    challenger.type("withdraw")
    expect(notice).to_be_hidden()
    challenger.type(match)
    asked.press("Accept", within="#challenges")
    for each in (asked, challenger):
        expect(each.page.locator("#strip-bottom .clock")).to_be_visible()
        each.type("quit")
        expect(each.page.get_by_label("Your name")).to_be_visible()
    expect(notice).to_be_hidden()


@pytest.mark.parametrize(("width", "height"), [(360, 640), (844, 390)])
def test_challenge_on_a_phone_moves_nothing(visit: Visit, width: int, height: int) -> None:
    letter = "a" if width == 360 else "b"
    phone = {"width": width, "height": height}
    asked = visit(viewport=phone, has_touch=True, is_mobile=True).come_in(f"Hilda{letter}")
    asked.practises("pine")
    asked.page.evaluate("scrollTo(0, 0)")
    board = asked.page.locator("#board .board")
    before = board.bounding_box()
    challenger = visit().come_in(f"Hugo{letter}").type(f"match hilda{letter} 5+3")
    notice = asked.page.locator("#challenges .notice")
    expect(notice).to_be_in_viewport(ratio=1)
    assert board.bounding_box() == before
    box = notice.bounding_box()
    assert box
    assert before
    if width == 360:
        assert box["y"] >= before["y"] + before["height"]
    else:
        assert box["x"] >= before["x"] + before["width"]
    challenger.type("withdraw")
    expect(notice).to_be_hidden()
    asked.leaves()


def test_invitation_disappears_with_the_inviter(visit: Visit) -> None:
    anna, bert = visit().come_in("Irene"), visit().come_in("Ivan")
    anna.type("go to oak").press("Sit as dwarfs").type("invite ivan")
    notice = bert.page.locator("#challenges")
    expect(notice).to_contain_text("Irene asks you to play the trolls at the oak board.")
    anna.press("Leave the seat")
    expect(notice).to_be_hidden()


def test_next_player_finds_nothing_of_the_last_after_log_out(visit: Visit) -> None:
    zed = visit().come_in("Zedlast").type("say I was here").hears("You say: I was here")
    zed.type("who").hears("Zedlast")
    zed.page.locator("#line").fill("half a line")
    expect(zed.page.locator("#chat")).to_contain_text("I was here")
    zed.press("Settings").press("Log out").press("Log out", within="dialog")
    expect(zed.page.get_by_label("Your name")).to_be_focused()
    expect(zed.page.locator("#login-note")).to_have_text("You are logged out.")
    zed.come_in("Yannext").type("xyzzy").hears("There is no command")
    for talk in ("#log", "#chat"):
        expect(zed.page.locator(talk)).not_to_contain_text(re.compile("Zedlast|was here"))
    zed.page.locator("#line").press("ArrowUp")
    zed.page.locator("#line").press("ArrowUp")
    expect(zed.page.locator("#line")).to_have_value("xyzzy")


def test_log_out_by_keyboard_is_confirmed(visit: Visit) -> None:
    tilda = visit().come_in("Tilly")
    keyboard, dialog = tilda.page.keyboard, tilda.page.locator("dialog")
    tilda.page.get_by_role("button", name="Settings").focus()
    keyboard.press("Enter")
    expect(tilda.page.get_by_role("radio", name="auto")).to_be_focused()
    keyboard.press("Shift+Tab")
    expect(tilda.page.get_by_role("button", name="Log out")).to_be_focused()
    keyboard.press("Enter")
    expect(dialog).to_contain_text("Log out, and give up the name Tilly?")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    tilda.type("say I stay.").hears("You say: I stay.")
    tilda.register().hears("is yours now")
    tilda.press("Settings").press("Log out")
    expect(dialog).to_contain_text("Log out in this browser?")
    tilda.press("Log out", within="dialog")
    expect(tilda.page.locator("#login-note")).to_have_text("You are logged out.")


def test_superseded_tab_is_inert_and_can_take_over(visit: Visit) -> None:
    first = visit().come_in("Zelda").practises("pine").click("A6", "B6").sees(B6="dwarf")
    second = first.page.context.new_page()
    second.goto(first.page.url)
    expect(second.locator("#board .board")).to_be_visible()
    expect(first.page.locator("#link.banner")).to_contain_text("You are playing in another window.")
    for old in ("#talk", "#game .panel", "#places"):
        assert first.page.locator(old).evaluate("each => each.matches('[inert], [inert] *')")
    expect(first.page.locator("#talk")).to_have_css("opacity", "0.5")
    first.press("Play here")
    expect(first.page.locator("#link.banner")).to_have_count(0)
    expect(first.page.locator("#talk")).to_have_css("opacity", "1")
    expect(second.locator("#link.banner")).to_contain_text("You are playing in another window.")
    # A browser tells a tab so when it is chosen; the headless one shows all.
    second.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(second.locator("#link.banner")).to_have_count(0)
    expect(first.page.locator("#link.banner")).to_contain_text("You are playing in another window.")
    first.press("Play here")
    expect(first.page.locator("#link.banner")).to_have_count(0)
    first.click("G7", "G6").sees(G6="troll").leaves()


FOCUSED = """() => {
    const { activeElement } = document;
    return activeElement.dataset.square ?? activeElement.dataset.ply ?? activeElement.textContent;
}"""
"""Returns the square, the move or the text that has the focus."""


def test_board_and_move_list_are_one_tab_stop_each(visit: Visit) -> None:
    player = visit().come_in("Tabea").practises("pine")
    player.type("a6-b6", "g7-g6", "b6-a6", "g6-g7")
    plies = player.page.locator("#moves .ply")
    expect(plies).to_have_count(4)
    keyboard = player.page.keyboard
    player.page.get_by_role("button", name="Settings").focus()
    stops = []
    for _ in range(4):
        keyboard.press("Tab")
        stops.append(player.page.evaluate(FOCUSED))
    assert stops == ["F1", "Discworld rules", "4", ""]  # the last is a picture below the list
    keyboard.press("Shift+Tab")
    for key, ply in (("ArrowLeft", 3), ("ArrowUp", 1), ("End", 4), ("Home", 1), ("ArrowRight", 2)):
        keyboard.press(key)
        expect(plies.nth(ply - 1)).to_be_focused()
        expect(plies.nth(ply - 1)).to_have_attribute("aria-current", "step")
    player.sees(G6="troll, last move", B6="dwarf").leaves()


def test_cells_have_positions_and_only_choices_are_selectable(visit: Visit) -> None:
    player = visit().come_in("Cella")
    player.practises("pine", "setup dwarfs a6, f6, h6 trolls g8, g9 turn trolls")
    player.sees(G8="troll")

    def position(square: str) -> list[str | None]:
        """Return the row and column of a square as a screen reader is told."""
        cell = player.square(square)
        row = cell.locator("xpath=..").get_attribute("aria-rowindex")
        return [row, cell.get_attribute("aria-colindex")]

    grid = player.page.locator("#board [role=grid]")
    selectable = grid.locator("[aria-selected]")
    for count in ("row", "col"):
        expect(grid).to_have_attribute(f"aria-{count}count", "15")
    assert [position("F1"), position("A6"), position("O10")] == [
        ["1", "6"],
        ["6", "1"],
        ["10", "15"],
    ]
    expect(selectable).to_have_count(0)
    player.click("G8").sees(G7="empty, can capture here")
    expect(selectable).to_have_count(1)
    player.click("G7").sees(F6="dwarf, to be captured")
    player.click("F6").sees(F6="dwarf, can be captured")
    expect(player.square("F6")).to_have_attribute("aria-selected", "false")
    expect(player.square("H6")).to_have_attribute("aria-selected", "true")
    expect(selectable).to_have_count(3)
    player.page.keyboard.press("f")
    expect(player.square("O10").locator("xpath=..")).to_have_attribute("aria-rowindex", "6")
    assert position("O10") == ["6", "1"]
    player.press("Flip the board", within="#steps").leaves()


def test_focus_goes_to_the_board_when_a_battle_begins(visit: Visit) -> None:
    anna, bert = visit().come_in("Fanny"), visit().come_in("Fritz")
    anna.type("match fritz as dwarf")
    bert.page.locator("#challenges").get_by_role("button", name="Accept").press("Enter")
    expect(bert.square("G7")).to_be_focused()  # a troll
    expect(anna.page.get_by_role("button", name="Resign", exact=True)).to_be_visible()
    expect(anna.page.locator("#line")).to_be_focused()  # nothing is taken from who types
    for each in (anna, bert):
        each.type("quit")


def test_same_announcement_is_made_again(visit: Visit) -> None:
    player = visit().come_in("Echo").practises("pine")
    player.page.evaluate("""() => {
        window.announced = [];
        const host = document.getElementById("status");
        new MutationObserver(() => window.announced.push(host.textContent))
            .observe(host, { childList: true });
    }""")
    count = """words => window.announced.filter((each, at) =>
        each === words && window.announced[at - 1] !== words).length"""
    refusal = "A6 can\N{RIGHT SINGLE QUOTATION MARK}t go to H9, and is put back."
    for times in (1, 2):
        player.click("A6").sees(B6="empty, can go here").click("H9")
        while player.page.evaluate(count, refusal) < times:
            player.page.wait_for_timeout(1)
    player.leaves()


def test_double_click_on_a_seat_starts_no_practice(visit: Visit) -> None:
    player = visit().come_in("Dora").type("go to oak")
    sit = player.page.get_by_role("button", name="Sit as dwarfs")
    box = sit.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    player.page.mouse.click(x, y)
    practise = player.page.get_by_role("button", name="Practise both sides")
    expect(practise).to_be_visible()
    after = practise.bounding_box()
    assert after
    assert after["x"] > x or after["y"] > y
    player.page.mouse.down(click_count=2)
    player.page.mouse.up(click_count=2)
    player.type("say Still here.").hears("You say: Still here.")
    expect(player.page.locator("#strip-bottom")).to_contain_text("Dora you")
    player.press("Leave the seat")
    expect(sit).to_be_visible()


def test_silent_connection_is_noticed_after_a_line(visit: Visit) -> None:
    player = visit("/nothing.txt")
    player.errors.clear()  # of the missing page
    is_silent: list[bool] = []

    def pass_on(link: WebSocketRoute) -> None:
        server = link.connect_to_server()
        server.on_message(lambda frame: None if is_silent else link.send(frame))

    player.page.route_web_socket("**", pass_on)
    clock = player.page.clock
    clock.install()
    player.page.goto(player.page.url.removesuffix("nothing.txt"))
    player.come_in("Sylvia").type("say Ready.").hears("You say: Ready.")
    clock.pause_at(time.time() + 10)  # before the next regular ping
    is_silent.append(True)
    player.type("look")
    clock.run_for(1_500)
    player.type("look")  # doesn't put the ping off
    clock.run_for(6_499)
    expect(player.page.locator("#link")).to_be_empty()
    clock.run_for(1)  # 8 seconds after the first line
    expect(player.page.locator("#link.banner")).to_contain_text("Connection lost")
