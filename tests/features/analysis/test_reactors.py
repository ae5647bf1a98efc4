"""Analysis queue: waiting players, progress messages, limits, cancellation and reuse of results."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.service.place import Place, Screen, refused, until
from thudmud.features.analysis import messages
from thudmud.features.analysis import reactors as analysing
from thudmud.features.analysis.model import AnalysisLimits, AnalysisRefusal
from thudmud.game.evaluation import Evaluation
from thudmud.game.refusals import Refusal
from thudmud.rules import Game, Move
from thudmud.service import JoinRequest
from thudmud.store import NotWrittenError, Store
from thudmud.views import Terminal

BEGUN = (
    "Battle 1 is being analysed (3 moves). You'll be told when it's done. \"analyse "
    'cancel" stops it.'
)
FAILED = 'No luck with battle 1 this time. "analyse 1" tries again.'
BLUNDER = "Move 2 ?? Bert (trolls), G7 to G6."


class SlowWeigher:
    """An adviser that evaluates one position per ticket; ply 2 is always a blunder."""

    def __init__(self) -> None:
        self.weighed: list[int] = []
        self.begun: list[Game] = []
        self.at_once = 1
        self.tickets = asyncio.Semaphore(0)
        self.error: Exception | None = None
        self.knows = True

    async def advise(self, _board: str, _game: Game) -> tuple[Move, ...] | None:
        return None

    async def evaluate(self, game: Game, _report: object = None) -> Evaluation | None:
        self.begun.append(game)
        await self.tickets.acquire()
        if self.error:
            raise self.error
        ply = len(game.moves)
        self.weighed.append(ply)
        score = 0 if ply < 2 else 500
        return Evaluation(7, (score, score), tuple(game.legal_moves()[-1:])) if self.knows else None

    def let(self, positions: int = 100) -> None:
        for _ in range(positions):
            self.tickets.release()


@pytest.fixture
def adviser() -> SlowWeigher:
    return SlowWeigher()


async def place_with(adviser: SlowWeigher | None, store: Store | None = None) -> Place:
    """Return a place with a finished battle of three plies between Anna and Bert."""
    place = Place(store or Store.in_memory(), adviser=adviser)
    await place.open()
    await place.sit()
    for name, line in [("Anna", "move a6 b6"), ("Bert", "move g7 g6"), ("Anna", "move b6 c6")]:
        await place.type(name, line)
    await place.type("Bert", "resign", "yes")
    return place


@pytest.fixture
async def place(adviser: SlowWeigher) -> Place:
    return await place_with(adviser)


async def idle() -> None:
    """Wait until all background tasks have finished."""
    await until(lambda: asyncio.all_tasks() == {asyncio.current_task()})


async def test_analysis_arrives_in_the_background(place: Place, adviser: SlowWeigher) -> None:
    assert await place.type("Anna", "analyse 1") == BEGUN
    assert await place.type("Anna", "say Well?") == "You say: Well?"
    place.told.clear()
    adviser.let()
    await idle()
    assert set(place.told) == {"Anna"}
    [told] = place.told["Anna"]
    assert told.startswith("Battle 1, ")
    assert BLUNDER in told
    assert adviser.weighed == [0, 1, 2, 3]


async def test_finished_analysis_is_reused(place: Place, adviser: SlowWeigher) -> None:
    await analyse_at_once(place, adviser)
    await place.enter("Carla")
    assert BLUNDER in await place.type("Carla", "analyse 1")
    assert BLUNDER in await place.type("Anna", "analyse 1")
    assert len(adviser.weighed) == 4


async def test_analysis_survives_a_restart(tmp_path: Path) -> None:
    adviser = SlowWeigher()
    adviser.let()
    path = tmp_path / "thud.db"
    store = await Store.open(path)
    place = await place_with(adviser, store)
    await place.type("Anna", "analyse 1")
    await until(lambda: BLUNDER in "\n".join(place.told["Anna"]))
    await place.service.close()
    await store.close()
    store = await Store.open(path)
    place = Place(store)  # without an adviser
    await place.open()
    await place.enter("Carla")
    assert BLUNDER in await place.type("Carla", "analyse 1")
    assert "A blunder, ??: now the dwarfs are ahead by 5.0." in await place.type(
        "Carla", "replay 1", "next", "next"
    )
    await place.service.close()
    await store.close()


async def test_second_request_joins_the_running_analysis(
    place: Place, adviser: SlowWeigher
) -> None:
    await place.enter("Carla")
    await place.type("Anna", "analyse 1")
    adviser.let(2)
    await until(lambda: len(adviser.weighed) == 2)
    assert await place.type("Carla", "analyse 1") == (
        "Battle 1 is being analysed: 1 of 3 moves done."
    )
    adviser.let()
    await idle()
    assert BLUNDER in place.told["Anna"][-1]
    assert BLUNDER in place.told["Carla"][-1]
    assert len(adviser.weighed) == 4


async def test_player_has_one_analysis_at_a_time_and_sees_progress(
    place: Place, adviser: SlowWeigher
) -> None:
    await place.type("Anna", "start")
    await place.type("Bert", "start", "move a6 b6", "resign", "yes")
    await place.type("Anna", "analyse 1")
    adviser.let(3)
    await until(lambda: len(adviser.weighed) == 3)
    assert "2 of 3 moves are done" in await place.type("Anna", "analyse 1")
    assert await refused(place, "Anna", "analyse 1") is AnalysisRefusal.ANALYSIS_PENDING
    assert await refused(place, "Anna", "hint") is not AnalysisRefusal.ANALYSIS_PENDING
    adviser.let()
    await idle()
    assert await refused(place, "Anna", "analyse 1") is None


async def test_analyses_are_limited_per_address(place: Place, adviser: SlowWeigher) -> None:
    place.hall.set_limits(AnalysisLimits(1))
    await second_battle(place)
    await place.enter("Carla", "Dora", origin="10.0.0.1")
    await place.enter("Emil", origin="10.0.0.2")
    await place.type("Carla", "analyse 1")
    assert await refused(place, "Dora", "analyse 2") is Refusal.TOO_MUCH_FROM_ADDRESS
    assert await refused(place, "Dora", "analyse 1") is None
    assert await refused(place, "Emil", "analyse 2") is None
    adviser.let()
    await idle()


async def test_analyses_are_limited_overall(
    place: Place, adviser: SlowWeigher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysing, "MOST", 1)
    await second_battle(place)
    await place.type("Anna", "analyse 1")
    assert await refused(place, "Bert", "analyse 2") is AnalysisRefusal.ANALYSES_TOO_MANY
    assert await refused(place, "Bert", "analyse 1") is None
    adviser.let()
    await idle()
    assert await refused(place, "Bert", "analyse 2") is None
    await idle()
    assert place.told["Bert"][-1].startswith("Battle 2, ")


async def second_battle(place: Place) -> None:
    """Play another battle of the match, with the seats swapped."""
    await place.type("Anna", "start")
    plies = ("Bert", "start"), ("Bert", "move a6 b6"), ("Anna", "move g7 g6")
    for name, line in (*plies, ("Bert", "resign"), ("Bert", "yes")):
        await place.type(name, line)


async def analyse_at_once(place: Place, adviser: SlowWeigher) -> None:
    """Let Anna analyse the battle, with an adviser that doesn't wait."""
    adviser.let()
    await place.type("Anna", "analyse 1")
    await idle()


