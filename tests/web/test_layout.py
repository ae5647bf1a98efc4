"""The layout of the page in a real browser: phones, zoom, wide screens and forced colours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.web.conftest import Player, Served, Visit, served_boards
from tests.web.page_picture import FILE, draw

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Return a server of this module's own: names and boards may be those of other modules."""
    with served_boards(tmp_path_factory.mktemp("layout"), {"pine": "discworld"}) as server:
        yield server


PHONES = [(320, 568), (360, 640), (390, 844)]

CLIPPED = """width => {
    const controls = "button, a, input, select, summary, .board, .clock, .strip .left";
    const isShown = (each) =>
        each.checkVisibility({ visibilityProperty: true }) &&
        !each.closest(".skip, #places, #moves, .scrolls, .choices label");
    return [...document.querySelectorAll(controls)]
        .filter(isShown)
        .filter((each) => {
            const { left, right } = each.getBoundingClientRect();
            return left < -0.5 || right > width + 0.5;
        })
        .map((each) => each.outerHTML.slice(0, 100));
}"""
"""Lists what can be used or has to be seen, and isn't within the width of the screen."""

OVERLAPS = """strip => {
    const clock = strip.querySelector(".clock").getBoundingClientRect();
    return [...strip.querySelectorAll(".name, .badge, .left, .points")]
        .filter((each) => each.checkVisibility())
        .filter((each) => each.getBoundingClientRect().right > clock.left)
        .map((each) => each.outerHTML);
}"""
"""Lists what is printed over the clock of a player."""


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


def screen(width: int, height: int) -> dict[str, Any]:
    """Return the options of a browser context for a computer's screen."""
    return {"viewport": {"width": width, "height": height}, "reduced_motion": "reduce"}


def start_match(
    visit: Visit, names: tuple[str, str], time: str, **how: Any
) -> tuple[Player, Player]:
    """Return two players of a match; the first plays the dwarfs, and has the given screen."""
    dwarf, troll = visit(**how).come_in(names[0]), visit().come_in(names[1])
    dwarf.type(f"match {names[1]} {time} as dwarf casual")
    troll.page.locator("#seeks").get_by_role("button", name="Accept").click()
    for each in (dwarf, troll):
        expect(each.page.locator("body")).to_have_attribute("data-view", "game")
        expect(each.page.locator("#strip-bottom .clock")).to_be_visible()
    return dwarf, troll


def resign(player: Player, opponent: Player) -> None:
    """Resign, and wait until both players see it."""
    player.press("Resign").press("Resign", within="dialog")
    for each in (player, opponent):
        expect(each.page.get_by_role("link", name="Analyse")).to_be_visible()


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
    anna.page.get_by_role("link", name="Analyse").click()
    anna.sees(G6="troll")
    assert_fits(anna, width)
    anna.press("Settings")
    assert_fits(anna, width)
    anna.press("Close").page.locator("#places .place").nth(1).click()
    bert.press("Play the second battle")
    for side, points in (("#strip-bottom", "0"), ("#strip-top", "32")):
        expect(anna.page.locator(f"{side} .points")).to_have_text(f"{points} from battle 1")
    assert_fits(anna, width)
    anna.press("Hall")
    expect(anna.page.locator("#lobby")).to_be_visible()
    assert_fits(anna, width)
    for each in (anna, bert):
        each.type("quit")


def test_new_battle_is_scrolled_into_view(visit: Visit) -> None:
    anna, bert = visit(**phone(360, 600)).come_in("Scarlett"), visit().come_in("Scott")
    bert.type("match scarlett 15+10 as dwarf casual")
    expect(anna.page.locator("#seeks")).to_contain_text("Scott")
    anna.page.evaluate("scrollTo(0, 300)")
    anna.page.locator("#seeks").get_by_role("button", name="Accept").click()
    board = anna.page.locator("#board .board")
    expect(board).to_be_in_viewport(ratio=1)
    resign(anna, bert)
    anna.page.evaluate("document.body.style.paddingBottom = '40rem'")  # so that it can be scrolled
    anna.type("start game")
    expect(bert.page.locator(".result")).to_contain_text("offers to begin")
    anna.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(board).not_to_be_in_viewport()
    bert.type("start game")
    expect(anna.page.get_by_role("button", name="Resign", exact=True)).to_be_visible()
    expect(board).to_be_in_viewport(ratio=1)
    for each in (anna, bert):
        each.type("quit")


