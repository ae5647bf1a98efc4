"""Facts for programs go only to subscribers whom they concern, at no cost to others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from thudmud.game.delivery import Delivery
from thudmud.game.events import BattleId, Left, Moved, Parting
from thudmud.game.match import Match
from thudmud.game.table import BoardSpec, Table
from thudmud.house import House
from thudmud.rules import KOOM_VALLEY, Game, Move, Piece, Position, Side, Square
from thudmud.store.codec import to_line
from thudmud.views import Message, messages
from thudmud.views.telling import delivery_facts
from thudmud.views.view import Terminal

EVERYTHING = frozenset({"thud"})


def house_of(**packages: frozenset[str]) -> House:
    house = House([BoardSpec("oak board"), BoardSpec("elm table", "koom valley")])
    for name, wanted in packages.items():
        house.enter(name, 0.0, Terminal(packages=wanted))
    return house


PRESENCE = {"Thud.Me", "Thud.Options", "Thud.Here", "Thud.Came", "Thud.Went"}
"""Packages about people, as opposed to boards."""


def data(
    told: list[Message], name: str, *, of_people: bool = False
) -> list[tuple[str, dict[str, Any]]]:
    """Return the facts for a player's program, either about people or about everything else."""
    return [
        (message.package, json.loads(message.text))
        for message in told
        if message.package and name in message.to and (message.package in PRESENCE) is of_people
    ]


def packages(told: list[Message], name: str) -> list[str]:
    return [package for package, _ in data(told, name)]


def test_facts_without_a_subscriber_are_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        pytest.fail("a fact was made")

    house = house_of(Anna=frozenset({"core", "char.login", "thudding"}), Bert=frozenset())
    monkeypatch.setattr(messages, "delivery_facts", never)
    house.obey("Anna", "go to oak board", 0.0)
    told = house.obey("Anna", "join game as dwarf", 0.0)
    assert not any(message.package for message in told)


@pytest.mark.parametrize(
    ("wanted", "got"),
    [
        ({"thud"}, ["Thud.Table", "Thud.Board"]),
        ({"thud.board"}, ["Thud.Board"]),
        ({"thud.move", "thud.table"}, ["Thud.Table"]),
        ({"thud.say"}, []),
        ({"thud.boards", "thud.tab"}, []),
        ({"char.thud"}, []),
    ],
)
def test_client_gets_only_the_packages_it_asked_for(wanted: set[str], got: list[str]) -> None:
    house = house_of(Anna=frozenset(wanted))
    house.obey("Anna", "go to oak board", 0.0)
    assert packages(house.obey("Anna", "look", 0.0), "Anna") == got


def test_fact_is_one_message_for_all_recipients() -> None:
    house = house_of(
        Anna=EVERYTHING, Bert=EVERYTHING, Carla=frozenset({"thud.move"}), Dora=EVERYTHING
    )
    for name in ("Anna", "Bert", "Carla"):
        house.obey(name, "go to oak board", 0.0)
    house.obey("Anna", "join game as dwarf", 0.0)
    house.obey("Bert", "join game as troll", 0.0)
    house.obey("Bert", "start", 0.0)
    house.obey("Bert", "go to hall", 0.0)
    told = [each for each in house.obey("Anna", "move a6 b6", 0.0) if each.package]
    assert [(each.package, sorted(each.to)) for each in told] == [
        ("Thud.Move", ["Anna", "Bert", "Carla"])
    ]


def test_tell_packet_reaches_only_sender_and_recipient() -> None:
    house = house_of(Anna=EVERYTHING, Bert=EVERYTHING, Carla=EVERYTHING)
    told = house.obey("Anna", "tell Bert It is a secret.", 0.0)
    assert sorted(name for each in told for name in each.to if each.package) == ["Anna", "Bert"]


def test_arrival_at_a_board_sends_its_state_to_the_newcomer_only() -> None:
    house = house_of(Anna=EVERYTHING, Bert=EVERYTHING)
    house.obey("Anna", "go to oak board", 0.0)
    told = house.obey("Bert", "go to oak board", 0.0)
    assert packages(told, "Bert") == ["Thud.Table", "Thud.Board"]
    assert packages(told, "Anna") == []
    joined = house.obey("Bert", "join game as troll on elm table", 0.0)
    assert packages(joined, "Bert") == ["Thud.Table", "Thud.Board"]


def test_returning_player_gets_every_board_they_sit_at() -> None:
    house = house_of(Anna=EVERYTHING, Bert=frozenset())
    for board in ("oak board", "elm table"):
        house.obey("Anna", f"join game as dwarf on {board}", 0.0)
        house.obey("Bert", f"join game as troll on {board}", 0.0)
        house.obey("Anna", f"start game on {board}", 0.0)
    house.obey("Bert", "say hello", 0.0)
    house.depart("Anna", 77.9)
    house.obey("Bert", "look", 78.0)
    told = data(house.enter("Anna", 79.0, Terminal(packages=EVERYTHING)), "Anna")
    whole = [fact["board"] for package, fact in told if package == "Thud.Board"]
    assert sorted(whole) == ["elm table", "oak board"]
    assert told[-1][0] == "Thud.Board"
    other = Terminal(packages=frozenset({"thud.board"}))
    assert packages(house.take_over("Anna", other, 80.0), "Anna") == ["Thud.Board", "Thud.Board"]


