"""What a small screen shows at a glance, and what may cover it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Player, Served, Visit, served_boards
from tests.web.test_layout import PHONES, phone, resign, screen, start_match

pytestmark = pytest.mark.slow

WOODS = "beech", "holly", "maple", "alder", "rowan", "elder", "cedar"
OTHERS = "aspen", "osier", "hazel", "birch", "linden", "spruce", "willow", "poplar", "fig"
MORE = "plum", "gum", "ivy", "may"
SIZES = (320, 568), (360, 640), (390, 844), (640, 400), (844, 390), (1280, 800)

WHOLE = 0.999
"""All of an element is in view, but for rounding."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    boards = dict.fromkeys(
        ("oak", "elm", "ash", "fir", "yew", "larch", "pine", *WOODS, *OTHERS, *MORE), "discworld"
    )
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


APART = f"(selectors) => !({OVERLAP})(selectors)"


def expect_apart(player: Player, one: str, other: str) -> None:
    """Wait until one element doesn't overlap another."""
    player.page.wait_for_function(APART, arg=[one, other])


def resize(player: Player, width: int, height: int) -> None:
    """Change the size of the player's screen, and wait until the page has it."""
    player.page.set_viewport_size({"width": width, "height": height})
    player.page.evaluate("() => new Promise((each) => requestAnimationFrame(each))")


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
    sizes = [*PHONES, (768, 1024)] if letter == "a" else []
    board = "fir" if letter == "a" else "yew"
    dwarf, troll = begin(visit, board, (f"Chara{letter}", f"Chaz{letter}"), **how)
    dwarf.page.evaluate("scrollTo(0, 100)")
    dwarf.page.locator("#to-chat").tap()
    line = dwarf.page.get_by_role("textbox", name="Say something, or /help")
    expect(line).to_be_focused()
    expect(line).to_be_in_viewport(ratio=WHOLE)
    assert dwarf.page.evaluate("scrollY") == 0
    assert not overlap(dwarf, "#talk", "#board .cells")
    for size in sizes:
        resize(dwarf, *size)
        for part in ("#board .cells", "#strip-top", "#strip-bottom", "#line"):
            expect(dwarf.page.locator(part)).to_be_in_viewport(ratio=WHOLE)
        expect_apart(dwarf, "#talk", "#strip-bottom .name")
    if letter == "b":
        for part in ("#strip-top", "#strip-bottom"):
            expect_apart(dwarf, "#talk", part)
            expect(dwarf.page.locator(part)).to_be_in_viewport(ratio=WHOLE)
        resize(dwarf, 844, 200)  # as above a keyboard
        expect(line).to_be_in_viewport(ratio=WHOLE)
        resize(dwarf, 844, 390)
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
    assert not overlap(player, "#toast", "header")
    if letter == "a":
        toast.tap()
    else:
        player.page.keyboard.press("Escape")
    expect(toast).to_have_count(0)
    player.leaves()


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
    troll.press("Resign").press("Resign", within="dialog").press("Play the second battle")
    card = dwarf.page.locator(".result")
    expect(card).to_contain_text("Karl offers to begin the second battle.")
    for name in ("Accept", "Decline"):
        expect(card.get_by_role("button", name=name, exact=True)).to_be_in_viewport(ratio=WHOLE)
    expect(dwarf.page.get_by_role("button", name="Play the second battle")).to_have_count(0)
    dwarf.press("Accept").sees(G7="troll")
    expect(dwarf.page.locator("#game-facts")).to_contain_text("battle 2 of 2")


PARTLY_SEEN = """() => {
    const { top, bottom, left, right } = document.querySelector("#moves").getBoundingClientRect();
    return [...document.querySelectorAll("#moves .ply")].filter((each) => {
        const box = each.getBoundingClientRect();
        const isIn = (box.left + box.right) / 2 > left && (box.left + box.right) / 2 < right;
        const seen = Math.min(bottom, box.bottom) - Math.max(top, box.top);
        const width = Math.min(right, box.right) - Math.max(left, box.left);
        const isWhole = seen > box.height - 1 && width > box.width - 1;
        return seen > 1 && width > 1 && !(isIn && isWhole);
    }).length;
}"""
"""Returns how many moves are cut by the edges of their list."""


def test_strip_of_moves_cuts_no_move(visit: Visit) -> None:
    dwarf, troll = start_match(visit, ("Stripa", "Stripo"), "10+5", **phone(390, 844))
    lines = "f1-f6", "g7-g6 capturing f6", "a6-b6", "g6-g5", "b6-c6", "g5-f5"
    for ply, line in enumerate(lines):
        (troll if ply % 2 else dwarf).type(line)
        for each in (dwarf, troll):
            expect(each.page.locator("#moves .ply")).to_have_count(ply + 1)
    for size in (*PHONES, (844, 390), (640, 400)):
        resize(dwarf, *size)
        dwarf.page.evaluate("scrollTo(0, 0)")
        for _ in range(3):
            expect(dwarf.page.locator("#moves [aria-current]")).to_be_in_viewport(ratio=0.95)
            assert dwarf.page.evaluate(PARTLY_SEEN) == 0
            dwarf.press("Previous move", within="#steps")
        dwarf.press("Last move", within="#steps")
    resign(dwarf, troll)


