"""The view of a game in a real browser: result, title, sharing, log and choice of captures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Player, Served, Visit, served_boards
from tests.web.test_layout import assert_fits, phone, screen
from tests.web.test_page import violations

pytestmark = pytest.mark.slow

DASH = "\N{EN DASH}"
BOARDS = {"oak": "discworld", "elm": "discworld", "yew": "koom valley"}
PHONE = phone(390, 844)
SPOKEN = """() => {
    window.spoken = [];
    const status = document.getElementById("status");
    new MutationObserver(() => status.textContent && window.spoken.push(status.textContent))
        .observe(status, { childList: true });
}"""
"""Collects what a screen reader is told by the page's status."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Return a server of this module's own: names and boards may be those of other modules."""
    with served_boards(tmp_path_factory.mktemp("view"), BOARDS) as server:
        yield server


def start_match(visit: Visit, *names: str, **how: Any) -> tuple[Player, Player]:
    """Return two players of a match; the first plays the dwarfs, and has the given screen."""
    dwarf, troll = visit(**how).come_in(names[0]), visit().come_in(names[1])
    dwarf.type(f"match {names[1]} as dwarf casual")
    troll.press("Accept", within="#challenges")
    for each in (dwarf, troll):
        expect(each.page.get_by_role("button", name="Resign", exact=True)).to_be_visible()
    return dwarf, troll


def resign(player: Player) -> Player:
    """Resign."""
    return player.press("Resign").press("Resign", within="dialog")


def test_finished_battle_is_shared_not_its_board(visit: Visit) -> None:
    rosa, rudi = start_match(visit, "Rosamunde", "Rudolfo")
    rosa.type("a6-b6")
    resign(rudi)
    expect(rosa.page.get_by_role("region", name="You win")).to_be_visible()
    rosa.press("Share").press("Embed")  # of the battle: the board may be closed
    expect(rosa.page.locator("dialog textarea")).to_have_value(re.compile("/embed/game/"))
    rosa.press("Close", within="dialog")
    rosa.press("Share").press("Copy the link")
    expect(rosa.page.locator("body")).to_contain_text("Anyone with the link can replay it.")


def test_resign_counts_however_late_it_is_confirmed(visit: Visit) -> None:
    rosa, _ = start_match(visit, "Rosalinde", "Rudibert")
    rosa.type("a6-b6").press("Resign")
    expect(rosa.page.locator("dialog")).to_be_visible()
    rosa.page.evaluate(
        "{ const { now } = performance; performance.now = () => now.call(performance) + 9e5; }"
    )
    rosa.press("Resign", within="dialog")
    expect(rosa.page.get_by_role("heading", name="Rudibert wins")).to_be_visible()
    line = next(each for each in rosa.sent if each.startswith("resign"))
    assert rosa.sent[-3:].count("yes") == 1
    assert rosa.sent.count(line) == 2, "the server may have given up waiting"


def expect_spoken(player: Player, sentence: str) -> None:
    """Wait until the page's status has told a sentence to screen readers, just once."""
    player.page.wait_for_function("said => window.spoken.includes(said)", arg=sentence)
    assert player.page.evaluate("window.spoken").count(sentence) == 1


def test_result_card_shows_the_end_and_what_is_next(visit: Visit) -> None:
    rosa, rudi = start_match(visit, "Rosa", "Rudi")
    rosa.type("a6-b6")
    resign(rudi)
    for each, who, score in (
        (rosa, "You win", "You lead 32 to 0 so far."),
        (rudi, "Rosa wins", "You trail 0 to 32 so far."),
    ):
        card = each.page.get_by_role("region", name=who)
        expect(card).to_contain_text("32 to 0, by resignation.")
        expect(card).to_contain_text(score)
        expect(each.page.locator("#notices")).not_to_contain_text(who)  # it is said once
        for role, name in (("button", "Play the second battle"), ("link", "Analyse")):
            expect(each.page.get_by_role(role, name=name)).to_have_count(1)  # type: ignore[arg-type]
    expect(rosa.page.locator("#log")).to_contain_text("You win the battle, 32 to 0!")
    rosa.page.keyboard.press("Escape")
    expect(rosa.page.locator(".result")).to_be_hidden()
    expect(rosa.page.locator("#notices").get_by_role("link", name="Analyse")).to_be_visible()
    expect(rudi.page.locator(".result")).to_be_visible()
    rudi.press("Previous move")  # stepping through the moves needs the whole board
    expect(rudi.page.locator(".result")).to_be_hidden()
    rudi.press("Last move").sees(B6="dwarf, last move")
    expect(rudi.page.locator(".result")).to_be_hidden()
    rosa.press("Play the second battle")
    rudi.press("Accept")
    resign(rosa)
    rosa.press("Rematch", within=".result")
    expect(rosa.page.locator(".result")).to_be_hidden()
    expect(rudi.page.locator(".result")).to_contain_text("Rosa offers a rematch.")
    rudi.press("Accept", within=".result")
    expect(rosa.page.get_by_role("button", name="Resign", exact=True)).to_be_visible()
    for each in (rosa, rudi):
        each.type("quit")


