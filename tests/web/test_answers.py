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
    declined = uma.page.locator("#chat").get_by_text("Vitor declines your offer to")
    expect(declined).to_have_count(3)  # to be read again


def test_hint_of_the_opponent_is_shown_beside_the_board(visit: Visit) -> None:
    hilma, hiob = sit_down(visit, "ash", ("Hilma", "Hiob"))
    hiob.page.locator("#tab-log").click()
    hilma.square("A6").focus()
    hilma.page.keyboard.press("h")
    expect_toast(hiob, "Hilma asked for a hint.")
    expect(hiob.page.locator("#chat")).to_contain_text("Hilma asked for a hint.")
    hilma.page.keyboard.press("u")
    expect_toast(hilma, "You haven\u2019t moved yet.")
    hilma.click("A6", "B6").sees(B6="dwarf")
    hilma.page.keyboard.press("u")
    hilma.press("Undo", within="dialog")
    expect(hiob.page.locator("#notices")).to_contain_text("asks to take back")


def test_message_is_read_by_a_button(visit: Visit) -> None:
    gerd, gisa = visit().come_in("Gerd").register(), visit().come_in("Gisa").register()
    gerd.type("message gisa Shall we play on Sunday?")
    notice = gisa.page.locator("#challenges")
    expect(notice).to_contain_text("Gerd has left you a message.")
    gisa.press("Later", within="#challenges")
    expect(notice).to_be_empty()
    gisa.page.reload()
    expect(notice).to_contain_text("You have 1 new message.")
    gisa.press("Read", within="#challenges")
    dialog = gisa.page.get_by_role("dialog", name="Messages")
    expect(dialog).to_contain_text("Gerd Shall we play on Sunday?")
    gisa.press("Close", within="dialog")
    expect(notice).to_be_empty()


def test_wrong_piece_is_explained_and_status_does_not_outlive_a_move(visit: Visit) -> None:
    tunk, ulla = sit_down(visit, "elm", ("Tunk", "Ulla"))
    status = tunk.page.locator("#status")
    for name in ("Tunk, dwarfs", "Ulla, trolls"):
        expect(ulla.page.get_by_role("group", name=name)).to_be_visible()
    tunk.square("G7").click()
    expect_toast(tunk, f"That{QUOTE}s Ulla{QUOTE}s troll. You play the dwarfs.")
    tunk.square("H8").click()
    expect_toast(tunk, f"That{QUOTE}s the Thudstone. Nobody can move it.")
    ulla.square("A6").click()
    expect_toast(ulla, f"It{QUOTE}s not your turn.")
    tunk.square("A6").click()
    expect(status).to_contain_text("A6 can go to")
    tunk.square("H9").click()
    expect_toast(tunk, f"A6 can{QUOTE}t go to H9, and is put back.")
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
    wim.press("Send challenge")
    expect_toast(wim, "Challenge sent to Xena: Discworld, casual.")
    xena.press("Decline", within="#challenges")
    expect_toast(wim, "Xena declines your challenge.")
    challenge.click()
    wim.press("Send challenge")
    expect(xena.page.locator("#challenges")).to_contain_text("Wim challenges you")
    wim.press("Withdraw the challenge to Xena")
    expect_toast(xena, f"Wim{QUOTE}s challenge is withdrawn.")
