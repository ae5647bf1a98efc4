"""Pages of players and tournaments, with and without a name."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect

from tests.web.conftest import Visit
from tests.web.test_page import violations


def test_page_of_a_player_is_read_by_strangers(visit: Visit) -> None:
    abel, beth = visit().come_in("Abel"), visit().come_in("Beth")
    abel.type("match beth as dwarf")
    beth.press("Accept", within="#challenges")
    abel.sees(A6="dwarf").press("Resign").press("Resign", within="dialog")
    beth.hears("Abel resigns")
    stranger = visit("/player/abel")
    expect(stranger.page.locator("#player-title")).to_have_text("Abel")
    expect(stranger.page.locator("#player-ratings")).to_contain_text("No rating yet")
    row = stranger.page.get_by_role("row", name="Beth")
    expect(row).to_contain_text("001")
    battle = stranger.page.locator("#player-battles li").first
    expect(battle).to_contain_text("Abel \N{EN DASH} Beth")
    expect(battle.locator(".badge")).to_have_text("lost")
    row.get_by_role("link", name="Beth").click()
    expect(stranger.page.locator("#player-title")).to_have_text("Beth")
    expect(battle.locator(".badge")).to_have_text("won")
    assert stranger.path == "/player/Beth"
    stranger.press("Join to play")
    stranger.page.get_by_label("Your name").fill("Cleo")
    stranger.page.get_by_role("button", name="Play as guest").click()
    expect(stranger.page.locator("#player-title")).to_have_text("Beth")
    stranger.press("Hall")
    link = stranger.page.locator("#who").get_by_role("link", name="Abel")
    link.click()
    expect(stranger.page.locator("#player-title")).to_have_text("Abel")


def test_axe_finds_no_violations_on_the_page_of_a_player(visit: Visit) -> None:
    dana, evan = visit().come_in("Dana"), visit().come_in("Evan")
    for each, words in ((dana, "correct horse"), (evan, "battery staple")):
        each.register(words)
    dana.type("match evan as dwarf")
    evan.press("Accept", within="#challenges")
    for part in ("a", "b"):
        dwarf, troll = (dana, evan) if part == "a" else (evan, dana)
        dwarf.sees(A6="dwarf")
        for row in ("6", "7", "9"):
            dwarf.type(f"a{row} b{row}").sees(**{f"B{row}": "dwarf"})
            troll.sees(**{f"B{row}": "dwarf"})
            origin, target = ("G7", "F7") if row != "7" else ("F7", "G7")
            troll.type(f"{origin} {target}").sees(**{target: "troll"})
            dwarf.sees(**{target: "troll"})
        dana.press("Resign").press("Resign", within="dialog")
        if part == "a":
            dana.press("Play the second battle")
            evan.press("Accept")
    expect(evan.page.get_by_role("button", name="Rematch", exact=True)).to_be_visible()
    narrow: dict[str, Any] = {
        "viewport": {"width": 360, "height": 740},
        "has_touch": True,
        "is_mobile": True,
    }
    phone = visit("/player/Evan", **narrow)
    curve = phone.page.get_by_role("img", name="Discworld, untimed: from")
    expect(curve).to_be_visible()
    width = phone.page.evaluate("document.documentElement.scrollWidth")
    assert (violations(phone, "player"), width) == ([], 360)


def test_page_of_an_unknown_player_is_missing(visit: Visit) -> None:
    player = visit("/nothing.txt")
    answer = player.page.goto(f"{player.page.url.removesuffix('/nothing.txt')}/player/Nemo")
    assert answer
    assert answer.status == 404
    expect(player.page.locator("main")).to_contain_text("There\u2019s no such player")
    player.errors.clear()