def test_result_card_covers_neither_board_nor_players(visit: Visit) -> None:
    dwarf, troll = begin(visit, "holly", ("Resulta", "Resulto"), **phone(390, 844))
    for each in (dwarf, troll):
        each.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    troll.press("Resign").press("Resign", within="dialog").press("Play the second battle")
    expect(dwarf.page.locator(".result")).to_contain_text("offers to begin")
    for size in (*PHONES, (844, 390), (768, 1024), (640, 400), (1280, 800), (1280, 720)):
        resize(dwarf, *size)
        expect_apart(dwarf, ".result", "#board .cells")
        for part in (".result", "#board .cells"):
            expect(dwarf.page.locator(part)).to_be_in_viewport(ratio=WHOLE)
        if size[1] > size[0]:
            expect_apart(dwarf, ".result", "#strip-bottom .name")
    assert dwarf.page.evaluate("scrollY") == 0


BOARD = """() => {
    const { left, top, width } = document.querySelector("#board .cells").getBoundingClientRect();
    return [left, top, width];
}"""
"""Returns where the board is, and how wide."""


def at_sizes(player: Player, script: str, *sizes: tuple[int, int]) -> list[Any]:
    """Return what a script finds on screens of some sizes, scrolled to the top."""
    found = []
    for size in sizes:
        resize(player, *size)
        player.page.evaluate("scrollTo(0, 0)")
        found.append(player.page.evaluate(script))
    return found


def test_notices_leave_board_and_buttons_where_they_can_be_used(visit: Visit) -> None:
    sizes = *PHONES, (640, 400), (844, 390)
    dwarf, troll = start_match(visit, ("Raumila", "Raumilo"), "10+5", **screen(390, 844))
    dwarf.type("a10-b10")
    expect(dwarf.page.locator("#moves .ply")).to_have_count(1)
    before = at_sizes(dwarf, BOARD, *sizes)
    visit().come_in("Herausforderin").type("match raumila 10+5 casual")
    expect(dwarf.page.locator("#challenges .notice")).to_be_visible()
    assert at_sizes(dwarf, BOARD, *sizes) == before
    for size in sizes:
        resize(dwarf, *size)
        for part in ("#moves", "#steps", "#game .foot", "#strip-bottom"):
            expect_apart(dwarf, "#challenges", part)
        expect(dwarf.page.locator("#challenges .notice")).to_be_in_viewport(ratio=WHOLE)
    dwarf.press("Decline", within="#challenges")
    troll.press("Offer to end").press("Offer to end", within="dialog")
    accept = dwarf.page.locator("#notices").get_by_role("button", name="Accept")
    expect(accept).to_be_visible()
    assert at_sizes(dwarf, BOARD, *sizes) == before
    for size in sizes:
        resize(dwarf, *size)
        expect(accept).to_be_in_viewport(ratio=WHOLE)
        if size[1] < size[0]:
            foot = dwarf.page.locator("#game .foot button:visible")
            seen = dwarf.page.evaluate(SEEN_WHOLE, ["#game .panel", "#game .foot button"])
            assert seen == foot.count()
    resign(troll, dwarf)
    expect(dwarf.page.locator(".result")).to_be_visible()
    assert at_sizes(dwarf, BOARD, *PHONES) == before[: len(PHONES)]


def test_result_card_moves_no_buttons_on_a_wide_screen(visit: Visit) -> None:
    names = "Margaretanncathering", "Christopheralexander"
    dwarf, troll = begin(visit, "maple", names, **screen(1280, 800))
    resign(dwarf, troll)
    top = "(each) => document.querySelector(each).getBoundingClientRect().top"
    bottom = "(each) => document.querySelector(each).getBoundingClientRect().bottom"
    parts = "#steps", "#game .foot"
    with_card = [dwarf.page.evaluate(top, each) for each in parts]
    for above, below in pairwise(parts):
        assert dwarf.page.evaluate(bottom, above) <= dwarf.page.evaluate(top, below)
    dwarf.page.keyboard.press("Escape")
    expect(dwarf.page.locator(".result")).to_be_hidden()
    assert [dwarf.page.evaluate(top, each) for each in parts] == with_card


