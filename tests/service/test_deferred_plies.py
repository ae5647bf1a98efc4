"""Plies of other nodes that concern nobody here: deferred, and yet nobody can tell."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.game.conftest import ply
from tests.service.place import BOARDS, Place, Screen, begin, finished, until
from tests.service.stores import SlowStore
from tests.service.test_clock_timers import TimedPlace
from thudmud.features.archive.model import Replaying
from thudmud.features.playing.seats import Join
from thudmud.game.asides import TimeShort
from thudmud.game.clocks import TimeControl
from thudmud.game.events import BattleEnded, IdleWarned
from thudmud.rules import Ending, Side
from thudmud.service import Node
from thudmud.service.boards import load_open_boards, load_table, rename_board
from thudmud.store import Store, running
from thudmud.values import replace
from thudmud.views import Terminal

BOARD = "oak board"
FOREVER = 1e6
"""A lease that outlasts each test."""

LEASE = 10.0
TO_AND_FRO = [
    ("Anna", replace(ply("A6", "B6"), on=BOARD)),
    ("Bert", replace(ply("G7", "F7"), on=BOARD)),
    ("Anna", replace(ply("B6", "A6"), on=BOARD)),
    ("Bert", replace(ply("F7", "G7"), on=BOARD)),
]


class Pair:
    """Two nodes on a store: Anna and Bert play on the first, and Carla is on the second.

    Attributes:
        one: the first node's place.
        two: the second node's place.
    """

    def __init__(self, store: SlowStore) -> None:
        self.store = store
        self._plies = 0

    async def open(self, lease: float = FOREVER) -> None:
        """Start both nodes, the first with the given lease."""
        self.one, self.two = await self.begin("one", lease), await self.begin("two", FOREVER)
        await self.two.watch("Carla")

    async def begin(self, name: str, lease: float) -> TimedPlace:
        self.node = Node(self.store, name, lease=lease, clock=lambda: self.store.time)
        await self.node.open()
        place = TimedPlace(self.store, self.node)
        await place.open()
        return place

    async def play(self, control: TimeControl | None = None) -> None:
        """Start a battle on the first node."""
        await self.one.begin(control)
        assert self.deferred == 0

    async def ply(self, place: TimedPlace | None = None) -> None:
        """Let the player to move play the next ply."""
        player, move = TO_AND_FRO[self._plies % 4]
        self._plies += 1
        result = await (place or self.one).do(player, move)
        assert not result.refusal

    def wait(self, until: float) -> None:
        """Advance the time of both nodes; only the second one's timers run."""
        self.two.wait(until - self.two.now)
        self.one.now = self.two.now

    @property
    def deferred(self) -> int:
        """The number of plies that wait on the second node."""
        tables = self.two.hall.tables
        version = tables.version_of(BOARD)
        assert version is not None
        return version - tables.without_deferred(BOARD).version


@pytest.fixture
async def pair(store: SlowStore) -> Pair:
    pair = Pair(store)
    await pair.open()
    return pair


# Who looks.


async def test_ply_without_local_people_is_deferred_until_somebody_looks(
    pair: Pair,
) -> None:
    await pair.play()
    await pair.ply()
    await pair.ply()
    assert pair.deferred == 2
    await pair.two.enter("Dora")
    assert "G7 to F7" in await pair.two.type("Dora", "look at oak board")
    assert pair.deferred == 0
    assert pair.two.hall.tables == pair.one.hall.tables


@pytest.mark.parametrize("line", ["go to oak board", "observe oak board"])
async def test_ply_is_delivered_at_once_to_those_who_watch_its_board(pair: Pair, line: str) -> None:
    await pair.play()
    await pair.ply()
    await pair.two.enter("Dora")
    await pair.two.type("Dora", line)
    await pair.ply()
    assert "Bert moves the troll from G7 to F7" in pair.two.told["Dora"][-1]
    await pair.two.type("Dora", "unobserve oak board", "go to hall")
    await pair.ply()
    assert pair.deferred == 1
    assert "Anna moves" not in pair.two.told["Dora"][-1]


async def test_onlooker_without_a_name_is_told_of_plies(pair: Pair) -> None:
    await pair.play()
    page, hall = Screen(), Screen()
    terminal = Terminal(packages=frozenset({"Thud"}))
    onlooker = pair.two.service.watch(page, terminal, "oak board")
    assert onlooker
    assert pair.two.service.watch(hall, terminal, None)
    await pair.ply()
    assert any(each.package == "Thud.Move" for each in page.messages)
    assert not any(each.package == "Thud.Move" for each in hall.messages)
    pair.two.service.unwatch(onlooker)
    await pair.ply()
    assert pair.deferred == 1


async def test_onlooker_of_a_renamed_board_is_told_of_plies(pair: Pair) -> None:
    await pair.play()
    page = Screen()
    assert pair.two.service.watch(page, Terminal(packages=frozenset({"Thud"})), "oak board")
    await pair.ply()
    page.messages.clear()
    await rename_board(pair.store, BOARD, "ash board", pair.two.now)
    await pair.one.do("Bert", replace(TO_AND_FRO[1][1], on="ash board"))
    assert any(each.package == "Thud.Move" for each in page.messages)


