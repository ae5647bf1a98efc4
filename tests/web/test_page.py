"""The page in a real browser: playing, reconnecting, watching and settings."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Locator, WebSocketRoute, expect

from tests.conftest import FreePort
from tests.web.conftest import ROOT, Player, Served, Visit

AXE = (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
ROWS = [".cells > g:nth-child(n + 3)"]
"""All rows of a board but two: 165 squares that are alike take axe seconds."""
CONTRAST = ["color-contrast"]
EXPERIMENTAL = {"label-content-name-mismatch": {"enabled": True}}
"""Rules of axe that are off by default: names contain what is seen, for control by voice."""
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

pytestmark = pytest.mark.slow


def sit_down(
    visit: Visit, board: str, names: tuple[str, str], *setup: str, **how: Any
) -> tuple[Player, Player]:
    """Return two players of a running battle, the dwarfs' player first."""
    dwarf, troll = (visit(**how).come_in(name) for name in names)
    dwarf.type(f"go to {board}", *setup).press("Sit as dwarfs")
    troll.type(f"go to {board}").press("Sit as trolls")
    expect(dwarf.page.locator("#strip-top")).to_contain_text(names[1])
    dwarf.press("Begin")
    for each in (dwarf, troll):  # wait for the board to settle before playing
        expect(each.page.get_by_role("button", name="Begin", exact=True)).to_be_hidden()
        expect(each.page.get_by_role("button", name="Resign", exact=True)).to_be_visible()
    return dwarf, troll


def test_battle_by_clicks_drags_typing_and_keys(visit: Visit) -> None:
    anna, bert = sit_down(visit, "oak", ("Anna", "Bert"))
    anna.click("F1")
    anna.sees(F6="empty, can go here", F1="dwarf, picked up")
    anna.click("F6")
    for each in (anna, bert):
        each.sees(F6="dwarf, last move", F1="empty, last move")
    bert.click("G7", "G6")  # next to the dwarf on F6
    expect(bert.page.get_by_role("button", name="Capture F6")).to_be_enabled()
    expect(bert.page.locator("#choice")).to_contain_text("To leave the dwarf, click it or")
    bert.click("F6")
    expect(bert.page.locator("#choice")).to_contain_text("to capture.")
    bert.press("Capture nothing")
    anna.sees(G6="troll", F6="dwarf")
    anna.type("g1-g5")
    bert.sees(G5="dwarf")
    bert.square("G6").focus()
    bert.page.keyboard.press("Enter")
    bert.sees(H5="empty, can capture here")
    for key in ("ArrowRight", "ArrowUp", "Enter"):
        bert.page.keyboard.press(key)
    bert.press("Capture G5")
    anna.sees(G5="empty, last move", H5="troll")
    anna.drag("A6", "E6")
    bert.sees(E6="dwarf")
    capture = "G6\N{EN DASH}H5 \N{MULTIPLICATION SIGN}G5, move 4: troll captures G5"
    expect(anna.page.get_by_role("button", name=capture)).to_be_visible()
    anna.press("Resign").press("Resign", within="dialog")
    bert.hears("Anna resigns")
    expect(bert.page.locator(".result")).to_contain_text("32 to 0, by resignation")


SHORT = "setup dwarfs a9, e6, f6 trolls g8, g9, h6 turn dwarfs"
"""A position in which the dwarf on F6 can be hurled, and what has hurled be shoved away."""


def test_vacated_seat_is_offered_to_the_leaver_and_the_invited(visit: Visit) -> None:
    stays, leaver = sit_down(visit, "aspen", ("Stella", "Leo"))
    other = visit().come_in("Oona").type("go to aspen")
    leaver.type("leave game")
    sits = {each: each.page.get_by_role("button", name="Sit as trolls") for each in (leaver, other)}
    expect(sits[leaver]).to_be_visible()
    expect(other.page.locator("#strip-top")).to_contain_text("empty seat")
    expect(sits[other]).to_be_hidden()
    stays.type("invite oona")
    expect(sits[other]).to_be_visible()


def test_complete_match_by_mouse_and_keyboard(visit: Visit) -> None:
    """Moll plays by mouse and Max by keyboard, each on both sides."""
    players = moll, _ = sit_down(visit, "birch", ("Moll", "Max"), SHORT)

    def play(player: Player, *squares: str) -> None:
        (player.click if player is moll else player.by_keys)(*squares)

    def press(player: Player, button: str, within: str = "body") -> None:
        if player is moll:
            player.press(button, within)
        else:
            element = player.page.locator(within).get_by_role("button", name=button, exact=True)
            element.focus()
            player.page.keyboard.press("Enter")

    for dwarf, troll in (players, players[::-1]):
        dwarf.sees(F6="dwarf", H6="troll", G8="troll")
        expect(dwarf.page.locator(".board.mine")).to_be_visible()
        play(dwarf, "F6", "H6")
        troll.sees(H6="dwarf, last move", F6="empty")
        expect(troll.page.locator(".board.mine")).to_be_visible()
        play(troll, "G8", "G7")
        press(troll, "Capture H6")
        dwarf.sees(G7="troll, last move", H6="empty, last move", E6="dwarf")
        press(dwarf, "Offer to end")
        press(dwarf, "Offer to end", "dialog")
        press(troll, "Accept")
        for player in players:
            expect(player.page.locator(".result")).to_contain_text("8 to 2, by agreement.")
        if dwarf is players[0]:
            press(dwarf, "Play the second battle")
            press(troll, "Accept")
    for player in players:
        card = player.page.locator(".result")
        expect(card).to_contain_text("win")
        expect(card).not_to_contain_text("Swap")
        expect(card).to_contain_text("The match is a draw, 10 to 10.")
        expect(player.page.locator("#strip-top")).to_contain_text("10 in the match")


