"""A crowded hall: arrivals and departures are told to friends and neighbours at a board."""

from __future__ import annotations

from string import ascii_lowercase

import pytest

from tests.service.place import Place, Screen
from tests.service.test_results import finish
from thudmud.game.events import Parting
from thudmud.game.hall import CROWD
from thudmud.service import JoinRequest
from thudmud.views import Terminal

CROWDED = [f"Guest{one}{two}" for one in "ab" for two in ascii_lowercase][: CROWD + 1]


@pytest.fixture
async def crowd(place: Place) -> Place:
    """Return a service with a crowded hall, whose first guest has a seat at the oak board."""
    await place.enter(*CROWDED)
    await place.type(CROWDED[0], "join game as dwarf on oak board", "go hall")
    await place.type(CROWDED[1], "follow anna")
    place.told.clear()
    return place


def texts_about(place: Place, *words: str) -> dict[str, int]:
    """Return how many messages with one of the words each player has got."""
    found = {
        name: sum(any(word in text for word in words) for text in texts)
        for name, texts in place.told.items()
    }
    return {name: count for name, count in found.items() if count}


async def test_crowd_is_not_told_who_comes_and_goes(crowd: Place) -> None:
    await crowd.enter("Anna")
    assert texts_about(crowd, "come into the hall", "comes into the hall") == {
        "Anna": 1,
        CROWDED[1]: 1,
    }
    crowd.told.clear()
    await crowd.type("Anna", "join game as troll on oak board")
    assert texts_about(crowd, "Anna goes to the oak board") == {CROWDED[1]: 1}
    assert texts_about(crowd, "Anna sits down") == {CROWDED[0]: 1}
    crowd.told.clear()
    await crowd.type("Anna", "go hall")
    told = texts_about(crowd, "walk to the hall", "walks to the hall")
    assert told == {"Anna": 1, CROWDED[0]: 1, CROWDED[1]: 1}
    crowd.told.clear()
    await crowd.leave("Anna", Parting.QUIT)
    assert set(texts_about(crowd, "Anna", "Goodbye!")) == {"Anna", CROWDED[0], CROWDED[1]}


async def test_messages_for_many_arrivals_grow_with_their_number(place: Place) -> None:
    first, then = list[int](), list[int]()
    for batch, counts in ((CROWDED, first), ([f"Late{each}" for each in ascii_lowercase], then)):
        for name in batch:
            place.told.clear()
            await place.enter(name)
            counts.append(sum(map(len, place.told.values())))
    assert first[:CROWD] == list(range(first[0], first[0] + CROWD))
    assert then == [first[0]] * len(then)


async def test_small_hall_is_told_who_comes(place: Place) -> None:
    await place.enter(*CROWDED[: CROWD - 1])
    place.told.clear()
    await place.enter("Anna")
    assert len(texts_about(place, "comes into the hall")) == CROWD - 1


async def test_programs_in_a_crowd_learn_who_is_there(crowd: Place) -> None:
    screen = Screen()
    terminal = Terminal(200, packages=frozenset({"thud"}))
    visit = await crowd.service.join(JoinRequest("Zoe", terminal, screen))
    assert visit
    screen.messages.clear()
    await crowd.enter("Anna")
    await crowd.leave("Anna", Parting.QUIT)
    assert [each.package for each in screen.messages] == ["Thud.Came", "Thud.Went"]


async def test_machine_lines_in_a_crowd_tell_who_is_there(crowd: Place) -> None:
    await crowd.type(CROWDED[5], "set machine on")
    crowd.told.clear()
    await crowd.enter("Anna")
    assert "came" in crowd.told[CROWDED[5]][0]


async def test_board_in_a_crowded_place_is_told_who_comes(crowd: Place) -> None:
    await crowd.type(CROWDED[4], "go oak board")
    await crowd.type(CROWDED[3], "go oak board")
    assert texts_about(crowd, f"{CROWDED[3]} walks to the oak board") == {CROWDED[4]: 1}


async def test_crowd_hears_results_of_rated_matches_only(place: Place) -> None:
    await place.enter("Anna", "Bert", member=True)
    await place.enter(*CROWDED, "Zoe")
    for line, count in (("match bert casual", 0), ("match bert", len(CROWDED) + 1)):
        await place.type("Anna", line)
        await place.type("Bert", "yes")
        place.told.clear()
        await finish(place)
        await place.type("Anna", "go hall")
        await place.type("Bert", "go hall")
        told = texts_about(place, "Bert beats Anna 64 to 0")
        assert len({*told} - {"Anna", "Bert"}) == count