def test_challenge_covers_neither_clocks_nor_board(visit: Visit) -> None:
    names = "Margaretanncatherinh", "Christopheralexandes"
    dwarf, troll = start_match(visit, names, "10+5", **phone(390, 844))
    other = visit().come_in("Herausforderer")
    for each in names:
        other.type(f"match {each} 10+5 casual")
    for player, sizes in (
        (dwarf, (*PHONES, (844, 390))),
        (troll, ((640, 400), (768, 1024), (1280, 800), (1920, 1080))),
    ):
        expect(player.page.locator("#challenges .notice")).to_be_visible()
        for size in sizes:
            resize(player, *size)
            for part in ("#board .cells", "#strip-top", "#strip-bottom .clock", "header"):
                expect_apart(player, "#challenges .notice", part)
            expect(player.page.locator("#challenges .notice")).to_be_in_viewport(ratio=WHOLE)
            if size[0] >= 1280:
                for part in ("#game .title", "#game-facts", "#steps", "#moves", "#game .foot"):
                    expect_apart(player, "#challenges .notice", part)
        assert player.page.locator("#toast.shown").count() == 0
    other.type("quit")
    resign(dwarf, troll)


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1920, 1080)])
def test_challenge_covers_nothing_in_the_hall(visit: Visit, width: int, height: int) -> None:
    letter = {1280: "a", 1920: "b"}[width]
    asked = visit(**screen(width, height)).come_in(f"Hanno{letter}")
    other = visit().come_in(f"Hetty{letter}").type(f"match hanno{letter} 10+5 casual")
    expect(asked.page.locator("#challenges .notice")).to_be_visible()
    for part in ("header", "#talk", "#lobby"):
        expect_apart(asked, "#challenges .notice", part)
    other.type("quit")


PLACEHOLDER_FITS = """() => {
    const line = document.querySelector("#line");
    const { paddingLeft, paddingRight } = getComputedStyle(line);
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = getComputedStyle(line, "::placeholder").font;
    const room = line.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    return pen.measureText(line.placeholder).width <= room;
}"""
"""Whether all of what is said in the empty field for the chat can be read."""


def test_placeholder_of_the_chat_fits_for_watchers(visit: Visit) -> None:
    dwarf, troll = begin(visit, "alder", ("Platza", "Platzo"))
    watcher = visit(**screen(1280, 800)).come_in("Plato")
    watcher.type("observe alder board")
    watcher.sees(G6="troll").page.get_by_role("tab", name="Chat").click()
    expect(watcher.page.locator("#how")).to_be_visible()
    assert watcher.page.evaluate(PLACEHOLDER_FITS)
    for width, height in (*PHONES, (640, 400), (1920, 1080)):
        resize(watcher, width, height)
        if width <= 640:
            watcher.page.locator("#to-chat").click()
        assert watcher.page.evaluate(PLACEHOLDER_FITS), width
        if width <= 640:
            watcher.press("Close", within="#talk")
    resign(dwarf, troll)


def test_people_in_the_hall_have_single_line_height(visit: Visit) -> None:
    visit().come_in("Margaretanncatherini")
    player = visit(**phone(390, 844)).come_in("Lineus")
    entry = player.page.locator("#who li").filter(has_text="Margaretanncatherini")
    assert entry.locator(".what").evaluate("(each) => each.offsetHeight") < 52
    assert entry.locator("a").evaluate("(each) => each.getBoundingClientRect().height") >= 43


def test_steps_of_a_lesson_are_in_view_on_a_wide_screen(visit: Visit) -> None:
    player = visit(**screen(1280, 800)).come_in("Lektor")
    for number in range(1, 8):
        player.type(f"tutorial {number}")
        expect(player.page.locator("#game-title")).to_contain_text(f"Lesson {number}:")
        expect(player.page.locator("#steps")).to_be_in_viewport(ratio=WHOLE)
    resize(player, 640, 400)
    leave = player.page.locator("#lesson").get_by_role("button", name="Leave")
    expect(leave).to_be_in_viewport(ratio=WHOLE)
    player.type("stop")


@pytest.mark.parametrize("how", [phone(390, 844), screen(1280, 800)], ids=["phone", "screen"])
def test_choice_of_captures_cuts_no_buttons(visit: Visit, how: dict[str, Any]) -> None:
    letter, board = ("a", "rowan") if how["viewport"]["width"] == 390 else ("b", "cedar")
    player = visit(**how).come_in(f"Wahla{letter}").practises(board)
    player.click("F1", "F6").sees(F6="dwarf").click("G7", "G6")
    confirm = player.page.get_by_role("button", name="Capture F6")
    expect(confirm).to_be_enabled()
    covers = """() => {
        const [over, below] = ["#choice", "#steps"].map(
            (each) => document.querySelector(each).getBoundingClientRect(),
        );
        return over.top <= below.top && over.bottom >= below.bottom;
    }"""
    if letter == "a":
        assert player.page.evaluate(covers)
    else:
        assert not overlap(player, "#choice", "#steps")
    for size in (*PHONES, (844, 390)) if letter == "a" else ((640, 400), (768, 1024)):
        resize(player, *size)
        player.page.evaluate("scrollTo(0, 0)")
        for button in (confirm, player.page.locator("#choice").get_by_text("Cancel")):
            expect(button).to_be_in_viewport(ratio=WHOLE)
    player.press("Cancel", within="#choice").leaves()


