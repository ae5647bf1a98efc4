"""Phones: the header, the moves, notices, lessons and large text."""

from __future__ import annotations

from collections.abc import Iterator
from shutil import which

import pytest
from playwright.sync_api import Browser, expect

from tests.web.conftest import PROGRAMS, Player, Served, Visit, served_boards
from tests.web.test_layout import OVERLAPS, PHONES, assert_fits, phone, resign, screen, start_match
from tests.web.test_small_screens import (
    BOARD,
    ROWS,
    WHOLE,
    at_sizes,
    expect_apart,
    overlap,
    resize,
)

pytestmark = pytest.mark.slow

TALL = 360, 740
LANDSCAPE = 844, 390
LINES = "f1-f6", "g7-g6 capturing f6", "a6-b6", "g6-g5", "b6-c6", "g5-f5", "a7-b7", "f5-e5"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    boards = dict.fromkeys(("oak", "elm"), "discworld")
    with served_boards(tmp_path_factory.mktemp("phones"), boards) as server:
        yield server


NEXT_FRAME = "() => new Promise((each) => requestAnimationFrame(each))"
"""Waits until the page has been laid out."""


def play(dwarf: Player, troll: Player, *lines: str) -> None:
    """Play moves by turns, and open the chat."""
    for ply, line in enumerate(lines, 1):
        (dwarf if ply % 2 else troll).type(line)
        for each in (dwarf, troll):
            expect(each.page.locator("#moves .ply")).to_have_count(ply)
    dwarf.page.get_by_role("tab", name="Chat").click()


CUT_PLACES = """() => {
    const [hall, ...others] = document.querySelectorAll("#places .place:not(.next)");
    const from = hall.getBoundingClientRect().right;
    const to = document.querySelector("#places .next").getBoundingClientRect().left;
    return others.filter((each) => {
        const { left, right, width } = each.getBoundingClientRect();
        const seen = Math.min(right, to) - Math.max(left, from);
        return seen > 6 && seen < width - 1 && !each.matches("[aria-current]");
    }).map((each) => each.textContent);
}"""
"""Lists the places, but for the current one, that are partly seen beside the hall."""


def test_header_tells_of_turns_at_boards_out_of_view(visit: Visit) -> None:
    player = visit(**phone(320, 568)).come_in("Vielspieler")
    others = [visit().come_in(name) for name in ("Erster", "Zweiter", "Dritter")]
    for other in others:
        other.type("match Vielspieler 3 days as troll casual")
        player.press("Accept", within="#challenges, #seeks")
        expect(other.page.locator("body")).to_have_attribute("data-view", "game")
    places = player.page.locator("#places")
    expect(places.locator(".calls:not(.next)")).to_have_count(3)
    order = places.locator(".place:not(.next)").all_inner_texts()
    following = places.get_by_role("button", name="Your turn at 2 other boards")
    current = places.locator("[aria-current]")
    for size in PHONES:
        resize(player, *size)
        for shown in (following, current):
            expect(shown).to_be_in_viewport(ratio=WHOLE)
    resize(player, 640, 400)
    assert player.page.evaluate(CUT_PLACES) == []
    resize(player, *PHONES[-1])
    assert player.page.evaluate(CUT_PLACES) == []
    seen: list[str] = []
    for _ in others:
        expect(current).not_to_have_text(seen[-1] if seen else "")
        seen.append(current.inner_text())
        following.click()
    assert sorted(seen) == sorted(order[1:])
    expect(current).to_have_text(seen[0])
    player.page.reload()
    expect(places.locator(".calls:not(.next)")).to_have_count(3)
    assert places.locator(".place:not(.next)").all_inner_texts() == order
    player.type("quit")


def test_phone_has_all_steps_and_more_moves_where_there_is_room(visit: Visit) -> None:
    dwarf, troll = start_match(visit, ("Schritta", "Schritto"), "10+5", **phone(390, 844))
    play(dwarf, troll, *LINES)
    steps = dwarf.page.locator("#steps button")
    for size in (*PHONES, TALL):
        resize(dwarf, *size)
        dwarf.page.evaluate("scrollTo(0, 0)")
        expect(dwarf.page.get_by_role("button", name="First move")).to_be_visible()
        for step in steps.all():
            expect(step).to_be_in_viewport(ratio=WHOLE)
            box = step.bounding_box()
            assert box
            assert round(min(box["width"], box["height"]), 2) >= 44, size
        for part in ("#board .cells", "#game .foot", "#moves [aria-current]"):
            expect(dwarf.page.locator(part)).to_be_in_viewport(ratio=WHOLE)
    resize(dwarf, 390, 844)
    for ply in dwarf.page.locator("#moves .ply").all():
        expect(ply).to_be_in_viewport(ratio=WHOLE)
    dwarf.press("First move")
    expect(dwarf.square("F1")).to_have_attribute("aria-label", "F1, dwarf")
    resign(dwarf, troll)


