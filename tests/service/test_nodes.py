"""Several nodes on one store: each name belongs to one node, and players meet across nodes.

The numbered comments are the invariants in the docstring of `thudmud.service.nodes`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from copy import copy
from typing import Any

import pytest

from tests.features.moderation.reports import reports
from tests.service.place import BOARDS, PATIENCE, Place, Screen, begin, finished, until
from tests.service.stores import SlowStore, do_instead
from thudmud.features.moderation.model import ReportMade, configure_reports
from thudmud.features.options.commands import SetWidth
from thudmud.features.options.model import StyleChosen
from thudmud.game.asides import Aside, CameIn, Entered, Gone, ObserveChosen
from thudmud.game.events import Parting
from thudmud.game.options import Options, Profile, Style, Switch, Toggle
from thudmud.game.sanctions import Order
from thudmud.game.table import BoardSpec
from thudmud.language import MAX_LINE
from thudmud.rules import Side
from thudmud.service import Dismissal, JoinRequest, Node, PlaysElsewhereError, presence
from thudmud.service.nodes import NodeAsides, NodeHello, ReleaseRequest, note_form
from thudmud.service.scheduler import Later
from thudmud.store import NotesMissed, NoteTooLongError, NotWrittenError, StoreError, nodes
from thudmud.store.codec import Form
from thudmud.store.postgres import LONGEST_NOTE, MOST_PARTS
from thudmud.views import Terminal

LEASE = 10.0
MOVE = "move a6 to b6"


class World:
    """A store and its nodes, with a place each; only the test advances the time.

    Attributes:
        idle: seconds that have passed for players but not for leases.
    """

    def __init__(self) -> None:
        self.store, self.idle = SlowStore.make(), 0.0
        self.nodes: dict[str, Node] = {}

    async def begin(
        self, name: str, boards: Sequence[BoardSpec] = BOARDS, later: Later | None = None
    ) -> Place:
        """Start a node and return its place."""
        node = Node(self.store, name, lease=LEASE, clock=lambda: self.store.time)
        self.nodes[name] = node
        await node.open()
        place = Place(
            self.store, node, boards, clock=lambda: self.store.time + self.idle, later=later
        )
        await place.open()
        return place

    async def end(self, name: str, place: Place) -> None:
        """Shut a node down."""
        await place.service.close()
        await self.nodes.pop(name).close()

    async def pass_by(self, seconds: float, *living: str) -> None:
        """Advance the time while the given nodes renew their leases and reap."""
        end = self.store.time + seconds
        while self.store.time < end:
            self.store.time = min(self.store.time + LEASE / 2, end)
            for name in living:
                await self.nodes[name].renew()
                await self.nodes[name].reap()

    async def claimed(self) -> dict[str, str]:
        """Return the claims: node by player name."""
        return {claim.name: claim.node for claim in await self.store.read(nodes.all_claims)}

    async def until_claimed(self, **wanted: str) -> None:
        """Wait until the claims are exactly these, given as node by player name."""
        async with asyncio.timeout(PATIENCE):
            while await self.claimed() != wanted:  # noqa: ASYNC110  (there is no event to wait for)
                await asyncio.sleep(0)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    yield world
    await world.store.close()


@pytest.fixture
async def one(world: World) -> Place:
    return await world.begin("one")


@pytest.fixture
async def two(world: World, one: Place) -> Place:
    return await world.begin("two")


async def sit(one: Place, two: Place) -> None:
    """Start a battle between Anna on one node and Bert on the other."""
    await one.enter("Anna")
    await two.enter("Bert")
    await one.type("Anna", "join game as dwarf on oak board")
    await two.type("Bert", "join game as troll on oak board", "start")


async def fail(*_: object, **__: object) -> Any:
    raise NotWrittenError("The disk is full.")


async def test_players_on_two_nodes_play_each_other(one: Place, two: Place) -> None:
    await sit(one, two)
    assert "You move" in await one.type("Anna", "move a6 to b6")
    assert "Anna moves the dwarf from A6 to B6." in two.told["Bert"][-1]
    assert "You move" in await two.type("Bert", "move g7 to f7")
    assert "Bert moves" in one.told["Anna"][-1]
    assert one.hall.tables == two.hall.tables


# 10. Only the node with the claim on a name stores that the player is away or back.


async def test_start_of_a_second_node_marks_nobody_away(world: World, one: Place) -> None:
    await one.enter("Anna", "Carla")
    await one.type("Anna", "join game as dwarf on oak board")
    await one.type("Carla", "join game as troll on oak board", "start")
    two = await world.begin("two")
    await world.pass_by(3 * LEASE, "one", "two")
    assert not one.away()
    assert not two.away()
    assert "You move" in await one.type("Anna", "move a6 to b6")


async def test_name_is_released_once_the_absence_is_stored(
    world: World, one: Place, two: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "RETRY", 0.0)
    await sit(one, two)
    world.store.hold("claim")
    world.store.gate.set()
    world.store.broken = True
    await one.leave("Anna")
    for _ in range(3):  # several retries
        await world.store.held_up()
    assert "Anna" not in one.service
    assert await world.claimed() == {"Anna": "one", "Bert": "two"}
    world.store.broken = False
    await world.until_claimed(Bert="two")
    assert one.away() == two.away() == {"Anna"}


@pytest.mark.parametrize(("call", "events"), [("look_up", 0), ("claim", 0), ("append", 2)])
async def test_cancelled_join_leaves_no_claim_and_no_player(
    world: World, one: Place, two: Place, call: str, events: int
) -> None:
    await sit(one, two)
    await one.leave("Anna")
    before = two.hall.tables["oak board"].version
    world.store.hold(call)
    coming = begin(one.service.join(JoinRequest("Anna", Terminal())))
    await world.store.held_up()
    coming.cancel()
    with pytest.raises(asyncio.CancelledError):
        await coming
    world.store.gate.set()
    await until(lambda: two.hall.tables["oak board"].version == before + events)
    await world.until_claimed(Bert="two")
    assert two.away() == {"Anna"}
    assert "Anna" not in one.service
    assert "Anna" not in two.service


async def test_rejected_join_leaves_no_claim_and_no_player(
    world: World, one: Place, two: Place
) -> None:
    await sit(one, two)
    await one.leave("Anna")
    assert await one.service.join(JoinRequest("Anna", Terminal(), admit=lambda: False)) is None
    assert await world.claimed() == {"Bert": "two"}
    assert "Anna" not in one.service
    assert two.away() == {"Anna"}


async def test_player_given_a_seat_just_after_leaving_is_away(
    world: World, one: Place, two: Place
) -> None:
    await sit(one, two)
    await one.type("Anna", "adjourn game")
    await two.type("Bert", "adjourn game", "go oak board")
    await one.type("Anna", "go oak board")
    await two.type("Bert", "resume game on oak board")
    await until(lambda: bool(one.hall.people["Anna"].invitations))
    world.store.hold()
    resuming = one.submit("Anna", "resume game on oak board")
    await two.service.leave(two.visits["Bert"])
    world.store.gate.set()
    assert (await resuming).is_done
    assert one.hall.tables["oak board"].seats == {Side.DWARF: "Anna", Side.TROLL: "Bert"}
    assert one.away() == two.away() == {"Bert"}


async def test_name_is_taken_over_from_another_node(one: Place, two: Place) -> None:
    await sit(one, two)
    screen = Screen()
    one.visits["Anna"].outbox = screen
    before = one.visits["Anna"]
    await two.enter("Anna")
    assert screen.why is Dismissal.MOVED
    assert before.is_over
    assert two.told["Anna"][0].startswith("You carry on from here.")
    assert not two.away()
    assert not [text for text in two.told["Bert"] if "connection" in text]
    assert "You move" in await two.type("Anna", "move a6 to b6")
    await two.service.leave(two.visits["Anna"])
    assert one.away() == {"Anna"}
    await one.enter("Anna")
    assert not two.away()


async def test_takeover_from_an_unresponsive_node_is_refused(world: World, two: Place) -> None:
    await world.store.write(nodes.renew_lease, "deaf", 1000.0)
    assert await world.store.write(nodes.claim, "Anna", "deaf", "") is None
    world.nodes["two"].lease = 0.0
    with pytest.raises(PlaysElsewhereError, match="deaf"):
        await two.service.join(JoinRequest("Anna", Terminal()))
    assert "Anna" not in two.service


async def nowhere(world: World, one: Place, two: Place) -> None:
    """Wait until Anna is on no node and all nodes know it."""
    await until(lambda: two.away() == {"Anna"})
    await world.until_claimed(Bert="two")
    assert "Anna" not in one.service
    assert "Anna" not in two.service
    assert "Anna has lost the connection." in two.told["Bert"][-1]


async def test_disconnect_during_a_takeover_removes_the_player(
    world: World, one: Place, two: Place
) -> None:
    await sit(one, two)
    assert await two.service.join(JoinRequest("Anna", Terminal(), admit=lambda: False)) is None
    await nowhere(world, one, two)


@pytest.mark.parametrize("how", ["late", "cancelled"])
async def test_release_after_the_takeover_was_abandoned_removes_the_player(
    world: World, one: Place, two: Place, how: str
) -> None:
    await sit(one, two)
    world.store.hold()
    moving = one.submit("Anna", MOVE)
    world.nodes["two"].lease = 0.0 if how == "late" else LEASE
    coming = begin(two.service.join(JoinRequest("Anna", Terminal())))
    if how == "cancelled":
        coming.cancel()
    with pytest.raises(PlaysElsewhereError if how == "late" else asyncio.CancelledError):
        await coming
    world.store.gate.set()
    assert (await moving).is_done
    await nowhere(world, one, two)


async def test_release_for_a_failed_takeover_removes_the_player(
    world: World, one: Place, two: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "RETRY", 0.0)
    await sit(one, two)
    world.store.hold("catch_up")
    coming = begin(two.service.join(JoinRequest("Anna", Terminal())))
    await world.store.held_up()
    world.store.broken = True
    world.store.gate.set()
    with pytest.raises(StoreError):
        await coming
    world.store.broken = False
    await nowhere(world, one, two)


async def test_failed_rejoin_keeps_the_existing_session(
    world: World, one: Place, two: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sit(one, two)
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(world.store, "catch_up", fail)
        with pytest.raises(StoreError):
            await one.service.join(JoinRequest("Anna", Terminal()))
    assert await world.claimed() == {"Anna": "one", "Bert": "two"}
    assert (await one.submit("Anna", MOVE)).is_done


async def test_simultaneous_takeover_by_two_nodes_leaves_one_session(
    world: World, one: Place, two: Place
) -> None:
    await sit(one, two)
    three = await world.begin("three")
    world.store.hold("claim")
    coming = [begin(place.service.join(JoinRequest("Anna", Terminal()))) for place in (two, three)]
    await world.store.held_up()
    await world.store.held_up()
    world.store.gate.set()
    visits = await finished(*coming)
    [here] = [visit for visit in visits if not visit.is_over]
    place = two if here is visits[0] else three
    assert (await place.service.submit(here, MOVE)).is_done
    assert (await world.claimed())["Anna"] == ("two" if place is two else "three")
    assert not one.away()


# 11. After a claim, all stored entries have been applied.


async def test_takeover_by_another_node_waits_for_the_line_in_flight(
    world: World, one: Place, two: Place
) -> None:
    await sit(one, two)
    world.store.hold()
    move = one.submit("Anna", "move a6 to b6")
    coming = asyncio.create_task(two.enter("Anna"))
    await asyncio.sleep(0)
    world.store.gate.set()
    await coming
    assert (await move).is_done
    assert two.plies() == 1


async def test_absence_marked_during_a_takeover_is_cleared(
    world: World, one: Place, two: Place
) -> None:
    await sit(one, two)
    await one.service.hand_over("Anna")
    world.store.hold()
    beginning = asyncio.create_task(world.begin("three"))  # settles: marks absent players
    await world.store.held_up()
    coming = begin(two.enter("Anna"))
    world.store.gate.set()
    three, _ = await finished(beginning, coming)
    await until(lambda: not two.away())
    assert not three.away()
    assert await world.claimed() == {"Anna": "two", "Bert": "two"}
    assert "You move" in await two.type("Anna", MOVE)


async def test_preferences_move_with_the_player_to_another_node(
    world: World, one: Place, two: Place
) -> None:
    profile = Profile({"OAK board": Style.FULL}, Options(width=60))
    arrival = JoinRequest("Anna", Terminal(200), is_member=True, profile=profile)
    visit = await one.service.join(arrival)
    assert visit
    one.visits["Anna"] = visit
    await one.type("Anna", "options reader on")
    await two.enter("Anna", member=True)
    await two.type("Anna", "set board full on elm board")
    assert two.kept["Anna"].styles == {"oak board": Style.FULL, "elm board": Style.FULL}
    await two.type("Anna", "set machine on")
    wanted = Options(width=60, reader=Switch.ON, on=Options().on | {Toggle.MACHINE})
    assert two.kept["Anna"].options == wanted
    assert one.hall.people["Anna"].options == wanted


async def test_ignore_list_applies_on_all_nodes(world: World, one: Place, two: Place) -> None:
    await one.enter("Anna", member=True)
    await two.enter("Bert", "Carla")
    await one.type("Anna", "ignore bert")
    assert "isn't taking messages" in await two.type("Bert", "tell anna hello")
    one.told["Anna"].clear()
    await two.type("Bert", "say hello")
    await two.type("Carla", "say good evening")
    assert one.told["Anna"] == ["Carla says: good evening"]
    three = await world.begin("three")
    await three.enter("Bert")
    assert "isn't taking messages" in await three.type("Bert", "invite anna on oak board")
    await two.enter("Anna", member=True)
    await two.type("Anna", "ignore carla")
    assert two.kept["Anna"].ignored == ("Bert", "Carla")
    await two.type("Anna", "unignore bert")
    assert "You tell Anna: hello" in await three.type("Bert", "tell anna hello")


async def test_follow_list_and_plan_apply_on_all_nodes(
    world: World, one: Place, two: Place
) -> None:
    await one.enter("Anna", "Carla", member=True)
    await one.type("Anna", "follow bert", "go oak board")
    await one.type("Anna", "plan To win.")
    assert (one.kept["Anna"].followed, one.kept["Anna"].plan) == (("Bert",), "To win.")
    one.told["Anna"].clear()
    await two.enter("Bert")
    assert one.told["Anna"] == ["Bert has come in."]
    assert "Anna's plan: To win." in await two.type("Bert", "finger anna")
    one.told["Anna"].clear()
    await two.type("Bert", "match carla")
    await one.type("Carla", "accept")
    assert len(one.told["Anna"]) == 1
    assert one.told["Anna"][0].startswith("Bert and Carla begin a match")
    three = await world.begin("three")
    await three.enter("Anna", member=True)  # before her preferences were saved
    three.told["Anna"].clear()
    await two.leave("Bert")
    await two.enter("Bert")
    assert three.told["Anna"] == ["Bert has come in."]


async def test_idle_time_is_shared_between_nodes(world: World, one: Place, two: Place) -> None:
    notes = list[object]()
    hear = world.store.subscribe_notes(notes.append, note_form)
    await one.enter("Anna", "Bert")
    world.idle = 300.0
    await two.enter("Carla")
    assert "idle for 5 minutes" in await two.type("Carla", "finger anna")
    await one.type("Anna", "look")
    assert "idle" not in await two.type("Carla", "finger anna")
    assert "idle for 5 minutes" in await two.type("Carla", "finger bert")
    before = len(notes)
    for _ in range(20):
        await one.type("Anna", "who")  # activity is sent at intervals, not with each line
        world.idle += 1.0
    assert len(notes) == before
    hear()
    three = await world.begin("three")
    await three.enter("Dora")
    assert "idle for 5 minutes" in await three.type("Dora", "finger bert")


async def test_account_profile_replaces_preferences_from_another_node(
    world: World, one: Place, two: Place
) -> None:
    await one.enter("Anna")  # before her preferences were saved
    visit = await two.service.join(
        JoinRequest(
            "Anna",
            Terminal(),
            is_member=True,
            profile=Profile(
                options=Options(reader=Switch.ON),
                styles={"oak board": Style.FULL},
                ignored=("Bert",),
            ),
        )
    )
    assert visit
    two.visits["Anna"] = visit
    assert one.hall.people.is_ignoring("Anna", "bert")
    await two.type("Anna", "options width 60")
    assert two.kept["Anna"].options == Options(reader=Switch.ON, width=60)
    assert two.kept["Anna"].styles == {"oak board": Style.FULL}


async def test_new_account_is_known_on_other_nodes(one: Place, two: Place) -> None:
    await one.enter("Anna")
    one.service.enrol("Anna")
    assert two.hall.people["Anna"].is_member
    await two.enter("Anna")  # authenticated before the account was made
    assert two.hall.people["Anna"].is_member


async def test_login_options_of_a_guest_move_to_another_node(one: Place, two: Place) -> None:
    await one.enter("Anna")
    assert await two.service.join(JoinRequest("Anna", Terminal(), choices=[SetWidth(60)]))
    await one.enter("Anna")
    assert one.hall.people["Anna"].options.width == 60


# 12. A dead node is reaped by a living one.


async def test_players_of_a_dead_node_are_marked_away(world: World, one: Place, two: Place) -> None:
    await sit(one, two)
    await world.pass_by(LEASE * 0.9, "two")
    assert not two.away()
    await world.pass_by(LEASE, "two")
    assert two.away() == {"Anna"}
    assert "Anna has lost the connection." in " ".join(two.told["Bert"])
    assert "Anna" not in two.hall.people
    assert not [claim for claim in await world.store.read(nodes.all_claims) if claim.name == "Anna"]


async def sit_with_a_clock(one: Place, two: Place) -> None:
    """Start a clocked battle across two nodes, with Anna on one to move against Bert."""
    await one.enter("Anna")
    await two.enter("Bert")
    await one.type("Anna", "join game as dwarf on oak board", "set clock 1+0")
    await two.type("Bert", "join game as troll on oak board", "set clock 1+0", "start")
    await one.type("Anna", "start", MOVE)
    await two.type("Bert", "move g7 to f7")


def left_of_anna(world: World, place: Place) -> float:
    """Return the seconds left on Anna's clock."""
    clock = place.hall.tables["oak board"].clock
    assert clock
    return clock.advanced_to(world.store.time).seconds_left(Side.DWARF)