def test_phone_shows_play_first_and_folds_the_terms(visit: Visit) -> None:
    greta = visit(**phone(360, 640)).come_in("Greta")
    play = greta.page.locator("#play-now")
    expect(play).to_be_in_viewport(ratio=1)
    other = visit().come_in("Gregor").type("seek classic")
    accept = greta.page.get_by_role("button", name="Accept Gregor's match").first
    expect(accept).to_be_in_viewport(ratio=1)
    other.type("quit")
    expect(accept).to_be_hidden()
    summary = greta.page.locator("#terms summary")
    expect(summary).to_contain_text("Discworld, either side first, no clock, casual")
    dwarfs = greta.page.get_by_label("Dwarfs", exact=True)
    expect(dwarfs).to_be_hidden()
    summary.click()
    dwarfs.check(force=True)
    expect(summary).to_contain_text("Discworld, first as dwarfs, no clock, casual")
    expect(greta.page.get_by_role("group", name="Ratings")).to_be_hidden()
    greta.press("Wait for a person")
    expect(greta.page.locator("#play-hint")).to_contain_text("Waiting for an opponent")
    greta.press("Stop waiting")
    expect(greta.page.locator("#play-hint")).to_contain_text("Press Play")
    greta.type("quit")


def test_words_below_the_screen_are_marked_as_new(visit: Visit) -> None:
    anna, bert = start_match(visit, ("Chatrine", "Chatwin"), "3 days", **phone(390, 844))
    bert.page.get_by_role("textbox", name="Say something").fill("Well met!")
    bert.page.keyboard.press("Enter")
    counts = anna.page.get_by_role("button", name="Chat, 1 new")
    expect(counts).to_be_visible()
    assert not anna.page.locator("#toast.shown").count(), "it would hide buttons"
    counts.tap()
    expect(anna.page.get_by_role("button", name="To the chat", exact=True)).to_be_visible()
    anna.press("Close", within="#talk")
    resign(anna, bert)
    for each in (anna, bert):
        each.type("quit")


def test_swipes_on_empty_squares_scroll(visit: Visit) -> None:
    player = visit(**phone(390, 600)).come_in("Swenja").practises("pine")
    session = player.page.context.new_cdp_session(player.page)

    def swipe(square: str) -> int:
        """Move a finger up from a square; return how far the page has scrolled."""
        x, y, _ = player.place(square)
        player.page.evaluate("scrollTo(0, 0)")
        for kind, at in (("Start", 0), ("Move", 30), ("Move", 60), ("Move", 90), ("End", None)):
            points = [] if at is None else [{"x": x, "y": y - at}]
            session.send(
                "Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points}
            )
        return int(player.page.evaluate("scrollY"))

    expect(player.page.locator("#board .mine")).to_be_visible()
    assert swipe("A6") == 0  # drags the dwarf
    assert swipe("H5") > 0
    player.page.keyboard.press("Escape")
    player.leaves()


def test_lesson_is_seen_together_with_the_board(visit: Visit) -> None:
    greta = visit(**phone(360, 640)).come_in("Gretel").type("tutorial")
    expect(greta.page.locator("#lesson .task")).to_be_visible()
    greta.page.evaluate("scrollTo(0, 0)")
    expect(greta.page.locator("#board .board")).to_be_in_viewport(ratio=1)
    expect(greta.page.locator("#lesson .task")).to_be_in_viewport(ratio=0.5)
    greta.type("stop", "quit")


