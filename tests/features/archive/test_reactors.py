"""Automatic replays."""

from __future__ import annotations

from tests.service.stores import SlowStore
from tests.service.test_clock_timers import TimedPlace

PLIES = ("move a6 b6", "move g7 f7", "move b6 a6", "move f7 g7")


async def test_automatic_replay_stops_on_reconnection(store: SlowStore) -> None:
    place = TimedPlace(store)
    place.service.replay_pause = 3.0
    await place.open()
    await place.enter("Carla")
    await place.type("Carla", "practice on oak board", *PLIES, "end game")
    await place.type("Carla", "replay 1", "play")
    assert ("replay", "Carla") in place.service.scheduler
    await place.enter("Carla")
    place.told["Carla"].clear()
    place.wait(30.0)
    assert place.told["Carla"] == []
