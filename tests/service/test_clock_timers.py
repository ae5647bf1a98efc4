"""Clock timers: fallen flags, warnings, absences, outages and restarts."""

from __future__ import annotations

import asyncio

import pytest

from tests.alarms import Alarms
from tests.game.conftest import ply
from tests.service.place import Place, finished, until
from tests.service.stores import SlowStore
from thudmud.features.playing.moves import Adjourn, Claim, End, Resign, Start, Undo
from thudmud.features.playing.seats import Join
from thudmud.features.playing.setup import SetClock
from thudmud.game.asides import TimeShort
from thudmud.game.clocks import DAY, LONGEST_GRACE, Clock, TimeControl
from thudmud.game.command import Command
from thudmud.game.delivery import Delivery
from thudmud.game.events import (
    Absent,
    BattleEnded,
    ClockHeld,
    IdleWarned,
    Moved,
    Parting,
    TakenBack,
)
from thudmud.game.refusals import Refusal
from thudmud.rules import Ending, Outcome, Side
from thudmud.service import JoinRequest, Node, Result
from thudmud.store import NotWrittenError
from thudmud.values import replace

BOARD = "oak board"
FIRST = replace(ply("A6", "B6"), on=BOARD)


class TimedPlace(Place):
    """A place whose time is advanced by the test."""

    def __init__(
        self, store: SlowStore, node: Node | None = None, return_within: float = 0.0
    ) -> None:
        self.alarms = Alarms(lambda: self.now)
        self.tellings: dict[str, list[Delivery]] = {}
        super().__init__(store, node, later=self.alarms, return_within=return_within)
        self.now, self.store = store.time, store

    def wait(self, seconds: float) -> None:
        """Advance the time and start the alarms that fall due, each at its time."""
        end = self.now + seconds
        while first := self.alarms.take(end):
            self.now = self.store.time = max(self.now, first.at)
            first.call()
        self.now = self.store.time = end

    async def do(self, name: str, *commands: Command) -> Result:
        """Submit commands and return the result of the last one."""
        results = [await self.service.submit(self.visits[name], each) for each in commands]
        return results[-1]

    async def watch(self, *names: str) -> None:
        """Let players join with a watcher, which gets `Delivery` values."""
        for name in names:
            told = self.tellings[name] = []
            visit = await self.service.join(JoinRequest(name, None, watcher=told.append))
            assert visit
            self.visits[name] = visit

    async def begin(self, control: TimeControl | None = None) -> None:
        """Start a battle between Anna and Bert."""
        await self.watch("Anna", "Bert")
        await self.do("Anna", Join(Side.DWARF, BOARD))
        if control:
            await self.do("Anna", SetClock(control, BOARD))
        await self.do("Bert", Join(Side.TROLL, BOARD), Start(BOARD))

    @property
    def clock(self) -> Clock:
        match = self.hall.tables[BOARD].match
        assert match
        assert match.clock
        return match.clock

    @property
    def outcome(self) -> Outcome | None:
        game = self.hall.tables[BOARD].game
        assert game
        return game.outcome

    async def stored(self, kind: type) -> list[object]:
        """Return the board's stored events of a type."""
        entries = await self.store.read_stream(BOARD)
        return [each.event for each in entries if isinstance(each.event, kind)]

    def told_of(self, name: str, kind: type) -> int:
        """Return the number of deliveries of a type to a player."""
        return sum(isinstance(each.event, kind) for each in self.tellings[name])


@pytest.fixture
async def untimed(store: SlowStore) -> TimedPlace:
    place = TimedPlace(store)
    await place.open()
    return place


@pytest.fixture
async def timed(untimed: TimedPlace) -> TimedPlace:
    await untimed.begin(TimeControl(1))
    return untimed


async def test_flag_falls_without_a_command(timed: TimedPlace) -> None:
    timed.wait(59.9)
    assert timed.outcome is None
    timed.wait(0.1)
    await until(lambda: timed.outcome is not None)
    assert timed.outcome
    assert (timed.outcome.ending, timed.outcome.winner) == (Ending.TIME, Side.TROLL)
    assert [timed.told_of(name, BattleEnded) for name in ("Anna", "Bert")] == [1, 1]


async def test_ply_switches_the_clock_to_the_other_side(timed: TimedPlace) -> None:
    timed.wait(30)
    await timed.do("Anna", FIRST)
    timed.wait(59)
    assert timed.outcome is None
    timed.wait(1)
    await until(lambda: timed.outcome is not None)
    assert timed.outcome
    assert timed.outcome.winner is Side.DWARF


