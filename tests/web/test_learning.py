"""Lessons, puzzles and TV on the page: their addresses, the list of them, and the welcome page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web.conftest import Player, Served, Visit, served_boards

pytestmark = pytest.mark.slow

BOARDS = "oak", "elm", "yew", "ash", "fir"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve boards of this module alone, on which nobody else plays."""
    folder: Path = tmp_path_factory.mktemp("learning")
    with served_boards(folder, dict.fromkeys(BOARDS, "discworld")) as server:
        yield server


def expect_view(player: Player, path: str, title: str = "") -> None:
    """Wait until the page has this address, and a board this title."""
    expect(player.page).to_have_url(re.compile(re.escape(path) + "$"))
    if title:
        expect(player.page.locator("#game-title")).to_contain_text(title)
        expect(player.page.locator("#game-title")).to_be_visible()
    else:
        expect(player.page.locator("#game-title")).to_be_hidden()


def test_lesson_link_makes_a_guest_of_a_visitor(visit: Visit) -> None:
    anna = visit("/lesson/3")
    expect_view(anna, "/lesson/3", "Lesson 3")
    anna.click("E7", "E8").press("Next", within="#lesson .row:not(nav)")
    expect(anna.page.locator("#game-facts")).to_contain_text("step 2 of 5")
    expect(anna.page.locator("#board [data-square]:focus")).to_have_count(1)
    anna.page.reload()
    expect_view(anna, "/lesson/3", "Lesson 3")
    expect(anna.page.locator("#game-facts")).to_contain_text("step 2 of 5")


def test_back_returns_from_lessons_and_puzzles_to_earlier_views(visit: Visit) -> None:
    beth = visit().come_in("Beth").press("Learn the rules")
    expect_view(beth, "/lesson/1", "Lesson 1")
    beth.page.get_by_role("link", name="Next lesson").click()
    expect_view(beth, "/lesson/2", "Lesson 2")
    beth.type("puzzle 12")
    expect_view(beth, "/puzzle/12", "Puzzle 12")
    expect(beth.page.locator("#places")).not_to_contain_text("Tutorial")
    beth.page.go_back()
    expect_view(beth, "/lesson/2", "Lesson 2")
    beth.page.go_back()
    beth.page.go_back()
    expect_view(beth, "/")
    expect(beth.page.locator("body")).to_have_attribute("data-view", "lobby")
    beth.page.go_forward()
    expect_view(beth, "/lesson/1", "Lesson 1")
    beth.press("Leave")
    expect_view(beth, "/")
    assert beth.page.evaluate("document.body.dataset.view") == "lobby"


def test_tv_has_an_address_that_turns_it_on(visit: Visit) -> None:
    dora, egon = visit().come_in("Dora"), visit().come_in("Egon")
    watcher = visit("/tv").come_in("Wanda")
    expect(watcher.page.locator("#tv")).to_have_attribute("aria-pressed", "true")
    expect_view(watcher, "/tv")
    waits = watcher.page.locator("#tv-waits")
    expect(waits).to_contain_text("Your TV will show the next battle.")
    dora.type("join game as dwarf on oak board")
    egon.type("join game as troll on oak board", "start")
    expect_view(watcher, "/tv", "Dora \N{EN DASH} Egon")
    watcher.page.reload()
    expect_view(watcher, "/tv", "Dora \N{EN DASH} Egon")
    watcher.press("Hall")
    expect_view(watcher, "/")
    watcher.page.go_back()
    expect_view(watcher, "/tv", "Dora \N{EN DASH} Egon")
    watcher.type("tv off")
    expect_view(watcher, "/")
    expect(waits).to_be_empty()
    dora.type("leave game", "yes")
    egon.type("leave game")
    expect(dora.page.locator("#boards li", has_text="Oak board")).to_contain_text("both seats free")


def test_tv_address_leads_from_a_finished_match_to_the_next_battle(visit: Visit) -> None:
    rita, sepp, toni, udo = (visit().come_in(each) for each in ("Rita", "Sepp", "Toni", "Udine"))
    rita.type("join game as dwarf on fir board")
    sepp.type("join game as troll on fir board", "start")
    rita.sees(A6="dwarf")
    address = rita.page.url.split("/board")[0] + "/tv"
    rita.page.goto(address)
    toast = "No other battle is on. Your TV will show the next one."
    expect(rita.page.locator("#toast")).to_have_text(toast)
    rita.page.wait_for_url("**/board/*")  # where a battle goes on
    rita.type("tv off", "resign").press("Resign", within="dialog")
    expect(rita.page.locator(".result")).to_contain_text("Sepp wins")
    rita.page.goto(address)
    expect(rita.page.locator("#tv-waits")).to_contain_text("Your TV will show the next battle.")
    expect(rita.page.locator("#tv-waits")).to_be_visible()
    expect_view(rita, "/tv")
    toni.type("join game as dwarf on ash board")
    udo.type("join game as troll on ash board", "start")
    expect_view(rita, "/tv", "Toni \N{EN DASH} Udine")
    rita.type("tv off")
    toni.type("leave game", "yes")
    udo.type("leave game")
    expect(rita.page.locator("#boards li", has_text="Ash board")).to_contain_text("both seats free")


