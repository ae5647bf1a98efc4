"""The exact text of the drawn board, its panel and the status line, at various widths."""

from __future__ import annotations

import pytest

from tests.cases import cases
from thudmud.features.archive.commands import Step, Way
from thudmud.features.exercises.commands import Tutorial
from thudmud.features.exercises.model import LessonProgress, exercise_of, lessons
from thudmud.features.playing.moves import Play, Start
from thudmud.features.playing.seats import Join
from thudmud.game.command import Command
from thudmud.game.options import Options, Orient, Size
from thudmud.game.table import BoardSpec, Table
from thudmud.game.tables import Context, TableCommand, decide
from thudmud.house import House
from thudmud.rules import EVERY, Attempt, Side, Square, Verb
from thudmud.values import replace
from thudmud.views import boards
from thudmud.views.sentences import game_at
from thudmud.views.view import LARGE_FROM, Display, Terminal

LONG = "Wolfeschlegelsteinha", "Vogelsangbergerdorff"
"""Names of 20 letters."""


def played(
    *plies: str, names: tuple[str, str] = ("Anna", "Bert"), rules: str = "discworld"
) -> Table:
    """Return a table after some plies, each given as verb, origin and target."""
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


def test_panel_is_beside_the_board_at_80_columns() -> None:
    assert (
        "\n".join(boards.draw(played(*CAPTURED), Display(80)))
        == r"""
    A B C D E-F-G-H-I-J-K L M N O       Oak board, discworld rules
 1          / d d . d d \           1   Battle 1 of 2, 2 moves
 2        / d . . . . . d \         2
 3      / d . . . . . . . d \       3   d Dwarfs: Anna, 31 left, 1 lost
 4    / d . . . . . . . . . d \     4   T Trolls: Bert, 8 left, 0 lost
 5  / d . . . . . . . . . . . d \   5
 6| d . . . . . . . . . . . . . d | 6   Score: dwarfs 31, trolls 32
 7| d . . .[T]. + T T . . . . . d | 7
 8| . . . . . * T X T . . . . . . | 8   Last move: G7 to E7
 9| d . . . . . T T T . . . . . d | 9     (+ from, [T] to, * captured)
10| d . . . . . . . . . . . . . d |10   Turn: dwarfs (Anna)
11  \ d . . . . . . . . . . . d /  11
12    \ d . . . . . . . . . d /    12
13      \ d . . . . . . . d /      13
14        \ d . . . . . d /        14
15          \ . d . d d /          15
    A B C D E-F-G-H-I-J-K L M N O"""[1:]
    )


def test_panel_is_below_the_board_at_40_columns() -> None:
    assert (
        "\n".join(boards.draw(played(*HURLED), Display(40)))
        == r"""
    A B C D E-F-G-H-I-J-K L M N O
 1          / d d . d d \           1
 2        / d . . . . . d \         2
 3      / d . . . . . . . d \       3
 4    / d . . . . . . . . . d \     4
 5  / d . . . . . . . . . . . d \   5
 6| d . . . . . . . . . . . . . d | 6
 7| d . . . . T . T T . . . . . d | 7
 8| . . . . . +[d]X T . . . . . . | 8
 9| d . . . . . T T T . . . . . d | 9
10| d . . . . . . . . . . . . . d |10
11  \ d . . . . . . . . . . . d /  11
12    \ d . . . . . . . . . d /    12
13      \ d . . . . . . . d /      13
14        \ d . . . . . d /        14
15          \ . d . d d /          15
    A B C D E-F-G-H-I-J-K L M N O
Oak board, discworld, battle 1 of 2
d Dwarfs: Anna, 32. T Trolls: Bert, 7
Score: dwarfs 32, trolls 28
Last move: F8 to G8. Turn: trolls"""[1:]
    )


def test_board_rules_and_battle_share_one_line_at_40_columns() -> None:
    table = replace(played(rules="koom valley"), name="basalt board")
    assert boards.draw(table, Display(40))[17:] == [
        "Basalt board, koom valley, battle 1/2",
        "d Dwarfs: Anna, 16. T Trolls: Bert, 8",
        "Score: dwarfs 0, trolls 0",
        "Turn: dwarfs",
    ]