def test_result_card_is_closed_by_keyboard(visit: Visit) -> None:
    player = visit().come_in("Ruth").practises("elm").type("a6-b6").sees(B6="dwarf")
    player.square("B6").focus()
    player.type("end game")
    expect(player.page.locator(".result")).to_be_visible()
    player.square("B6").focus()
    labels = player.page.locator(".result button, .result a").evaluate_all(
        "all => all.map((each) => each.textContent || each.ariaLabel)"
    )
    for label in labels:  # in the card, the way out is the last
        player.page.keyboard.press("Tab")
        focused = "document.activeElement.textContent || document.activeElement.ariaLabel"
        assert player.page.evaluate(focused) == label
    assert label == "Close"
    player.page.keyboard.press("Enter")
    expect(player.page.locator(".result")).to_be_hidden()
    expect(player.square("B6")).to_be_focused()
    player.page.reload()
    expect(player.page.locator("#notices").get_by_role("link", name="Analyse")).to_be_visible()
    expect(player.page.locator(".result")).to_be_hidden()
    player.type("leave game")


def test_result_card_is_scrolled_into_view_on_a_phone(visit: Visit) -> None:
    player, opponent = start_match(visit, "Rahel", "Ralf", **PHONE)
    player.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    resign(player)
    expect(player.page.locator(".result")).to_be_in_viewport(ratio=1)
    for each in (player, opponent):
        each.type("quit")


def test_game_is_titled_by_its_players(visit: Visit) -> None:
    jo, mia = start_match(visit, "Jo", "Mia")
    title, other = f"Jo {DASH} Mia", f"Mia {DASH} Jo"
    for each, opponent in ((jo, "Mia, your turn"), (mia, "Jo")):
        expect(each.page.locator("#game-title")).to_have_text(title)
        expect(each.page.locator("#game-facts")).to_have_text(re.compile(r"^\w+ board · Disc"))
        expect(each.page.get_by_role("button", name=f"vs {opponent}", exact=True)).to_be_visible()
    expect(jo.page).to_have_title(f"● Your turn: {title} {DASH} Thud")
    expect(mia.page).to_have_title(f"{title} {DASH} Thud")
    jo.press("Hall")
    expect(jo.page).to_have_title(f"● Your turn vs Mia {DASH} Thud")
    jo.page.go_back()
    watcher = visit(jo.path)
    expect(watcher.page.locator("#game-title")).to_have_text(title)
    jo.type("a6-b6")
    resign(jo)
    mia.press("Play the second battle")
    jo.press("Accept")
    expect(jo.page.locator("#game-title")).to_have_text(other)
    resign(jo)
    jo.page.get_by_role("link", name="Analyse").click()
    expect(jo.page.locator("#replay-title")).to_have_text(other)
    expect(jo.page.locator("#replay-facts")).to_have_text(re.compile(r"^Battle #\d+ · Disc"))
    expect(jo.page.get_by_role("button", name="Share", exact=True)).to_be_visible()
    # The server analyses no battle without moves.
    expect(jo.page.get_by_role("button", name="Computer analysis")).to_have_count(0)
    expect(jo.page).to_have_title(f"{other} {DASH} Thud")
    jo.press("Hall").type("go to oak board")
    expect(jo.page).to_have_title(f"Oak board {DASH} Thud")
    for each in (jo, mia):
        each.type("quit")