def test_typed_moves_play_a_match_to_its_end(visit: Visit) -> None:
    setup = "setup dwarfs f2, g4, m4 trolls g5, m10 rock g2 turn trolls"
    players = sit_down(visit, "elder", ("Tilly", "Tom"), setup)
    for dwarf, troll in (players, players[::-1]):
        troll.sees(G5="troll", G4="dwarf", G2="Rock").type("move from g5 to g3 capturing g4")
        dwarf.sees(G3="troll", G4="empty").type("move from m4 to h4 capturing g3")
        troll.sees(H4="dwarf", G3="empty, last move").type("m10-m9")
        dwarf.sees(M9="troll").type("move from g2 to g1")
        for player in players:
            expect(player.page.locator(".result")).to_contain_text("the Rock is home")
        if dwarf is players[0]:
            troll.type("start game")
            dwarf.type("start game")


def test_header_leads_to_registering_and_then_to_the_settings(visit: Visit) -> None:
    player = visit()
    account = player.page.locator("#account")
    expect(account).to_be_hidden()
    player.come_in("Kordula")
    expect(account).to_have_text("Register")
    account.click()
    expect(player.page.get_by_role("dialog", name="Register")).to_be_visible()
    player.page.keyboard.press("Escape")
    player.register()
    expect(account).to_have_text("Kordula")
    account.click()
    expect(player.page.get_by_role("dialog", name="Settings")).to_be_visible()
    player.page.set_viewport_size({"width": 390, "height": 844})
    expect(account).to_be_hidden()


def test_quit_player_is_not_reconnected(visit: Visit) -> None:
    anna = visit().come_in("Antje")
    kept = anna.page.evaluate("localStorage['thud.word']")
    other = visit()
    other.page.evaluate("word => localStorage['thud.word'] = word", kept)
    other.page.reload()
    expect(other.page.locator("body")).to_have_attribute("data-view", "lobby")
    expect(anna.page.locator("#link")).to_contain_text("in another window")
    anna.press("Play here")
    expect(other.page.locator("#link")).to_contain_text("in another window")
    anna.type("quit")
    expect(anna.page.locator("#login-note")).to_have_text("You are logged out.")
    assert anna.page.evaluate("localStorage['thud.word'] ?? null") is None


def test_finished_battle_is_replayed_and_shared(visit: Visit) -> None:
    anna = visit().come_in("Anke").practises("rowan").click("F1", "F6").sees(F6="dwarf")
    anna.press("End").press("End", within="dialog")
    anna.page.get_by_role("link", name="Analyse").click()
    anna.sees(F6="dwarf").press("First move").sees(F1="dwarf").press("Next move").sees(
        F6="dwarf, last move"
    )
    anna.press("Share")
    with anna.page.expect_download() as download:
        anna.page.get_by_role("link", name="Download").click()
    assert download.value.path().read_text("utf-8").endswith("\ndF1-F6\n")
    stranger = visit(anna.path).sees(F6="dwarf", F1="empty")
    title = stranger.page.locator("meta[property='og:title']")
    expect(title).to_have_attribute("content", "Anke, both sides \N{EN DASH} Thud")
    description = stranger.page.locator("meta[property='og:description']")
    expect(description).to_have_attribute("content", re.compile(r"^Battle \d+, .* Anke \(pra"))
    stranger.press("First move").sees(F1="dwarf")
    stranger.page.keyboard.press("ArrowRight")
    stranger.sees(F6="dwarf")


def test_captures_are_chosen_by_clicks(visit: Visit) -> None:
    setup = "setup dwarfs a6, f6, h6 trolls g8, g9 turn trolls"
    player = visit().come_in("Clara")
    by_a_move, by_a_shove = ("G8 G7 H6", "F6"), ("G8 G7", "F6, H6")
    for clicks, captured in (by_a_move, by_a_shove):
        player.practises("elm", setup).sees(G8="troll").click(*clicks.split())
        player.press(f"Capture {captured}")
        player.sees(G7="troll", **dict.fromkeys(captured.split(", "), "empty, last move"))
        player.type("leave game")
    # The order of clicks selects the trample path.
    player.practises("yew", "setup dwarfs a6, f5, g6, g4, h5 trolls f4 turn trolls")
    player.sees(F4="troll")
    player.click("F4", "H6", "G4", "H5").sees(H6="troll", G4="empty", H5="empty", F5="dwarf")


def test_session_survives_a_reload_and_a_server_kill(
    visit: Visit, tmp_path: Path, free_port: FreePort
) -> None:
    with Served(tmp_path, free_port(), {"oak": "discworld"}) as server:
        anna, bert = sit_down(visit, "oak", ("Anna", "Bert"), server=server)
        watcher = visit("/board/oak", server=server)
        everybody = anna, bert, watcher
        for each in everybody:
            each.loses_server = True
        anna.click("A6", "B6")
        bert.sees(B6="dwarf").page.reload()
        bert.sees(B6="dwarf", A6="empty").click("G7", "G6")
        for words in ("What is your name?", "comeback words"):  # answered by the page itself
            expect(bert.page.locator("#log")).not_to_contain_text(words)
        anna.sees(G6="troll, last move")
        for words in ("lost the connection", "is back"):
            expect(anna.page.locator("#log")).not_to_contain_text(words)
        watcher.sees(G6="troll, last move")
        server.kill()
        for each in everybody:
            expect(each.page.locator("#link")).to_contain_text("lost")
        server.start()
        for each in everybody:
            expect(each.page.locator("#link")).to_have_text("")
        anna.click("B6", "C6")
        for each in everybody:
            each.sees(C6="dwarf, last move")


