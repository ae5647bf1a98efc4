"""Features of a file-backed store that no other has: other processes, and files that vanish."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import sqlite3
import stat
import sys
import threading
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import uvloop

from tests.store.deeds import OAK, PATIENCE, PINE, Clock, Taken, events_of, joined, same, started
from thudmud.child import ChildProcess
from thudmud.game.events import Commented, Interrupted
from thudmud.game.projections import HALL
from thudmud.game.sanctions import Order
from thudmud.store import (
    DamagedStoreError,
    NotWrittenError,
    Store,
    StoreError,
    StoreInUseError,
    UnknownFormatError,
    accounts,
    battles,
    nodes,
)
from thudmud.store.checking import check_beside, check_file, last_stored
from thudmud.store.database import Database
from thudmud.store.files import beside

SUFFIXES = ("", "-wal", "-shm", "-head")


@pytest.fixture
async def stored(path: Path, clock: Clock) -> AsyncIterator[Store]:
    store = await Store.open(path, serving=True, lock_timeout=0.2, clock=clock)
    yield store
    await store.close()


async def begin(path: Path, what: str) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.store.other", str(path), what, stdin=PIPE, stdout=PIPE
    )


async def line(process: Process) -> str:
    assert process.stdout
    return (await asyncio.wait_for(process.stdout.readline(), PATIENCE)).decode().strip()


async def done(path: Path, what: str) -> None:
    process = await begin(path, what)
    assert await line(process) == "done"
    await process.wait()


async def another(path: Path, does: Callable[[Store], Awaitable[object]]) -> None:
    """Write through a second store of which the first has no knowledge."""
    other = await Store.open(path)
    await does(other)
    await other.close()


class TestOtherProcesses:
    async def test_appends_of_another_process_are_delivered(
        self, stored: Store, path: Path
    ) -> None:
        taken = Taken()
        await stored.subscribe(None, 0, taken.take, taken.failed)
        await stored.append({OAK: (0, [joined(1)])})
        await done(path, "append")
        await taken.until(lambda: len(taken.entries) == 2)
        await stored.append({OAK: (2, [joined(3)])})
        assert [entry.version for entry in taken.entries] == [1, 2, 3]

    async def test_catch_up_delivers_appends_of_another_process(
        self, path: Path, clock: Clock
    ) -> None:
        """Polling is disabled."""
        one = await Store.open(path, poll=1000, clock=clock)
        two = await Store.open(path, poll=1000, clock=clock)
        taken = Taken()
        await two.subscribe(None, 0, taken.take, taken.failed)
        await one.append({OAK: (0, [joined(1)])})
        await two.catch_up()
        assert [entry.version for entry in taken.entries] == [1]
        for store in (one, two):
            await store.close()

    async def test_appends_of_another_process_precede_later_own_ones(
        self, path: Path, clock: Clock
    ) -> None:
        """Polling is disabled."""
        one = await Store.open(path, poll=1000, clock=clock)
        two = await Store.open(path, poll=1000, clock=clock)
        taken, other = Taken(), Taken()
        await one.subscribe(None, 0, taken.take, taken.failed)
        await two.subscribe(None, 0, other.take, other.failed)
        for version in range(0, 20, 2):
            await one.append({OAK: (version, [joined(version)])})
            await two.append({OAK: (version + 1, [joined(version)])})
        await one.append({PINE: (0, [joined(1)])})
        await two.append({PINE: (1, [joined(1)])})
        assert taken.entries == other.entries[:-1]
        assert [each.position for each in other.entries] == list(range(1, 23))
        for store in (one, two):
            await store.close()
        check_file(path)

    async def test_ban_by_another_process_is_reported(self, stored: Store, path: Path) -> None:
        told: asyncio.Queue[Order] = asyncio.Queue()
        await stored.watch(accounts.order, told.put_nowait)
        await another(path, lambda other: other.write(accounts.ban, "Zoe"))
        assert set((await asyncio.wait_for(told.get(), PATIENCE)).bans) == {"zoe"}

    async def test_ban_by_another_process_is_reported_to_a_busy_writer(
        self, stored: Store, path: Path
    ) -> None:
        told: asyncio.Queue[Order] = asyncio.Queue()
        await stored.watch(accounts.order, told.put_nowait)
        banning = asyncio.create_task(another(path, lambda other: other.write(accounts.ban, "Zoe")))
        version = 0
        async with asyncio.timeout(PATIENCE):
            while told.empty():
                await stored.append({PINE: (version, [joined(version)])})
                version += 1
        assert set(told.get_nowait().bans) == {"zoe"}
        await banning

    async def test_erasure_by_another_process_is_reported(self, stored: Store, path: Path) -> None:
        told: asyncio.Queue[Order] = asyncio.Queue()
        await stored.write(accounts.enrol, "Anna", "hash")
        await stored.watch(accounts.order, told.put_nowait)
        await another(path, lambda other: other.write(accounts.erase, "Anna"))
        assert await asyncio.wait_for(told.get(), PATIENCE) == Order()
        assert await stored.read(accounts.find, "Anna") is None

    async def test_failure_to_read_bans_is_logged(
        self,
        stored: Store,
        path: Path,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        def fail(_: object) -> Order:
            raise StoreError("The disk does not work.")

        told: asyncio.Queue[Order] = asyncio.Queue()
        await stored.write(accounts.enrol, "Anna", "hash")
        await stored.watch(accounts.order, told.put_nowait)
        with monkeypatch.context() as patched:
            patched.setattr(stored, "_retold", [(fail, told.put_nowait)])
            await another(path, lambda other: other.write(accounts.erase, "Anna"))
            async with asyncio.timeout(PATIENCE):
                while not caplog.messages:  # noqa: ASYNC110  (there is no event to wait for)
                    await asyncio.sleep(0.01)
        assert caplog.messages == ["could not read bans and notifications: The disk does not work."]
        assert told.empty()
        await another(path, lambda other: other.write(accounts.ban, "Zoe"))
        assert set((await asyncio.wait_for(told.get(), PATIENCE)).bans) == {"zoe"}

    async def test_rename_by_another_process_is_noticed(self, stored: Store, path: Path) -> None:
        await stored.write(accounts.enrol, "Anna", "hash")
        await stored.append({OAK: (0, [joined(1)])})
        await another(path, lambda other: other.write(accounts.rename, "Anna", "Hanna"))
        await another(path, lambda other: other.write(accounts.enrol, "Anna", "hash"))
        await stored.append({OAK: (1, [joined(2)])})
        assert events_of(await stored.read_stream(OAK)) == same(
            joined(1, "Hanna"), joined(2, "Anna")
        )

    async def test_concurrent_opening_creates_one_store(self, path: Path) -> None:
        several = await asyncio.gather(*(Store.open(path) for _ in range(5)))
        await several[0].write(accounts.enrol, "Anna", "hash")
        for store in several:
            assert await store.read(accounts.find, "Anna")
            await store.close()

    async def test_racing_processes_have_one_winner_per_version(self, path: Path) -> None:
        one, two = await Store.open(path), await Store.open(path)
        for version in range(20):
            outcomes = await asyncio.gather(
                *(store.append({OAK: (version, [joined(1)])}) for store in (one, two)),
                return_exceptions=True,
            )
            assert sum(isinstance(each, dict) for each in outcomes) == 1
        await one.close()
        await two.close()

    async def test_events_of_a_newer_schema_pause_the_subscriber(
        self, stored: Store, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        taken = Taken()
        await stored.subscribe(None, 0, taken.take, taken.failed)
        monkeypatch.setattr("thudmud.store.codec.SCHEMA", 0)
        other = await Store.open(path)
        await other.append({OAK: (0, [joined(1)])})
        await taken.until(lambda: bool(taken.errors))
        assert isinstance(taken.errors[0], UnknownFormatError)
        with pytest.raises(StoreError, match="later version"):
            await stored.append({PINE: (0, [joined(1)])})
        assert taken.entries == []
        monkeypatch.undo()
        await taken.until(lambda: bool(taken.entries))
        await stored.append({PINE: (0, [joined(1)])})
        assert len(taken.errors) == 1
        assert [entry.stream for entry in taken.entries] == [OAK, PINE]
        await other.close()


class TestServing:
    async def test_second_server_is_refused_while_the_first_runs(self, path: Path) -> None:
        process = await begin(path, "serve")
        assert await line(process) == "ready"
        with pytest.raises(StoreInUseError, match=f"{path} is in use"):
            await Store.open(path, serving=True)
        beside_it = await Store.open(path)
        await beside_it.write(accounts.enrol, "Anna", "hash")
        await beside_it.close()
        process.kill()
        await process.wait()
        store = await Store.open(path, serving=True)
        assert await store.read(accounts.find, "Anna")
        await store.close()

    async def test_symlinked_store_shares_the_serving_lock(
        self, path: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "elsewhere").mkdir()
        link = tmp_path / "elsewhere" / "link.db"
        link.symlink_to(path)
        stored = await Store.open(link, serving=True)  # creates the file
        for name in (path, link):
            with pytest.raises(StoreInUseError, match=f"{path} is in use"):
                await Store.open(name, serving=True)
        assert [each.name for each in link.parent.iterdir()] == ["link.db"]
        await stored.write(accounts.enrol, "Anna", "hash")
        assert check_file(link).players == 1
        assert last_stored(link) is None  # no node has announced itself
        await stored.close()
        os.truncate(path, 0)
        with pytest.raises(DamagedStoreError, match=f"{path} is damaged"):
            await Store.open(link)

    async def test_interruption_is_recorded_for_a_restart_under_the_same_name(
        self, path: Path, clock: Clock
    ) -> None:
        for runs in range(3):
            store = await Store.open(path, serving=True, clock=clock)
            await store.write(nodes.renew_lease, "server")  # killed, so it never calls "leave"
            assert len(await store.read_stream(HALL)) == runs
            await store.close()
            clock.now += 60

    async def test_claims_of_a_killed_server_are_released_at_start(
        self, path: Path, clock: Clock
    ) -> None:
        first = await Store.open(path, serving=True, clock=clock)
        await first.write(nodes.renew_lease, "one", 10_000)
        await first.write(nodes.claim, "Anna", "one", "s1")
        await first.close()
        clock.now += 60
        second = await Store.open(path, serving=True, clock=clock)
        await second.write(nodes.renew_lease, "two")
        assert [claim.name for claim in await second.write(nodes.reap, "two")] == ["Anna"]
        (gap,) = [entry.event for entry in await second.read_stream(HALL)]
        assert isinstance(gap, Interrupted)
        assert gap.at >= gap.since + 60
        await second.close()

    @pytest.mark.parametrize("seed", range(3))
    async def test_acknowledged_appends_survive_a_kill(self, path: Path, seed: int) -> None:
        dice = random.Random(seed)  # noqa: S311  (has to be reproducible)
        told = 0
        for _ in range(2):
            process = await begin(path, "play")
            for _ in range(dice.randrange(1, 60)):
                told = int(await line(process))
            process.kill()
            assert process.stdout
            for rest in (await process.stdout.read()).split(b"\n")[:-1]:
                told = int(rest)
            await process.wait()
            store = await Store.open(path, serving=True)
            version = (await store.read(Database.stream_versions))[OAK]
            assert version in {told, told + 2}
            assert len(await store.read_stream(OAK)) == version == await store.position()
            await store.close()
        check_file(path)


class TestFiles:
    async def test_data_survives_a_restart(self, path: Path) -> None:
        store = await Store.open(path)
        await store.append({OAK: (0, [started(1), joined(2)])}, "k")
        await store.write(accounts.enrol, "Anna", "hash")
        before = (
            await store.read_stream(OAK),
            await store.read(accounts.all_accounts),
            await store.read(battles.battle, 1),
        )
        await store.close()
        store = await Store.open(path)
        assert (
            await store.read_stream(OAK),
            await store.read(accounts.all_accounts),
            await store.read(battles.battle, 1),
        ) == before
        assert await store.append({OAK: (0, [joined(2)])}, "k") == {OAK: (2, 2)}
        await store.close()

    async def test_online_backup_is_a_valid_store(
        self, stored: Store, path: Path, tmp_path: Path
    ) -> None:
        """The backup is made as docs/reliability.md says, while a server runs."""
        await stored.append({OAK: (0, [started(1), joined(2)])})
        copy = tmp_path / "copy"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("vacuum into ?", (str(copy),))
        other = await Store.open(copy, serving=True)
        assert await other.read_stream(OAK) == await stored.read_stream(OAK)
        await other.append({OAK: (2, [joined(3)])})
        assert beside(copy, "-wal").stat().st_size
        check_file(copy)
        await other.close()

    async def test_store_files_are_private(self, stored: Store, path: Path) -> None:
        await stored.write(accounts.enrol, "Anna", "hash")
        for suffix in SUFFIXES:
            assert stat.S_IMODE(beside(path, suffix).stat().st_mode) == 0o600

    @pytest.mark.parametrize("how", ["removed", "replaced"])
    @pytest.mark.parametrize("suffix", SUFFIXES)
    async def test_removed_or_replaced_file_stops_acknowledgements(
        self, stored: Store, path: Path, suffix: str, how: str
    ) -> None:
        await stored.append({OAK: (0, [joined(1)])})
        file = beside(path, suffix)
        away = file.rename(path.with_name("away"))
        if how == "replaced":
            file.write_bytes(away.read_bytes())
        for change in (
            stored.append({OAK: (1, [joined(2)])}),
            stored.write(accounts.enrol, "Anna", "hash"),
        ):
            with pytest.raises(NotWrittenError, match="was removed or replaced"):
                await change
        away.rename(file)
        await stored.append({OAK: (1, [joined(2)])})
        assert await stored.read(accounts.find, "Anna") is None
        assert (await stored.read(Database.stream_versions)) == {OAK: 2}

    async def test_erased_data_is_wiped_from_disk(self, stored: Store, path: Path) -> None:
        await stored.write(accounts.enrol, "Wilhelmina", "a-very-secret-hash")
        await stored.append({OAK: (0, [joined(1, "Wilhelmina")])})
        await stored.write(
            accounts.record_last_seen,
            {},
            [("Wilhelmina", "2001:db8:0:1::/64"), ("Wilhelmina", "192.0.2.77")],
        )
        await stored.append({OAK: (1, [started(2)])})
        said = Commented(3.0, "Wilhelmina", OAK, 2, 0, "what a pity")
        await stored.append({HALL: (0, [said])})
        words = [b"Wilhelmina", b"wilhelmina", b"a-very-secret-hash", b"2001:db8", b"192.0.2.77"]
        words.append(b"what a pity")
        files = [beside(path, suffix) for suffix in SUFFIXES]
        for word in words:
            assert any(word in file.read_bytes() for file in files)
        await stored.write(accounts.erase, "Wilhelmina")
        for file in files:
            contents = file.read_bytes()
            assert not any(word in contents for word in words), file

    async def test_lock_held_by_another_process_is_reported(
        self, stored: Store, path: Path
    ) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("begin immediate")
            outcomes = await asyncio.gather(
                *(stored.append({f"board {number}": (0, [joined(1)])}) for number in range(5)),
                return_exceptions=True,
            )
            assert all(isinstance(each, NotWrittenError) for each in outcomes)
            assert "locked by another process" in str(outcomes[0])
            connection.execute("rollback")
        await stored.append({OAK: (0, [joined(1)])})


async def test_check_runs_alongside_appends(stored: Store) -> None:
    await stored.append({OAK: (0, [started(1)])})
    check = asyncio.ensure_future(stored.check())
    version = 1
    while not check.done():
        await stored.append({OAK: (version, [started(version)])})
        version += 1
    assert await check is None


async def test_damage_found_by_a_check_stops_all_writes(stored: Store, path: Path) -> None:
    await stored.append({OAK: (0, [joined(number) for number in range(100)])})
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("update event set body = '[]' where position = 50")
    found = await stored.check()
    assert found
    assert "Not an event" in found
    assert "Restore a backup" in found
    with pytest.raises(NotWrittenError, match="Not an event"):
        await stored.append({PINE: (0, [joined(1)])})
    with pytest.raises(DamagedStoreError):
        await stored.read_stream(OAK)


async def test_check_failing_to_run_reports_no_damage(
    stored: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "false")
    with pytest.raises(StoreError, match="could not be checked"):
        await stored.check()
    await stored.append({OAK: (0, [joined(1)])})


async def test_missing_file_during_a_check_is_not_damage(stored: Store, path: Path) -> None:
    await stored.append({OAK: (0, [joined(1)])})
    away = path.rename(path.with_name("away"))  # noqa: ASYNC240  (on the test's own event loop)
    with pytest.raises(StoreError, match="could not be checked: no such file"):
        await stored.check()
    away.rename(path)
    await stored.append({OAK: (1, [joined(2)])})
    assert await stored.check() is None


async def test_check_process_ends_when_cancelled(
    stored: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, slow = tmp_path / "begun", tmp_path / "slow"
    os.mkfifo(begun)
    slow.write_text(f"#!/bin/sh\necho $$ > {begun}\nexec sleep 1000\n")
    slow.chmod(0o700)
    monkeypatch.setattr("sys.executable", str(slow))
    check = asyncio.ensure_future(stored.check())
    number = int(await asyncio.wait_for(asyncio.to_thread(begun.read_text), PATIENCE))
    check.cancel()
    with pytest.raises(asyncio.CancelledError):
        await check
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


async def test_write_takes_precedence_over_waiting_reads(stored: Store) -> None:
    begun, may_end, done = threading.Event(), threading.Event(), list[str]()

    def slow(database: Database) -> None:
        begun.set()
        may_end.wait(PATIENCE)

    async def note(name: str, work: Awaitable[object]) -> None:
        await work
        done.append(name)

    runner = stored._runner
    works = [note(name, runner.read(slow)) for name in ("first", "second", "third")]
    async with asyncio.TaskGroup() as group:
        for work in works:
            group.create_task(work)
        await asyncio.to_thread(begun.wait, PATIENCE)
        group.create_task(note("write", runner.write(lambda _: None)))
        await asyncio.sleep(0)  # now queued
        may_end.set()
    assert done == ["first", "write", "second", "third"]


@pytest.mark.parametrize("pages", [1, 2, 8])
async def test_kill_during_a_checkpoint_loses_nothing(
    path: Path, tmp_path: Path, pages: int
) -> None:
    """The first pages are new and count more pages than the file has yet."""
    events = [joined(number) for number in range(400)]
    store = await Store.open(path, serving=True)
    await store.append({OAK: (0, events)})
    killed, whole = tmp_path / "killed.db", tmp_path / "whole.db"
    for copy in (killed, whole):
        for suffix in ("", "-wal", "-head"):
            shutil.copyfile(beside(path, suffix), beside(copy, suffix))
    await store.close()
    with closing(sqlite3.connect(whole)) as taking:
        taking.execute("pragma wal_checkpoint(truncate)")
        ((size,),) = taking.execute("pragma page_size")
    before = killed.stat().st_size
    assert whole.stat().st_size > before
    with killed.open("r+b") as file:
        file.write(whole.read_bytes()[: pages * size])
    assert killed.stat().st_size == before
    again = await Store.open(killed, serving=True)
    assert events_of(await again.read_stream(OAK)) == same(*events)
    assert await again.check() is None
    await again.close()


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_check_may_be_over_before_its_output_is_read(
    path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any]
) -> None:
    start = ChildProcess.start

    async def started(*command: str, **options: Any) -> ChildProcess:
        process = await start(*command, **options)
        await process.wait()
        return process

    async def check() -> str | None:
        store = await Store.open(path)
        await store.close()
        return await check_beside(str(path), "")

    monkeypatch.setattr(ChildProcess, "start", started)
    assert run(check()) is None