def test_share_menu_works_by_keyboard(visit: Visit) -> None:
    player = visit().come_in("Sherri").practises("elm").type("a6-b6").sees(B6="dwarf")
    button = player.page.get_by_role("button", name="Share", exact=True).locator("visible=true")
    entries = player.page.locator("#share-menu > *")

    def open_menu() -> None:
        button.focus()
        player.page.keyboard.press("Enter")
        expect(button).to_have_attribute("aria-expanded", "true")

    open_menu()
    expect(entries).to_have_text(["Copy the link", "Picture", "Embed", "Download"])
    for entry in entries.all():
        expect(entry).to_be_in_viewport(ratio=1)
    for _ in range(2):
        player.page.keyboard.press("ArrowDown")
    expect(entries.nth(1)).to_be_focused()
    player.page.keyboard.press("Enter")
    expect(player.page.locator("dialog img")).to_be_visible()
    player.page.keyboard.press("Escape")
    expect(button).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "false")
    open_menu()
    player.page.keyboard.press("Tab")
    expect(entries.first).to_be_focused()
    player.page.keyboard.press("Escape")
    expect(entries.first).to_be_hidden()
    expect(button).to_be_focused()
    open_menu()
    player.type("g7-g6").sees(G6="troll")  # the focus is elsewhere
    expect(entries.first).to_be_hidden()
    player.type("end game").page.get_by_role("link", name="Analyse").click()
    player.sees(G6="troll").press("Share", within="#replay")
    expect(player.page.locator("#replay-share-menu > *")).to_have_count(4)
    player.press("Hall").type("leave game on elm")


LOG = "#panel-log:not(.collapsed)"


def play_by_clicks(visit: Visit, *names: str) -> tuple[Player, Player]:
    """Return two players who have typed nothing, the dwarfs' player first."""
    one, other = (visit(**screen(1280, 800)).come_in(name) for name in names)
    one.press(f"Challenge {names[1]}").press("Send challenge")
    other.press("Accept", within="#challenges")
    for each in (one, other):
        expect(each.page.get_by_role("button", name="Resign", exact=True)).to_be_visible()
    is_dwarf = one.page.locator("#strip-bottom [href='#dwarf']").count()
    return (one, other) if is_dwarf else (other, one)


def test_log_is_closed_until_something_is_typed(visit: Visit) -> None:
    dwarf, troll = play_by_clicks(visit, "Lou", "Luc")
    expect(dwarf.page.get_by_role("tab", name="Chat")).to_have_attribute("aria-selected", "true")
    expect(dwarf.page.locator(LOG)).to_have_count(0)
    room = (
        "['#brief', '#goal'].reduce((sum, id) => sum + document.querySelector(id).offsetHeight, 0)"
    )
    assert dwarf.page.evaluate(room) >= 8 * 25.6  # where the moves will be
    dwarf.click("A6", "B6")
    troll.sees(B6="dwarf").click("G7", "G6")
    dwarf.sees(G6="troll")
    log = dwarf.page.get_by_role("log", name="Log")  # screen readers know it all the same
    expect(log).to_contain_text("moves the troll from G7 to G6")
    assert log.evaluate("each => getComputedStyle(each).display") != "none"
    line = dwarf.page.locator("#line")
    line.fill("Hello!")
    line.press("Enter")
    expect(troll.page.locator("#chat")).to_contain_text("Hello!")
    expect(log.filter(has_text="You say: Hello!")).not_to_contain_text("say Hello!")  # heard once
    line.fill("/where rock")
    line.press("Enter")
    expect(dwarf.page.locator(LOG)).to_contain_text("where rock")
    expect(line).to_have_attribute("placeholder", "Type a command, or “help”")
    troll.square("G6").focus()
    troll.page.keyboard.press("t")  # its answer is read out from the log
    expect(troll.page.locator("#toast.shown")).to_contain_text("8 trolls: G6, H7")
    expect(troll.page.locator("#log")).to_contain_text("8 trolls: G6, H7")
    expect(troll.page.locator("#log")).not_to_contain_text("where trolls")
    expect(troll.page.locator(LOG)).to_have_count(0)
    troll.page.keyboard.press("Escape")
    expect(troll.page.locator("#toast")).to_be_hidden()
    troll.page.keyboard.press("/")
    expect(troll.page.locator("#line")).to_be_focused()
    expect(troll.page.locator(LOG)).to_have_count(0)
    for each in (dwarf, troll):
        each.type("quit")