SETTLED = """() => Promise.all(
    document.querySelector("#toast").getAnimations().map((each) => each.finished),
)"""
"""Waits until the toast has come to its place."""

BOTTOM_PARTS = "#strip-bottom .name", "#strip-bottom .left"


def test_hint_covers_neither_board_nor_own_strip(visit: Visit) -> None:
    player = visit(**phone(390, 844)).come_in("Hinta").practises("oak").type("f1-f6")
    player.sees(F6="dwarf").page.get_by_role("tab", name="Chat").click()
    for size in (*PHONES, TALL):
        resize(player, *size)
        player.page.evaluate("scrollTo(0, 0)")
        player.press("Hint")
        expect(player.page.locator("#toast.shown")).to_contain_text("Try ")
        for part in ("#board .cells", "#steps", "#game .foot button", *BOTTOM_PARTS):
            assert not overlap(player, "#toast", part), (size, part)
        player.page.keyboard.press("Escape")
    player.leaves()


def test_words_of_a_hint_stay_with_its_arrows(visit: Visit) -> None:
    player = visit(**phone(390, 844)).come_in("Bleiba").practises("elm").type("f1-f6")
    player.sees(F6="dwarf").page.get_by_role("tab", name="Chat").click()
    player.page.clock.install()
    player.press("Hint")
    toast = player.page.locator("#toast.shown")
    expect(toast).to_contain_text("Try ")
    player.page.clock.fast_forward(60_000)
    expect(player.page.locator("#board .notes .arrow.best")).not_to_have_count(0)
    expect(toast).to_contain_text("Try ")
    for part in ("#board .cells", "#steps", "#game .foot button"):
        assert not overlap(player, "#toast", part)
    player.page.get_by_role("button", name="Hall").click()
    expect(toast).to_have_count(0)
    player.type("go to elm", "end game", "leave game")


def test_toast_in_the_hall_is_at_the_bottom_edge(visit: Visit) -> None:
    player = visit(**phone(390, 844)).come_in("Untera")
    other = visit().come_in("Obero")
    player.type("match Obero casual")
    other.press("Decline", within="#challenges")
    for size in ((390, 844), TALL):
        resize(player, *size)
        toast = player.page.locator("#toast.shown")
        expect(toast).to_contain_text("Obero")
        player.page.evaluate(SETTLED)
        box = toast.bounding_box()
        assert box
        left, right = box["x"], size[0] - box["x"] - box["width"]
        assert left == right < 8
        assert size[1] - box["y"] - box["height"] < 8


def test_message_covers_no_clock_on_a_phone(visit: Visit) -> None:
    dwarf, troll = start_match(visit, ("Uhra", "Uhro"), "10+5", **phone(390, 844))
    play(dwarf, troll, *LINES[:2])
    for size in (*PHONES, TALL, LANDSCAPE):
        resize(dwarf, *size)
        dwarf.press("Previous move")
        dwarf.page.evaluate("scrollTo(0, 0)")
        dwarf.click("A6")
        expect(dwarf.page.locator("#toast.shown")).to_contain_text("This is an earlier position.")
        for part in ("#board .cells", "#strip-top .clock", "#strip-bottom .clock", *BOTTOM_PARTS):
            assert not overlap(dwarf, "#toast", part), (size, part)
        dwarf.press("Last move")
        expect(dwarf.page.locator("#toast.shown")).to_have_count(0)
    resign(dwarf, troll)


TOPS = """() => [...document.querySelectorAll("#steps button, #game .foot button, #board .cells")]
    .filter((each) => each.checkVisibility())
    .map((each) => each.getBoundingClientRect().top)"""


