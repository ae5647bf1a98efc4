"""Applying stored events, and the failures that prevent it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from tests.service.place import PATIENCE, Place, finished
from tests.service.stores import SlowStore
from tests.store.deeds import moved
from thudmud.rules import Side
from thudmud.service import OutcomeUnknownError
from thudmud.store import ConflictError, Entry, HistoryLostError, StoreError, accounts, hall


@pytest.fixture
async def place(store: SlowStore) -> Place:
    place = Place(store)
    await place.open()
    await place.enter("Anna")
    return place


async def obeyed(place: Place, line: str) -> str:
    async with asyncio.timeout(PATIENCE):
        return await place.type("Anna", line)


async def test_waiting_line_fails_when_new_entries_cannot_be_read(
    place: Place, store: SlowStore
) -> None:
    store.conflict = True
    joining = place.submit("Anna", "join game as dwarf on oak board")
    await asyncio.sleep(0)
    store.fail_to_follow()
    with pytest.raises(StoreError, match="does not work"):
        await finished(joining)
    store.conflict = False
    assert "You sit down" in await obeyed(place, "join game as dwarf on oak board")


async def test_inconsistent_board_stops_the_service(place: Place, store: SlowStore) -> None:
    # The service never decides this event, but another writer may have stored it.
    await store.append({"oak board": (0, [moved(1)])})
    with pytest.raises(ValueError, match="inconsistent events"):
        await place.service.wait_ended()
    with pytest.raises(OutcomeUnknownError):
        await obeyed(place, "join game as dwarf on elm board")
    async with asyncio.timeout(PATIENCE):
        await place.service.close()


async def test_store_that_lost_history_stops_the_service(
    place: Place, store: SlowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await place.sit()

    async def behind(*_: object, **__: object) -> None:
        await asyncio.sleep(0)  # yields, so that an endless retry could still time out
        raise ConflictError("oak board", 2, 1)

    monkeypatch.setattr(store, "append_to_board", behind)
    with pytest.raises(OutcomeUnknownError):
        await obeyed(place, "leave game on oak board")
    with pytest.raises(HistoryLostError):
        await place.service.wait_ended()


async def test_event_is_applied_although_its_delivery_fails(
    place: Place, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(message: object, cause: object) -> None:
        raise RuntimeError("boom")

    with monkeypatch.context() as patch:
        patch.setattr(place, "take", fail)
        await obeyed(place, "join game as dwarf on oak board")
    assert "could not deliver an event" in caplog.text
    assert "You leave the dwarf seat" in await obeyed(place, "leave game on oak board")


@pytest.mark.parametrize("line", ["record 1", "history", "games", "standings", "score"])
async def test_failed_lookup_is_reported_and_can_be_retried(
    place: Place, store: SlowStore, line: str
) -> None:
    await place.sit()
    await place.type("Anna", "move from f15 to f8", "resign", "yes", "start")
    store.unreadable = True
    with pytest.raises(StoreError, match="does not work"):
        await obeyed(place, line)
    store.unreadable = False
    assert await obeyed(place, line)


async def test_opening_an_unreadable_store_raises_store_error(store: SlowStore) -> None:
    store.unreadable = True
    with pytest.raises(StoreError, match="does not work"):
        await Place(store).service.open()


async def test_events_stored_during_a_start_are_applied_once(
    store: SlowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(store)
    await place.open()
    await place.sit()
    read, looks = store.read_stream, 0

    async def meanwhile(stream: str, first: int = 1, most: int | None = None) -> Sequence[Entry]:
        nonlocal looks
        looks += 1
        if looks == 1:
            await place.type("Anna", "move from f15 to f8", "resign", "yes")
            await place.type("Bert", "start")
        return await read(stream, first, most)

    monkeypatch.setattr(store, "read_stream", meanwhile)
    anew = Place(store)
    await anew.open()
    assert looks == 2
    assert anew.hall.tables["oak board"].match == place.hall.tables["oak board"].match


async def test_boards_are_recorded_as_open_once(place: Place, store: SlowStore) -> None:
    position = await store.position()
    assert [board.name for board in await store.read(hall.open_boards)] == [
        "oak board",
        "elm board",
    ]
    anew = Place(store)
    await anew.open()
    assert await store.position() == position


async def test_board_of_an_erased_player_can_still_be_opened(
    place: Place, store: SlowStore
) -> None:
    await store.write(accounts.enrol, "Anna", "hash")
    await place.sit()
    await store.write(accounts.erase, "Anna")
    assert "You offer" in await obeyed(place, "adjourn game")
    assert "You move" in await obeyed(place, "move from f15 to f8")
    anew = Place(store)
    await anew.open()
    table = anew.hall.tables["oak board"]
    assert table.seats[Side.TROLL] == "Bert"
    assert "Anna" not in table.seats.values()
    assert anew.plies() == 1
