"""The tutorial and the puzzles in words: they fit a screen, and say what can be typed."""

from __future__ import annotations

import re

import pytest

from thudmud.house import House
from thudmud.language import parse
from thudmud.play.command import Command
from thudmud.play.exercises import InLesson, lessons, puzzles
from thudmud.play.table import BoardSpec
from thudmud.verbs.archive import Step, Way
from thudmud.verbs.exercises import Tutorial
from thudmud.views.view import Terminal

ROWS, COLUMNS = 24, 80
PARTS = {"capturing all": "move a6 b6 capturing all", "around": "around a6"}
"""What is quoted and is only part of a line."""


def house(*, reader: bool = False, utf8: bool = False, member: bool = False) -> House:
    made = House([BoardSpec("oak board")])
    made.enter("Anna", 1.0, Terminal(COLUMNS, reader=reader, utf8=utf8), member=member)
    return made


def told(at: House, line: str | Command) -> str:
    return "\n".join(message.text for message in at.obey("Anna", line, 2.0))


def where(at: House) -> InLesson:
    found = at.hall.people["Anna"].exercise
    assert isinstance(found, InLesson)
    return found


@pytest.mark.parametrize("utf8", [False, True])
@pytest.mark.parametrize("number", lessons())
def test_a_lesson_fits_a_screen(number: int, utf8: bool) -> None:  # noqa: FBT001  (a parameter)
    at = house(utf8=utf8)
    texts = [told(at, Tutorial(number))]
    while not where(at).is_over:
        is_done = where(at).is_done
        texts.append(told(at, Step(Way.NEXT) if is_done else where(at).current.answer))
    for text in texts:
        lines = text.split("\n")
        assert len(lines) < ROWS or not any("A B C D" in line for line in lines), text
        assert max(map(len, lines)) < COLUMNS


@pytest.mark.parametrize("number", lessons())
def test_what_is_quoted_in_a_lesson_can_be_typed(number: int) -> None:
    for step in lessons()[number].steps:
        for text in (step.text, step.hint, step.done):
            for line in re.findall(r'"([^"]+)"', " ".join(text.split())):
                parse(PARTS.get(line, line))


def test_a_reader_is_told_in_words() -> None:
    at = house(reader=True)
    assert "Dwarfs at C5, K10, L11." in told(at, "tutorial 2").split("\n")
    lines = told(at, "move c5 c11").split("\n")
    assert lines[:2] == ["Ply 1: you move the dwarf from C5 to C11.", "Dwarfs 3, trolls 1."]
    assert "A B C" not in "\n".join(lines)


def test_what_a_ply_would_cost_is_told_if_another_costs_less() -> None:
    at = house()
    told(at, "tutorial 4")
    assert "can then capture" in " ".join(told(at, "move a6 g6").split())
    assert "can then capture" not in " ".join(told(at, "move i15 j14").split())


def test_a_board_that_is_set_up_is_drawn_whatever_the_style() -> None:
    at = house()
    told(at, "tutorial 2")
    told(at, "set board brief")
    assert "A B C D" not in told(at, "move c5 c11")
    assert "A B C D" in told(at, "next")


def test_the_score_has_one_more_line() -> None:
    at, puzzle = house(member=True), puzzles()[1]
    told(at, "puzzle 1")
    assert "It counts as solved" in told(at, "move h13 i13 capturing all")
    assert told(at, "score").startswith("Anna, at puzzles: rating 15")
    assert puzzle.number == 1


def test_it_is_the_same_in_facts_and_in_words() -> None:
    at = House([BoardSpec("oak board")])
    at.enter("Anna", 1.0, Terminal(packages=frozenset({"thud"})))
    sent = [each for each in at.obey("Anna", "tutorial 2", 2.0) if each.package]
    assert [each.package for each in sent] == ["Thud.Table", "Thud.Board", "Thud.Exercise"]
    assert sent[-1].data["remarks"] == ["begun", "task"]
    sent = [each for each in at.obey("Anna", "move c5 c11", 2.0) if each.package]
    assert [each.package for each in sent] == ["Thud.Move", "Thud.Exercise"]
    refused = [each for each in at.obey("Anna", "move k10 k9", 2.0) if each.package]
    assert [each.data["board"] for each in refused] == ["tutorial"]


def test_boards_that_are_set_up_have_ever_higher_versions() -> None:
    at = House([BoardSpec("oak board")])
    at.enter("Anna", 1.0, Terminal(packages=frozenset({"thud"})))
    lines = ["tutorial 2", "move c5 c11", "next", "tutorial 2", "back", "puzzle 1", "tutorial 3"]
    sent = [each for line in lines for each in at.obey("Anna", line, 2.0)]
    versions = [each.data["version"] for each in sent if each.package == "Thud.Board"]
    assert versions == sorted(set(versions))
