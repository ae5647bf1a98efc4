"""Answers to offers and challenges, for players who don't see the log."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Player, Visit
from tests.web.test_page import sit_down

pytestmark = pytest.mark.slow


def expect_toast(player: Player, words: str) -> None:
    """Wait until a toast says just these words."""
    expect(player.page.locator("#toast.shown")).to_have_text(words)


def test_declined_offers_are_toasted_with_the_score_before(visit: Visit) -> None:
    uma, vito = sit_down(visit, "oak", ("Umara", "Vitor"))
    for each in (uma, vito):
        each.page.locator("#tab-chat").click()
    uma.press("Offer to end")
    drawn = "As it stands, the battle would be drawn 32 all."
    expect(uma.page.locator("dialog")).to_contain_text(f"count the points? {drawn}")
    uma.press("Offer to end", within="dialog")
    expect(vito.page.locator("#notices")).to_contain_text(f"count the points. {drawn}")
    vito.press("Decline", within="#notices")
    expect_toast(uma, "Vitor declines your offer to end the battle.")
    uma.press("Adjourn").press("Adjourn", within="dialog")
    vito.press("Decline", within="#notices")
    expect_toast(uma, "Vitor declines your offer to adjourn the match.")
    uma.press("Resign").press("Resign", within="dialog")
    uma.press("Offer the second battle")
    vito.press("Decline", within=".result")
    expect_toast(uma, "Vitor declines your offer to begin the battle.")


def test_challenge_is_confirmed_and_its_refusal_is_toasted(visit: Visit) -> None:
    wim, xena = (visit(viewport={"width": 390, "height": 700}).come_in(n) for n in ("Wim", "Xena"))
    challenge = wim.page.get_by_role("button", name="Challenge Xena")
    challenge.click()
    expect_toast(wim, "Challenge sent to Xena: Discworld, casual.")
    xena.press("Decline", within="#challenges")
    expect_toast(wim, "Xena declines your challenge.")
    challenge.click()
    expect(xena.page.locator("#challenges")).to_contain_text("Wim challenges you")
    wim.press("Withdraw the challenge to Xena")
    expect_toast(xena, "Wim\N{RIGHT SINGLE QUOTATION MARK}s challenge is withdrawn.")
