"""The invariants in the docstring of `thudmud.service.service`, by their numbers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.service.place import BOARDS, PATIENCE, Place, Screen, begin, finished, until
from tests.service.stores import SlowStore
from thudmud.features.playing.moves import Resign
from thudmud.game.command import Command
from thudmud.game.events import Parting
from thudmud.game.hall import Hall
from thudmud.game.options import Style
from thudmud.game.refusals import Refusal
from thudmud.language import parse
from thudmud.rules import Side
from thudmud.service import Dismissal, JoinRequest, Result, Service, lines, presence
from thudmud.store import ConflictError, NotWrittenError, Store, Stored, StoreError
from thudmud.store.streams import Changes
from thudmud.views import Message, Terminal

MOVE, ANSWER = "move from f15 to f8", "move from g7 to f7"


async def two_places(store: Store) -> tuple[Place, Place]:
    """Return two services on one store, with Anna on the first and Bert on the second."""
    here, there = Place(store), Place(store)
    await here.open()
    await there.open()
    await here.enter("Anna")
    await there.enter("Bert")
    return here, there


async def put_away(place: Place) -> None:
    """Let Anna and Bert adjourn a match and stay at the oak board."""
    await place.sit()
    await place.type("Anna", MOVE, "adjourn game")
    await place.type("Bert", "adjourn game", "go oak board")
    await place.type("Anna", "go oak board")


# 1. Lock order.


async def test_mutual_actions_at_one_board_do_not_deadlock(place: Place, store: SlowStore) -> None:
    await place.sit()
    store.hold()
    moving = place.submit("Anna", MOVE)
    await store.held_up()
    going_on: list[asyncio.Future[Any]] = [
        place.submit("Bert", Resign("it")),
        place.submit("Anna", "tell bert hello"),
        place.submit("Bert", "tell anna hello"),
        begin(place.leave("Bert")),
        begin(place.leave("Anna")),
        begin(place.enter("Bert")),
    ]
    store.gate.set()
    await finished(moving, *going_on)
    assert place.away() == {"Anna"}


async def test_connection_lost_while_the_opponent_resumes_marks_absence(
    place: Place, store: SlowStore
) -> None:
    await put_away(place)
    await place.type("Bert", "resume game on oak board")
    store.hold()
    resuming = place.submit("Anna", "resume game on oak board")
    await store.held_up()
    parting = begin(place.leave("Bert"))
    store.gate.set()
    await finished(resuming, parting)
    assert place.plies() == 1
    assert place.away() == {"Bert"}


async def test_appends_to_one_board_are_serialized(place: Place, store: SlowStore) -> None:
    await place.enter("Anna", "Bert")
    store.hold()
    first = place.submit("Anna", "join game as dwarf on oak board")
    second = place.submit("Bert", "join game as dwarf on oak board")
    await store.held_up()
    for _ in range(10):
        await asyncio.sleep(0)
    assert store.waiting.locked()  # no second append has started
    store.gate.set()
    _, result = await finished(first, second)
    assert result.refusal.code is Refusal.SEAT_TAKEN


async def test_absence_is_marked_at_a_seat_given_during_departure(
    place: Place, store: SlowStore
) -> None:
    await put_away(place)
    await place.type("Bert", "join game as dwarf on elm board", "go oak board")
    await place.type("Bert", "resume game on oak board")
    store.hold()
    resuming = place.submit("Anna", "resume game on oak board")
    await store.held_up()
    leaving = begin(place.leave("Bert"))
    await store.held_up()
    store.gate.set()
    await finished(resuming, leaving)
    assert place.plies() == 1
    await until(lambda: place.away() == place.away("elm board") == {"Bert"})


async def test_player_back_before_their_seat_is_known_is_not_away(
    place: Place, store: SlowStore
) -> None:
    await put_away(place)
    await place.type("Bert", "resume game on oak board")
    store.hold()
    resuming = place.submit("Anna", "resume game on oak board")
    await store.held_up()
    await place.leave("Bert")
    await place.enter("Bert")
    store.gate.set()
    await finished(resuming)
    assert place.plies() == 1
    assert not place.away()
    assert "You move" in await place.type("Bert", ANSWER)


async def test_absence_is_marked_only_by_settle(place: Place, store: SlowStore) -> None:
    await place.sit()
    anew = Place(store)
    await anew.service.open()
    await anew.enter("Anna")
    await anew.type("Anna", "resign", "yes", "leave game")
    assert not anew.away()
    await anew.service.finish_start()
    assert anew.away() == {"Bert"}


# 2. One player's actions happen in order, and other players don't wait for them.


async def test_lines_of_one_player_are_serialized(place: Place, store: SlowStore) -> None:
    """Even a line that stores nothing waits for the player's line before it."""
    await place.sit()
    store.hold()
    moving = place.submit("Anna", MOVE)
    await store.held_up()
    place.told.clear()
    looking = place.submit("Anna", "set board full on oak board")
    assert not looking.done()
    store.gate.set()
    await finished(moving, looking)
    assert place.hall.style("Anna", "oak board") is Style.FULL
    assert "You move the dwarf" in place.told["Anna"][0]