def test_table_packet_states_since_when_a_player_is_away() -> None:
    house = house_of(Anna=EVERYTHING, Bert=frozenset())
    house.obey("Anna", "join game as dwarf on oak board", 0.0)
    house.obey("Bert", "join game as troll on oak board", 0.0)
    house.obey("Bert", "start", 0.0)
    ((package, table),) = data(house.depart("Bert", 77.9), "Anna")
    assert package == "Thud.Table"
    assert table["seats"][1] == {"side": "troll", "player": "Bert", "away_since": 77}


def test_table_packet_names_the_player_a_seat_is_kept_for() -> None:
    house = house_of(Anna=EVERYTHING, Bert=frozenset())
    house.obey("Anna", "join game as dwarf on oak board", 0.0)
    house.obey("Bert", "join game as troll on oak board", 0.0)
    house.obey("Bert", "start", 0.0)
    table = dict(data(house.obey("Bert", "leave game", 0.0), "Anna"))["Thud.Table"]
    kept = {"side": "troll", "player": None, "away_since": None, "kept_for": "Bert"}
    assert table["seats"][1] == kept
    table = dict(data(house.obey("Anna", "leave game", 0.0), "Anna"))["Thud.Table"]
    assert all("kept_for" not in seat for seat in table["seats"])


def test_table_packet_states_when_a_paused_clock_resumes() -> None:
    house = house_of(Anna=EVERYTHING, Bert=frozenset())
    house.obey("Anna", "join game as dwarf on oak board", 0.0)
    house.obey("Bert", "join game as troll on oak board", 0.0)
    house.obey("Anna", "set clock 10+5", 0.0)
    ((_, table), *_) = data(house.obey("Bert", "start", 0.0), "Anna")
    clock = {"dwarf": 600, "troll": 600, "at": 0, "runs": "dwarf", "falls": 600}
    assert table["clock"] == clock | {"stands_until": None}
    ((_, table),) = data(house.depart("Bert", 60.0), "Anna")
    clock |= {"dwarf": 540, "at": 60, "runs": None, "falls": 660, "stands_until": 120}
    assert table["clock"] == clock
    table = dict(data(house.enter("Bert", 90.0), "Anna"))["Thud.Table"]
    clock |= {"at": 90, "runs": "dwarf", "falls": 630, "stands_until": None}
    assert table["clock"] == clock
    ((_, table),) = data(house.depart("Bert", 120.0), "Anna")
    clock |= {"dwarf": 510, "at": 120, "runs": None, "falls": 660, "stands_until": 150}
    assert table["clock"] == clock


def test_table_packet_states_when_the_clock_starts_without_a_first_move() -> None:
    house = House([BoardSpec("oak board")], first_move=30.0)
    for name in ("Anna", "Bert"):
        house.enter(name, now=0.0, terminal=Terminal(packages=EVERYTHING))
    house.obey("Anna", "join game as dwarf on oak board", 0.0)
    house.obey("Bert", "join game as troll on oak board", 0.0)
    house.obey("Anna", "set clock 10+5", 0.0)
    ((_, table), *_) = data(house.obey("Bert", "start", 0.0), "Anna")
    clock = {"dwarf": 600, "troll": 600, "at": 0, "runs": None, "falls": 630}
    assert table["clock"] == clock | {"stands_until": 30}


def test_table_packet_has_no_running_clock_while_a_seat_is_free() -> None:
    house = house_of(Anna=EVERYTHING, Bert=frozenset())
    house.obey("Anna", "join game as dwarf on oak board", 0.0)
    house.obey("Bert", "join game as troll on oak board", 0.0)
    house.obey("Anna", "set clock 10+5", 0.0)
    house.obey("Bert", "start", 0.0)
    left = to_line("oak board", Left(60.0, "Bert", Side.TROLL, Parting.LEFT))
    again = House([BoardSpec("oak board")], events=[*house.events(), left])
    told = dict(data(again.enter("Anna", 60.0, Terminal(packages=EVERYTHING)), "Anna"))[
        "Thud.Table"
    ]
    clock = {"dwarf": 540, "troll": 600, "at": 60}
    assert told["running"]
    assert told["clock"] == clock | {"runs": None, "falls": None, "stands_until": None}


def test_late_subscriber_is_briefed_on_the_current_state() -> None:
    house = house_of(Anna=frozenset(), Bert=EVERYTHING)
    house.obey("Anna", "go to oak board", 0.0)
    house.obey("Bert", "go to oak board", 0.0)
    assert house.current_facts("Anna") == []
    house.set_terminal("Anna", Terminal(packages=EVERYTHING))
    told = house.current_facts("Anna")
    [(_, me), (_, here), _] = data(told, "Anna", of_people=True)
    anna = {"player": "Anna", "member": False, "bot": False, "operator": False}
    assert me == {**anna, "room": "oak board"}
    assert [each["player"] for each in here["people"]] == ["Anna", "Bert"]
    assert {each.to for each in told} == {("Anna",)}
    assert packages(told, "Anna") == ["Thud.Table", "Thud.Board"]


