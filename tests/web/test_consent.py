"""Confirmations and offers of other players on the page."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Player, Visit
from tests.web.test_page import sit_down

pytestmark = pytest.mark.slow


def notices(player: Player, words: str) -> None:
    """Wait until a notice is shown beside a player's board."""
    expect(player.page.locator("#notices")).to_contain_text(words)


def sought(player: Player, words: str) -> None:
    """Wait until a player is shown that they look for an opponent."""
    expect(player.page.locator("#sought")).to_contain_text(words)


def test_server_confirmation_is_shown_as_a_dialog(visit: Visit) -> None:
    mona, nick = sit_down(visit, "poplar", ("Mona", "Nick"))
    dialog = mona.page.locator("dialog")
    mona.press("Resign")
    expect(dialog).to_contain_text(
        "Really resign the first battle at the poplar board? Nick would win it 32 to 0."
    )
    expect(dialog).not_to_contain_text("Type")
    mona.press("Cancel", within="dialog").hears("You play on.")
    mona.type("a6 b6").sees(B6="dwarf")
    nick.type("resign")
    nick.press("Resign", within="dialog")
    mona.hears("Nick resigns")
    nick.press("Leave the seat")
    expect(nick.page.locator("dialog")).to_contain_text("Mona leads 32 to 0.")
    nick.press("Leave", within="dialog")
    mona.hears("Nick leaves the")


def test_rematch_is_offered_and_accepted(visit: Visit) -> None:
    olaf, perla = sit_down(visit, "juniper", ("Olaf", "Perla"))
    olaf.press("Resign").press("Resign", within="dialog")
    olaf.press("Play the second battle")
    notices(olaf, "You offer to begin the second battle.")
    expect(perla.page.locator(".result")).to_contain_text("Olaf offers to begin the second battle.")
    perla.press("Decline")  # on the card
    expect(perla.page.locator(".result")).to_be_hidden()
    expect(olaf.page.locator("#notices")).not_to_contain_text("You offer")
    olaf.press("Play the second battle")
    notices(perla, "Olaf offers to begin the second battle.")
    expect(perla.page.get_by_role("button", name=re.compile("Play the second"))).to_have_count(0)
    perla.press("Accept", within="#notices")
    perla.press("Resign").press("Resign", within="dialog")
    olaf.press("Rematch")
    notices(olaf, "You offer a rematch.")
    perla.press("Decline", within=".result")
    expect(olaf.page.locator("#notices")).not_to_contain_text("a rematch")
    perla.press("Rematch")
    olaf.press("Accept", within="#notices")
    for each in (olaf, perla):
        each.hears("begin a match")
        expect(each.page.get_by_role("button", name="Resign", exact=True)).to_be_visible()


def test_busy_player_is_asked_before_an_accepted_seek_begins(visit: Visit) -> None:
    quin, _ = sit_down(visit, "cedar", ("Quin", "Sam"))
    rosa = visit().come_in("Rosa")
    quin.type("seek")
    sought(quin, "Searching for a person: Discworld. You\u2019ll be asked first.")
    quin.type("a6 b6").sees(B6="dwarf")
    rosa.type("accept quin").hears("has been asked whether to begin yours instead")
    wish = "Rosa wants to play you now (Discworld, casual)."
    expect(quin.page.locator("#challenges")).to_contain_text(wish)
    quin.press("Not now", within="#challenges")
    rosa.hears("Quin declines.")
    expect(quin.page.locator("#sought")).not_to_contain_text("Searching")
    quin.sees(B6="dwarf").type("seek")
    rosa.type("accept quin")
    quin.press("Play now", within="#challenges")
    for each in (quin, rosa):
        each.hears("begin a match").sees(A6="dwarf", B6="empty")


def test_seek_can_be_cancelled_beside_the_board(visit: Visit) -> None:
    sven = visit().come_in("Sven")
    sven.type("seek 5+3", "go to spruce")
    sought(sven, "Searching for a person: Discworld, 5+3.")
    sven.press("Cancel", within="#sought")
    expect(sven.page.locator("#sought")).not_to_contain_text("Searching")


def test_resuming_a_match_requires_both_players(visit: Visit) -> None:
    tara, udo = sit_down(visit, "willow", ("Tara", "Udo"))
    tara.type("adjourn")
    udo.press("Accept", within="#notices")
    tara.hears("adjourn your match").type("resume")
    asked = "Tara asks you to go on with battle"
    expect(udo.page.locator("#challenges")).to_contain_text(asked)
    udo.press("Go on", within="#challenges")
    tara.hears("resume your match at the willow board")
    expect(tara.page.get_by_role("button", name="Resign", exact=True)).to_be_visible()


def test_tap_meant_for_what_was_there_before_accepts_no_offer(visit: Visit) -> None:
    anna, bert = sit_down(visit, "rowan", ("Tappa", "Tappo"))
    bert.type("end game")
    accept = anna.page.get_by_role("button", name="Accept", exact=True)
    expect(accept).to_be_visible()
    states = """(each) => {
        each.style.setProperty("animation", "none", "important");
        getComputedStyle(each).animationName;
        each.style.removeProperty("animation");
        const [arrival] = each.getAnimations();
        return [0, 5000].map((at) => {
            arrival.currentTime = at;
            return getComputedStyle(each).pointerEvents;
        });
    }"""
    assert accept.evaluate(states) == ["none", "auto"]
    accept.click()
    expect(anna.page.locator(".result")).to_be_visible()