async def test_seated_player_in_the_hall_is_told_of_the_opponents_ply(pair: Pair) -> None:
    await pair.play()
    await pair.two.enter("Bert")
    await pair.two.type("Bert", "go to hall")
    await pair.ply()
    assert "Anna moves the dwarf from A6 to B6" in pair.two.told["Bert"][-1]


async def test_ply_ends_the_replay_of_a_seated_player(pair: Pair) -> None:
    await pair.play()
    person = pair.two.hall.people["Anna"]
    person.keep(Replaying())
    await pair.ply()
    assert Replaying not in person.parts


async def test_entries_that_come_again_change_nothing(pair: Pair) -> None:
    await pair.play()
    await pair.ply()
    await pair.ply()
    await pair.two.service.follow(0)
    assert pair.two.hall.tables == pair.one.hall.tables


async def test_look_during_another_nodes_commit_is_followed_by_the_ply(
    pair: Pair,
) -> None:
    await pair.play()
    await pair.two.enter("Dora")
    pair.store.hold()
    moving = begin(pair.one.service.submit(pair.one.visits["Anna"], TO_AND_FRO[0][1]))
    await pair.store.held_up()
    assert "Last move" not in await pair.two.type("Dora", "go to oak board")
    pair.store.gate.set()
    await finished(moving)
    assert "Anna moves the dwarf from A6 to B6" in pair.two.told["Dora"][-1]
    assert pair.deferred == 0


async def test_decision_at_a_board_with_deferred_plies_has_no_conflict(pair: Pair) -> None:
    await pair.play()
    await pair.ply()
    await pair.two.watch("Anna")  # from the other node
    await pair.ply()
    await pair.ply(pair.two)
    assert pair.two.plies() == pair.one.plies() == 3


async def test_mover_used_the_board_last_also_on_the_other_node(pair: Pair) -> None:
    await pair.play()
    await pair.two.do("Carla", Join(Side.DWARF, "elm board"))
    pair.two.hall.people["Anna"].last_board = None
    await pair.ply()
    assert pair.deferred == 1
    assert pair.two.hall.people["Anna"].last_board == BOARD


async def test_plies_that_an_absent_player_misses_are_kept(pair: Pair) -> None:
    await pair.play()
    await pair.one.leave("Bert")
    await pair.ply()
    assert pair.deferred == 0
    [(moved, table)] = pair.two.hall.missed[BOARD, Side.TROLL]
    assert table.game == pair.one.hall.tables[BOARD].game
    assert moved.player == "Anna"


async def test_deferred_plies_survive_the_end_of_their_node(store: SlowStore) -> None:
    pair = Pair(store)
    await pair.open(LEASE)
    await pair.play()
    await pair.ply()
    assert pair.deferred == 1
    pair.wait(pair.two.now + 2 * LEASE)  # nobody renews the lease of the first node
    await pair.node.reap()
    await until(lambda: pair.two.away() == {"Anna", "Bert"})
    [board] = [each for each in await load_open_boards(pair.store) if each.key == BOARD]
    stored = await load_table(pair.store, board)
    assert pair.two.hall.tables[BOARD].game == stored.game
    assert pair.two.hall.tables[BOARD].version == stored.version


# Timers.


async def flags(pair: Pair) -> list[object]:
    return await pair.two.stored(BattleEnded)


async def test_flag_falls_once_at_a_board_with_deferred_plies(pair: Pair) -> None:
    await pair.play(TimeControl(1))
    start = pair.two.now
    for seconds in (45, 47):  # Anna has 15 seconds left
        pair.wait(start + seconds)
        await pair.ply()
    assert pair.deferred == 2
    pair.wait(start + 61.9)
    assert not await flags(pair)
    pair.wait(start + 62)
    await until(lambda: pair.two.outcome is not None)
    pair.wait(start + 200)
    [ended] = await flags(pair)
    assert isinstance(ended, BattleEnded)
    assert (ended.outcome.ending, ended.outcome.winner) == (Ending.TIME, Side.TROLL)
    assert pair.one.hall.tables == pair.two.hall.tables


async def test_flag_falls_in_time_after_a_deferred_ply_of_the_other_side(
    pair: Pair,
) -> None:
    await pair.play(TimeControl(1))
    start = pair.two.now
    for seconds in (1, 52, 62):  # Bert has 9 seconds left, Anna 49
        pair.wait(start + seconds)
        await pair.ply()
    pair.wait(start + 70.9)
    assert not await flags(pair)
    pair.wait(start + 71)
    await until(lambda: pair.two.outcome is not None)
    assert len(await flags(pair)) == 1