async def join_page(place: Place, name: str, *, member: bool = False) -> Screen:
    """Let a player come in by a client that draws boards; return what it receives from then on."""
    screen = Screen()
    terminal = Terminal(packages=frozenset({"thud"}), can_draw=True)
    visit = await place.service.join(JoinRequest(name, terminal, screen, is_member=member))
    assert visit
    place.visits[name] = visit
    screen.messages.clear()
    return screen


def facts(screen: Screen, package: str = "Thud.Analysis") -> list[Any]:
    return [json.loads(each.text) for each in screen.messages if each.package == package]


async def test_page_gets_progress_as_facts_alone(
    place: Place, adviser: SlowWeigher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysing, "STEP", 1)
    monkeypatch.setattr(messages, "_TOLD_STEP", 1)
    screen = await join_page(place, "Page")
    await place.type("Page", "analyse 1")
    adviser.let()
    await idle()
    assert [each["done"] for each in facts(screen)] == [0, 1, 2, 3]
    told = [each.text for each in screen.messages if not each.package]
    assert told[0] == "Battle 1 is being analysed (3 moves). You'll be told when it's done."
    assert [each.split(".")[0] for each in told[1:]] == ["Battle 1 is analysed"]


async def test_result_goes_to_others_at_the_board_as_facts(
    place: Place, adviser: SlowWeigher
) -> None:
    watcher, elsewhere = await join_page(place, "Page"), await join_page(place, "Other")
    await place.type("Page", "go to oak board")
    rated = await join_page_of_rated_player(place)
    await place.type("Carla", "observe oak board")
    watcher.messages.clear()
    await place.type("Anna", "analyse 1")
    adviser.let()
    await idle()
    [analysis] = facts(watcher)
    assert (analysis["battle"], analysis["done"]) == (1, 3)
    assert [each.package for each in watcher.messages] == ["Thud.Analysis"]
    assert facts(rated) == []
    assert facts(elsewhere) == []