def test_grid_has_no_gaps_at_20_columns() -> None:
    assert (
        "\n".join(boards.draw(played("move f15 f8", names=LONG), Display(20)))
        == r"""
  ABCDEFGHIJKLMNO
 1    /dd.dd\     1
 2   /d.....d\    2
 3  /d.......d\   3
 4 /d.........d\  4
 5/d...........d\ 5
 6d.............d 6
 7d.....TTT.....d 7
 8.....dTXT...... 8
 9d.....TTT.....d 9
10d.............d10
11\d...........d/11
12 \d.........d/ 12
13  \d.......d/  13
14   \d.....d/   14
15    \+d.dd/    15
  ABCDEFGHIJKLMNO
Oak board,
  discworld, battle
  1/2
d Wolfeschlegelstei
  nha: 32
T Vogelsangbergerdo
  rff: 8
Score: 32 to 32
Last: F15 to F8
Turn: trolls"""[1:]
    )


@cases("width", [*range(20, 100), 500])
@cases("rules", ["discworld", "koom valley"])
def test_board_is_narrower_than_the_screen(width: int, rules: str) -> None:
    for table in (Table.set_up(BoardSpec("oak board", rules), 0), played(names=LONG, rules=rules)):
        rows = boards.draw(table, Display(width))
        assert max(map(len, rows)) < width
        assert all(row == row.rstrip() for row in rows)


def test_panel_moves_beside_the_board_from_71_columns() -> None:
    table = played(names=LONG)
    beside = [width for width in range(34, 100) if len(boards.draw(table, Display(width))) == 17]
    assert beside == list(range(71, 100))


@pytest.mark.parametrize("width", [71, 75, 80])
def test_long_name_takes_one_line_beside_the_board(width: int) -> None:
    rows = boards.draw(played(*CAPTURED, names=LONG), Display(width))
    assert len(rows) == 17
    assert f"   d {LONG[0]}" in rows[3]
    assert f"   T {LONG[1]}" in rows[4]
    assert not any(row.endswith(("31", "32", "lost")) for row in (rows[2], rows[5]))
    assert "Score" in rows[6]


@pytest.mark.parametrize(
    ("ply", "sides", "target"),
    [
        ("move g7 f7", "d Dwarfs: Bert, 32. T Trolls: Anna, 8", "F7"),
        ("shove g7 e7 capturing f8", "d Dwarfs: Bert, 31. T Trolls: Anna, 8", "E7"),
    ],
)
def test_announced_ply_fits_a_screen_of_24_rows(ply: str, sides: str, target: str) -> None:
    house = House([BoardSpec("oak board")])
    for name in ("Anna", "Bert"):
        house.enter(name, 0.0, Terminal(40))
    lines = (
        "Anna join game as dwarf on oak board, Bert join game as troll on oak board, Anna start, "
        f"Anna resign, Anna yes, Anna start, Bert start, Bert move f15 f8, Anna {ply}"
    )
    for line in lines.split(", "):
        name, _, typed = line.partition(" ")
        told = [each.text for each in house.obey(name, typed, 0.0) if "Bert" in each.to]
    rows = "\n".join(told).split("\n")
    assert rows[-3] == sides
    assert rows[-2].endswith(" Match: Bert 32, Anna 0")
    assert rows[-1] == f"Last move: G7 to {target}. Turn: dwarfs"
    # A capture takes one more row: with a prompt, the first scrolls off; a line below repeats it.
    assert len(rows) == (24 if "capturing" in ply else 23)


@pytest.mark.parametrize("rules", ["discworld", "classic", "koom valley"])
@pytest.mark.parametrize("utf8", [False, True])
def test_grid_is_labelled_on_all_four_sides(*, rules: str, utf8: bool) -> None:
    table = Table.set_up(BoardSpec("oak board", rules), 0)
    for layout in boards.GridLayout:
        for orient in Orient:
            display = Display(uses_utf8=utf8, orient=orient)
            above, *rows, below = boards.grid(game_at(table).position, None, display, layout)
            letters, numbers = "ABCDEFGHIJKLMNO", [str(number) for number in range(1, 16)]
            if orient is Orient.NORTH:
                letters, numbers = letters[::-1], numbers[::-1]
            assert "".join(char for char in above if char.isalpha()) == letters
            assert below == above
            numbered = [row for row in rows if row[:2].strip()]
            assert [row[:2].strip() for row in numbered] == numbers
            assert [row[-2:].strip() for row in numbered] == numbers
            assert {len(row) for row in (above, *rows)} == {layout.value}