async def test_connection_lost_during_an_append_takes_effect_after_it(
    place: Place, store: SlowStore
) -> None:
    await place.sit()
    store.hold()
    moving = place.submit("Anna", MOVE)
    await store.held_up()
    place.told.clear()
    leaving = begin(place.leave("Anna"))
    assert not place.told
    assert "Anna" in place.service
    store.gate.set()
    await finished(moving, leaving)
    moved, lost = place.told["Bert"]
    assert moved.startswith("Anna moves the dwarf")
    assert lost.startswith("Anna has lost the connection.")
    assert place.away() == {"Anna"}


async def test_takeover_waits_for_the_line_in_flight(place: Place, store: SlowStore) -> None:
    one, two = Screen(), Screen()
    await place.sit()
    await place.enter("Anna", screen=one)
    before = place.visits["Anna"]
    store.hold()
    moving = place.submit("Anna", MOVE)
    await store.held_up()
    coming = begin(place.enter("Anna", screen=two))
    late = begin(place.service.submit(before, "say too late"))
    assert one.why is None
    store.gate.set()
    await finished(moving, coming)
    assert one.why is Dismissal.TAKEN_OVER
    assert one.told[-1].startswith("You move the dwarf")
    assert await late == Result()
    assert "You move" not in "".join(two.told)
    await place.service.leave(before)
    assert "Anna" in place.service
    await place.type("Anna", "say here I am")
    assert "here I am" in two.told[-1]
    assert "here I am" not in one.told[-1]


async def test_lines_of_other_players_do_not_wait(place: Place, store: SlowStore) -> None:
    await place.sit()
    await place.enter("Carla")
    store.hold()
    moving = place.submit("Anna", MOVE)
    await store.held_up()
    assert "Bert" in await place.type("Carla", "who")
    assert "hello" in await place.type("Bert", "tell anna hello")
    await place.leave("Carla")
    assert not moving.done()
    store.gate.set()
    await finished(moving)


async def test_appends_to_different_boards_run_concurrently(place: Place, store: SlowStore) -> None:
    await place.sit()
    await place.enter("Carla")
    store.hold()
    tasks = [
        place.submit("Anna", MOVE),
        place.submit("Carla", "join game as dwarf on elm board"),
    ]
    await store.held_up()
    await store.held_up()
    store.gate.set()
    await finished(*tasks)
    assert place.plies() == 1
    assert place.hall.tables["elm board"].seats == {Side.DWARF: "Carla"}


# 3. Events are applied and delivered once, in the store's order, whichever node stored them.


async def test_services_on_one_store_deliver_once_and_in_the_same_order(store: SlowStore) -> None:
    here, there = await two_places(store)
    await here.enter("Carla")
    await there.enter("Dora")
    await here.type("Anna", "join game as dwarf on oak board")
    await there.type("Bert", "join game as troll on oak board", "start")
    for place, name in ((here, "Carla"), (there, "Dora")):
        await place.type(name, "go oak board")
        place.told[name] = []
    store.hold()
    moving = here.submit("Anna", MOVE)
    offering = there.submit("Bert", "adjourn game")
    store.gate.set()
    await finished(moving, offering)
    await there.type("Bert", ANSWER)
    await here.type("Anna", "resign", "yes")
    assert here.told["Carla"] == there.told["Dora"]
    told = "\n".join(here.told["Carla"])
    for once in ("Anna moves", "Bert offers to adjourn", "Bert moves", "Anna resigns"):
        assert told.count(once) == 1, once
    assert here.hall.tables == there.hall.tables
    assert not here.away()


