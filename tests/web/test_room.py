"""Room on each size of screen: what has to be seen together is, and nothing covers anything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.ports import free_ports
from tests.web.conftest import Player, Served, Visit
from tests.web.test_hall import BOT, ServedBots
from tests.web.test_layout import PHONES, SHUFFLE, phone, resign, screen, start_match
from tests.web.test_small_screens import SEEN_WHOLE, WHOLE, expect_apart, overlap, resize

pytestmark = pytest.mark.slow

SIZES = (*PHONES, (640, 400), (844, 390), (768, 1024), (1366, 650), (1280, 800), (1920, 1080))


BOARDS = dict.fromkeys(("oak", "elm", "ash", "fir", "pine", "larch", "yew", "holly"), "classic")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Run a server with a bot and eight boards."""
    folder = tmp_path_factory.mktemp("room")
    with free_ports() as free_port, ServedBots(folder, free_port(), BOARDS, BOT) as server:
        yield server


@pytest.fixture
def quiet(tmp_path: Path) -> Iterator[Served]:
    """Run another one, on which nobody plays."""
    with free_ports() as free_port, ServedBots(tmp_path, free_port(), BOARDS, BOT) as server:
        yield server


def shuffle(dwarf: Player, troll: Player, plies: int) -> None:
    """Play moves that lead nowhere."""
    for ply in range(plies):
        (troll if ply % 2 else dwarf).type(SHUFFLE[ply % 4])
        for each in (dwarf, troll):
            expect(each.page.locator("#moves .ply")).to_have_count(ply + 1)


SCROLLS = "(each) => each.scrollHeight > each.clientHeight + 1"
"""Whether an element has more than what is seen."""


def test_six_rows_of_moves_beside_a_result_and_an_analysis(visit: Visit) -> None:
    dwarf, troll = start_match(visit, ("Seda", "Sedo"), "10+5", **screen(1280, 800))
    shuffle(dwarf, troll, 12)
    resign(troll, dwarf)
    dwarf.page.get_by_role("tab", name="Chat").click()
    expect(dwarf.page.locator(".result")).to_be_visible()
    assert dwarf.page.evaluate(SEEN_WHOLE, ["#moves", "#moves li"]) >= 6
    assert not dwarf.page.locator("#game .panel").evaluate(SCROLLS)
    for name in ("Play the second battle", "Leave the seat", "Share"):
        button = dwarf.page.get_by_role("button", name=name, exact=True)
        expect(button).to_be_in_viewport(ratio=WHOLE)
    dwarf.page.get_by_role("link", name="Analyse").click()
    dwarf.press("Computer analysis")
    expect(dwarf.page.locator("#replay-curve svg")).to_be_visible()
    assert dwarf.page.evaluate(SEEN_WHOLE, ["#replay-moves", "#replay-moves li"]) >= 6
    assert not dwarf.page.locator("#replay .panel").evaluate(SCROLLS)


COVERED_WORDS = """() => {
    const range = document.createRange();
    range.selectNodeContents(document.querySelector("#lesson .words"));
    return [...range.getClientRects()].filter(({ left, right, top, bottom }) => {
        const seen = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
        return !seen?.closest(".words");
    }).length;
}"""
"""Returns how many pieces of what a lesson says are out of the screen, or below something else."""


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_lesson_board_and_buttons_are_seen_together(visit: Visit, width: int, height: int) -> None:
    letter = chr(ord("a") + SIZES.index((width, height)))
    how = phone(width, height) if (width, height) in PHONES else screen(width, height)
    player = visit(**how).come_in(f"Lerna{letter}").press("Learn the rules")
    expect(player.page.locator("#lesson .task")).to_be_visible()
    player.page.evaluate("scrollTo(0, 0)")
    for part in ("#board .cells", "#lesson .words"):
        expect(player.page.locator(part)).to_be_in_viewport(ratio=WHOLE)
    for name in ("Hint", "Leave"):
        button = player.page.locator("#lesson").get_by_role("button", name=name, exact=True)
        expect(button).to_be_in_viewport(ratio=WHOLE)
    assert player.page.evaluate(COVERED_WORDS) == 0
    assert not overlap(player, "#lesson .words", "#lesson .row")


