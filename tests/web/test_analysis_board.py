"""The analysis board: variations, arrows, the engine, and play from any position."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.web.conftest import Player, Served, Visit, served_boards
from tests.web.test_page import ROWS, violations
from thudmud.rules import DISCWORLD, Game, read_ply, write_record

DASH, TIMES = "\N{EN DASH}", "\N{MULTIPLICATION SIGN}"
JOINER = "\N{WORD JOINER}"
"""Keeps a move from being broken at its dash."""

LINE = rf"\. Best: \w+{DASH}{JOINER}[^,]+, then (\w+{DASH}{JOINER}[^,]+, ){{2}}"
"""The engine's best line, of four moves or more."""

NOTE_ENGINE = """() => {
    window.noted = [];
    const host = document.getElementById("replay-engine");
    const note = () => {
        const [shown, heard] = ["p", ".unseen"].map((each) => host.querySelector(each));
        if (shown.textContent) noted.push([shown.textContent, heard.textContent]);
    };
    const changes = { childList: true, characterData: true, subtree: true };
    new MutationObserver(note).observe(host, changes);
}"""
"""Note what the engine shows, and what screen readers are told, at each change."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def boards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    names = dict.fromkeys(
        ("oak", "elm", "yew", "ash", "fir", "larch", "pine", "box", "bay"), "discworld"
    )
    with served_boards(tmp_path_factory.mktemp("analysis"), names) as server:
        yield server


def long_record() -> str:
    """Return the record of a battle of 60 moves, without a result."""
    game, random = Game.start(DISCWORLD), Random(4)  # noqa: S311  (no secret)
    while len(game.moves) < 60:
        game = game.play(random.choice(game.legal_moves()))
    return write_record(game)


def record_of(*moves: str) -> str:
    """Return the record of a battle that begins with moves, without a result."""
    game = Game.start(DISCWORLD)
    for each in moves:
        game = game.play(read_ply(each, DISCWORLD, game.position))
    return write_record(game)


@pytest.fixture(scope="module")
def long_battle(boards: Served, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Import a long battle that was given up; return the path of its page."""
    file = tmp_path_factory.mktemp("record") / "long.thud"
    file.write_text(long_record())
    return f"/game/{boards.import_record(file, 'Mica', 'Grit')}"


def explore(visit: Visit, server: Served, name: str, board: str) -> Player:
    """Practise a battle of two moves to its end, and open the analysis board after them."""
    player = visit(server=server).come_in(name).practises(board)
    player.click("A6", "B6").sees(B6="dwarf").click("G7", "G6").sees(G6="troll")
    player.press("End").press("End", within="dialog")
    player.page.get_by_role("link", name="Analyse").click()
    player.press("Try other moves")
    expect(player.page.get_by_role("button", name="Back to the game")).to_be_visible()
    return player.sees(G6="troll, last move")


def moves(player: Player) -> Locator:
    return player.page.locator("#replay-tree .ply")


def is_current(player: Player, seen: str) -> None:
    expect(player.page.locator("#replay-tree [aria-current]")).to_contain_text(seen)


def test_variations_are_played_stepped_through_and_deleted(visit: Visit, boards: Served) -> None:
    player = explore(visit, boards, "Vera", "oak")
    page = player.page
    expect(moves(player)).to_have_count(2)
    player.click("B6")
    player.sees(C6="empty, can go here").click("C6").sees(C6="dwarf, last move", B6="empty")
    is_current(player, f"B6{DASH}C6")
    player.click("G6").click("G5").sees(G5="troll, last move")
    player.press("Previous move").press("Previous move").press("Previous move")
    is_current(player, f"A6{DASH}B6")
    player.click("H7").click("H6").sees(H6="troll, last move", G7="troll")  # a side line
    expect(page.locator("#replay-tree .variation")).to_have_count(1)
    is_current(player, f"H7{DASH}H6")
    player.press("Share")
    expect(page.get_by_role("button", name="Embed")).to_be_visible()
    expect(page.get_by_role("button", name="Picture")).to_be_hidden()  # it would be of the battle
    page.keyboard.press("Escape")
    expect(page.locator(".variation .ply")).to_have_attribute(
        "aria-label", re.compile("variation$")
    )
    moves(player).filter(has_text=f"G6{DASH}G5").click()
    player.sees(G5="troll, last move", H7="troll")
    page.keyboard.press("Home")
    player.sees(A6="dwarf", B6="empty")
    page.keyboard.press("End")
    player.sees(G5="troll, last move")
    moves(player).filter(has_text=f"H7{DASH}H6").focus()
    page.keyboard.press("Delete")  # the current move is that of the main line's end
    expect(moves(player)).to_have_count(4)
    moves(player).filter(has_text=f"H7{DASH}H6").click()
    player.press("Delete from here")
    expect(moves(player)).to_have_count(3)
    is_current(player, f"A6{DASH}B6")
    player.press("Back to the game")
    expect(page.locator("#replay-moves [data-ply]")).to_have_count(2)
    player.click("G7").sees(G7="troll", G6="empty")


