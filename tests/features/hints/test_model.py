"""Reasons for a hint: positions that cover every reason and every ruleset."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from thudmud.game.advice import Because, Merit, build_advice
from thudmud.rules import (
    CLASSIC,
    DISCWORLD,
    KOOM_VALLEY,
    RULESETS,
    Ending,
    Game,
    Piece,
    Position,
    Ruleset,
    Side,
    Square,
)
from thudmud.values import replace


class Case(NamedTuple):
    """A position in board coordinates, the expected line, and all reasons for its first ply."""

    rules: Ruleset
    turn: Side
    dwarfs: str
    trolls: str
    line: str
    reasons: list[Because]
    rock: str = ""


DWARF, TROLL = Side.DWARF, Side.TROLL
SAFE = Because(Merit.SAFE)


def because(merit: Merit, number: int) -> Because:
    return Because(merit, number)


ESCAPES, CAPTURED = Ending.ROCK_ESCAPED, Ending.ROCK_CAPTURED

CASES = [
    # Lines use the letters of records, which skip I: up to column H they match the board.
    Case(
        DISCWORLD, TROLL, "F6 G6 O10", "F8 A9", "TF8-F7xF6xG6",
        [because(Merit.CAPTURES, 2), SAFE],
    ),
    Case(
        CLASSIC, TROLL, "F6 G6 O10", "F8 A9", "TF8-F7xF6",
        [because(Merit.CAPTURES, 1), because(Merit.LOSES, 1)],
    ),
    Case(
        DISCWORLD, DWARF, "C8 D8 E8 O10", "H8 G1", "dE8-H8xH8",
        [because(Merit.CAPTURES, 1), SAFE],
    ),
    Case(DISCWORLD, DWARF, "F6 O10", "F8", "dF6-A6", [because(Merit.SAVES, 1), SAFE]),
    Case(
        DISCWORLD, DWARF, "F6 G6 O10", "F8", "dF6-A6",
        [because(Merit.SAVES, 1), because(Merit.LOSES, 1)],
    ),
    Case(CLASSIC, DWARF, "C4 C9 O10", "F8", "dC4-C8", [because(Merit.GATHERS, 1), SAFE]),
    Case(
        CLASSIC, DWARF, "C8 D8 E14", "G8", "dE14-E8",
        [because(Merit.THREATENS, 1), because(Merit.GATHERS, 1), because(Merit.LOSES, 1)],
    ),
    Case(
        CLASSIC, DWARF, "C8 D8 E14", "G8", "dE14-E8 TG8-F8xE8 dD8-F8xF8",
        [
            because(Merit.THREATENS, 1), because(Merit.GATHERS, 1), because(Merit.LOSES, 1),
            because(Merit.REGAINS, 1),
        ],
    ),
    Case(CLASSIC, DWARF, "C4 O10", "G8", "dC4-D4", [SAFE]),
    Case(DISCWORLD, DWARF, "F6", "F7", "dF6-F7xF7", [Because(Merit.WINS)]),
    Case(
        KOOM_VALLEY, DWARF, "D6 F8", "E6 O8", "dF8-F6xE6",
        [because(Merit.CAPTURES, 1), because(Merit.SAVES, 1), SAFE],
    ),
    Case(KOOM_VALLEY, DWARF, "H2", "A8 A9 A10", "RG2-G1", [Because(Merit.WINS)], "G2"),
    Case(KOOM_VALLEY, TROLL, "O10", "F4 G4 G9", "TG9-G6", [Because(Merit.WINS)], "G5"),
    Case(
        KOOM_VALLEY, DWARF, "O7", "F4 G4 G9", "dP7-G7",
        [Because(Merit.STOPS), Because(Merit.BLOCKS, goal=CAPTURED), SAFE], "G5",
    ),
    Case(
        KOOM_VALLEY, DWARF, "H2 A10", "O8 O9 O10", "RG3-G2",
        [Because(Merit.WINS_NEXT), Because(Merit.NEARS, goal=ESCAPES), SAFE], "G3",
    ),
    Case(
        KOOM_VALLEY, TROLL, "O10", "A8 G9", "TG9-G6",
        [Because(Merit.NEARS, goal=CAPTURED), SAFE], "G5",
    ),
    Case(
        KOOM_VALLEY, TROLL, "H5 E14", "H4 O8", "TH4-H6xH5",
        [because(Merit.CAPTURES, 1), Because(Merit.BLOCKS, goal=ESCAPES), SAFE], "G5",
    ),
]  # fmt: skip


def game_of(case: Case) -> Game:
    named = [
        (Piece.DWARF, case.dwarfs), (Piece.TROLL, case.trolls), (Piece.ROCK, case.rock)
    ]  # fmt: skip
    pieces = {Square.parse(each): piece for piece, squares in named for each in squares.split()}
    return Game.start(case.rules, Position.of(pieces, case.turn))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rules} {case.line}")
def test_reasons_for_a_ply(case: Case) -> None:
    game = game_of(case)
    played = game
    for ply in case.line.split():
        played = played.push(ply)
    told = build_advice(game, played.moves)
    assert (told.side, told.move) == (case.turn, played.moves[0])
    assert [replace(each, capture=None) for each in told.reasons] == case.reasons


@pytest.mark.parametrize(
    ("dwarfs", "trolls", "line", "captures", "reply"),
    [
        ("F6 O10", "F8", "dF6-A6", {Merit.SAVES: "F6"}, None),
        (
            "F6 G6 O10", "F8", "dF6-A6 TF8-F7xG6",
            {Merit.SAVES: "F6 G6", Merit.LOSES: "G6"}, "TF8-F7xG6",
        ),
        (
            "C8 D8 E14", "G8", "dE14-E8 TG8-F8xE8 dD8-F8xF8",
            {Merit.THREATENS: "G8", Merit.LOSES: "E8", Merit.REGAINS: "F8"}, "TG8-F8xE8",
        ),
    ],
    ids=["saves", "saves one of two", "threatens, and is answered"],
)  # fmt: skip
def test_reasons_have_the_captures_concerned_and_the_reply(
    dwarfs: str, trolls: str, line: str, captures: dict[Merit, str], reply: str | None
) -> None:
    case = Case(DISCWORLD, DWARF, dwarfs, trolls, line, [])
    played = game_of(case)
    for ply in line.split():
        played = played.push(ply)
    advice = build_advice(game_of(case), played.moves)
    concerned = {each.merit: each.capture for each in advice.reasons if each.capture}
    assert {
        merit: " ".join(map(str, capture.captures)) for merit, capture in concerned.items()
    } == captures
    assert (advice.reply and str(advice.reply)) == reply


def test_cases_cover_every_merit_and_ruleset() -> None:
    assert {each.merit for case in CASES for each in case.reasons} == set(Merit)
    assert {case.rules for case in CASES} == set(RULESETS.values())