async def test_clock_of_a_dead_node_pauses_from_its_last_heartbeat(
    world: World, one: Place, two: Place
) -> None:
    await sit_with_a_clock(one, two)
    world.store.time += 4
    await world.nodes["one"].renew()
    await world.pass_by(1.5 * LEASE, "two")
    await until(lambda: two.away() == {"Anna"})
    assert left_of_anna(world, two) == 56
    world.store.time += 4
    await two.enter("Anna")
    assert left_of_anna(world, two) == 56
    world.store.time += 4
    assert left_of_anna(world, two) == 52


@pytest.mark.parametrize("is_reaped", [False, True])
async def test_clock_pauses_for_a_player_who_returns_before_the_reaping(
    world: World,
    one: Place,
    two: Place,
    is_reaped: bool,  # noqa: FBT001
) -> None:
    await sit_with_a_clock(one, two)
    await world.nodes["two"].renew()
    world.store.time += LEASE * 0.6
    await world.nodes["two"].renew()
    world.store.time += LEASE * 0.6
    coming = begin(two.enter("Anna"))
    if is_reaped:
        await world.nodes["two"].reap()
    await finished(coming)
    assert not two.away()
    assert left_of_anna(world, two) == 60
    assert "You move" in await two.type("Anna", "move b6 to c6")


