"""Pruning drops unneeded events and leaves all query results unchanged."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.house.plays import BEGUN, DEEDS, NAMES, PLAYS, RICH_DEEDS, do, house_of
from tests.store.deeds import (
    NOON,
    OAK,
    PINE,
    Clock,
    Taken,
    cleared,
    events_of,
    everything,
    is_in_order,
    joined,
    moved,
    same,
    started,
)
from thudmud.cli.export import export
from thudmud.game.archive import BattleLookup
from thudmud.game.clocks import TimeControl
from thudmud.game.events import (
    Absent,
    Adjourned,
    BattleStarted,
    BoardClosed,
    BoardOpened,
    BoardRenamed,
    ClockHeld,
    Commented,
    Declined,
    Event,
    IdleWarned,
    Interrupted,
    Left,
    Offer,
    Offered,
    OfferLapsed,
    Parting,
    Resumed,
    Returned,
    RulesSet,
    SavedMatch,
    SeekEnd,
    SeekEnded,
    SeekMade,
    StoredEvent,
    TimeSet,
)
from thudmud.game.match import fold_game
from thudmud.game.projections import HALL, match_stream
from thudmud.game.table import ply_seconds_of
from thudmud.rules import Side
from thudmud.service.boards import load_open_boards, load_table
from thudmud.store import (
    DamagedStoreError,
    Store,
    StoreError,
    hall,
    pruning,
    run_synchronously,
    scores,
    upkeep,
)
from thudmud.store import battles as battle_rows
from thudmud.store.checking import check_backend, check_file
from thudmud.store.codec import from_line
from thudmud.store.database import Database
from thudmud.store.files import InMemory, OnDisk
from thudmud.store.pruning import YOUNG, Pruning

LATER = NOON + 10**8
FOREVER = LATER + 10**8

SPARE = {
    "joined", "left", "absent", "returned", "rules", "set up", "time", "offered", "lapsed",
    "declined", "warned", "seek", "seek ended", "opened", "closed", "renamed", "adjourned",
    "resumed", "commented",
}  # fmt: skip

Deed = tuple[str, str]
CLOCKS = st.tuples(st.sampled_from(NAMES), st.just("set clock 5+3 on oak board"))


def stored(lines: Iterable[str]) -> Store:
    """Return a store of events that keep their times, all in the distant past."""
    store = Store.in_memory(clock=lambda: LATER)
    events = [from_line(line) for line in lines]
    run_synchronously(store.import_events(events, lambda _: None))
    return store


def happened(deeds: Sequence[Deed]) -> list[str]:
    """Return the events of players acting in turn, one command a minute."""
    house = house_of(10.0)
    for minute, (name, deed) in enumerate(deeds):
        now = NOON + 60.0 * minute
        house.pass_time(now)
        do(house, name, deed, now)
    return house.events()


async def known(store: Store) -> dict[str, Any]:
    """Return all queryable facts about battles and players, computed afresh."""
    battles = await store.read(battle_rows.battles, most=10_000)
    told: dict[str, Any] = {}
    for battle in battles:
        events = cast("Sequence[Event]", await store.read(battle_rows.battle_events, battle))
        told[f"battle {battle.number}"] = (
            battle,
            fold_game(events),
            ply_seconds_of(events),
            await store.read(battle_rows.comments, battle.number),
            await store.look_up(BattleLookup(battle.number)),
        )
    for name in NAMES:
        told[name] = (
            await store.read(battle_rows.history, name),
            await store.read(scores.score, name, curves=True),
            await store.read(battle_rows.adjourned, name),
        )
    for board in await load_open_boards(store):
        told[board.name] = board, await load_table(store, board)
    told["standings"] = await store.read(scores.standings), await store.read(hall.open_seeks)
    told["streams"] = (
        await store.read(Database.stream_versions),
        await store.position(),
        await store.read(hall.interruptions, 0),
    )
    return told


class TestAnyHistory:
    @examples(10)
    @given(
        st.lists(DEEDS | CLOCKS, max_size=20),
        PLAYS,
        st.lists(st.integers(0, 90), min_size=1, max_size=3),
    )
    def test_pruning_preserves_all_query_results(
        self, before: list[Deed], after: list[Deed], minutes: list[int]
    ) -> None:
        store = stored(happened([*before, *BEGUN, *after]))
        told = run_synchronously(known(store))
        for minute in minutes:
            report = run_synchronously(upkeep.prune(store, NOON + 60.0 * minute))
            assert report.dropped.keys() <= SPARE
            assert run_synchronously(known(store)) == told
            assert run_synchronously(store.check()) is None

    def test_pruning_drops_events_of_a_rich_history(self) -> None:
        lines = happened([*RICH_DEEDS, *RICH_DEEDS])
        store = stored(lines)
        told = run_synchronously(known(store))
        in_all = len(run_synchronously(everything(store)))
        report = run_synchronously(upkeep.prune(store, FOREVER))
        assert report.dropped.total() >= 15
        assert len(run_synchronously(everything(store))) == in_all - report.dropped.total()
        assert run_synchronously(known(store)) == told
        assert not run_synchronously(upkeep.prune(store, FOREVER)).dropped

    async def test_pruning_leaves_exported_records_unchanged(self, tmp_path: Path) -> None:
        store = stored(happened([*RICH_DEEDS, *RICH_DEEDS]))
        await export(store, tmp_path / "before")
        await upkeep.prune(store, FOREVER)
        await export(store, tmp_path / "after")
        one, two = (
            {path.name: path.read_text() for path in (tmp_path / each).iterdir()}
            for each in ("before", "after")
        )
        assert one
        assert one == two


ANNA, BERT = Side.DWARF, Side.TROLL
AWAY = (Absent(1.0, "Bert", BERT, Parting.LOST), Returned(1.0, "Bert", BERT))
OFFERS = (
    Offered(1.0, "Anna", Offer.END),
    OfferLapsed(1.0, "Anna", Offer.END),
    Offered(1.0, "Anna", Offer.END),
    Declined(1.0, "Bert", Offer.END),
)


async def put(store: Store, stream: str, *events: StoredEvent) -> None:
    await store.append({stream: (await store.version(stream), events)})


class TestAtBoards:
    async def test_pruning_drops_preliminaries_of_old_matches_but_no_plies(
        self, store: Store, clock: Clock
    ) -> None:
        kept = started(1), moved(0), cleared(1), started(2), moved(0)
        await put(
            store, OAK, joined(1), RulesSet(1.0, "Anna", "classic"), TimeSet(1.0, "Anna", None)
        )
        await put(store, OAK, kept[0], *AWAY, kept[1], *OFFERS, IdleWarned(1.0, "Bert", BERT))
        await put(store, OAK, Left(1.0, "Anna", ANNA, Parting.LEFT), kept[2], joined(1))
        await put(store, OAK, *kept[3:], *AWAY)
        clock.now = LATER
        report = await upkeep.prune(store, FOREVER)
        assert report.dropped.total() == 3 + 2 + 4 + 1 + 1 + 1
        left = await store.read_stream(OAK)
        assert events_of(left) == same(*kept, *AWAY)
        assert [each.version for each in left] == [4, 7, 14, 16, 17, 18, 19]
        assert [each.position for each in left] == [4, 7, 14, 16, 17, 18, 19]
        assert await store.version(OAK) == 19
        assert [each.version for each in await store.read_stream(OAK, 5, 4)] == [7]
        await is_in_order(store)

    async def test_pruning_keeps_events_after_the_cutoff_and_recent_ones(
        self, store: Store, clock: Clock
    ) -> None:
        for day in range(4):
            clock.now = NOON + day * 86_400.0
            await put(store, OAK, joined(day), started(day), cleared(day))
        assert (await upkeep.prune(store, NOON + 1.5 * 86_400.0)).dropped == {"joined": 2}
        assert (await upkeep.prune(store, FOREVER)).dropped == {"joined": 1}
        clock.now += YOUNG
        assert (await upkeep.prune(store, FOREVER, drops=False)).dropped == {"joined": 1}
        assert (await upkeep.prune(store, FOREVER)).dropped == {"joined": 1}

    async def test_pruning_keeps_absences_of_timed_battles(
        self, store: Store, clock: Clock
    ) -> None:
        untimed = started(1)
        timed = BattleStarted(1.0, "Anna", 1, "discworld", "Anna", "Bert", time=TimeControl(5))
        held = ClockHeld(1.0, "", 5.0)
        await put(store, OAK, untimed, *AWAY, timed, *AWAY, held, *OFFERS, cleared(1), *AWAY)
        await put(store, OAK, cleared(1))
        clock.now = LATER
        await upkeep.prune(store, FOREVER)
        left = events_of(await store.read_stream(OAK))
        assert left == same(untimed, timed, *AWAY, held, cleared(1), cleared(1))

    async def test_pruning_keeps_the_last_state_of_an_adjourned_match(
        self, store: Store, clock: Clock
    ) -> None:
        await put(store, OAK, started(1))
        (began,) = await store.read(battle_rows.battles)
        saved = SavedMatch(began.id, 1, "discworld", (0, 0), "Anna", "Bert", True, (), None)  # noqa: FBT003
        for event in (Adjourned, Resumed, Adjourned):
            version = await store.version(OAK)
            await store.append_to_board(OAK, version, [event(1.0, "Anna", saved)])
        told = await store.read(battle_rows.adjourned, "Anna")
        clock.now = LATER
        assert (await upkeep.prune(store, FOREVER)).dropped == {"adjourned": 1, "resumed": 1}
        assert len(await store.read_stream(match_stream(began.id))) == 1
        assert await store.read(battle_rows.adjourned, "Anna") == told
        await store.append_to_board(OAK, 4, [Resumed(1.0, "Anna", saved)])
        await is_in_order(store)


class TestInTheHall:
    async def test_pruning_keeps_open_seeks_and_boards(self, store: Store, clock: Clock) -> None:
        await put(store, OAK, started(1), cleared(1))
        await put(
            store,
            HALL,
            BoardOpened(1.0, "", OAK, OAK, "discworld"),
            BoardOpened(1.0, "", PINE, PINE, "discworld"),
            SeekMade(1.0, "Anna", 1, "discworld"),
            SeekMade(1.0, "Bert", 2, "discworld"),
            BoardRenamed(1.0, "", PINE, "fir board"),
            SeekEnded(1.0, "Anna", 1, SeekEnd.WITHDRAWN, "Anna"),
            BoardClosed(1.0, "", PINE),
            SeekMade(1.0, "Carla", 1, "discworld"),
            BoardOpened(1.0, "", "client/board", "their board", "discworld"),
            BoardClosed(1.0, "", "client/board"),
            Interrupted(1.0, 0.5),
            Commented(1.0, "Anna", OAK, 1, 1, "Well plaid."),
            Commented(1.0, "Anna", OAK, 1, 2, "Oh."),
            Commented(1.0, "Bert", OAK, 1, 1, "Thanks."),
            Commented(1.0, "Anna", OAK, 1, 1, "Well played."),
            Commented(1.0, "Anna", OAK, 1, 2, ""),
        )
        told = (
            await store.read(hall.open_boards),
            await store.read(hall.open_seeks),
            await store.read(battle_rows.comments, 1),
        )
        clock.now = LATER
        report = await upkeep.prune(store, FOREVER)
        assert report.dropped == {
            "seek": 1, "seek ended": 1, "opened": 1, "renamed": 1, "closed": 1,
            "commented": 3,
        }  # fmt: skip
        assert [entry.version for entry in await store.read_stream(HALL)] == [
            1,
            4,
            8,
            9,
            10,
            11,
            14,
            15,
        ]
        assert len(told[2]) == 2
        assert await store.read(battle_rows.comments, 1) == told[2]
        assert (*told[:2], await store.read(battle_rows.comments, 1)) == told
        assert (await store.read(hall.open_boards), await store.read(hall.open_seeks)) == told[:2]
        await is_in_order(store)


class TestWhatIsGoneIsKnown:
    @pytest.fixture
    async def pruned(self, path: Path) -> Path:
        """Return the file of a store with some gaps."""
        store = await Store.open(path, clock=lambda: NOON)
        for stream in (OAK, PINE) * 2:
            await put(store, stream, joined(1), *AWAY, started(1), moved(0), cleared(1))
        await store.close()
        store = await Store.open(path, clock=lambda: LATER)
        await upkeep.prune(store, FOREVER)
        await store.close()
        return path

    def test_adjacent_gaps_are_merged(self, pruned: Path) -> None:
        assert check_file(pruned).events == 12
        database = Database(OnDisk(pruned, serving=False, lock_timeout=1.0), lambda: LATER)
        gaps = list(database.table.rows("gap", "order by first"))
        assert gaps == [(1, 3), (7, 9), (13, 15), (19, 21)]
        database.close()

    @pytest.mark.parametrize(
        "statement",
        [
            "delete from event where position = 10",
            "delete from event where position = 24",
            "delete from gap where first = 7",
            "update gap set last = 8 where first = 7",
            "update event set position = 8 where position = 10",
        ],
    )
    def test_check_detects_events_missing_outside_gaps(self, pruned: Path, statement: str) -> None:
        files = OnDisk(pruned, serving=False, lock_timeout=1.0)
        files.connection.execute(statement)
        assert check_backend(files)
        files.close()

    @pytest.mark.parametrize(
        ("first", "last"), [(6, 6), (7, 10), (25, 26), (30, 40), (8, 8), (16, 16)]
    )
    def test_check_rejects_gaps_that_do_not_match_the_events(
        self, pruned: Path, first: int, last: int
    ) -> None:
        database = Database(OnDisk(pruned, serving=False, lock_timeout=1.0), lambda: LATER)
        database.write([lambda db: db.table.put("gap", first, last)])
        assert check_backend(database.backend)
        database.close()

    def test_stream_read_detects_events_missing_outside_gaps(self, pruned: Path) -> None:
        database = Database(OnDisk(pruned, serving=False, lock_timeout=1.0), lambda: LATER)
        assert [each.version for each in database.read_stream(PINE)] == [4, 5, 6, 10, 11, 12]
        assert len(database.entries_after(0)) == 12
        database.backend.connection.execute("delete from event where position = 11")
        with pytest.raises(DamagedStoreError):
            database.read_stream(PINE)
        with pytest.raises(DamagedStoreError):
            database.entries_after(0)
        database.close()

    async def test_subscriber_of_a_pruned_store_receives_the_remaining_events(
        self, pruned: Path
    ) -> None:
        store, taken = await Store.open(pruned), Taken()
        await store.subscribe(None, 0, taken.take, taken.failed)
        assert len(taken.entries) == 12
        await put(store, OAK, joined(1))
        assert (taken.entries[-1].position, taken.entries[-1].version) == (25, 13)
        await store.close()

    async def test_subscriber_skips_a_pruned_last_event(self, store: Store, clock: Clock) -> None:
        await put(store, HALL, SeekMade(1.0, "Anna", 1, "discworld"))
        await put(store, HALL, SeekEnded(1.0, "Anna", 1, SeekEnd.WITHDRAWN, "Anna"))
        clock.now = LATER
        await upkeep.prune(store, FOREVER)
        taken = Taken()
        await store.subscribe(None, 0, taken.take, taken.failed)
        await put(store, OAK, joined(1))
        assert [(each.position, each.version) for each in taken.entries] == [(3, 1)]
        await is_in_order(store)


async def test_cached_battle_is_unchanged_by_pruning(store: Store, clock: Clock) -> None:
    """Cached games continue by stream version rather than by number of events."""
    await put(store, OAK, started(1), *AWAY, *OFFERS, cleared(1))
    before = await store.look_up(BattleLookup(1))
    clock.now = LATER
    await upkeep.prune(store, FOREVER)
    for _ in range(2):
        assert await store.look_up(BattleLookup(1)) == before


KILLED = """
import asyncio, sys
from thudmud.store import Store, upkeep
upkeep.BATCH = 3
async def prune():
    opened = await Store.open(sys.argv[1])
    opened._runner.write = slowed(opened._runner.write)
    await upkeep.prune(opened, float(sys.argv[2]))
    print("done", flush=True)