async def test_page_is_told_of_a_cancelled_analysis(place: Place, adviser: SlowWeigher) -> None:
    screen = await join_page(place, "Page")
    await place.type("Page", "analyse 1", "analyse cancel")
    assert [each["done"] for each in facts(screen)] == [0, None]


async def test_record_of_an_analysed_battle_has_its_analysis(
    place: Place, adviser: SlowWeigher
) -> None:
    await analyse_at_once(place, adviser)
    player, stranger = await join_page(place, "Page"), Screen()
    await place.service.ask(place.visits["Page"], "record 1", None)
    await place.service.show_battle(stranger, Terminal(packages=frozenset({"thud"})), 1)
    for screen in (player, stranger):
        [analysis] = facts(screen)
        assert (analysis["battle"], analysis["done"]) == (1, 3)
        assert [each["mark"] for each in analysis["better"]] == ["??"]
    assert len(adviser.weighed) == 4


async def test_player_in_a_rated_battle_gets_a_record_without_analysis(
    place: Place, adviser: SlowWeigher
) -> None:
    await analyse_at_once(place, adviser)
    screen = await join_page_of_rated_player(place)
    await place.service.ask(place.visits["Carla"], "record 1", None)
    assert len(facts(screen, "Thud.Record")) == 1
    assert facts(screen) == []


async def join_page_of_rated_player(place: Place) -> Screen:
    """Begin a rated battle of Carla, on the page, with Dora."""
    await place.enter("Dora", member=True)
    screen = await join_page(place, "Carla", member=True)
    await place.type("Carla", "join game as dwarf on elm board")
    await place.type("Dora", "join game as troll on elm board", "start")
    return screen


async def test_waiting_player_gets_progress_messages(
    place: Place, adviser: SlowWeigher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysing, "STEP", 1)
    monkeypatch.setattr(messages, "_TOLD_STEP", 2)
    await place.type("Anna", "analyse 1")
    place.told["Anna"].clear()
    adviser.let()
    await idle()
    assert [each.splitlines()[0] for each in place.told["Anna"]] == [
        "Battle 1 is being analysed: 2 of 3 moves done.",
        place.told["Anna"][-1].splitlines()[0],
    ]


async def test_analysis_can_be_cancelled(place: Place, adviser: SlowWeigher) -> None:
    assert await refused(place, "Anna", "analyse cancel") is AnalysisRefusal.NOTHING_ANALYSED
    await place.type("Anna", "analyse 1")
    cancelled = "The analysis of battle 1 is cancelled."
    assert await place.type("Anna", "analyse cancel") == cancelled
    await idle()
    assert place.told["Anna"] == [cancelled]
    assert adviser.weighed == []


async def test_request_right_after_a_cancel_is_accepted(place: Place, adviser: SlowWeigher) -> None:
    await place.type("Anna", "analyse 1", "analyse cancel")
    assert await place.type("Anna", "analyse 1") == BEGUN
    adviser.let()
    await idle()
    assert BLUNDER in place.told["Anna"][-1]
    assert len(adviser.weighed) == 4


async def test_cancel_does_not_affect_other_waiting_players(
    place: Place, adviser: SlowWeigher
) -> None:
    await place.type("Anna", "analyse 1")
    await place.type("Bert", "analyse 1")
    told = await place.type("Anna", "analyse cancel")
    adviser.let()
    await idle()
    assert place.told["Anna"] == [told]
    assert BLUNDER in place.told["Bert"][-1]


async def test_departure_of_the_only_requester_stops_the_analysis(
    place: Place, adviser: SlowWeigher
) -> None:
    await place.enter("Carla")
    await place.type("Carla", "analyse 1")
    await place.leave("Carla")
    told = list(place.told["Carla"])
    adviser.let(1)
    await idle()
    assert place.told["Carla"] == told
    assert adviser.weighed == [0]
    assert await place.type("Anna", "analyse 1") == BEGUN


async def test_departure_of_one_of_two_requesters_does_not_stop_it(
    place: Place, adviser: SlowWeigher
) -> None:
    await place.enter("Carla")
    await place.type("Carla", "analyse 1")
    await place.type("Anna", "analyse 1")
    await place.leave("Carla")
    adviser.let()
    await idle()
    assert BLUNDER in place.told["Anna"][-1]
    assert len(adviser.weighed) == 4


