"""Storage of the lessons and puzzles of members, including failures to write."""

from __future__ import annotations

import pytest

from tests.service.place import Place, Screen, finished
from tests.service.stores import SlowStore
from thudmud.features.exercises.model import (
    StudiesLookup,
    StudyRecord,
    exercise_of,
    lessons,
    puzzles,
)
from thudmud.features.playing.moves import Play
from thudmud.game.events import PuzzleTried
from thudmud.game.options import Style
from thudmud.game.projections import HALL
from thudmud.service.boards import open_board
from thudmud.store import NotWrittenError

SOLVED = str(Play(puzzles()[1].solution.attempt()))
KEY = puzzles()[1].key


async def known(place: Place, name: str = "Anna") -> StudyRecord:
    found: StudyRecord = await place.service.look_up(StudiesLookup(name))
    return found


@pytest.fixture
async def anna(place: Place, store: SlowStore) -> Place:
    store.gate.set()
    await place.enter("Anna", member=True)
    return place


async def test_final_answer_of_a_lesson_is_stored_with_it(anna: Place) -> None:
    await anna.type("Anna", "tutorial 7", *(step.answer for step in lessons()[7].steps))
    assert (await known(anna)).lessons == {7}
    assert anna.kept["Anna"].styles == {"tutorial": Style.FULL}


async def test_concurrent_tries_of_two_members_are_both_stored(anna: Place) -> None:
    await anna.enter("Bert", member=True)
    for name in ("Anna", "Bert"):
        await anna.type(name, "puzzle 1")
    await finished(*(anna.submit(name, SOLVED) for name in ("Anna", "Bert")))
    assert (await known(anna)).tried == (await known(anna, "Bert")).tried == {KEY: True}


async def test_try_after_another_hall_event_is_stored(anna: Place) -> None:
    await anna.type("Anna", "puzzle 1")
    await open_board(anna.service.store, "yew board", "classic", 1000.0)
    assert "It counts as solved" in await anna.type("Anna", SOLVED)
    assert (await known(anna)).tried == {KEY: True}


async def test_try_is_rolled_back_if_storing_fails(anna: Place, store: SlowStore) -> None:
    await anna.type("Anna", "puzzle 1")
    store.broken = True
    with pytest.raises(NotWrittenError):
        await anna.service.submit(anna.visits["Anna"], SOLVED)
    at = exercise_of(anna.hall.people["Anna"])
    assert at
    assert not at.is_over


async def test_stored_tries_per_member_are_bounded(anna: Place) -> None:
    for _ in range(2):
        for number, puzzle in puzzles().items():
            squares = f"{puzzle.solution.origin} {puzzle.solution.target}"
            await anna.type(
                "Anna", f"puzzle {number}", f"move {squares}", "hint", f"hurl {squares}"
            )
        for number, lesson in lessons().items():
            for step in lesson.steps:
                await anna.type("Anna", f"tutorial {number}", step.answer)
    events = await anna.service.store.read_stream(HALL)
    tried = [each for each in events if isinstance(each.event, PuzzleTried)]
    assert len(tried) == len(puzzles())


async def test_lesson_continues_on_another_connection(anna: Place) -> None:
    await anna.type("Anna", "tutorial 2")
    await anna.enter("Anna", screen=Screen(), member=True)
    assert "Move the dwarf on C5" in await anna.type("Anna", "look")


async def test_open_lesson_is_shown_again_to_a_player_who_takes_over(anna: Place) -> None:
    await anna.type("Anna", "tutorial 2", "move c5 c11", "next")
    await anna.enter("Anna", member=True)
    [text] = anna.told["Anna"][-1:]
    assert text.startswith("You carry on from here.")
    assert "Lesson 2 of 7" in text
    assert text.rstrip().endswith('Capture the troll on F6: type "hurl e5 f6".')
