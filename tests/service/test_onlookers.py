"""Onlookers (anonymous watchers) and queries of programs."""

from __future__ import annotations

import json
from typing import Any

from tests.alarms import Alarms
from tests.service.place import BOARDS, Place, Screen
from thudmud.game.events import Parting
from thudmud.game.table import BoardSpec
from thudmud.service import JoinRequest, Onlooker, Visit
from thudmud.service.boards import close_board, open_board, rename_board
from thudmud.store import Store
from thudmud.views import Terminal

EVERYTHING = Terminal(packages=frozenset({"thud"}))


async def opened() -> Place:
    place = Place(Store.in_memory(), boards=[*BOARDS, BoardSpec("basalt board", "koom valley")])
    await place.open()
    return place


def facts(screen: Screen) -> list[tuple[str, Any]]:
    """Return the facts received so far, and clear the messages."""
    found = [(each.package, json.loads(each.text)) for each in screen.messages if each.package]
    screen.messages.clear()
    return found


def watch(place: Place, words: str | None, terminal: Terminal = EVERYTHING) -> tuple[Screen, Any]:
    screen = Screen()
    return screen, place.service.watch(screen, terminal, words)


async def joined(place: Place, name: str = "Anna") -> tuple[Screen, Visit]:
    """Let a player join with a program that gets all packages."""
    screen = Screen()
    visit = await place.service.join(JoinRequest(name, EVERYTHING, screen))
    assert visit
    return screen, visit


async def test_onlooker_at_a_board_gets_its_events_and_talk() -> None:
    place = await opened()
    await place.enter("Anna", "Bert")
    await place.type("Anna", "join game as dwarf on oak board")
    screen, _ = watch(place, "oak")
    assert [package for package, _ in facts(screen)] == ["Thud.Here", "Thud.Table", "Thud.Board"]
    await place.type("Bert", "join game as troll on oak board", "say hello")
    await place.type("Anna", "start", "move from a6 to b6")
    told = screen.told
    assert any("Bert says: hello" in each for each in told)
    assert any("Anna moves the dwarf from A6 to B6." in each for each in told)
    packages = [package for package, _ in facts(screen)]
    assert packages.count("Thud.Move") == 1
    assert {"Thud.Came", "Thud.Say", "Thud.Board"} < set(packages)
    await place.service.close()


async def test_onlooker_gets_nothing_private_or_from_elsewhere() -> None:
    place = await opened()
    await place.enter("Anna", "Bert")
    (at_oak, _), (in_hall, _) = watch(place, "oak board"), watch(place, None)
    facts(at_oak), facts(in_hall)
    await place.type("Anna", "match bert", "tell bert psst", "look", "who", "seek classic")
    await place.type("Bert", "go to elm board", "say here", "go to hall", "decline anna")
    await place.type("Anna", "tutorial 1", "stop")
    assert at_oak.messages == []
    told = facts(in_hall)
    assert [package for package, _ in told] == ["Thud.Seek", "Thud.Went", "Thud.Came"]
    assert told[0][1]["to"] is None
    await place.service.close()


async def test_hall_gets_updates_of_its_list_of_boards() -> None:
    store, alarms = Store.in_memory(), Alarms()
    place = Place(store, later=alarms)
    await place.open()
    await place.enter("Anna", "Bert")
    await place.type("Anna", "go to oak board")
    screen, visit = await joined(place, "Carla")
    nameless, _ = watch(place, None)
    facts(screen), facts(nameless)
    await place.type("Anna", "join game as dwarf")
    alarms.ring()
    await place.type("Bert", "join game as troll on oak board", "start")
    alarms.ring()
    await place.type("Bert", "move from a6 to b6", "end game")
    await place.type("Anna", "end game", "say here")
    alarms.ring()
    await rename_board(store, "elm board", "yew board", 2000.0)
    await close_board(store, "yew board", 2001.0)
    for each in (screen, nameless):
        known = facts(each)
        listed = [fact for package, fact in known if package == "Thud.Listed"]
        told = [(fact["dwarf"], fact["troll"], fact["running"]) for fact in listed]
        assert told == [("Anna", None, False), ("Anna", "Bert", True), ("Anna", "Bert", False)]
        assert all(len(str(fact)) < 190 for fact in listed)
        assert ("Thud.Renamed", {"board": "elm board", "name": "yew board"}) in known
        assert ("Thud.Closed", {"board": "yew board"}) in known
        assert not {"Thud.Move", "Thud.Board"} & {package for package, _ in known}
    await place.service.submit(visit, "go to oak board")
    facts(screen)
    await place.type("Bert", "leave game")
    alarms.ring()
    assert "Thud.Listed" not in [package for package, _ in facts(screen)]
    await place.service.close()


