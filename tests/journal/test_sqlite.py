"""The journal in a file: several at one file, and what goes wrong with disks."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.journal.deeds import (
    OAK,
    PATIENCE,
    PINE,
    ended,
    events_of,
    everything,
    joined,
    moved,
    soon,
    started,
    taken,
)
from thudmud.journal import Conflict, Damaged, JournalError, NotWritten, SqliteJournal
from thudmud.journal.store import Store

ROOT = Path(__file__).parents[2]


def names(folder: Path) -> list[str]:
    """Return what is in a folder."""
    return sorted(each.name for each in folder.iterdir())


class TestLasting:
    async def test_it_is_all_there_when_it_is_opened_again(self, path: Path) -> None:
        journal = await SqliteJournal.open(path)
        await journal.append(OAK, 0, [joined(1), started(2)])
        await journal.append(PINE, 0, [joined(3)])
        before = await everything(journal), await journal.landmarks(), await journal.list()
        await journal.close()
        assert names(path.parent) == [path.name, f"{path.name}-seal"], (
            "one file is left, and its seal"
        )
        again = await SqliteJournal.open(path)
        assert (await everything(again), await again.landmarks(), await again.list()) == before
        await again.append(OAK, 2, [joined(4)])
        assert events_of(await taken(again.follow(2), 2)) == [joined(3), joined(4)]
        await again.close()

    async def test_a_path_may_have_any_name(self, tmp_path: Path) -> None:
        path = tmp_path / "a journal? 100%#1.thud"
        journal = await SqliteJournal.open(str(path))
        await journal.append(OAK, 0, [joined(1)])
        await journal.close()
        assert names(tmp_path) == [path.name, f"{path.name}-seal"]

    async def test_a_killed_process_loses_nothing(self, path: Path) -> None:
        script = f"""
import asyncio, os, signal
from tests.journal.deeds import OAK, moved
from thudmud.journal import SqliteJournal

async def main():
    journal = await SqliteJournal.open({str(path)!r})
    for version in range(50):
        await journal.append(OAK, version, [moved(version)])
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, cwd=ROOT)
        assert await process.wait() == -signal.SIGKILL
        assert path.with_name(f"{path.name}-wal").stat().st_size > 0, "the log was not left"
        journal = await SqliteJournal.open(path)
        assert events_of(await journal.read(OAK)) == [moved(version) for version in range(50)]
        await journal.close()