@pytest.mark.parametrize(
    "how", [phone(844, 390), screen(640, 400)], ids=["phone on its side", "zoom of 200 %"]
)
def test_whole_board_is_in_view_on_low_screens(visit: Visit, how: dict[str, Any]) -> None:
    width = how["viewport"]["width"]
    letter = "a" if width == 844 else "b"
    names = f"Margaretanncathering{letter}"[-20:], f"Christopheralexander{letter}"[-20:]
    anna, bert = start_match(visit, names, "3 days", **how)
    assert_fits(anna, width)
    for part in ("#board .board", "#strip-top .clock", "#strip-bottom .clock", "#steps"):
        expect(anna.page.locator(part)).to_be_in_viewport(ratio=1)
    resign(anna, bert)
    for each in (anna, bert):
        each.type("quit")


HIDDEN_PART = """list => {
    const { top, bottom } = list.getBoundingClientRect();
    const current = list.querySelector("[aria-current]").getBoundingClientRect();
    return Math.max(top - current.top, current.bottom - bottom, 0);
}"""
"""Returns how many pixels of the current move are scrolled out of a list."""

MIDDLE = """each => {
    const { left, right, top, bottom } = each.getBoundingClientRect();
    return [(left + right) / 2, (top + bottom) / 2];
}"""
"""Returns the coordinates of the middle of an element."""

SHUFFLE = ["a6-b6", "g7-g6", "b6-a6", "g6-g7"]
"""Moves that lead back to the same position."""


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("Stephen", phone(390, 844)),
        ("Steven", phone(844, 390)),
        ("Stefan", screen(1280, 800)),
        ("Stefanie", screen(768, 1024)),
    ],
)
def test_buttons_stay_while_moves_are_added(visit: Visit, name: str, how: dict[str, Any]) -> None:
    player = visit(**how).come_in(name).practises("pine")
    buttons = player.page.locator("#actions").get_by_role("button", name="Hint")
    if name != "Stefanie":  # whose board is as high as the screen
        expect(buttons).to_be_in_viewport(ratio=1)
    before = buttons.bounding_box()
    for ply in range(1, 13):
        player.type(SHUFFLE[(ply - 1) % 4])
        expect(player.page.locator("#moves .ply")).to_have_count(ply)
    player.page.evaluate("scrollTo(0, 0)")
    assert buttons.bounding_box() == before
    assert player.page.locator("#moves").evaluate(HIDDEN_PART) < 1
    player.leaves()


def test_move_list_keeps_room_and_its_current_move_in_view(visit: Visit) -> None:
    player = visit(**screen(1280, 800)).come_in("Lisbeth").practises("pine")
    moves = player.page.locator("#moves")
    for ply in range(1, 29):
        player.type(SHUFFLE[(ply - 1) % 4])
        expect(moves.locator(".ply")).to_have_count(ply)
    player.type("end game")
    expect(player.page.get_by_role("link", name="Analyse")).to_be_visible()
    assert moves.evaluate("list => list.clientHeight") >= 190
    assert moves.evaluate(HIDDEN_PART) < 1
    player.type("leave game")


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 800), (1920, 1080)])
def test_clock_is_the_largest_text(visit: Visit, width: int, height: int) -> None:
    letter = {390: "a", 1280: "b", 1920: "c"}[width]
    how = phone(width, height) if width == 390 else screen(width, height)
    anna, bert = start_match(visit, (f"Clara{letter}", f"Claus{letter}"), "5+3", **how)
    expect(anna.page.locator("#strip-bottom .turn")).to_be_visible()
    assert anna.page.locator("#strip-bottom").evaluate(OVERLAPS) == []
    sizes = """() => [...document.querySelectorAll("#game *, #talk *")]
        .filter((each) => each.checkVisibility() && !each.closest(".board"))
        .map((each) => [getComputedStyle(each).fontSize, each.getAttribute("class") ?? ""])
        .map(([size, name]) => [parseFloat(size), name])"""
    assert max(anna.page.evaluate(sizes))[1].startswith("clock")
    resign(anna, bert)
    for each in (anna, bert):
        each.type("quit")


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 800)])
def test_player_to_move_keeps_the_score_before_the_clock_runs(
    visit: Visit, width: int, height: int
) -> None:
    letter = {390: "a", 1280: "b"}[width]
    how = phone(width, height) if width == 390 else screen(width, height)
    anna, bert = start_match(visit, (f"Pia{letter}", f"Paul{letter}"), "5+3", **how)
    strips = [anna.page.locator(each) for each in ("#strip-bottom", "#strip-top")]
    expect(strips[0].locator(".turn")).to_be_visible()
    for strip in strips:
        expect(strip.locator(".points")).to_be_visible()
    resign(anna, bert)
    bert.press("Play the second battle")
    anna.press("Accept")
    expect(strips[1].locator(".turn")).to_be_visible()
    for strip in strips:
        expect(strip.locator(".points")).to_be_visible()
        expect(strip.locator(".points")).to_contain_text("from battle 1")
        assert strip.locator(".points").evaluate("each => each.scrollWidth - each.clientWidth") == 0
        assert strip.evaluate(OVERLAPS) == []
    resign(anna, bert)
    for each in (anna, bert):
        each.type("quit")