def test_visitor_who_tries_other_moves_is_made_a_guest(
    visit: Visit, long_battle: str, boards: Served
) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    visitor = visit(f"{long_battle}#ply=1", server=boards, **phone)
    visitor.press("Try other moves")
    expect(visitor.page.get_by_role("button", name="Back to the game")).to_be_visible()
    expect(visitor.page).to_have_url(f"{boards.address}{long_battle}#explore=1")
    visitor.square("G7").click()
    visitor.sees(G6="empty, can go here").square("G6").click()
    visitor.sees(G6="troll, last move").press("Engine")
    expect(visitor.page.locator("#replay-engine p")).to_contain_text(re.compile(LINE))


def test_moves_have_two_columns_and_variations_lie_beneath(visit: Visit, boards: Served) -> None:
    player = explore(visit, boards, "Tabea", "box")
    badges = player.page.locator("#replay .badge.turn")
    won = player.page.locator("#replay .badge", has_text="won")
    expect(badges).to_have_count(0)  # nobody is to move once the battle is over
    player.press("Previous move")
    expect(badges).to_have_count(1)
    expect(won).to_have_count(0)
    player.click("H7").click("H6").sees(H6="troll, last move")
    player.click("B6").click("C6").sees(C6="dwarf, last move").press("First move")
    player.click("A7").click("B7").sees(B7="dwarf, last move")
    boxes = [each.bounding_box() for each in moves(player).all()]
    lefts = [round(box["x"]) for box in boxes if box]
    tops = [round(box["y"]) for box in boxes if box]
    dwarf, other_first, troll, other, _ = range(5)
    seen = [re.sub(r"\W+", " ", each) for each in moves(player).all_text_contents()]
    assert seen == ["A6 B6", "A7 B7", "G7 G6", "H7 H6", "B6 C6"]
    assert tops[dwarf] < tops[other_first] < tops[troll] < tops[other]
    assert lefts[troll] > lefts[dwarf] + 50
    assert lefts[dwarf] < lefts[other] < lefts[troll]


def test_variations_are_kept_until_they_are_cleared(visit: Visit, boards: Served) -> None:
    player = explore(visit, boards, "Keno", "bay")
    player.click("B6").click("C6").sees(C6="dwarf, last move")
    player.press("Previous move").press("Previous move")
    player.click("H7").click("H6").sees(H6="troll, last move")
    path = player.path.partition("#")[0]
    player.press("Hall").page.goto(boards.address + path)
    player.press("Try other moves")
    expect(moves(player)).to_have_count(4)
    player.page.reload()
    expect(moves(player)).to_have_count(4)
    moves(player).filter(has_text=f"H7{DASH}H6").click()
    player.sees(H6="troll, last move").press("Clear all")
    is_current(player, f"A6{DASH}B6")
    expect(moves(player)).to_have_count(2)
    player.page.reload()
    expect(moves(player)).to_have_count(2)


def test_captures_are_chosen_and_illegal_moves_refused(visit: Visit, boards: Served) -> None:
    player = explore(visit, boards, "Cara", "elm")
    player.drag("G1", "G5").sees(G5="dwarf, last move")
    player.click("G6", "H5")
    player.press("Capture G5").sees(H5="troll, last move", G5="empty, last move")
    is_current(player, f"G6{DASH}H5 {TIMES}G5")
    player.drag("B6", "M11").sees(B6="dwarf")
    expect(player.page.locator("#status")).to_contain_text("go to M11")
    player.by_keys("B6", "B7").sees(B7="dwarf, last move")