def test_tv_keeps_the_end_of_a_battle_until_the_next(visit: Visit) -> None:
    tina, ulf = visit().come_in("Tina"), visit().come_in("Ulf")
    watcher = visit("/tv").come_in("Wally")
    expect(watcher.page.locator("#tv")).to_have_attribute("aria-pressed", "true")
    tina.type("join game as dwarf on oak board")
    ulf.type("join game as troll on oak board", "start")
    expect_view(watcher, "/tv", "Tina \N{EN DASH} Ulf")
    watcher.sees(A6="dwarf")
    ulf.type("resign").press("Resign", within="dialog")
    tina.hears("You win the battle")
    expect(watcher.page.locator(".result")).to_contain_text("Tina wins")
    watcher.type("who").hears("Wally")  # by then, the tv has turned if it does
    expect_view(watcher, "/tv", "Tina \N{EN DASH} Ulf")
    expect(watcher.page.locator(".result")).to_contain_text("Tina wins")
    watcher.press("Settings").press("Log out").press("Log out", within="dialog")
    expect_view(watcher, "/")
    watcher.page.get_by_label("Your name").fill("Wanja")
    watcher.press("Play as guest")
    expect(watcher.page.locator("body")).to_have_attribute("data-view", "lobby")
    expect(watcher.page.locator("#lobby")).to_be_visible()  # not what the last player watched
    watcher.press("TV")
    tina.press("Play the second battle")
    ulf.press("Accept")
    expect(watcher.page.locator("#game-facts")).to_contain_text("battle 2 of 2")
    expect_view(watcher, "/tv", "Ulf \N{EN DASH} Tina")
    for each in (tina, ulf):
        each.type("quit")


PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}


def test_visitor_watches_tv_and_joins_from_there(visit: Visit) -> None:
    visitor = visit("/tv", **PHONE)
    expect(visitor.page.locator("#login-note")).to_contain_text("No battle is on.")
    vera, udo = visit().come_in("Vera"), visit().come_in("Udo")
    vera.type("join game as dwarf on yew board")
    udo.type("join game as troll on yew board", "start")
    expect_view(visitor, "/tv", "Vera \N{EN DASH} Udo")
    vera.type("a6 b6").hears("B6")
    visitor.sees(B6="dwarf, last move")
    udo.type("resign").press("Resign", within="dialog")
    expect(visitor.page.locator(".result")).to_contain_text("Vera wins")
    tina, ulf = visit().come_in("Tinka"), visit().come_in("Ulrik")
    tina.type("join game as dwarf on ash board")
    ulf.type("join game as troll on ash board", "start").hears("begin a match")
    expect(visitor.page.locator("#game-title")).to_contain_text("Vera")  # for some seconds
    expect_view(visitor, "/tv", "Tinka \N{EN DASH} Ulrik")
    visitor.press("Join to play")
    expect(visitor.page.locator("#login-note")).to_have_text("Choose a name, or none, to watch.")
    visitor.press("Play as guest")
    expect_view(visitor, "/tv", "Tinka \N{EN DASH} Ulrik")
    expect(visitor.page.locator("#game-facts")).to_contain_text("on your TV")
    for each in (vera, udo, tina, ulf):
        each.type("leave game", "yes", "quit")


def test_visitor_who_wants_to_learn_is_made_a_guest(visit: Visit) -> None:
    visitor = visit(**PHONE)
    visitor.page.get_by_role("link", name="Learn the rules step by step").click()
    expect_view(visitor, "/lesson/1", "Lesson 1")
    visitor.page.reload()
    expect_view(visitor, "/lesson/1", "Lesson 1")


def test_lesson_link_brings_a_known_player_back(visit: Visit) -> None:
    known = visit().come_in("Liesl")
    known.page.goto(known.page.url.rstrip("/") + "/lesson/2")
    expect_view(known, "/lesson/2", "Lesson 2")
    known.press("Settings")
    expect(known.page.locator("dialog")).to_contain_text("You are Liesl.")
    known.page.evaluate("""localStorage.setItem("thud.word",
        JSON.stringify({ player: "Nobody", word: "no such word" }))""")
    known.page.reload()
    expect(known.page.locator("#login-note")).to_have_text("Please log in again as Nobody.")


