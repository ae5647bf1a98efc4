"""Text of the tutorial and the puzzles: screen size, quoted commands, proofs and refusals."""

from __future__ import annotations

import re
from typing import Any

import pytest

from thudmud.features.archive.commands import Step, Way
from thudmud.features.exercises.commands import Tutorial
from thudmud.features.exercises.model import (
    ExerciseChanged,
    LessonProgress,
    Puzzle,
    exercise_of,
    lessons,
    open_puzzle,
    puzzles,
    read_puzzle,
)
from thudmud.features.playing.moves import Play
from thudmud.game.command import Command
from thudmud.game.hall import Decision
from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.language import parse
from thudmud.views.view import Terminal

ROWS, COLUMNS = 24, 80
PARTS = {"capturing all": "move a6 b6 capturing all", "around": "around a6"}
"""What is quoted and is only part of a line."""


def house(*, reader: bool = False, utf8: bool = False, member: bool = False) -> House:
    made = House([BoardSpec("oak board")])
    made.enter("Anna", 1.0, Terminal(COLUMNS, has_reader=reader, supports_utf8=utf8), member=member)
    return made


def told(at: House, line: str | Command) -> str:
    return "\n".join(message.text for message in at.obey("Anna", line, 2.0))


def where(at: House) -> LessonProgress:
    found = exercise_of(at.hall.people["Anna"])
    assert isinstance(found, LessonProgress)
    return found


@pytest.mark.parametrize("utf8", [False, True])
@pytest.mark.parametrize("number", lessons())
def test_lesson_fits_the_screen(number: int, utf8: bool) -> None:  # noqa: FBT001  (parametrized)
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
def test_quoted_commands_in_lessons_parse(number: int) -> None:
    for step in lessons()[number].steps:
        for text in (step.text, step.advice(clicks=False), step.confirmation(clicks=False)):
            for line in re.findall(r'"([^"]+)"', " ".join(text.split())):
                parse(PARTS.get(line, line))


def test_lesson_for_a_screen_reader_has_no_board() -> None:
    at = house(reader=True)
    assert "Dwarfs at C5, K10, L11." in told(at, "tutorial 2").split("\n")
    lines = told(at, "move c5 c11").split("\n")
    assert lines[:2] == ["Move 1: you move the dwarf from C5 to C11.", "Dwarfs 3, trolls 1."]
    assert "A B C" not in "\n".join(lines)


def test_cost_of_a_ply_is_mentioned_only_if_avoidable() -> None:
    at = house()
    told(at, "tutorial 4")
    assert "can then capture" in " ".join(told(at, "move a6 g6").split())
    assert "can then capture" not in " ".join(told(at, "move i15 j14").split())


def test_set_up_board_is_drawn_in_any_style() -> None:
    at = house()
    told(at, "tutorial 2")
    told(at, "set board brief")
    assert "A B C D" not in told(at, "move c5 c11")
    assert "A B C D" in told(at, "next")


PROOFS = {
    # A solution without a further line.
    "troll": (
        "discworld; dD3,dC4,dN4,dO5,dO6,dP6,dB7,dP7,dN8,dN9,dO9,dP9,dN10,dO10,dP10,dO11,dF15,TJ2"
        ",TH7,TF8,TL8,TB9,TH9,TL13,RH8 troll; 4; TL8-M8xN8xN9;"
        " TL8-M9xN8xN9xN10 dO9-M9xM9, TB9-A8xB7 dN10-L8xL8, TL8-K8",
        "That's it! It captures 2 dwarfs and costs you nothing.",
    ),
    "dwarf": (
        "discworld; dF1,dG1,dJ1,dK1,dE2,dJ2,dK2,dL2,dD3,dM3,dC4,dN4,dB5,dO5,dP6,dA7,dP9,dB10,dP10"
        ",dM13,dE14,dG14,dL14,dK15,dA6,TK4,TG7,TJ7,TJ8,TG9,TC11,TM11,RH8 dwarf; 8;"
        " dK2-K4xK4 TC11-C10xB10; dB10-C11xC11 TK4-K3xJ2xK2xL2 dJ1-O6 TM11-L12xM13,"
        " dM3-E3 TK4-K3xJ2xK2xL2",
        "That's it! It captures a troll. The trolls' best reply is C11 to C10, capturing a dwarf.",
    ),
    "longer": (
        "classic; dH9,dK1,dP9,dK3,dD13,TL2,TG8,TJ8,TO7,TF9,RH8 dwarf; 10;"
        " dH9-G8xG8 TL2-L3xK3 dG8-F9xF9 TO7-O8xP9; dH9-J8xJ8 TL2-L3xK3",
        "That's it! It captures a troll. The trolls' best reply is K2 to K3, capturing a dwarf."
        " You capture a troll with G8 to F9 and they capture a dwarf with N7 to N8: in all, you win"
        " 2 trolls and lose 2 dwarfs.",
    ),
}