def test_engine_draws_its_best_line_with_its_evaluation(visit: Visit, boards: Served) -> None:
    player = explore(visit, boards, "Enya", "yew")
    page = player.page
    page.evaluate(NOTE_ENGINE)
    player.press("Engine")
    words, said = page.locator("#replay-engine p"), page.locator("#replay-engine .unseen")
    expect(words).to_have_text(re.compile(rf"^The trolls are .* \(depth \d\){LINE}"))
    expect(said).to_have_text(words.text_content() or "")
    seen = page.evaluate("noted")
    assert seen[0] == ["Thinking …", "Thinking …"]
    heard = [words for _, words in seen]
    assert heard == sorted(heard, key="Thinking …".__ne__), "the result is heard last"
    assert len(set(heard)) == 2
    reports = [shown for shown, said in seen if said == "Thinking …" != shown]
    assert reports, "it shows what it has found while it thinks"
    assert all(re.search(rf"\(depth \d …\){LINE}", each) for each in reports)
    expect(page.locator(".arrow.best:visible")).to_have_count(1)
    player.press("First move")
    expect(words).to_have_text(re.compile(rf"^Even \(depth \d\){LINE}"))
    player.press("Engine")
    expect(page.locator(".arrow")).to_have_count(0)


def test_player_plays_on_from_any_position(visit: Visit, boards: Served) -> None:
    player = explore(visit, boards, "Paul", "larch")
    player.click("B6", "C6").sees(C6="dwarf, last move").press("Play from here")
    expect(player.page.locator("dialog")).to_contain_text("Play from here against a bot")
    expect(player.page.locator("dialog").get_by_role("button", name="Cancel")).to_be_focused()
    player.press("As the trolls", within="dialog")
    expect(player.page.locator("dialog")).to_be_hidden()
    player.hears("There are no bots here to play against.")
    assert re.fullmatch(r"retry \d+ 2 dB6-C6 as troll", player.sent[-1])


def test_arrows_and_circles_are_drawn_by_the_right_button(visit: Visit, boards: Served) -> None:
    player = explore(visit, boards, "Arno", "ash")
    page, mouse = player.page, player.page.mouse
    for origin, target in (("F1", "F5"), ("H9", "H9")):
        for name, act in ((origin, mouse.down), (target, mouse.up)):
            x, y, _ = player.place(name)
            mouse.move(x, y, steps=3)
            act(button="right")
    expect(page.locator(".arrow.drawn")).to_have_count(1)
    expect(page.locator(".circle.drawn")).to_have_count(1)
    player.click("K8")
    expect(page.locator(".drawn")).to_have_count(0)


def test_analysis_board_is_accessible(visit: Visit, boards: Served) -> None:
    player = explore(visit, boards, "Axel", "fir")
    player.click("B6", "C6").sees(C6="dwarf, last move").press("Previous move")
    player.click("B6", "D6").sees(D6="dwarf, last move")
    assert ROWS
    assert violations(player, "analysis") == []


def analyse(player: Player) -> Locator:
    """Press the button for an analysis; return the curve of its result."""
    player.press("Computer analysis")
    return player.page.locator("#replay-curve")