async def test_clock_of_a_dead_node_runs_until_its_last_ply(
    world: World, one: Place, two: Place
) -> None:
    await sit_with_a_clock(one, two)
    await world.nodes["two"].renew()
    world.store.time += LEASE * 0.4
    await one.type("Anna", "move b6 to c6")
    await two.type("Bert", "move f7 to g7")
    await world.pass_by(LEASE, "two")
    await until(lambda: two.away() == {"Anna"})
    assert left_of_anna(world, two) == 60 - LEASE * 0.4


async def test_dead_reaper_is_reaped(world: World, one: Place, two: Place) -> None:
    await sit(one, two)
    three = await world.begin("three")
    await three.enter("Carla")
    await world.pass_by(LEASE * 0.9, "two", "three")
    world.store.time += LEASE * 0.2
    await world.store.write(nodes.reap, "two")  # and it dies before it marks anyone as away
    await world.pass_by(3 * LEASE, "three")
    assert three.away() == {"Anna", "Bert"}
    assert [claim.name for claim in await world.store.read(nodes.all_claims)] == ["Carla"]


async def test_player_without_a_seat_disappears_with_a_dead_node(
    world: World, one: Place, two: Place
) -> None:
    await one.enter("Anna")
    await two.enter("Bert")
    await world.pass_by(2 * LEASE, "two")
    assert two.told["Bert"][-1] == "Anna has lost the connection."