WIDTH = """(selector) => {
    const box = document.querySelector(selector)?.getBoundingClientRect();
    return box?.width ? [box.width, box.right] : null;
}"""
"""Returns the width and right edge of an element in pixels, once it is seen; it may be redrawn."""


def test_wide_screen_is_filled(visit: Visit) -> None:
    player = visit(**screen(1920, 1080))
    width, right = player.page.wait_for_function(WIDTH, arg="#showcase .board").json_value()
    assert width > 900
    assert right > 1800
    player.come_in("Wilhelmina").practises("pine")
    width, _ = player.page.wait_for_function(WIDTH, arg="#board .board").json_value()
    assert width > 1000
    player.leaves()


def test_touch_targets_are_large(visit: Visit) -> None:
    player = visit(**phone(390, 844)).come_in("Tatiana").practises("pine").type("a6-b6")
    player.sees(B6="dwarf")
    low = """() => [...document.querySelectorAll("button, .button, input, select, summary")]
        .filter((each) => each.checkVisibility() && each.offsetHeight < 44)
        .map((each) => each.outerHTML)"""
    assert player.page.evaluate(low) == []
    player.type("end game")
    player.page.get_by_role("link", name="Analyse").click()
    expect(player.page.locator("#replay-moves .ply")).to_have_count(1)
    assert player.page.evaluate(low) == []
    player.press("Hall").type("leave game")


LOG_REST = """() => {
    const log = document.getElementById("log");
    return log.scrollHeight - log.scrollTop - log.clientHeight;
}"""
"""Returns how many pixels of the log are below what is seen."""


def test_log_follows_after_a_long_text_and_a_resize(visit: Visit) -> None:
    player = visit(**screen(1280, 500)).come_in("Logan").type("help thud").hears("See also")
    player.page.locator("#log").evaluate("""async (log) => {
        log.scrollTop = log.scrollHeight;
        await new Promise((done) => log.addEventListener("scroll", done, { once: true }));
    }""")
    player.page.set_viewport_size({"width": 1280, "height": 480})
    player.page.evaluate("""async () => {
        for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
    }""")
    visit().come_in("Lola")
    player.hears("Lola")
    assert player.page.evaluate(LOG_REST) <= 1


