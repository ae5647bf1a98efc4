"""What strangers write is text to everybody else's browser, wherever it is shown."""

from __future__ import annotations

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
NOT_OURS = "img, a[href^='javascript:'], h1:text('owned'), style:text('display:none')"

pytestmark = pytest.mark.slow


def test_what_is_said_is_text(visit: Visit) -> None:
    anna, bert = visit().come_in("Hanna"), visit().come_in("Hubert")
    for words in HOSTILE[:2]:  # so much as one may talk
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


def solid(text: str) -> str:
    """Return a text as if it were one long word: lines are wrapped, for readers with "more:"."""
    return "".join(text.split()).replace("more:", "")


@pytest.mark.parametrize("name", ["<b>Anna</b>", "Anna<img src=x>", "An&na"])
def test_no_name_holds_html(visit: Visit, name: str) -> None:
    anna = visit()
    anna.page.get_by_label("Your name").fill(name)
    anna.page.get_by_role("button", name="Come in").click()
    expect(anna.page.locator("body")).not_to_have_attribute("data-view", "lobby")
    assert anna.page.locator("img, main b").count() == 0
