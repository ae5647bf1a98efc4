"""The tv switches when a battle ends, and when one begins while nothing is shown."""

from __future__ import annotations

from asyncio import TimerHandle, get_running_loop
from collections.abc import Callable

import pytest

from tests.service.place import BOARDS, Place
from tests.service.stores import SlowStore
from tests.service.test_nodes import World
from tests.service.test_observing import world
from thudmud.features.playing.moves import Resign
from thudmud.features.tv import reactors
from thudmud.features.tv.model import tv_board
from thudmud.game.people import Person
from thudmud.game.table import BoardSpec

__all__ = ["world"]


async def sit(place: Place, dwarf: str, troll: str, board: str) -> None:
    await place.enter(dwarf, troll)
    await place.type(dwarf, f"join game as dwarf on {board}")
    await place.type(troll, f"join game as troll on {board}", f"start game on {board}")


def tv(place: Place, name: str = "Emil") -> str | None:
    return tv_board(place.hall.people[name])


async def test_tv_switches_when_a_battle_ends(place: Place) -> None:
    await place.enter("Emil")
    await sit(place, "Anna", "Bert", "oak board")
    await sit(place, "Carla", "Dora", "elm board")
    assert "Your tv shows the oak board" in await place.type("Emil", "tv")
    place.told["Emil"].clear()
    await place.type("Bert", Resign("oak board"))
    assert tv(place) == "elm board"
    assert [text[:30] for text in place.told["Emil"]] == [
        "[oak board] Bert resigns. Anna",
        "Your tv shows the elm board (d",
    ]
    place.told["Emil"].clear()
    await place.type("Dora", Resign("elm board"))
    assert tv(place) == "elm board", "the end stays on screen"
    assert [text[:21] for text in place.told["Emil"]] == ["[elm board] Dora resi"]
    await place.type("Anna", "start game on oak board")
    await place.type("Bert", "start game on oak board")
    assert tv(place) == "oak board"


async def test_tv_switches_when_both_players_have_left(place: Place) -> None:
    await place.enter("Emil")
    await sit(place, "Anna", "Bert", "oak board")
    await place.type("Emil", "tv")
    await place.type("Anna", "go to hall")
    await place.type("Bert", "go to hall")
    assert tv(place) == "oak board", "there is no other battle"
    await sit(place, "Carla", "Dora", "elm board")
    assert tv(place) == "elm board"
    await place.type("Anna", "go to oak board")
    assert tv(place) == "elm board"
    await place.type("Carla", "go to hall")
    assert tv(place) == "elm board", "one is still there"
    await place.type("Dora", "go to hall")
    assert tv(place) == "oak board"


async def test_tv_never_shows_own_battles(place: Place) -> None:
    await place.enter("Anna", "Bert")
    await place.type("Anna", "tv")
    await sit(place, "Carla", "Dora", "elm board")
    assert tv(place, "Anna") == "elm board"
    await place.type("Anna", "join game as dwarf on oak board")
    await place.type("Bert", "tv", "join game as troll on oak board", "start game on oak board")
    await place.type("Dora", Resign("elm board"))
    assert (tv(place, "Anna"), tv(place, "Bert")) == ("elm board", "elm board")


async def test_tv_stays_off_after_leaving_or_turning_off(place: Place) -> None:
    await place.enter("Emil", "Fay")
    await place.type("Emil", "tv")
    await place.type("Fay", "tv", "tv off")
    await place.leave("Emil")
    await place.enter("Emil")
    await sit(place, "Anna", "Bert", "oak board")
    assert (tv(place), tv(place, "Fay")) == (None, None)


@pytest.mark.parametrize("line", ["adjourn on oak board", "leave game"])
async def test_adjourned_or_abandoned_battle_leaves_the_tv(place: Place, line: str) -> None:
    await place.enter("Emil")
    await sit(place, "Anna", "Bert", "oak board")
    await place.type("Emil", "tv")
    await place.type("Anna", line)
    await place.type("Bert", line)
    assert tv(place) == ""


async def test_tv_switches_when_an_empty_seat_is_taken(place: Place) -> None:
    await place.enter("Emil")
    await sit(place, "Anna", "Bert", "oak board")
    await place.type("Anna", "leave game")
    await place.type("Emil", "tv")
    assert tv(place) == ""
    await place.type("Anna", "join game as dwarf on oak board")
    assert tv(place) == "oak board"


async def test_tv_retries_if_ratings_cannot_be_read(
    store: SlowStore,
) -> None:
    waiting: list[Callable[[], object]] = []

    def later(delay: float, call: Callable[[], object]) -> TimerHandle:
        if delay == reactors.RETRY:
            waiting.append(call)
        return get_running_loop().call_later(60, lambda: None)

    place = Place(store, boards=[*BOARDS, BoardSpec("ash board")], later=later)
    await place.open()
    await place.enter("Emil")
    await sit(place, "Anna", "Bert", "oak board")
    await place.type("Emil", "tv")
    await sit(place, "Carla", "Dora", "elm board")
    await sit(place, "Fay", "Gus", "ash board")
    store.unreadable = True
    await place.type("Bert", Resign("oak board"))
    assert tv(place) == "oak board"
    store.unreadable = False
    [again] = waiting
    again()
    assert tv(place) in ("elm board", "ash board")
    place.service.stop()


async def test_tv_switches_for_a_viewer_on_another_node(world: World) -> None:
    one, two = await world.begin("one"), await world.begin("two")
    await sit(one, "Anna", "Bert", "oak board")
    await two.enter("Emil")
    assert "oak board" in await two.type("Emil", "tv")
    await one.type("Bert", Resign("oak board"))
    assert tv(two) == "oak board", "the end stays on screen"
    await one.type("Anna", "start game on oak board")
    await one.type("Bert", "start game on oak board")
    assert tv(two) == "oak board"
    assert one.hall.people["Emil"].observed == ("oak board",)


async def test_empty_tv_is_announced_at_most_once(place: Place) -> None:
    await place.enter("Emil", "Anna")
    await place.type("Anna", "practice on oak board")
    await place.type("Emil", "tv")
    place.told["Emil"].clear()
    await place.type("Anna", "leave game on oak board")
    assert sum("tv" in text for text in place.told["Emil"]) <= 1


async def test_players_without_a_tv_are_not_looked_at(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: set[str] = set()

    def look(person: Person) -> str | None:
        looked.add(person.name)
        return tv_board(person)

    monkeypatch.setattr(reactors, "tv_board", look)
    await place.enter("Emil", "Fritz")
    await sit(place, "Anna", "Bert", "oak board")
    assert looked == set()
    await place.type("Emil", "tv")
    await place.type("Fritz", "tv", "tv off")
    await sit(place, "Carla", "Dora", "elm board")
    assert looked == {"Emil"}
    await place.leave("Emil")
    looked.clear()
    await place.type("Dora", Resign("elm board"))
    assert looked == set()
