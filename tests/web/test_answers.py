"""Answers to offers and challenges, for players who don't see the log."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Player, Visit
from tests.web.test_page import sit_down

pytestmark = pytest.mark.slow

QUOTE = "\N{RIGHT SINGLE QUOTATION MARK}"

NOTE_BUTTON = """() => {
    window.noted = [];
    const button = document.querySelector("#register-submit");
    const note = () => noted.push([button.textContent, button.disabled]);
    new MutationObserver(note).observe(button, { childList: true, attributes: true });
}"""
"""Notes what the button of the form says, and whether it is disabled, at each change."""


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
    uma.press("Play the second battle")
    vito.press("Decline", within=".result")
    expect_toast(uma, "Vitor declines your offer to begin the battle.")


def test_wrong_piece_is_explained_and_status_does_not_outlive_a_move(visit: Visit) -> None:
    tunk, ulla = sit_down(visit, "elm", ("Tunk", "Ulla"))
    status = tunk.page.locator("#status")
    for name in ("Tunk, dwarfs", "Ulla, trolls"):
        expect(ulla.page.get_by_role("group", name=name)).to_be_visible()
    tunk.square("G7").click()
    expect_toast(tunk, f"That{QUOTE}s Ulla{QUOTE}s troll. You play the dwarfs.")
    ulla.square("A6").click()
    expect_toast(ulla, f"It{QUOTE}s not your turn.")
    tunk.square("A6").click()
    expect(status).to_contain_text("A6 can go to")
    tunk.square("B6").click()
    tunk.sees(B6="dwarf, last move")
    expect(status).to_have_text("")


def test_login_leads_to_the_title_and_registering_is_shown(visit: Visit) -> None:
    player = visit().come_in("Regina")
    expect(player.page.locator("#lobby-title")).to_be_focused()
    player.type("register")
    player.page.evaluate(NOTE_BUTTON)
    for label in ("Password", "Password again"):
        player.page.get_by_label(label, exact=True).fill("correct horse")
    player.press("Register", within="dialog")
    expect(player.page.locator("dialog")).to_be_hidden()
    assert ["Registering \N{HORIZONTAL ELLIPSIS}", True] in player.page.evaluate("noted")


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
    expect_toast(xena, f"Wim{QUOTE}s challenge is withdrawn.")