def test_low_clock_shows_tenths_and_sounds_once(visit: Visit) -> None:
    anna, bert = start_match(visit, ("Tilda", "Tillmann"), "5+3")
    tones = "() => window.tones"
    for each in (anna, bert):
        each.page.evaluate("""() => {
            window.tones = 0;
            const create = AudioContext.prototype.createOscillator;
            AudioContext.prototype.createOscillator = function () {
                window.tones += 1;
                return create.call(this);
            };
        }""")
        each.page.clock.install()
        each.page.clock.fast_forward("05:12")  # 30 seconds pass before the first move counts
    clock = anna.page.locator("#strip-bottom .clock")
    expect(clock).to_have_class(re.compile("short"))
    expect(clock).to_have_text(re.compile(r"00:\d\d"))
    assert anna.page.evaluate(tones) == 3
    for each in (anna, bert):
        each.page.clock.fast_forward("00:10")
    for page, strip in ((anna.page, "bottom"), (bert.page, "top")):
        expect(page.locator(f"#strip-{strip} .clock")).to_have_text(re.compile(r"00:0\d\.\d"))
    assert anna.page.evaluate(tones) == 3
    assert bert.page.evaluate(tones) == 0
    resign(anna, bert)
    for each in (anna, bert):
        each.type("quit")


def test_phone_does_not_zoom_into_fields(visit: Visit) -> None:
    player = visit(**phone(390, 844))
    sizes = """() => [...document.querySelectorAll("input, select, textarea")]
        .filter((each) => !["radio", "checkbox"].includes(each.type))
        .map((each) => parseFloat(getComputedStyle(each).fontSize))"""
    assert min(player.page.evaluate(sizes)) >= 16
    player.come_in("Zoe").practises("pine").press("Share").press("Embed")
    assert min(player.page.evaluate(sizes)) >= 16
    player.press("Close").leaves()


def test_tapped_button_keeps_no_hover_style(visit: Visit) -> None:
    player = visit(**phone(390, 844)).come_in("Hobart").practises("pine")
    button = player.page.get_by_role("button", name="Flip the board").locator("visible=true")
    # Found and read in one step: the buttons may be drawn anew in between, and the old ones have
    # no colour.
    colour = """() => {
        const button = document.querySelector("#steps [aria-label='Flip the board']");
        return getComputedStyle(button).color;
    }"""
    before = player.page.evaluate(colour)
    assert before
    button.hover()
    assert player.page.evaluate(colour) == before
    player.leaves()


def test_browser_bars_have_the_chosen_theme(visit: Visit) -> None:
    player = visit(color_scheme="light")
    shown = """() => [...document.querySelectorAll("meta[name=theme-color]")]
        .filter((each) => matchMedia(each.media).matches).map((each) => each.content)"""
    light, dark = ["#f1ede4"], ["#15181b"]
    assert player.page.evaluate(shown) == light
    player.page.emulate_media(color_scheme="dark")
    assert player.page.evaluate(shown) == dark
    player.press("Settings").page.get_by_role("radio", name="light").check()
    assert player.page.evaluate(shown) == light
    player.page.get_by_role("radio", name="dark").check()
    player.page.emulate_media(color_scheme="light")
    assert player.page.evaluate(shown) == dark


def test_forced_colours_keep_states_apart(visit: Visit) -> None:
    player = visit(forced_colors="active").come_in("Fergus")
    look = """(selector) => {
        const { backgroundColor, color } = getComputedStyle(document.querySelector(selector));
        return [backgroundColor, color];
    }"""

    def differ(chosen: str, other: str) -> bool:
        """Return whether two elements look different."""
        looks = [player.page.evaluate(look, each) for each in (chosen, other)]
        assert looks[0][0] != looks[0][1]
        return bool(looks[0] != looks[1])

    assert differ("#play input:checked + span", "#play input:not(:checked) + span")
    assert differ("#tab-log", "#tab-chat")
    assert differ("#play .primary", "#seek")
    player.practises("pine").type(*SHUFFLE)
    expect(player.page.locator("#moves .ply")).to_have_count(4)
    assert differ("#moves [aria-current]", "#moves .ply:not([aria-current])")
    assert differ("#places [aria-current]", "#places :not([aria-current])")
    assert differ("#strip-bottom .turn", "#strip-bottom .name")
    player.leaves()
    border = player.page.evaluate("""() => {
        const button = Object.assign(document.createElement("button"), { className: "danger" });
        document.body.append(button);
        return getComputedStyle(button).borderStyle;
    }""")
    assert border == "double"


