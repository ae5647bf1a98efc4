"""The column beside the board on laptops: what it shows at once, and what scrolls."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Served, Visit, served_boards
from tests.web.test_layout import resign, screen, start_match
from tests.web.test_room import SCROLLS, shuffle
from tests.web.test_small_screens import SEEN_WHOLE, WHOLE, begin

pytestmark = pytest.mark.slow

SIZES = (1280, 800), (1366, 650)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    boards = dict.fromkeys(("oak", "elm", "ash", "fir", "gum"), "discworld")
    with served_boards(tmp_path_factory.mktemp("side"), boards) as server:
        yield server


EDGES = """([one, other]) => {
    const [a, b] = [one, other].map((each) => document.querySelector(each).getBoundingClientRect());
    return b.top - a.bottom;
}"""
"""Returns how far one element is below another."""

TOP = "(each) => document.querySelector(each).getBoundingClientRect().top"


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_analysis_scrolls_its_lists_above_the_buttons(
    visit: Visit, width: int, height: int
) -> None:
    letter = "ab"[width == 1280]
    names = f"Seita{letter}", f"Seito{letter}"
    dwarf, troll = start_match(visit, names, "10+5", **screen(width, height))
    shuffle(dwarf, troll, 12)
    resign(troll, dwarf)
    dwarf.page.locator(".result").get_by_role("link", name="Analyse").click()
    dwarf.press("Computer analysis")
    expect(dwarf.page.locator("#replay-curve path.now")).to_be_attached()
    dwarf.page.get_by_role("tab", name="Chat").click()
    expect(dwarf.page.locator("#chat")).to_be_hidden()
    assert dwarf.page.locator("#talk").evaluate("(each) => each.offsetHeight") < 70
    expect(dwarf.page.locator("#line")).to_be_in_viewport(ratio=WHOLE)
    dwarf.press("Try other moves").press("Engine")
    summary = dwarf.page.locator("#replay-explorer summary")
    summary.click()
    expect(dwarf.page.locator("#replay-explorer tbody tr").first).to_be_visible()
    for _ in range(2):
        assert not dwarf.page.locator("#replay .panel").evaluate(SCROLLS)
        for name in ("Play from here", "Back to the game", "Share"):
            button = dwarf.page.locator("#replay").get_by_role("button", name=name, exact=True)
            expect(button).to_be_in_viewport(ratio=WHOLE)
        expect(summary).to_be_in_viewport(ratio=WHOLE)
        assert dwarf.page.evaluate(SEEN_WHOLE, ["#replay-tree", "#replay-tree > li"]) >= 1
        troll.type("go to hall", f"tell {names[0]} Well played!")
        expect(dwarf.page.locator("#chat")).to_contain_text("Well played!")
        expect(dwarf.page.locator("#chat")).to_be_visible()


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_column_beside_a_battle_keeps_its_parts(visit: Visit, width: int, height: int) -> None:
    letter = "ab"[width == 1280]
    names = f"Spalta{letter}", f"Spalto{letter}"
    dwarf, troll = start_match(visit, names, "10+5", **screen(width, height))
    page = dwarf.page
    shuffle(dwarf, troll, 8)
    page.get_by_role("tab", name="Chat").click()
    for line in ("One.", "Two.", "Three.", "Four."):
        page.locator("#line").fill(line)
        page.keyboard.press("Enter")
        expect(page.locator("#chat")).to_contain_text(line)
    assert page.evaluate(SEEN_WHOLE, ["#chat", "#chat p"]) == 3
    assert page.evaluate(SEEN_WHOLE, ["#moves", "#moves li"]) >= 3
    facts = page.locator("#game-facts")
    assert facts.evaluate("(each) => each.scrollWidth <= each.clientWidth")
    colours = """() => ["#game .clock.runs", "body"].map((each) => {
        const { backgroundColor, color } = getComputedStyle(document.querySelector(each));
        return [backgroundColor, color];
    })"""
    expect(page.locator("#game .clock.runs")).to_be_visible()
    clock, body = page.evaluate(colours)
    assert clock == body[::-1], "neutral as long as there is time"
    strip = page.evaluate(TOP, "#strip-bottom")

    other = visit().come_in(f"Fordera{letter}").type(f"match {names[0]} 5+3 casual")
    banner = page.locator("#challenges .notice")
    expect(banner).to_be_visible()
    radius = "(each) => getComputedStyle(document.querySelector(each)).borderTopRightRadius"
    parts = "#challenges .notice", "#game .panel"
    assert len({page.evaluate(radius, each) for each in parts}) == 1
    assert page.evaluate(EDGES, list(parts)) >= 4
    assert page.evaluate(EDGES, ["#steps", "#game .foot"]) >= 0
    other.type("quit")
    expect(banner).to_have_count(0)

    resign(dwarf, troll)
    assert page.evaluate(EDGES, [".result", "#game .panel"]) >= 4
    assert page.evaluate(TOP, "#strip-bottom") == strip
    assert page.evaluate(EDGES, ["#steps", "#game .foot"]) >= 0
    expect(facts).to_be_visible(visible=height == 800)
    troll.press("Play the second battle")
    dwarf.press("Accept")
    resign(dwarf, troll)
    for where in ("#strip-top", "#strip-bottom"):
        expect(page.locator(f"{where} .points")).to_have_text(re.compile(r"^\d+ in the match$"))


def test_parts_of_the_welcome_page_stand_apart(visit: Visit) -> None:
    page = visit(**screen(1366, 650)).page
    expect(page.locator("#rules figure")).to_have_count(3)
    assert page.evaluate(EDGES, ["header", "#welcome-title"]) >= 8
    assert page.evaluate(EDGES, ["#rules", "#teach"]) >= 8
    expect(page.locator("#teach")).to_be_in_viewport(ratio=WHOLE)


def test_offers_and_results_cut_no_button_of_a_low_panel(visit: Visit) -> None:
    names = "Margaretanncathering", "Christopheralexander"
    dwarf, troll = begin(visit, "gum", names, **screen(1366, 650))
    panel, notices = dwarf.page.locator("#game .panel"), dwarf.page.locator("#notices .notice")
    parts = "#steps", "#game .foot"
    before = [dwarf.page.evaluate(TOP, each) for each in parts]
    troll.press("Offer to end").press("Offer to end", within="dialog")
    for offers in (1, 2):
        expect(notices).to_have_count(offers)
        assert not panel.evaluate(SCROLLS)
        assert dwarf.page.evaluate(EDGES, parts) >= 0
        row = 60 if offers == 2 else 40
        for part, top in zip(parts, before, strict=True):
            assert abs(dwarf.page.evaluate(TOP, part) - top) <= row
        if offers == 1:
            troll.press("Undo").page.locator("dialog .primary").click()
    notices.get_by_role("button", name="Decline all").first.click()
    resign(dwarf, troll)
    troll.press("Play the second battle")
    expect(dwarf.page.locator(".result")).to_contain_text("offers to begin the second battle")
    assert not panel.evaluate(SCROLLS)
    assert dwarf.page.evaluate(EDGES, parts) >= 0