async def test_idle_players_are_warned_though_their_plies_are_deferred(pair: Pair) -> None:
    await pair.play()
    start = pair.two.now

    async def warned() -> list[object]:
        return await pair.two.stored(IdleWarned)

    pair.wait(start + 530)
    await pair.ply()
    pair.wait(start + 1069)
    assert not await warned()
    pair.wait(start + 1071)
    assert len(await warned()) == 1
    pair.wait(start + 1100)
    await pair.ply()  # the table before it has no more warnings to come
    assert pair.deferred == 1
    pair.wait(start + 1639)
    assert len(await warned()) == 1
    pair.wait(start + 1641)
    assert len(await warned()) == 2


async def test_player_who_comes_from_another_node_is_told_that_time_is_short(pair: Pair) -> None:
    await pair.play(TimeControl(1))
    start = pair.two.now
    for seconds in (30, 31):  # Anna has 30 seconds left
        pair.wait(start + seconds)
        await pair.ply()
    assert pair.deferred
    pair.wait(start + 35)
    await pair.two.watch("Anna")
    pair.wait(start + 50)
    assert pair.two.told_of("Anna", TimeShort) == 0
    pair.wait(start + 51)
    assert pair.two.told_of("Anna", TimeShort) == 1
    pair.wait(start + 60)
    assert pair.two.told_of("Anna", TimeShort) == 1


async def test_short_time_of_the_side_that_was_not_to_move_is_noticed(
    pair: Pair,
) -> None:
    await pair.play(TimeControl(3))
    start = pair.two.now
    pair.wait(start + 140)
    await pair.ply()
    pair.wait(start + 150)  # the table is read: it's Bert's turn, with 180 seconds left
    assert pair.deferred == 0
    pair.wait(start + 155)
    await pair.ply()  # Anna has 40 seconds left
    pair.wait(start + 156)
    await pair.two.watch("Anna")
    pair.wait(start + 164)
    assert pair.two.told_of("Anna", TimeShort) == 0
    pair.wait(start + 165)
    assert pair.two.told_of("Anna", TimeShort) == 1


# On PostgreSQL, where each node has a store of its own.


class Nodes:
    """Two nodes with a place each, on stores of their own."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._opened: list[tuple[Store, Node]] = []

    async def begin(self, name: str) -> Place:
        store = await Store.connect(self._dsn, poll=FOREVER)
        node = Node(store, name)
        await node.open()
        place = Place(store, node, BOARDS, clock=store.clock)
        await place.open()
        self._opened.append((store, node))
        return place

    async def close(self, *places: Place) -> None:
        for place in places:
            await place.service.close()
        for store, node in self._opened:
            await node.close()
            await store.close()


@pytest.fixture
async def places(dsn: str) -> AsyncIterator[tuple[Place, Place]]:
    nodes = Nodes(dsn)
    one, two = await nodes.begin("one"), await nodes.begin("two")
    yield one, two
    await nodes.close(one, two)


def versions(place: Place) -> int | None:
    return place.hall.tables.version_of(BOARD)


async def test_plies_reach_a_node_of_a_real_database_late_or_at_once(
    places: tuple[Place, Place],
) -> None:
    one, two = places
    await one.sit()
    await until(lambda: versions(two) == versions(one))
    await one.type("Anna", "move a6 to b6")
    await until(lambda: versions(two) == versions(one))
    assert two.hall.tables.without_deferred(BOARD).version < (versions(two) or 0)
    await two.enter("Carla")
    assert "It is Bert's turn" in await two.type("Carla", "go to oak board")
    assert two.plies() == 1
    await one.type("Bert", "move g7 to f7")
    await until(lambda: any("Bert moves the troll" in each for each in two.told["Carla"]))
    assert two.hall.tables == one.hall.tables
    assert two.hall.tables[BOARD] == await load_stored(two)


async def test_watched_ply_does_not_wait_for_a_poll(
    places: tuple[Place, Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = places
    monkeypatch.setattr(running, "POLL_DELAY", FOREVER)
    await one.sit()
    await two.enter("Carla")
    await two.type("Carla", "go to oak board")
    await until(lambda: versions(two) == versions(one))
    await one.type("Anna", "move a6 to b6")
    await until(lambda: any("Anna moves the dwarf" in each for each in two.told["Carla"]))


async def test_player_goes_on_playing_on_another_node_of_a_real_database(
    places: tuple[Place, Place],
) -> None:
    one, two = places
    await one.sit()
    await one.type("Anna", "move a6 to b6")
    await two.enter("Bert")  # claims the name, and so catches up
    assert two.plies() == 1
    assert "You move" in await two.type("Bert", "move g7 to f7 on oak board")
    await until(lambda: versions(two) == versions(one))
    assert two.hall.tables[BOARD] == one.hall.tables[BOARD]


async def load_stored(place: Place) -> object:
    store = place.service.store
    [board] = [each for each in await load_open_boards(store) if each.key == BOARD]
    table, limits = await load_table(store, board), place.hall.tables[BOARD]
    return replace(
        table,
        quiet_limit=limits.quiet_limit,
        seat_grace=limits.seat_grace,
        idle_limit=limits.idle_limit,
    )
