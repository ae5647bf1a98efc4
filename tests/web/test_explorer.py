"""The opening explorer beside replays and boards."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Locator, WebSocketRoute, expect

from tests.web.conftest import Player, Served, Visit
from tests.web.test_hostile_words import NOT_OURS
from tests.web.test_page import violations

SETUP = "setup dwarfs {} trolls g8 turn dwarfs"
"""An opening that no other test has."""

pytestmark = pytest.mark.slow


def rows(player: Player) -> Locator:
    return player.page.locator(".explorer:visible tbody tr")


def ply(origin: str, target: str) -> str:
    return f"{origin}\N{EN DASH}{target}"


def opened(player: Player) -> Player:
    player.page.locator(".explorer:visible summary").click()
    return player


def over(player: Player) -> str:
    """End the practice battle and open its replay; return its path."""
    player.press("End").press("End", within="dialog")
    player.page.get_by_role("link", name="Analyse").click()
    expect(player.page.locator("#replay-moves [aria-current]")).to_be_visible()
    player.press("First move")
    return player.path.partition("#")[0]


def test_explorer_beside_a_replay(visit: Visit) -> None:
    anna = visit().come_in("Edda").practises("holly", SETUP.format("a6, f1"))
    anna.click("A6", "B6").sees(B6="dwarf")
    first = over(anna)
    anna.press("Holly board").practises("holly", SETUP.format("a6, f1"))
    anna.click("A6", "C6").sees(C6="dwarf").click("G8", "G9").sees(G9="troll")
    second = over(anna)
    opened(anna)
    expect(rows(anna)).to_have_count(2)
    here = rows(anna).filter(has_text=ply("A6", "C6"))
    expect(here).to_have_attribute("aria-current", "step")
    expect(here).to_contain_text("dwarfs won 0, drawn 0, trolls won 1")
    expect(rows(anna).filter(has_text=ply("A6", "B6"))).not_to_have_attribute(
        "aria-current", "step"
    )
    anna.press("Next move").sees(C6="dwarf, last move")
    expect(rows(anna)).to_have_count(1)
    expect(rows(anna)).to_contain_text(ply("G8", "G9"))
    explorer = anna.page.locator("#replay-explorer")
    expect(explorer).to_contain_text("Mirrored positions count as one.")
    anna.press("Next move").sees(G9="troll, last move")
    expect(explorer).to_contain_text("The battle ended here.")
    expect(explorer).not_to_contain_text("No finished battle")
    anna.press("First move").sees(A6="dwarf")
    link = rows(anna).filter(has_text=ply("A6", "B6")).get_by_role("link")
    expect(link).to_have_attribute("aria-label", re.compile(r"^Battle #\d+, Edda . Edda, "))
    link.click()
    anna.sees(A6="dwarf")
    assert anna.path.partition("#")[0] == first
    expect(rows(anna).filter(has_text=ply("A6", "B6"))).to_have_attribute("aria-current", "step")
    anna.page.reload()  # the explorer stays open
    expect(rows(anna)).to_have_count(2)
    assert violations(anna, "explorer") == []
    stranger = opened(visit(second))
    expect(rows(stranger)).to_have_count(2)
    expect(rows(stranger).filter(has_text=ply("A6", "C6"))).to_have_attribute(
        "aria-current", "step"
    )
    anna.type("leave game on holly")


def test_explorer_on_a_phone_and_by_keyboard(visit: Visit) -> None:
    anna = visit().come_in("Elke").practises("holly", SETUP.format("a6, g1"))
    anna.click("A6", "B6").sees(B6="dwarf")
    place = over(anna)
    phone = visit(place, viewport={"width": 360, "height": 740}, has_touch=True)
    summary = phone.page.locator(".explorer:visible summary")
    summary.focus()
    phone.page.keyboard.press("Enter")
    expect(rows(phone)).to_have_count(1)
    assert phone.page.evaluate("document.documentElement.scrollWidth") == 360
    box, table = phone.page.locator(".panel:visible").bounding_box(), rows(phone).bounding_box()
    assert box
    assert table
    assert table["x"] >= box["x"]
    assert table["x"] + table["width"] <= box["x"] + box["width"]
    assert violations(phone, "explorer on a phone") == []
    phone.page.keyboard.press("Tab")
    expect(rows(phone).get_by_role("link")).to_be_focused()
    link = rows(phone).get_by_role("link").bounding_box()
    assert link
    assert min(link["width"], link["height"]) >= 44
    summary.press("Enter")
    expect(rows(phone)).to_be_hidden()
    anna.type("leave game on holly")


def test_explorer_is_hidden_from_players_of_the_board(visit: Visit) -> None:
    anna = visit().come_in("Ella").practises("holly", SETUP.format("a6, h1"))
    anna.click("A6", "B6").sees(B6="dwarf")
    over(anna)
    anna.press("Holly board").press("Leave the seat")
    bert, carl = visit().come_in("Emil"), visit().come_in("Egon")
    anna.type("join as dwarf on holly", SETUP.format("a6, h1"))
    bert.type("go to holly", "join as troll on holly", "start game").hears("begin a match")
    carl.type("observe holly board")
    opened(carl)
    expect(rows(carl)).to_contain_text(ply("A6", "B6"))
    anna.sees(A6="dwarf")
    for player in (anna, bert):
        expect(player.page.locator("#explorer")).to_be_hidden()
    anna.click("A6", "C6")
    carl.sees(C6="dwarf")
    expect(carl.page.locator("#explorer")).to_contain_text("No finished battle")
    carl.press("Previous move").sees(A6="dwarf")
    expect(rows(carl)).to_contain_text(ply("A6", "B6"))
    nobody = visit("/board/holly").sees(C6="dwarf")
    expect(nobody.page.locator("#explorer")).to_be_hidden()
    bert.press("Resign").press("Resign", within="dialog")
    for player in (anna, nobody):
        player.page.get_by_role("link", name="Analyse").click()
        expect(player.page.locator("#replay-moves [aria-current]")).to_be_visible()
        player.press("First move")
        expect(rows(opened(player))).to_have_count(2)
        player.press("Next move").sees(C6="dwarf, last move")
        expect(player.page.locator("#replay-explorer")).to_contain_text("The battle ended here.")
    anna.type("leave game on holly").press("Leave", within="dialog")
    anna.hears("You leave the")
    bert.type("leave game")


def test_explorer_escapes_names(visit: Visit) -> None:
    """Stored names consist of letters only, but the page doesn't rely on that."""
    anna = visit().come_in("Elvira").practises("holly", SETUP.format("a6, j1"))
    anna.click("A6", "B6").sees(B6="dwarf")
    place = over(anna)
    anna.type("leave game on holly")
    hostile = "<img src=x onerror=document.title='owned'>"
    stranger = visit()

    def told(link: WebSocketRoute) -> None:
        server = link.connect_to_server()

        def passed_on(frame: str | bytes) -> None:
            if isinstance(frame, str) and frame.startswith("Thud.Explored"):
                frame = frame.replace('"Elvira"', json.dumps(hostile))
            link.send(frame)

        server.on_message(passed_on)

    stranger.page.route_web_socket("**", told)
    stranger.page.goto(anna.page.url.partition("/game/")[0] + place)
    opened(stranger)
    expect(rows(stranger).get_by_role("link")).to_have_attribute("title", re.compile("^<img src=x"))
    expect(stranger.page.locator("#replay-explorer")).to_contain_text(hostile)
    assert stranger.page.locator(NOT_OURS).count() == 0
    assert "owned" not in stranger.page.title()