def test_buttons_of_a_battle_have_one_row_on_phones(visit: Visit) -> None:
    dwarf, troll = visit(**phone(320, 568)).come_in("Rowa"), visit().come_in("Rowo")
    dwarf.type("match rowo as dwarf casual")  # without a clock there are hints, too
    troll.page.locator("#seeks").get_by_role("button", name="Accept").click()
    expect(dwarf.page.get_by_role("button", name="Hint", exact=True)).to_be_visible()
    shuffle(dwarf, troll, 2)
    dwarf.page.get_by_role("tab", name="Chat").click()
    tops = "(all) => new Set(all.map((each) => each.offsetTop)).size"
    buttons = dwarf.page.locator("#game .foot button:visible")
    for size in PHONES:
        resize(dwarf, *size)
        dwarf.page.evaluate("scrollTo(0, 0)")
        assert buttons.evaluate_all(tops) == 1, size
        for each in buttons.all():
            expect(each).to_be_in_viewport(ratio=WHOLE)
    more = dwarf.page.get_by_role("button", name="More", exact=True)
    more.focus()
    dwarf.page.keyboard.press("Enter")
    expect(more).to_have_attribute("aria-expanded", "true")
    dwarf.page.keyboard.press("ArrowDown")
    expect(dwarf.page.get_by_role("button", name="Offer to end", exact=True)).to_be_focused()
    for name in ("Offer to end", "Adjourn", "Copy the link", "Picture"):
        entry = dwarf.page.get_by_role("button", name=name, exact=True)
        expect(entry).to_be_in_viewport(ratio=WHOLE)
    dwarf.page.keyboard.press("Escape")
    expect(more).to_be_focused()
    dwarf.press("More").press("Adjourn").press("Adjourn", within="dialog")
    expect(troll.page.locator("#notices")).to_contain_text("adjourn")
    resize(dwarf, 1280, 800)
    expect(dwarf.page.get_by_role("button", name="Adjourn", exact=True)).to_be_visible()
    expect(dwarf.page.get_by_role("button", name="Share", exact=True)).to_be_visible()
    resign(dwarf, troll)


def test_offer_leaves_room_for_moves_and_has_its_button_below(visit: Visit) -> None:
    dwarf, troll = start_match(visit, ("Offa", "Offo"), "10+5", **screen(1366, 650))
    for name in ("Flip the board", "Resign"):
        button = dwarf.page.get_by_role("button", name=name, exact=True)
        expect(button).to_be_in_viewport(ratio=WHOLE)
    assert not overlap(dwarf, "#steps", "#goal")
    assert not overlap(dwarf, "#steps", "#actions button:first-child")
    shuffle(dwarf, troll, 6)
    troll.type("end game")
    expect(dwarf.page.locator("#notices")).to_contain_text("Offo offers to end the battle")
    dwarf.page.get_by_role("tab", name="Chat").click()
    assert dwarf.page.evaluate(SEEN_WHOLE, ["#moves", "#moves li"]) >= 1
    expect(dwarf.page.locator("#steps")).to_be_in_viewport(ratio=WHOLE)
    again = dwarf.page.get_by_role("button", name="Offer to end", exact=True)
    expect(again).to_be_disabled()
    expect(again).to_have_attribute("title", "It\u2019s offered already.")
    resize(troll, 360, 640)
    words = troll.page.locator("#notices p")
    assert words.evaluate("(each) => each.offsetWidth") > 300
    assert not overlap(troll, "#notices p", "#notices button")
    resize(troll, 390, 844)
    moves = troll.page.locator("#moves")
    expect(moves.get_by_text("A6")).not_to_have_count(0)
    assert troll.page.evaluate(SEEN_WHOLE, ["#moves", "#moves .ply"]) >= 2
    dwarf.press("Decline", within="#notices")
    expect(again).to_be_enabled()
    resign(dwarf, troll)


