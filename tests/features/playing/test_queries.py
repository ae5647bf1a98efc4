"""Queries about the board in words: answers match the position and stay short."""

from __future__ import annotations

import re
from random import Random

import pytest

from tests.views.positions import game_of, played_at_random, table_with
from thudmud.features.playing.messages import query_answer_lines
from thudmud.features.playing.queries import (
    Around,
    Captures,
    LastMove,
    Lines,
    PieceQuery,
    ScanColumn,
    ScanRow,
    Where,
)
from thudmud.game.table import BoardSpec, Table
from thudmud.house import House
from thudmud.rules import (
    CLASSIC,
    DISCWORLD,
    KOOM_VALLEY,
    RULESETS,
    SQUARES,
    Game,
    Piece,
    Ruleset,
    Side,
    Square,
)
from thudmud.views.view import Display

ALL: list[PieceQuery] = [
    *map(Where, Piece),
    ScanRow(4),
    ScanColumn(5),
    Around(Square.parse("F6")),
    Lines(),
    Captures(),
    LastMove(),
]


def told(table: Table, query: PieceQuery, width: int = 200, me: str = "Anna") -> list[str]:
    return query_answer_lines(table, query, me, Display(width))


def square(name: str) -> Square:
    return Square.parse(name)


NEW = Table.set_up(BoardSpec("oak board", "discworld"), 0)
VALLEY = Table.set_up(BoardSpec("oak board", "koom valley"), 0)
FEW = table_with(game_of(DISCWORLD, Side.DWARF, "dD6 dE6 dF6 TI6 XH8 dF7 TF9 dO6"))


@pytest.mark.parametrize(
    ("table", "query", "expected"),
    [
        (NEW, Where(Piece.TROLL), ["8 trolls: G7, H7, I7, G8, I8, G9, H9, I9."]),
        (NEW, Where(Piece.STONE), ["The Thudstone: H8."]),
        (NEW, Where(Piece.ROCK), ["There is no Rock on this board."]),
        (VALLEY, Where(Piece.ROCK), ["The Rock: H8."]),
        (VALLEY, Where(Piece.STONE), ["There is no Thudstone on this board."]),
        (
            table_with(game_of(DISCWORLD, Side.DWARF, "dA6 XH8")),
            Where(Piece.TROLL),
            ["No trolls."],
        ),
        (table_with(game_of(DISCWORLD, Side.DWARF, "dA6")), Where(Piece.DWARF), ["1 dwarf: A6."]),
        (NEW, ScanRow(4), ["Row 5: B5 dwarf, C5 to M5 empty, N5 dwarf."]),
        (NEW, ScanRow(0), ["Row 1: F1 to G1 dwarfs, H1 empty, I1 to J1 dwarfs."]),
        (
            NEW,
            ScanColumn(7),
            ["Column H: H1 to H6 empty, H7 troll, H8 Thudstone, H9 troll, H10 to H15 empty."],
        ),
        (
            VALLEY,
            ScanColumn(7),
            [
                "Column H: H1 empty, H2 to H3 trolls, H4 to H7 empty, H8 Rock, "
                "H9 dwarf, H10 to H14 empty, H15 dwarf."
            ],
        ),
        (NEW, Around(square("A1")), ["A1 is off the board."]),
        (
            FEW,
            Around(square("F6")),
            [
                "F6: a dwarf.",
                "North: 5 empty squares to the edge.",
                "Northeast: 4 empty squares to the edge.",
                "East: a troll on I6, 3 away.",
                "Southeast: the Thudstone on H8, 2 away.",
                "South: a dwarf on F7, adjacent.",
                "Southwest: 4 empty squares to the edge.",
                "West: a dwarf on E6, adjacent.",
                "Northwest: 2 empty squares to the edge.",
            ],
        ),
        (
            FEW,
            Around(square("A6")),
            [
                "A6: empty.",
                "Southwest, west, northwest and north: the edge.",
                "Northeast: 5 empty squares to the edge.",
                "East: a dwarf on D6, 3 away.",
                "Southeast: 9 empty squares to the edge.",
                "South: 4 empty squares to the edge.",
            ],
        ),
        (NEW, LastMove(), ["No battle has begun."]),
        (FEW, LastMove(), ["No move has been played yet."]),
    ],
)
def test_query_is_answered(table: Table, query: PieceQuery, expected: list[str]) -> None:
    assert told(table, query) == expected