async def test_ply_stored_while_the_flag_falls_prevents_the_time_out(
    timed: TimedPlace, store: SlowStore
) -> None:
    timed.wait(59)
    store.hold()
    moving = timed.submit("Anna", "move a6 to b6 on oak board")
    await store.held_up()
    timed.wait(1)
    store.gate.set()
    await finished(moving)
    moved, ended = await timed.stored(Moved), await timed.stored(BattleEnded)
    assert (len(moved), len(ended)) == (1, 0)
    timed.wait(60)
    await until(lambda: timed.outcome is not None)
    assert len(await timed.stored(BattleEnded)) == 1


async def test_ply_typed_in_time_counts_after_an_earlier_opponent_event(
    timed: TimedPlace, store: SlowStore
) -> None:
    timed.wait(59.5)
    store.hold()
    offering = timed.submit("Bert", "end game on oak board")
    await store.held_up()
    moving = timed.submit("Anna", "move a6 to b6 on oak board")
    timed.wait(1)  # Anna's flag would have fallen by now
    store.gate.set()
    await finished(offering, moving)
    assert len(await timed.stored(Moved)) == 1
    assert timed.outcome is None
    # The delay of the append is charged, down to zero.
    assert timed.clock.seconds_left(Side.DWARF) == 0


async def test_flag_stored_before_a_simultaneous_ply_ends_the_battle(
    timed: TimedPlace, store: SlowStore
) -> None:
    timed.wait(59.9)
    store.hold()
    timed.wait(0.1)
    await store.held_up()  # the time-out is being stored
    moving = timed.submit("Anna", "move a6 to b6 on oak board")
    store.gate.set()
    await finished(moving)
    moved, ended = await timed.stored(Moved), await timed.stored(BattleEnded)
    assert (len(moved), len(ended)) == (0, 1)


@pytest.mark.parametrize("is_ply_first", [True, False])
async def test_ply_and_flag_on_two_nodes_lead_to_one_history(
    store: SlowStore,
    is_ply_first: bool,  # noqa: FBT001  (a parameter of the test)
) -> None:
    nodes = [Node(store, name, lease=DAY, clock=lambda: store.time) for name in ("one", "two")]
    for node in nodes:
        await node.open()
    one, two = (TimedPlace(store, node) for node in nodes)
    for place in (one, two):
        await place.open()
    await one.begin(TimeControl(1))
    one.wait(59.9)
    two.now = store.time
    store.hold()
    moving = None
    if is_ply_first:
        moving = one.submit("Anna", "move a6 to b6 on oak board")
        await store.held_up()
    two.wait(0.2)
    await store.held_up()
    if moving is None:
        moving = one.submit("Anna", "move a6 to b6 on oak board")
        await store.held_up()
    store.gate.set()
    await finished(moving)
    two.wait(0)
    moved, ended = await one.stored(Moved), await one.stored(BattleEnded)
    assert (len(moved), len(ended)) == ((1, 0) if is_ply_first else (0, 1))
    assert one.outcome == two.outcome


@pytest.mark.parametrize("late", [False, True])
async def test_correspondence_ply_counts_until_the_deadline(
    untimed: TimedPlace, *, late: bool
) -> None:
    await untimed.begin(TimeControl(days=1))
    for name in ("Anna", "Bert"):
        await untimed.leave(name, Parting.QUIT)
    untimed.wait(DAY - 0.001)
    await untimed.watch("Anna")
    untimed.wait(0.001 if late else 0)
    await untimed.do("Anna", FIRST)
    await until(lambda: (untimed.outcome is not None) is late)
    assert len(await untimed.stored(Moved)) == (0 if late else 1)


async def test_correspondence_deadline_is_extended_by_an_outage(
    untimed: TimedPlace, store: SlowStore
) -> None:
    node = Node(store, "first", lease=60, clock=lambda: store.time)
    await untimed.begin(TimeControl(days=1))
    untimed.wait(DAY - 130)
    await node.open()
    untimed.wait(30)
    await node.renew()  # its last heartbeat
    store.time += 3600
    await Node(store, "second", lease=DAY, clock=lambda: store.time).open()
    again = TimedPlace(store)
    await again.open()
    again.wait(99)
    assert again.outcome is None
    again.wait(1)
    await until(lambda: again.outcome is not None)


async def test_correspondence_deadline_is_not_moved_by_offers(untimed: TimedPlace) -> None:
    await untimed.begin(TimeControl(days=1))
    await untimed.do("Anna", FIRST)
    untimed.wait(DAY - 1)
    deadline = untimed.clock.deadline
    await untimed.do("Anna", Undo(BOARD), Adjourn(BOARD))
    await untimed.do("Bert", End(BOARD))
    await untimed.leave("Bert", Parting.QUIT)
    assert untimed.clock.deadline == deadline
    untimed.wait(1)
    await until(lambda: untimed.outcome is not None)
    assert untimed.outcome
    assert untimed.outcome.winner is Side.DWARF
    assert not await untimed.stored(TakenBack)


