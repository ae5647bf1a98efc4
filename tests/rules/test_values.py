"""Squares, pieces, moves and positions are immutable, comparable, hashable values."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest

from tests.rules.shorthand import D, T, ask, board, squares
from thudmud.english import capitalised, pluralize
from thudmud.rules import (
    CENTRE,
    CLASSIC,
    DISCWORLD,
    EVERY,
    KOOM_VALLEY,
    RULESETS,
    SQUARES,
    Game,
    Move,
    Piece,
    Position,
    Side,
    Square,
    Verb,
)

ROOT = Path(__file__).parents[2]


def test_board_has_165_squares_row_by_row() -> None:
    assert len(SQUARES) == 165
    assert list(SQUARES) == sorted(SQUARES)
    rows = [[square for square in SQUARES if square.row == row] for row in range(15)]
    assert [len(row) for row in rows] == [5, 7, 9, 11, 13, 15, 15, 15, 15, 15, 13, 11, 9, 7, 5]
    assert [str(square) for square in rows[0]] == ["F1", "G1", "H1", "I1", "J1"]
    assert [str(square) for square in rows[7]][::14] == ["A8", "O8"]


def test_corners_each_lack_a_triangle_of_15_squares() -> None:
    grid = [Square(column, row) for column in range(15) for row in range(15)]
    off = [square for square in grid if not square.is_on_board]
    assert len(off) == 4 * 15
    for left in (True, False):
        for top in (True, False):
            corner = [each for each in off if (each.column < 7) is left and (each.row < 7) is top]
            assert len(corner) == 15


def test_square_names_round_trip() -> None:
    assert (CENTRE.column, CENTRE.row) == (7, 7)
    for square in SQUARES:
        assert Square.parse(str(square)) is square
        assert Square.parse(str(square).lower()) is square
    assert repr(CENTRE) == "<H8>"
    assert str(Square.parse("O15")) == "O15"
    assert not Square.parse("O15").is_on_board


@pytest.mark.parametrize(
    "name",
    ["", "A", "6", "P6", "A0", "A16", "A06", "A 6", "6A", "AA6", "A6 ", "A\uff16", "\uff216"],
)
def test_invalid_square_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="expected a letter from A to O and a number from 1 to 15"):
        Square.parse(name)


@pytest.mark.parametrize(("column", "row"), [(-1, 0), (0, -1), (15, 0), (0, 15)])
def test_square_off_the_grid_is_refused(column: int, row: int) -> None:
    with pytest.raises(ValueError, match="expected a column and a row from 0 to 14"):
        Square(column, row)


def test_squares_are_singletons() -> None:
    assert Square(7, 7) is CENTRE
    assert copy.copy(CENTRE) is CENTRE
    assert copy.deepcopy(CENTRE) is CENTRE
    assert pickle.loads(pickle.dumps(CENTRE)) is CENTRE  # noqa: S301  (our own bytes)
    assert len(set(SQUARES)) == len({hash(square) for square in SQUARES}) == 165


def test_hash_of_a_position_is_the_same_in_every_process() -> None:
    code = (
        "from thudmud.rules import *\n"
        "print([hash(each.initial_position) for each in RULESETS.values()])"
    )
    hashes = [hash(each.initial_position) for each in RULESETS.values()]
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True,
            env={"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
        )  # fmt: skip
        assert done.stdout == f"{hashes}\n"
    opening = CLASSIC.initial_position
    assert len({opening, replace(opening, turn=Side.TROLL), replace(opening)}) == 2


def test_squares_are_ordered_row_by_row() -> None:
    f1, g1, a6 = squares("F1 G1 A6")
    assert f1 < g1 < a6
    assert a6 > f1
    assert f1 <= Square.parse("F1") >= f1
    with pytest.raises(TypeError):
        f1 < "A6"  # type: ignore[operator]  # noqa: B015  (the comparison itself is tested)


def test_squares_are_immutable() -> None:
    with pytest.raises(AttributeError):
        CENTRE.row = 3
    with pytest.raises(AttributeError):
        del CENTRE.row


def test_sides_and_pieces_have_names_and_opposites() -> None:
    assert (D.other, T.other) == (T, D)
    assert (D.plural, T.plural) == ("dwarfs", "trolls")
    assert [Piece.of(side) for side in Side] == [Piece.DWARF, Piece.TROLL]
    assert [piece.side for piece in Piece] == [D, T, None, None]
    phrases = [piece.phrase for piece in Piece]
    assert phrases == ["a dwarf", "a troll", "the Thudstone", "the Rock"]


def test_move_converts_to_its_attempt() -> None:
    move = Move(Piece.TROLL, Square.parse("G7"), Square.parse("F7"))
    assert move.attempt() == ask("move G7 F7 capturing none")
    hurl = DISCWORLD.resolve(board("d A6 T A7 X H8"), ask("hurl A6 A7"), D)
    assert hurl.attempt() == ask("hurl A6 A7 capturing A7")


def test_moves_compare_by_outcome_and_not_by_verb() -> None:
    origin, target, dwarf, other = squares("G7 F7 E7 E8")
    move = Move(Piece.TROLL, origin, target, (dwarf,))
    assert move == replace(move, verb=Verb.SHOVE)
    assert hash(move) == hash(replace(move, verb=Verb.SHOVE))
    assert move != replace(move, captures=(dwarf, other))
    with pytest.raises(FrozenInstanceError):
        move.target = origin  # type: ignore[misc]


def test_attempts_distinguish_no_captures_from_unspecified() -> None:
    said = {ask(f"move A6 B6{words}").captures for words in ("", " capturing none")}
    assert said == {None, ()}
    assert ask("move A6 B6 capturing all").captures is EVERY
    assert copy.deepcopy(EVERY) is EVERY


def test_position_gives_its_pieces() -> None:
    position = board("d A6 B6 T G7 X H8", T)
    assert position.turn is T
    assert position.piece_at(Square.parse("B6")) is Piece.DWARF
    assert position.piece_at(Square.parse("C6")) is None
    assert position.squares(Piece.DWARF) == squares("A6 B6")
    assert [position.count(piece) for piece in Piece] == [2, 1, 1, 0]
    assert position.occupied | position.empty == sum(square.bit for square in SQUARES)


def test_equal_positions_hash_alike() -> None:
    assert board("d A6 B6 T G7") == board("T G7 d B6 A6")
    assert len({board("d A6 B6"), board("d B6 A6"), board("d A6 B6", T)}) == 2


def test_position_refuses_pieces_off_the_board() -> None:
    with pytest.raises(ValueError, match="A1 is off the board"):
        Position.of({Square.parse("A1"): Piece.DWARF}, D)


def test_openings_have_the_right_pieces() -> None:
    counts = {
        name: [rules.initial_position.count(piece) for piece in Piece]
        for name, rules in RULESETS.items()
    }
    assert counts == {
        "discworld": [32, 8, 1, 0],
        "classic": [32, 8, 1, 0],
        "koom valley": [16, 8, 0, 1],
    }
    for rules in RULESETS.values():
        assert rules.initial_position.turn is D
    around = DISCWORLD.initial_position.squares(Piece.TROLL)
    assert around == squares("G7 H7 I7 G8 I8 G9 H9 I9")
    assert DISCWORLD.initial_position.piece_at(CENTRE) is Piece.STONE
    trolls = KOOM_VALLEY.initial_position.squares(Piece.TROLL)
    assert trolls == squares("F2 H2 J2 E3 F3 H3 J3 K3")
    assert KOOM_VALLEY.initial_position.piece_at(CENTRE) is Piece.ROCK


@pytest.mark.parametrize("name", RULESETS)
def test_rulesets_and_battles_are_values(name: str) -> None:
    rules = RULESETS[name]
    assert hash(replace(rules)) == hash(rules)
    assert replace(rules) == rules
    assert pickle.loads(pickle.dumps(Game.start(rules))) == Game.start(rules)  # noqa: S301  (ours)
    with pytest.raises(FrozenInstanceError):
        rules.name = "else"  # type: ignore[misc]


def test_rulesets_are_listed_with_the_default_first() -> None:
    assert list(RULESETS) == ["discworld", "classic", "koom valley"]
    assert [rules.title for rules in RULESETS.values()] == ["Discworld", "Classic", "Koom Valley"]
    assert len(set(RULESETS.values())) == 3


def test_counted_and_capitalised_form_english_phrases() -> None:
    said = [pluralize(number, noun) for number in (0, 1, 2) for noun in ("square", "ply", "day")]
    assert said[:6] == ["0 squares", "0 plies", "0 days", "1 square", "1 ply", "1 day"]
    assert said[6:] == ["2 squares", "2 plies", "2 days"]
    assert capitalised("the Rock") == "The Rock"
    assert capitalised("") == ""


def test_pass_changes_only_the_turn() -> None:
    opening = CLASSIC.initial_position
    passed = opening.passed()
    assert passed == replace(opening, turn=opening.turn.other)
    assert passed.passed() == opening
