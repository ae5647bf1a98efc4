"""What screen readers are told: headings, live regions, and each thing once."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import WebSocketRoute, expect

from tests.web.conftest import Player, Served, Visit, served_boards
from tests.web.test_page import SHORT, sit_down

pytestmark = pytest.mark.slow

BOARDS = ("oak", "elm", "ash", "fir", "yew", "bay", "box", "gum", "fig", "nut")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    boards = dict.fromkeys(BOARDS, "discworld")
    with served_boards(tmp_path_factory.mktemp("heard"), boards) as server:
        yield server


LISTEN = """() => {
    window.heard = [];
    const region = (node) => {
        let found = null;
        for (let each = node; each; each = each.parentElement) {
            const live = each.getAttribute("aria-live");
            if (live === "off" || each.ariaHidden === "true") return null;
            if (getComputedStyle(each).display === "none") return null;
            if (live || ["log", "status"].includes(each.getAttribute("role"))) found ??= each.id;
        }
        return found;
    };
    const listener = new MutationObserver((changes) => {
        for (const node of changes.flatMap((each) => [...each.addedNodes])) {
            const host = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
            const live = host && region(host);
            if (live && node.textContent.trim()) window.heard.push([live, node.textContent]);
        }
    });
    listener.observe(document.body, { childList: true, subtree: true });
}"""
"""Notes what is added to live regions, with the regions' names."""


LISTEN_FROM_THE_BEGINNING = f"""new MutationObserver((_, observer) => {{
    if (!document.body) return;
    observer.disconnect();
    ({LISTEN})();
}}).observe(document, {{ childList: true, subtree: true }});"""
"""The same, for a page that is loaded."""


def begin(visit: Visit, board: str, *names: str) -> tuple[Player, Player]:
    """Return two players of a match, who have made a move each."""
    dwarf, troll = (visit().come_in(name) for name in names)
    dwarf.type(f"join game as dwarf on {board} board")
    troll.type(f"join game as troll on {board} board", "start")
    expect(dwarf.page.get_by_role("button", name="Resign", exact=True)).to_be_visible()
    dwarf.type("a6-b6")
    troll.sees(B6="dwarf").type("g7-g6")
    for each in (dwarf, troll):
        each.sees(G6="troll").page.evaluate(LISTEN)
    return dwarf, troll


def heard(player: Player, until: str) -> list[list[str]]:
    """Return what has been heard, once that includes some words."""
    player.page.wait_for_function(
        "words => heard.some((each) => each[1].includes(words))", arg=until
    )
    told: list[list[str]] = player.page.evaluate("() => heard.splice(0)")
    return told


def test_offers_and_results_are_short_and_name_no_commands(visit: Visit) -> None:
    dwarf, troll = begin(visit, "oak", "Ohm", "Ott")
    troll.press("Offer to end").press("Offer to end", within="dialog")
    [[region, offer]] = heard(dwarf, "offers to end")
    assert region == "log"
    assert offer.splitlines() == [
        "Ott offers to end the battle.",
        "As it stands, the battle would be drawn 32 all.",
    ]
    troll.press("Resign")
    expect(troll.page.locator("dialog")).to_contain_text("Ohm would win it 32 to 0.")
    troll.press("Resign", within="dialog")
    [[_, result]] = heard(dwarf, "You win the battle")
    assert result.splitlines() == [
        "Ott resigns.",
        "You win the battle, 32 to 0!",
        "Match score: you 32, Ott 0.",
    ]
    said = heard(troll, "Ohm wins the battle")
    assert not any('"' in words or "Really" in words for _, words in said)
    troll.press("Play the second battle")
    [[_, offer]] = heard(dwarf, "second battle")
    assert offer == "Ott offers to begin the second battle (discworld rules)."


def test_buttons_are_not_echoed_and_typed_commands_are(visit: Visit) -> None:
    dwarf, _ = begin(visit, "elm", "Elsa", "Emil")
    echoes = dwarf.page.locator("#log .typed")
    before = echoes.count()
    dwarf.press("Hint").hears("Try ")
    expect(echoes).to_have_count(before)
    dwarf.type("last")
    expect(echoes.last).to_have_text("last")