async def test_late_ply_ends_the_battle_on_time(timed: TimedPlace, store: SlowStore) -> None:
    timed.now = store.time = timed.now + 61  # without running the timers
    result = await timed.do("Anna", FIRST)
    assert not result.refusal
    assert await timed.stored(Moved) == []
    assert timed.outcome
    assert timed.outcome.ending is Ending.TIME


async def test_low_time_warning_is_sent_once_per_battle(timed: TimedPlace) -> None:
    timed.wait(49)
    assert timed.told_of("Anna", TimeShort) == 0
    timed.wait(1)
    await until(lambda: timed.told_of("Anna", TimeShort) == 1)
    assert timed.told_of("Bert", TimeShort) == 0
    await timed.do("Anna", FIRST)
    timed.wait(50)
    await until(lambda: timed.told_of("Bert", TimeShort) == 1)
    assert timed.told_of("Anna", TimeShort) == 1


@pytest.mark.parametrize(
    ("control", "away"),
    [(TimeControl(1), TimeControl(1).grace + 55), (TimeControl(days=1), 0.9 * DAY)],
)
async def test_low_time_warning_reaches_a_returning_player_once(
    untimed: TimedPlace, control: TimeControl, away: float
) -> None:
    await untimed.begin(control)
    await untimed.leave("Anna")
    untimed.wait(away)
    await untimed.watch("Anna")
    untimed.wait(1)
    await until(lambda: untimed.told_of("Anna", TimeShort) == 1)
    assert untimed.outcome is None
    await untimed.leave("Anna")
    await untimed.watch("Anna")
    untimed.wait(1)
    await untimed.do("Anna", FIRST)  # a barrier: runs after everything started before it
    assert untimed.told_of("Anna", TimeShort) == 0


async def test_clock_pauses_during_the_grace_of_an_absent_player(timed: TimedPlace) -> None:
    timed.wait(50)
    await timed.leave("Bert")
    timed.wait(TimeControl(1).grace + 9)
    assert timed.outcome is None
    timed.wait(1)
    await until(lambda: timed.outcome is not None)


async def test_time_out_that_cannot_be_stored_is_retried(
    timed: TimedPlace, store: SlowStore
) -> None:
    store.hold()
    store.broken = True
    timed.wait(60)
    await store.held_up()
    store.gate.set()
    await until(lambda: timed.alarms.due[-1:] > [timed.now])
    assert timed.outcome is None
    store.broken = False
    timed.wait(60)
    await until(lambda: timed.outcome is not None)


async def test_clock_does_not_run_while_no_server_is_up(
    timed: TimedPlace, store: SlowStore
) -> None:
    node = Node(store, "first", lease=60, clock=lambda: store.time)
    await node.open()
    timed.wait(58)
    await node.renew()  # its last heartbeat: 2 seconds are left
    store.time += 3600
    await Node(store, "second", clock=lambda: store.time).open()
    again = TimedPlace(store)
    await again.open()
    assert again.outcome is None
    assert len(await again.stored(ClockHeld)) == 1
    assert again.clock.seconds_left(Side.DWARF) == pytest.approx(2)
    await again.enter("Anna", "Bert")
    again.wait(1)
    assert again.outcome is None
    again.wait(1)
    await until(lambda: again.outcome is not None)
    assert again.outcome
    assert again.outcome.winner is Side.TROLL


async def test_grace_after_a_restart_is_two_minutes(timed: TimedPlace, store: SlowStore) -> None:
    timed.wait(10)
    again = TimedPlace(store)
    await again.open()
    await again.enter("Anna")
    again.wait(LONGEST_GRACE - 1)
    await again.enter("Bert")
    assert again.clock.seconds_left(Side.DWARF) == pytest.approx(50)
    await again.leave("Anna")  # on her own, so her normal grace applies
    again.wait(TimeControl(1).grace + 49)
    assert again.outcome is None
    again.wait(1)
    await until(lambda: again.outcome is not None)


async def test_grace_after_the_death_of_a_node_is_two_minutes(
    store: SlowStore,
) -> None:
    first, second = (Node(store, name, clock=lambda: store.time) for name in ("one", "two"))
    await first.open()
    dead = TimedPlace(store, first)
    await dead.open()
    await dead.begin(TimeControl(1))
    await second.open()
    alive = TimedPlace(store, second)
    await alive.open()
    alive.now = store.time = store.time + 20
    await second.renew()
    await second.reap()
    await until(lambda: len(alive.hall.tables[BOARD].away) == 2)
    assert alive.clock.remaining_standstill == LONGEST_GRACE
    absences = await alive.stored(Absent)
    assert {each.parting for each in absences if isinstance(each, Absent)} == {Parting.CUT_OFF}