NOTE_LINK = """() => {
    const note = () => {
        if (document.querySelector("#strip-top .paused"))
            window.linkWhenPaused ??= document.getElementById("link").textContent;
    };
    const changes = { attributes: true, subtree: true };
    new MutationObserver(note).observe(document.getElementById("strip-top"), changes);
}"""
"""Notes what is said of the connection when the clocks stop."""


def test_clocks_stop_while_the_server_does_not_answer(visit: Visit) -> None:
    is_silent = False

    def connect(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        socket.on_message(lambda data: None if is_silent else server.send(data))
        server.on_message(lambda data: None if is_silent else socket.send(data))

    anna, bert = visit("/nothing.txt"), visit().come_in("Stillbert")
    anna.errors.clear()  # of the missing page
    anna.page.route_web_socket("**/ws", connect)
    anna.page.goto(bert.page.url)
    anna.come_in("Stillanna").type("match stillbert discworld 5+3 as dwarf casual")
    bert.press("Accept", within="#challenges")
    anna.sees(A6="dwarf").type("f1-f6")
    bert.sees(F6="dwarf").type("g7-g6 capturing none")
    anna.sees(G6="troll").type("g1-g5")
    clock = anna.page.locator("#strip-top .clock")
    expect(clock).to_contain_class("runs")
    anna.page.evaluate(NOTE_LINK)
    is_silent = True
    expect(clock).to_contain_class("paused")
    assert anna.page.evaluate("linkWhenPaused") == ""  # before it is known that the link is lost
    is_silent = False
    expect(clock).to_contain_class("runs")
    for each in (anna, bert):
        each.type("quit")


def test_link_visitor_watches_without_a_name(visit: Visit) -> None:
    anna = visit().come_in("Anja").practises("pine")
    watcher = visit("/board/pine").sees(A6="dwarf")
    preview = watcher.page.locator("meta[property='og:description']")
    expect(preview).to_have_attribute("content", re.compile("^Pine board .* Anja .both sides"))
    anna.click("A6", "B6")
    watcher.sees(B6="dwarf", A6="empty")
    anna.type("say <img src=x onerror=alert(1)>")
    watcher.page.get_by_role("tab", name="Chat").click()
    expect(watcher.page.locator("#chat")).to_contain_text("Anja <img src=x")
    assert watcher.page.locator("#chat img, #log img").count() == 0
    watcher.press("Join to play")
    watcher.page.get_by_label("Your name").fill("Walt")
    watcher.press("Play as guest")
    watcher.sees(B6="dwarf")
    watcher.type("say Hello!")
    expect(anna.page.locator("#chat")).to_contain_text("Walt")


GO = """path => {
    history.pushState(null, "", path);
    dispatchEvent(new PopStateEvent("popstate"));
}"""
"""Leads to an address, as the browser's Back does."""


def test_link_that_leads_nowhere_says_so(visit: Visit) -> None:
    wendy = visit().come_in("Wendy")
    for path, words in (
        ("/game/999999", "There is no battle 999999. The hall lists the latest ones."),
        ("/tournament/999999", "There is no tournament 999999. The hall lists them all."),
    ):
        wendy.page.evaluate(GO, path)
        expect(wendy.page.get_by_text(words)).to_be_visible()
    wendy.page.get_by_role("link", name="The hall").click()
    expect(wendy.page.get_by_role("heading", name="The hall")).to_be_visible()
    for each in (wendy, visit()):
        each.page.evaluate(GO, "/board/nowhere")
        expect(each.page.locator("#toast")).to_contain_text("There is no board “nowhere”.")
        expect(each.page).to_have_url(re.compile(r"^http://[^/]+/$"))
    expect(each.page.get_by_label("Your name")).to_be_visible()


def test_address_that_changes_before_the_server_is_heard(visit: Visit) -> None:
    sockets: list[WebSocketRoute] = []
    held: list[str | bytes] = []
    is_heard = False

    def hold(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        server = socket.connect_to_server()
        server.on_message(lambda sent: socket.send(sent) if is_heard else held.append(sent))

    stranger = visit("/nothing.txt")
    stranger.errors.clear()  # of the missing page
    stranger.page.route_web_socket("**/ws", hold)
    stranger.page.goto(stranger.page.url.removesuffix("/nothing.txt"))
    while not any("Char.Login.Default" in str(each) for each in held):
        stranger.page.wait_for_timeout(1)
    stranger.page.evaluate(GO, "/board/elm")
    while held:
        sockets[0].send(held.pop(0))
    is_heard = True
    expect(stranger.page.locator("#game-title")).to_have_text("Elm board")
    watched = [each for each in stranger.sent if each.startswith("Thud.Watch")]
    assert "elm" in watched[-1]


def test_missing_page_leads_to_the_start_page(visit: Visit) -> None:
    lost = visit(path="/game/999999")
    expect(lost.page.get_by_text("There\u2019s no such battle.")).to_be_visible()
    lost.page.get_by_role("link", name="Go to the start page").click()
    expect(lost.page.get_by_label("Your name")).to_be_visible()
    lost.errors = [each for each in lost.errors if "404" not in each]


def test_reconnected_player_is_put_where_they_were(
    visit: Visit, tmp_path: Path, free_port: FreePort
) -> None:
    boards = {"oak": "discworld", "elm": "discworld"}
    with Served(tmp_path, free_port(), boards) as server:
        rita = visit(server=server).come_in("Rita")
        for board in boards:
            rita.type(f"go to {board}").press("Sit as dwarfs")
            expect(rita.page.get_by_role("button", name="Leave the seat")).to_be_visible()
        for room, path in (("Elm board", "/board/elm%20board"), ("Hall", "/")):
            rita.page.get_by_role("button", name=room, exact=True).click()
            expect(rita.page).to_have_url(server.address + path)
            rita.loses_server = True
            server.kill()
            expect(rita.page.locator("#link")).to_contain_text("Reconnecting")
            server.start()
            expect(rita.page.locator("#link")).to_be_empty()
            current = rita.page.locator('#places [aria-current="page"]')
            expect(current).to_have_text(room)
            expect(rita.page).to_have_url(server.address + path)


def test_buttons_that_would_be_refused_are_disabled_or_missing(visit: Visit) -> None:
    nell, nick = sit_down(visit, "juniper", ("Nella", "Nikita"))

    def button(player: Player, name: str) -> Locator:
        return player.page.locator("#actions").get_by_role("button", name=name, exact=True)

    expect(button(nell, "Hint")).to_be_enabled()
    expect(button(nick, "Hint")).to_be_disabled()
    expect(button(nick, "Hint")).to_have_attribute("title", "Hints are for your own turn.")
    for each in (nell, nick):
        expect(button(each, "Undo")).to_be_disabled()
        expect(button(each, "Undo")).to_have_attribute("title", "You haven\u2019t moved yet.")
    nell.click("A6", "B6")
    expect(button(nell, "Undo")).to_be_enabled()
    expect(button(nell, "Hint")).to_be_disabled()
    expect(button(nick, "Undo")).to_be_disabled()
    expect(button(nick, "Hint")).to_be_enabled()
    nell.press("Undo").press("Undo", within="dialog")
    nick.press("Accept")
    expect(button(nell, "Undo")).to_be_disabled()


def test_rated_battle_has_no_hint_and_a_clock_no_claim(visit: Visit) -> None:
    players = tess, tim = visit().come_in("Tess"), visit().come_in("Tim")
    for each in players:
        each.register()
    tess.type("match tim 5+3 rated")
    tim.press("Accept", within="#challenges")
    for each in players:
        expect(each.page.locator("#game-facts")).to_contain_text("rated")
        expect(each.page.get_by_role("button", name="Resign", exact=True)).to_be_visible()
        expect(each.page.get_by_role("button", name="Hint", exact=True)).to_be_hidden()
    dwarf, troll = players
    if tim.page.locator("#strip-bottom [href='#dwarf']").count():
        dwarf, troll = tim, tess
    dwarf.click("A6", "B6")
    troll.sees(B6="dwarf, last move").click("G7", "G6")
    dwarf.sees(G6="troll, last move")
    for each in players:  # who play see the times, as watchers do
        times = each.page.locator("#moves small")
        expect(times).to_have_text([re.compile(r"\d:\d\d")] * 2)
    tess.page.close()
    expect(tim.page.locator("#strip-top")).to_contain_text("away")
    expect(tim.page.get_by_role("button", name="Claim", exact=True)).to_be_hidden()


HORSE = "correct horse battery"


def test_guest_registers_by_form(visit: Visit) -> None:
    rhea = visit().come_in("Rhea")
    dialog = rhea.press("Settings").press("Register", within="dialog").page.locator("dialog")
    dialog.get_by_label("Password", exact=True).fill(HORSE)
    dialog.get_by_label("Password again").fill("another one")
    rhea.press("Register", within="dialog")
    expect(dialog.locator("#register-note")).to_have_text("The two passwords differ.")
    for label in ("Password", "Password again"):
        field = dialog.get_by_label(label, exact=True)
        expect(field).to_have_attribute("autocomplete", "new-password")
        field.fill(HORSE)
    expect(dialog.get_by_label("Name")).to_have_value("Rhea")
    rhea.press("Register", within="dialog")
    expect(rhea.page.locator("#toast")).to_have_text(
        "You\u2019re registered: the name Rhea is yours now."
    )
    expect(dialog).to_be_hidden()
    expect(rhea.page.locator("body")).not_to_contain_text(HORSE)
    expect(rhea.page.locator("#log")).to_contain_text("is yours now")
    expect(rhea.page.locator("#log")).not_to_contain_text("press Enter")
    rhea.press("Settings")
    expect(dialog.get_by_role("button", name="Register")).to_be_hidden()


def test_password_that_the_server_refuses_can_be_mended(visit: Visit) -> None:
    player = visit().come_in("Philippa").type("register")
    dialog = player.page.locator("dialog")
    for words in ("philippa", HORSE):
        for label in ("Password", "Password again"):
            dialog.get_by_label(label, exact=True).fill(words)
        player.press("Register", within="dialog")
        if words != HORSE:
            note = "Your name is the first password that anybody would try."
            expect(dialog.locator("#register-note")).to_have_text(note)
    expect(player.page.locator("#toast")).to_have_text(
        "You\u2019re registered: the name Philippa is yours now."
    )
    expect(dialog).to_be_hidden()


def test_registering_and_passwords_are_never_said(visit: Visit) -> None:
    zora, listener = visit().come_in("Zora"), visit().come_in("Lyn")
    zora.page.get_by_role("tab", name="Chat").click()
    zora.type("Register")
    dialog = zora.page.locator("dialog")
    expect(dialog.get_by_role("heading", name="Register")).to_be_visible()
    zora.press("Cancel", within="dialog")
    zora.register(HORSE)
    zora.type("password", HORSE)  # without waiting for the question
    line = zora.page.locator("#line")
    expect(line).to_have_attribute("placeholder", "New password")
    expect(line).to_have_attribute("autocomplete", "new-password")
    expect(line).to_have_attribute("type", "password")
    zora.type("")
    expect(line).to_have_attribute("placeholder", "Say something, or /help")
    zora.type("Hello!")
    expect(listener.page.locator("#chat")).to_contain_text("Hello!")
    for words in (HORSE, "assword", "egister"):
        expect(listener.page.locator("body")).not_to_contain_text(f"Zora {words}")
    expect(listener.page.locator("#chat")).not_to_contain_text(HORSE)
    expect(zora.page.locator("#log")).not_to_contain_text(HORSE)


def test_reload_keeps_the_chat(visit: Visit) -> None:
    cora, chris = visit().come_in("Cora"), visit().come_in("Chris")
    for each in (cora, chris):
        each.page.get_by_role("tab", name="Chat").click()
    cora.type("Hello!")
    chris.type("Hello!", "How are you?")
    expect(cora.page.locator("#chat p")).to_have_count(3)
    cora.page.reload()
    cora.page.get_by_role("tab", name="Chat").click()
    lines = ["You Hello!", "Chris Hello!", "Chris How are you?"]
    expect(cora.page.locator("#chat p")).to_have_text(lines)


def test_board_is_observed_from_the_hall(visit: Visit) -> None:
    anna = visit().come_in("Olga").practises("maple")
    walt = visit().come_in("Walter").press("Observe maple board")
    anna.click("A6", "B6")
    walt.sees(B6="dwarf, last move")
    for player in (walt, anna):
        player.page.get_by_role("tab", name="Chat").click()
    walt.page.get_by_label("Send to").select_option("kibitz")
    walt.type("Well done.")
    expect(anna.page.locator("#chat")).to_contain_text("Walter kibitzes Well done.")
    expect(walt.page.locator("#chat")).to_contain_text("You kibitz Well done.")
    walt.press("Go there")
    expect(walt.page.get_by_label("Send to")).to_have_text("to all hereto watchersto players, too")
    walt.press("Hall").type("/go to oak board")
    expect(walt.page.locator("#game .heading")).to_contain_text("Oak board")
    walt.press("Maple board, observed").sees(B6="dwarf")
    walt.press("Stop observing")
    expect(walt.page.locator("#game .heading")).to_contain_text("Oak board")
    anna.type("leave game")


def test_tv_follows_running_boards(visit: Visit, tmp_path: Path, free_port: FreePort) -> None:
    with Served(tmp_path, free_port(), {"oak": "discworld", "elm": "discworld"}) as server:
        walt = visit(server=server).come_in("Walter")
        walt.press("TV").hears("Your tv will show the next battle that begins.")
        anna, bert = sit_down(visit, "oak", ("Anna", "Bert"), server=server)
        anna.click("A6", "B6")
        walt.sees(B6="dwarf, last move")
        anna.type("join game as dwarf on elm board").hears("You sit down at the elm board")
        bert.type("join game as troll on elm board", "start game on elm board")
        expect(walt.page.locator("#game-facts")).to_contain_text("on your TV")
        bert.type("resign on oak board").press("Resign", within="dialog")
        expect(walt.page.locator("#game-title")).to_have_text("Anna \N{EN DASH} Bert")
        walt.press("Hall")
        expect(walt.page.get_by_role("button", name="TV", exact=True)).to_have_attribute(
            "aria-pressed", "true"
        )
        walt.press("TV: Anna \N{EN DASH} Bert, observed").press("Turn the TV off")
        expect(walt.page.locator("body")).to_have_attribute("data-view", "lobby")
        for each in (walt, anna, bert):
            each.loses_server = True


def test_reused_board_name_shows_the_new_board(visit: Visit) -> None:
    ada, bob, cleo = (visit().come_in(name) for name in ("Ada", "Bob", "Cleo"))
    ada.type("seek discworld as dwarf")
    bob.press("Accept Ada's match", within="#seeks").sees(A6="dwarf")
    bob.hears("You walk to the")
    (board,) = re.findall(r"You walk to the (\w+ board)", bob.page.locator("#log").inner_text())
    watch = cleo.page.get_by_role("button", name=f"Watch {board}", exact=True)
    expect(watch).to_be_visible()
    for dwarf, troll in (("a6-b6", "g7-g6"), ("b6-c6", "g6-f6")):
        ada.type(dwarf)
        bob.type(troll)
    ada.press("Resign").press("Resign", within="dialog")
    expect(cleo.page.get_by_role("button", name=f"Open {board}")).to_be_visible()
    cleo.type("go to oak board").hears("You walk to the oak board")
    ada.press("Leave the seat").press("Leave", within="dialog")
    bob.hears("Ada leaves the").press("Leave the seat")
    for each in (ada, bob):
        each.press("Hall")
    expect(ada.page.locator("#boards")).not_to_contain_text(board)  # Cleo isn't notified
    cleo.type("seek discworld as dwarf")
    bob.press("Accept Cleo's match", within="#seeks").hears(f"You walk to the {board}")
    expect(cleo.page.locator("#strip-bottom")).to_contain_text("Cleo you")
    cleo.click("A6", "B6")
    bob.sees(B6="dwarf")
    cleo.press("Resign").press("Resign", within="dialog")


def test_challenge_uses_the_settings_of_the_form(visit: Visit) -> None:
    frida, gustav = visit().come_in("Frida"), visit().come_in("Gustav")
    for choice in ("Trolls", "5+3"):
        frida.page.get_by_label(choice, exact=True).check(force=True)
    frida.press("Challenge Gustav").press("Send challenge")
    seek = "Frida, to youDiscworld · 5+3 · you as dwarfs · casual"
    expect(gustav.page.locator("#seeks")).to_contain_text(seek)
    gustav.page.locator("#seeks").get_by_role("button", name="Accept").click()
    expect(frida.page.locator("#strip-bottom")).to_contain_text("Frida you8 left")
    expect(frida.page.locator("#game-facts")).to_contain_text("casual")
    expect(gustav.page.locator("#strip-bottom .clock")).to_be_visible()
    gustav.press("Resign").press("Resign", within="dialog")
    frida.press("Play the second battle")
    gustav.press("Accept")
    gustav.press("Resign").press("Resign", within="dialog")
    for each in (frida, gustav):
        card = each.page.locator(".result")
        expect(card).to_contain_text("the match, 64 to 0.")
        expect(card).not_to_contain_text("rated")  # it was casual


def test_rated_match_end_shows_both_rating_changes(visit: Visit) -> None:
    ilse, jan = visit().come_in("Ilse"), visit().come_in("Jan")
    for each in (ilse, jan):
        each.register()
    ilse.type("seek discworld as dwarf")
    jan.press("Accept Ilse's match", within="#seeks").sees(A6="dwarf")
    expect(jan.page.locator("#game-facts")).to_contain_text("battle 1 of 2 · rated")
    for dwarf, troll in (("a6-b7", "g7-f7"), ("b7-c7", "f7-e7"), ("c7-b7", "e7-f7")):
        ilse.type(dwarf)
        jan.sees(**{dwarf[-2:].upper(): "dwarf"}).type(troll)
        ilse.sees(**{troll[-2:].upper(): "troll"})
    ilse.press("Resign").press("Resign", within="dialog")
    jan.press("Play the second battle")
    ilse.press("Accept")
    ilse.press("Resign").press("Resign", within="dialog")
    for player, said in (
        (ilse, "Your rating: 1500 → 1421?. Jan\u2019s rating: 1500 → 1579?."),
        (jan, "Your rating: 1500 → 1579?. Ilse\u2019s rating: 1500 → 1421?."),
    ):
        expect(player.page.locator(".result")).to_contain_text(said)


def test_settings_show_the_player_and_log_out(visit: Visit) -> None:
    tilda = visit().come_in("Tilda").press("Settings")
    dialog = tilda.page.locator("#dialog")
    expect(dialog).to_contain_text("You are Tilda.")
    expect(dialog).to_contain_text(
        tilda.page.evaluate("JSON.parse(localStorage['thud.word']).word")
    )
    tilda.press("Log out").press("Log out", within="dialog")
    note = tilda.page.locator("#login-note")
    expect(note).to_have_text("You are logged out.")
    expect(note).not_to_have_class(re.compile("wrong"))
    expect(tilda.page.locator("#link")).to_be_empty()  # nothing is wrong


def test_settings_log_a_member_out_everywhere_else(visit: Visit) -> None:
    def word() -> str:
        found: str = ulf.page.evaluate("JSON.parse(localStorage['thud.word']).word")
        return found

    ulf = visit().come_in("Ulf")
    ulf.register()
    before = word()
    ulf.press("Settings").press("Log out everywhere else").hears("logged out everywhere but here")
    is_new = "before => JSON.parse(localStorage['thud.word']).word !== before"
    ulf.page.wait_for_function(is_new, arg=before)  # the text may arrive before the word
    assert word() != before
    ulf.type("say I am still here.").hears("You say: I am still here.")


def test_colours_chosen_by_command_are_applied(visit: Visit) -> None:
    def worn(player: Player, scheme: str, **colours: str) -> None:
        page = player.page.locator("html")
        expect(page).to_have_attribute("data-scheme", scheme)
        for name, value in colours.items():
            expect(page).to_have_css(f"--{name}", value)

    anna = visit().come_in("Ines").type("options colour scheme vivid")
    worn(anna, "vivid")
    anna.type("options colour special thud dwarf bold #00ff00")
    worn(anna, "vivid", dwarf="#00ff00")
    anna.register()
    other = visit()  # a browser context without stored data
    other.page.get_by_label("Your name").fill("Ines")
    other.press("Play as guest")
    other.page.get_by_label("Password").fill("correct horse")
    other.press("Log in")
    worn(other, "vivid", dwarf="#00ff00")
    other.press("Settings").page.get_by_label("dim").check(force=True)
    worn(other, "dim", dwarf="#8a6444")
    other.press("Close").page.reload()
    worn(other, "dim")
    expect(other.page.locator("body")).to_have_attribute("data-view", "lobby")


def test_finished_battle_is_analysed_and_continued(visit: Visit) -> None:
    anna, bert = sit_down(visit, "larch", ("Paulina", "Piet"), SHORT)
    anna.click("E6", "E10").sees(E10="dwarf")  # exposes F6 to the trolls
    bert.type("g8-f7 capturing f6")
    anna.sees(F7="troll").press("Resign").press("Resign", within="dialog")
    notice, graph = anna.page.locator("#notices"), anna.page.locator("#replay-curve svg")
    expect(anna.page.locator(".result")).to_contain_text("12 to 0, by resignation")
    anna.page.reload()
    expect(notice).to_contain_text("Piet wins 12 to 0, by resignation")
    anna.page.get_by_role("link", name="Analyse").click()
    anna.press("Computer analysis")
    expect(graph.locator(".slip")).to_have_count(1)
    blunder = anna.page.get_by_role("button", name=re.compile("E6.E10.*a blunder"))
    expect(blunder).to_be_visible()
    box = graph.bounding_box()
    assert box
    anna.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    anna.sees(E10="dwarf", F6="dwarf", G8="troll")  # the position after the middle ply
    expect(blunder).to_have_attribute("aria-current", "step")
    expect(anna.page.locator("#replay-bottom")).to_contain_text("Paulina3 left")
    expect(anna.page.locator("#replay-curve")).to_contain_text("A blunder: it loses")
    expect(anna.page.locator("#line")).to_be_in_viewport(ratio=1)
    anna.hears("the trolls made no mistakes")  # the log has one sentence of it
    expect(anna.page.locator("#log")).not_to_contain_text("a blunder by Paulina")
    bert.press("Play the second battle")
    anna.press("vs Piet").press("Accept").sees(A9="dwarf", G8="troll")
    expect(anna.page.locator("#strip-bottom")).to_contain_text("Paulina you")
    anna.press("Resign").press("Resign", within="dialog").press("Rematch")
    bert.press("Accept", within=".result")
    bert.press("Resign").press("Resign", within="dialog")
    bert.page.get_by_role("link", name="Analyse").click()
    expect(bert.page.locator("#replay-bottom")).to_contain_text("Piet")  # the trolls' side again
    bert.press("vs Paulina").press("Hall")
    expect(bert.page.locator("body")).to_have_attribute("data-view", "lobby")


def test_lesson_uses_clicks_and_highlights_squares(visit: Visit) -> None:
    anna = visit().come_in("Lea").press("Learn the rules")
    lesson, log = anna.page.locator("#lesson"), anna.page.locator("#log")
    anna.sees(H8="Thudstone, named in the lesson", A6="dwarf, named in the lesson").click("A6")
    anna.sees(C6="empty, can go here").click("C6")
    expect(lesson.locator(".missed")).to_contain_text("but not the one for this step")
    expect(lesson).to_contain_text("Move the dwarf from A6 to B6.")
    anna.click("A6")  # back in its place, for a second attempt
    anna.sees(B6="empty, named in the lesson, can go here").click("B6").sees(B6="dwarf")
    expect(lesson).to_contain_text("The tutor answers with a troll")
    for words in ("type two squares", "diagonal"):
        expect(log).not_to_contain_text(words)
    anna.type("options reader on", "tutorial 1").hears("type two squares")
    anna.hears("Dwarfs at diagonal F1 to A6").type("stop")


def test_puzzle_is_solved_at_the_second_attempt(visit: Visit) -> None:
    petra = visit().come_in("Petra").type("puzzle 1").sees(C5="dwarf")
    lesson = petra.page.locator("#lesson")
    petra.click("C7", "E9")
    expect(lesson).to_contain_text("the trolls answer E5 to D5 and capture 3 dwarfs")
    expect(lesson.get_by_role("button")).to_have_text(["Skip", "Hint", "Leave"])
    petra.click("C5", "E5").sees(E5="dwarf")
    expect(lesson).to_contain_text("That\u2019s it! It captures a troll.")
    petra.press("Next", within="#lesson")
    expect(lesson).not_to_contain_text("That\u2019s it")


def test_taps_on_a_phone_before_legal_moves_arrive(visit: Visit) -> None:
    phone = visit(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    late: list[Callable[[], None]] = []
    phone.page.route_web_socket("**", lambda link: hold_back("Thud.Legal", link, late))
    phone.page.reload()
    phone.come_in("Thumb").practises("ash")
    assert phone.page.evaluate("document.documentElement.scrollWidth") == 390
    for square in ("A6", "D9"):
        x, y, width = phone.place(square)
        assert width >= 24  # WCAG 2.2, success criterion 2.5.8
        phone.page.touchscreen.tap(x + width * 0.7, y)  # just inside the neighbouring square
    while not late:  # both taps precede the list of legal moves
        phone.page.wait_for_timeout(1)
    late.pop()()
    phone.sees(A6="empty", D9="dwarf")


def hold_back(kind: str, link: WebSocketRoute, late: list[Callable[[], None]]) -> None:
    """Forward the server's messages to a page, but hold back one package."""
    server = link.connect_to_server()

    def passed_on(frame: str | bytes) -> None:
        if kind in str(frame):
            late.append(lambda: link.send(frame))
        else:
            link.send(frame)

    server.on_message(passed_on)


def violations(player: Player, screen: str) -> list[str]:
    """Return the violations found by axe-core: all in light mode, contrast only in dark."""
    found = []
    if player.page.evaluate("!window.axe"):
        player.page.evaluate(AXE)
    schemes: dict[Literal["light", "dark"], list[str]] = {"light": TAGS, "dark": CONTRAST}
    for scheme, only in schemes.items():
        player.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        result = player.page.evaluate(
            "([exclude, runOnly, rules]) =>"
            " axe.run({exclude}, {runOnly, rules, resultTypes: ['violations']})",
            [ROWS, only, EXPERIMENTAL],
        )
        assert result["passes"], screen
        found += [
            f"{screen}, {scheme}: {each['id']}: {node['html']} {node['failureSummary']}"
            for each in result["violations"]
            for node in each["nodes"]
        ]
    return found


def test_axe_finds_no_violations_on_the_main_screens(visit: Visit) -> None:
    player = visit()
    found = violations(player, "welcome")
    player.come_in("Axel").type("seek koom valley as troll unrated", "say Hello.")
    player.page.get_by_role("tab", name="Chat").click()
    expect(player.page.locator("#chat")).to_contain_text("Hello.")
    expect(player.page.locator("#seeks")).to_contain_text("Koom Valley")
    found += violations(player, "hall")
    player.page.get_by_role("tab", name="Log").click()
    player.practises("fir", "setup dwarfs a6, f6, h6 trolls g8 turn trolls").click("G8")
    player.sees(G7="empty, can capture here").click("G7")
    found += violations(player, "prey to be chosen")
    player.press("Capture F6, H6").sees(G7="troll")
    player.press("Settings")
    found += violations(player, "settings")
    player.press("Close").press("End").press("End", within="dialog")
    player.page.get_by_role("link", name="Analyse").click()
    player.sees(G7="troll")
    found += violations(player, "replay")
    assert not found


def test_axe_finds_no_violations_on_a_phone(visit: Visit) -> None:
    anna = visit().come_in("Bodil").practises("linden").click("A6", "B6").sees(B6="dwarf")
    phone = visit(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    phone.come_in("Thea")
    found = violations(phone, "hall")
    phone.press("Observe linden board").sees(B6="dwarf")
    phone.page.get_by_role("tab", name="Chat").click()
    expect(phone.page.get_by_label("Send to")).to_be_visible()
    found += violations(phone, "observing")
    phone.press("Hall").press("Learn the rules")
    expect(phone.page.locator("#game-title")).to_contain_text("Lesson 1")
    found += violations(phone, "lesson")
    phone.press("Leave")
    expect(phone.page.locator("body")).to_have_attribute("data-view", "lobby")
    anna.press("End")
    found += violations(anna, "question")
    anna.press("Cancel")
    watcher = visit("/board/linden").sees(B6="dwarf")
    found += violations(watcher, "watching without a name")
    phone.page.get_by_role("tab", name="Log").click()
    phone.type("quit")
    expect(phone.page.locator("#login-note")).to_have_text("You are logged out.")
    found += violations(phone, "left")
    assert not found
    phone.page.get_by_label("Your name").fill("Thea")
    phone.press("Play as guest")
    expect(phone.page.locator("body")).to_have_attribute("data-view", "lobby")
    anna.type("leave game")


def test_resume_word_is_valid_until_the_password_is_reset(
    visit: Visit, tmp_path: Path, free_port: FreePort
) -> None:
    with Served(tmp_path, free_port(), {"oak": "discworld"}) as server:
        anna = visit(server=server).come_in("Anna")
        anna.register()
        anna.practises("oak").click("A6", "B6").sees(B6="dwarf").page.reload()
        anna.sees(B6="dwarf")
        anna.loses_server = True
        server.kill()
        expect(anna.page.locator("#link")).to_contain_text("lost")
        server.start()
        expect(anna.page.locator("#link")).to_have_text("")
        anna.click("G7", "G6").sees(G6="troll")
        server.kill()
        password = server.reset("Anna")
        server.start()
        expect(anna.page.locator("#login-note")).to_contain_text("log in again as Anna")
        anna.press("Another name").page.get_by_label("Your name").fill("Anna")
        anna.press("Play as guest").page.get_by_label("Password").fill(password)
        anna.press("Log in").sees(G6="troll", G7="empty")


def test_login_note_shows_only_errors_of_this_login(
    visit: Visit, tmp_path: Path, free_port: FreePort
) -> None:
    with Served(tmp_path, free_port(), {"oak": "discworld"}) as server:
        nobody = visit(server=server)
        note = nobody.page.locator("#login-note")
        nobody.page.get_by_label("Your name").fill("x1")
        nobody.press("Play as guest")
        expect(note).to_have_text(
            "A name is 2 to 20 letters from A to Z, without accents, digits or spaces."
        )
        expect(nobody.page.get_by_label("Your name")).to_have_value("x1")  # kept for correction
        nora = visit(server=server).come_in("Nora").register().type("quit")
        expect(nora.page.locator("#login-note")).to_have_text("You are logged out.")
        expect(note).to_contain_text("letters from A to Z")
        nobody.page.get_by_label("Your name").fill("Nora")
        nobody.press("Play as guest")
        expect(note).to_contain_text("is registered")
        expect(nobody.page.get_by_label("Password")).to_have_value("")
        nils = visit(server=server).come_in("Nils")
        expect(note).to_contain_text("is registered")
        nobody.page.get_by_label("Password").fill("wrong")
        nobody.press("Log in")
        expect(note).to_contain_text("That isn\u2019t the password")
        nobody.page.get_by_label("Password").fill("correct horse")
        nobody.press("Log in")
        expect(nobody.page.locator("body")).to_have_attribute("data-view", "lobby")
        nobody.type("quit")
        expect(note).to_have_text("You are logged out.")
        nobody.loses_server = nora.loses_server = nils.loses_server = True


def test_operators_are_marked_in_the_hall(visit: Visit, served: Served) -> None:
    anna = visit().come_in("Viola").register()
    anna.hears("is yours now")
    bert = visit().come_in("Volker")
    viola = bert.page.locator("#who li").filter(has_text="Viola")
    expect(viola).to_be_visible()
    expect(viola).not_to_contain_text("operator")
    command = [sys.executable, "-m", "thudmud.cli.main", "user", "operator", "Viola"]
    subprocess.run([*command, "--config", str(served.config)], cwd=ROOT, check=True)
    anna.hears("operator").type("go to oak", "go hall")
    expect(viola).to_contain_text("operator")


def test_long_answer_is_scrolled_to_its_beginning(
    visit: Visit, tmp_path: Path, free_port: FreePort
) -> None:
    with Served(tmp_path, free_port(), {"oak": "discworld"}) as server:  # where nobody else is
        lisa = visit(server=server, viewport={"width": 1280, "height": 400}).come_in("Lisa")
        lisa.type("help thud").hears("See also")
        tops = """() => {
            const log = document.getElementById("log");
            const { top, bottom } = log.getBoundingClientRect();
            const said = log.lastElementChild.getBoundingClientRect();
            return [said.top - top, said.bottom - bottom];
        }"""
        begins, goes_on = lisa.page.evaluate(tops)
        assert begins >= -1  # rounding
        assert goes_on > 0
        lisa.type("say Hello.").hears("You say: Hello.")
        assert lisa.page.evaluate(tops)[1] <= 0
        lisa.loses_server = True


def test_long_talk_is_shown_unbroken(visit: Visit) -> None:
    words = " ".join(f"word{number}" for number in range(40))
    anna, bert = visit().come_in("Lena"), visit().come_in("Lorenz")
    anna.type(f"say {words}")
    said = f"Lena says: {words}"
    bert.hears(said)
    expect(bert.page.locator("#log .own").filter(has_text=said)).to_have_text(said)
