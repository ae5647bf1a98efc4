"""Every reason to refuse an attempt, and similar attempts that are granted."""

from __future__ import annotations

import pytest

from tests.cases import cases
from tests.rules.refused import EXAMPLES, THUD, Example, refusal
from tests.rules.shorthand import D, T, ask, board, squares
from thudmud.rules import (
    CLASSIC,
    DISCWORLD,
    KOOM_VALLEY,
    Ending,
    Game,
    IllegalMoveError,
    Piece,
    Reason,
    Ruleset,
    Side,
    Verb,
)


@cases("example", EXAMPLES)
def test_refusal_has_its_reason_and_squares(example: Example) -> None:
    refused = refusal(example)
    assert refused.code is example.code
    assert refused.squares == squares(example.squares)
    assert str(refused).startswith(example.code.value)


def test_refusal_examples_cover_every_reason() -> None:
    assert {example.code for example in EXAMPLES} == set(Reason)


def test_refusal_carries_named_details() -> None:
    refused = refusal(next(each for each in EXAMPLES if each.code is Reason.LINE_TOO_SHORT))
    d7, h7 = squares("D7 H7")
    assert refused.squares == (d7, h7)
    assert refused.details == {
        "piece": Piece.DWARF, "length": 2, "verb": Verb.HURL, "target": h7, "far": 4,
    }  # fmt: skip
    assert str(refused) == "line_too_short D7 H7 piece=dwarf length=2 verb=hurl target=H7 far=4"


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("words", ["move A6 B6", "shove O15 O15", "hurl H8 H8"])
def test_attempts_after_the_end_are_refused(side: Side, words: str) -> None:
    game = Game.start(DISCWORLD).agree(Ending.AGREEMENT)
    with pytest.raises(IllegalMoveError) as caught:
        game.resolve(ask(words), side)
    assert caught.value.code is Reason.GAME_OVER


CRUSH = "d D5 F6 H9 T C4 R H8"
RING = "d E5 F6 E7 D6 H10 T D5 R H9"


@cases(
    ("rules", "pieces", "side", "words", "captures"),
    [
        (CLASSIC, THUD, D, "hurl E7 F7", "F7"),
        (CLASSIC, THUD, D, "hurl E7 F7 capturing all", "F7"),
        (CLASSIC, THUD, D, "hurl E7 F7 capturing F7", "F7"),
        (CLASSIC, THUD, D, "move C6 D6 capturing none", ""),
        (CLASSIC, "d E7 T F7 X H8", T, "move F7 F6 capturing all", "E7"),
        (CLASSIC, "d E5 E6 E7 T F7 F8 X H8", T, "shove F7 F6 capturing E6, E5", "E5 E6"),
        (DISCWORLD, "d E5 E6 E7 T F7 X H8", T, "move F7 F6 capturing all", "E5 E6 E7"),
        (DISCWORLD, "d E5 E6 E7 T F7 X H8", T, "move F7 F6 capturing E7, E5", "E5 E7"),
        (DISCWORLD, "d E5 E6 E7 T F7 X H8", T, "move F7 F6", ""),
        (KOOM_VALLEY, "d A7 E5 G7 H9 T E6 F7 R H8", D, "move A7 E7", ""),
        (KOOM_VALLEY, "d A7 E5 G7 H9 T E6 F7 R H8", D, "move A7 E7 capturing F7", "F7"),
        (KOOM_VALLEY, "d A7 E5 G7 H9 T E6 F7 R H8", D, "move A7 E7 capturing all", "E6 F7"),
        (KOOM_VALLEY, "d A7 E5 G7 H9 T E6 F7 R H8", D, "move H8 G8 capturing none", ""),
        (KOOM_VALLEY, CRUSH, T, "move C4 E6 capturing D5", "D5"),
        (KOOM_VALLEY, CRUSH, T, "move C4 E6 capturing all", "D5"),
        (KOOM_VALLEY, CRUSH, T, "move C4 G6 capturing F6, D5", "D5 F6"),
        (KOOM_VALLEY, CRUSH, T, "move C4 G6 capturing all", "D5 F6"),
        (KOOM_VALLEY, RING, T, "move D5 D7 capturing all", "E5 F6 E7"),
        (KOOM_VALLEY, RING, T, "move D5 D7 capturing D6", "D6"),
        (KOOM_VALLEY, RING, T, "move D5 D7 capturing F6, E5, E7", "E5 F6 E7"),
        (KOOM_VALLEY, RING, T, "move D5 D5 capturing E5, F6, E7, D6", "E5 F6 E7 D6"),
        (KOOM_VALLEY, RING, T, "move D5 D5 capturing D6, E7, F6, E5", "D6 E7 F6 E5"),
        (KOOM_VALLEY, RING, T, "move D5 C5 capturing none", ""),
        (KOOM_VALLEY, CRUSH.replace("D5", "D4"), T, "move C4 C6", ""),
    ],
)
def test_attempt_is_granted_with_its_captures(
    rules: Ruleset, pieces: str, side: Side, words: str, captures: str
) -> None:
    move = rules.resolve(board(pieces, side), ask(words), side)
    assert move.captures == squares(captures)