async def test_clock_does_not_run_while_the_database_is_away(store: SlowStore) -> None:
    node = Node(store, "one", lease=70, clock=lambda: store.time)
    await node.open()
    place = TimedPlace(store, node)
    await place.open()
    await place.begin(TimeControl(1))
    place.now = store.time = store.time + 5
    await node.renew()
    place.now = store.time = store.time + 100  # an outage of the database, not of this server
    await node.renew()
    assert place.clock.seconds_left(Side.DWARF) == pytest.approx(55)
    place.wait(50)
    assert place.outcome is None
    place.wait(5)
    await until(lambda: place.outcome is not None)


async def test_flag_watched_by_two_nodes_falls_once(store: SlowStore) -> None:
    nodes = [Node(store, name, lease=DAY, clock=lambda: store.time) for name in ("one", "two")]
    for node in nodes:
        await node.open()
    one, two = (TimedPlace(store, node) for node in nodes)
    for place in (one, two):
        await place.open()
    await one.begin(TimeControl(1))
    store.hold()
    one.wait(60)
    two.wait(60)
    for _ in nodes:
        await store.held_up()
    store.gate.set()
    await until(lambda: bool(one.outcome and two.outcome))
    assert len(await one.stored(BattleEnded)) == 1


async def test_correspondence_clock_runs_while_both_players_are_away(untimed: TimedPlace) -> None:
    await untimed.begin(TimeControl(days=1))
    for name in ("Anna", "Bert"):
        await untimed.leave(name, Parting.QUIT)
    untimed.wait(DAY - 60)
    assert untimed.outcome is None
    await untimed.watch("Anna")
    await untimed.do("Anna", FIRST)
    await untimed.leave("Anna", Parting.QUIT)
    untimed.wait(DAY)
    await until(lambda: untimed.outcome is not None)
    assert untimed.outcome
    assert untimed.outcome.winner is Side.DWARF


async def test_idle_player_is_warned_before_a_claim_succeeds(untimed: TimedPlace) -> None:
    await untimed.begin()
    result = await untimed.do("Bert", Claim(BOARD))
    assert result.refusal
    assert result.refusal.code is Refusal.NOT_IDLE
    untimed.wait(540)
    await until(lambda: untimed.hall.tables[BOARD].warned_at is not None)
    assert [untimed.told_of(name, IdleWarned) for name in ("Anna", "Bert")] == [1, 1]
    untimed.wait(60)
    await untimed.do("Bert", Claim(BOARD))
    assert untimed.outcome
    assert untimed.outcome.ending is Ending.CLAIM


async def test_board_without_a_battle_has_no_timers(timed: TimedPlace) -> None:
    await timed.do("Anna", Resign(BOARD))
    timed.wait(10_000)
    assert not timed.alarms.due


async def test_closed_service_ends_no_battle(timed: TimedPlace) -> None:
    await timed.service.close()
    timed.wait(100)
    assert await timed.stored(BattleEnded) == []


async def test_timer_after_a_conflict_waits_before_its_retry(
    timed: TimedPlace, store: SlowStore
) -> None:
    store.conflict = True
    timed.wait(60)
    for _ in range(100):
        await asyncio.sleep(0)
    assert not [each for each in timed.alarms.due if each <= timed.now]


async def test_seat_after_the_last_correspondence_battle_is_given_up(
    untimed: TimedPlace,
) -> None:
    await untimed.begin(TimeControl(days=1))
    await untimed.do("Anna", Resign(BOARD))
    for name in ("Anna", "Bert"):
        await untimed.leave(name, Parting.LOST)
    await untimed.watch("Anna")
    await untimed.do("Anna", Start(BOARD), Resign(BOARD))
    untimed.wait(DAY)
    await until(lambda: "Bert" not in untimed.hall.tables[BOARD].seats.values())


async def test_start_succeeds_although_a_clock_pause_cannot_be_stored(
    timed: TimedPlace, store: SlowStore, caplog: pytest.LogCaptureFixture
) -> None:
    node = Node(store, "first", lease=60, clock=lambda: store.time)
    await node.open()
    store.time += 3600
    await Node(store, "second", clock=lambda: store.time).open()
    again = TimedPlace(store)
    await again.service.open()
    store.broken = True
    with pytest.raises(NotWrittenError):
        await again.service.finish_start(must_store=True)
    await again.service.finish_start()
    assert "The disk is full." in caplog.text
    assert await again.stored(ClockHeld) == []