def test_hall_queries_send_a_table_packet_for_each_board() -> None:
    house = house_of(Anna=EVERYTHING)
    for line in ("look", "boards", "look at hall"):
        told = data(house.obey("Anna", line, 0.0), "Anna")
        assert [(package, fact["board"]) for package, fact in told] == [
            ("Thud.Table", "oak board"),
            ("Thud.Table", "elm table"),
        ]
    assert packages(house.obey("Anna", "look at me", 0.0), "Anna") == ["Thud.Finger"]
    [(package, who)] = data(house.obey("Anna", "who", 0.0), "Anna")
    assert package == "Thud.Who"
    anna = {"player": "Anna", "member": False, "bot": False, "operator": False}
    assert who == {"people": [{**anna, "room": None, "idle": 0, "plays": []}]}


def test_undo_of_two_plies_sends_the_last_ply_first() -> None:
    house = house_of(Anna=EVERYTHING, Bert=frozenset())
    house.obey("Anna", "join game as dwarf on oak board", 0.0)
    house.obey("Bert", "join game as troll on oak board", 0.0)
    for player, line in [
        ("Anna", "start"),
        ("Anna", "move f1 f6"),
        ("Bert", "move g7 g6 capturing f6"),
        ("Anna", "undo"),
    ]:
        house.obey(player, line, 0.0)
    told = data(house.obey("Bert", "undo", 0.0), "Anna")
    assert [package for package, _ in told] == ["Thud.Move"] * 2 + ["Thud.Table", "Thud.Board"]
    back = [fact for _, fact in told[:2]]
    assert [(fact["ply"], fact["side"], fact["player"], fact["turn"]) for fact in back] == [
        (2, "troll", "Bert", "troll"),
        (1, "dwarf", "Anna", "dwarf"),
    ]
    assert [fact["score"]["dwarf"] for fact in back] == [32, 32]


def test_move_packet_of_a_circular_trample_ends_where_it_starts() -> None:
    h9, h10, g10 = (Square.parse(name) for name in ("H9", "H10", "G10"))
    move = Move(Piece.TROLL, h9, h9, (h10, g10), is_trample=True)
    pieces = {h9: Piece.TROLL, h10: Piece.DWARF, g10: Piece.DWARF, Square.parse("A6"): Piece.DWARF}
    opening = Position.of({**pieces, Square.parse("H2"): Piece.ROCK}, Side.TROLL)
    game = Game(KOOM_VALLEY, opening, opening.after(move), (move,))
    match = Match(game, BattleId("elm table", 1), "Anna", "Bert")
    table = Table("elm table", "elm table", KOOM_VALLEY, KOOM_VALLEY, match=match)
    event = Moved(5.5, "Bert", Side.TROLL, move, 1)
    (fact,) = delivery_facts(
        House([BoardSpec("oak board")]).hall, Delivery(event, ("Anna",), table)
    )
    assert fact.data["from"] == fact.data["to"] == "H9"
    assert fact.data["captures"] == ["H10", "G10"]
    assert fact.data["trample"] is True
    assert fact.data["battle"] is None
    assert fact.data["at"] == 5


def test_practice_packets_name_one_player_in_both_seats_and_the_turn() -> None:
    house = house_of(Anna=EVERYTHING)
    told = data(house.obey("Anna", "practice on oak board", 0.0), "Anna")
    assert [package for package, _ in told] == ["Thud.Table", "Thud.Board"]
    assert [seat["player"] for seat in told[0][1]["seats"]] == ["Anna", "Anna"]
    assert told[1][1]["turn"] == "dwarf"
    [(package, moved)] = data(house.obey("Anna", "move a6 b6", 0.0), "Anna")
    assert (package, moved["side"], moved["turn"]) == ("Thud.Move", "dwarf", "troll")
    ended = dict(data(house.obey("Anna", "end", 0.0), "Anna"))
    assert ended["Thud.End"]["over"]


def test_board_list_packet_shows_a_battle_won_by_a_ply_as_over() -> None:
    house = House([BoardSpec("oak board", "koom valley")])
    house.enter("Hal", 1.0, Terminal(packages=frozenset({"thud"})))
    for name, side in (("Anna", "dwarf"), ("Bert", "troll")):
        house.enter(name, 1.0, room="oak board")
        house.obey(name, f"join game as {side}", 1.0)
    for line in ("setup rock h2, dwarfs g2 a6 a7 a8 a9, trolls o6 o7 o8 o9", "start"):
        house.obey("Anna", line, 1.0)
    told = house.obey("Anna", "move h2 h1", 2.0)
    listed = [each.data for each in told if each.package == "Thud.Listed"]
    assert [each["running"] for each in listed] == [False]