def test_browsers_without_light_dark_get_plain_colours(visit: Visit) -> None:
    player = visit("/board/pine%20board", color_scheme="light")

    def outdate(route: Route) -> None:
        """Replace the function by one that this browser doesn't know."""
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace("light-dark(", "light-dusk("))

    player.page.route("**/*.css", outdate)
    player.page.reload()
    colours = """() => {
        const style = getComputedStyle(document.documentElement);
        return [getComputedStyle(document.body).backgroundColor, style.getPropertyValue("--mark")];
    }"""
    light, dark = "rgb(241, 237, 228)", "rgb(21, 24, 27)"
    assert player.page.evaluate(colours) == [light, "#1f6f43"]
    player.page.emulate_media(color_scheme="dark")
    assert player.page.evaluate(colours) == [dark, "#86d8a4"]
    player.press("Settings").page.get_by_role("radio", name="safe").check()
    assert player.page.evaluate(colours) == [dark, "#7fe3c4"]
    player.page.get_by_role("radio", name="light").check()
    assert player.page.evaluate(colours) == [light, "#00573f"]
    player.page.get_by_role("radio", name="vivid").check()
    assert player.page.evaluate(colours) == [light, "#ffffff"]
    player.page.get_by_role("radio", name="dark").check()
    assert player.page.evaluate(colours) == [dark, "#ffffff"]


def test_finished_battle_keeps_its_moves_and_buttons_in_view(visit: Visit) -> None:
    anna, bert = start_match(visit, ("Ende", "Endo"), "15+10", **screen(1280, 800))
    for ply, line in enumerate(SHUFFLE * 2):
        (bert if ply % 2 else anna).type(line)
        for each in (anna, bert):
            expect(each.page.locator("#moves .ply")).to_have_count(ply + 1)
    resign(bert, anna)
    bert.press("Play the second battle")
    expect(anna.page.locator(".result")).to_contain_text("offers")
    anna.page.keyboard.press("Escape")
    page = anna.page
    assert page.locator("#moves").evaluate("list => list.clientHeight") >= 80  # three rows
    assert page.locator("#moves").evaluate(HIDDEN_PART) < 1
    for name in ("Accept", "Decline", "Leave the seat", "Share"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_in_viewport(ratio=1)
    foot = "() => document.querySelector('#game .foot').getBoundingClientRect().top"
    steps = "() => document.querySelector('#steps').getBoundingClientRect().bottom"
    assert page.evaluate(steps) <= page.evaluate(foot)
    page.get_by_role("link", name="Analyse").click()
    anna.press("Computer analysis")
    expect(page.locator("#replay-curve svg")).to_be_visible()
    for name in ("Try other moves", "Share"):
        button = page.locator("#replay").get_by_role("button", name=name, exact=True)
        expect(button).to_be_in_viewport(ratio=1)
    assert page.locator("#replay-moves").evaluate("list => list.clientHeight") >= 80
    for each in (anna, bert):
        each.type("quit")


def test_offer_at_the_beginning_leaves_the_steps_in_view(visit: Visit) -> None:
    anna, bert = start_match(visit, ("Offa", "Offo"), "15+10", **screen(1280, 800))
    expect(anna.page.locator("#goal")).to_be_visible()
    bert.press("Offer to end").press("Offer to end", within="dialog")
    expect(anna.page.locator("#notices")).to_contain_text("offers to end")
    expect(anna.page.locator("#goal")).to_be_hidden()
    for part in ("#brief", "#steps", "#resign .danger"):
        expect(anna.page.locator(part)).to_be_in_viewport(ratio=1)
    resign(anna, bert)
    for each in (anna, bert):
        each.type("quit")


def test_picture_in_the_readme_can_be_drawn_anew(browser: Browser, served: Served) -> None:
    picture = draw(browser, served)
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 80_000
    assert FILE.stat().st_size < 80_000