def test_unknown_lesson_is_not_found(visit: Visit) -> None:
    lost = visit("/lesson/99")
    expect(lost.page.get_by_role("heading", name="Page not found")).to_be_visible()
    lost.errors = [each for each in lost.errors if "404" not in each]


def test_visitor_is_told_that_nothing_is_on_tv(visit: Visit) -> None:
    visitor = visit("/tv")
    note = visitor.page.locator("#login-note")
    expect(note).to_contain_text("No battle is on. The next one will be shown here.")
    expect(visitor.page.get_by_label("Your name")).to_be_visible()


def test_list_of_lessons_is_read_by_strangers(visit: Visit) -> None:
    stranger = visit("/lessons", **PHONE)
    expect_view(stranger, "/lessons")
    expect(stranger.page.locator("#lesson-list a")).to_have_count(7)
    expect(stranger.page.get_by_role("button", name="Join to play")).to_be_visible()
    stranger.page.locator("#lesson-list a").first.click()
    expect_view(stranger, "/lesson/1", "Lesson 1")
    other = visit("/lessons", **PHONE)
    other.press("Join to play").press("Play as guest")
    expect_view(other, "/lessons")
    expect(other.page.locator("#places")).to_contain_text("Hall")


def test_list_marks_what_is_done(visit: Visit) -> None:
    carla = visit().come_in("Carla")
    carla.page.get_by_role("link", name="All lessons and puzzles").click()
    expect_view(carla, "/lessons")
    facts, puzzles = carla.page.locator("#lessons-facts"), carla.page.locator("#puzzle-list")
    expect(facts).to_have_text("0 of 7 lessons done · 0 of 63 puzzles solved")
    puzzles.get_by_role("link", name="1: Puzzle 1, dwarfs to move", exact=False).first.click()
    expect_view(carla, "/puzzle/1", "Puzzle 1")
    carla.click("C5", "E5")
    expect(carla.page.locator("#lesson")).to_contain_text("That\u2019s it!")
    expect(carla.page.locator("#lesson").get_by_text("Next")).to_have_count(1)
    carla.page.get_by_role("link", name="All puzzles", exact=True).click()
    expect(facts).to_have_text("0 of 7 lessons done · 1 of 63 puzzles solved")
    expect(puzzles.locator(".solved")).to_have_count(1)
    # The server forgets guests who are away; the browser doesn't.
    kept = carla.page.evaluate("JSON.parse(localStorage.getItem('thud-done'))")
    assert kept == {"player": "Carla", "done": ["puzzle 1"]}
    carla.page.evaluate("""localStorage.setItem("thud-done",
        JSON.stringify({ player: "Carla", done: ["puzzle 1", "lesson 2"] }))""")
    carla.page.reload()
    expect(facts).to_have_text("1 of 7 lessons done · 1 of 63 puzzles solved")
    carla.page.locator("#lesson-list").get_by_role("link", name="How the classic rules").click()
    expect_view(carla, "/lesson/5", "Lesson 5")
    carla.page.go_back()
    expect_view(carla, "/lessons")
    carla.press("Hall")
    expect_view(carla, "/")


def test_puzzles_are_one_tab_stop(visit: Visit) -> None:
    tabea = visit().come_in("Tabea")
    tabea.page.get_by_role("link", name="All lessons and puzzles").click()
    stops = tabea.page.locator("#puzzle-list a[tabindex='0']")
    expect(stops).to_have_count(1)
    stops.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowUp"):
        tabea.page.keyboard.press(key)
    expect(tabea.page.locator("[data-key='puzzle 2']")).to_be_focused()
    expect(stops).to_have_attribute("data-key", "puzzle 2")


def test_answer_to_a_question_in_a_lesson_is_shown_on_a_phone(visit: Visit) -> None:
    size = {"width": 390, "height": 844}
    fay = visit("/lesson/7", viewport=size, has_touch=True, is_mobile=True)
    fay.press("around g7", within="#lesson")
    answer = fay.page.locator("#lesson .answer")
    expect(answer).to_contain_text("East: a troll on H7, adjacent.")
    expect(answer).not_to_contain_text("You can look for pieces")  # it is said below
    expect(answer).to_be_in_viewport()
    fay.press("where trolls", within="#lesson")
    expect(answer).to_have_text("8 trolls: G7, H7, I7, G8, I8, G9, H9, I9.")
    fay.type("hint")
    expect(answer).to_be_hidden()


def test_hints_mark_squares(visit: Visit) -> None:
    gina = visit("/puzzle/1")
    gina.press("Hint", within="#lesson").sees(C5="dwarf, named in the lesson")
    gina.press("Hint", within="#lesson").sees(E5="troll, named in the lesson")
    expect(gina.page.locator("#lesson")).to_contain_text("Hurl the dwarf from C5 to E5.")