class TestTogether:
    async def test_each_is_told_what_the_other_appends(
        self, stored: SqliteJournal, other: SqliteJournal
    ) -> None:
        here, there = stored.follow(), other.follow()
        await stored.append(OAK, 0, [joined(1), joined(2)])
        assert events_of(await soon(there)) == [joined(1), joined(2)]
        await other.append(PINE, 0, [joined(3)])
        assert events_of(await taken(here, 3)) == [joined(1), joined(2), joined(3)]
        assert await stored.list() == await other.list() == {OAK: 2, PINE: 1}

    async def test_they_take_turns_and_conflict(
        self, stored: SqliteJournal, other: SqliteJournal
    ) -> None:
        following = other.follow()
        for version in range(0, 20, 2):
            await stored.append(OAK, version, [moved(version)])
            with pytest.raises(Conflict):
                await other.append(OAK, version, [moved(version)])
            await other.append(OAK, version + 1, [moved(version + 1)])
        assert events_of(await taken(following, 20)) == [moved(version) for version in range(20)]

    async def test_both_busy_they_see_the_same(self, stored: SqliteJournal, path: Path) -> None:
        other = await SqliteJournal.open(path, poll=0.01)

        async def play(journal: SqliteJournal, stream: str) -> None:
            for version in range(0, 60, 3):
                await journal.append(stream, version, [moved(version + each) for each in range(3)])

        followers = [stored.follow(), other.follow()]
        plays = [
            play(journal, f"{name} {number}")
            for name, journal in (("here", stored), ("there", other))
            for number in range(5)
        ]
        here, there, *_ = await asyncio.gather(
            *(taken(following, 600) for following in followers), *plays
        )
        assert here == there == await everything(stored) == await everything(other)
        await other.close()

    async def test_one_closes_and_the_other_goes_on(
        self, stored: SqliteJournal, other: SqliteJournal
    ) -> None:
        await other.append(OAK, 0, [joined(1)])
        await other.close()
        await stored.append(OAK, 1, [joined(2)])
        assert events_of(await stored.read(OAK)) == [joined(1), joined(2)]

    async def test_several_make_one_file(self, path: Path) -> None:
        journals = await asyncio.gather(*(SqliteJournal.open(path) for _ in range(6)))
        for version, journal in enumerate(journals):
            await journal.append(OAK, version, [joined(version)])
        await asyncio.gather(*(journal.close() for journal in journals))
        assert set(names(path.parent)) <= {path.name, f"{path.name}-seal"}

    async def test_it_is_opened_while_another_writes(
        self, stored: SqliteJournal, path: Path
    ) -> None:
        await setting(stored, "pragma wal_autocheckpoint = 10")  # so that the log begins anew often
        opened = asyncio.Event()

        async def play() -> int:
            version = 0
            while not opened.is_set():
                await stored.append(OAK, version, [moved(version + each) for each in range(7)])
                version += 7
            return version

        playing = asyncio.create_task(play())
        for _ in range(20):
            another = await SqliteJournal.open(path)
            assert (await another.list()).get(OAK, 0) % 7 == 0
            await another.close()
        opened.set()
        assert (await stored.list()).get(OAK) == await playing

    async def test_another_process_is_heard(self, stored: SqliteJournal, path: Path) -> None:
        following = stored.follow()
        script = f"""
import asyncio
from tests.journal.deeds import PINE, joined
from thudmud.journal import SqliteJournal

async def main():
    journal = await SqliteJournal.open({str(path)!r})
    await journal.append(PINE, 0, [joined(7)])
    await journal.close()

asyncio.run(main())
"""
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, cwd=ROOT)
        assert await process.wait() == 0
        assert events_of(await soon(following)) == [joined(7)]
        await stored.append(PINE, 1, [joined(8)])
        assert events_of(await soon(following)) == [joined(8)]


async def fails(journal: SqliteJournal, words: str) -> None:
    """Check that nothing can be appended, that this is said, and that nothing has changed."""
    before = await everything(journal)
    following = journal.follow(await journal.position())
    streams = (OAK, PINE, "a new board")
    versions = await journal.list()
    outcomes = await asyncio.gather(
        *(journal.append(name, versions.get(name, 0), [moved(1)]) for name in streams),
        journal.append(OAK, 1000, [moved(1)]),
        return_exceptions=True,
    )
    for outcome in outcomes:
        assert isinstance(outcome, NotWritten), outcome
        assert words in str(outcome)
    assert await everything(journal) == before
    assert await journal.list() == versions
    await journal.close()
    assert await ended(following), "nobody was told of anything"


async def works(journal: SqliteJournal) -> None:
    """Check that events can be appended, and are followed."""
    following = journal.follow(await journal.position())
    version = (await journal.list()).get(PINE, 0)
    await journal.append(PINE, version, [joined(version)])
    await journal.append("a new board", 0, [joined(1)])
    assert events_of(await taken(following, 2)) == [joined(version), joined(1)]


async def fails_only_now(journal: SqliteJournal, words: str) -> None:
    """Check that an append fails."""
    before = await everything(journal)
    with pytest.raises(NotWritten, match=words):
        await journal.append(OAK, (await journal.list()).get(OAK, 0), [moved(1)])
    assert await everything(journal) == before


def setting(journal: SqliteJournal, statement: str) -> asyncio.Future[object]:
    """Change a setting of a journal's own connection."""
    return journal._worker.call(lambda store: store._db.execute(statement).fetchall())


