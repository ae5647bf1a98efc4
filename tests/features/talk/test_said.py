"""What a player has heard is told again to the next connection of the same visit."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.service.place import Place, Screen
from tests.service.stores import SlowStore
from thudmud.game.asides import Entered, Spoke
from thudmud.game.hall import TALK_KEPT, TALK_SHOWN
from thudmud.service import JoinRequest
from thudmud.values import replace
from thudmud.views import Terminal


@pytest.fixture
async def place(store: SlowStore) -> Place:
    place = Place(store, return_within=5)
    await place.open()
    await place.enter("Anna", "Bert")
    return place


async def come(place: Place, name: str) -> list[Any]:
    """Let a player come from another connection; return the lines that they are told again."""
    screen = Screen()
    terminal = Terminal(200, packages=frozenset({"thud"}))
    visit = await place.service.join(JoinRequest(name, terminal, screen))
    assert visit
    place.visits[name] = visit
    said = [json.loads(each.text) for each in screen.messages if each.package == "Thud.Said"]
    return [(each["player"], each["kind"], each["text"]) for fact in said for each in fact["lines"]]


async def test_talk_is_told_again_after_a_reload(place: Place) -> None:
    await place.type("Anna", "say Hello!")
    await place.leave("Anna")
    await place.type("Bert", "emote waves.", "tell anna Are you there?")
    assert await come(place, "Anna") == [
        ("Anna", "say", "Hello!"),
        ("Bert", "emote", "waves."),
        ("Bert", "tell", "Are you there?"),
    ]


async def test_talk_of_others_is_not_told(place: Place) -> None:
    await place.enter("Carla")
    await place.type("Bert", "tell carla Psst!")
    assert await come(place, "Anna") == []


async def test_talk_before_the_visit_is_not_told(place: Place) -> None:
    await place.type("Bert", "say Hello!")
    await place.type("Anna", "quit")
    await place.enter("Anna")
    assert await come(place, "Anna") == []


async def test_last_lines_are_told(place: Place) -> None:
    lines = [f"say {number}" for number in range(TALK_KEPT + 10)]
    await place.type("Bert", *lines)
    told = await come(place, "Anna")
    assert [text for *_, text in told] == [each[4:] for each in lines[-TALK_SHOWN:]]


async def test_talk_before_a_lost_link_is_told_while_the_seat_is_kept(place: Place) -> None:
    await place.type("Anna", "join game as dwarf on oak board", "say Hello!")
    place.service.hall.remove_player("Anna")  # as after a lost link
    place.service.hall.add_player(Entered("Anna"))
    heard = place.service.hall.talk_heard("Anna")
    assert [each.text for each in heard if isinstance(each, Spoke)] == ["Hello!"]
    place.service.hall.remove_player("Anna")
    table = place.service.hall.tables["oak board"]
    place.service.hall.put("oak board", replace(table, seats={}))
    place.service.hall.add_player(Entered("Anna"))
    assert place.service.hall.talk_heard("Anna") == []