def test_hint_is_explained_while_the_log_is_closed(visit: Visit) -> None:
    player = visit().come_in("Hinda")
    folded = player.page.locator("#boards details")
    folded.evaluate_all("(all) => all.forEach((each) => { each.open = true; })")
    player.press("Open yew board").press("Sit as dwarfs").press("Practise both sides").press("Hint")
    expect(player.page.locator("#toast.shown")).to_contain_text("Try ")
    expect(player.page.locator(LOG)).to_have_count(0)
    marked = player.page.locator("#board [aria-label*=', hint']")
    expect(marked).to_have_count(2)
    expect(player.page.locator("#board .notes .arrow.best")).not_to_have_count(0)
    expect(player.page.locator("#board .notes .arrow.reply")).to_have_count(1)  # the likely reply
    player.type("/end game")
    expect(marked).to_have_count(0)
    expect(player.page.locator("#board .notes .arrow")).to_have_count(0)
    expect(player.page.locator("#toast.shown")).to_have_count(0)
    player.type("quit")


def test_log_and_chat_are_tab_panels(visit: Visit) -> None:
    player = visit().come_in("Tabea")
    for tab in ("Log", "Chat"):
        player.page.get_by_role("tab", name=tab).click()
        panel = player.page.get_by_role("tabpanel", name=tab)
        expect(panel.get_by_role("log", name=tab)).to_be_visible()
        controlled = player.page.get_by_role("tab", name=tab).get_attribute("aria-controls")
        expect(panel).to_have_id(controlled or "")


def test_flipped_board_has_the_players_on_its_sides(visit: Visit) -> None:
    player = visit().come_in("Philine").practises("elm").type("a6-b6").sees(B6="dwarf")
    for view in ("", "replay-"):
        for is_flipped in (False, True):
            order = ("dwarf", "troll") if is_flipped else ("troll", "dwarf")
            for place, side in zip(("top", "bottom"), order, strict=True):
                token = player.page.locator(f"#{view}strip-{place} use, #{view}{place} use")
                expect(token).to_have_attribute("href", f"#{side}")
            player.press("Flip the board")
        if not view:
            player.type("end game").page.get_by_role("link", name="Analyse").click()
            expect(player.page.locator("#replay-title")).to_be_visible()
    player.press("Hall").type("options orient north")  # how the board stands, not who is where
    expect(player.page.locator("#log")).to_contain_text("north")
    player.type("go to elm")
    expect(player.page.locator("#strip-bottom use")).to_have_attribute("href", "#dwarf")


def test_trolls_capture_all_at_once_if_wanted(visit: Visit) -> None:
    player = visit().come_in("Alla").press("Settings")
    player.page.get_by_label("Trolls capture all they can").check()
    player.press("Close").practises("elm", "setup dwarfs a6, f6, h6 trolls g8, m9 turn trolls")
    player.sees(G8="troll").click("G8", "G7")
    player.sees(G7="troll, last move", F6="empty, last move", H6="empty, last move")
    player.type("leave game")


def test_trolls_capture_all_from_now_on_by_a_button_of_the_choice(visit: Visit) -> None:
    setup = "setup dwarfs a6, f6, h6, g3 trolls g8, m9 turn trolls"
    player = visit().come_in("Allan").practises("elm", setup).sees(G8="troll").click("G8", "G7")
    player.press("Always all").sees(G7="troll", F6="empty, last move", H6="empty, last move")
    expect(player.page.locator("#toast.shown")).to_contain_text("your trolls capture all they can")
    player.click("A6", "B6").sees(B6="dwarf").click("G7", "G6").sees(G6="troll, last move")
    player.click("G3", "G5").sees(G5="dwarf").click("G6", "H6").sees(
        H6="troll", G5="empty, last move"
    )
    player.press("Settings")
    expect(player.page.get_by_label("Trolls capture all they can")).to_be_checked()
    player.press("Close").type("leave game")


def test_result_always_has_a_button_to_go_on(visit: Visit) -> None:
    player, other = start_match(visit, "Rabea", "Rolf")
    first = player.page.locator(".result .actions > *").first
    resign(player)
    expect(first).to_have_text("Play the second battle")
    other.type("leave game").press("Leave", within="dialog")
    expect(first).to_have_text("Find another opponent")
    first.click()
    expect(player.page.locator("body")).to_have_attribute("data-view", "lobby")
    for each in (player, other):
        each.type("quit")