@pytest.mark.parametrize("time", ["10+5", ""])
def test_choice_of_captures_offers_all_first_with_a_clock(visit: Visit, time: str) -> None:
    letter = "a" if time else "b"
    dwarf, troll = (
        visit().come_in(f"Uhra{letter}"),
        visit(**phone(390, 844)).come_in(f"Uhro{letter}"),
    )
    dwarf.type(f"match uhro{letter} discworld {time} as dwarf casual")
    troll.press("Accept", within="#challenges")
    dwarf.sees(A6="dwarf").type("f1-f6")
    troll.sees(F6="dwarf").drag("G7", "G6")
    buttons = troll.page.locator("#choice button")
    order = ["Capture F6", "Cancel", "Always all"]
    expect(buttons).to_have_text(order[2:] + order[:2] if time else order)
    troll.press("Always all").sees(F6="empty, last move")
    dwarf.sees(G6="troll").type("g1-g5")
    troll.sees(G5="dwarf").drag("G6", "H6")
    troll.sees(H6="troll, last move", G5="empty, last move")  # without a second tap
    resign(dwarf, troll)


def choose_captures(visit: Visit, board: str, names: tuple[str, str]) -> tuple[Player, Player]:
    """Return two players; the second plays the trolls on a phone, and may capture F6."""
    dwarf, troll = visit().come_in(names[0]), visit(**phone(390, 844)).come_in(names[1])
    dwarf.type(f"join game as dwarf on {board} board")
    troll.type(f"join game as troll on {board} board", "start")
    dwarf.sees(A6="dwarf").type("f1-f6")
    troll.sees(F6="dwarf").click("G7", "G6")
    expect(troll.page.get_by_role("button", name="Capture F6")).to_be_enabled()
    return dwarf, troll


def test_choice_of_captures_leaves_an_offer_readable(visit: Visit) -> None:
    dwarf, troll = choose_captures(visit, "beech", ("Offela", "Offelo"))
    confirm = troll.page.get_by_role("button", name="Capture F6")
    dwarf.press("Offer to end").press("Offer to end", within="dialog")
    notice = troll.page.locator("#notices")
    words, accept = notice.get_by_text("Offela"), notice.get_by_role("button", name="Accept")
    for size in (*PHONES, (640, 400), (844, 390), (768, 1024), (1280, 800)):
        resize(troll, *size)
        troll.page.evaluate("scrollTo(0, 0)")
        for shown in (confirm, words, accept):
            shown.scroll_into_view_if_needed()
            expect(shown).to_be_in_viewport(ratio=WHOLE)
            shown.click(trial=True)  # waits until nothing else would be hit there
    resign(dwarf, troll)


def test_steps_of_a_replay_are_beside_the_board(visit: Visit) -> None:
    dwarf, troll = begin(visit, "elder", ("Margaretanncatherink", "Christopheralexandek"))
    resign(dwarf, troll)
    link = dwarf.page.get_by_role("link", name="Analyse").get_attribute("href")
    assert link
    player = visit(link.partition("#")[0], **phone(390, 844)).sees(A6="dwarf")
    for size in (*PHONES, (768, 1024), (844, 390)):
        resize(player, *size)
        player.page.evaluate("scrollTo(0, 0)")
        for part in ("#replay-board .cells", "#replay-steps"):
            expect(player.page.locator(part)).to_be_in_viewport(ratio=WHOLE)


def test_name_of_the_place_ends_before_the_buttons(visit: Visit) -> None:
    names = "Margaretanncatherinl", "Christopheralexandel"
    dwarf, troll = start_match(visit, names, "3 days", **phone(320, 568))
    right = """() => ["#places", ".place[aria-current]"].map(
        (each) => document.querySelector(each).getBoundingClientRect().right,
    )"""
    for size in (*PHONES, (844, 390), (640, 400)):
        resize(dwarf, *size)
        edge, place = dwarf.page.evaluate(right)
        assert place <= edge
    resign(dwarf, troll)


COVERED = """() => {
    const toast = document.querySelector("#toast").getBoundingClientRect();
    const controls = "button:not(.ply), a, summary, #game .cells, .left";
    return [...document.querySelectorAll(controls)].filter((each) => {
        const { left, right, top, bottom } = each.getBoundingClientRect();
        const isBeside = right <= toast.left + 1 || left >= toast.right - 1;
        const isOther = bottom <= toast.top + 1 || top >= toast.bottom - 1;
        return each.checkVisibility() && !isBeside && !isOther;
    }).map((each) => each.outerHTML.slice(0, 80));
}"""
"""Lists the buttons, and what else is needed, below the toast."""