def test_rules_on_the_welcome_page_are_whole_on_a_low_screen(visit: Visit) -> None:
    stranger = visit(**screen(1366, 650))
    for caption in stranger.page.locator("#rules figcaption").all():
        expect(caption).to_be_in_viewport(ratio=WHOLE)


def test_unread_lines_leave_the_buttons_in_one_row(visit: Visit) -> None:
    dwarf, troll = visit(**phone(320, 568)).come_in("Rolla"), visit().come_in("Rollo")
    dwarf.type("match rollo as dwarf casual")
    troll.page.locator("#seeks").get_by_role("button", name="Accept").click()
    expect(dwarf.page.get_by_role("button", name="Hint", exact=True)).to_be_visible()
    troll.type("say Good luck", "say Have fun")
    expect(dwarf.page.locator("#to-chat")).to_have_attribute("data-unread", "2")
    tops = "(all) => new Set(all.map((each) => each.offsetTop)).size"
    assert dwarf.page.locator("#game .foot button:visible").evaluate_all(tops) == 1
    resign(dwarf, troll)


def test_unread_lines_are_counted_after_a_reload(visit: Visit) -> None:
    dwarf, troll = start_match(visit, ("Rella", "Rello"), "10+5", **phone(390, 844))
    unread = dwarf.page.locator("#to-chat")
    troll.type("say Good luck")
    expect(unread).to_have_attribute("data-unread", "1")
    unread.click()
    expect(unread).to_have_attribute("data-unread", "")
    dwarf.page.locator("#close-talk").click()
    troll.type("say Have fun", "say Are you there?")
    expect(unread).to_have_attribute("data-unread", "2")
    dwarf.page.reload()
    expect(unread).to_have_attribute("data-unread", "2")
    expect(dwarf.page.locator("#toast")).not_to_contain_text("Have fun")
    unread.click()
    expect(unread).to_have_attribute("data-unread", "")
    dwarf.page.reload()
    expect(dwarf.page.locator("#chat")).to_contain_text("Are you there?")
    expect(unread).to_have_attribute("data-unread", "")
    resign(dwarf, troll)


def test_challenge_outlasts_a_reload_and_waits_for_the_clock(visit: Visit) -> None:
    dwarf, troll = start_match(visit, ("Chala", "Chalo"), "10+5", **screen(1280, 800))
    shuffle(dwarf, troll, 2)
    visit().come_in("Challa").type("match chala as dwarf casual")
    notice = dwarf.page.locator("#challenges .notice")
    expect(notice).to_contain_text("You can accept after this battle")
    expect(notice.get_by_role("button")).to_have_text(["Decline"])
    dwarf.page.reload()
    expect(notice).to_contain_text("Challa challenges you to a match")
    resign(troll, dwarf)
    expect(notice.get_by_role("button")).to_have_text(["Accept", "Decline"])


def test_player_is_told_that_the_clock_waits_for_a_lost_opponent(visit: Visit) -> None:
    dwarf, troll = start_match(visit, ("Losta", "Losto"), "10+5", **screen(1280, 800))
    shuffle(dwarf, troll, 2)
    troll.page.goto("about:blank")
    notices = dwarf.page.locator("#notices")
    told = r"Losto is away: the clock is stopped for at most \d+ seconds"
    expect(notices).to_contain_text(re.compile(told))
    troll.page.go_back()
    expect(notices).to_be_empty()
    resign(dwarf, troll)


