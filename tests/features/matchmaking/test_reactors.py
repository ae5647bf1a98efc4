"""Seeks of busy players: accepting one asks its maker first, and their answer decides."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import pytest

from tests.alarms import Alarms
from tests.service.place import Place, begin, finished, refused, until
from tests.service.stores import SlowStore
from tests.service.test_nodes import World
from thudmud.game.events import Parting
from thudmud.game.people import BotLevel
from thudmud.game.refusals import Refusal
from thudmud.game.seeks import ANSWER_WITHIN

FIRST, SECOND, THIRD, FOURTH = "ash board", "birch board", "slate board", "flint board"
LEVEL = BotLevel(1, "Chalk", "Weak.")
ASKED = (
    "Bert wants to play you now: a casual match under discworld rules."
    ' Type "yes" or "no". You have 20 seconds.'
)
SOUGHT = "You're looking for a casual match under discworld rules."


@pytest.fixture
def alarms(store: SlowStore) -> Alarms:
    return Alarms(lambda: store.time)


@pytest.fixture
async def place(store: SlowStore, alarms: Alarms) -> Place:
    """Return a place where Anna plays Dora while she seeks another opponent."""
    place = Place(store, later=alarms)
    await place.open()
    await place.enter("Anna", "Bert", "Carla", "Dora", "Chalk")
    place.hall.bots = {"Chalk": LEVEL}
    await play_dora(place, place)
    hush(place)
    return place


async def play_dora(place: Place, hers: Place) -> None:
    """Have Anna play Dora, who is at the place ``hers``, and seek another opponent."""
    await place.type("Anna", "match dora")
    await until(lambda: bool(hers.hall.seeks))
    await hers.type("Dora", "accept")
    await until(lambda: FIRST in place.hall.tables and not place.hall.seeks)
    await place.type("Anna", "seek")


def hush(place: Place) -> None:
    for name in place.told:
        place.told[name] = []


async def pass_by(place: Place, store: SlowStore, alarms: Alarms, seconds: float) -> None:
    """Advance the clock and ring the alarms that are due."""
    store.time = place.now = place.now + seconds
    while alarm := alarms.take(store.time):
        alarm.call()
        await asyncio.sleep(0)


def rooms(place: Place) -> dict[str, str | None]:
    return {
        name: person.room
        for name, person in place.hall.people.items()
        if name not in {"Chalk", "Dora"}
    }


def players(place: Place, board: str) -> set[str]:
    return set(place.hall.tables[board].seats.values())


def seekers(place: Place) -> list[tuple[str, str]]:
    """Return each open seek as its player and the player it is addressed to, if any."""
    return [(seek.player, seek.to) for seek in place.hall.seeks.values()]


# Answers.


@pytest.mark.parametrize("line", ["play", "accept", "accept 1", "accept anna", "match anna"])
async def test_busy_seeker_is_asked_and_stays_until_they_answer(place: Place, line: str) -> None:
    await place.type("Bert", line)
    meanwhile = SECOND if line == "play" else None  # with a bot
    assert rooms(place) == {"Anna": FIRST, "Bert": meanwhile, "Carla": None}
    assert seekers(place) == [("Anna", ""), ("Bert", "Anna")]
    if line != "match anna":  # a challenge, independent of her seek
        assert place.told["Anna"] == [ASKED]
    walks = [f"{name} goes to the {SECOND}." for name in ("Bert", "Chalk")]
    assert place.told["Carla"] == (walks if meanwhile else [])


@pytest.mark.parametrize("line", ["yes", "yes bert", "yes 2", "accept", "accept 2"])
async def test_busy_seeker_answers_yes_and_the_match_starts(place: Place, line: str) -> None:
    await place.type("Bert", "play")
    told = await place.type("Anna", line)
    assert players(place, THIRD) == {"Anna", "Bert"}
    assert rooms(place) == {"Anna": THIRD, "Bert": THIRD, "Carla": None}
    assert seekers(place) == []
    for board in (FIRST, SECOND):  # the other battles wait
        assert place.hall.tables[board].is_running
    assert "You accept Bert's challenge. Your match begins!" in told
    assert "Anna accepts. Your match begins!" in place.told["Bert"]


@pytest.mark.parametrize("line", ["no", "no bert", "decline", "decline 2"])
async def test_busy_seeker_answers_no_and_both_play_bots(place: Place, line: str) -> None:
    await place.type("Bert", "play")
    hush(place)
    await place.type("Anna", line)
    assert rooms(place) == {"Anna": FIRST, "Bert": SECOND, "Carla": None}
    assert players(place, SECOND) == {"Bert", "Chalk"}
    assert seekers(place) == [("Bert", "")]  # Anna's has ended
    assert place.told["Anna"][:2] == [
        "You decline. Bert has been told.",
        "You are no longer looking for that match.",
    ]
    declined, sought, waits, *_ = place.told["Bert"]
    assert declined == "Anna declines."
    assert sought.startswith(SOUGHT)
    assert waits == f"Meanwhile, you can play on against the bot at the {SECOND}."


async def test_asker_plays_a_bot_until_a_busy_seeker_answers(place: Place) -> None:
    told = (await place.type("Bert", "play")).split("Meanwhile,")
    assert "has been asked whether to begin yours instead" in " ".join(told[0].split())
    assert told[1].lstrip().startswith("here's a bot to play.")
    assert players(place, SECOND) == {"Bert", "Chalk"}
    assert await refused(place, "Bert", "play") is Refusal.ASKS_ALREADY
    await place.type("Bert", "tutorial")
    await place.type("Anna", "yes")
    assert rooms(place)["Bert"] == THIRD
    await place.type("Bert", f"go to {SECOND}")
    assert players(place, SECOND) == {"Bert", "Chalk"}


async def test_asker_in_an_exercise_is_not_moved_when_declined(place: Place) -> None:
    place.hall.bots = {}
    await place.type("Bert", "play", "tutorial")
    await place.type("Anna", "no")
    assert seekers(place) == []
    assert rooms(place)["Bert"] is None


async def test_seek_accepted_by_number_and_declined_ends_for_both(place: Place) -> None:
    await place.type("Bert", "accept 1")
    await place.type("Anna", "no")
    assert rooms(place) == {"Anna": FIRST, "Bert": None, "Carla": None}
    assert seekers(place) == []


async def test_busy_seeker_times_out_and_both_play_bots(
    place: Place, store: SlowStore, alarms: Alarms
) -> None:
    await place.type("Bert", "play")
    hush(place)
    await pass_by(place, store, alarms, ANSWER_WITHIN - 1)
    assert seekers(place) == [("Anna", ""), ("Bert", "Anna")]
    await pass_by(place, store, alarms, 1)
    await until(lambda: seekers(place) == [("Bert", "")])
    assert players(place, SECOND) == {"Bert", "Chalk"}
    assert place.told["Anna"][:2] == [
        'You didn\'t answer Bert, so you play on. "play" looks for an opponent again.',
        "You are no longer looking for that match.",
    ]
    assert place.told["Bert"][0] == "Anna hasn't answered."
    assert await refused(place, "Anna", "yes") is Refusal.SEEK_FOR_ANYBODY


async def test_timeout_is_retried_after_a_store_failure(
    place: Place, store: SlowStore, alarms: Alarms
) -> None:
    await place.type("Bert", "play")
    store.broken = True
    await pass_by(place, store, alarms, ANSWER_WITHIN)
    assert seekers(place) == [("Anna", ""), ("Bert", "Anna")]
    store.broken = False
    await pass_by(place, store, alarms, ANSWER_WITHIN)
    await until(lambda: seekers(place) == [("Bert", "")])


async def test_move_leaves_the_question_open(place: Place) -> None:
    await place.type("Bert", "play")
    await place.type("Anna", "a6 b6", "yes")
    assert players(place, THIRD) == {"Anna", "Bert"}


# Events while the question is pending.


@pytest.mark.parametrize("parting", [Parting.LOST, Parting.QUIT])
async def test_seeker_asked_leaves_and_the_asker_plays_a_bot(
    place: Place, parting: Parting
) -> None:
    await place.type("Bert", "play")
    hush(place)
    await place.leave("Anna", parting)
    await until(lambda: seekers(place) == [("Bert", "")])
    assert players(place, SECOND) == {"Bert", "Chalk"}
    assert place.told["Bert"][0] == "Your challenge to Anna is withdrawn."


@pytest.mark.parametrize("parting", [Parting.LOST, Parting.QUIT])
async def test_asker_leaves_and_the_seek_stays(
    place: Place, alarms: Alarms, parting: Parting
) -> None:
    await place.type("Bert", "play")
    assert place.now + ANSWER_WITHIN in alarms.due
    hush(place)
    await place.leave("Bert", parting)
    await until(lambda: seekers(place) == [("Anna", "")])
    assert place.told["Anna"] == ["Bert's challenge is withdrawn."]
    assert place.now + ANSWER_WITHIN not in alarms.due
    await place.type("Carla", "play")
    assert seekers(place) == [("Anna", ""), ("Carla", "Anna")]


async def test_asker_withdraws_and_the_seek_stays(place: Place) -> None:
    await place.type("Bert", "play", "withdraw")
    assert seekers(place) == [("Anna", "")]
    assert rooms(place)["Bert"] == SECOND
    assert place.told["Anna"][-1] == "Bert's challenge is withdrawn."


async def test_seeker_asked_withdraws_and_the_asker_plays_a_bot(place: Place) -> None:
    await place.type("Bert", "play")
    hush(place)
    await place.type("Anna", "withdraw")
    assert seekers(place) == [("Bert", "")]
    assert players(place, SECOND) == {"Bert", "Chalk"}
    assert place.told["Bert"][0] == "Anna declines."
    assert "You decline. Bert has been told." in place.told["Anna"]


async def test_seeker_asked_starts_another_match_and_the_asker_plays_a_bot(place: Place) -> None:
    await place.type("Carla", "match anna")
    await place.type("Bert", "play")
    await place.type("Anna", "accept carla")
    assert players(place, THIRD) == {"Anna", "Carla"}
    assert players(place, SECOND) == {"Bert", "Chalk"}
    assert seekers(place) == [("Bert", "")]


async def test_asker_starts_another_match_and_the_seek_stays(place: Place) -> None:
    await place.type("Bert", "play")
    await place.type("Carla", "match bert")
    hush(place)
    await place.type("Bert", "accept carla")
    assert players(place, THIRD) == {"Bert", "Carla"}
    assert seekers(place) == [("Anna", "")]
    assert place.told["Anna"][0] == "Bert's challenge is withdrawn."
    assert await refused(place, "Anna", "yes") is Refusal.NOTHING_STANDS


async def test_pending_question_refuses_a_third_player_with_seconds_left(
    place: Place, store: SlowStore, alarms: Alarms
) -> None:
    await place.type("Bert", "play")
    for line in ("accept", "accept 1"):
        assert await refused(place, "Carla", line) is Refusal.ASKED_BY_OTHERS
    assert "Try again in 20 seconds." in await place.type("Carla", "accept 1")
    await pass_by(place, store, alarms, 5)
    for line in ("accept 1", "play"):
        assert await refused(place, "Bert", line) is Refusal.ASKS_ALREADY
        assert "They have another 15 seconds to answer." in await place.type("Bert", line)


async def test_third_player_waits_with_a_bot_and_is_met_next(place: Place) -> None:
    await place.type("Bert", "play")
    await place.type("Carla", "play")
    assert players(place, THIRD) == {"Carla", "Chalk"}
    assert seekers(place) == [("Anna", ""), ("Bert", "Anna"), ("Carla", "")]
    await place.type("Anna", "no")  # Bert keeps seeking, and Carla only plays a bot
    await until(lambda: FOURTH in place.hall.tables)
    assert players(place, FOURTH) == {"Bert", "Carla"}
    assert seekers(place) == []


async def test_simultaneous_accepts_ask_the_seeker_once(place: Place, store: SlowStore) -> None:
    store.hold()
    both = [place.submit(name, "accept 1") for name in ("Bert", "Carla")]
    await store.held_up()
    store.gate.set()
    first, second = await finished(*both)
    assert first.is_done
    assert second.refusal
    assert second.refusal.code is Refusal.ASKED_BY_OTHERS


async def test_answer_racing_the_timeout_starts_the_match(
    place: Place, store: SlowStore, alarms: Alarms
) -> None:
    await place.type("Bert", "play")
    store.hold()
    answer = place.submit("Anna", "yes")
    await store.held_up()
    store.time = place.now = place.now + ANSWER_WITHIN
    alarms.ring()
    store.gate.set()
    await finished(answer)
    await until(lambda: ("Bert", "Anna") not in seekers(place))
    assert players(place, THIRD) == {"Anna", "Bert"}
    assert seekers(place) == []


# Busy players.


@pytest.mark.parametrize(
    "lines",
    [
        ["tutorial"],
        ["practice on oak board", "a6 b6"],
        ["withdraw", "match chalk", "a6 b6", "seek"],
        ["withdraw", "match chalk", "resign", "yes", "seek"],
    ],
)
async def test_seeker_in_an_exercise_or_with_a_bot_plays_at_once(
    place: Place, lines: list[str]
) -> None:
    await place.type("Anna", "withdraw")
    await place.type("Carla", "seek", *lines)
    boards = set(place.hall.tables)
    await place.type("Bert", "accept 1")
    (board,) = set(place.hall.tables) - boards
    assert players(place, board) == {"Bert", "Carla"}
    assert rooms(place)["Carla"] == board
    assert seekers(place) == []


async def test_seeker_between_two_battles_plays_at_once(place: Place) -> None:
    await place.type("Anna", "withdraw", "resign", "yes", "seek")
    await place.type("Bert", "accept 1")
    assert players(place, SECOND) == {"Anna", "Bert"}
    assert place.hall.tables[FIRST].half_played


async def test_battle_with_a_bot_can_be_continued_after_a_match_with_a_person(place: Place) -> None:
    await place.type("Anna", "withdraw")
    await place.type("Carla", "play")
    await place.type("Bert", "accept 1")
    assert rooms(place)["Carla"] == THIRD
    assert "paused until you come back" in " ".join(" ".join(place.told["Carla"]).split())
    await place.type("Carla", f"go to {SECOND}")
    assert await refused(place, "Carla", "a6 b6") is None
    game = place.hall.tables[SECOND].game
    assert game
    assert game.moves


async def test_correspondence_match_leaves_the_seeker_in_the_room(place: Place) -> None:
    await place.type("Anna", "seek 3d")
    await place.type("Bert", "accept 2")
    assert players(place, SECOND) == {"Anna", "Bert"}
    assert rooms(place) == {"Anna": FIRST, "Bert": SECOND, "Carla": None}
    assert seekers(place) == [("Anna", "")]


# End of a seek.


async def test_seek_stays_during_a_game_with_a_bot(place: Place) -> None:
    await place.type("Anna", "withdraw")
    await place.type("Carla", "play")
    assert seekers(place) == [("Carla", "")]
    assert players(place, SECOND) == {"Carla", "Chalk"}


@pytest.mark.parametrize("line", ["match chalk", "play level chalk"])
async def test_seek_ends_on_a_challenge_to_a_bot(place: Place, line: str) -> None:
    place.hall.levels = [LEVEL]
    await place.type("Carla", "seek classic")
    told = await place.type("Carla", line)
    assert "You are no longer looking for another match." in told
    assert seekers(place) == [("Anna", "")]


async def test_seek_ends_on_an_accepted_challenge_except_correspondence(place: Place) -> None:
    await place.type("Carla", "seek", "seek 3d", "match bert")
    await place.type("Bert", "accept")
    assert "You are no longer looking for another match." in place.told["Carla"]
    assert sorted(seekers(place)) == [("Anna", ""), ("Carla", "")]
    assert [str(each.time) for each in place.hall.seeks.values()] == ["None", "3 days"]


async def test_seek_ends_on_a_match_start_at_a_board(place: Place) -> None:
    await place.type("Carla", "seek", "join game as dwarf on oak board")
    await place.type("Bert", "join game as troll on oak board")
    assert ("Carla", "") in seekers(place)
    await place.type("Bert", "start")
    assert seekers(place) == [("Anna", "")]


async def test_running_clock_refuses_seeks_except_correspondence(place: Place) -> None:
    await place.type("Carla", "seek", "match bert 5+0")
    await place.type("Bert", "accept")
    assert seekers(place) == [("Anna", "")]
    for line in ("seek", "play", "play 5+0"):
        assert await refused(place, "Carla", line) is Refusal.SEEK_IN_HASTE
    assert await refused(place, "Carla", "seek 3d") is None


async def test_game_with_a_bot_during_a_seek_has_no_clock(place: Place) -> None:
    await place.type("Carla", "play 5+3 classic")
    assert players(place, SECOND) == {"Carla", "Chalk"}
    assert place.hall.tables[SECOND].time is None
    assert [str(each.time) for each in place.hall.seeks.values()] == ["None", "5+3"]
    await place.type("Bert", "play 5+3 classic")
    assert str(place.hall.tables[THIRD].time) == "5+3"


async def test_lost_connection_ends_own_seek_but_not_challenges_received(
    place: Place, store: SlowStore, alarms: Alarms
) -> None:
    await place.type("Bert", "match anna")
    await place.leave("Anna")
    await until(lambda: seekers(place) == [("Bert", "Anna")])
    await pass_by(place, store, alarms, 59)
    assert seekers(place) == [("Bert", "Anna")]
    await place.enter("Anna")
    await place.type("Anna", "accept")
    assert players(place, SECOND) == {"Anna", "Bert"}


async def test_challenge_to_an_absent_player_ends_after_the_grace_period(
    place: Place, store: SlowStore, alarms: Alarms
) -> None:
    await place.type("Bert", "match anna")
    await place.leave("Anna")
    await until(lambda: seekers(place) == [("Bert", "Anna")])
    hush(place)
    await pass_by(place, store, alarms, 60)
    await until(lambda: not seekers(place))
    assert place.told["Bert"][0] == "Your challenge to Anna is withdrawn."


# Restarts and several nodes.


async def test_question_times_out_after_a_restart(place: Place, store: SlowStore) -> None:
    await place.type("Bert", "play")
    await place.service.close()
    alarms = Alarms(lambda: store.time)
    anew = Place(store, later=alarms)
    anew.now = store.time
    await anew.open()
    await anew.enter("Anna", "Bert", "Chalk")
    anew.hall.bots = {"Chalk": LEVEL}
    assert seekers(anew) == [("Anna", ""), ("Bert", "Anna")]
    await pass_by(anew, store, alarms, ANSWER_WITHIN)
    await until(lambda: seekers(anew) == [("Bert", "")])
    assert players(anew, SECOND) == {"Bert", "Chalk"}


async def test_question_is_answered_after_a_restart(place: Place, store: SlowStore) -> None:
    await place.type("Bert", "play")
    await place.service.close()
    anew = Place(store)
    anew.now = store.time
    await anew.open()
    await anew.enter("Anna", "Bert")
    await anew.type("Anna", "yes")
    assert players(anew, THIRD) == {"Anna", "Bert"}
    assert seekers(anew) == []


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    yield world
    for node in world.nodes.values():
        await node.close()


async def on_two_nodes(world: World, later: Alarms | None = None) -> tuple[Place, Place]:
    """Return two nodes: Anna plays Dora on the first, Bert has asked her from the second."""
    one, two = await world.begin("one", later=later), await world.begin("two", later=later)
    await one.enter("Anna", "Chalk", "Dora")
    await two.enter("Bert", "Dolomite")
    await until(lambda: "Dolomite" in one.hall.people and "Chalk" in two.hall.people)
    for place in (one, two):
        place.hall.bots = {"Chalk": LEVEL, "Dolomite": LEVEL}
    await play_dora(one, one)
    await until(lambda: FIRST in two.hall.tables and two.hall.people["Anna"].room == FIRST)
    await until(lambda: bool(two.hall.seeks))
    await two.type("Bert", "play")
    await until(lambda: len(one.hall.seeks) == 2)
    return one, two


async def test_remote_busy_seeker_answers_yes_and_the_match_starts(world: World) -> None:
    one, two = await on_two_nodes(world)
    assert one.told["Anna"][-1] == ASKED
    await one.type("Anna", "yes")
    for place in (one, two):
        await until(partial(lambda place: THIRD in place.hall.tables, place))
        await until(partial(lambda place: players(place, THIRD) == {"Anna", "Bert"}, place))
        assert [place.hall.people[name].room for name in ("Anna", "Bert")] == [THIRD, THIRD]
        assert seekers(place) == []


async def test_remote_busy_seeker_answers_no_and_both_play_bots(world: World) -> None:
    one, two = await on_two_nodes(world)
    await one.type("Anna", "no")
    for place in (one, two):
        await until(partial(lambda place: seekers(place) == [("Bert", "")], place))
        await until(partial(lambda place: "Bert" in players(place, SECOND), place))
    assert "Anna declines." in two.told["Bert"]


async def test_simultaneous_accepts_on_two_nodes_ask_the_seeker_once(world: World) -> None:
    one, two = await world.begin("one"), await world.begin("two")
    await one.enter("Anna", "Carla", "Dora")
    await two.enter("Bert")
    await play_dora(one, one)
    await until(lambda: bool(two.hall.seeks) and two.hall.people["Anna"].room == FIRST)
    results = await finished(
        begin(one.service.submit(one.visits["Carla"], "accept 1")),
        begin(two.service.submit(two.visits["Bert"], "accept 1")),
    )
    codes = [each.refusal.code if each.refusal else None for each in results]
    assert sorted(codes, key=str) == [None, Refusal.ASKED_BY_OTHERS]


async def test_timeout_on_two_nodes_ends_the_question_once(world: World) -> None:
    alarms = Alarms(lambda: world.store.time)
    one, two = await on_two_nodes(world, alarms)
    await world.pass_by(ANSWER_WITHIN, "one", "two")
    while alarm := alarms.take(world.store.time):  # one on each node
        alarm.call()
    for place in (one, two):
        await until(partial(lambda place: seekers(place) == [("Bert", "")], place))
    assert two.told["Bert"].count("Anna hasn't answered.") == 1
    await until(lambda: SECOND in one.hall.tables)
    assert list(one.hall.tables.made.values()) == [FIRST, SECOND]
