"""A file of accounts that is not as it was written is told of when it is opened."""

# ruff: noqa: ASYNC240  (nothing else runs on a test's loop)

from __future__ import annotations

import errno
import os
import resource
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest

from thudmud.server.members.account_file import AccountFile, Unavailable, Unusable
from thudmud.server.members.accounts import Accounts, KeptName
from thudmud.storage import reasons


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "thudmud.accounts"


async def fill(path: Path, number: int = 100) -> None:
    """Make a file with members and guests, some of them banned or removed."""
    accounts = await Accounts.open(path)
    for member in range(number):
        await accounts.enrol(f"Anna{member}", "hash" * 20, 1e9 + member)
        await accounts.keep_guest(KeptName(f"Greta{member}", bytes([member] * 32), 1e9 + member))
    await accounts.set_preferences("Anna7", {"style": "full", "much": "é" * 5000})
    await accounts.seen({"Anna8": 2e9, "Greta8": 2e9})
    await accounts.ban("Anna9", 1e9)
    await accounts.ban("Bob", 1e9)
    await accounts.retire("Anna10")
    await accounts.close()


async def everything(path: Path) -> str:
    """Return all that can be read of a file."""
    accounts = await Accounts.open(path)
    try:
        guests = await accounts.guests(9e9)
        kept = [await accounts.find_guest(name) for name in guests]
        barred = sorted(await anext(accounts.barred()))
        members = await accounts.all()
        found = [await accounts.find(account.name) for account in members]
        passwords = [account.password for account in members]
        return repr(
            (members, found, passwords, kept, [each and each.word for each in kept], barred)
        )
    finally:
        await accounts.close()