class TestTrouble:
    @pytest.fixture(autouse=True)
    async def begun(self, stored: SqliteJournal) -> None:
        await stored.append(OAK, 0, [joined(1), joined(2)])

    async def test_a_full_disk(self, stored: SqliteJournal) -> None:
        await setting(stored, "pragma max_page_count = 1")
        with pytest.raises(NotWritten, match="the disk is full"):
            await stored.append(OAK, 2, [moved(ply) for ply in range(1000)])
        assert await stored.list() == {OAK: 2}
        await setting(stored, "pragma max_page_count = 1000")
        await works(stored)

    async def test_a_full_disk_fails_all_that_waited_together(self, stored: SqliteJournal) -> None:
        await setting(stored, "pragma max_page_count = 1")
        await stored.append(PINE, 0, [joined(1)])
        big = [moved(ply) for ply in range(500)]
        outcomes = await asyncio.gather(
            stored.append(OAK, 2, [joined(3)]),
            stored.append(PINE, 1, big),
            stored.append(OAK, 2, [joined(4)]),
            return_exceptions=True,
        )
        assert [type(each) for each in outcomes] == [NotWritten] * 3
        assert await stored.list() == {OAK: 2, PINE: 1}

    async def test_a_disk_that_refuses_to_write(self, stored: SqliteJournal) -> None:
        with no_more_than(8192):
            await fails_only_now(stored, "the disk does not work as it should|the disk is full")
        await works(stored)

    async def test_a_file_that_is_read_only(self, stored: SqliteJournal) -> None:
        await setting(stored, "pragma query_only = 1")
        await fails_only_now(stored, "it cannot be written to")
        await setting(stored, "pragma query_only = 0")
        await works(stored)

    async def test_another_process_that_does_not_let_go(
        self, stored: SqliteJournal, path: Path
    ) -> None:
        await setting(stored, "pragma busy_timeout = 100")  # milliseconds, of 5 seconds
        with closing(sqlite3.connect(path, isolation_level=None)) as greedy:
            greedy.execute("begin immediate")
            await fails_only_now(stored, "another process does not let go of it")
        await works(stored)

    @pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
    async def test_a_file_that_is_gone(
        self, stored: SqliteJournal, path: Path, suffix: str
    ) -> None:
        file = path.with_name(f"{path.name}{suffix}")
        away = file.rename(path.with_name("elsewhere"))
        await fails_only_now(
            stored, "was removed or replaced .* Bring it back, or restore a backup, before"
        )
        away.rename(file)
        await works(stored)

    async def test_a_file_that_was_replaced(self, stored: SqliteJournal, path: Path) -> None:
        new = path.with_name("new")
        new.write_bytes(b"")
        new.rename(path)
        await fails(stored, "was removed or replaced")

    async def test_all_that_waits_fails_together(self, stored: SqliteJournal) -> None:
        await setting(stored, "pragma query_only = 1")
        await fails(stored, "it cannot be written to")

    async def test_what_is_no_event_harms_nobody_else(self, stored: SqliteJournal) -> None:
        spoilt = joined(2)
        object.__setattr__(spoilt, "at", float("nan"))  # none can be made so
        wrong, right = await asyncio.gather(
            stored.append(PINE, 0, [joined(1), spoilt]),
            stored.append(OAK, 2, [joined(3)]),
            return_exceptions=True,
        )
        assert isinstance(wrong, ValueError)
        assert right is None
        assert await stored.list() == {OAK: 3}

    async def test_what_nobody_thought_of_leaves_nobody_waiting(
        self,
        stored: SqliteJournal,
        path: Path,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        def fail(*_: object) -> None:
            raise ZeroDivisionError

        following = stored.follow(2)
        monkeypatch.setattr(Store, "append", fail)
        waiting = asyncio.gather(
            stored.append(OAK, 2, [joined(3)]),
            stored.read(OAK),
            stored.append(PINE, 0, [joined(4)]),
            return_exceptions=True,
        )
        outcomes = await asyncio.wait_for(waiting, PATIENCE)
        assert [type(each) for each in outcomes] == [NotWritten, JournalError, NotWritten]
        assert "The journal has stopped: ZeroDivisionError()." in map(str, outcomes)
        assert await ended(following)
        with pytest.raises(NotWritten, match="has stopped"):
            await stored.append(OAK, 2, [joined(3)])
        [logged] = caplog.records
        assert logged.exc_info
        monkeypatch.undo()
        await stored.close()
        again = Store(path, PATIENCE)
        assert again.list() == {OAK: 2}, "the file was let go of"
        again.close()

    async def test_damage_found_while_following_is_told(
        self, stored: SqliteJournal, path: Path
    ) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as vandal:
            vandal.execute("update event set body = '[]'")
        with pytest.raises(Damaged, match="This is not an event"):
            await soon(stored.follow())
        with pytest.raises(Damaged):
            await stored.read(OAK)


@contextmanager
def no_more_than(size: int) -> Iterator[None]:
    """Let no file grow longer."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


class TestOpening:
    async def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        path = tmp_path / "nowhere" / "thud.journal"
        with pytest.raises(JournalError, match=f"{path} cannot be used: there is no folder"):
            await SqliteJournal.open(path)

    async def test_a_folder_in_its_place(self, tmp_path: Path) -> None:
        with pytest.raises(JournalError, match="cannot be used"):
            await SqliteJournal.open(tmp_path)

    @pytest.fixture
    async def before(self, path: Path) -> Path:
        """Return the file of a journal that was there before."""
        journal = await SqliteJournal.open(path)
        await journal.append(OAK, 0, [joined(1)])
        await journal.close()
        return path

    async def test_a_disk_that_is_full(self, before: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """No file may grow, and there is no room: it is not the disk that does not work."""
        disk = os.statvfs_result((4096, 4096, 1000, 10, 10, 1000, 900, 900, 0, 255))
        monkeypatch.setattr("thudmud.storage.reasons.os.statvfs", lambda _: disk)
        with (
            no_more_than(8192),
            pytest.raises(JournalError, match=r"cannot be used: the disk is full\.$"),
        ):
            await SqliteJournal.open(before)

    async def test_a_disk_that_is_full_where_there_was_no_journal(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("thudmud.storage.files.os.link", refuse)
        with pytest.raises(JournalError, match=r"cannot be used: the disk is full\.$"):
            await SqliteJournal.open(path)
        assert not names(path.parent)

    async def test_a_file_beside_it_that_cannot_be_made(self, before: Path) -> None:
        with (
            no_more_than(8192),
            pytest.raises(JournalError, match=f"used: {before.name}-shm, which belongs to it, can"),
        ):
            await SqliteJournal.open(before)

    @pytest.fixture
    def empty(self, path: Path) -> Path:
        path.write_bytes(b"")
        return path

    async def test_what_is_damaged_is_told(self, empty: Path) -> None:
        with pytest.raises(Damaged, match="it is empty"):
            await SqliteJournal.open(empty)
        assert names(empty.parent) == [empty.name], "something was made"

    async def test_who_gives_up_waiting_leaves_nothing_behind(self, path: Path) -> None:
        opening = asyncio.create_task(SqliteJournal.open(path))
        await asyncio.sleep(0)
        opening.cancel()
        await asyncio.wait([opening])
        assert opening.cancelled()
        assert names(path.parent) == [path.name, f"{path.name}-seal"]

    def test_only_its_own_files_are_made(self, path: Path) -> None:
        Store(path, PATIENCE).close()
        assert names(path.parent) == [path.name, f"{path.name}-seal"]
        assert path.stat().st_nlink == 1