async def test_onlooker_is_invisible_to_players() -> None:
    place = await opened()
    screen, anna = await joined(place)
    facts(screen)
    for words in ("oak", None, "elm board"):
        watch(place, words)
    assert screen.messages == []
    await place.service.submit(anna, "go to oak board")
    await place.service.submit(anna, "who")
    for package, fact in facts(screen):
        if package in {"Thud.Here", "Thud.Who"}:
            assert [each["player"] for each in fact["people"]] == ["Anna"]
    assert place.service.hall.people.keys() == {"Anna"}
    await place.service.close()


async def test_former_onlooker_gets_nothing() -> None:
    place = await opened()
    await place.enter("Anna")
    screen, onlooker = watch(place, "oak")
    assert isinstance(onlooker, Onlooker)
    place.service.unwatch(onlooker)
    facts(screen)
    await place.type("Anna", "practice on oak board")
    assert screen.messages == []
    await place.service.close()


async def test_onlooker_at_a_closed_board_moves_to_the_hall() -> None:
    store = Store.in_memory()
    place = Place(store)
    await place.open()
    await place.enter("Anna")
    screen, _ = watch(place, "oak")
    facts(screen)
    await close_board(store, "oak board", 2000.0)
    told = facts(screen)
    assert ("Thud.Closed", {"board": "oak board"}) in told
    assert [package for package, _ in told[-2:]] == ["Thud.Here", "Thud.Table"]
    assert [told[-2][1]["room"], told[-1][1]["board"]] == [None, "elm board"]
    await open_board(store, "oak board", "discworld", 2001.0)
    assert [package for package, _ in facts(screen)] == ["Thud.Table"]
    await place.type("Anna", "say in the hall", "go to oak board", "say at the board")
    assert [package for package, _ in facts(screen)] == ["Thud.Say", "Thud.Went"]
    await place.service.close()


async def test_player_at_a_closed_board_gets_the_state_of_the_hall() -> None:
    store = Store.in_memory()
    place = Place(store)
    await place.open()
    screen, visit = await joined(place)
    await place.service.submit(visit, "go to oak board")
    facts(screen)
    await close_board(store, "oak board", 2000.0)
    told = facts(screen)
    packages = [package for package, _ in told if package != "Thud.Came"]
    assert packages[-4:] == ["Thud.Closed", "Thud.Me", "Thud.Here", "Thud.Table"]
    assert dict(told)["Thud.Me"]["room"] is None
    await place.service.close()


async def test_onlooker_follows_a_renamed_board() -> None:
    store = Store.in_memory()
    place = Place(store)
    await place.open()
    await place.enter("Anna")
    await place.type("Anna", "go to oak board")
    screen, _ = watch(place, "oak")
    facts(screen)
    await rename_board(store, "oak board", "yew board", 2000.0)
    assert facts(screen) == [("Thud.Renamed", {"board": "oak board", "name": "yew board"})]
    await place.type("Anna", "practice")
    boards = [fact["board"] for _, fact in facts(screen) if "board" in fact]
    assert boards
    assert set(boards) == {"yew board"}
    await place.service.close()


async def test_onlooker_of_an_unknown_board_is_refused() -> None:
    place = await opened()
    for words, code in (("board", "which_board"), ("yew", "no_board_here"), ("it", "nothing_used")):
        screen, onlooker = watch(place, words)
        assert onlooker is None
        [(package, fact)] = facts(screen)
        assert (package, fact["code"]) == ("Thud.Refused", code)
    await place.service.close()


async def test_battle_is_shown_to_anonymous_programs() -> None:
    place = await opened()
    await place.enter("Anna")
    await place.type("Anna", "practice on oak board", "move from a6 to b6")
    screen = Screen()
    await place.service.show_battle(screen, EVERYTHING, 1)
    [(package, fact)] = facts(screen)
    assert (package, [each["to"] for each in fact["moves"]]) == ("Thud.Record", ["B6"])
    await place.service.show_battle(screen, EVERYTHING, 2)
    [(package, fact)] = facts(screen)
    assert (package, fact["details"]) == ("Thud.Refused", {"number": 2})
    await place.service.show_battle(screen, Terminal(), 1)
    assert screen.messages == []
    await place.service.close()


async def test_seeks_of_a_player_leave_and_return_with_their_server() -> None:
    place = await opened()
    await place.enter("Anna", "Bert")
    await place.type("Anna", "seek classic", "seek by word copper")
    screen, _ = watch(place, None)
    facts(screen)
    await place.leave("Anna", Parting.RESTART)
    [fact] = [fact for package, fact in facts(screen) if package == "Thud.Settled"]
    assert (fact["seek"], fact["why"]) == (1, "gone")
    await place.enter("Anna")
    seeks = [fact for package, fact in facts(screen) if package == "Thud.Seek"]
    assert [fact["seek"] for fact in seeks] == [1]
    await place.service.close()