def test_last_move_includes_number_player_and_captures() -> None:
    game = game_of(DISCWORLD, Side.DWARF, "dD6 dE6 dF6 TI6 TA9 XH8")
    hurl = next(move for move in game.legal_moves() if move.captures)
    table = table_with(game.play(hurl))
    hurled = "the dwarf from F6 to I6, felling the troll."
    assert told(table, LastMove()) == [f"Move 1: you hurl {hurled}"]
    assert told(table, LastMove(), me="Bert") == [f"Move 1: Anna hurls {hurled}"]


@pytest.mark.parametrize("ruleset", RULESETS.values(), ids=lambda each: each.name)
def test_rows_and_columns_describe_every_square_once(ruleset: Ruleset) -> None:
    random = Random(ruleset.name)  # noqa: S311 (games to try, no secrets)
    for plies in (0, 20, 60):
        game = played_at_random(ruleset, random, plies)
        heard: dict[Square, str] = {}
        for row in range(15):
            heard |= _heard(" ".join(told(table_with(game), ScanRow(row))))
        assert heard == _standing(game)
        for column in range(15):
            across = _heard(" ".join(told(table_with(game), ScanColumn(column))))
            assert across == {at: heard[at] for at in SQUARES if at.column == column}


def _heard(line: str) -> dict[Square, str]:
    found = re.findall(r"([A-O][0-9]+)(?: to ([A-O][0-9]+))? ([A-Za-z]+)", line)
    heard: dict[Square, str] = {}
    for first, last, what in found:
        ends = square(first), square(last or first)
        heard |= {
            at: what.removesuffix("s")
            for at in SQUARES
            if at.row in range(ends[0].row, ends[1].row + 1)
            if at.column in range(ends[0].column, ends[1].column + 1)
        }
    return heard


def _standing(game: Game) -> dict[Square, str]:
    pieces = {at: game.position.piece_at(at) for at in SQUARES}
    return {at: piece.noun if piece else "empty" for at, piece in pieces.items()}


@pytest.mark.parametrize("ruleset", RULESETS.values(), ids=lambda each: each.name)
@pytest.mark.parametrize("width", [20, 40, 80])
def test_answers_fit_the_screen_and_stay_short(ruleset: Ruleset, width: int) -> None:
    random = Random(width)  # noqa: S311 (games to try, no secrets)
    for plies in (0, 1, 30, 80):
        table = table_with(played_at_random(ruleset, random, plies))
        for query in ALL:
            lines = told(table, query, width)
            assert lines
            assert all(len(line) < width for line in lines)
            assert sum(map(len, lines)) < 4000


RICH = (
    " ".join(f"d{column}{row}" for column in "DEFGH" for row in (5, 6, 7, 9, 10, 11))
    + " TJ7 TJ8 TJ9 TJ10 TI6 TC8 TB8 TE8 XH8"
)


@pytest.mark.parametrize("ruleset", [DISCWORLD, CLASSIC], ids=str)
@pytest.mark.parametrize("turn", Side)
def test_answers_on_a_board_full_of_captures_stay_short(ruleset: Ruleset, turn: Side) -> None:
    table = table_with(game_of(ruleset, turn, RICH))
    assert "And 8 more lines of dwarfs." in told(table, Lines())
    assert len(told(table, Lines(), 10_000)) <= 28
    assert len(told(table, Captures(), 10_000)) <= 13


def test_answer_with_many_tramples_stays_short() -> None:
    pieces = " ".join(f"d{column}{row}" for column in "CEGIKM" for row in (5, 7, 9, 11))
    game = game_of(KOOM_VALLEY, Side.TROLL, f"{pieces} TD6 TF8 RH15")
    lines = told(table_with(game), Captures(square("D6")), 10_000)
    assert len(lines) == 1
    assert "and more ways to trample" in lines[0]
    assert len(lines[0]) < 1500
    assert told(table_with(game), Captures(), 10_000)[0].endswith("; and more.")


def test_captures_of_a_side_are_listed_out_of_turn() -> None:
    house = House([BoardSpec("oak board")])
    for name, side in (("Anna", "dwarf"), ("Bert", "troll")):
        house.enter(name, now=0.0)
        house.obey(name, f"join game as {side} on oak board", 0.0)
    for name, line in (("Anna", "start"), ("Anna", "f1 f6"), ("Bert", "i9 j9")):
        house.obey(name, line, 0.0)
    [told] = house.obey("Anna", "captures trolls", 0.0)
    assert told.text.startswith("(Not the trolls' turn.) The troll on G7 could")
    [told] = house.obey("Anna", "captures dwarfs", 0.0)
    assert "Not the" not in told.text
