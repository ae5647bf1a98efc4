"""`lines` and `captures` list exactly the moves that the rules allow."""

from __future__ import annotations

import re
from random import Random

import pytest

from tests.views.positions import game_of, played_at_random
from thudmud.rules import (
    CLASSIC,
    DISCWORLD,
    EVERY,
    KOOM_VALLEY,
    RULESETS,
    SQUARES,
    Attempt,
    Capturing,
    Game,
    IllegalMoveError,
    Piece,
    Ruleset,
    Side,
    Square,
    Verb,
)
from thudmud.values import replace
from thudmud.views import legal
from thudmud.views.legal import captures_by_piece, lines_by_side

SQUARE = re.compile("[A-O][0-9]+")


@pytest.mark.parametrize(
    ("ruleset", "pieces", "side", "expected"),
    [
        (
            DISCWORLD,
            "dD6 dE6 dF6 TI6 XH8 TA9",
            Side.DWARF,
            ["Dwarf F6, line of 3 going east, reach 3: hurl to I6."],
        ),
        (DISCWORLD, "dE6 dF6 TI6 XH8", Side.DWARF, ["No dwarf can be hurled now."]),
        (
            DISCWORLD,
            "dE6 TF6 TF7 TB11 XH8",
            Side.DWARF,
            ["Dwarf E6, alone, reach 1: hurl to F6 or F7."],
        ),
        (CLASSIC, "dD7 dD9 TF8 XH8", Side.TROLL, ["No troll can be shoved now."]),
        (
            CLASSIC,
            "dD7 dD9 TG8 TF8 XH8",
            Side.TROLL,
            [
                "The trolls threaten:",
                "Troll F8, line of 2 going west, reach 2: "
                "shove to D8 or E8 capturing any of D7 and D9.",
            ],
        ),
    ],
)
def test_lines_of_a_side_are_described_exactly(
    ruleset: Ruleset, pieces: str, side: Side, expected: list[str]
) -> None:
    assert lines_by_side(game_of(ruleset, Side.DWARF, pieces), side) == expected


def test_lines_cover_the_side_not_to_move_hypothetically() -> None:
    game = game_of(DISCWORLD, Side.TROLL, "dF6 TG6 XH8")
    assert lines_by_side(game, None) == [
        "Troll G6, alone, reach 1: shove to F5, G5, F7 or G7 capturing F6.",
        "The dwarfs threaten:",
        "Dwarf F6, alone, reach 1: hurl to G6.",
    ]


def test_lines_in_koom_valley_describe_the_rock() -> None:
    assert lines_by_side(Game.start(KOOM_VALLEY), None) == [
        "Under koom valley rules nobody is hurled or shoved.",
        "Dwarfs trap a troll between two of them; trolls trample a dwarf next to them.",
        '"captures" lists the possible captures.',
        "The Rock on H8 could go to G8, I8, G9 or I9.",
    ]
    alone = game_of(KOOM_VALLEY, Side.TROLL, "dA6 TB9 RH8")
    assert lines_by_side(alone, Side.DWARF)[-1] == "The Rock on H8 can't go anywhere now."


def test_lines_and_captures_of_a_finished_battle_are_refused() -> None:
    game = game_of(DISCWORLD, Side.TROLL, "dF6 TG6 XH8").resign(Side.TROLL)
    assert lines_by_side(game, None) == ["The battle is over."]
    assert captures_by_piece(game, None) == ["The battle is over."]


def test_lines_cover_all_ways_of_capturing() -> None:
    assert legal.LINE_VERBS.keys() | legal.WITHOUT_LINES.keys() == set(Capturing)


@pytest.mark.parametrize("ruleset", [DISCWORLD, CLASSIC], ids=lambda each: each.name)
def test_lines_list_exactly_the_hurls_and_shoves_of_the_rules(
    ruleset: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(legal, "MOST_LINES", 1000)
    random = Random(ruleset.name)  # noqa: S311 (games to try, no secrets)
    told = 0
    for plies in (0, 20, 40, 60, 80):
        game = played_at_random(ruleset, random, plies)
        if game.outcome:
            continue
        for side, verb in ((Side.DWARF, Verb.HURL), (Side.TROLL, Verb.SHOVE)):
            heard = _heard(lines_by_side(game, side))
            told += len(heard)
            assert heard == _granted(game, side, verb)
    assert told


def _heard(facts: list[str]) -> set[tuple[str, str]]:
    """Return the pairs of origin and target in the lines of text."""
    heard = set()
    for fact in facts:
        front, _, ways = fact.partition(":")
        for way in ways.split(";"):
            targets = way.partition(" capturing")[0]
            heard |= {(SQUARE.findall(front)[0], target) for target in SQUARE.findall(targets)}
    return heard


def _granted(game: Game, side: Side, verb: Verb) -> set[tuple[str, str]]:
    """Return the pairs of origin and target that the rules allow, by brute force."""
    position, granted = replace(game.position, turn=side), set()
    for origin in position.squares(Piece.of(side)):
        for target in SQUARES:
            try:
                game.ruleset.resolve(position, Attempt(verb, origin, target, EVERY), side)
            except IllegalMoveError:
                continue
            granted.add((str(origin), str(target)))
    return granted


@pytest.mark.parametrize("ruleset", RULESETS.values(), ids=lambda each: each.name)
def test_captures_list_every_piece_that_can_capture(ruleset: Ruleset) -> None:
    random = Random(ruleset.name)  # noqa: S311 (games to try, no secrets)
    told = 0
    for plies in (10, 30, 50, 70):
        game = played_at_random(ruleset, random, plies)
        if game.outcome:
            continue
        able = {str(move.origin) for move in game.legal_moves() if move.captures}
        facts = captures_by_piece(game, None)
        assert {SQUARE.findall(fact)[0] for fact in facts if ":" in fact} == able
        for origin in able:
            (fact,) = captures_by_piece(game, Square.parse(origin))
            assert origin in fact.partition(":")[0]
        told += len(able)
    assert told


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (
            "G6",
            "(Not the trolls' turn.) The troll on G6 could move to F5, G5, F7, G7 capturing F6.",
        ),
        ("F6", "Dwarf F6: hurl to G6."),
        ("A9", "The dwarf on A9 has no captures now."),
        ("H8", "The Thudstone on H8 never moves."),
        ("B6", "Nothing stands on B6."),
        ("A1", "A1 is off the board."),
    ],
)
def test_captures_of_a_square_are_described_exactly(origin: str, expected: str) -> None:
    game = game_of(DISCWORLD, Side.DWARF, "dF6 TG6 XH8 dA9")
    assert captures_by_piece(game, Square.parse(origin)) == [expected]


def test_captures_for_a_screen_reader_spell_out_ranges() -> None:
    game = game_of(KOOM_VALLEY, Side.DWARF, "dA6 dE8 dF8 dG8 TF7 RH15")
    assert captures_by_piece(game, Square.parse("A6")) == ["Dwarf A6: move to E6..G6 capturing F7."]
    heard = captures_by_piece(game, Square.parse("A6"), " through ")
    assert heard == ["Dwarf A6: move to E6 through G6 capturing F7."]