async def test_cause_is_passed_only_on_the_deciding_service(store: SlowStore) -> None:
    here, there = await two_places(store)
    for place in (here, there):
        place.causes.clear()
    await here.submit("Anna", "join game as dwarf on oak board", cause="a line")
    await there.type("Bert", "go oak board")
    there.causes.clear()
    await here.submit("Anna", "leave game", cause="another")
    assert set(here.causes) == {"a line", "another"}
    assert there.causes == [None]


# 4. The caller of an append is woken first, and the events are delivered second.


async def test_move_takes_four_iterations_of_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await Store.open(tmp_path / "thud.store")
    place = Place(store)
    await place.open()
    await place.sit()
    loop = asyncio.get_running_loop()
    is_stored, call = Event(), loop.call_soon_threadsafe
    turns, order = 0, list[str]()

    def call_and_say_so(*callback: object) -> asyncio.Handle:
        handle = call(*callback)  # type: ignore[arg-type]  # any callback
        is_stored.set()
        return handle

    def count() -> None:
        nonlocal turns
        turns += 1
        if "done" not in order:
            loop.call_soon(count)

    async def move() -> None:
        await place.service.submit(place.visits["Anna"], MOVE)
        order.append("done")

    monkeypatch.setattr(place, "take", lambda message, _: order.extend(message.to))
    monkeypatch.setattr(loop, "call_soon_threadsafe", call_and_say_so)
    loop.call_soon(count)
    moving = begin(move())
    assert is_stored.wait(PATIENCE)  # blocks the loop, so that no iteration is spent on the disk
    await finished(moving)
    assert sorted(order[:-1]) == ["Anna", "Bert"]
    assert order[-1] == "done"
    assert turns <= 4
    await place.service.close()
    await store.close()


# 5. At a conflict nothing has been delivered, and the command is decided again.


async def test_first_append_wins_between_two_services(store: SlowStore) -> None:
    here, there = Place(store), Place(store)
    await here.open()
    await there.open()
    await here.enter("Anna")
    await there.enter("Bert")
    store.gate.clear()
    tasks = [
        here.submit("Anna", "join game as dwarf on oak board"),
        there.submit("Bert", "join game as dwarf on oak board"),
    ]
    store.gate.set()
    await finished(*tasks)
    assert here.hall.tables["oak board"] == there.hall.tables["oak board"]
    assert here.hall.tables["oak board"].seats == {Side.DWARF: "Anna"}
    assert "Anna already plays the dwarfs" in there.told["Bert"][-1]