def test_large_board_is_drawn_exactly() -> None:
    rows = boards.draw(played(*CAPTURED), Display(68, is_large=True))
    assert (
        "\n".join([*rows[:3], *rows[11:18], *rows[28:]])
        == r"""
     A   B   C   D   E  -F---G---H---I---J-  K   L   M   N   O
 1                     | d | d |   | d | d |                      1
                    --- --- --- --- --- --- ---
 6 | d |   |   |   |   |   |   |   |   |   |   |   |   |   | d |  6
    --- --- --- --- --- --- --- --- --- --- --- --- --- --- ---
 7 | d |   |   |   |[T]|   | + | T | T |   |   |   |   |   | d |  7
    --- --- --- --- --- --- --- --- --- --- --- --- --- --- ---
 8 |   |   |   |   |   | * | T | X | T |   |   |   |   |   |   |  8
    --- --- --- --- --- --- --- --- --- --- --- --- --- --- ---
 9 | d |   |   |   |   |   | T | T | T |   |   |   |   |   | d |  9
                    --- --- --- --- --- --- ---
15                     |   | d |   | d | d |                     15
     A   B   C   D   E  -F---G---H---I---J-  K   L   M   N   O
Oak board, discworld, battle 1 of 2
d Dwarfs: Anna, 31 left. T Trolls: Bert, 8 left
Score: dwarfs 31, trolls 32
Last move: G7 to E7. Turn: dwarfs"""[1:]
    )


@pytest.mark.parametrize(
    ("size", "width", "height", "layout"),
    [
        (Size.AUTO, 120, 40, boards.GridLayout.LARGE),
        (Size.AUTO, 119, 40, boards.GridLayout.FRAMED),
        (Size.AUTO, 120, 39, boards.GridLayout.FRAMED),
        (Size.AUTO, 500, 0, boards.GridLayout.FRAMED),
        (Size.SMALL, 120, 40, boards.GridLayout.FRAMED),
        (Size.LARGE, 68, 0, boards.GridLayout.LARGE),
        (Size.LARGE, 67, 40, boards.GridLayout.FRAMED),
        (Size.LARGE, 37, 40, boards.GridLayout.SPACED),
        (Size.LARGE, 20, 40, boards.GridLayout.TIGHT),
    ],
)
def test_board_layout_depends_on_size_option_and_screen(
    size: Size, width: int, height: int, layout: boards.GridLayout
) -> None:
    display = Display.of(Terminal(width, height=height), Options(size=size))
    assert boards.layout_for(display) is layout


@pytest.mark.parametrize("number", lessons())
def test_large_board_in_a_lesson_fits_a_screen_of_40_rows(number: int) -> None:
    house = House([BoardSpec("oak board")])
    house.enter("Anna", 0.0, Terminal(LARGE_FROM[0], height=LARGE_FROM[1]))
    lines: list[str | Command] = [Tutorial(number)]
    while lines:
        told = "\n".join(each.text for each in house.obey("Anna", lines.pop(), 0.0))
        assert len(told.split("\n")) < LARGE_FROM[1] - 1
        exercise = exercise_of(house.hall.people["Anna"])
        if isinstance(exercise, LessonProgress) and not exercise.is_over:
            lines.append(Step(Way.NEXT) if exercise.is_done else exercise.current.answer)


def test_panel_longer_than_the_board_is_drawn_in_full() -> None:
    table = replace(played(*HURLED, names=LONG), name=" ".join(["oak"] * 60))
    rows = boards.draw(table, Display(75))
    assert len(rows) > 17
    assert max(map(len, rows)) < 75
    assert [row for row in rows if "Turn: trolls" in row]


def test_status_line_includes_the_rock() -> None:
    table = played("move h8 g8", rules="koom valley")
    assert boards.status_line(table) == (
        "Oak board: dwarfs 16 (Anna), trolls 8 (Bert); Rock on G8; score 0 to 0."
    )


def test_empty_board_shows_free_seats_and_no_battle() -> None:
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
