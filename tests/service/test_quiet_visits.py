"""Quiet visitors of a board: only seated ones are announced when they come and go."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from thudmud import BoardSpec, House, Message, Parting

OAK = "oak board"
ON_PURPOSE_OR_NOT = pytest.mark.parametrize("parting", [Parting.LEFT, Parting.QUIT, Parting.LOST])


@pytest.fixture
def house() -> House:
    house = House([BoardSpec(OAK)])
    for name in ("Anna", "Bert", "Carla"):
        assert house.enter(name, 1.0, room=OAK, quiet=True) == []
    return house


def heard(messages: Sequence[Message], name: str) -> str:
    return " ".join(" ".join(each.text.split()) for each in messages if name in each.to)


def do(house: House, *lines: str) -> None:
    for line in lines:
        name, _, command = line.partition(" ")
        house.obey(name, command, 2.0)


@ON_PURPOSE_OR_NOT
def test_departure_of_a_quiet_visitor_is_silent(house: House, parting: Parting) -> None:
    assert house.depart("Carla", 3.0, parting) == []
    assert house.people == ("Anna", "Bert")


def test_walking_away_from_a_free_board_announces_the_empty_seat(house: House) -> None:
    do(house, "Anna join game as dwarf")
    told = house.depart("Anna", 3.0, Parting.LEFT)
    assert heard(told, "Anna") == "You leave the dwarf seat at the oak board."
    assert heard(told, "Bert") == "Anna leaves the dwarf seat at the oak board."
    assert not house.is_name_needed("Anna")
    assert house.enter("Anna", 4.0, room=OAK, quiet=True) == []


def test_walking_away_from_a_match_announces_absence_and_return(house: House) -> None:
    do(house, "Anna join game as dwarf", "Bert join game as troll", "Anna start")
    told = house.depart("Anna", 3.0, Parting.LEFT)
    assert heard(told, "Carla") == "Anna walks away; the dwarf seat at the oak board is kept."
    assert house.is_name_needed("Anna")
    told = house.enter("Anna", 4.0, room=OAK, quiet=True)
    assert "Anna is back" in heard(told, "Bert")
    assert heard(told, "Anna").endswith("It is your turn. Also here: Bert and Carla.")


def test_return_to_an_unchanged_seat_is_silent() -> None:
    house = House([BoardSpec(OAK)])
    house.enter("Anna", 1.0, room=OAK)
    do(house, "Anna join game as dwarf")
    again = House([BoardSpec(OAK)], events=house.events())
    assert again.enter("Anna", 3.0, room=OAK, quiet=True) == []
    assert again.mark_absent_players(3.0) == []