async def test_questions_about_players_are_answered_to_anonymous_programs() -> None:
    place = await opened()
    await place.enter("Anna", "Bert")
    await place.type("Anna", "match bert as dwarf")
    await place.type("Bert", "accept")
    await place.type("Anna", "resign", "yes")
    screen = Screen()
    asked = "score anna", "history anna", "lessons", "finger anna", "resign", "tournament 9"
    for line in asked:
        await place.service.answer_stranger(screen, EVERYTHING, line)
    score, history, lessons, *refused = facts(screen)
    assert (lessons[0], lessons[1]["lessons"][0]["done"]) == ("Thud.Lessons", False)
    assert (score[0], score[1]["player"], score[1]["people"]["lost"]) == ("Thud.Score", "Anna", 1)
    assert score[1]["curves"] == []
    assert (history[0], history[1]["in_all"]) == ("Thud.History", 1)
    codes = [fact["code"] for _, fact in refused]
    assert codes == ["no_question", "no_question", "no_such_tournament"]
    assert await place.service.preview("player", "anna") == (
        "Anna",
        "Battles against people: 0 won, 0 drawn, 1 lost.",
    )
    assert await place.service.preview("player", "Nemo") is None
    await place.service.close()


async def test_position_is_explored_anonymously_only_after_the_battle() -> None:
    place = await opened()
    await place.enter("Anna")
    await place.type("Anna", "practice on oak board", "move from a6 to b6")
    screen = Screen()
    await place.service.show_position(screen, EVERYTHING, "explore", 1, 0)
    [(package, fact)] = facts(screen)
    assert (package, fact["code"]) == ("Thud.Refused", "explore_later")
    await place.type("Anna", "end game")
    await place.service.show_position(screen, EVERYTHING, "explore", 1, 0)
    [(package, fact)] = facts(screen)
    assert (package, [each["record"] for each in fact["plies"]]) == ("Thud.Explored", ["dA6-B6"])
    assert (fact["battle"], fact["board"], fact["next"]) == (1, None, "dA6-B6")
    await place.service.show_position(screen, EVERYTHING, "explore", 1, 999)
    [(_, fact)] = facts(screen)
    assert (fact["ply"], fact["plies"], fact["next"]) == (1, [], None)
    await place.service.show_position(screen, EVERYTHING, "explore", 2, 0)
    [(package, fact)] = facts(screen)
    assert (package, fact["code"]) == ("Thud.Refused", "no_such_battle")
    await place.service.close()


async def test_program_query_is_answered_without_text() -> None:
    place = await opened()
    screen, anna = await joined(place)
    await place.service.submit(anna, "practice on oak board")
    asked = {
        "view possible from a6 on oak": "Thud.Legal",
        "who": "Thud.Who",
        "look at oak board": "Thud.Board",
        "record 1": "Thud.Record",
        "view possible": "Thud.Plies",
        "standings": "Thud.Standings",
        "score": "Thud.Score",
        "history": "Thud.History",
        "games": "Thud.Games",
        "bots": "Thud.Bots",
        "move from a6": "Thud.Refused",
        "record 9": "Thud.Refused",
        "look at yew": "Thud.Refused",
    }
    for line, package in asked.items():
        facts(screen)
        await place.service.ask(anna, line)
        assert all(each.package for each in screen.messages), line
        assert package in [name for name, _ in facts(screen)], line
    await place.service.close()


async def test_program_query_that_changes_state_is_refused() -> None:
    place = await opened()
    screen, anna = await joined(place)
    await place.service.submit(anna, "practice on oak board")
    await place.service.submit(anna, "look at oak board")
    before = place.service.hall.tables["oak board"].version
    facts(screen)
    for line in ("move from a6 to b6", "say hello", "quit", "go to hall", "hint", "again", "help"):
        await place.service.ask(anna, line)
        ((package, fact),) = facts(screen)
        assert (package, fact["code"]) == ("Thud.Refused", "no_question")
    await place.service.ask(anna, "look at elm board", 7)
    assert {fact["id"] for _, fact in facts(screen)} == {7}
    await place.service.ask(anna, "look at yew", "yew")
    assert [(fact["code"], fact["id"]) for _, fact in facts(screen)] == [("no_board_here", "yew")]
    assert place.service.hall.tables["oak board"].version == before
    assert place.service.hall.people["Anna"].last_board == "oak board"
    assert not anna.is_over
    await place.service.leave(anna)
    facts(screen)
    await place.service.ask(anna, "who")
    assert screen.messages == []
    await place.service.close()