def test_rows_of_the_board_have_names(visit: Visit) -> None:
    player = visit().come_in("Rowena").practises("elm")
    rows = player.page.locator("#board").get_by_role("row")
    for _ in range(2):
        row = rows.filter(has=player.page.locator("[data-square=A8]"))
        expect(row).to_have_attribute("aria-label", "row 8")
        expect(row).to_have_attribute("aria-rowindex", "8")
        player.press("Flip the board")
    expect(rows.filter(has=player.page.locator("[data-square=A6]"))).to_have_attribute(
        "aria-label", "row 6"
    )
    expect(player.page.locator("#board .board")).to_have_attribute("role", "none")
    player.type("leave game")


def test_settings_show_schemes_size_and_volume(visit: Visit) -> None:
    player = visit(viewport={"width": 1280, "height": 800}).come_in("Setty").practises("elm")
    board = player.page.locator("#board .board")
    width = "each => each.getBoundingClientRect().width"
    large = board.evaluate(width)
    dialog = player.press("Settings").page.locator("dialog")
    fills = dialog.locator(".preview rect:first-child").evaluate_all(
        "all => all.map((each) => getComputedStyle(each).fill)"
    )
    assert fills == ["rgb(233, 211, 167)", "rgb(11, 95, 11)", "rgb(34, 38, 42)", fills[0]]
    expect(dialog.locator(".scheme span")).to_have_text(["Plain", "Vivid", "Dim", "Safe"])
    expect(dialog.get_by_role("button", name="Keyboard shortcuts (?)")).to_be_visible()
    dialog.get_by_label("Small").check(force=True)
    assert 0.65 < board.evaluate(width) / large < 0.75
    dialog.get_by_label("Volume").fill("0")
    player.page.reload()
    expect(board).to_be_visible()
    assert 0.65 < board.evaluate(width) / large < 0.75
    expect(player.press("Settings").page.get_by_label("Volume")).to_have_value("0")
    player.press("Close").leaves()


@pytest.mark.parametrize("name", ["Carla", "Carlo"])
def test_choice_of_captures_says_how_to_confirm_and_pushes_nothing(visit: Visit, name: str) -> None:
    how = PHONE if name == "Carla" else screen(1280, 800)
    player = visit(**how).come_in(name)
    player.practises("elm", "setup dwarfs a6, f6, h6 trolls g8, m9 turn trolls").sees(G8="troll")
    player.page.evaluate("scrollTo(0, 0)")
    boxes = """() => [...document.querySelectorAll("#game .heading, #steps, #actions, #talk")]
        .map((each) => each.getBoundingClientRect().top)"""
    before = player.page.evaluate(boxes)
    player.click("G8").sees(G7="empty, can capture here").click("G7")
    choice = player.page.locator("#choice")
    verb, keys = ("Tap", "") if how == PHONE else ("Click", " or press Enter on it")
    expect(choice).to_contain_text(
        f"{verb} G7 again{keys} to capture both dwarfs. To leave one, {verb.lower()} it{keys}."
    )
    expect(choice).to_be_in_viewport(ratio=1)
    assert player.page.evaluate(boxes) == before
    player.click("G7").sees(G7="troll", F6="empty, last move", H6="empty, last move")
    expect(choice).to_be_hidden()
    player.type("leave game")


def test_chosen_captures_are_announced(visit: Visit) -> None:
    player = (
        visit()
        .come_in("Annika")
        .practises("elm", "setup dwarfs a6, f6, h6 trolls g8, m9 turn trolls")
    )
    player.sees(G8="troll").page.evaluate(SPOKEN)
    player.by_keys("G8", "G7")
    confirm = "Press Enter on G7 to confirm."
    expect_spoken(player, f"To G7. Capturing all 2: F6, H6. {confirm}")
    for square, chosen in (("F6", "H6"), ("H6", "nothing"), ("F6", "F6"), ("H6", "all 2: F6, H6")):
        player.square(square).focus()
        player.page.keyboard.press("Enter")
        expect_spoken(player, f"Capturing {chosen}. {confirm}")
    player.page.keyboard.press("Escape")
    expect_spoken(player, "Cancelled.")
    player.type("leave game")