def test_settings_open_at_their_beginning(visit: Visit) -> None:
    player = visit(**phone(390, 700)).come_in("Settina").press("Settings")
    dialog = player.page.locator("dialog")
    dialog.evaluate("(each) => { each.scrollTop = 1000; }")
    assert dialog.evaluate("(each) => each.scrollTop") > 0
    player.press("Close").press("Settings")
    assert dialog.evaluate("(each) => each.scrollTop") == 0
    tops = "(all) => new Set(all.map((each) => each.offsetTop)).size"
    assert dialog.locator(".account button").evaluate_all(tops) == 1


def test_place_of_a_replay_is_in_view_on_a_zoomed_page(visit: Visit) -> None:
    dwarf, troll = start_match(visit, ("Placa", "Placo"), "10+5", **screen(640, 400))
    shuffle(dwarf, troll, 1)
    resign(troll, dwarf)
    dwarf.page.get_by_role("link", name="Analyse").click()
    current = dwarf.page.locator("#places [aria-current]")
    expect(current).to_contain_text("Battle")
    expect(current).to_be_in_viewport(ratio=0.8)


def test_result_on_a_zoomed_page_covers_no_players_and_no_menu(visit: Visit) -> None:
    dwarf, troll = start_match(visit, ("Zara", "Zaro"), "10+5", **screen(1280, 800))
    shuffle(dwarf, troll, 2)
    resign(troll, dwarf)
    dwarf.page.get_by_role("tab", name="Chat").click()
    for size in ((640, 400), (844, 390)):
        resize(dwarf, *size)
        dwarf.page.evaluate("scrollTo(0, 0)")
        card = dwarf.page.locator(".result")
        expect(card).to_be_in_viewport(ratio=WHOLE)
        assert not card.evaluate(SCROLLS)
        for part in ("header", "#strip-top", "#strip-bottom", "#board .cells", "#moves", "#steps"):
            expect_apart(dwarf, ".result", part)
        dwarf.press("Share")
        assert not overlap(dwarf, ".result", "#share-menu")
        dwarf.page.keyboard.press("Escape")
        expect(dwarf.page.locator("#share-menu")).to_be_hidden()
        dwarf.page.locator("#game .panel").evaluate("(panel) => { panel.scrollTop = 0; }")
    expect(card).to_be_visible()


CUT = "(each) => each.scrollWidth > each.clientWidth"


def test_names_of_places_are_readable_on_small_screens(visit: Visit) -> None:
    dwarf, troll = start_match(visit, ("Teda", "Tedo"), "10+5", **screen(1280, 800))
    current = dwarf.page.locator("#places [aria-current]")
    for size in ((320, 568), (640, 400)):
        resize(dwarf, *size)
        assert not current.evaluate(CUT), size
        expect(current).to_be_in_viewport(ratio=WHOLE)
    resign(dwarf, troll)
    dwarf.type("tutorial 1")
    expect(current).to_contain_text("Lesson 1")
    for size in ((320, 568), (640, 400)):
        resize(dwarf, *size)
        for place in dwarf.page.locator("#places .place").all():
            assert not place.evaluate(CUT), size


LINES = """(each) => {
    const { lineHeight, paddingTop, paddingBottom } = getComputedStyle(each);
    const padding = parseFloat(paddingTop) + parseFloat(paddingBottom);
    return (each.clientHeight - padding) / parseFloat(lineHeight);
}"""


def test_message_has_two_lines_on_a_zoomed_page(visit: Visit) -> None:
    player = visit(**screen(640, 400)).come_in("Messa").practises("oak")
    player.page.get_by_role("tab", name="Chat").click()
    player.page.locator("#line").fill("/move from a6 to o15 capturing b7, c8, d9, e10, f11")
    player.page.locator("#line").press("Enter")
    toast = player.page.locator("#toast.shown")
    expect(toast).not_to_be_empty()
    player.page.evaluate("scrollTo(0, 0)")
    assert toast.evaluate(LINES) < 2.1
    assert not overlap(player, "#toast", "#board .cells")
    player.page.keyboard.press("Escape")
    player.press("Flip the board", within="#steps").press("Flip the board", within="#steps")
    player.type("a6-b6")
    player.sees(B6="dwarf").page.get_by_role("tab", name="Chat").click()
    player.page.evaluate("scrollTo(0, 0)")
    player.press("Previous move", within="#steps").click("A6")
    expect(toast).to_have_text(re.compile("^This is an earlier position[.]"))
    assert toast.evaluate(LINES) < 2.1