def test_toast_covers_no_buttons(visit: Visit) -> None:
    player = visit(**phone(390, 844)).come_in("Tostina").practises("aspen").type("f1-f6")
    player.sees(F6="dwarf").page.get_by_role("tab", name="Chat").click()
    for size in SIZES:
        resize(player, *size)
        player.page.evaluate("scrollTo(0, 0)")
        player.press("Hint")
        expect(player.page.locator("#toast.shown")).to_contain_text("Try ")
        player.page.evaluate("""() => Promise.all(
            document.querySelector("#toast").getAnimations().map((each) => each.finished),
        )""")
        covered = player.page.evaluate(COVERED)
        if size[1] < 600 or size[0] == 360:
            covered = [each for each in covered if "left" not in each]
        assert covered == [], size
        expect(player.page.locator("#toast")).to_be_in_viewport(ratio=WHOLE)
        player.page.keyboard.press("Escape")
    resize(player, 390, 844)
    player.press("Hint").press("Share")
    player.page.get_by_role("button", name="Embed").click()
    player.press("Close", within="dialog")
    player.leaves()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1366, 650), (1920, 1080)])
def test_hint_is_near_its_button_on_a_computer(visit: Visit, width: int, height: int) -> None:
    letter, board = {1280: ("a", "gum"), 1366: ("b", "ivy"), 1920: ("c", "may")}[width]
    player = visit(**screen(width, height)).come_in(f"Nahe{letter}").practises(board)
    player.type("f1-f6").sees(F6="dwarf").page.get_by_role("tab", name="Chat").click()
    player.press("Hint")
    toast = player.page.locator("#toast.shown")
    expect(toast).to_contain_text("Try ")
    expect(toast).to_be_in_viewport(ratio=WHOLE)
    assert player.page.evaluate(COVERED) == []
    words = toast.bounding_box()
    button = player.page.get_by_role("button", name="Hint").bounding_box()
    assert words
    assert button
    assert 0 < button["y"] - words["y"] - words["height"] < 150
    expect_apart(player, "#toast", "#board .cells")
    player.leaves()


def test_analysed_replay_opens_at_its_top(visit: Visit) -> None:
    dwarf, troll = begin(visit, "osier", ("Oberon", "Oben"), **screen(1280, 800))
    resign(dwarf, troll)
    link = dwarf.page.get_by_role("link", name="Analyse").get_attribute("href")
    assert link
    dwarf.page.get_by_role("link", name="Analyse").click()
    dwarf.press("Computer analysis")
    expect(dwarf.page.locator("#replay-curve svg")).to_be_visible()
    for size in ((844, 390), (640, 400)):
        player = visit(link, **screen(*size))
        expect(player.page.locator("#replay-curve svg")).to_be_attached()
        assert player.page.evaluate("document.querySelector('#replay .panel').scrollTop") == 0
    phoned = visit(**phone(390, 844)).come_in("Obelix")
    phoned.page.evaluate("(link) => { location.assign(link); }", link)
    explore = phoned.page.get_by_role("button", name="Try other moves")
    explore.scroll_into_view_if_needed()
    explore.click()
    phoned.page.wait_for_function("scrollY === 0")
    expect(phoned.page.locator("#replay-board .cells")).to_be_in_viewport(ratio=WHOLE)


def test_picture_has_its_room_before_it_comes(visit: Visit) -> None:
    player = visit(**screen(1280, 800)).come_in("Pictor").practises("hazel")
    player.page.route("**/*.svg*", lambda _: None)
    player.press("Share").press("Picture")
    picture = player.page.locator(".picture")
    expect(picture).to_be_visible()
    assert picture.evaluate("(each) => each.offsetHeight") >= 300
    player.press("Close", within="dialog")
    player.leaves()


SEEN_WHOLE = """([frame, part]) => {
    const { top, bottom } = document.querySelector(frame).getBoundingClientRect();
    return [...document.querySelectorAll(part)]
        .filter((each) => each.checkVisibility())
        .map((each) => each.getBoundingClientRect())
        .filter((each) => each.top > top - 1 && each.bottom < bottom + 1).length;
}"""
"""Returns how many parts of a frame are wholly in it, from top to bottom."""


def test_battle_shows_its_words_and_buttons_on_a_zoomed_page(visit: Visit) -> None:
    dwarf, troll = start_match(visit, ("Zooma", "Zoomo"), "10+5", **screen(640, 400))
    brief = dwarf.page.locator("#brief")
    assert brief.evaluate("(each) => each.scrollHeight <= each.clientHeight")
    for name in ("Resign", "More"):
        button = dwarf.page.get_by_role("button", name=name, exact=True)
        expect(button).to_be_in_viewport(ratio=WHOLE)
    buttons = dwarf.page.locator("#game .foot button:visible")
    assert dwarf.page.evaluate(SEEN_WHOLE, ["#game .panel", "#game .foot button"]) == (
        buttons.count()
    )
    resize(dwarf, 390, 844)
    assert dwarf.page.locator("#strip-top .points").is_visible()
    dwarf.type("a10-b10")
    troll.sees(B10="dwarf").type("g7-g6")
    dwarf.sees(G6="troll")
    resign(dwarf, troll)
    for size in ((390, 844), (844, 390)):
        resize(dwarf, *size)
        dwarf.page.evaluate("scrollTo(0, 0)")
        for part in ("#steps", "#strip-bottom .name"):
            expect_apart(dwarf, ".result", part)
        if size[1] > size[0]:
            expect_apart(dwarf, ".result", "#game .foot")
    link = dwarf.page.get_by_role("link", name="Analyse").get_attribute("href")
    assert link
    player = visit(link, **screen(640, 400))
    plies = player.page.locator("#replay-moves .ply")
    expect(plies).to_have_count(2)
    cut = "(all) => all.filter((each) => each.scrollWidth > each.clientWidth).length"
    assert plies.evaluate_all(cut) == 0
    join = player.page.get_by_role("button", name="Join to play")
    expect(join).to_be_in_viewport(ratio=WHOLE)