def solved(line: str) -> tuple[House, Puzzle]:
    """Return a house in which Anna is at the puzzle described by a line, and the puzzle."""
    at, puzzle = house(), read_puzzle(1, line)
    told(at, "puzzle 1")
    exercised = ExerciseChanged("Anna", open_puzzle("Anna", puzzle, 99), ())
    at.hall.commit(Decision("Anna", asides=(exercised,)))
    return at, puzzle


def last_words(at: House, line: str | Command) -> str:
    """Return the text below the board, joined to one line."""
    _, _, below = told(at, line).rpartition("L M N O\n")
    return " ".join(below.split())


@pytest.mark.parametrize("name", PROOFS)
def test_puzzle_solution_message_shows_the_proof(name: str) -> None:
    line, words = PROOFS[name]
    at, puzzle = solved(line)
    said = last_words(at, Play(puzzle.solution.attempt()))
    assert said == f'{words} "next" gives you another puzzle, "stop" leaves.'


@pytest.mark.parametrize(
    ("name", "typed", "words"),
    [
        (
            "troll",
            "move k8 l9 capturing all",
            "That captures 3 dwarfs, but the dwarfs answer N9 to L9 and capture a troll. Try"
            " again.",
        ),
        ("troll", "move k8 j8", "That captures nothing. There is a better move. Try again."),
        (
            "dwarf",
            "hurl b10 c11",
            "That captures a troll, but the trolls answer J4 to J3 and capture 3 dwarfs. You play"
            " I1 to N6 and they capture a dwarf with L11 to K12: in all, you win a troll and lose"
            " 4 dwarfs. Try again.",
        ),
        (
            "dwarf",
            "move l3 e3",
            "That captures nothing, and the trolls answer J4 to J3 and capture 3 dwarfs. Try"
            " again.",
        ),
        (
            "troll",
            "move h7 h6",
            "That captures nothing, and the dwarfs answer M10 to K8 and capture a troll. Try"
            " again.",
        ),
    ],
)
def test_wrong_try_message_shows_the_refutation(name: str, typed: str, words: str) -> None:
    at, _ = solved(PROOFS[name][0])
    assert last_words(at, typed) == words


def test_score_includes_the_puzzle_rating() -> None:
    at, solution = house(member=True), puzzles()[1].solution
    told(at, "puzzle 1")
    assert "It counts as solved" in told(at, Play(solution.attempt()))
    assert told(at, "score").startswith("Anna, at puzzles: rating 15")


def test_exercise_packets_match_the_text() -> None:
    at = House([BoardSpec("oak board")])
    at.enter("Anna", 1.0, Terminal(packages=frozenset({"thud"})))
    sent = [each for each in at.obey("Anna", "tutorial 2", 2.0) if each.package]
    assert [each.package for each in sent] == ["Thud.Table", "Thud.Board", "Thud.Exercise"]
    assert sent[-1].data["remarks"] == ["begun", "task"]
    sent = [each for each in at.obey("Anna", "move c5 c11", 2.0) if each.package]
    assert [each.package for each in sent] == ["Thud.Move", "Thud.Exercise"]
    refused = [each for each in at.obey("Anna", "move k10 k9", 2.0) if each.package]
    assert [each.data["board"] for each in refused] == ["tutorial"]


def test_set_up_board_versions_increase() -> None:
    at = House([BoardSpec("oak board")])
    at.enter("Anna", 1.0, Terminal(packages=frozenset({"thud"})))
    lines = ["tutorial 2", "move c5 c11", "next", "tutorial 2", "back", "puzzle 1", "tutorial 3"]
    sent = [each for line in lines for each in at.obey("Anna", line, 2.0)]
    versions = [each.data["version"] for each in sent if each.package == "Thud.Board"]
    assert versions == sorted(set(versions))


