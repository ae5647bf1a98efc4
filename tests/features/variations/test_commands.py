"""Variations: positions and legal moves after other moves, evaluations, and matches from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.features.battles import NOW, play
from thudmud import BoardSpec, House, Terminal
from thudmud.features.playing.moves import Resign
from thudmud.features.variations.model import MOST_PLIES
from thudmud.game.evaluation import Evaluation
from thudmud.rules import Game, Side

PROGRAM = Terminal(packages=frozenset({"Thud"}))


class FixedAdviser:
    """An adviser that plays a fixed ply, and finds the dwarfs 3 points better after each ply."""

    at_once = 1
    knows = True

    async def advise(self, _board: str, _game: Game) -> None:
        return None

    async def evaluate(self, game: Game, _report: object = None) -> Evaluation | None:
        if not self.knows:
            return None
        score = 100 + 300 * len(game.moves)
        return Evaluation(6000, (score,), (game.legal_moves()[0],))


@pytest.fixture
def adviser() -> FixedAdviser:
    return FixedAdviser()


@pytest.fixture
def house(adviser: FixedAdviser) -> House:
    """Return a house in which battle 1 is over after three plies."""
    return made_house(adviser=adviser)


def made_house(bots: Mapping[str, str] = {}, adviser: FixedAdviser | None = None) -> House:
    made = House(
        [BoardSpec("oak board"), BoardSpec("elm board")],
        adviser=adviser,
        bots=bots,
        opens_boards=True,
    )
    for name in ("Anna", "Bert", "Carl"):
        made.enter(name, NOW, PROGRAM, member=name != "Carl")
    play(made, "Anna", "Carl", "f1 f6", "g7 g6 capturing none", "a6 b6")
    made.obey("Anna", Resign("oak board"), NOW)
    return made


def told(house: House, line: str, name: str = "Anna") -> dict[str, Any]:
    """Return the only fact sent in reply to a line."""
    kinds = {"Thud.Variation", "Thud.Evaluation", "Thud.Refused"}
    [fact] = [
        {"package": each.package, **json.loads(each.text)}
        for each in house.obey(name, line, NOW)
        if each.package in kinds and name in each.to
    ]
    return fact


def code(house: House, line: str, name: str = "Anna") -> str:
    fact = told(house, line, name)
    return str(fact.get("code", fact["package"]))


def test_variation_has_the_position_and_legal_moves(house: House) -> None:
    fact = told(house, "variation 1 1 TH7-H6, dA6-B6")
    assert (fact["battle"], fact["branch"], fact["line"]) == (1, 1, ["TH7-H6", "dA6-B6"])
    assert (fact["ply"], fact["turn"], fact["outcome"]) == (3, "troll", None)
    assert "B6" in fact["dwarfs"]
    assert fact["last"]["to"] == "B6"
    assert {each["piece"] for each in fact["legal"]} == {"troll"}
    [way] = [each for each in fact["legal"] if each["from"] == "G9"]
    assert "G10" in way["ways"][0]["to"]


def test_variation_continues_after_a_resignation(house: House) -> None:
    fact = told(house, "variation 1 3")
    assert fact["turn"] == "troll"
    assert fact["legal"]


@pytest.mark.parametrize(
    ("line", "refusal"),
    [
        ("variation 9", "no_such_battle"),
        ("variation 1 4", "variation_no_ply"),
        ("variation 1 1 dA6-B6", "not_your_turn"),
        ("variation 1 1 TA6-B6", "variation_piece"),
        ("variation 1 1 TG7-G1", "too_far"),
        ("variation 1 1 " + "TH7-H6 " * (MOST_PLIES + 1), "variation_too_long"),
    ],
)
def test_impossible_variation_is_refused(house: House, line: str, refusal: str) -> None:
    assert code(house, line) == refusal


def test_variations_of_unfinished_battles_are_refused(house: House) -> None:
    play(house, "Carl", "Bert", "f1 f6", board="elm board")
    for verb in ("variation", "evaluate", "retry"):
        for name in ("Anna", "Bert"):
            assert code(house, f"{verb} 2 1", name) == "variation_later"


def test_variations_are_refused_during_a_rated_battle(house: House) -> None:
    play(house, "Anna", "Bert", "f1 f6", board="elm board")
    for verb in ("variation", "evaluate", "retry"):
        assert code(house, f"{verb} 1 1") == "no_variations_rated"
    assert code(house, "variation 1 1", "Carl") == "Thud.Variation"


def test_evaluation_is_on_the_scale_of_scores(house: House) -> None:
    fact = told(house, "evaluate 1 1 TH7-H6")
    assert (fact["battle"], fact["branch"], fact["line"]) == (1, 1, ["TH7-H6"])
    assert (fact["worth"], fact["turn"], fact["depth"]) == (600, "dwarf", 1)  # the opening is even
    assert fact["best"][0]["piece"] == "dwarf"
    assert told(house, "evaluate 1")["worth"] == 0


def test_match_from_a_variation_needs_a_bot(house: House) -> None:
    assert code(house, "retry 1 1") == "variation_no_bots"


def test_failed_evaluation_is_refused(house: House, adviser: FixedAdviser) -> None:
    adviser.knows = False
    assert code(house, "evaluate 1 1") == "evaluation_failed"


def test_evaluation_without_an_adviser_is_refused() -> None:
    made = House([BoardSpec("oak board")])
    made.enter("Anna", NOW, PROGRAM)
    made.obey("Anna", "go to oak board", NOW)
    for line in ("practice", "f1 f6", "end game"):
        made.obey("Anna", line, NOW)
    assert code(made, "evaluate 1") == "no_evaluations"


@pytest.mark.parametrize(("side", "mine"), [("", Side.TROLL), (" as dwarf", Side.DWARF)])
def test_match_from_a_variation_begins_with_a_bot(side: str, mine: Side) -> None:
    house = made_house({"Grog": "3"})
    house.obey("Anna", f"retry 1 1 TH7-H6 dA6-B6{side} level 1", NOW)
    table = next(each for each in house.hall.tables.values() if "Grog" in each.seats.values())
    assert table.seats[mine] == "Anna"
    assert table.game
    assert table.game.initial_position.turn is Side.TROLL
    assert table.match
    assert not table.match.rated