def test_place_in_view_is_named_among_others(visit: Visit) -> None:
    player = visit(**phone(390, 844)).come_in("Platin")
    for board in ("birch", "linden"):
        player.type(f"join game as dwarf on {board} board")
        expect(player.page.locator("#places [aria-current]")).to_contain_text(board.capitalize())
    assert (
        player.page.locator("#places [aria-current]").evaluate("(each) => each.offsetWidth") >= 105
    )
    player.type("quit")


def test_seek_takes_one_line_beside_a_battle(visit: Visit) -> None:
    dwarf, troll = begin(visit, "spruce", ("Suna", "Suno"), **phone(390, 844))
    dwarf.page.get_by_role("tab", name="Log").click()
    dwarf.type("seek classic")
    notice = dwarf.page.locator("#sought .notice")
    expect(notice).to_be_visible()
    assert notice.evaluate("(each) => each.offsetHeight") < 50
    resign(dwarf, troll)


SHOW_EDGE = """(line, seen) => new Promise((resolve) => {
    scrollBy(0, line.getBoundingClientRect().top - innerHeight + seen);
    new IntersectionObserver(() => resolve()).observe(line);
})"""
"""Scrolls so that a number of pixels of a line are seen, until observers know it."""


def test_line_whose_edge_is_seen_is_still_unread(visit: Visit) -> None:
    dwarf, troll = begin(visit, "fig", ("Leser", "Redner"), **phone(360, 640))
    troll.type("say Hello!")
    unread, line = dwarf.page.locator("#to-chat"), dwarf.page.locator("#chat p").last
    expect(unread).to_have_attribute("data-unread", "1")
    line.evaluate(SHOW_EDGE, 4)
    expect(unread).to_have_attribute("data-unread", "1")
    line.evaluate(SHOW_EDGE, 60)
    expect(unread).to_have_attribute("data-unread", "")
    resign(dwarf, troll)


def test_lesson_leaves_room_for_its_task(visit: Visit) -> None:
    player = visit(**phone(320, 568)).come_in("Lernia")
    player.type("tutorial 3")
    expect(player.page.locator("#game-title")).to_contain_text("Lesson 3:")
    player.page.evaluate("scrollTo(0, 0)")
    for part in ("#board .cells", "#lesson .task"):
        expect(player.page.locator(part)).to_be_in_viewport(ratio=WHOLE)
    player.type("stop")


def test_chat_shows_three_whole_lines_beside_a_board(visit: Visit) -> None:
    dwarf, troll = begin(visit, "willow", ("Chatta", "Chatto"), **screen(1280, 800))
    for each in ("One.", "Two.", "Three.", "Four."):
        dwarf.page.locator("#line").fill(each)
        dwarf.page.locator("#line").press("Enter")
        expect(dwarf.page.locator("#chat")).to_contain_text(each)
    assert dwarf.page.evaluate(SEEN_WHOLE, ["#chat", "#chat p"]) == 3
    resign(dwarf, troll)


def test_numbers_stand_apart_from_the_edge(visit: Visit) -> None:
    player = visit(**phone(320, 568)).come_in("Numera").practises("poplar")
    rights = """() => {
        const { left } = document.querySelector("#board .edge").getBoundingClientRect();
        const numbers = [...document.querySelectorAll("#board .number")];
        const boxes = numbers.map((each) => each.getBoundingClientRect());
        return boxes.filter((each) => each.left < 0 || each.right > left).length;
    }"""
    assert player.page.evaluate(rights) == 0
    player.leaves()


def test_goal_stays_below_the_first_words(visit: Visit) -> None:
    names = ("Zielia", "Zielo")
    dwarf, troll = start_match(visit, names, "10+5", **screen(1280, 800))
    top = "document.querySelector('#goal').getBoundingClientRect().top"
    before = dwarf.page.evaluate(top)
    dwarf.type("a6-b6")
    expect(dwarf.page.locator("#moves .ply")).to_have_count(1)
    lines = dwarf.page.locator("#game-facts").evaluate("(each) => each.offsetHeight")
    assert abs(dwarf.page.evaluate(top) - before) <= lines
    gap = """() => {
        const [brief, goal] = ["#brief", "#goal"].map(
            (each) => document.querySelector(each).getBoundingClientRect(),
        );
        return goal.top - brief.bottom;
    }"""
    assert 0 <= dwarf.page.evaluate(gap) < 20
    resign(dwarf, troll)


