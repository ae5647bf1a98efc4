"""Watchers: programs that get `Delivery` values instead of text."""

from __future__ import annotations

import pytest

from tests.service.place import Place, Screen
from thudmud.features.playing.moves import Undo
from thudmud.features.playing.seats import Join
from thudmud.game.asides import Told
from thudmud.game.delivery import Delivery
from thudmud.game.events import Joined, Parting
from thudmud.game.refusals import Refusal
from thudmud.rules import Side
from thudmud.service import JoinRequest
from thudmud.store import Store


class Program(Screen):
    """A player's program with a watcher instead of a screen."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Delivery] = []

    async def enter(self, place: Place) -> None:
        visit = await place.service.join(JoinRequest("Grog", None, self, watcher=self.seen.append))
        assert visit
        place.visits["Grog"] = visit


@pytest.fixture
async def place() -> Place:
    place = Place(Store.in_memory())
    await place.open()
    await place.enter("Anna")
    return place


async def test_watcher_gets_the_events_its_player_would_be_told(place: Place) -> None:
    grog = Program()
    await grog.enter(place)
    await place.type("Anna", "tell grog come and play", "join game as dwarf on oak board")
    assert Told("Anna", "Grog", "come and play") in [each.event for each in grog.seen]
    assert isinstance(grog.seen[-1].event, Joined)  # a free seat is announced in the hall
    await place.type("Anna", "say hello")
    assert isinstance(grog.seen[-1].event, Joined)  # talk at the board is not
    await place.service.submit(place.visits["Grog"], Join(Side.TROLL, "oak board"))
    joined = grog.seen[-1]
    assert isinstance(joined.event, Joined)
    assert joined.table == place.hall.tables["oak board"]
    assert grog.told == []


async def test_watcher_gets_refusals_as_text(place: Place) -> None:
    grog = Program()
    await grog.enter(place)
    result = await place.service.submit(place.visits["Grog"], Undo("oak board"))
    assert result.refusal
    assert result.refusal.code in Refusal
    assert len(grog.told) == 1


async def test_returning_watcher_gets_the_tables_of_its_seats(place: Place) -> None:
    grog = Program()
    await grog.enter(place)
    await place.type("Grog", "join game as dwarf on oak board", "join game as troll on elm board")
    await place.leave("Grog")
    for _ in range(2):  # the second time as a takeover
        grog = Program()
        await grog.enter(place)
        seen = {each.table.name: each.table for each in grog.seen if each.table}
        assert seen == dict(place.hall.tables)


@pytest.mark.parametrize("parting", [Parting.LOST, Parting.QUIT])
async def test_departed_watcher_gets_nothing(place: Place, parting: Parting) -> None:
    grog = Program()
    await grog.enter(place)
    await place.leave("Grog", parting)
    seen = len(grog.seen)
    await place.type("Anna", "say hello", "join game as dwarf on oak board")
    assert len(grog.seen) == seen
