"""Lost connections that come back at once, as after a reload of the page."""

from __future__ import annotations

import pytest

from tests.service.place import Screen, begin, finished, refused
from tests.service.stores import SlowStore
from tests.service.test_clock_timers import TimedPlace
from thudmud.features.options.commands import SetWidth
from thudmud.game.clocks import TimeControl
from thudmud.game.events import Absent, Parting, Returned
from thudmud.game.refusals import Refusal
from thudmud.rules import Side
from thudmud.service import JoinRequest
from thudmud.views import Terminal

WITHIN = 5.0


@pytest.fixture
async def place(store: SlowStore) -> TimedPlace:
    place = TimedPlace(store, return_within=WITHIN)
    await place.open()
    await place.enter("Carla")
    return place


async def lose(place: TimedPlace, name: str) -> list[str]:
    """Cut a player's connection; return what Carla has been told since, which changes."""
    told: list[str] = []
    place.told["Carla"] = told
    await place.leave(name)
    return told


@pytest.fixture
async def playing(place: TimedPlace) -> TimedPlace:
    """Return the place with a battle that Carla watches."""
    await place.sit()
    await place.type("Carla", "go to oak board")
    return place


async def test_connection_that_comes_back_in_time_is_not_told(playing: TimedPlace) -> None:
    told = await lose(playing, "Anna")
    told_bert = playing.told["Bert"] = []
    playing.wait(WITHIN - 0.1)
    await playing.enter("Anna")
    playing.wait(10 * WITHIN)
    assert (told, told_bert, playing.away()) == ([], [], set())
    assert await playing.stored(Absent) == await playing.stored(Returned) == []
    assert "You carry on from here." in playing.told["Anna"][-1]


async def test_connection_that_does_not_come_back_is_told_once(playing: TimedPlace) -> None:
    told = await lose(playing, "Anna")
    playing.wait(WITHIN - 0.1)
    assert (told, playing.away()) == ([], set())
    playing.wait(0.1)
    [sentence] = told
    assert "Anna has lost the connection." in sentence
    at = playing.now
    absent = Absent(at, "Anna", Side.DWARF, Parting.LOST, WITHIN)
    assert await playing.stored(Absent) == [absent]
    assert playing.hall.tables["oak board"].away == {Side.DWARF: at - WITHIN}
    playing.wait(10 * WITHIN)
    assert len(told) == 1
    await playing.enter("Anna")
    assert "Anna is back" in told[-1]


async def test_second_loss_is_waited_for_anew(playing: TimedPlace) -> None:
    told = await lose(playing, "Anna")
    playing.wait(WITHIN - 1)
    await playing.enter("Anna")
    await playing.leave("Anna")
    playing.wait(WITHIN - 1)
    assert told == []
    playing.wait(1)
    assert "Anna has lost the connection." in told[0]


async def test_quit_is_told_at_once(playing: TimedPlace) -> None:
    told = playing.told["Carla"] = []
    await playing.type("Anna", "quit")
    assert "Anna quits" in told[0]
    playing.wait(WITHIN)
    assert len(told) == 1


async def test_kick_is_told_at_once(playing: TimedPlace) -> None:
    screen = Screen()
    await playing.enter("Anna", screen=screen)
    told = playing.told["Carla"] = []
    playing.service.disconnect("Anna")
    assert "Anna has lost the connection." in told[0]


async def test_kick_of_a_lost_player_is_told_at_once(playing: TimedPlace) -> None:
    told = await lose(playing, "Anna")
    playing.service.disconnect("Anna")
    assert "Anna has lost the connection." in told[0]
    playing.wait(WITHIN)
    assert len(told) == 1


async def test_loss_in_the_hall_is_told_later(place: TimedPlace) -> None:
    await place.enter("Anna")
    told = await lose(place, "Anna")
    place.wait(WITHIN - 0.1)
    assert told == []
    assert "Anna" in place.hall.people
    place.wait(0.1)
    assert told == ["Anna has lost the connection."]
    assert "Anna" not in place.hall.people


