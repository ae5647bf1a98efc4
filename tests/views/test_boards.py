"""The drawn board, its panel and the status line, to the letter, at every kind of width."""

from __future__ import annotations

from dataclasses import replace

import pytest

from thudmud.house import House
from thudmud.play.commands import Join, Play, Start
from thudmud.play.table import BoardSpec, Table
from thudmud.play.table_decisions import Context, TableCommand, decide
from thudmud.rules import EVERY, Attempt, Side, Square, Verb
from thudmud.views import boards
from thudmud.views.view import Display, Terminal

LONG = "Wolfeschlegelsteinha", "Vogelsangbergerdorff"
"""Names of 20 letters."""


def played(
    *plies: str, names: tuple[str, str] = ("Anna", "Bert"), rules: str = "discworld"
) -> Table:
    """Return a table at which these plies have been played: verb, origin and target each."""
    table = Table.set_up(BoardSpec("oak board", rules), 200)
    deeds: list[tuple[str, TableCommand]] = [
        (names[0], Join(Side.DWARF)),
        (names[1], Join(Side.TROLL)),
        (names[0], Start()),
    ]
    for number, ply in enumerate(plies):
        verb, origin, target = ply.split()
        captures = EVERY if verb == "shove" else None
        attempt = Attempt(Verb(verb), Square.parse(origin), Square.parse(target), captures)
        deeds.append((names[number % 2], Play(attempt)))
    for name, deed in deeds:
        for event in decide(table, name, deed, Context(0.0)):
            table = table.apply(event)
    return table


CAPTURED = ("move f15 f8", "shove g7 e7")
HURLED = ("move f15 f8", "move g7 f7", "hurl f8 g8")


def test_beside_the_board_at_80_columns() -> None:
    assert (
        "\n".join(boards.draw(played(*CAPTURED), Display(80)))
        == """\
   A B C D E F G H I J K L M N O    Oak board, discworld rules
 1           d d . d d              Battle 1 of 2, 2 plies
 2         d . . . . . d
 3       d . . . . . . . d          d Dwarfs: Anna, 31 left, 1 lost
 4     d . . . . . . . . . d        T Trolls: Bert, 8 left, 0 lost
 5   d . . . . . . . . . . . d
 6 d . . . . . . . . . . . . . d    Score: dwarfs 31, trolls 32
 7 d . . .[T]. + T T . . . . . d
 8 . . . . . * T X T . . . . . .    Last move: G7 to E7
 9 d . . . . . T T T . . . . . d      (+ from, [T] to, * captured)
10 d . . . . . . . . . . . . . d    Turn: dwarfs (Anna)
11   d . . . . . . . . . . . d
12     d . . . . . . . . . d
13       d . . . . . . . d
14         d . . . . . d
15           . d . d d"""
    )


def test_below_the_board_at_40_columns() -> None:
    assert (
        "\n".join(boards.draw(played(*HURLED), Display(40)))
        == """\
   A B C D E F G H I J K L M N O
 1           d d . d d
 2         d . . . . . d
 3       d . . . . . . . d
 4     d . . . . . . . . . d
 5   d . . . . . . . . . . . d
 6 d . . . . . . . . . . . . . d
 7 d . . . . T . T T . . . . . d
 8 . . . . . +[d]X T . . . . . .
 9 d . . . . . T T T . . . . . d
10 d . . . . . . . . . . . . . d
11   d . . . . . . . . . . . d
12     d . . . . . . . . . d
13       d . . . . . . . d
14         d . . . . . d
15           . d . d d
Oak board, discworld, battle 1 of 2
d Dwarfs: Anna, 32 left, 0 lost
T Trolls: Bert, 7 left, 1 lost
Score: dwarfs 32, trolls 28"""
    )


def test_what_is_played_takes_one_line_at_40_columns() -> None:
    table = replace(played(rules="koom valley"), name="basalt board")
    assert boards.draw(table, Display(40))[16:] == [
        "Basalt board, koom valley, battle 1/2",
        "d Dwarfs: Anna, 16 left, 0 lost",
        "T Trolls: Bert, 8 left, 0 lost",
        "Score: dwarfs 0, trolls 0",
    ]