async def test_players_of_a_stopped_node_are_reaped_by_its_peer(
    world: World, one: Place, two: Place
) -> None:
    await sit(one, two)
    await one.service.close()
    await world.nodes["one"].close()
    assert not two.away()
    await world.nodes["two"].reap()
    assert two.away() == {"Anna"}


async def test_new_node_reaps_the_players_of_a_dead_node(
    world: World, one: Place, two: Place
) -> None:
    await sit(one, two)
    await one.enter("Carla")
    await two.enter("Dora")
    await one.service.close()  # simulates its death: it sends nothing more
    await world.pass_by(LEASE * 0.9, "two")
    world.store.time += LEASE * 0.2
    three = await world.begin("three")
    await world.nodes["three"].reap()
    assert await world.claimed() == {"Bert": "two", "Dora": "two"}
    assert set(two.hall.people) == set(three.hall.people) == {"Bert", "Dora"}
    assert two.away() == three.away() == {"Anna"}
    assert "seat at the oak board is kept for Anna." in two.told["Bert"][-1]
    assert two.told["Dora"][-1] == "Carla has lost the connection."


async def test_peers_learn_of_a_reaping_by_a_node_they_have_not_answered(
    world: World, one: Place, two: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sit(one, two)
    goes_on = asyncio.Event()

    async def wait(*_: object) -> None:
        await goes_on.wait()

    await one.service.close()
    world.store.time += LEASE * 0.6
    await world.nodes["two"].renew()
    world.store.time += LEASE * 0.6
    monkeypatch.setattr(world.nodes["two"], "send_asides", wait)  # delays its answer
    three = await world.begin("three")
    await three.service.finish_start()
    assert three.away() == {"Anna"}
    await until(lambda: "Anna" not in two.hall.people)
    goes_on.set()


async def test_stopping_node_without_a_lease_has_no_players_for_a_new_node(
    world: World, one: Place, two: Place
) -> None:
    await sit(one, two)
    one.service.stop()  # and its lease expires before everything is stored
    await world.pass_by(LEASE * 0.6, "two")
    world.store.time += LEASE * 0.6
    three = await world.begin("three")
    await three.service.finish_start()
    assert three.away() == {"Anna"}
    assert set(three.hall.people) == {"Bert"}


async def test_player_released_to_a_dead_node_is_removed(
    world: World, one: Place, two: Place
) -> None:
    await sit(one, two)
    world.nodes["one"].lease = 0.0  # the time it waits for the new claim
    world.nodes["one"]._handle_note(ReleaseRequest("one", "", "Anna"))
    await until(lambda: two.away() == {"Anna"})
    assert set(one.hall.people) == set(two.hall.people) == {"Bert"}
    await world.until_claimed(Bert="two")


async def test_claims_do_not_accumulate_over_restarts(world: World) -> None:
    for number, name in enumerate(("Anna", "Bert", "Carla")):
        place = await world.begin(f"number {number}")
        await place.enter(name)
        await world.end(f"number {number}", place)
    await world.begin("last")
    await world.nodes["last"].reap()
    assert await world.claimed() == {}


async def test_player_who_returns_during_the_reaping_can_play(
    world: World, one: Place, two: Place
) -> None:
    await sit(one, two)
    three = await world.begin("three")
    await world.pass_by(LEASE * 0.9, "two", "three")
    world.store.time += LEASE * 0.2
    world.store.hold()
    await world.nodes["two"].reap()
    await world.store.held_up()
    coming = begin(three.enter("Anna"))
    world.store.gate.set()
    await finished(coming)
    await until(lambda: not three.away())
    assert "Anna" in two.service
    assert await world.claimed() == {"Anna": "three", "Bert": "two"}
    assert "You move" in await three.type("Anna", MOVE)


async def test_lease_is_renewed_during_the_reaping(world: World, one: Place, two: Place) -> None:
    await sit(one, two)
    await one.enter("Carla", "Dora")
    await world.pass_by(LEASE * 0.9, "two")
    world.store.time += LEASE * 0.2
    world.store.hold("append", "release")
    await finished(begin(world.nodes["two"].reap()))
    await world.store.held_up()
    await world.pass_by(2 * LEASE, "two")
    assert world.nodes["two"].is_alive
    world.store.gate.set()
    await world.until_claimed(Bert="two")
    assert two.away() == {"Anna"}


async def test_lease_that_was_slow_to_start_is_renewed_in_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = Node(world.store, "one", lease=LEASE, clock=lambda: world.store.time)
    world.store.hold("renew_lease")
    opening = asyncio.ensure_future(node.open())
    await world.store.held_up()
    world.store.time += LEASE * 0.6
    world.store.gate.set()
    await opening
    pauses = asyncio.Queue[float]()

    async def pause(seconds: float) -> None:
        await pauses.put(seconds)
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio, "sleep", pause)
    living = asyncio.create_task(node.run_heartbeat())
    world.store.time += await pauses.get()
    assert node.is_alive
    living.cancel()
    await asyncio.wait([living])