def fails_to_open(path: Path, match: str) -> None:
    """Check that a file is refused, and left as it is."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(Unusable, match=match) as problem:
        AccountFile(path)
    assert str(problem.value).startswith(f"{path}: ")
    assert (path.read_bytes() if path.is_file() else None) == before


class TestNew:
    def test_it_is_private_from_the_first_moment(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        link = os.link

        def look(source: Path, target: Path) -> None:
            assert stat.S_IMODE(source.stat().st_mode) == 0o600
            assert stat.S_IMODE(source.parent.stat().st_mode) == 0o700
            assert not target.exists()
            link(source, target)
            AccountFile(target).close()

        monkeypatch.setattr(os, "link", look)
        AccountFile(path).close()
        assert [each.name for each in path.parent.iterdir()] == [path.name]

    @pytest.mark.parametrize("place", ["os.link", "thudmud.server.members.account_layout.fill"])
    def test_one_that_is_not_finished_is_never_seen(
        self, path: Path, monkeypatch: pytest.MonkeyPatch, place: str
    ) -> None:
        def fail(*_arguments: object) -> None:
            raise OSError(errno.EIO, "Input/output error")

        with monkeypatch.context() as patched:
            patched.setattr(place, fail)
            fails_to_open(path, "accounts: Input/output error")
        assert not path.exists()
        AccountFile(path).close()

    def test_an_empty_one_is_no_new_one(self, path: Path) -> None:
        path.touch()
        fails_to_open(path, "the file is empty; restore a copy of it, or delete it to begin")

    async def test_a_log_without_its_file_is_told(self, path: Path) -> None:
        await fill(path, 11)
        file = AccountFile(path)
        with file.writing() as database:
            database.execute("update members set seen = 5")
        path.unlink()
        fails_to_open(path, "the file is gone, but thudmud.accounts-wal is still there")
        assert not path.exists()
        file.close()


class TestDamage:
    @pytest.fixture
    async def whole(self, path: Path) -> tuple[bytes, str]:
        """Return the bytes of a file, and all that can be read of it."""
        await fill(path)
        return path.read_bytes(), await everything(path)

    async def told(self, path: Path, contents: bytes) -> str | None:
        """Return all that can be read of a file, None if it is refused when it is opened."""
        for each in path.parent.iterdir():
            each.unlink()
        path.write_bytes(contents)
        try:
            return await everything(path)
        except Unusable:
            return None

    @pytest.mark.parametrize("seed", range(4))
    async def test_a_flipped_bit_is_told_or_does_not_matter(
        self, path: Path, whole: tuple[bytes, str], seed: int
    ) -> None:
        contents, as_it_was = whole
        assert await self.told(path, contents) == as_it_was
        chance = Random(seed)  # noqa: S311 - no secret
        told_of = 0
        for place in places(chance, len(contents)):
            flipped = bytearray(contents)
            flipped[place] ^= 1 << chance.randrange(8)
            found = await self.told(path, bytes(flipped))
            assert found in (None, as_it_was), f"byte {place}: half-read"
            told_of += found is None
        assert told_of >= 20, "most bytes matter"

    async def test_tables_that_are_no_text(self, path: Path, whole: tuple[bytes, str]) -> None:
        contents = bytearray(whole[0])
        contents[contents.index(b"integer not null,")] ^= 0x80
        assert await self.told(path, bytes(contents)) is None

    async def test_a_truncated_file_is_told(self, path: Path, whole: tuple[bytes, str]) -> None:
        contents, _ = whole
        for end in range(0, len(contents), 4096):
            for length in (end, end + 1, end + 1000):
                assert await self.told(path, contents[:length]) is None, f"{length} bytes"

    @pytest.mark.parametrize(
        "statement",
        [
            "update members set seen = seen + 1 where key = 'anna3'",
            "update members set banned = 0 where key = 'anna9'",
            "update members set retired = 0 where key = 'anna10'",
            "update members set password = 'mine' where key = 'anna3'",
            "update members set preferences = '{' where key = 'anna3'",
            "update guests set word = x'00' where key = 'greta3'",
            "update guests set seen = 0 where key = 'greta3'",
            "drop table guests",
            "create table more (than there should be)",
            "pragma user_version = 0",
        ],
    )
    async def test_what_another_program_has_changed(self, path: Path, statement: str) -> None:
        await fill(path, 11)
        with closing(sqlite3.connect(path)) as database:
            database.create_function("crc32", 1, lambda _: 1, deterministic=True)
            database.execute(statement)
            database.commit()
        fails_to_open(path, "damaged, or not one of accounts; restore a copy of it$")

    async def test_the_log_of_a_damaged_file_stays(
        self, path: Path, whole: tuple[bytes, str]
    ) -> None:
        contents = bytearray(whole[0])
        contents[contents.rindex(b"Anna3")] ^= 1
        file = AccountFile(path)
        with file.writing() as database:
            database.execute("update guests set seen = 5 where key = 'greta3'")
        log = path.with_name(f"{path.name}-wal")
        left = log.read_bytes()
        file.close()
        path.write_bytes(contents)
        log.write_bytes(left)
        fails_to_open(path, r"restore a copy of it, without the thudmud\.accounts-wal that is")
        assert log.read_bytes() == left

    async def test_a_log_that_has_changed_is_told(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("thudmud.storage.wal._PAUSE", 0.0)
        await fill(path, 11)
        file = AccountFile(path)
        for seen in range(5):
            with file.writing() as database:
                database.execute("update members set seen = ?", [seen])
        contents, log = path.read_bytes(), path.with_name(f"{path.name}-wal")
        left = bytearray(log.read_bytes())
        file.close()
        path.write_bytes(contents)
        log.write_bytes(left)
        AccountFile(path).close()
        path.write_bytes(contents)
        left[100] ^= 1
        log.write_bytes(left)
        fails_to_open(path, r"damaged.* without the thudmud\.accounts-wal")


def places(chance: Random, length: int) -> Iterator[int]:
    """Yield places in a file: anywhere, in its header, and where its pages begin."""
    for _ in range(30):
        yield chance.randrange(length)
    for _ in range(5):
        yield chance.randrange(100)
        yield chance.randrange(length // 4096) * 4096 + chance.randrange(12)


@contextmanager
def no_room() -> Iterator[None]:
    """Make the disk full: no file can become longer, and none is free."""
    disk = SimpleNamespace(f_bavail=0, f_frsize=4096, f_files=1, f_favail=1)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "statvfs", lambda _: disk)
        # Not for longer than it takes: what the tests print may go to a file, too.
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)


class TestWhatCannotBeUsed:
    def test_what_is_not_one_of_accounts(self, path: Path) -> None:
        path.write_bytes(b"name = password\n" * 1000)
        fails_to_open(path, "the file is damaged, or not one of accounts")
        path.unlink()
        with closing(sqlite3.connect(path)) as other:
            other.execute("create table t (x)")
        fails_to_open(path, "another program's file")

    def test_one_from_the_future(self, path: Path) -> None:
        AccountFile(path).close()
        with closing(sqlite3.connect(path)) as database:
            database.execute("pragma user_version = 2")
        fails_to_open(path, "a later version of thudmud")

    def test_what_is_no_file(self, tmp_path: Path) -> None:
        nowhere = tmp_path / "nowhere"
        fails_to_open(nowhere / "accounts", f"there is no folder {nowhere}$")
        nowhere.mkdir()
        fails_to_open(nowhere, "it is a folder$")

    async def test_a_folder_that_cannot_be_written_to(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await fill(path, 11)
        path.with_name(f"{path.name}-shm").mkdir()  # which keeps SQLite from making that file
        fails_to_open(path, r"it cannot be written to \(")
        monkeypatch.setattr(os, "access", lambda place, _: place != path.parent)
        fails_to_open(path, f"the folder {path.parent} cannot be written to$")
        path.rename(path.with_suffix(".away"))
        with no_room():
            fails_to_open(path, f"the folder {path.parent} cannot be written to$")

    async def test_one_that_is_read_only(self, path: Path) -> None:
        await fill(path, 11)
        contents = bytearray(path.read_bytes())
        contents[18] = 3  # SQLite's way to say so
        path.write_bytes(contents)
        fails_to_open(path, r"it cannot be written to \(")

    async def test_one_that_another_process_keeps_busy(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("thudmud.server.members.account_layout._PATIENCE", 0.01)
        await fill(path, 11)
        file, other = AccountFile(path), AccountFile(path)
        with (
            other.writing(),
            pytest.raises(Unavailable, match=r"another process does not let go"),
            file.writing(),
        ):
            pass
        file.close()
        other.close()

    @pytest.mark.parametrize("filled", [False, True])
    async def test_a_full_disk(self, path: Path, *, filled: bool) -> None:
        if filled:
            await fill(path, 11)
        with no_room():
            fails_to_open(path, "the disk is full$")

    def test_a_disk_that_does_not_work(self, path: Path) -> None:
        with no_room(), pytest.MonkeyPatch.context() as patched:
            patched.setattr(reasons, "LITTLE", 0)
            fails_to_open(path, r"the disk does not work as it should \(disk I/O error\)$")