def test_repeated_announcement_is_heard_again(visit: Visit) -> None:
    player = visit().come_in("Echo").practises("elm").sees(A6="dwarf")
    player.page.evaluate(SPOKEN)
    refusal = "A6 can\N{RIGHT SINGLE QUOTATION MARK}t go to H8, and is put back."
    for times in (1, 2):
        player.by_keys("A6").sees(B6="empty, can go here").square("H8").focus()
        player.page.keyboard.press("Enter")
        count = "([said, times]) => window.spoken.filter((each) => each === said).length === times"
        player.page.wait_for_function(count, arg=[refusal, times])
    player.type("leave game")


def test_axe_finds_no_violations_around_a_game(visit: Visit) -> None:
    dwarf, troll = play_by_clicks(visit, "Axela", "Axton")
    dwarf.press("Share")
    found = violations(dwarf, "menu and chat")
    resign(dwarf)
    expect(troll.page.locator(".result")).to_be_visible()
    found += violations(troll, "result")
    assert not found
    for each in (dwarf, troll):
        each.type("quit")


@pytest.mark.parametrize(("width", "height"), [(320, 568), (390, 844), (844, 390)])
def test_result_and_menu_fit_on_phones(visit: Visit, width: int, height: int) -> None:
    names = f"Margaretanncathering{height}", f"Christopheralexander{height}"
    letters = str.maketrans("0123456789", "abcdefghij")
    player, opponent = start_match(
        visit, *(name.translate(letters)[-20:].title() for name in names), **phone(width, height)
    )
    player.press("More")
    assert_fits(player, width)
    player.press("More")
    resign(player)
    for part in (".result", ".result button, .result a"):
        for element in player.page.locator(part).all():
            expect(element).to_be_in_viewport(ratio=0.99)
    assert_fits(player, width)
    for each in (player, opponent):
        each.type("quit")


def test_second_battle_is_called_so_after_a_new_login(visit: Visit) -> None:
    sara, siri = start_match(visit, "Sara", "Siri")
    resign(siri)
    for each in (sara, siri):
        expect(each.page.get_by_role("button", name="Play the second battle")).to_be_visible()
    sara.page.reload()
    expect(sara.page.get_by_role("button", name="Play the second battle")).to_be_visible()
    expect(sara.page.get_by_role("button", name="Begin", exact=True)).to_have_count(0)


def test_analysis_opens_at_the_last_move(visit: Visit) -> None:
    player = visit().come_in("Lasse").practises("elm").type("a6-b6").sees(B6="dwarf")
    player.type("end game").page.get_by_role("link", name="Analyse").click()
    player.sees(B6="dwarf, last move")
    assert player.path.endswith("#ply=1")
    player.press("Hall").type("leave game on elm")


def test_moves_of_a_piece_are_asked_for_once_in_a_position(visit: Visit) -> None:
    player = visit().come_in("Wanja").practises("elm")

    def asked() -> int:
        return sum("moves a6 on" in each for each in player.sent)

    for _ in range(3):
        player.click("A6").sees(A6="dwarf, picked up", B6="empty, can")
        player.click("A6").sees(A6="dwarf")
        expect(player.page.locator("#status")).to_have_text("A6 is put back.")
    assert asked() == 1
    player.click("A7", "B7").sees(B7="dwarf, last move")
    player.type("undo").sees(A7="dwarf")
    player.click("A6").sees(A6="dwarf, picked up", B6="empty, can")
    assert asked() == 2
    player.type("leave game")


@pytest.mark.parametrize(
    ("board", "pictures", "goal"),
    [("oak", 3, "when one side is wiped out"), ("yew", 0, "when the Rock is home or surrounded")],
)
def test_rules_and_ends_are_told_during_a_battle(
    visit: Visit, board: str, pictures: int, goal: str
) -> None:
    player = visit().come_in(f"Rule{board}").practises(board)
    player.page.locator("#game-facts button").click()
    dialog = player.page.locator("dialog")
    expect(dialog.locator("figure")).to_have_count(pictures)
    expect(dialog).to_contain_text("How a battle ends")
    expect(dialog).to_contain_text(goal)
    assert violations(player, "rules") == []
    player.press("Close", within="dialog")
    expect(player.page.locator("#game-facts button")).to_be_focused()
    player.type("leave game")
