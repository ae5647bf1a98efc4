"""Lessons and puzzles in the store: each counts once and can be read back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.deeds import NOON, Clock
from thudmud.features.exercises.model import StudiesLookup, StudyRecord
from thudmud.game.events import HallEvent, LessonDone, PuzzleTried
from thudmud.game.projections import HALL
from thudmud.store import Store, scores
from thudmud.store.checking import check_file

TRIES: list[HallEvent] = [
    PuzzleTried(NOON, "Anna", 1, solved=True),
    PuzzleTried(NOON, "Bert", 1, solved=False),
    LessonDone(NOON, "Anna", 2),
    PuzzleTried(NOON, "Anna", 7, solved=False),
]


async def known(store: Store, player: str) -> StudyRecord:
    found: StudyRecord = await store.look_up(StudiesLookup(player))
    return found


async def keep(store: Store, *events: HallEvent) -> None:
    version = await store.version(HALL)
    await store.append({HALL: (version, events)})


async def test_study_results_are_read_by_player(store: Store) -> None:
    for event in TRIES:
        await keep(store, event)
    anna, bert = await known(store, "anna"), await known(store, "Bert")
    assert (anna.lessons, dict(anna.tried)) == (frozenset({2}), {1: True, 7: False})
    assert (bert.lessons, dict(bert.tried)) == (frozenset(), {1: False})
    assert set(anna.difficulties) == {1, 7}
    assert anna.rating
    assert bert.rating
    assert anna.rating.results == 2
    assert bert.rating.points < 1500 < anna.difficulties[7].points


async def test_unknown_player_has_no_study_results(store: Store) -> None:
    await keep(store, *TRIES[1:2])
    nobody = await known(store, "Zoe")
    assert (nobody.lessons, nobody.tried, nobody.rating) == (frozenset(), {}, None)


async def test_second_puzzle_try_does_not_count(store: Store) -> None:
    await keep(store, TRIES[0])
    before = await known(store, "Anna")
    await keep(store, PuzzleTried(NOON, "Anna", 1, solved=False), *TRIES[2:3])
    after = await known(store, "Anna")
    assert after == before._replace(lessons=frozenset({2}))


async def test_study_results_survive_a_restart(path: Path, clock: Clock) -> None:
    first = await Store.open(path, clock=clock, serving=True)
    for event in TRIES:
        await keep(first, event)
    before = await known(first, "Anna")
    await first.close()
    assert check_file(path).events == len(TRIES)  # and the rows equal a fold of the events
    again = await Store.open(path, clock=clock, serving=True)
    assert await known(again, "Anna") == before
    assert (await again.read(scores.score, "Anna")) is not None
    await again.close()


@pytest.mark.parametrize("event", [LessonDone, PuzzleTried])
def test_study_event_with_number_zero_is_refused(event: type[LessonDone | PuzzleTried]) -> None:
    with pytest.raises(ValueError, match="invalid lesson or puzzle number: 0"):
        event(NOON, "Anna", 0, *((True,) if event is PuzzleTried else ()))