async def test_abandoned_analysis_does_not_count_towards_limits(
    place: Place, adviser: SlowWeigher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysing, "MOST", 1)
    place.hall.set_limits(AnalysisLimits(1))
    await second_battle(place)
    await place.enter("Carla", "Dora", origin="10.0.0.1")
    await place.type("Carla", "analyse 1")
    await place.leave("Carla")
    assert await refused(place, "Dora", "analyse 2") is None
    adviser.let()
    await idle()
    assert place.told["Dora"][-1].startswith("Battle 2, ")


async def test_shortest_battle_is_analysed_first(place: Place, adviser: SlowWeigher) -> None:
    await second_battle(place)
    await place.enter("Carla", "Dora")
    await place.type("Carla", "analyse 1")
    await place.type("Dora", "analyse 2")
    adviser.let()
    await idle()
    lengths = [len(game.moves) for game in adviser.begun]
    assert lengths == [0, 0, 1, 2, 1, 2, 3]
    assert place.told["Carla"][-1].startswith("Battle 1, ")
    assert place.told["Dora"][-1].startswith("Battle 2, ")


async def test_concurrency_matches_the_adviser_capacity(place: Place, adviser: SlowWeigher) -> None:
    adviser.at_once = 2
    await second_battle(place)
    await place.type("Anna", "analyse 1")
    await place.type("Bert", "analyse 2")
    assert len(adviser.begun) == 2
    adviser.let()
    await idle()
    assert len(adviser.weighed) == 4 + 3


async def test_cancelled_analysis_yields_its_slot(place: Place, adviser: SlowWeigher) -> None:
    await second_battle(place)
    await place.type("Anna", "analyse 1")
    await place.type("Bert", "analyse 2")
    await place.type("Anna", "analyse cancel")
    adviser.let()
    await idle()
    assert place.told["Bert"][-1].startswith("Battle 2, ")
    assert adviser.weighed == [0, 1, 2]


async def test_returning_player_still_gets_the_analysis(place: Place, adviser: SlowWeigher) -> None:
    await place.enter("Carla")
    await place.type("Carla", "analyse 1")
    await place.leave("Carla")
    await place.enter("Carla")
    assert await refused(place, "Carla", "analyse 1") is AnalysisRefusal.ANALYSIS_PENDING
    adviser.let()
    await idle()
    assert BLUNDER in place.told["Carla"][-1]


@pytest.mark.parametrize("error", [None, RuntimeError("It is mad.")])
async def test_failed_analysis_is_reported_and_can_be_retried(
    place: Place, adviser: SlowWeigher, error: Exception | None
) -> None:
    adviser.knows, adviser.error = False, error
    await place.type("Anna", "analyse 1")
    adviser.let()
    await idle()
    assert place.told["Anna"][-1] == FAILED
    adviser.knows, adviser.error = True, None
    await place.type("Anna", "analyse 1")
    await idle()
    assert BLUNDER in place.told["Anna"][-1]


async def test_analysis_is_delivered_even_if_storing_fails(
    adviser: SlowWeigher, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forget(*_: object) -> None:
        raise NotWrittenError("The disk is full.")

    monkeypatch.setattr(analysing, "keep_analysis", forget)
    place = await place_with(adviser)
    await analyse_at_once(place, adviser)
    assert BLUNDER in place.told["Anna"][-1]
    await place.type("Anna", "analyse 1")
    await idle()
    assert len(adviser.weighed) == 8


async def test_player_in_a_rated_battle_does_not_get_the_result(
    place: Place, adviser: SlowWeigher
) -> None:
    await place.enter("Carla", "Dora", member=True)
    await place.type("Carla", "analyse 1", "join game as dwarf on elm board")
    await place.type("Dora", "join game as troll on elm board", "start")
    adviser.let()
    await idle()
    assert place.told["Carla"][-1].startswith("Your battle at the elm board is rated")
    await place.type("Carla", "resign", "yes")
    assert BLUNDER in await place.type("Carla", "analyse 1")


async def test_shutdown_does_not_wait_for_analyses(place: Place) -> None:
    await place.type("Anna", "analyse 1")
    await place.service.close()
    await idle()
    assert place.told["Anna"] == [BEGUN]


async def test_analyse_without_an_adviser_is_refused() -> None:
    place = await place_with(None)
    told = 'Battles can\'t be analysed here. "replay 1" shows it again.'
    assert await place.type("Anna", "analyse 1") == told
    assert await refused(place, "Anna", "analyse cancel") is AnalysisRefusal.NOTHING_ANALYSED
