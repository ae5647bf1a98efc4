"""Tournaments on the page: the list, entering, standings and boards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.conftest import FreePort
from tests.web.conftest import Served, Visit
from tests.web.test_page import violations

pytestmark = pytest.mark.slow

EVERYBODY = '[tournaments]\nby = "everybody"\nrest = 1\n'


@pytest.fixture
def server(tmp_path: Path, free_port: FreePort) -> Iterator[Served]:
    with Served(tmp_path, free_port(), {"oak": "discworld"}, EVERYBODY) as server:
        yield server


def test_tournament_is_entered_and_left_by_click(visit: Visit, server: Served) -> None:
    anna, bert = (visit(server=server).come_in(name) for name in ("Anna", "Bert"))
    anna.type('tournament new knock-out 5+3 "Cup" starts in 1 hour')
    bert.page.locator("#tournaments").get_by_role("link", name="Cup").click()
    expect(bert.page.locator("#tournament-title")).to_have_text("Cup")
    expect(bert.page.locator("#tournament-facts")).to_contain_text("announced by Anna")
    expect(bert.page.locator("#tournament-when")).to_have_text(re.compile(r"Starts in 59:\d\d"))
    assert bert.path == "/tournament/1"
    expect(bert.page.locator("#crosstable")).to_contain_text("No one has entered yet.")
    bert.press("Join")
    expect(bert.page.get_by_role("row", name="Bert")).to_be_visible()
    expect(bert.page.get_by_role("button", name="Withdraw", exact=True)).to_be_focused()
    expect(bert.page.locator("#crosstable td").first).to_be_empty()  # all would be the first
    expect(bert.page.locator("#crosstable")).to_contain_text("\u00b1: battle points")
    bert.press("Withdraw")
    expect(bert.page.locator("#crosstable")).to_contain_text("No one has entered yet.")
    anna.type("enter 1")
    expect(bert.page.locator("#crosstable")).to_contain_text("Anna")
    bert.page.reload()  # reconnects with the stored resume word
    expect(bert.page.locator("#crosstable")).to_contain_text("Anna")
    anna.type("cancel tournament 1")
    expect(bert.page.locator("#tournament-when")).to_have_text("Cancelled")
    expect(bert.page.get_by_role("button", name="Join", exact=True)).to_be_hidden()
    bert.press("Hall")
    expect(bert.page.locator("#tournaments")).to_contain_text("cancelled")
    for each in (anna, bert):
        each.loses_server = True


def test_tournament_that_begins_soon_is_joined_at_the_top_of_the_hall(
    visit: Visit, server: Served
) -> None:
    phone: dict[str, Any] = {
        "viewport": {"width": 390, "height": 844},
        "has_touch": True,
        "is_mobile": True,
    }
    anna, bert = visit(server=server).come_in("Anna"), visit(server=server, **phone).come_in("Bert")
    soon = bert.page.locator("#soon")
    expect(soon).to_be_hidden()
    anna.type('tournament new knock-out 5+3 "Cup" starts in 1 hour')
    expect(soon).to_have_text(re.compile(r"^Cup starts in 59:\d\dJoin$"))
    expect(soon).to_be_in_viewport(ratio=1)
    bert.press("Join", within="#soon")
    expect(bert.page.get_by_role("row", name="Bert")).to_be_visible()
    bert.press("Hall")
    is_in = re.compile(r"^Cup starts in 59:\d\d. You\u2019re in\.$")
    expect(soon).to_have_text(is_in)
    anna.type("enter 1")
    expect(anna.page.locator("#soon")).to_have_text(is_in)
    expect(anna.page.locator("#tournaments")).to_contain_text("2 players")
    asked = [each for each in anna.sent if "tournament 1" in each]
    assert len(asked) == 1, "entries are told without being asked for"
    anna.type("cancel tournament 1")
    expect(soon).to_be_hidden()
    for each in (anna, bert):
        each.loses_server = True


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1366, 650), (390, 844)])
def test_tournament_fills_a_card_and_strangers_get_no_log(
    visit: Visit, server: Served, width: int, height: int
) -> None:
    size = {"viewport": {"width": width, "height": height}}
    anna = visit(server=server).come_in("Anna")
    anna.type('tournament new knock-out 5+3 "Cup" starts in 1 hour', "enter 1")
    expect(anna.page.locator("#tournaments")).to_contain_text("Cup")
    for path, names in (
        ("/tournament/1", ("#tournament-title", "#crosstable table")),
        ("/player/Anna", ("#player-title", "#player-results table")),
    ):
        stranger = visit(path, server, **size)
        title, table = (stranger.page.locator(each) for each in names)
        expect(table).to_be_visible()
        expect(stranger.page.get_by_role("button", name="Join to play")).to_be_visible()
        expect(stranger.page.locator("#talk")).to_be_hidden()
        card = stranger.page.locator(".card").filter(has=table)
        inner = "each => each.clientWidth - 2 * parseFloat(getComputedStyle(each).paddingLeft)"
        assert abs(table.evaluate("each => each.offsetWidth") - card.evaluate(inner)) <= 1
        heading, top = title.bounding_box(), stranger.page.locator("header").bounding_box()
        assert heading
        assert top
        assert heading["y"] - top["y"] - top["height"] >= 8
        stranger.loses_server = True
    expect(anna.page.locator("#talk")).to_be_visible()
    anna.loses_server = True


def test_tournament_is_announced_by_a_form(visit: Visit, server: Served) -> None:
    anna = visit(server=server).come_in("Anna")
    anna.loses_server = True
    anna.press("Create a tournament")
    dialog = anna.page.get_by_role("dialog", name="New tournament")
    expect(dialog.get_by_label("Kind")).to_be_focused()
    title = dialog.get_by_label("Title")
    for width, height in ((390, 844), (1280, 800)):
        anna.page.set_viewport_size({"width": width, "height": height})
        assert title.evaluate("each => each.offsetWidth > 170")
    title.fill("Thursday")
    dialog.get_by_label("Classic").check(force=True)
    dialog.get_by_label("Rounds").fill("40")
    assert violations(anna, "new tournament") == []
    anna.press("Announce")
    expect(dialog.get_by_role("alert")).to_contain_text("rounds")
    colours = "each => [each, each.parentElement].map((one) => getComputedStyle(one).color)"
    problem, usual = dialog.get_by_role("alert").evaluate(colours)
    assert problem != usual
    dialog.get_by_label("Kind").select_option("arena")
    expect(dialog.get_by_label("Rounds")).to_be_hidden()
    dialog.get_by_label("Minutes it lasts").fill("90")
    anna.press("Announce")
    expect(dialog).to_be_hidden()
    expect(anna.page.get_by_role("heading", name="Thursday")).to_be_visible()
    expect(anna.page.get_by_role("button", name="Join", exact=True)).to_be_visible()
    anna.press("Hall")
    expect(anna.page.locator("#tournaments")).to_contain_text("ThursdayArena · Classic · 10+5")
    said = 'tournament new arena for 90 minutes 10+5 classic "Thursday" starts in 15 minutes'
    assert said in anna.sent


def test_tournament_is_read_by_strangers(visit: Visit, server: Served) -> None:
    anna = visit(server=server).come_in("Anna")
    anna.type('tournament new knock-out 5+3 "Cup" starts in 1 hour', "enter 1")
    anna.hears("You're in tournament 1")
    stranger = visit("/tournament/1", server=server)
    expect(stranger.page.locator("#tournament-title")).to_have_text("Cup")
    expect(stranger.page.locator("#crosstable")).to_contain_text("Anna")
    expect(stranger.page.get_by_role("button", name="Join", exact=True)).to_be_hidden()
    stranger.press("Join to play")
    stranger.page.get_by_label("Your name").fill("Bert")
    stranger.page.get_by_role("button", name="Play as guest").click()
    stranger.press("Join")
    expect(stranger.page.get_by_role("row", name="Bert")).to_be_visible()
    for each in (anna, stranger):
        each.loses_server = True


def test_guest_registers_and_goes_on_to_tournaments_of_members(
    visit: Visit, tmp_path: Path, free_port: FreePort
) -> None:
    with Served(tmp_path, free_port(), {"oak": "discworld"}) as server:
        anna = visit(server=server).come_in("Anna")
        anna.loses_server = True
        anna.press("Create a tournament")
        dialog = anna.page.get_by_role("dialog", name="Register")
        expect(dialog).to_contain_text("Registered players can announce tournaments.")
        for label in ("Password", "Password again"):
            dialog.get_by_label(label, exact=True).fill("correct horse")
        anna.press("Register", within="dialog")
        form = anna.page.get_by_role("dialog", name="New tournament")
        expect(form).to_be_visible()
        form.get_by_label("3 days").check(force=True)
        anna.press("Announce", within="dialog")
        bert = visit(server=server).come_in("Bert")
        bert.loses_server = True
        bert.page.locator("#tournaments").get_by_role("link").click()
        bert.press("Join", within="#tournament-actions")
        dialog = bert.page.get_by_role("dialog", name="Register")
        expect(dialog).to_contain_text("This tournament takes days")
        for label in ("Password", "Password again"):
            dialog.get_by_label(label, exact=True).fill("correct horse")
        bert.press("Register", within="dialog")
        expect(bert.page.get_by_role("row", name="Bert")).to_be_visible()


def test_tournament_round_can_be_watched(visit: Visit, server: Served) -> None:
    anna, bert, walt = (visit(server=server).come_in(name) for name in ("Anna", "Bert", "Walter"))
    for each in (anna, bert, walt):
        each.loses_server = True
    anna.type('tournament new round robin 5+3 "Thursday" starts in 20 seconds', "enter 1")
    bert.type("enter 1").hears("You're in tournament 1")
    walt.page.locator("#tournaments").get_by_role("link", name="Thursday").click()
    for each in (anna, bert):  # both are moved to their board
        expect(each.page.locator("body")).to_have_attribute("data-view", "game")
        expect(each.page.locator("#strip-bottom")).to_be_visible()
    when = walt.page.locator("#tournament-when")
    expect(when).to_have_text("Round 1 of 1, 1 match under way")
    board = walt.page.get_by_role("img", name=re.compile("^The .* board: .* and "))
    expect(board).to_be_visible()
    assert board.evaluate("image => image.decode().then(() => image.naturalWidth > 0)")
    anna.type("resign on it").press("Resign", within="dialog")
    match = walt.page.locator("#tournament-matches .what small").first
    expect(match).to_contain_text(re.compile(r"\d+ . \d+"))
    walt.page.get_by_role("button", name=re.compile("^Watch ")).click()
    expect(walt.page.locator("body")).to_have_attribute("data-view", "game")
    walt.press("Hall")
    walt.page.get_by_role("link", name="Thursday", exact=True).click()  # not that at the board
    expect(board).to_be_visible()
    expect(bert.page.locator("#game-facts")).to_contain_text("battle 2 of 2")
    bert.type("resign on it").press("Resign", within="dialog")
    expect(when).to_have_text(re.compile("has won|Over"))
    for each in (anna, bert):
        each.press("Hall")
    expect(board).to_be_hidden()  # closed: a picture of it would be an error on the console


def test_match_leads_back_to_its_tournament(
    visit: Visit, tmp_path: Path, free_port: FreePort
) -> None:
    patient = EVERYBODY.replace("rest = 1", "rest = 600")
    with Served(tmp_path, free_port(), {"oak": "discworld"}, patient) as server:
        anna, bert = (visit(server=server).come_in(name) for name in ("Anna", "Bert"))
        for each in (anna, bert):
            each.loses_server = True
        anna.type('tournament new round robin 5+3 "Thursday" starts in 20 seconds', "enter 1")
        bert.type("enter 1")
        facts = bert.page.locator("#game-facts")
        expect(facts).to_contain_text(re.compile("^Thursday, round 1 · "))
        result = anna.page.get_by_role("region", name=re.compile(" wins?$"))
        anna.type("resign on it").press("Resign", within="dialog")
        soon = re.compile(r"The second battle begins in 5\d\d seconds\.")
        expect(result).to_contain_text(soon)
        result.get_by_role("button", name="Close").click()
        expect(anna.page.locator("#notices")).to_contain_text(soon)
        expect(bert.page.locator("#game .result")).to_contain_text(soon)
        bert.press("Play the second battle")
        expect(facts).to_contain_text("battle 2 of 2")
        bert.type("resign on it").press("Resign", within="dialog")
        back = result.get_by_role("link", name="Back to Thursday")
        expect(back).to_have_class("button primary")
        expect(result.get_by_role("button", name="Rematch")).to_have_class("")
        back.click()
        assert anna.path == "/tournament/1"
        matches = anna.page.locator("#tournament-matches")
        expect(matches.get_by_role("link")).to_have_text([re.compile(r"^\d+ \u2013 \d+$")] * 2)
        expect(matches.get_by_role("link").last).to_have_attribute("href", "/game/2")
        drawn = anna.page.get_by_role("row", name="1 Anna").get_by_role("link", name="drew with")
        expect(drawn).to_have_text("D2drew with Bert")
        expect(anna.page.locator("#crosstable")).to_contain_text("W2: a win against the player")
        expect(drawn).to_have_attribute("href", "/game/1")


def test_crosstable_fits_the_narrowest_phone(visit: Visit, server: Served) -> None:
    anna = visit(server=server, viewport={"width": 320, "height": 568}).come_in("Margaretanncath")
    anna.type('tournament new swiss 3 rounds 5+3 "Narrow" starts in 9 minutes', "enter 1")
    anna.page.locator("#tournaments").get_by_role("link", name="Narrow").click()
    last = anna.page.locator("#crosstable thead th").last
    expect(last).to_have_text("Buch.")
    expect(last.locator("abbr")).to_have_attribute("title", "Buchholz score")
    assert last.evaluate("(each) => each.getBoundingClientRect().right") <= 320
    anna.loses_server = True


def test_axe_finds_no_violations_on_the_tournament_page(visit: Visit, server: Served) -> None:
    anna = visit(server=server, color_scheme="dark").come_in("Anna")
    anna.type('tournament new swiss 3 rounds 5+3 "The long evening" starts in 9 minutes', "enter 1")
    anna.page.locator("#tournaments").get_by_role("link", name="The long evening").click()
    expect(anna.page.get_by_role("row", name="Anna")).to_be_visible()
    found = violations(anna, "tournament in the dark")
    narrow = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    phone = visit("/tournament/1", server=server, **narrow)
    phone.press("Join to play")
    phone.page.get_by_label("Your name").fill("Thea")
    phone.press("Play as guest")
    expect(phone.page.get_by_role("row", name="Anna")).to_be_visible()
    found += violations(phone, "tournament on a phone")
    width = phone.page.evaluate("document.documentElement.scrollWidth")
    assert (found, width) == ([], 360)
    for each in (anna, phone):
        each.loses_server = True
