"""Replays on the page: playing back, keys and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Player, Served, Visit, served_boards

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def replays(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("replays")
    with served_boards(folder, {"oak": "discworld", "elm": "discworld"}) as server:
        yield server


def finish_battle(visit: Visit, server: Served, name: str, board: str) -> Player:
    """Practise a battle of four moves to its end, and open its replay."""
    player = visit(server=server).come_in(name).practises(board)
    for number, line in enumerate(("f1-f6", "g7-g6 capturing none", "a6-b6", "h7-h6"), 1):
        player.type(line)
        expect(player.page.locator("#moves [data-ply]")).to_have_count(number)
    player.type("end game")
    player.page.get_by_role("link", name="Analyse").click()
    expect(player.page.locator("#replay-moves [data-ply]")).to_have_count(4)
    return player.press("First move")


MOVE = 375
"""Milliseconds that a move is shown at the highest speed."""


def current_ply(player: Player, number: int) -> None:
    current = player.page.locator("#replay-moves [aria-current]")
    expect(current).to_have_attribute("data-ply", str(number))


def test_replay_plays_back_until_paused_or_over(visit: Visit, replays: Served) -> None:
    player = finish_battle(visit, replays, "Rita", "oak")
    page = player.page
    expect(page.get_by_role("button", name="1\N{MULTIPLICATION SIGN} speed")).to_be_visible()
    for speed in ("1", "2"):
        player.press(f"{speed}\N{MULTIPLICATION SIGN} speed")
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    player.press("Play the moves")
    page.clock.run_for(MOVE)
    current_ply(player, 1)
    page.keyboard.press("p")  # the focus is on the button, which has become "Pause"
    expect(page.get_by_role("button", name="Play the moves")).to_be_focused()
    player.press("Play the moves")
    page.clock.run_for(3 * MOVE)
    current_ply(player, 4)
    expect(page.get_by_role("button", name="Play the moves")).to_be_visible()
    player.press("Play the moves")  # from the start again
    page.clock.run_for(2 * MOVE)
    current_ply(player, 2)
    player.press("Previous move")
    expect(page.get_by_role("button", name="Play the moves")).to_be_visible()
    current_ply(player, 1)
    page.clock.resume()
    page.reload()
    expect(page.get_by_role("button", name="4\N{MULTIPLICATION SIGN} speed")).to_be_visible()


def test_replay_is_stepped_by_keys_and_opened_by_links(visit: Visit, replays: Served) -> None:
    player = finish_battle(visit, replays, "Rolf", "elm")
    page = player.page
    path = re.sub("#.*", "", player.path)
    page.locator("body").focus()
    for key, ply in (("End", 4), ("ArrowLeft", 3), ("ArrowRight", 4)):
        page.keyboard.press(key)
        current_ply(player, ply)
    page.keyboard.press("Home")
    expect(page.locator("#replay-moves [aria-current]")).to_have_count(0)
    player.square("A6").focus()
    for label in ("Pause", "Play the moves"):
        page.keyboard.press("p")
        expect(page.get_by_role("button", name=label)).to_be_visible()
    page.keyboard.press("?")
    dialog = page.locator("dialog")
    expect(dialog).to_contain_text("Keyboard shortcuts")
    expect(dialog).to_contain_text("play or pause a replay")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    for fragment, ply in (("#end", 4), ("#ply=2", 2), ("#3", 3)):
        stranger = visit(path + fragment, server=replays)
        current_ply(stranger, ply)