async def test_conflict_delivers_nothing_and_decides_again(
    store: SlowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = await two_places(store)
    read: list[str] = []

    def noted(line: str) -> Command:
        read.append(line)
        return parse(line)

    for place in (here, there):
        monkeypatch.setattr(place.service.lines, "_policy", lines.Policy(read=noted))
    here.told.clear()
    there.told.clear()
    store.hold()
    first = here.submit("Anna", "join game as dwarf on oak board")
    second = there.submit("Bert", "join game as troll on oak board")
    await store.held_up()
    await store.held_up()
    assert not here.told
    assert not there.told
    store.gate.set()
    await finished(first, second)
    assert len(read) == len([first, second])
    assert there.hall.tables["oak board"].seats == {Side.DWARF: "Anna", Side.TROLL: "Bert"}
    assert "\n".join(there.told["Bert"]).count("You sit down") == 1


async def test_line_for_another_board_version_conflicts(place: Place) -> None:
    await place.sit()
    single = Service(Hall(BOARDS[:1]), place.service.store, clock=lambda: 1000.0, is_alone=True)
    await single.open()
    visit = await single.join(JoinRequest("Anna", Terminal()))
    assert visit
    version = single.hall.tables["oak board"].version
    with pytest.raises(ConflictError):
        await single.submit(visit, MOVE, expected_version=version - 1)
    assert (await single.submit(visit, MOVE, expected_version=version)).is_done


# 6. A line that is cancelled during its append.


@pytest.mark.parametrize("when", ["at once", "while it is stored"])
async def test_cancelled_line_is_delivered_once_it_is_stored(
    place: Place, store: SlowStore, when: str
) -> None:
    await place.sit()
    place.told.clear()
    store.hold()
    moving = place.submit("Anna", MOVE)
    if when == "while it is stored":
        await store.held_up()
    moving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await moving
    if when == "at once":
        await store.held_up()
    resigning = place.submit("Bert", Resign("it"))
    await store.held_up()
    assert not place.told
    store.gate.set()
    await finished(resigning)
    assert place.told["Anna"][0].startswith("You move the dwarf")
    moved, resigned = place.told["Bert"]
    assert moved.startswith("Anna moves the dwarf")
    assert "You resign" in resigned
    assert place.plies() == 1


async def test_stored_event_of_a_cancelled_line_marks_a_departed_player_away(
    place: Place, store: SlowStore
) -> None:
    await place.enter("Anna", "Bert")
    store.hold()
    joining = place.submit("Anna", "join game as dwarf on oak board")
    await store.held_up()
    joining.cancel()
    await place.leave("Anna")
    store.gate.set()
    await until(lambda: place.away() == {"Anna"})
    assert "You sit down" in await place.type("Bert", "join game as troll on oak board")


# 7. An event that isn't stored hasn't happened, except for presence.


async def test_events_are_delivered_only_after_they_are_stored(
    place: Place, store: SlowStore
) -> None:
    await place.sit()
    store.hold()
    place.told.clear()
    move = place.submit("Anna", MOVE)
    await store.held_up()
    assert not place.told
    assert place.plies() == 0
    store.gate.set()
    await move
    assert place.plies() == 1
    assert place.told["Anna"][0].startswith("You move the dwarf from F15 to F8.")
    assert place.told["Bert"][0].startswith("Anna moves the dwarf from F15 to F8.")


async def test_failed_append_changes_and_delivers_nothing(place: Place, store: SlowStore) -> None:
    await place.sit()
    store.broken = True
    before = place.hall.tables["oak board"]
    place.told.clear()
    with pytest.raises(NotWrittenError):
        await place.submit("Anna", MOVE)
    assert not place.told
    assert place.hall.tables["oak board"] == before
    store.broken = False
    assert "You move" in await place.type("Anna", MOVE)


async def test_failed_join_leaves_the_player_in_the_hall(place: Place, store: SlowStore) -> None:
    await place.enter("Anna", "Bert")
    store.broken = True
    place.told.clear()
    with pytest.raises(NotWrittenError):
        await place.submit("Anna", "join game as dwarf on oak board")
    assert place.hall.people["Anna"].room is None
    assert not place.told


async def test_absence_that_cannot_be_stored_is_stored_later(
    place: Place, store: SlowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "RETRY", 0.0)
    await place.sit()
    store.broken = True
    await place.leave("Bert")
    assert "Bert" not in place.service
    assert not place.hall.tables["oak board"].away
    store.broken = False
    await until(lambda: place.away() == {"Bert"})
    assert "Bert has lost the connection." in place.told["Anna"][-1]
    await place.service.close()


async def test_return_that_cannot_be_stored_prevents_a_claim(
    place: Place, store: SlowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "RETRY", 0.0)
    await place.sit()
    await place.type("Anna", MOVE)
    await place.leave("Anna")
    store.broken = True
    await place.enter("Anna")
    assert place.away() == {"Anna"}
    store.broken = False
    await until(lambda: not place.away())
    claimed = await place.submit("Bert", "claim game")
    assert claimed.refusal
    assert claimed.refusal.code is Refusal.NOT_AWAY
    assert place.hall.tables["oak board"].is_running


async def test_join_with_must_store_fails_if_the_return_cannot_be_stored(
    place: Place, store: SlowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await place.enter("Anna")
    await place.type("Anna", "join as dwarf on oak board", "join as dwarf on elm board")
    await place.leave("Anna")
    append = store.append

    async def fail_at_elm(changes: Changes, **more: Any) -> Mapping[str, Stored]:
        if "elm board" in changes:
            raise NotWrittenError("The disk is full.")
        return await append(changes, **more)

    monkeypatch.setattr(store, "append", fail_at_elm)
    with pytest.raises(StoreError):
        await place.service.join(JoinRequest("Anna", Terminal(), must_store=True))
    assert "Anna" not in place.service
    assert place.away() == place.away("elm board") == {"Anna"}


async def test_join_cancelled_halfway_marks_the_player_away_at_all_boards(
    place: Place, store: SlowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "RETRY", 0.0)
    await place.enter("Anna")
    await place.type("Anna", "join as dwarf on oak board", "join as dwarf on elm board")
    await place.leave("Anna")
    store.hold()
    coming = begin(place.service.join(JoinRequest("Anna", Terminal(), must_store=True)))
    await store.held_up()
    store.gate.set()
    store.hold()
    await store.held_up()  # her return is stored at one of the two boards
    store.broken = True
    coming.cancel()
    store.gate.set()
    await until(lambda: "Anna" not in place.service)
    assert not place.away()
    store.broken = False
    await until(lambda: place.away() == place.away("elm board") == {"Anna"})


# 8. Shutdown.


async def test_close_waits_for_the_line_in_flight(place: Place, store: SlowStore) -> None:
    await place.sit()
    store.hold()
    moving = place.submit("Anna", MOVE)
    late = place.submit("Anna", "say too late")
    await store.held_up()
    place.told.clear()
    closing = begin(place.service.close())
    assert not closing.done()
    store.gate.set()
    moved, said, _ = await finished(moving, late, closing)
    assert moved.is_done
    assert said == Result()
    assert place.told["Anna"][0].startswith("You move the dwarf")
    assert place.told["Bert"][0].startswith("Anna moves the dwarf")


async def test_stopped_service_stores_nothing_and_marks_nobody_away(
    place: Place, store: SlowStore
) -> None:
    await place.sit()
    position = await store.position()
    place.told.clear()
    place.service.stop()
    await place.leave("Bert")
    await place.service.close()
    assert await place.submit("Anna", MOVE) == Result()
    await place.leave("Anna")
    assert await place.service.join(JoinRequest("Carla", Terminal())) is None
    assert not place.told
    assert await store.position() == position


async def test_close_does_not_wait_for_a_full_disk(place: Place, store: SlowStore) -> None:
    await place.sit()
    store.broken = True
    await place.leave("Bert")
    async with asyncio.timeout(PATIENCE):
        await place.service.close()


async def test_close_marks_nobody_away_who_is_given_a_seat_meanwhile(
    place: Place, store: SlowStore
) -> None:
    await put_away(place)
    await place.type("Bert", "resume game on oak board")
    store.hold()
    resuming = place.submit("Anna", "resume game on oak board")
    await store.held_up()
    await place.leave("Bert")
    closing = begin(place.service.close())
    store.gate.set()
    await finished(resuming, closing)
    assert place.plies() == 1
    assert not place.away()


# 9. Outboxes and messages.


async def test_lost_player_gets_no_more_messages(place: Place, store: SlowStore) -> None:
    screen = Screen()
    await place.sit()
    await place.enter("Anna", screen=screen)
    store.hold()
    moving = place.submit("Anna", MOVE)
    await store.held_up()
    heard = screen.told
    leaving = begin(place.leave("Anna", Parting.LOST))
    store.gate.set()
    await finished(moving, leaving)
    assert screen.told == heard
    assert screen.why is None


@pytest.mark.parametrize("line", ["quit", ""])
async def test_quitting_player_gets_the_goodbye_last(place: Place, line: str) -> None:
    screen = Screen()
    await place.sit()
    await place.enter("Anna", screen=screen)
    if line:
        await place.submit("Anna", line)
    else:
        await place.leave("Anna", Parting.QUIT)
    assert "Goodbye" in screen.told[-1]
    heard = screen.told
    await place.type("Bert", "say is anybody here?")
    assert screen.told == heard


async def test_message_object_is_shared_by_all_recipients(place: Place) -> None:
    one, two = Screen(), Screen()
    await place.enter("Anna", screen=one)
    await place.enter("Bert", screen=two)
    place.service.announce("It rains.")
    assert one.messages[-1] is two.messages[-1]
    assert one.messages[-1] == Message(("Anna", "Bert"), "It rains.")


async def test_requested_version_is_checked_again_after_a_lookup(
    store: SlowStore,
) -> None:
    place = Place(store, boards=BOARDS[:1])
    await place.open()
    await place.sit()
    await place.type("Anna", "a6 b6", "adjourn game")
    await place.type("Bert", "adjourn game")
    version = place.hall.tables["oak board"].version
    store.hold("look_up")
    resumed = begin(
        place.service.submit(place.visits["Anna"], "resume game", expected_version=version)
    )
    await store.held_up()
    await place.type("Bert", "set rules classic")
    store.gate.set()
    with pytest.raises(ConflictError):
        await resumed
    assert not place.hall.tables["oak board"].has_match_under_way
