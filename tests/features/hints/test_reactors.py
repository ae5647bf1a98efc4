"""Hint delivery: eligible players, asynchronous answers, and refusals."""

from __future__ import annotations

import asyncio

import pytest

from tests.features.advisers import GatedAdviser
from tests.service.place import Place, refused, until
from tests.service.stores import SlowStore
from thudmud.features.hints import reactors as hinting
from thudmud.features.hints.model import HintRefusal
from thudmud.features.playing.moves import Resign
from thudmud.game.refusals import Refusal
from thudmud.rules import Game, Move
from thudmud.store import Store

HINT = 'Try "a6 b6": it keeps all your dwarfs safe.'
AGAIN = '"hint on oak board" tries again.'
FAILED = f"No hint this time. {AGAIN}"


class SlowAdviser(GatedAdviser[tuple[str, Game]]):
    """An adviser that waits at a gate, then gives a fixed ply, no answer or an error."""

    knows = True

    async def advise(self, board: str, game: Game) -> tuple[Move, ...] | None:
        await self.wait((board, game))
        return game.push("dA6-B6").moves[-1:] if self.knows else None

    async def evaluate(self, game: Game, _report: object = None) -> None:
        pass


@pytest.fixture
def adviser() -> SlowAdviser:
    return SlowAdviser()


@pytest.fixture
async def place(adviser: SlowAdviser) -> Place:
    place = Place(Store.in_memory(), adviser=adviser)
    await place.open()
    await place.sit()
    return place


async def answered(place: Place, adviser: SlowAdviser) -> None:
    """Open the adviser's gate and wait until all hints are delivered."""
    await adviser.settle()
    assert place.visits


async def test_hint_arrives_later_for_the_asker_only(place: Place, adviser: SlowAdviser) -> None:
    place.told.clear()
    result = await place.service.submit(place.visits["Anna"], "hint")
    assert result.is_done
    assert result.seconds
    assert place.told == {}
    await answered(place, adviser)
    assert place.told == {"Anna": [HINT], "Bert": ["Anna asks for a hint."]}
    assert [board for board, _ in adviser.asked] == ["oak board"]


async def test_opponent_who_ignores_the_player_hears_of_a_hint(
    place: Place, adviser: SlowAdviser
) -> None:
    await place.type("Bert", "ignore anna", "go hall")
    place.told.clear()
    await place.type("Anna", "hint")
    await answered(place, adviser)
    assert place.told["Bert"] == ["Anna asks for a hint at the oak board."]


@pytest.mark.parametrize("time", ["5+3", "3 days"])
async def test_hint_with_a_clock_against_a_person_is_refused(
    place: Place, adviser: SlowAdviser, time: str
) -> None:
    await place.enter("Carla", "Dora")
    await place.type("Carla", f"match dora {time}")
    await place.type("Dora", "accept")
    assert await refused(place, "Carla", "hint") is HintRefusal.NO_HINTS_CLOCK
    assert adviser.asked == []


async def test_hint_with_a_clock_against_a_bot_is_given_in_private(
    place: Place, adviser: SlowAdviser
) -> None:
    await place.enter("Carla", "Dora")
    place.hall.bots = {"Dora": None}
    await place.type("Carla", "match dora 5+3 as dwarf")
    place.told.clear()
    await place.type("Carla", "hint")
    await answered(place, adviser)
    assert place.told == {"Carla": [HINT]}


async def test_pending_hint_does_not_delay_other_commands(
    place: Place, adviser: SlowAdviser
) -> None:
    await place.type("Anna", "hint")
    assert await place.type("Anna", "say Well?") == "You say: Well?"
    assert place.told["Bert"][-1] == "Anna says: Well?"
    await answered(place, adviser)
    assert place.told["Anna"][-1] == HINT


async def test_second_hint_while_one_is_pending_is_refused(
    place: Place, adviser: SlowAdviser
) -> None:
    await place.type("Anna", "hint")
    assert await refused(place, "Anna", "hint") is HintRefusal.HINT_PENDING
    await answered(place, adviser)
    assert len(adviser.asked) == 1
    assert await refused(place, "Anna", "hint") is None


async def test_slow_hint_is_announced(
    place: Place, adviser: SlowAdviser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hinting, "HINT_SLOW", 0.0)
    place.told.clear()
    await place.type("Anna", "hint")
    await until(lambda: bool(place.told))
    await answered(place, adviser)
    assert place.told["Anna"] == ["Thinking ... Your hint will be here in a moment.", HINT]


async def test_hint_is_dropped_once_its_player_has_moved(
    place: Place, adviser: SlowAdviser
) -> None:
    await place.type("Anna", "hint", "move f1 f6")
    told = list(place.told["Anna"])
    await answered(place, adviser)
    assert place.told["Anna"] == told