def test_analysis_and_its_verdicts_are_said_once(visit: Visit) -> None:
    anna, bert = sit_down(visit, "fir", ("Asta", "Atle"), SHORT)
    anna.click("E6", "E10").sees(E10="dwarf")  # exposes F6 to the trolls
    bert.type("g8-f7 capturing f6")
    anna.sees(F7="troll").press("Resign").press("Resign", within="dialog")
    expect(anna.page.locator(".result")).to_be_visible()
    anna.page.locator(".result").get_by_role("link", name="Analyse").click()
    anna.page.evaluate(LISTEN)
    anna.press("Computer analysis")
    expect(anna.page.locator("#replay-curve svg .slip")).to_have_count(1)
    started, done = [words for _, words in heard(anna, "is analysed.")]
    assert "You'll be told when it's done." in " ".join(started.split())
    assert "the trolls made no mistakes" in " ".join(done.split())
    anna.press("First move").press("Next move")
    (move,) = [said for said in heard(anna, "blunder") if "beginning" not in said[1]]
    assert move[0] == "status"
    assert re.match(r"E6.E10, move 1: dwarf\. A blunder: it loses [\d.]+ points\.", move[1])


OUTLINE = """() => [...document.querySelectorAll("h1, h2, h3, [role=grid], [role=log]")]
    .filter((each) => each.checkVisibility())
    .map((each) => (/^H/.test(each.tagName) ? `${each.tagName} ${each.textContent}` : each.role))"""
"""Lists the headings in view and what they head, in their order."""


def test_game_has_an_outline_of_headings(visit: Visit) -> None:
    anna = visit().come_in("Hedda").practises("ash").type("a6-b6").sees(B6="dwarf")
    parts = ["H2 Board", "grid", "H2 Game", "H2 Moves", "H2 Chat and log", "log"]
    assert anna.page.evaluate(OUTLINE) == ["H1 Ash board", *parts]
    anna.type("end game")
    anna.page.get_by_role("link", name="Analyse").click()
    expect(anna.page.locator("#replay-moves .ply")).to_have_count(1)
    title, *rest = anna.page.evaluate(OUTLINE)
    assert title.startswith("H1 Battle ")
    assert rest == parts


def test_lesson_begins_at_the_piece_that_it_speaks_of(visit: Visit) -> None:
    lea = visit().come_in("Leanne").press("Learn the rules")
    expect(lea.square("A6")).to_be_focused()
    expect(lea.page.locator("#log")).not_to_contain_text(re.compile("[Cc]lick"))
    expect(lea.page.locator("#strip-top")).to_contain_text("the tutor")


def test_arrivals_are_silent_while_a_board_is_watched(visit: Visit) -> None:
    dwarf, troll = begin(visit, "yew", "Silas", "Silke")
    watcher = visit().come_in("Wilma").type("observe yew board").sees(G6="troll")
    watcher.page.evaluate(LISTEN)
    passer = visit().come_in("Balduin")
    passer.type("go to elm board", "shout Here I am!")
    watcher.hears("Here I am!")
    expect(watcher.page.locator("#log")).not_to_contain_text("Balduin comes")
    dwarf.type("b6-c6")
    told = heard(watcher, "C6")
    assert not any("Balduin comes" in words or "Balduin goes" in words for _, words in told)
    watcher.press("Hall")
    expect(watcher.page.locator("#lobby-title")).to_be_visible()
    passer.type("go to hall")
    told = heard(watcher, "Balduin comes in.")
    assert len([words for _, words in told if "Balduin" in words]) == 1
    for each in (dwarf, troll):
        each.page.close()


def test_greeting_for_those_who_type_is_left_out(visit: Visit) -> None:
    newcomer = visit().come_in("Greta").hears("You come into the hall.")
    expect(newcomer.page.locator("#log")).not_to_contain_text("Welcome to thudmud")


def test_texts_for_those_who_click_name_no_commands(visit: Visit) -> None:
    clare = visit().come_in("Clare").press("Learn the rules")
    clare.page.evaluate(LISTEN)
    clare.press("Leave")
    told = heard(clare, "You leave the tutorial.")
    assert not any('"' in words for _, words in told)
    clare.press("Challenge a friend").press("Close", within="dialog")
    clare.press("Withdraw", within="#seeks")
    told = heard(clare, "Your challenge is withdrawn.")
    assert not any('"' in words for _, words in told)
    clare.type("go to box board", "chat on chair", "join game as dwarf on box board", "start")
    [[_, refusal]] = [said for said in heard(clare, "A battle needs") if "needs" in said[1]]
    assert refusal == "A battle needs two players. The troll seat is free."
    expect(clare.page.locator("#log")).to_contain_text('"shout" to everybody')
    clare.type("leave game")


