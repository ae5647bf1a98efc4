"""Text written by strangers is never markup in other players' browsers."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Visit

HOSTILE = (
    "<script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "<svg onload=\"document.title='owned'\">",
    "<a href=\"javascript:document.title='owned'\">x</a>",
    "<style>body{display:none}</style>",
    "</div></body><h1>owned</h1>",
    "&lt;b&gt; &amp; ${document.title='owned'} {{1+1}}",
)
LISTED = re.compile(r"([0-9]+)\. [^:]*: Heidi \(dwarfs\)")
NOT_OURS = "img, a[href^='javascript:'], h1:text('owned'), style:text('display:none')"

pytestmark = pytest.mark.slow


def test_talk_is_escaped(visit: Visit) -> None:
    anna, bert = visit().come_in("Hanna"), visit().come_in("Hubert")
    for words in HOSTILE[:2]:  # as much as the talk limit allows
        anna.type(f"say {words}", f"emote {words}", f"tell hubert {words}")
    for words in HOSTILE[2:]:
        anna.type(f"say {words}")
    anna.type("say that is all")
    bert.hears("that is all")
    heard = solid(bert.page.locator("#log").inner_text())
    assert [heard.count(solid(words)) for words in HOSTILE] == [3, 3, 1, 1, 1, 1, 1]
    for each in (anna, bert):
        assert each.page.locator(NOT_OURS).count() == 0
        assert "owned" not in each.page.title()


def test_comments_are_escaped(visit: Visit) -> None:
    anna, bert = visit().come_in("Heidi"), visit().come_in("Hanno")
    anna.type("go to hazel", "join game as dwarf").hears("You sit down")
    bert.type("go to hazel", "join game as troll", "start game").hears("begin a match")
    anna.sees(F1="dwarf").type("move from f1 to f6")
    bert.sees(F6="dwarf").type("resign on it").press("Resign", within="dialog").type("history")
    # Other tests share the server, so the number of the battle isn't known in advance.
    expect(bert.page.locator("#log")).to_contain_text(LISTED)
    found = LISTED.search(bert.page.locator("#log").inner_text())
    assert found
    number = found[1]
    anna.type(*(f"comment {number} {ply} {words}" for ply, words in enumerate(HOSTILE[:2])))
    bert.hears(f"comments on move 1 of battle {number}")
    bert.type(f"replay {number}", "next")
    nobody = visit(f"/game/{number}#ply=1")
    for player in (bert, nobody):
        expect(player.page.locator("#comments")).to_have_text(f"Heidi: {HOSTILE[1]}")
    bert.type("back")
    expect(bert.page.locator("#comments")).to_have_text(f"Heidi: {HOSTILE[0]}")
    log = solid(bert.page.locator("#log").inner_text())
    assert [log.count(solid(words)) for words in HOSTILE[:2]] == [3, 2]
    for player in (anna, bert, nobody):
        assert player.page.locator(NOT_OURS).count() == 0
        assert "owned" not in player.page.title()


def solid(text: str) -> str:
    """Return a string without whitespace, which line wrapping changes."""
    return "".join(text.split())


def test_html_in_a_name_is_refused(visit: Visit) -> None:
    anna = visit()
    for name in ("<b>Anna</b>", "Anna<img src=x>", "An&na"):
        anna.page.get_by_label("Your name").fill(name)
        anna.page.get_by_role("button", name="Play as guest").click()
        expect(anna.page.locator("#login-note")).to_contain_text("A name is 2 to 20 letters")
        expect(anna.page.locator("body")).not_to_have_attribute("data-view", "lobby")
        assert anna.page.locator("img, main b").count() == 0
        anna.page.reload()