async def test_hint_is_delivered_before_a_queued_ply(
    store: SlowStore, adviser: SlowAdviser
) -> None:
    """A hint found while a line is being stored is queued before a ply typed after that line."""
    place = Place(store, adviser=adviser)
    await place.open()
    await place.sit()
    await place.type("Anna", "hint")
    store.hold()
    offering = asyncio.create_task(place.type("Anna", "end game"))
    await store.held_up()
    adviser.gate.set()
    waiting = place.service.bus.names.held["Anna"]
    await until(lambda: len(waiting) == 1)  # the hint waits for the line
    playing = asyncio.create_task(place.type("Anna", "move from a6 to b6"))
    await until(lambda: len(waiting) == 2)
    place.told["Anna"].clear()
    store.gate.set()
    await asyncio.gather(offering, playing)
    await answered(place, adviser)
    _, hint, _, ply = place.told["Anna"]
    assert hint == HINT
    assert ply.startswith("You move the dwarf from A6 to B6.")


async def test_hint_after_the_battle_ended_reports_the_end(
    place: Place, adviser: SlowAdviser
) -> None:
    await place.type("Anna", "hint")
    await place.type("Bert", "resign", "yes")
    place.told["Anna"].clear()
    await answered(place, adviser)
    [told] = place.told["Anna"]
    assert told.startswith("The battle at the oak board is over.")


async def test_hint_for_an_outdated_position_is_refused(place: Place, adviser: SlowAdviser) -> None:
    await place.type("Anna", "move f1 f6")
    await place.type("Bert", "move g7 g6")
    await place.type("Anna", "hint")
    await place.type("Anna", "undo")
    await place.type("Bert", "undo")
    place.told["Anna"].clear()
    await answered(place, adviser)
    changed = "Things have moved on at the oak board since you asked for a hint."
    assert place.told["Anna"] == [f"{changed} {AGAIN}"]


async def test_hint_refers_to_the_board_at_the_time_of_asking(
    place: Place, adviser: SlowAdviser
) -> None:
    await place.type("Anna", "hint", "go elm board", "look at it")
    await answered(place, adviser)
    assert place.told["Anna"][-1] == HINT.replace('":', ' on oak board":')
    assert "elm board" in await place.type("Anna", "look at it")


async def test_hint_is_dropped_for_a_departed_player(place: Place, adviser: SlowAdviser) -> None:
    await place.type("Anna", "hint")
    await place.leave("Anna")
    told = list(place.told["Anna"])
    await answered(place, adviser)
    assert place.told["Anna"] == told


@pytest.mark.parametrize("error", [None, RuntimeError("It is mad.")])
async def test_failed_hint_is_reported_and_can_be_retried(
    place: Place, adviser: SlowAdviser, error: Exception | None
) -> None:
    adviser.knows, adviser.error = False, error
    await place.type("Anna", "hint")
    await answered(place, adviser)
    assert place.told["Anna"] == [FAILED]
    assert await place.type("Anna", "hint") == FAILED
    adviser.knows, adviser.error = True, None
    assert await place.type("Anna", "hint") == HINT


async def test_shutdown_does_not_wait_for_hints(place: Place) -> None:
    await place.type("Anna", "hint")
    await place.service.close()
    await until(lambda: asyncio.all_tasks() == {asyncio.current_task()})
    assert place.told["Anna"] == []


async def test_hint_is_refused_unless_player_is_to_move(place: Place, adviser: SlowAdviser) -> None:
    await place.enter("Carla")
    assert await refused(place, "Carla", "hint on oak board") is Refusal.NOT_SEATED
    assert await refused(place, "Bert", "hint") is Refusal.OPPONENTS_TURN
    await place.type("Carla", "join game as dwarf on elm board")
    assert await refused(place, "Carla", "hint") is Refusal.NO_BATTLE
    await place.type("Bert", "resign", "yes")
    assert await refused(place, "Anna", "hint") is Refusal.BATTLE_OVER
    assert adviser.asked == []


async def test_hint_with_an_empty_opposing_seat_names_the_turn(
    place: Place, adviser: SlowAdviser
) -> None:
    await place.type("Anna", "leave game")
    assert await place.type("Bert", "hint") == "It is the dwarfs' turn."
    assert adviser.asked == []


async def test_hint_during_a_rated_battle_is_refused_at_any_board(adviser: SlowAdviser) -> None:
    place = Place(Store.in_memory(), adviser=adviser)
    await place.open()
    await place.enter("Anna", "Bert", member=True)
    await place.enter("Carla")
    await place.type("Anna", "join game as dwarf on oak board", "join game as troll on elm board")
    await place.type("Bert", "join game as troll on oak board", "start")
    await place.type("Carla", "join game as dwarf on elm board", "start", "move f1 f6")
    for board in ("oak board", "elm board"):
        assert await refused(place, "Anna", f"hint on {board}") is HintRefusal.NO_HINTS_RATED
    assert await place.type("Anna", "hint") == (
        "Your battle at the oak board is rated, so there are no hints until it's over."
    )
    await place.type("Bert", Resign("oak board"))
    assert await refused(place, "Anna", "hint on elm board") is None


async def test_hint_without_an_adviser_is_refused() -> None:
    place = Place(Store.in_memory())
    await place.open()
    await place.sit()
    told = 'There are no hints here. "captures" and "moves" list what you can play.'
    assert await place.type("Anna", "hint") == told
    assert await refused(place, "Anna", "hint") is HintRefusal.NO_HINTS
