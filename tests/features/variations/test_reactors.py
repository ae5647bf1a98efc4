"""Evaluations in the background: for typed lines, for questions of programs, one at a time."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.features.advisers import GatedAdviser
from tests.service.place import Place, refused
from thudmud.game.evaluation import Evaluation
from thudmud.game.refusals import Refusal
from thudmud.rules import Game
from thudmud.service import JoinRequest
from thudmud.store import Store
from thudmud.views import Terminal

LINE = "evaluate 1 1 TG7-G6"


class SlowAdviser(GatedAdviser[int]):
    """An adviser that waits at a gate, then evaluates a position or fails.

    It is asked for positions after so many plies.
    """

    async def advise(self, _board: str, _game: Game) -> None:
        return None

    async def evaluate(
        self, game: Game, report: Callable[[Evaluation], object] | None = None
    ) -> Evaluation:
        if report:
            report(Evaluation(6000, (30 * len(game.moves),), tuple(game.legal_moves()[:1])))
        await self.wait(len(game.moves))
        return Evaluation(6000, (300 * len(game.moves),), tuple(game.legal_moves()[:1]))


@pytest.fixture
def adviser() -> SlowAdviser:
    return SlowAdviser()


@pytest.fixture
async def place(adviser: SlowAdviser) -> Place:
    """Return a place where battle 1 is over after two plies."""
    place = Place(Store.in_memory(), adviser=adviser)
    await place.open()
    await place.sit()
    await place.type("Anna", "move f1 f6")
    await place.type("Bert", "resign", "yes")
    return place


async def test_typed_evaluation_arrives_later(place: Place, adviser: SlowAdviser) -> None:
    assert await place.type("Anna", LINE) == ""
    await adviser.settle()
    [text] = place.told["Anna"]
    assert text.startswith("Battle 1 after move 1, then G7 to G6: the dwarfs are ahead by 6.0.")
    assert adviser.asked == [0, 2]  # the opening, which the score is relative to, and the position


async def test_opening_is_evaluated_once(place: Place, adviser: SlowAdviser) -> None:
    for line in (LINE, "evaluate 1 1", "evaluate 1"):
        await place.type("Anna", line)
        await adviser.settle()
    assert adviser.asked == [0, 2, 1, 0]  # the last one more deeply, as itself


async def test_next_evaluation_takes_the_place_of_a_pending_one(
    place: Place, adviser: SlowAdviser
) -> None:
    await place.type("Anna", LINE)
    await place.type("Anna", "evaluate 1 1")
    await adviser.settle()
    [text] = place.told["Anna"]
    assert text.startswith("Battle 1 after move 1: the dwarfs are ahead by 3.0.")
    assert adviser.asked == [0, 0, 1]


async def test_evaluations_are_limited_per_address(place: Place, adviser: SlowAdviser) -> None:
    await place.enter("Carl", "Dora", "Emil", origin="10.0.0.1")
    await place.type("Carl", LINE, "evaluate 1 1")
    await place.type("Dora", LINE)
    assert await refused(place, "Emil", LINE) is Refusal.TOO_MUCH_FROM_ADDRESS
    await adviser.settle()


async def test_failed_evaluation_is_refused(place: Place, adviser: SlowAdviser) -> None:
    adviser.error = ValueError("no")
    await place.type("Anna", LINE)
    await adviser.settle()
    assert place.told["Anna"] == ["No luck with that position. Try again in a moment."]


async def test_program_gets_facts_alone(place: Place, adviser: SlowAdviser) -> None:
    carl = await place.service.join(JoinRequest("Carl", Terminal(packages=frozenset({"thud"}))))
    assert carl
    place.told.clear()
    await place.service.ask(carl, LINE, "engine")
    assert not place.told
    await adviser.settle()
    [progress, evaluation] = map(json.loads, place.told["Carl"])
    assert (progress["worth"], progress["thinking"]) == (60, True)
    assert (evaluation["worth"], evaluation["thinking"]) == (600, False)
    assert evaluation["id"] == "engine"