def test_settings_fade_out_where_they_go_on(visit: Visit) -> None:
    player = visit(**phone(320, 568)).come_in("Setta").press("Settings")
    dialog = player.page.locator("dialog")
    assert dialog.evaluate(SCROLLS)
    row = dialog.locator("form.row")
    fade = "(each) => getComputedStyle(each, '::before').backgroundImage"
    assert "gradient" in row.evaluate(fade)
    faded = row.evaluate(fade)
    player.page.set_viewport_size({"width": 1366, "height": 1000})
    assert row.evaluate(fade) != faded, "a shadow shows that it goes on"
    player.page.set_viewport_size({"width": 320, "height": 568})
    schemes = dialog.locator(".scheme .choices label")
    assert len({each.evaluate("(each) => each.offsetTop") for each in schemes.all()}) == 1
    gap = """(dialog) => {
        dialog.scrollTop = dialog.scrollHeight;
        const [last, row] = [...dialog.children].filter((each) => each.checkVisibility()).slice(-2);
        const { height } = getComputedStyle(row, "::before");
        const [end, top] = [last.getBoundingClientRect().bottom, row.getBoundingClientRect().top];
        return top - end - parseFloat(height);
    }"""
    assert dialog.evaluate(gap) > -8, "the last of them can be read"


@pytest.mark.parametrize(("width", "height"), PHONES)
def test_hall_shows_learning_and_bots_first_on_phones(
    visit: Visit, width: int, height: int
) -> None:
    letter = chr(ord("a") + PHONES.index((width, height)))
    player = visit(**phone(width, height)).come_in(f"Halla{letter}")
    for name in ("Play", "Learn the rules", "Solve a puzzle"):
        button = player.page.get_by_role("button", name=name, exact=True)
        expect(button).to_be_in_viewport(ratio=WHOLE)
    opponent = player.page.get_by_role("combobox", name="Opponent")
    expect(opponent).to_be_in_viewport(ratio=WHOLE)
    assert opponent.evaluate("(each) => each.getBoundingClientRect().right") < width - 12


BELOW_TITLE = """({ offsetTop, previousElementSibling: title }) =>
    offsetTop >= title.offsetTop + title.offsetHeight"""

SOME_STANDINGS = '<p class="hint">Classic</p><ol class="standings"><li>Anna</li></ol>'


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1920, 1080)])
def test_quiet_hall_is_seen_whole_on_a_computer(
    quiet: Served, visit: Visit, width: int, height: int
) -> None:
    player = visit(server=quiet, **screen(width, height)).come_in("Ruha" + "ab"[width == 1280])
    expect(player.page.get_by_text("Looking for an opponent")).to_be_hidden()
    for part in ("#tournaments", "#standings"):
        empty = player.page.locator(f".card:has(> {part})")
        expect(empty).to_contain_text("yet")
        expect(empty).to_be_in_viewport(ratio=WHOLE)
        assert empty.evaluate("(each) => each.offsetHeight") < 55, "one quiet line"
    standings = player.page.locator("#standings")
    standings.evaluate(f"(each) => {{ each.innerHTML = `{SOME_STANDINGS}`; }}")
    assert standings.evaluate(BELOW_TITLE)
    expect(player.page.get_by_text("more free boards")).to_be_in_viewport(ratio=WHOLE)
    player.page.get_by_text("more free boards").click()
    expect(player.page.get_by_role("button", name="Open holly board")).to_be_visible()