def test_board_offers_picture_embed_and_download(visit: Visit, served: Served) -> None:
    anna = visit().come_in("Elisa").practises("holly").click("A6", "B6").sees(B6="dwarf")
    anna.press("Share").press("Picture")
    dialog = anna.page.locator("dialog")
    expect(dialog).to_contain_text("Holly board")
    with anna.page.expect_download() as picture:  # a download, not a navigation
        dialog.get_by_role("link", name="SVG").click()
    assert picture.value.path().read_text("utf-8").startswith("<svg")
    links = [each.get_attribute("href") or "" for each in dialog.get_by_role("link").all()]
    assert [link.partition("?")[0] for link in links] == [
        f"/board/holly%20board.{kind}" for kind in ("svg", "png", "gif")
    ]
    for link in links:
        got = anna.page.request.get(served.address + link)
        assert (got.status, "image/" in got.headers["content-type"]) == (200, True)
    anna.press("Close").press("Share").press("Embed")
    address = f"{served.address}/embed/board/holly%20board"
    expect(dialog.get_by_label("HTML")).to_have_value(re.compile(f'^<iframe src="{address}"'))
    anna.press("Close", within="dialog")
    anna.press("Share")
    with anna.page.expect_download() as download:
        anna.page.locator("#share").get_by_role("link", name="Download").click()
    assert download.value.path().read_text("utf-8").endswith("\ndA6-B6\n")
    anna.type("leave game")


def test_explorer_says_that_variations_have_no_statistics(visit: Visit) -> None:
    vera = visit().come_in("Variata").practises("cedar", SETUP.format("a6, e1"))
    vera.click("A6", "B6").sees(B6="dwarf")
    over(vera)
    opened(vera)
    vera.press("Try other moves").click("A6", "C6").sees(C6="dwarf, last move")
    explorer = vera.page.locator("#replay-explorer")
    expect(explorer).to_contain_text("No statistics for variations.")
    vera.press("Previous move").sees(A6="dwarf")
    expect(rows(vera)).to_contain_text(ply("A6", "B6"))


def test_explorer_that_was_left_open_hides_no_facts_of_a_battle(visit: Visit) -> None:
    player = visit(viewport={"width": 1366, "height": 650}).come_in("Edelgard")
    player.page.evaluate("""() => localStorage.setItem("thud.settings",
        JSON.stringify({ ...JSON.parse(localStorage["thud.settings"]), explores: true }))""")
    player.page.reload()
    expect(player.page.locator("#lobby-title")).to_be_visible()
    player.practises("osier").click("A6", "B6").sees(B6="dwarf")
    expect(player.page.locator("#explorer")).to_have_attribute("open", "")
    expect(player.page.locator("#game-facts")).to_be_visible()