@pytest.mark.parametrize("what", ["renew_lease", "reap"])
async def test_lease_is_renewed_in_time_after_a_slow_store_call(
    world: World, one: Place, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    pauses, goes_on = asyncio.Queue[float](), asyncio.Semaphore(0)

    async def pause(seconds: float) -> None:
        await pauses.put(seconds)
        await goes_on.acquire()

    monkeypatch.setattr(asyncio, "sleep", pause)
    world.store.hold(what)
    living = asyncio.create_task(world.nodes["one"].run_heartbeat())
    assert await pauses.get() == LEASE / 2
    goes_on.release()
    await world.store.held_up()
    world.store.time += LEASE * 0.95
    world.store.gate.set()
    world.store.time += await pauses.get()
    assert world.nodes["one"].is_alive
    living.cancel()
    await asyncio.wait([living])


async def test_exception_during_the_reaping_does_not_stop_a_node(
    world: World, two: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_: str) -> None:
        raise ZeroDivisionError

    do_instead(monkeypatch, world.store, nodes.reap, fail)
    world.nodes["two"].lease = 0.001
    world.store.hold("renew_lease")
    world.store.gate.set()
    living = asyncio.create_task(world.nodes["two"].run_heartbeat())
    for _ in range(3):
        await world.store.held_up()
    assert "ZeroDivisionError" in caplog.text
    living.cancel()
    await asyncio.wait([living])


# 13. A node acts only while its lease holds, unless no other process can use the store.


async def test_node_that_slept_through_its_lease_fences_itself(
    world: World, one: Place, two: Place
) -> None:
    await sit(one, two)
    screen = Screen()
    one.visits["Anna"].outbox = screen
    await world.pass_by(2 * LEASE, "two")
    assert two.away() == {"Anna"}
    with pytest.raises(NotWrittenError):
        await one.service.submit(one.visits["Anna"], "move a6 to b6")
    with pytest.raises(NotWrittenError):
        await one.service.submit(one.visits["Anna"], "say I am here")
    with pytest.raises(NotWrittenError):
        await one.service.join(JoinRequest("Carla", Terminal()))
    assert two.plies() == 0
    assert "I am here" not in two.told["Bert"][-1]
    await world.nodes["one"].renew()
    assert screen.why is Dismissal.CUT_OFF
    await one.enter("Anna")
    assert not two.away()
    assert "You move" in await one.type("Anna", "move a6 to b6")
    assert "2 players connected" in await one.type("Anna", "who")


async def test_node_that_slept_unreaped_dismisses_only_moved_players(
    world: World, one: Place, two: Place
) -> None:
    """Players whose claims are still its own stay."""
    await sit(one, two)
    await one.enter("Carla")
    screen = Screen()
    before = one.visits["Anna"]
    before.outbox = screen
    await world.pass_by(LEASE * 0.9, "two")
    world.store.time += LEASE * 0.2
    await two.enter("Anna")
    await world.nodes["one"].renew()
    assert screen.why is Dismissal.CUT_OFF
    assert not (await one.service.submit(before, "say I am old")).is_done
    await one.service.leave(before)
    assert not two.away()
    assert await world.claimed() == {"Anna": "two", "Bert": "two", "Carla": "one"}
    assert set(one.hall.people) == set(two.hall.people) == {"Anna", "Bert", "Carla"}
    await one.type("Carla", "tell bert I have slept")
    assert "I have slept" in two.told["Bert"][-1]
    assert "You move" in await two.type("Anna", MOVE)


async def test_store_outage_dismisses_and_reaps_nobody(
    world: World, one: Place, two: Place
) -> None:
    """The order in which the nodes recover doesn't matter."""
    await sit(one, two)
    screens = [Screen(), Screen()]
    one.visits["Anna"].outbox, two.visits["Bert"].outbox = screens
    world.store.broken = True
    world.store.hold("renew_lease")
    world.store.gate.set()
    for node in world.nodes.values():
        node.lease = 0.01
    living = [asyncio.create_task(node.run_heartbeat()) for node in world.nodes.values()]
    await world.store.held_up()
    world.store.time += 2 * LEASE
    assert not any(node.is_alive for node in world.nodes.values())
    world.store.broken = False
    await until(lambda: all(node.is_alive for node in world.nodes.values()))
    for _ in range(6):
        await world.store.held_up()
    assert [each.why for each in screens] == [None, None]
    assert not one.away() | two.away()
    assert "You move" in await one.type("Anna", MOVE)
    for task in living:
        task.cancel()
    await asyncio.wait(living)


async def test_failed_greeting_of_peers_is_retried(
    world: World, one: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[object] = []
    world.store.subscribe_notes(heard.append, note_form)
    node = world.nodes["one"]
    with monkeypatch.context() as patch:
        patch.setattr(world.store, "publish_note", fail)
        node._handle_note(NotesMissed())
        assert heard == []
    node.lease = 0.01
    living = asyncio.create_task(node.run_heartbeat())
    await until(lambda: bool(heard))
    assert heard == [NodeHello("one")]
    living.cancel()
    await asyncio.wait([living])


@pytest.mark.parametrize("line", [MOVE, "options reader on"])
async def test_dismissal_waits_for_the_line_in_flight(
    world: World, one: Place, two: Place, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    async def keep(*_: object) -> None:
        await world.store.append({})

    monkeypatch.setattr(one, "keep", keep)
    await sit(one, two)
    screen = Screen()
    await one.enter("Anna", screen=screen)
    one.service.enrol("Anna")
    world.store.hold("append")
    asked = one.submit("Anna", line)
    await world.store.held_up()
    await world.pass_by(2 * LEASE, "two")
    renewing = begin(world.nodes["one"].renew())
    assert screen.why is None
    world.store.gate.set()
    result, _ = await finished(asked, renewing)
    assert result.is_done
    assert screen.why is Dismissal.CUT_OFF
    assert "Anna" not in one.service


async def test_dismissal_does_not_wait_for_a_pending_join(
    world: World, one: Place, two: Place
) -> None:
    screen = Screen()
    await one.enter("Anna", screen=screen)
    await two.enter("Zoe")
    world.store.hold()
    joining = two.submit("Zoe", "join game as dwarf on oak board")
    coming = begin(one.enter("Zoe"))
    await world.pass_by(2 * LEASE, "two")
    await finished(begin(world.nodes["one"].renew()))
    assert screen.why is Dismissal.CUT_OFF
    assert not coming.done()
    world.store.gate.set()
    await finished(joining, coming)
    assert await world.claimed() == {"Zoe": "one"}
    assert not two.away()


async def test_exclusive_node_with_a_full_disk_still_serves_reads_and_talk(
    world: World, one: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "RETRY", 0.0)
    world.store.is_exclusive = True
    await one.sit()
    world.store.broken = True
    world.store.time += 2 * LEASE
    with pytest.raises(NotWrittenError):
        await world.nodes["one"].renew()
    assert "You say: hello" in await one.type("Anna", "say hello")
    assert "It is your turn." in await one.type("Anna", "look")
    with pytest.raises(NotWrittenError):
        await one.submit("Anna", MOVE)
    await one.enter("Carla")
    assert "Goodbye" in await one.type("Anna", "quit")
    assert set(one.hall.people) == {"Bert", "Carla"}
    world.store.broken = False
    await world.nodes["one"].renew()
    await until(lambda: one.away() == {"Anna"})
    assert set(one.hall.people) == {"Bert", "Carla"}


async def test_exclusive_node_pauses_clocks_while_it_slept(world: World, one: Place) -> None:
    """Its first line may arrive just before it renews its lease."""
    world.store.is_exclusive = True
    await one.enter("Anna", "Bert")
    await one.type("Anna", "join game as dwarf on oak board", "set clock 1+0")
    await one.type("Bert", "join game as troll on oak board", "set clock 1+0", "start")
    await one.type("Anna", "start")
    world.store.time += 5 * LEASE
    assert "You move" in await one.type("Anna", MOVE)
    clock = one.hall.tables["oak board"].clock
    assert clock
    assert clock.seconds_left(Side.DWARF) == 60
    assert world.nodes["one"].is_alive


async def test_ply_pending_during_an_outage_is_not_charged_for_it(
    world: World, one: Place, two: Place
) -> None:
    """Another node has recorded the outage, but this one has not paused the clock yet."""
    await one.enter("Anna")
    await two.enter("Bert")
    await one.type("Anna", "join game as dwarf on oak board", "set clock 1+0")
    await two.type("Bert", "join game as troll on oak board", "set clock 1+0", "start")
    await one.type("Anna", "start")
    world.store.hold()
    waiting = one.submit("Anna", MOVE)
    await world.store.held_up()
    await world.pass_by(3 * LEASE)
    renewing = begin(world.nodes["two"].renew())
    await world.store.held_up()
    world.store.gate.set()
    with pytest.raises(NotWrittenError, match="lease"):
        await waiting
    await finished(renewing, begin(world.nodes["one"].renew()))
    assert not one.plies()
    clock = one.hall.tables["oak board"].clock
    assert clock
    assert clock.seconds_left(Side.DWARF) == 60


# 14. Asides reach other nodes.


async def test_node_that_slept_learns_of_players_on_a_new_node(world: World, one: Place) -> None:
    """A node sends asides only after a peer has greeted it."""
    await one.enter("Anna")
    node, unheard = world.nodes["one"], list[object]()
    node._unsubscribe()
    unhear = world.store.subscribe_notes(unheard.append, note_form)
    two = await world.begin("two")
    await two.enter("Bert")
    unhear()
    node._unsubscribe = world.store.subscribe_notes(node._handle_note, note_form)
    for note in unheard:
        node._handle_note(note)
    await until(lambda: set(one.hall.people) == set(two.hall.people) == {"Anna", "Bert"})


async def test_talk_and_presence_reach_other_nodes(one: Place, two: Place) -> None:
    await one.enter("Anna")
    await two.enter("Bert")
    assert one.told["Anna"][-1] == "Bert comes into the hall."
    await one.type("Anna", "say hello")
    assert two.told["Bert"][-1] == "Anna says: hello"
    await two.type("Bert", "emote dances")
    assert one.told["Anna"][-1] == "* Bert dances"
    await two.type("Bert", "tell anna well?")
    assert one.told["Anna"][-1] == "Bert tells you: well?"
    await one.type("Anna", "go oak board")
    assert two.told["Bert"][-1] == "Anna goes to the oak board."
    await two.type("Bert", "go oak board")
    assert one.told["Anna"][-1] == "Bert walks to the oak board."
    await one.type("Anna", "invite bert as troll")
    assert two.told["Bert"][-1].startswith("Anna invites you to play the trolls")
    assert "2 players connected" in await two.type("Bert", "who")
    await two.type("Bert", "quit")
    assert one.told["Anna"][-1] == "Bert quits."
    assert "1 player connected" in await one.type("Anna", "who")


async def test_new_node_knows_the_players_on_others(world: World, one: Place) -> None:
    await one.enter("Anna", member=True)
    await one.type("Anna", "go oak board")
    two = await world.begin("two")
    await two.enter("Bert")
    assert "Anna is at the oak board" in await two.type("Bert", "who")
    assert two.hall.people["Anna"].is_member


async def test_talk_reaches_nodes_with_different_boards(
    world: World, one: Place, caplog: pytest.LogCaptureFixture
) -> None:
    two = await world.begin("two", BOARDS[1:])
    await one.enter("Anna")
    await two.enter("Bert")
    assert "You walk to the oak board" in await one.type("Anna", "go oak board")
    await one.type("Anna", "say alone here", "go hall", "say hello")
    assert two.told["Bert"][-1] == "Anna says: hello"
    await one.type("Anna", "go oak board", "invite bert", "quit")
    assert "Anna" not in two.service
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]


# 15. Asides about a player arrive before those of the name's next node.


async def test_name_is_released_after_its_notes_are_sent(
    world: World, one: Place, two: Place
) -> None:
    await one.enter("Anna")
    world.store.hold("publish_note")
    leaving = begin(one.leave("Anna"))
    await world.store.held_up()
    assert await world.claimed() == {"Anna": "one"}
    world.store.gate.set()
    await finished(leaving)
    assert "Anna" not in two.service
    assert await world.claimed() == {}


async def test_name_is_released_after_a_failed_note_is_sent_again(
    world: World, one: Place, two: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    await one.enter("Anna")
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(world.store, "publish_note", fail)
        await one.leave("Anna")
    assert "Anna" in two.service
    assert await world.claimed() == {"Anna": "one"}
    await world.pass_by(LEASE / 2, "one", "two")
    await world.until_claimed()
    assert "Anna" not in two.service


async def test_asides_split_into_several_notes_keep_their_order(
    world: World, one: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Aside] = []

    async def notify(note: NodeAsides[Aside], _: object) -> None:
        await asyncio.sleep(0)
        if len(note.asides) > 1:
            raise NoteTooLongError("This is too long.")
        told.extend(note.asides)

    monkeypatch.setattr(world.store, "publish_note", notify)
    here, gone = (Entered("Anna"), Entered("Bert")), Gone("Anna", None, Parting.QUIT)
    node = world.nodes["one"]
    await finished(begin(node.send_asides("", here)), begin(node.send_asides("", (gone,))))
    assert told == [*here, gone]


async def test_report_reaches_other_nodes_without_its_stored_lines(
    world: World, one: Place, two: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure_reports(one.hall, 2)
    await one.enter("Anna", "Bert")
    await two.enter("Carla")
    two.hall.order = Order(operators=frozenset({"carla"}))
    await one.type("Bert", *[f"tell anna {number}" for number in range(3)])
    notes, notify = list[NodeAsides[Aside]](), world.store.publish_note

    async def note(note: NodeAsides[Aside], form: Callable[[], Form]) -> None:
        notes.append(note)
        await notify(note, form)

    monkeypatch.setattr(world.store, "publish_note", note)
    await one.type("Anna", "report bert spam")
    await until(lambda: "Anna reports Bert" in two.told["Carla"][-1])
    assert [aside for each in notes for aside in each.asides] == [
        ReportMade("Anna", "Bert", "spam")
    ]
    assert [each.said for each in await reports(world.store)] == [("tell: 0", "tell: 1", "tell: 2")]


@pytest.mark.parametrize("verb", ["say", "shout", "emote", "tell bert", "report bert"])
async def test_longest_line_of_emoji_fits_into_a_multipart_note(
    world: World, one: Place, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    configure_reports(one.hall, 2)
    await one.enter("Anna", "Bert")
    await world.begin("two")
    notes = list[NodeAsides[Aside]]()

    async def note(note: NodeAsides[Aside], _: object) -> None:
        notes.append(note)

    monkeypatch.setattr(world.store, "publish_note", note)
    await one.type("Anna", f"{verb} ".ljust(MAX_LINE, "\N{GRINNING FACE}"))
    (length,) = [len(note_form().to_text(each)) for each in notes]
    assert LONGEST_NOTE < length < LONGEST_NOTE * MOST_PARTS / 2


@pytest.mark.parametrize(
    "late",
    [
        Gone("Anna", None, Parting.LOST),
        CameIn("Anna", None),
        StyleChosen("Anna", "oak board", Style.FULL),
        ObserveChosen("Anna", "elm board", ("elm board",)),
    ],
    ids=lambda each: type(each).__name__,
)
async def test_late_aside_from_a_previous_node_is_ignored(
    world: World, one: Place, two: Place, late: Aside
) -> None:
    """The node slept, the player moved to another node, and only then does its aside arrive."""
    three = await world.begin("three")
    await one.enter("Anna")
    await two.enter("Anna")
    await two.type("Anna", "go oak board")
    before = copy(three.hall.people["Anna"])
    three.service.apply_remote_asides([late], "one")
    assert three.hall.people["Anna"] == before
    await two.type("Anna", "go hall")
    assert three.hall.people["Anna"].room is None
    await two.leave("Anna")
    assert "Anna" not in three.service


async def test_player_of_a_dead_node_disappears_on_all_others(
    world: World, one: Place, two: Place
) -> None:
    three = await world.begin("three")
    await two.enter("Anna")
    await world.pass_by(2 * LEASE, "one", "three")
    await until(lambda: "Anna" not in one.service and "Anna" not in three.service)


async def test_failed_read_of_a_claim_is_retried(
    world: World, one: Place, two: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "RETRY", 0.0)
    three = await world.begin("three")
    await two.enter("Anna")
    await two.service.hand_over("Anna")
    with monkeypatch.context() as meanwhile:
        do_instead(meanwhile, world.store, nodes.owner, fail)
        three.service.apply_remote_asides([Gone("Anna", None, Parting.LOST)], "one")
    await until(lambda: "Anna" not in three.service)
    await world.until_claimed()


async def test_closed_service_ignores_notes(one: Place, two: Place) -> None:
    await one.service.close()
    await two.enter("Bert")
    await two.type("Bert", "say hello")
    assert "Bert" not in one.service
    assert "Bert" not in one.told


async def test_node_closed_before_it_was_opened_writes_nothing() -> None:
    store = SlowStore.make()
    await Node(store).close()
    assert await store.read(nodes.seconds_since_heartbeat) is None
    await store.close()
