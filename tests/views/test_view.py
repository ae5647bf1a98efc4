"""Watchers share one text; the grouping is cached until one of them changes."""

from __future__ import annotations

from gc import collect
from weakref import ref

import pytest

from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.views.view import Terminal

WATCHERS = ("Carla", "Dora", "Emil")


class Name(str):
    """A string that supports weak references, unlike a plain `str`."""


@pytest.fixture
def house() -> House:
    house = House([BoardSpec("oak board"), BoardSpec("elm board")])
    for name in ("Anna", "Bert", *WATCHERS):
        house.enter(name, 0.0)
        house.obey(name, "go to oak board", 0.0)
    house.obey("Anna", "join game as dwarf", 0.0)
    house.obey("Bert", "join game as troll", 0.0)
    house.obey("Bert", "start", 0.0)
    assert groups(house, "Anna", "move a6 b6") == {("Anna",), ("Bert",), WATCHERS}
    return house


def groups(house: House, name: str, line: str) -> set[tuple[str, ...]]:
    return {message.to for message in house.obey(name, line, 0.0)}


def test_watchers_share_one_text_for_each_move(house: House) -> None:
    assert groups(house, "Bert", "move g7 f7") == {("Anna",), ("Bert",), WATCHERS}


@pytest.mark.parametrize("line", ["set board brief", "options orient north", "options width 40"])
def test_watcher_with_other_options_gets_a_separate_text(house: House, line: str) -> None:
    house.obey("Dora", line, 0.0)
    assert ("Dora",) in groups(house, "Bert", "move g7 f7")
    assert ("Carla", "Emil") in groups(house, "Anna", "move b6 a6")


def test_watcher_with_another_terminal_gets_a_separate_text(house: House) -> None:
    house.set_terminal("Dora", Terminal(40))
    assert groups(house, "Bert", "move g7 f7") == {
        ("Anna",),
        ("Bert",),
        ("Dora",),
        ("Carla", "Emil"),
    }
    house.set_terminal("Dora", Terminal())
    assert groups(house, "Anna", "move b6 a6") == {("Anna",), ("Bert",), WATCHERS}


def test_audience_follows_arrivals_and_departures(house: House) -> None:
    house.obey("Dora", "go to hall", 0.0)
    house.depart("Emil", 0.0)
    assert groups(house, "Bert", "move g7 f7") == {("Anna",), ("Bert",), ("Carla",)}
    house.obey("Dora", "go to oak board", 0.0)
    house.enter("Fay", 0.0)
    house.obey("Fay", "go to oak board", 0.0)
    assert ("Carla", "Dora", "Fay") in groups(house, "Anna", "move b6 a6")


def test_watcher_who_acts_gets_a_separate_text(house: House) -> None:
    assert groups(house, "Dora", "kibitz hello") == {("Dora",), ("Anna", "Bert", "Carla", "Emil")}
    house.obey("Bert", "leave", 0.0)
    house.obey("Anna", "invite emil", 0.0)
    assert groups(house, "Emil", "join game as troll") >= {("Emil",), ("Bert", "Carla", "Dora")}


def test_player_elsewhere_gets_moves_prefixed_with_the_board(house: House) -> None:
    house.obey("Anna", "go to elm board", 0.0)
    assert groups(house, "Bert", "move g7 f7") == {("Anna",), ("Bert",), WATCHERS}
    told = {
        message.to: message.text for message in house.obey("Anna", "move b6 a6 on oak board", 0)
    }
    assert told["Anna",].startswith("[oak board]")
    assert not told[WATCHERS].startswith("[oak board]")


def test_observer_elsewhere_gets_moves_prefixed_with_the_board(house: House) -> None:
    house.obey("Dora", "go to hall", 0.0)
    house.enter("Fay", 0.0)
    for player in ("Fay", "Dora"):
        house.obey(player, "observe oak board", 0.0)
    told = {message.to: message.text for message in house.obey("Bert", "move g7 f7", 0.0)}
    assert told["Fay", "Dora"].startswith("[oak board] Bert moves")
    assert told["Carla", "Emil"].startswith("Bert moves")
    house.obey("Dora", "go to oak board", 0.0)
    assert groups(house, "Anna", "move b6 a6") == {("Anna",), ("Bert",), WATCHERS, ("Fay",)}
    house.obey("Fay", "options width 40", 0.0)
    assert ("Fay",) in groups(house, "Bert", "move f7 g7")
    house.obey("Fay", "unobserve", 0.0)
    assert groups(house, "Anna", "move a6 b6") == {("Anna",), ("Bert",), WATCHERS}


def test_departed_player_is_garbage_collected(house: House) -> None:
    name = Name("Fay")
    house.enter(name, 0.0, Terminal(packages=frozenset({"thud"})))
    house.obey(name, "go to oak board", 0.0)
    assert ("Fay",) in groups(house, "Bert", "move g7 f7")
    house.depart(name, 0.0)
    known = ref(name)
    del name
    collect()
    assert known() is None


def test_ascii_terminal_gets_ascii_until_the_option_is_set(house: House) -> None:
    house.set_terminal("Anna", Terminal(is_ascii_only=True))

    def heard() -> dict[str, str]:
        told = house.obey("Bert", "say café ☃", 0.0)
        return {name: message.text for message in told for name in message.to}

    assert heard()["Anna"] == "Bert says: cafe ?"
    assert heard()["Carla"] == "Bert says: café ☃"
    house.obey("Anna", "options charset utf-8", 0.0)
    assert heard()["Anna"] == "Bert says: café ☃"