def test_without_gaps_at_20_columns() -> None:
    assert (
        "\n".join(boards.draw(played("move f15 f8", names=LONG), Display(20)))
        == """\
  ABCDEFGHIJKLMNO
 1     dd.dd
 2    d.....d
 3   d.......d
 4  d.........d
 5 d...........d
 6d.............d
 7d.....TTT.....d
 8.....dTXT......
 9d.....TTT.....d
10d.............d
11 d...........d
12  d.........d
13   d.......d
14    d.....d
15     +d.dd
Oak board,
  discworld, battle
  1/2
d Wolfeschlegelstei
  nha: 32
T Vogelsangbergerdo
  rff: 8
Score: 32 to 32
Last: F15 to F8"""
    )


@pytest.mark.parametrize("width", [*range(20, 100), 500])
@pytest.mark.parametrize("rules", ["discworld", "koom valley"])
def test_nothing_is_wider_than_the_screen(width: int, rules: str) -> None:
    for table in (Table.set_up(BoardSpec("oak board", rules), 0), played(names=LONG, rules=rules)):
        rows = boards.draw(table, Display(width))
        assert max(map(len, rows)) < width
        assert all(row == row.rstrip() for row in rows)


def test_where_the_panel_finds_room() -> None:
    table = played(names=LONG)
    beside = [width for width in range(34, 100) if len(boards.draw(table, Display(width))) == 16]
    assert beside == list(range(67, 100))


@pytest.mark.parametrize("width", [67, 72, 80])
def test_a_long_name_takes_one_line_beside_the_board(width: int) -> None:
    rows = boards.draw(played(*CAPTURED, names=LONG), Display(width))
    assert len(rows) == 16
    assert f"    d {LONG[0]}" in rows[3]
    assert f"    T {LONG[1]}" in rows[4]
    assert not any(row.endswith(("31", "32", "lost")) for row in (rows[2], rows[5]))
    assert "Score" in rows[6]


def test_the_capture_that_is_told_fits_a_screen_of_24_rows() -> None:
    house = House([BoardSpec("oak board")])
    for name in ("Anna", "Bert"):
        house.enter(name, 0.0, Terminal(40))
    lines = (
        "Anna join game as dwarf on oak board, Bert join game as troll on oak board, Anna start, "
    )
    lines += "Anna resign, Anna start, Bert move f15 f8, Anna shove g7 e7 capturing f8"
    for line in lines.split(", "):
        name, _, typed = line.partition(" ")
        told = [each.text for each in house.obey(name, typed, 0.0) if "Bert" in each.to]
    rows = "\n".join(told).split("\n")
    assert rows[-1] == "Score: 31 to 32. Match: Bert 32, Anna 0"
    assert len(rows) < 24


def test_a_panel_longer_than_the_board() -> None:
    table = replace(played(*HURLED, names=LONG), name=" ".join(["oak"] * 60))
    rows = boards.draw(table, Display(75))
    assert len(rows) > 16
    assert max(map(len, rows)) < 75
    assert [row for row in rows if "Turn: trolls" in row]


def test_the_rock_is_in_the_status_line() -> None:
    table = played("move h8 g8", rules="koom valley")
    assert boards.status_line(table) == (
        "Oak board: dwarfs 16 (Anna), trolls 8 (Bert); Rock on G8; score 0 to 0."
    )


def test_before_anybody_sits() -> None:
    table = Table.set_up(BoardSpec("oak board"), 0)
    assert boards.status_line(table) == (
        "Oak board: dwarfs 32 (seat free), trolls 8 (seat free); score 32 to 32."
    )
    assert boards.beside(table, 38, Display()) == [
        "Oak board, discworld rules",
        "No battle has begun.",
        "",
        "d Dwarfs: seat free, 32 left, 0 lost",
        "T Trolls: seat free, 8 left, 0 lost",
        "",
        "Score: dwarfs 32, trolls 32",
        "",
    ]