async def test_player_returns_to_the_room_where_they_were(playing: TimedPlace) -> None:
    await playing.type("Anna", "go to hall")
    await playing.leave("Anna")
    await playing.enter("Anna")
    assert playing.hall.people["Anna"].room is None


async def test_lost_player_is_rendered_nothing(playing: TimedPlace) -> None:
    await playing.leave("Anna")
    playing.told["Anna"] = []
    await playing.type("Bert", "say Are you there?")
    assert playing.told["Anna"] == []


async def test_clock_stands_still_from_the_loss_on(place: TimedPlace) -> None:
    await place.enter("Anna", "Bert")
    await place.type("Anna", "join game as dwarf on oak board", "set clock 1+0 on it")
    await place.type("Bert", "join game as troll on oak board", "start on it")
    await place.type("Anna", "a6 b6 on oak board")
    place.wait(20)
    await place.leave("Bert")
    place.wait(WITHIN)
    assert place.away() == {"Bert"}
    assert place.clock.advanced_to(place.now).seconds_left(Side.TROLL) == 40


async def test_flag_does_not_fall_while_a_loss_is_untold(place: TimedPlace) -> None:
    await place.enter("Anna", "Bert")
    await place.type("Anna", "join game as dwarf on oak board", "set clock 1+0 on it")
    await place.type("Bert", "join game as troll on oak board", "start on it")
    await place.type("Anna", "a6 b6 on oak board")
    place.wait(60 - WITHIN)
    await place.leave("Bert")
    assert place.away() == {"Bert"}  # at once, as it stops the clock
    place.wait(TimeControl(1).grace)
    assert place.outcome is None


async def test_seek_of_a_lost_player_is_not_accepted(place: TimedPlace) -> None:
    await place.enter("Anna", "Bert")
    await place.type("Anna", "play")
    await place.leave("Anna")
    assert await refused(place, "Bert", "accept 1") is Refusal.SEEKER_AWAY
    await place.type("Bert", "play")
    assert [seek.player for seek in place.hall.seeks.values()] == ["Anna", "Bert"]
    assert not place.hall.tables.seats_of("Bert")
    await place.enter("Anna")
    await place.type("Carla", "accept 1")
    assert set(place.hall.tables["ash board"].seats.values()) == {"Anna", "Carla"}


async def test_seek_of_a_player_lost_during_the_answer_is_not_accepted(
    place: TimedPlace, store: SlowStore
) -> None:
    await place.enter("Anna", "Bert")
    await place.type("Anna", "seek")
    store.hold()
    other = place.submit("Carla", "seek classic")  # holds the hall's stream
    await store.held_up()
    play = place.submit("Bert", "play")
    await place.leave("Anna")
    store.gate.set()
    await finished(other, play)
    assert set(place.hall.tables["ash board"].seats.values()) == {"Bert", "Carla"}


async def test_options_chosen_at_the_return_are_applied(playing: TimedPlace) -> None:
    await playing.leave("Anna")
    await playing.service.join(JoinRequest("Anna", Terminal(80), choices=[SetWidth(60)]))
    assert playing.hall.people["Anna"].options.width == 60


async def test_loss_during_a_line_is_waited_for(playing: TimedPlace, store: SlowStore) -> None:
    told = playing.told["Carla"] = []
    store.hold()
    line = playing.submit("Anna", "a6 b6")
    await store.held_up()
    leaving = begin(playing.service.leave(playing.visits["Anna"]))
    store.gate.set()
    await finished(line, leaving)
    playing.wait(WITHIN - 0.1)
    assert not any("lost" in each for each in told)
    playing.wait(0.1)
    assert "Anna has lost the connection." in told[-1]


async def test_close_forgets_lost_players(playing: TimedPlace) -> None:
    told = await lose(playing, "Anna")
    await playing.service.close()
    playing.wait(WITHIN)
    assert told == []