def test_words_of_the_first_moves_follow_the_turn(visit: Visit) -> None:
    dwarf, troll = start_match(visit, ("Turna", "Turno"), "10+5", **screen(390, 844))
    brief = [each.page.locator("#brief") for each in (dwarf, troll)]
    expect(brief[0]).to_contain_text("You play the dwarfs. Click one of yours")
    expect(brief[1]).to_contain_text("You play the trolls. It")
    dwarf.type("a10-b10")
    expect(brief[0]).to_contain_text("You play the dwarfs. It")
    expect(brief[1]).to_contain_text("Click one of yours")


def test_analysis_is_seen_with_the_board_on_a_phone(visit: Visit) -> None:
    dwarf, troll = start_match(visit, ("Anala", "Analo"), "10+5", **screen(390, 844))
    dwarf.type("a10-b10")
    troll.sees(B10="dwarf").type("g7-g6")
    dwarf.sees(G6="troll")
    resign(dwarf, troll)
    dwarf.page.locator(".result").get_by_role("link", name="Analyse").click()
    dwarf.press("Computer analysis")
    expect(dwarf.page.locator("#replay-curve svg")).to_be_visible()
    dwarf.page.evaluate("scrollTo(0, 0)")
    for part in ("#replay-board .cells", "#replay-curve"):
        expect(dwarf.page.locator(part)).to_be_in_viewport(ratio=WHOLE)


def test_low_screen_shows_five_moves_and_the_engine(visit: Visit) -> None:
    dwarf, troll = start_match(visit, ("Tiefa", "Tiefo"), "10+5", **screen(1366, 650))
    lines = ("f1-f6", "g7-g6 capturing f6", "a6-b6", "g6-g5", "b6-c6", "g5-f5", "a7-b7", "f5-e5")
    for ply, line in enumerate((*lines, "a9-b9", "e5-d5"), 1):
        (dwarf if ply % 2 else troll).type(line)
        for each in (dwarf, troll):
            expect(each.page.locator("#moves .ply")).to_have_count(ply)
    resign(dwarf, troll)
    dwarf.page.locator(".result").get_by_role("link", name="Analyse").click()
    dwarf.press("Computer analysis")
    expect(dwarf.page.locator("#replay-curve path.now")).to_be_attached()
    dwarf.press("First move").press("Next move")
    expect(dwarf.page.locator("#replay-curve p").first).not_to_be_empty()
    for moves in ("#replay-moves", "#replay-tree"):
        for frame in (moves, "#replay .panel"):
            assert dwarf.page.evaluate(SEEN_WHOLE, [frame, f"{moves} > li"]) >= 5, moves
        if moves == "#replay-moves":
            dwarf.press("Try other moves")
            expect(dwarf.page.locator("#replay-tree > li")).to_have_count(5)
    engine = dwarf.page.get_by_role("button", name="Engine", exact=True)
    expect(engine).to_be_in_viewport(ratio=WHOLE)


LEFT_AND_TOP = "(each) => [each.getBoundingClientRect().left, each.getBoundingClientRect().top]"


def test_seeks_that_come_in_move_nothing_in_the_hall(visit: Visit) -> None:
    player = visit(**screen(1280, 800)).come_in("Ruhiga")
    parts = "#play-now", "#learn"

    def places(*selectors: str) -> list[Any]:
        return [player.page.locator(each).evaluate(LEFT_AND_TOP) for each in selectors]

    seeker = visit().come_in("Erstling")
    expect(player.page.locator("#who")).to_contain_text("Erstling")
    before = places(*parts)
    seeker.type("seek classic")
    first = "#seeks li:last-child button"
    expect(player.page.locator(first)).to_have_accessible_name("Accept Erstling's match")
    assert places(*parts) == before
    for size in ((1366, 650), (1280, 800)):
        resize(player, *size)
        expect(player.page.locator(first)).to_be_in_viewport(ratio=WHOLE)
    first = first.replace("last-child", f"nth-child({player.page.locator('#seeks li').count()})")
    listed = places(first)
    seeker.type("seek classic 5+3")
    expect(player.page.locator(first)).to_have_accessible_name("Accept Erstling's match")
    expect(player.page.locator("#seeks")).to_contain_text("5+3")
    assert places(*parts, first) == [*before, *listed]
    seeker.type("quit")


def test_seeks_come_first_in_the_hall(visit: Visit) -> None:
    player = visit(**screen(1280, 800)).come_in("Sehera")
    card = player.page.locator("#waiting")
    expect(card).to_be_hidden()
    seeker = visit().come_in("Wartende").type("seek classic 5+3")
    top = "(each) => document.querySelector(each).getBoundingClientRect().top"
    entry = card.locator("li").filter(has_text="Wartende")
    for size in ((1280, 800), (1366, 650), (768, 1024), (844, 390), (390, 844)):
        resize(player, *size)
        expect(entry).to_be_in_viewport(ratio=WHOLE)
        below = "#play" if size[0] < 640 else "#who"
        assert player.page.evaluate(top, "#waiting") < player.page.evaluate(top, below)
    seeker.type("quit")