def test_h_presses_the_hint_of_a_puzzle(visit: Visit) -> None:
    hugo = visit("/puzzle/1").sees(C5="dwarf")
    hugo.square("C5").focus()
    hugo.page.keyboard.press("h")
    hugo.sees(C5="dwarf, named in the lesson")
    assert "hint" in hugo.sent


def test_last_lesson_leads_to_no_next_one(visit: Visit) -> None:
    hilda = visit("/lesson/7")
    for line in ("around g7", "where trolls", "moves a6", "look", "set board full"):
        hilda.press(line, within="#lesson")
    expect(hilda.page.locator("#lesson")).to_contain_text("the last lesson")
    buttons = hilda.page.locator("#lesson .row:not(nav)").get_by_role("button")
    expect(buttons).to_have_text(["Leave"])


def test_guest_without_a_name_is_given_one(visit: Visit) -> None:
    nobody = visit()
    nobody.press("Play as guest")
    expect(nobody.page.locator("body")).to_have_attribute("data-view", "lobby")
    expect(nobody.page.locator("#who")).to_contain_text(re.compile(r"[A-Z][a-z]{5,} you"))


def test_registered_name_is_no_mistake(visit: Visit) -> None:
    visit().come_in("Isidor").register()
    other = visit()
    other.page.get_by_label("Your name").fill("isidor")
    other.press("Play as guest")
    expect(other.page.locator("#login-note")).to_contain_text("The name Isidor is registered.")
    expect(other.page.locator("#login-note")).not_to_have_class(re.compile("wrong"))
    expect(other.page.locator("#name")).to_be_focused()
    other.page.keyboard.type("not the password")
    other.page.keyboard.press("Enter")
    expect(other.page.locator("#login-note")).to_have_class(re.compile("wrong"))


def test_taken_name_is_said_in_plain_words(visit: Visit) -> None:
    visit().come_in("Irma")
    other = visit()
    note = other.page.locator("#login-note")
    other.page.get_by_label("Your name").fill("irma")
    other.press("Play as guest")
    expect(note).to_have_text("Irma is taken. Another name?")
    expect(other.page.locator("#name")).to_have_attribute("aria-invalid", "true")
    other.press("I\u2019m Irma")
    expect(other.page.get_by_label("Comeback words")).to_be_focused()
    other.press("Another name").page.get_by_label("Your name").fill("Irmgard")
    other.press("Play as guest")
    expect(other.page.locator("body")).to_have_attribute("data-view", "lobby")


def test_welcome_page_shows_a_battle_under_way(visit: Visit) -> None:
    jan, kai = visit().come_in("Janka"), visit().come_in("Kaisa")
    stranger = visit()
    board = stranger.page.locator("#showcase [data-square='B6']")
    players = stranger.page.locator("#showcase-players")
    expect(stranger.page.locator("#rules figure")).to_have_count(3)
    expect(players).to_be_hidden()
    jan.type("join game as dwarf on elm board").hears("Kaisa")
    kai.type("join game as troll on elm board", "start").hears("begin a match")
    expect(players).to_have_text("Janka \N{EN DASH} Kaisa, now")
    jan.type("a6 b6")
    expect(board).to_have_attribute("aria-label", "B6, dwarf, last move")
    kai.page.close()
    expect(players).to_be_hidden()  # once nobody is there, it isn't played
    expect(stranger.page.locator("#now")).not_to_contain_text("elm board")
    jan.type("leave game", "yes")
    stranger.page.get_by_label("Your name").fill("Stella")
    stranger.press("Play as guest")
    expect(stranger.page.locator("body")).to_have_attribute("data-view", "lobby")


def test_focus_goes_on_after_the_login(visit: Visit) -> None:
    luca = visit().come_in("Luca")
    expect(luca.page.get_by_role("heading", name="The hall")).to_be_focused()
    mona = visit("/lesson/2")
    expect(mona.page.locator("#board [data-square]:focus")).to_have_count(1)


def test_skip_link_leads_to_what_is_seen(visit: Visit) -> None:
    nora = visit()
    expect(nora.page.locator("body")).to_have_attribute("data-view", "welcome")
    nora.page.get_by_role("link", name="To the name field").press("Enter")
    expect(nora.page.get_by_label("Your name")).to_be_focused()
    nora.come_in("Norina").page.get_by_role("link", name="To the command line").press("Enter")
    expect(nora.page.locator("#line")).to_be_focused()
    assert nora.path == "/"


def test_page_without_scripts_says_how_to_play(visit: Visit) -> None:
    plain = visit(java_script_enabled=False)
    expect(plain.page.locator(".noscript")).to_contain_text("telnet")
    expect(plain.page.locator(".noscript")).to_be_visible()
