"""The hall: the form to play, challenge links, and changes without a reload."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from playwright.sync_api import Locator, WebSocketRoute, expect

from tests.ports import free_ports
from tests.web.conftest import Player, Served, Visit
from tests.web.test_page import violations

BOT = '\n[[bot]]\nname = "Chip"\nlevel = "Slate"\n'


class ServedBots(Served):
    """A server with a bot."""

    def start(self) -> None:
        text = self.config.read_text("utf-8")
        self.config.write_text(text.replace("bot = []\n", ""), "utf-8")
        super().start()


@pytest.fixture
def with_bots(tmp_path: Path) -> Iterator[Served]:
    names = {"Chip": "Slate", "Adam": "Granite", "Zwerg": "Chalk"}
    bots = "".join(
        f'\n[[bot]]\nname = "{name}"\nlevel = "{level}"\n' for name, level in names.items()
    )
    with (
        free_ports() as free_port,
        ServedBots(tmp_path, free_port(), {"oak": "discworld"}, bots) as server,
    ):
        yield server


@pytest.fixture(scope="module")
def with_bot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with free_ports() as free_port:
        folder = tmp_path_factory.mktemp("hall")
        with ServedBots(folder, free_port(), {"oak": "discworld"}, BOT) as server:
            yield server


def test_bots_come_after_people_by_their_strength(visit: Visit, with_bots: Served) -> None:
    player = visit(server=with_bots).come_in("Anfang")
    other = visit(server=with_bots).come_in("Zuletzt")
    names = player.page.locator("#who .player")
    expect(names).to_have_text(["Anfang", "Zuletzt", "Zwerg", "Chip", "Adam"])
    for each in (player, other):
        each.loses_server = True


def test_form_takes_a_clock_of_ones_own(visit: Visit) -> None:
    vera = visit().come_in("Vera")
    vera.page.get_by_label("Custom").check()
    vera.page.get_by_label("Minutes each").fill("7")
    vera.page.get_by_label("Seconds a move").fill("2")
    vera.press("Wait for a person")
    expect(vera.page.locator("#seeks")).to_contain_text("7+2")
    vera.press("Withdraw")
    vera.page.get_by_label("Measured in").select_option("days")
    vera.page.get_by_label("Days a move").fill("15")
    vera.press("Wait for a person")
    vera.page.get_by_label("Days a move").fill("1")
    vera.press("Wait for a person")
    expect(vera.page.locator("#seeks")).to_contain_text("1 day")
    expect(vera.page.locator("#log")).not_to_contain_text("15 days")


def test_form_challenges_a_bot_at_a_level(visit: Visit, with_bot: Served) -> None:
    walt = visit(server=with_bot).come_in("Walt")
    walt.page.get_by_role("combobox", name="Opponent").select_option("Chip")
    expect(walt.page.locator("#plays")).to_contain_text("keeps out of fights")
    friend = walt.page.get_by_role("button", name="Challenge a friend")
    expect(friend).to_be_visible()  # the bot is for Play
    walt.press("Wait for a person")
    expect(walt.page.locator("#seeks")).to_contain_text("Discworld")
    walt.press("Stop waiting")
    walt.page.get_by_role("combobox", name="Level").select_option("1 Chalk")
    expect(walt.page.locator("#plays")).to_contain_text("Grabs what it can")
    walt.page.get_by_label("Dwarfs").check()
    walt.press("Play Chip").sees(A6="dwarf")
    assert "match Chip discworld as dwarf level 1" in walt.sent


def test_boards_stay_when_a_guest_registers(visit: Visit) -> None:
    anna = visit().come_in("Regina").type("join game as dwarf on elm board")
    anna.press("Hall", within="#places")
    boards = anna.page.locator("#boards")
    expect(boards).to_contain_text("Elm board")
    anna.register()
    expect(anna.page.locator("#toast")).to_contain_text("You\u2019re registered")
    expect(boards).to_contain_text("Elm board")
    expect(boards).to_contain_text("Oak board")
    expect(anna.page.locator("#places")).to_contain_text("Elm board")


def test_player_pulled_out_of_a_bot_game_is_shown_the_way_back(
    visit: Visit, with_bot: Served
) -> None:
    wanda, wilma = (visit(server=with_bot).come_in(name) for name in ("Wanda", "Wilma"))
    wanda.press("Play").sees(A6="dwarf")
    expect(wanda.page.locator("#brief")).to_contain_text("You play the dwarfs.")
    expect(wanda.page.locator("#sought")).to_contain_text("This battle will wait.")
    wilma.press("Play").sees(A6="dwarf")
    notice = wanda.page.locator("#challenges")
    expect(notice).to_contain_text("Wilma has come to play you. Your game with Chip waits.")
    wanda.press("Back to it", within="#challenges")
    expect(wanda.page.locator("#game-title")).to_contain_text("Chip")
    expect(notice).to_be_empty()


def test_notice_of_a_waiting_battle_goes_with_the_first_move(
    visit: Visit, with_bot: Served
) -> None:
    size = {"width": 390, "height": 844}
    wiebke = visit(server=with_bot, viewport=size).come_in("Wiebke")
    wolfram = visit(server=with_bot).come_in("Wolfram")
    wiebke.press("Play").sees(A6="dwarf")
    wolfram.press("Play").sees(A6="dwarf")
    notice = wiebke.page.locator("#challenges")
    expect(notice).to_contain_text("Wolfram has come to play you.")
    strip = wiebke.page.locator("#strip-bottom")
    mover = wiebke if "dwarf" in str(strip.get_attribute("aria-label")) else wolfram
    mover.type("f1-f6")  # a click would have to wait for a moment
    expect(notice).to_be_empty()
    for each in (wiebke, wolfram):
        each.type("quit")


def test_challenge_asks_for_its_terms_and_remembers_them(visit: Visit) -> None:
    celia, dora = visit().come_in("Celia"), visit().come_in("Dora")
    button = celia.page.get_by_role("button", name="Challenge Dora")
    dialog = celia.page.get_by_role("dialog", name="Challenge Dora")
    button.click()
    expect(dialog.get_by_label("Discworld")).to_be_focused()
    dialog.get_by_label("Classic").check(force=True)
    celia.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(button).to_be_focused()
    assert not any(each.startswith("match") for each in celia.sent)
    button.click()
    expect(dialog.get_by_label("Discworld")).to_be_checked()  # what was cancelled is forgotten
    for choice in ("Koom Valley", "Trolls", "Custom"):
        dialog.get_by_label(choice).check(force=True)
    dialog.get_by_label("Minutes each").fill("7")
    assert violations(celia, "challenge") == []
    celia.page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(dora.page.locator("#challenges")).to_contain_text("(Koom Valley, 7+5, Celia as trolls,")
    card = dora.page.locator("#seeks")
    expect(card).to_contain_text("Koom Valley · 7+5 · you as dwarfs")  # whose picture is beside it
    withdraw = celia.page.get_by_role("button", name="Withdraw the challenge to Dora")
    expect(withdraw).to_be_focused()
    card.get_by_role("button", name="Decline").click()
    expect(withdraw).to_have_count(0)
    celia.page.reload()
    button.click()
    for choice in ("Koom Valley", "Trolls", "Custom"):
        expect(dialog.get_by_label(choice)).to_be_checked()
    expect(dialog.get_by_label("Minutes each")).to_have_value("7")


@pytest.mark.parametrize(("width", "height"), [(640, 400), (320, 568)])
def test_challenge_opens_at_its_first_field(
    visit: Visit, with_bot: Served, width: int, height: int
) -> None:
    size: dict[str, Any] = {"viewport": {"width": width, "height": height}}
    frank = visit(server=with_bot, **size).come_in(f"Frank{'ab'[width == 320]}")
    frank.press("Challenge Chip")
    dialog = frank.page.get_by_role("dialog", name="Challenge Chip")
    expect(dialog.get_by_label("Discworld")).to_be_focused()
    expect(dialog.get_by_role("heading")).to_be_in_viewport(ratio=0.999)
    frank.page.keyboard.press("Enter")
    frank.sees(A6="dwarf")


def test_challenge_to_a_bot_has_a_level(visit: Visit, with_bot: Served) -> None:
    enid = visit(server=with_bot).come_in("Enid")
    enid.press("Challenge Chip")
    enid.page.get_by_role("dialog").get_by_label("Level").select_option("1 Chalk")
    enid.press("Send challenge").sees(A6="dwarf")
    assert "match Chip discworld level 1" in enid.sent


def test_folded_terms_are_named_where_a_bot_is_challenged(visit: Visit, with_bot: Served) -> None:
    size: dict[str, Any] = {"viewport": {"width": 390, "height": 844}}
    edda = visit(server=with_bot, **size).come_in("Edda")
    terms = edda.page.locator("#terms summary")
    terms.click()
    edda.page.get_by_label("5+3").check(force=True)
    edda.page.get_by_role("combobox", name="Opponent").select_option("Chip")
    edda.page.get_by_role("combobox", name="Level").select_option("1 Chalk")
    terms.click()
    expect(terms).to_contain_text("5+3, casual")
    edda.register()
    expect(terms).to_contain_text("Discworld, either side first, 5+3, rated")
    edda.press("Play Chip").sees(A6="dwarf")
    assert "match Chip discworld 5+3 level 1" in edda.sent


def test_header_tells_boards_with_one_opponent_apart(visit: Visit) -> None:
    otto, berta = (
        visit(viewport={"width": 390, "height": 844}).come_in(name) for name in ("Ottokar", "Berta")
    )
    places = otto.page.locator("#places .place:not(.next)")
    for count in (1, 2):
        berta.type("match Ottokar 3 days casual")
        otto.press("Accept", within="#challenges")
        expect(places).to_have_count(count + 1)
        if count == 1:
            expect(places.nth(1)).to_have_text("vs Berta")
    first, second = (str(each.get_attribute("title")) for each in places.all()[1:])
    names = [f"vs Berta, {each.removesuffix(' board').lower()}" for each in (first, second)]
    expect(places).to_have_text(["Hall", *names])
    otto.press("Hall", within="#places")
    expect(otto.page.locator("#lobby")).to_be_visible()
    places.nth(2).click()
    expect(otto.page.locator("#game-facts")).to_contain_text(second)
    otto.type("quit")


def test_friend_accepts_a_challenge_by_its_link(visit: Visit) -> None:
    xena = visit(permissions=["clipboard-read", "clipboard-write"]).come_in("Xena")
    other = visit().come_in("Zack")
    xena.page.get_by_label("Trolls").check()
    xena.press("Challenge a friend")
    dialog = xena.page.locator("dialog")
    expect(dialog.get_by_label("Link")).to_have_value(re.compile("/challenge/"))
    expect(dialog.get_by_role("button", name="Copied")).to_be_visible()
    expect(xena.page.locator("#seeks")).to_contain_text("to whoever has your link")
    expect(other.page.locator("#seeks")).to_contain_text("No one yet")
    link = xena.page.evaluate("navigator.clipboard.readText()")
    path = link.removeprefix(xena.page.evaluate("location.origin"))
    yuri = visit(path)
    offer = "Xena challenges you to a casual match under discworld rules"
    expect(yuri.page.locator("#login-note")).to_contain_text(offer)
    for advice in ("2 to 20 letters", "Leave it empty", "Members log in here, too."):
        expect(yuri.page.locator("#login-note")).to_contain_text(advice)
    for size in ((320, 568), (390, 844)):
        yuri.page.set_viewport_size({"width": size[0], "height": size[1]})
        expect(yuri.page.locator("#enter")).to_be_in_viewport(ratio=0.999)
    yuri.page.get_by_label("Your name").fill("Yuri")
    expect(yuri.page.locator("#welcome-title")).to_have_text("Xena challenges you")
    yuri.page.get_by_role("button", name="Accept and play").click()
    for player in (xena, yuri):
        player.hears("begin a match").sees(A6="dwarf")
    yuri.click("A6", "B6").sees(B6="dwarf")
    late = visit("/nothing.txt")
    answer = late.page.goto(link)
    assert answer
    assert answer.status == 404
    expect(late.page.locator("main")).to_contain_text("has been accepted or withdrawn")
    expect(late.page.get_by_role("heading")).to_have_text("Challenge no longer open")
    late.errors.clear()


def test_challenge_link_is_withdrawn(visit: Visit) -> None:
    zoe = visit(permissions=["clipboard-read", "clipboard-write"]).come_in("Zoe")
    zoe.press("Challenge a friend")
    zoe.press("Close", within="dialog")
    expect(zoe.page.locator("#play-hint")).to_contain_text("Waiting for your friend")
    zoe.press("Withdraw", within="#seeks")
    zoe.hears("Your challenge is withdrawn.")
    expect(zoe.page.get_by_role("button", name="Copy link")).to_be_hidden()


def test_results_appear_in_the_hall_without_a_reload(visit: Visit) -> None:
    fern, gale, hugo = (visit().come_in(name) for name in ("Fern", "Gale", "Hugo"))
    fern.type("match gale as dwarf")
    gale.press("Accept", within="#challenges")
    expect(hugo.page.locator("#boards")).to_contain_text("Fern \N{EN DASH} Gale")
    expect(hugo.page.locator("#history")).not_to_contain_text("0 \N{EN DASH} 32")
    fern.sees(A6="dwarf").press("Resign").press("Resign", within="dialog")
    expect(hugo.page.locator("#history")).to_contain_text("0 \N{EN DASH} 32")
    hugo.page.locator("#who").get_by_role("link", name="Fern").click()
    expect(hugo.page.locator("#player-battles")).to_contain_text("Fern \N{EN DASH} Gale")


def test_player_in_the_hall_is_told_that_the_opponent_resigned(visit: Visit) -> None:
    anna, mia = visit().come_in("Hallanna"), visit().come_in("Hallmia")
    anna.type("join game as dwarf on pine board")
    mia.type("join game as troll on pine board", "start")
    expect(anna.page.get_by_role("button", name="Resign", exact=True)).to_be_visible()
    anna.press("Hall", within="#places")
    expect(anna.page.locator("body")).to_have_attribute("data-view", "lobby")
    mia.press("Resign").press("Resign", within="dialog")
    toast = anna.page.locator("#toast")
    expect(toast).to_contain_text("You win: Hallmia resigned.")
    expect(anna.page.locator("#status")).to_contain_text("You win: Hallmia resigned.")
    toast.get_by_text("To the board").dispatch_event("click")  # it may have gone by now
    anna.sees(A6="dwarf")


def test_chat_shows_the_lines_of_the_board_in_view(visit: Visit) -> None:
    chloe, chuck, other = (visit().come_in(name) for name in ("Chloe", "Chuck", "Oda"))
    chloe.type("go to oak board", "observe elm board").hears("You now observe")
    places = chloe.page.locator("#places")
    places.get_by_role("button", name="Oak board").click()
    chuck.type("go to elm board", "kibitz How dull.")
    other.type("go to oak board", "say Well played!")
    chat = chloe.page.locator("#chat")
    chloe.hears("How dull.").hears("Well played!").page.get_by_role("tab", name="Chat").click()
    expect(chat.get_by_text("Well played!")).to_be_visible()
    expect(chat.get_by_text("How dull.")).to_be_hidden()
    expect(chloe.page.get_by_role("tab", name="Chat", exact=True)).to_be_visible()  # nothing new
    places.get_by_role("button", name="Elm board, observed").click()
    expect(chat.get_by_text("How dull.")).to_be_visible()
    expect(chat.get_by_text("Well played!")).to_be_hidden()
    other.type("/tell chloe Here I am.")
    expect(chat.get_by_text("Here I am.")).to_be_visible()


def test_seek_is_shown_again_after_a_restart(visit: Visit, with_bot: Served) -> None:
    iris, jack = (visit(server=with_bot).come_in(name) for name in ("Iris", "Jack"))
    for each in (iris, jack):
        each.loses_server = True
    iris.type("seek classic")
    expect(jack.page.locator("#seeks")).to_contain_text("Iris")
    with_bot.kill()
    expect(jack.page.locator("#link")).to_contain_text("Connection lost")
    with_bot.start()
    expect(jack.page.locator("#link")).to_be_empty()
    expect(jack.page.locator("#seeks")).to_contain_text("Iris")
    jack.page.locator("#seeks").get_by_role("button", name="Accept").click()
    for each in (iris, jack):
        each.hears("begin a match")


def test_focus_stays_on_its_item_while_others_come_and_go(visit: Visit) -> None:
    anna, before, after = (visit().come_in(name) for name in ("Fokus", "Vorher", "Nachher"))
    before.type("seek")
    after.type("seek classic")
    seeks, people = anna.page.locator("#seeks"), anna.page.locator("#who")

    def keeps_focus(item: Locator, change: Callable[[], object], seen: Locator, count: int) -> None:
        item.focus()
        anna.page.evaluate("() => { document.activeElement.wasFocused = true; }")
        change()
        expect(seen).to_have_count(count)
        assert anna.page.evaluate("() => document.activeElement.wasFocused")

    accept = seeks.get_by_role("button", name="Accept Nachher's match")
    other = seeks.get_by_role("button", name="Accept Vorher's match")
    keeps_focus(accept, lambda: before.type("withdraw"), other, 0)
    keeps_focus(accept, lambda: before.type("seek"), other, 1)
    link = people.get_by_role("link", name="Nachher")
    keeps_focus(link, lambda: before.type("quit"), people.get_by_text("Vorher"), 0)
    keeps_focus(link, lambda: visit().come_in("Aaron"), people.get_by_text("Aaron"), 1)


def test_search_ends_when_another_page_is_opened(visit: Visit, with_bot: Served) -> None:
    otto, rike = (visit(server=with_bot).come_in(name) for name in ("Otto", "Rike"))
    otto.press("Play").sees(A6="dwarf")
    expect(otto.page.locator("#sought")).to_contain_text("Searching for a person")
    expect(rike.page.locator("#seeks")).to_contain_text("Otto")
    otto.press("Hall", within="#places")
    expect(otto.page.locator("#play-hint")).to_contain_text("Waiting for an opponent")
    otto.page.get_by_role("link", name="All lessons and puzzles").click()
    expect(otto.page.locator("#toast")).to_contain_text("stopped waiting for an opponent")
    expect(rike.page.locator("#seeks")).not_to_contain_text("Otto")


NOTE_VIEWS = """() => {
    window.views = [];
    const note = () => views.push(document.body.dataset.view);
    const changes = { attributes: true, attributeFilter: ["data-view"] };
    new MutationObserver(note).observe(document.body, changes);
}"""
"""Notes which views are shown."""


def test_accepted_link_shows_the_board_without_the_hall(visit: Visit) -> None:
    xaver = visit().come_in("Xaver").press("Challenge a friend")
    link = xaver.page.get_by_role("textbox", name="Link").input_value()
    yvo = visit("/" + link.split("/", 3)[3])
    expect(yvo.page.locator("#welcome-title")).to_have_text("Xaver challenges you")
    yvo.page.evaluate(NOTE_VIEWS)
    yvo.page.get_by_label("Your name").fill("Yvo")
    yvo.press("Accept and play")
    expect(yvo.page.locator("body")).to_have_attribute("data-view", "game")
    assert "lobby" not in yvo.page.evaluate("views")


def challenge_path(maker: Player) -> str:
    """Make a challenge link; return its path."""
    maker.press("Challenge a friend")
    link = maker.page.get_by_role("textbox", name="Link").input_value()
    return "/" + link.split("/", 3)[3]


def test_challenge_link_asks_a_player_who_is_in_already(visit: Visit, with_bot: Served) -> None:
    xinia, yola = (visit(server=with_bot).come_in(name) for name in ("Xinia", "Yola"))
    path = challenge_path(xinia)
    yola.press("Play").sees(A6="dwarf")
    board = yola.path
    dialog = yola.page.locator("dialog")
    yola.page.goto(with_bot.address + path)
    expect(dialog).to_contain_text("Xinia challenges you to a casual match under discworld rules")
    yola.press("Not now", within="dialog")
    yola.page.wait_for_url(f"**{board}")
    expect(yola.page.locator("#game-title")).to_contain_text("Chip")
    assert not any(each.startswith("accept") for each in yola.sent)
    yola.page.goto(with_bot.address + path)
    yola.press("Accept and play", within="dialog")
    for each, other in ((xinia, "Yola"), (yola, "Xinia")):
        expect(each.page.locator("#game-title")).to_contain_text(other)


def test_own_challenge_link_is_refused_without_a_question(visit: Visit) -> None:
    xandra = visit().come_in("Xandra")
    xandra.page.goto(xandra.page.url.rstrip("/") + challenge_path(xandra))
    xandra.hears("is your own")
    expect(xandra.page.locator("dialog")).to_be_hidden()


def test_challenge_to_a_guest_offers_no_ratings(visit: Visit) -> None:
    mia, gus = visit().come_in("Miamember"), visit().come_in("Gustav")
    mia.register().press("Challenge Gustav")
    dialog = mia.page.get_by_role("dialog", name="Challenge Gustav")
    expect(dialog).to_contain_text("Register to play rated matches.")
    ratings = dialog.get_by_role("group", name="Ratings")
    expect(ratings).to_be_hidden()
    mia.press("Send challenge")
    expect(gus.page.locator("#challenges")).to_contain_text("casual")
    mia.press("Withdraw", within="#seeks")
    gus.register()
    mia.page.reload()
    expect(mia.page.locator("#who li").filter(has_text="Gustav")).not_to_contain_text("guest")
    mia.press("Challenge Gustav")
    expect(ratings.get_by_text("Rated")).to_be_visible()
    expect(ratings.get_by_text("casual against guests")).to_be_hidden()


def test_rated_seek_is_casual_for_guests(visit: Visit) -> None:
    mona, gesa = visit().come_in("Mona").register(), visit().come_in("Gesa")
    ratings = mona.page.get_by_role("group", name="Ratings")
    expect(ratings).to_contain_text("casual against guests")
    mona.press("Wait for a person")
    expect(mona.page.locator("#seeks")).to_contain_text("rated")
    expect(gesa.page.locator("#seeks")).to_contain_text("casual")
    gesa.register()
    expect(gesa.page.locator("#seeks")).to_contain_text("rated")
    mona.press("Stop waiting")


def test_lessons_stand_out_until_a_battle_was_played(visit: Visit) -> None:
    nele = visit().come_in("Nele")
    learn = nele.page.get_by_role("button", name="Learn the rules")
    expect(learn).to_have_class("new")
    expect(nele.page.locator("#lobby button.primary")).to_have_text(["Play"])
    visit().come_in("Nils").type("seek discworld as dwarf")
    nele.press("Accept Nils's match", within="#seeks").sees(A6="dwarf")
    nele.press("Hall", within="#places")
    expect(learn).to_be_visible()
    expect(learn).not_to_have_class("new")


def test_hesitation_of_a_bot_is_not_counted_as_talk(visit: Visit, with_bot: Served) -> None:
    sockets: list[WebSocketRoute] = []

    def keep(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        socket.connect_to_server()

    hans = visit("/nothing.txt", server=with_bot)
    hans.errors.clear()  # of the missing page
    hans.page.route_web_socket("**/ws", keep)
    hans.page.goto(with_bot.address)
    hans.come_in("Hansi").press("Play").sees(A6="dwarf")
    board = unquote(hans.path.split("/")[2])
    hans.page.get_by_role("tab", name="Log").click()
    said = {"at": 0, "room": board, "player": "Chip", "to": None}
    for kind, text in (("emote", "is thinking."), ("say", "Hm.")):
        sockets[-1].send(f"Thud.Say {json.dumps(said | {'kind': kind, 'text': text})}")
    expect(hans.page.get_by_role("tab", name="Chat, 1 new")).to_be_visible()