def test_offer_moves_no_button(visit: Visit) -> None:
    sizes = *PHONES, TALL, LANDSCAPE
    names = "Margaretanncatherim", "Christopheralexandem"
    dwarf, troll = start_match(visit, names, "10+5", **phone(390, 844))
    play(dwarf, troll, *LINES[:4])

    before = at_sizes(dwarf, TOPS, *sizes)
    for board in before:
        assert len(board) >= 8
    troll.press("Offer to end").press("Offer to end", within="dialog")
    accept = dwarf.page.locator("#notices").get_by_role("button", name="Accept")
    expect(accept).to_be_visible()
    after = at_sizes(dwarf, TOPS, *sizes)
    assert after[:-1] == before[:-1]
    for size in sizes:
        resize(dwarf, *size)
        dwarf.page.evaluate("scrollTo(0, 0)")
        expect(accept).to_be_in_viewport(ratio=WHOLE)
    for size in (TALL, (390, 844)):
        resize(dwarf, *size)
        for part in ("#steps", "#game .foot .danger", "#moves"):
            expect_apart(dwarf, "#notices", part)
    resign(dwarf, troll)


def test_board_keeps_its_size_in_a_lesson(visit: Visit) -> None:
    player = visit(**phone(320, 568)).come_in("Lernina")
    widths = set()
    for number in (1, 2, 6):
        player.type(f"tutorial {number}")
        expect(player.page.locator("#game-title")).to_contain_text(f"Lesson {number}:")
        widths.add(at_sizes(player, BOARD, (320, 568))[0][2])
        for label in ("Hint", "Leave"):
            button = player.page.locator("#lesson").get_by_role("button", name=label)
            expect(button).to_be_in_viewport(ratio=WHOLE)
    assert len(widths) == 1
    player.type("stop")


def test_challenge_is_sent_without_scrolling(visit: Visit) -> None:
    player = visit(**phone(320, 568)).come_in("Fordera")
    visit().come_in("Forderer")
    player.press("Challenge Forderer")
    send = player.page.locator("dialog").get_by_role("button", name="Send challenge")
    for size in (*PHONES, LANDSCAPE, (640, 400)):
        resize(player, *size)
        expect(send).to_be_in_viewport(ratio=WHOLE)
    player.press("Cancel", within="dialog")


def test_strips_name_what_they_count_on_a_zoomed_page(visit: Visit) -> None:
    dwarf, troll = start_match(visit, ("Zaehla", "Zaehlo"), "10+5", **screen(640, 400))
    for strip in ("#strip-top", "#strip-bottom"):
        expect(dwarf.page.locator(f"{strip} .left small")).to_be_visible()
        assert dwarf.page.locator(strip).evaluate(OVERLAPS) == []
    resize(dwarf, 390, 844)
    sizes = dwarf.page.locator("#strip-top :is(.left, .left small, .points)").evaluate_all(
        "(all) => [...new Set(all.map((each) => getComputedStyle(each).fontSize))]"
    )
    assert len(sizes) == 1
    resign(dwarf, troll)


def test_result_is_in_view_after_a_reload(visit: Visit) -> None:
    dwarf, troll = start_match(visit, ("Lada", "Lado"), "10+5", **phone(390, 844))
    play(dwarf, troll, *LINES[:2])
    resign(dwarf, troll)
    for size in (*PHONES, TALL):
        resize(dwarf, *size)
        dwarf.page.evaluate("scrollTo(0, document.body.scrollHeight)")
        dwarf.page.reload()
        result = dwarf.page.locator("#notices .notice")
        expect(result).to_contain_text("by resignation")
        expect(result).to_be_in_viewport(ratio=WHOLE)


def test_lesson_fits_a_phone_with_large_text(browser: Browser, served: Served) -> None:
    program = next(filter(None, map(which, PROGRAMS)))
    arguments = ["--no-sandbox", "--blink-settings=defaultFontSize=32"]
    large = browser.browser_type.launch(executable_path=program, args=arguments)
    player = Player(large.new_context(**phone(390, 844)).new_page())
    player.page.goto(served.address)
    player.come_in("Grossa").type("tutorial 1")
    expect(player.page.locator("#steps button").last).to_be_visible()
    assert_fits(player, 390)
    large.close()


