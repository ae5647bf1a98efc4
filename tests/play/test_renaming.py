"""A hall in which a board is called something else is the same in all other respects."""

from __future__ import annotations

from typing import Any

import pytest

from tests.play.conftest import NOW, ply
from tests.play.halls import do, enter, hall_of, lose
from thudmud.play.commands import Join, Look, Resign, SetBoard, Start, Style
from thudmud.play.hall import Hall
from thudmud.play.renaming import renamed
from thudmud.play.saving import state_of
from thudmud.rules import Side

OLD, NEW = "oak board", "elm board"


def hall_with_a_past() -> Hall:
    """Return a hall with a battle that has ended, one with plies, and somebody who is away."""
    hall = hall_of("Anna", "Bert")
    do(hall, "Anna", Join(Side.DWARF, OLD))
    do(hall, "Bert", Join(Side.TROLL, OLD))
    do(hall, "Anna", Start(OLD))
    do(hall, "Anna", Resign(OLD))
    do(hall, "Anna", SetBoard(Style.BRIEF, OLD))
    do(hall, "Anna", Start(OLD))
    do(hall, "Bert", ply("A6", "B6"))
    lose(hall, "Bert", NOW)
    do(hall, "Anna", ply("G7", "F7"))
    do(hall, "Anna", Resign(OLD))
    return hall


def test_nothing_has_the_old_name() -> None:
    hall = hall_with_a_past()
    before = str(state_of(hall))
    assert OLD in before
    assert str(state_of(renamed(hall, OLD, NEW))) == before.replace(OLD, NEW)


def test_the_other_way_makes_it_what_it_was() -> None:
    hall = hall_with_a_past()
    there_and_back = renamed(renamed(hall, OLD, NEW), NEW, OLD)
    assert state_of(there_and_back) == state_of(hall)


def test_the_hall_itself_is_not_changed() -> None:
    hall = hall_with_a_past()
    before = state_of(hall)
    renamed(hall, OLD, NEW)
    assert state_of(hall) == before


def test_play_goes_on() -> None:
    hall = renamed(hall_with_a_past(), OLD, NEW)
    told: Any = do(hall, "Anna", Look("elm"))
    assert told[0].table.name == NEW
    assert enter(hall, "Bert")
    assert hall.people["Bert"].room == NEW


def test_words_that_are_no_names_of_boards_stay() -> None:
    hall = hall_of("Anna")
    do(hall, "Anna", Join(Side.DWARF, "elm table"))
    other = renamed(renamed(hall, "oak board", "Anna"), "pine board", "koom valley")
    assert other.tables["elm table"].seats == {Side.DWARF: "Anna"}
    again = renamed(renamed(other, "Anna", "oak board"), "koom valley", "pine board")
    assert state_of(again) == state_of(hall)


@pytest.mark.parametrize(("old", "new"), [(OLD, "pine board"), ("ash board", NEW)])
def test_names_are_those_of_one_board_each(old: str, new: str) -> None:
    with pytest.raises(ValueError, match="cannot be called"):
        renamed(hall_of(), old, new)