def test_hall_is_found_again_where_it_was_left(visit: Visit) -> None:
    player = visit(**phone(390, 844)).come_in("Wiedera")
    watch = player.page.locator("#boards button").first
    expect(watch).to_be_visible()
    player.page.evaluate("scrollTo(0, 150)")
    watch.evaluate("(each) => each.click()")
    expect(player.page.locator("body")).to_have_attribute("data-view", "game")
    assert player.page.evaluate("scrollY") == 0
    player.page.go_back()
    expect(player.page.locator("body")).to_have_attribute("data-view", "lobby")
    player.page.wait_for_function("scrollY === 150")


ROWS = """(all) => new Set(
    all.filter((each) => each.checkVisibility())
        .map((each) => Math.round(each.getBoundingClientRect().top)),
).size"""
"""Returns in how many rows elements are."""


def test_buttons_share_their_rows(visit: Visit) -> None:
    player = visit(**phone(320, 568)).come_in("Einzela")
    for size in PHONES:
        resize(player, *size)
        assert player.page.locator("#seek, #friend").evaluate_all(ROWS) == 1
    player.type("go to poplar board")
    buttons = player.page.locator("#game .foot button")
    expect(player.page.get_by_role("button", name="Sit as dwarfs")).to_be_visible()
    for size in ((360, 640), (390, 844)):
        resize(player, *size)
        assert buttons.evaluate_all(ROWS) == 1
    player.practises("cedar")
    for size in (*PHONES, (640, 400)):
        resize(player, *size)
        assert buttons.evaluate_all(ROWS) == 1
    player.leaves()


def test_toast_is_rounded_and_the_name_stands_apart(visit: Visit) -> None:
    player = visit("/board/oak%20board", **phone(390, 844))
    join = player.page.get_by_role("button", name="Join to play")
    expect(join).to_be_visible()
    end = player.page.locator(".brand span").evaluate(
        "(each) => each.getBoundingClientRect().right"
    )
    assert join.evaluate(LEFT_AND_TOP)[0] - end >= 12
    toast = player.page.locator("#toast")
    assert toast.evaluate("(each) => getComputedStyle(each).borderRadius") == "8px"
    assert toast.evaluate(LEFT_AND_TOP)[0] > 0


HELD = """() => {
    const ring = document.querySelector("#board .ring");
    return getComputedStyle(ring).display === "none" ? "" : ring.style.transform;
}"""
"""Returns where the mark of a square is, if it is seen."""


def test_square_below_a_dragged_piece_is_marked(visit: Visit) -> None:
    player = visit(**phone(390, 844)).come_in("Ziehara").practises("linden")
    player.page.evaluate("scrollTo(0, 0)")
    session = player.page.context.new_cdp_session(player.page)
    for kind, square in (("Start", "A6"), ("Move", "B6"), ("Move", "C6")):
        x, y, _ = player.place(square)
        session.send(
            "Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": [{"x": x, "y": y}]}
        )
        if kind == "Move":
            column = "ABC".index(square[0])
            moved = f"() => ({HELD})().startsWith('translate({column}px, 5px')"
            player.page.wait_for_function(moved)
            piece = player.page.locator("#board .dragged use").bounding_box()
            _, finger, width = player.place(square)
            assert piece
            assert piece["width"] > 1.2 * width
            assert piece["y"] + piece["height"] < finger, "a finger doesn't cover it"
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    player.sees(C6="dwarf")
    assert player.page.evaluate(HELD) == ""
    player.leaves()


def test_offer_beside_a_choice_of_captures_moves_no_button(visit: Visit) -> None:
    dwarf, troll = choose_captures(visit, "plum", ("Rueckela", "Rueckelo"))
    troll.page.evaluate("scrollTo(0, 0)")
    tops = [troll.page.locator(each).evaluate(LEFT_AND_TOP) for each in ("#steps", "#game .foot")]
    expect_apart(troll, "#choice", "#game .foot")
    dwarf.press("Offer to end").press("Offer to end", within="dialog")
    accept = troll.page.locator("#notices").get_by_role("button", name="Accept")
    expect(accept).to_be_in_viewport(ratio=WHOLE)
    assert tops == [
        troll.page.locator(each).evaluate(LEFT_AND_TOP) for each in ("#steps", "#game .foot")
    ]
    for part in ("#choice", "#game .foot"):
        expect_apart(troll, "#notices", part)
    troll.press("Decline", within="#notices").press("Cancel", within="#choice")
    resign(dwarf, troll)
    dwarf.press("Play the second battle")
    expect(troll.page.locator(".result")).to_contain_text("offers to begin the second battle")
    expect(troll.page.locator("#game .foot")).to_be_in_viewport(ratio=WHOLE)