def test_result_of_a_match_survives_a_reload(visit: Visit) -> None:
    dwarf, troll = start_match(visit, ("Endea", "Endeo"), "10+5", **phone(390, 844))
    resign(troll, dwarf)
    dwarf.press("Play the second battle")
    troll.press("Accept", within=".result")
    for each in (dwarf, troll):
        expect(each.page.locator("#game-facts")).to_contain_text("battle 2 of 2")
    resign(troll, dwarf)
    expect(dwarf.page.locator(".result")).to_contain_text("You win the match")
    for size in PHONES:
        resize(dwarf, *size)
        dwarf.page.reload()
        result = dwarf.page.locator("#notices .notice")
        expect(result).to_contain_text(
            "You win 32 to 0, by resignation. You win the match, 64 to 0."
        )
        expect(result.get_by_role("button", name="Rematch")).to_be_visible()
        expect(result.get_by_role("link", name="Analyse")).to_be_visible()
        expect(dwarf.page.get_by_role("button", name="Begin")).to_have_count(0)
    dwarf.page.goto(dwarf.page.url.split("/board/")[0])
    expect(dwarf.page.locator("body")).to_have_attribute("data-view", "lobby")
    assert dwarf.path == "/"
    boards = dwarf.page.locator("#boards")
    expect(boards.get_by_role("button", name="Go on")).to_have_count(0)
    expect(dwarf.page.locator("#who")).to_contain_text("Endea you")
    expect(dwarf.page.locator("#who")).not_to_contain_text("plays at")


SIDES = "(each) => each.getBoundingClientRect().toJSON()"
MIDDLE = "(each) => (([box]) => (box.top + box.bottom) / 2)(each.getClientRects())"


def test_badge_and_buttons_of_a_battle_stand_apart(visit: Visit) -> None:
    dwarf, troll = start_match(visit, ("Randa", "Rando"), "5+3", **phone(390, 844))
    strip = dwarf.page.locator("#strip-bottom")
    buttons = dwarf.page.locator("#game .foot button:visible")
    expect(strip.locator(".badge.turn")).to_be_visible()
    for size in (*PHONES, TALL):
        resize(dwarf, *size)
        boxes = {each.inner_text(): each.evaluate(SIDES) for each in buttons.all()}
        undo, chat, resigns, more = (boxes[each] for each in ("Undo", "Chat", "Resign", "More"))
        assert chat["left"] - undo["right"] >= 8
        assert more["left"] - chat["right"] >= 20
        assert resigns["left"] - more["right"] >= 20
        assert undo["top"] == more["top"]
        assert not overlap(dwarf, "#strip-bottom .badge", "#strip-bottom .points") or size[0] < 360
        if size[0] >= 360:
            badge, clock = (strip.locator(each).evaluate(MIDDLE) for each in (".badge", ".clock"))
            assert abs(badge - clock) < 1
    resign(dwarf, troll)


def test_replay_has_all_steps_on_the_narrowest_phone(visit: Visit) -> None:
    dwarf, troll = start_match(visit, ("Erstea", "Ersteo"), "10+5")
    play(dwarf, troll, *LINES[:2])
    resign(dwarf, troll)
    link = dwarf.page.get_by_role("link", name="Analyse").get_attribute("href")
    player = visit(str(link), **phone(320, 568)).sees(G6="troll")
    steps = player.page.locator("#replay-steps button")
    expect(steps).to_have_count(7)
    for step in steps.all():
        expect(step).to_be_in_viewport(ratio=WHOLE)
    assert steps.evaluate_all(ROWS) == 1
    assert_fits(player, 320)
    player.press("First move").sees(F1="dwarf")


@pytest.mark.parametrize("size", PHONES)
def test_start_page_has_room_below_its_pictures(visit: Visit, size: tuple[int, int]) -> None:
    player = visit(**phone(*size))
    picture = player.page.locator("#rules figure").last.evaluate(SIDES)
    assert player.page.locator("#teach").evaluate(SIDES)["top"] - picture["bottom"] >= 8


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_page_not_found_has_the_chosen_theme(visit: Visit, theme: str) -> None:
    player = visit(**phone(390, 844))
    player.page.evaluate(
        "(theme) => localStorage.setItem('thud.settings', JSON.stringify({ theme }))", theme
    )
    player.page.emulate_media(color_scheme="light" if theme == "dark" else "dark")
    player.page.goto(player.page.url + "nowhere")
    expect(player.page.get_by_role("heading", name="Page not found")).to_be_visible()
    expect(player.page.locator("html")).to_have_css("color-scheme", theme)
    player.errors.clear()  # of the missing page


def test_turned_page_is_not_zoomed(visit: Visit) -> None:
    page = visit(**phone(360, 740)).page
    page.evaluate("document.body.style.minWidth = '391px'")  # as for a moment while it is turned
    page.evaluate(NEXT_FRAME)
    page.set_viewport_size({"width": 844, "height": 390})
    page.evaluate(NEXT_FRAME)
    assert page.evaluate("visualViewport.scale") == 1