@pytest.fixture(scope="module")
def slip(boards: Served, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Import a battle in which a troll leaves a dwarf beside it; return the path of its page.

    However little time there is for the search, it sees that.
    """
    file = tmp_path_factory.mktemp("slip") / "slip.thud"
    file.write_text(record_of("dF1-F5", "TH7-G6", "dA6-B6"))
    return f"/game/{boards.import_record(file, 'Mica', 'Grit')}"


def analysed(visit: Visit, server: Served, name: str, path: str, **options: Any) -> Player:
    """Open an analysed battle on the analysis board, at its second move, a blunder."""
    player = visit(server=server, **options).come_in(name)
    player.page.goto(server.address + path)
    curve = player.page.locator("#replay-curve")
    asks = player.page.get_by_role("button", name="Computer analysis")
    expect(asks.or_(curve.locator("svg"))).to_be_visible()
    if asks.is_visible():
        asks.click()
    expect(curve.locator("svg")).to_be_visible()
    player.press("Try other moves").press("Next move").sees(F5="dwarf, last move")
    player.press("Next move").sees(G6="troll, last move")
    expect(curve).to_contain_text("Better was")
    return player


OVERLAPPED = """(each) => {
    const { left, top, width, height } = each.getBoundingClientRect();
    const at = document.elementFromPoint(left + width / 2, top + height / 2);
    return !each.contains(at);
}"""
"""Whether something else is seen in the middle of an element."""


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1366, 768)])
def test_engine_is_not_covered_by_buttons(
    visit: Visit, boards: Served, slip: str, width: int, height: int
) -> None:
    screen = {"viewport": {"width": width, "height": height}}
    player = analysed(visit, boards, f"Enno{'abc'[width % 3]}", slip, **screen)
    player.click("A6", "B7").sees(B7="dwarf, last move")
    player.press("Previous move")
    expect(player.page.locator("#replay-curve")).to_contain_text("Better was")
    for name in ("Engine", "Play from here", "Back to the game"):
        button = player.page.get_by_role("button", name=name, exact=True)
        button.focus()
        assert not button.evaluate(OVERLAPPED), name
    engine = player.page.locator("#replay-engine").bounding_box()
    foot = player.page.locator("#replay .foot").bounding_box()
    assert engine
    assert foot
    assert engine["y"] + engine["height"] <= foot["y"]
    listed = player.page.locator("#replay-tree")
    assert listed.evaluate("each => each.scrollHeight - each.clientHeight") <= 1, "three moves fit"


def test_analysis_of_the_battle_says_nothing_in_variations(
    visit: Visit, boards: Served, slip: str
) -> None:
    player = analysed(visit, boards, "Vasco", slip)
    curve = player.page.locator("#replay-curve")
    expect(curve.locator("path.now")).to_have_count(1)
    line = rf"Better was \w+{DASH}{JOINER}\w+[^,]*, then \w+{DASH}{JOINER}"
    expect(curve.locator("p")).to_have_text(re.compile(line))
    player.click("A6", "B7").sees(B7="dwarf, last move")
    expect(curve.locator("figcaption")).to_have_text("The game, not this variation")
    expect(curve.locator("p")).to_be_empty()
    expect(curve.locator("path.now")).to_have_count(0)
    expect(curve).to_be_visible()
    wide = player.page.viewport_size
    assert wide
    player.page.set_viewport_size({"width": 390, "height": 844})
    expect(curve).to_be_hidden()
    player.page.set_viewport_size(wide)
    player.press("Previous move")
    expect(curve).to_contain_text("After move 2: ")
    expect(curve.locator("path.now")).to_have_count(1)


def test_analysis_stays_after_a_reload_and_is_shown_to_everybody(
    visit: Visit, boards: Served
) -> None:
    player = explore(visit, boards, "Anna", "pine")
    player.press("Back to the game")
    path = player.path
    curve = analyse(player)
    expect(curve.locator("svg")).to_be_visible()
    player.page.reload()
    expect(curve.locator("svg")).to_be_visible()
    expect(player.page.get_by_role("button", name="Computer analysis")).to_have_count(0)
    player.page.context.set_offline(True)
    expect(player.page.locator("#link")).to_contain_text("Reconnecting")
    player.page.context.set_offline(False)
    expect(player.page.locator("#link")).to_be_empty()
    expect(curve.locator("svg")).to_be_visible()
    player.errors = [each for each in player.errors if "INTERNET_DISCONNECTED" not in each]
    stranger = visit(path, boards)
    expect(stranger.page.locator("#replay-curve svg")).to_be_visible()
    assert not any("analyse" in each for each in stranger.sent)


def test_analysis_shows_its_progress_and_is_cancelled(
    visit: Visit, boards: Served, long_battle: str
) -> None:
    player = visit(server=boards).come_in("Nils")
    page = player.page
    page.goto(boards.address + long_battle)
    curve = analyse(player)
    expect(curve).to_contain_text(re.compile(r"Analysed [1-9]\d* of 60 moves"))
    assert int(curve.locator("progress").get_attribute("value") or 0) > 0
    expect(curve).to_be_focused()
    page.reload()
    expect(curve).to_be_visible()
    expect(page.get_by_role("button", name="Computer analysis")).to_be_hidden()
    expect(curve).to_contain_text(re.compile(r"Analysed [1-9]\d* of 60 moves"))
    cancel = curve.get_by_role("button", name="Cancel")
    cancel.press("Enter")
    expect(curve).to_be_hidden()
    assert player.sent[-1] == "analyse cancel"
    expect(page.locator("#status")).to_have_text("Analysis cancelled.")
    expect(page.get_by_role("button", name="Computer analysis")).to_be_focused()