def slowed(write):
    async def written(work):
        result = await write(work)
        print("dropped", flush=True)
        await asyncio.sleep(0.01)
        return result
    return written
asyncio.run(prune())
"""


@pytest.mark.parametrize("batches", [1, 2, 5])
def test_pruning_killed_midway_leaves_a_valid_store(path: Path, batches: int) -> None:
    async def play() -> dict[str, Any]:
        store = await Store.open(path, clock=lambda: NOON)
        for number in range(20):
            await put(store, OAK, joined(1), *AWAY, started(number), moved(0), cleared(1))
            await put(store, HALL, SeekMade(1.0, "Anna", 1, "discworld"))
            await put(store, HALL, SeekEnded(1.0, "Anna", 1, SeekEnd.WITHDRAWN, "Anna"))
        told = await known(store)
        await store.close()
        return told

    async def go_on() -> tuple[dict[str, Any], dict[str, Any]]:
        store = await Store.open(path, clock=lambda: LATER)
        before = await known(store)
        await upkeep.prune(store, FOREVER)
        after = await known(store)
        await store.close()
        return before, after

    told = asyncio.run(play())
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, path, str(FOREVER)], stdout=subprocess.PIPE
    ) as pruning:
        assert pruning.stdout
        for _ in range(batches):
            assert pruning.stdout.readline() == b"dropped\n"
        os.kill(pruning.pid, signal.SIGKILL)
    assert 60 < check_file(path).events <= 160 - 3 * batches
    assert asyncio.run(go_on()) == (told, told)
    assert check_file(path).events == 60


async def test_pruning_does_not_block_writers(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thudmud.store.upkeep.BATCH", 2)
    first = await Store.open(path, clock=lambda: NOON)
    for number in range(30):
        await put(first, OAK, joined(1), *AWAY, started(number), cleared(1))
    await first.close()
    server = await Store.open(path, serving=True, clock=lambda: LATER)
    taken = Taken()
    await server.subscribe(None, await server.position(), taken.take, taken.failed)
    other = await Store.open(path, clock=lambda: LATER)
    task = asyncio.create_task(upkeep.prune(other, FOREVER))
    written = 0
    while not task.done():
        await put(server, PINE, joined(written))
        written += 1
    assert (await task).dropped.total() == 90
    await put(server, PINE, joined(written))
    assert [each.version for each in taken.entries] == list(range(1, written + 2))
    await other.close()
    await server.close()
    check_file(path)


def size(path: Path) -> int:
    return path.stat().st_size


class TestCompacting:
    async def filled(self, path: Path) -> None:
        store = await Store.open(path, clock=lambda: NOON)
        many = [joined(number) for number in range(20_000)]
        await put(store, OAK, *many, cleared(1))
        await store.close()
        store = await Store.open(path, clock=lambda: LATER)
        await upkeep.prune(store, FOREVER)
        await store.close()

    async def test_compacting_shrinks_the_file(self, path: Path) -> None:
        await self.filled(path)
        store = await Store.open(path, serving=True)
        before, after = await store.read(Database.compact)
        assert after < 150_000 < before
        await put(store, OAK, joined(1))
        await store.close()
        assert size(path) == after
        check_file(path)

    async def test_compacting_without_disk_space_changes_nothing(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await self.filled(path)
        before = size(path)

        class NoRoom:
            f_bavail, f_frsize = 10, 1000

        store = await Store.open(path, serving=True)
        with monkeypatch.context() as patch:
            patch.setattr("thudmud.store.files.os.statvfs", lambda _: NoRoom)
            with pytest.raises(StoreError, match=r"could not be compacted.*only 0\.0 MB"):
                await store.read(Database.compact)
        await store.close()
        assert size(path) == before
        check_file(path)


def test_pruning_retried_after_a_link_loss_looks_at_events_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The database link may be lost in the middle of a batch."""
    monkeypatch.setattr(pruning, "LOOK", 3)
    database = Database(InMemory(), lambda: 10 * YOUNG)
    seeks: list[StoredEvent] = [
        SeekMade(1.0, f"P{number}", number, "classic") for number in range(1, 7)
    ]
    ended = SeekEnded(1.0, "P1", 1, SeekEnd.WITHDRAWN, "P1")
    for version, event in enumerate([*seeks, ended, SeekMade(1.0, "P7", 7, "classic")]):
        [outcome], _ = database.write(
            [partial(Database.append, changes={HALL: (version, [event])})]
        )
        assert isinstance(outcome, dict)
    some = Pruning(9.5 * YOUNG)
    some._last = 8
    for _ in range(2):
        some.find(database)
    looked = count()

    def lost(_: str) -> bool:
        if next(looked):
            raise OSError("the link is lost")
        return False

    with monkeypatch.context() as patch:
        patch.setattr(pruning, "is_of_a_match", lost)
        with pytest.raises(OSError, match="is lost"):
            some.find(database)
    assert some.find(database)[1] == [1, 7]