def packet(at: House, line: str, package: str) -> dict[str, Any]:
    return next(each.data for each in at.obey("Anna", line, 2.0) if each.package == package)


def test_lessons_packet_marks_what_is_done() -> None:
    at = House([BoardSpec("oak board")])
    at.enter("Anna", 1.0, Terminal(packages=frozenset({"thud"})))
    told(at, "tutorial 1")
    while not where(at).is_over:
        told(at, where(at).current.answer)
    for line in ("puzzle 1", SOLUTION, "puzzle 2", "hint"):
        told(at, line)
    listed = packet(at, "lessons", "Thud.Lessons")
    assert [each["number"] for each in listed["lessons"] if each["done"]] == [1]
    assert [each["number"] for each in listed["puzzles"] if each["solved"]] == [1]
    assert [each["number"] for each in listed["puzzles"] if each["tried"]] == [1, 2]
    assert packet(at, "puzzle 3", "Thud.Exercise")["in_all"] == len(puzzles())


@pytest.mark.parametrize("number", lessons())
def test_texts_of_lessons_for_clicks_quote_no_moves(number: int) -> None:
    for step in lessons()[number].steps:
        texts = (step.task(clicks=True), step.confirmation(clicks=True), step.advice(clicks=True))
        assert not re.search(r'"(move|hurl|shove)\b|\b[Tt]ype', " ".join(texts)), texts


def test_hints_name_squares_and_are_worded_for_clicks() -> None:
    at = House([BoardSpec("oak board")])
    at.enter("Anna", 1.0, Terminal(packages=frozenset({"thud"})))
    told(at, "tutorial 2")
    told(at, "move c5 c11")
    assert packet(at, "next", "Thud.Exercise")["squares"] == ["F6", "E5"]
    wrong = packet(at, "move e9 e8", "Thud.Exercise")
    assert wrong["words"][0].endswith(" Hurl the dwarf from E5 to F6.")
    told(at, "puzzle 1")
    assert packet(at, "hint", "Thud.Exercise")["squares"] == ["C5"]
    answer = packet(at, "hint", "Thud.Exercise")
    assert (answer["squares"], answer["words"]) == (["C5", "E5"], ["Hurl the dwarf from C5 to E5."])
    told(at, "tutorial 3")
    assert packet(at, "move e7 e8", "Thud.Exercise")["squares"] == []
    told(at, "next")
    told(at, "hint")
    answer = packet(at, "hint", "Thud.Exercise")
    assert answer["words"] == ["Move the troll from E8 to F8, and capture G7 and G9."]
    assert sorted(answer["squares"]) == ["E8", "F8", "G7", "G9"]


def test_lesson_is_picked_up_by_its_number() -> None:
    at = house()
    for line in ("tutorial 2", "move c5 c11", "next", "stop", "tutorial 2"):
        told(at, line)
    assert where(at).step == 1
    told(at, "tutorial 2")  # at the lesson, it starts again
    assert where(at).step == 0


SOLUTION = str(Play(puzzles()[1].solution.attempt()))


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (
            ("tutorial 8",),
            'There is no lesson 8: they go from 1 to 7. "lessons" lists them.',
        ),
        (
            ("puzzle 100000",),
            f"There is no puzzle 100000: they go from 1 to {len(puzzles())}.",
        ),
        (
            ("tutorial 2", "next"),
            'Do what the lesson asks first. "look" shows it again, "hint" helps.',
        ),
        (
            ("tutorial 2", "move c5 c11", "move c11 c5"),
            'You\'ve done that. "next" goes on, "back" repeats it.',
        ),
        (
            ("puzzle 1", SOLUTION, SOLUTION),
            'You\'re done here. "first" starts again, "stop" leaves.',
        ),
        (
            (
                "join game as dwarf on oak board", "Bert: join game as troll on oak board",
                "set clock 10+5", "start game", "tutorial",
            ),
            "You're playing against the clock at the oak board. Finish that battle first: the "
            "lessons and puzzles won't run away.",
        ),
    ],
)  # fmt: skip
def test_exercise_refusal_wording(lines: tuple[str, ...], sentence: str) -> None:
    at = house()
    at.enter("Bert", 1.0)
    for line in lines:
        player, _, typed = line.rpartition(": ")
        texts = [each for each in at.obey(player or "Anna", typed, 2.0) if "Anna" in each.to]
    assert [" ".join(each.text.split()) for each in texts if not each.package] == [sentence]