def test_key_shows_its_own_answer_and_nothing_that_comes_before(
    visit: Visit, served: Served
) -> None:
    held: list[str] = []
    sockets: list[WebSocketRoute] = []

    def hold_answers(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        server = socket.connect_to_server()
        server.on_message(
            lambda sent: (
                held.append(sent)
                if isinstance(sent, str) and sent.startswith("Thud.Answer")
                else socket.send(sent)
            )
        )

    asker = visit("/nothing.txt")
    asker.errors.clear()  # of the missing page
    asker.page.route_web_socket("**/ws", hold_answers)
    asker.page.goto(served.address)
    asker.come_in("Keyla").practises("bay")
    talker = visit().come_in("Tilda").type("go to bay board")
    asker.square("A6").focus()
    asker.page.keyboard.press("t")
    talker.type("say Hello!")
    expect(asker.page.locator("#chat")).to_contain_text("Hello!")
    expect(asker.page.locator("#toast.shown")).to_have_count(0)
    sockets[-1].send(held[-1])
    expect(asker.page.locator("#log")).to_contain_text("8 trolls: G7")
    talker.page.close()


def test_settings_have_a_switch_for_boards_in_words(visit: Visit) -> None:
    reda = visit().come_in("Reda").press("Settings")
    box = reda.page.get_by_label("Screen reader: describe boards in words")
    expect(box).not_to_be_checked()
    box.check()
    reda.press("Close", within="dialog").hears("Boards are now described in words.")
    reda.page.reload()
    expect(reda.page.locator("#lobby-title")).to_be_visible()
    reda.press("Settings")
    expect(box).to_be_checked()
    box.uncheck()
    reda.press("Close", within="dialog").hears("if your client reports a screen reader")
    reda.press("Settings")
    expect(box).not_to_be_checked()


def test_next_battle_on_tv_is_said_in_a_line(visit: Visit) -> None:
    players = [*begin(visit, "gum", "Gisa", "Gero"), *begin(visit, "fig", "Fina", "Falk")]
    viewer = visit().come_in("Theo").press("TV").sees(G6="troll")
    on = viewer.page.locator("#game-title").inner_text()
    is_first = "Gisa" in on
    viewer.page.evaluate(LISTEN)
    players[1 if is_first else 3].press("Resign").press("Resign", within="dialog")
    pair = ("Fina", "Falk") if is_first else ("Gisa", "Gero")
    title = " \N{EN DASH} ".join(pair)
    said = heard(viewer, title)
    assert said[-1] == ["status", f"TV: {title}."]
    assert not any("shows the" in words for _, words in said)
    assert len(said) == 2, "the result is the other"


def test_reload_of_a_finished_battle_is_silent(visit: Visit) -> None:
    ruth, rosa = begin(visit, "nut", "Ruth", "Rosa")
    ruth.press("Resign").press("Resign", within="dialog")
    expect(ruth.page.locator(".result")).to_be_visible()
    ruth.page.add_init_script(LISTEN_FROM_THE_BEGINNING)
    ruth.page.reload()
    expect(ruth.page.locator("#notices")).to_contain_text("Rosa wins")
    told: list[list[str]] = []
    while not any("xyzzy" in words for _, words in told):  # until all that was known has been told
        told += ruth.type("xyzzy").page.evaluate("heard.splice(0)")
    assert [each for each in told if "xyzzy" not in each[1]] == []
    rosa.type("quit")


def test_refused_name_is_described_by_its_field_alone(visit: Visit) -> None:
    visit().come_in("Taken")
    other = visit()
    field, note = other.page.get_by_label("Your name"), other.page.locator("#login-note")
    field.fill("Taken")
    other.press("Play as guest")
    expect(note).to_have_text("Taken is taken. Another name?")
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-describedby", "login-note")
    expect(note).to_have_attribute("aria-live", "off")
    field.fill("who")
    field.press("Enter")  # the focus stays, so that nothing else reads the answer
    expect(note).to_contain_text("is a command")
    expect(note).to_have_attribute("aria-live", "polite")
