"""Text of variations and evaluations, for the screen and for a screen reader."""

from __future__ import annotations

import pytest

from tests.features.battles import NOW, play
from tests.features.variations.test_commands import FixedAdviser, made_house
from thudmud import Terminal
from thudmud.errors import RefusedError
from thudmud.features.playing.moves import Resign
from thudmud.features.variations.model import VariationRefusal as V
from thudmud.house import House
from thudmud.views.refusals import refusal_text

REFUSALS = [
    (
        RefusedError(V.NO_VARIATIONS_RATED, board="oak board"),
        "Your battle at the oak board is rated, so there are no variations until it's over.",
    ),
    (
        RefusedError(V.VARIATION_LATER, number=12),
        "Battle 12 isn't over yet. You can try other moves afterwards.",
    ),
    (
        RefusedError(V.VARIATION_TOO_LONG, most=60),
        "That's too long: a variation has up to 60 moves.",
    ),
    (
        RefusedError(V.VARIATION_NO_PLY, number=12, ply=90, plies=80),
        "Battle 12 has no move 90. The last is 80.",
    ),
    (
        RefusedError(V.VARIATION_PIECE, ply="TA6-B6"),
        "TA6-B6 doesn't fit: there's no such piece there.",
    ),
    (RefusedError(V.VARIATION_OVER), "The battle is over in that position."),
    (RefusedError(V.VARIATION_NO_BOTS), "There are no bots here to play against."),
    (RefusedError(V.NO_EVALUATIONS), "There's no engine here to evaluate positions."),
    (
        RefusedError(V.EVALUATION_FAILED),
        "No luck with that position. Try again in a moment.",
    ),
]


@pytest.mark.parametrize(("refusal", "text"), REFUSALS)
def test_variation_refusal_wording(refusal: RefusedError, text: str) -> None:
    assert refusal_text(refusal) == text


@pytest.fixture
def house() -> House:
    made = made_house(adviser=FixedAdviser())
    play(made, "Anna", "Carl", "f1 f6", "g7 g6 capturing none")
    made.obey("Anna", Resign("oak board"), NOW)
    made.enter("Rita", NOW, Terminal(has_reader=True))
    made.enter("Walt", NOW, Terminal())
    return made


def said(house: House, name: str, line: str) -> str:
    return "".join(each.text for each in house.obey(name, line, NOW) if name in each.to)


def test_variation_draws_its_position(house: House) -> None:
    text = said(house, "Walt", "variation 1 1 TH7-H6, dA6-B6")
    assert text.startswith("Battle 1 after move 1, then H7 to H6 and A6 to B6: the trolls to move.")
    assert "Variation of battle 1, discworld rules" in text


def test_variation_is_described_for_a_reader(house: House) -> None:
    text = said(house, "Rita", "variation 1")
    assert text.splitlines()[0] == "The start of battle 1: the dwarfs to move."
    assert "Dwarfs 32, trolls 8." in text


def test_evaluation_names_the_lead_and_the_best_line(house: House) -> None:
    text = " ".join(said(house, "Walt", "evaluate 1 1 TH7-H6").split())
    assert text.startswith(
        "Battle 1 after move 1, then H7 to H6: the dwarfs are ahead by 6.0. The best line is "
    )
    assert "the sides are even" in said(house, "Walt", "evaluate 1")
