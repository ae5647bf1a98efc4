"""``thudmud store backup`` and ``restore`` of files, beside a server and without one."""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.store.deeds import OAK, joined, started
from thudmud.cli.main import main
from thudmud.store import Store, backups, last_backup
from thudmud.store.checking import check_file
from thudmud.store.files import beside, companions
from thudmud.store.rows import FORMAT

Shown = pytest.CaptureFixture[str]

NOW = 1796009220.0  # 2026-11-30, 03:27 UTC
NAME = "thudmud-2026-11-30T0327Z"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change into a folder whose store holds a battle."""
    monkeypatch.chdir(tmp_path)
    # The command lowers the priority of its whole process, which here runs all tests.
    monkeypatch.setattr(os, "nice", lambda _: 0)
    monkeypatch.setattr(backups, "time", lambda: NOW)
    add_events("thudmud.db")
    return tmp_path


def add_events(path: str) -> None:
    async def add() -> None:
        store = await Store.open(path)
        version = (await store.read(lambda database: database.stream_versions())).get(OAK, 0)
        await store.append({OAK: (version, [started(version + 1), joined(version + 2)])})
        await store.close()

    asyncio.run(add())


@contextmanager
def serving(path: Path) -> Iterator[None]:
    """Serve boards from a store in another process."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.store.other", path, "serve"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2],
    ) as server:  # fmt: skip
        assert server.stdout
        assert server.stdout.readline() == b"ready\n"
        yield
        assert server.communicate()[0] == b"done\n"


def files_in(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)


def test_backup_beside_a_server_is_private_and_complete(folder: Path, capsys: Shown) -> None:
    before = os.umask(0)
    try:
        with serving(folder / "thudmud.db"):
            assert main(["store", "backup", "copies"]) == 0
    finally:
        os.umask(before)
    told = capsys.readouterr()
    assert re.fullmatch(rf"copies/{NAME}\.db: 0\.\d MB, 2 events and 1 battle\n", told.out)
    assert told.err == ""
    assert files_in(folder / "copies") == [f"{NAME}.db"]
    assert (mode(folder / "copies"), mode(folder / "copies" / f"{NAME}.db")) == (0o700, 0o600)
    assert check_file(folder / "copies" / f"{NAME}.db").events == 2


def test_backups_of_one_minute_have_different_names(folder: Path, capsys: Shown) -> None:
    for _ in range(3):
        assert main(["store", "backup", "copies", "--keep", "1"]) == 0
    assert files_in(folder / "copies") == [f"{NAME}-3.db"]
    assert capsys.readouterr().out.count("; deleted 1 older backup\n") == 2


def test_simultaneous_backups_are_made_one_after_the_other(folder: Path) -> None:
    command = [sys.executable, "-m", "thudmud.cli.main", "store", "backup", "copies"]
    root = str(Path(__file__).parents[2])
    running = [subprocess.Popen(command, env={**os.environ, "PYTHONPATH": root}) for _ in range(3)]
    assert [each.wait() for each in running] == [0, 0, 0]
    assert len(files_in(folder / "copies")) == 3


def test_keep_deletes_only_old_backups_of_the_same_store(
    folder: Path, capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = {f"{NAME}.db.gz", "thudmud-old.db", "thudmud-2020-01-01T0000Z.db", "notes"}
    (folder / "other").mkdir()
    add_events("other/thudmud.db")
    assert main(["store", "backup", "copies", "--file", "other/thudmud.db"]) == 0
    for name in others:
        (folder / "copies" / name).write_text("not ours", "ascii")
    for day in range(1, 5):
        monkeypatch.setattr(backups, "time", lambda day=day: NOW + 86400 * day)
        assert main(["store", "backup", "copies", "--keep", "2"]) == 0
    kept = {"thudmud-2026-12-03T0327Z.db", "thudmud-2026-12-04T0327Z.db"}
    assert set(files_in(folder / "copies")) == {*others, f"{NAME}.db", *kept}
    assert "deleted" in capsys.readouterr().out


def test_new_backup_is_kept_after_the_clock_was_set_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for later in (86400, 2 * 86400, 0):
        monkeypatch.setattr(backups, "time", lambda later=later: NOW + later)
        assert main(["store", "backup", "copies", "--keep", "2"]) == 0
    assert files_in(folder / "copies") == [f"{NAME}.db", "thudmud-2026-12-02T0327Z.db"]


def test_damaged_store_leaves_older_backups_alone(folder: Path, capsys: Shown) -> None:
    assert main(["store", "backup", "copies"]) == 0
    change(folder / "thudmud.db", "update event set at = at + 1 where position = 2")
    assert main(["store", "backup", "copies", "--keep", "1"]) == 1
    assert capsys.readouterr().err == (
        "thudmud: The store thudmud.db is damaged: the time of event 2 is out of order. "
        "Restore a backup.\n"
    )
    assert files_in(folder / "copies") == [f"{NAME}.db"]


def test_store_without_its_last_transactions_is_not_backed_up(folder: Path, capsys: Shown) -> None:
    old = (folder / "thudmud.db").read_bytes()
    add_events("thudmud.db")
    (folder / "thudmud.db").write_bytes(old)
    assert main(["store", "backup", "copies"]) == 1
    assert "transactions; if you restored it from a backup" in capsys.readouterr().err
    assert files_in(folder / "copies") == []


def test_backup_without_room_leaves_nothing(folder: Path, capsys: Shown) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, before[1]))
    try:
        assert main(["store", "backup", "copies"]) == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "thudmud: The copy copies/.thudmud.db.part could not be written" in (
        capsys.readouterr().err
    )
    assert files_in(folder / "copies") == []
    assert last_backup("thudmud.db") is None


def test_unfinished_backup_of_a_killed_process_is_overwritten(folder: Path) -> None:
    (folder / "copies").mkdir()
    part = folder / "copies" / ".thudmud.db.part"
    part.write_bytes(b"half" * 100_000)
    beside(part, "-journal").write_bytes(b"of a transaction")
    assert main(["store", "backup", "copies"]) == 0
    assert files_in(folder / "copies") == [f"{NAME}.db"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["backup", "no/copies"], "The folder no/copies could not be created: no folder no."),
        (["backup", "thudmud.db"], "The folder thudmud.db could not be used: File exists."),
        (["backup", "copies", "--file", "none.db"], "none.db: no such file."),
        (
            ["backup", "copies", "--file", "thudmud.db", "--gateway"],
            "expected either --file, or --config and --gateway",
        ),
        (["restore", "none.db"], "The store none.db could not be checked: no such file."),
        (["restore", "thudmud.db"], "thudmud.db is the store itself. Name a backup of it."),
        (
            ["restore", "other.db"],
            "other.db is not a store of thudmud, but another program's database.",
        ),
    ],
)
def test_impossible_backup_or_restore_is_status_2(
    folder: Path, words: list[str], why: str, capsys: Shown
) -> None:
    with closing(sqlite3.connect(folder / "other.db")) as connection:
        connection.execute("create table account (name text)")
    before = (folder / "thudmud.db").read_bytes()
    assert main(["store", *words]) == 2
    assert capsys.readouterr() == ("", f"thudmud: {why}\n")
    assert (folder / "thudmud.db").read_bytes() == before


@pytest.mark.parametrize("keep", ["0", "-1", "some"])
def test_number_of_backups_to_keep_is_positive(keep: str, capsys: Shown) -> None:
    with pytest.raises(SystemExit):
        main(["store", "backup", "copies", f"--keep={keep}"])
    assert f"expected a whole number from 1 on, got {keep!r}" in capsys.readouterr().err


def test_last_backup_is_noted_beside_the_store(folder: Path) -> None:
    assert last_backup("thudmud.db") is None
    before = os.umask(0o077)
    try:
        assert main(["store", "backup", "copies"]) == 0
    finally:
        os.umask(before)
    assert last_backup(folder / "thudmud.db") == NOW
    assert mode(folder / "thudmud.db-backup") == 0o644  # readable for the server's user
    (folder / "link.db").symlink_to("thudmud.db")
    assert last_backup("link.db") == NOW
    (folder / "thudmud.db-backup").write_text("yesterday", "ascii")
    assert last_backup("thudmud.db") is None


def test_restore_keeps_the_files_that_it_replaces(folder: Path, capsys: Shown) -> None:
    assert main(["store", "backup", "copies"]) == 0
    add_events("thudmud.db")
    (folder / "thudmud.db").chmod(0o644)
    changed = (folder / "thudmud.db").read_bytes()
    assert main(["store", "restore", f"copies/{NAME}.db"]) == 0
    aside = f"thudmud.db.replaced-{NAME.removeprefix('thudmud-')}"
    assert capsys.readouterr().out.endswith(
        f"thudmud.db: restored from copies/{NAME}.db, 2 events and 1 battle\n"
        f"the previous file is kept as {aside} (with -head)\n"
    )
    assert mode(folder / "thudmud.db") == 0o600
    assert (folder / aside).read_bytes() == changed
    assert check_file(folder / "thudmud.db").events == 2
    assert check_file(folder / aside).events == 4  # with its own companion files
    with serving(folder / "thudmud.db"):  # -head has gone with the old file
        pass
    assert main(["store", "restore", aside]) == 0
    assert check_file(folder / "thudmud.db").events == 4
    assert check_file(folder / f"{aside}-2").events == 2


def test_restore_brings_back_a_store_that_is_gone(folder: Path) -> None:
    assert main(["store", "backup", "copies"]) == 0
    (folder / "thudmud.db").unlink()
    assert main(["store", "restore", f"copies/{NAME}.db"]) == 0
    assert check_file(folder / "thudmud.db").events == 2
    assert main(["store", "restore", f"copies/{NAME}.db", "--file", "new.db"]) == 0
    assert check_file(folder / "new.db").events == 2
    assert not (folder / "new.db-head").exists()


def test_restore_beside_a_server_is_refused(folder: Path, capsys: Shown) -> None:
    assert main(["store", "backup", "copies"]) == 0
    with serving(folder / "thudmud.db"):
        assert main(["store", "restore", f"copies/{NAME}.db"]) == 2
    assert capsys.readouterr().err == (
        "thudmud: A server is running on the store thudmud.db. Stop it before you restore a "
        "backup.\n"
    )
    assert check_file(folder / "thudmud.db").events == 2
    assert not [each for each in files_in(folder) if "replaced" in each]


def test_damaged_backup_is_not_restored(folder: Path, capsys: Shown) -> None:
    assert main(["store", "backup", "copies"]) == 0
    backup = folder / "copies" / f"{NAME}.db"
    change(backup, "delete from event where position = 2")
    assert main(["store", "restore", f"copies/{NAME}.db"]) == 1
    assert f"copies/{NAME}.db is damaged: the last events are missing" in capsys.readouterr().err
    change(backup, f"pragma user_version = {FORMAT + 1}")
    assert main(["store", "restore", f"copies/{NAME}.db"]) == 2
    assert "was written by a later version of thudmud" in capsys.readouterr().err
    assert not [each for each in files_in(folder) if "replaced" in each]


def test_restored_store_belongs_to_its_user(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Shown
) -> None:
    given: list[tuple[int, ...]] = []

    def record(descriptor: int, *ids: int) -> None:
        part = folder / ".thudmud.db.part"
        given.append((os.path.samestat(os.fstat(descriptor), part.stat()), *ids))

    # By the descriptor: a path could be replaced by a link meanwhile.
    monkeypatch.setattr(os, "fchown", record)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert main(["store", "backup", "copies"]) == 0
    status = (folder / "thudmud.db").stat()
    assert main(["store", "restore", f"copies/{NAME}.db"]) == 0
    assert given == [(True, status.st_uid, status.st_gid)]
    monkeypatch.setattr(os, "geteuid", lambda: status.st_uid + 1)
    assert main(["store", "restore", f"copies/{NAME}.db"]) == 2
    assert f"belongs to the user with the number {status.st_uid}" in capsys.readouterr().err


def test_restore_killed_between_renames_can_be_repeated(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["store", "backup", "copies"]) == 0
    add_events("thudmud.db")
    rename = Path.rename
    for most in range(2):
        left = [most]

        def killed(self: Path, target: Path, left: list[int] = left) -> Path:
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            return rename(self, target)

        with monkeypatch.context() as patched:
            patched.setattr(Path, "rename", killed)
            with pytest.raises(KeyboardInterrupt):
                backups.restore(folder / "copies" / f"{NAME}.db", folder / "thudmud.db")
        assert main(["store", "restore", f"copies/{NAME}.db"]) == 0
        assert check_file(folder / "thudmud.db").events == 2
        add_events("thudmud.db")


def leave_log(path: Path) -> None:
    """Add two events to a store, and leave it as a killed server does, with its -wal."""

    async def add() -> None:
        store = await Store.open(path)
        version = (await store.read(lambda database: database.stream_versions())).get(OAK, 0)
        await store.append({OAK: (version, [started(version + 1), joined(version + 2)])})
        for each in (path, *companions(path)):
            shutil.copy(each, each.with_name(f"{each.name}.copy"))
        await store.close()

    asyncio.run(add())
    for each in (path, *companions(path)):
        each.with_name(f"{each.name}.copy").rename(each)


def kill_after(calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the process be killed, so to speak, at a call that changes names in a folder."""
    left = [calls]

    def counted(real: Callable[..., object]) -> Callable[..., object]:
        def call(*given: object, **named: object) -> object:
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            return real(*given, **named)

        return call

    monkeypatch.setattr(Path, "rename", counted(Path.rename))
    monkeypatch.setattr(Path, "unlink", counted(Path.unlink))
    monkeypatch.setattr(os, "link", counted(os.link))


def test_restore_killed_at_any_point_keeps_the_old_store_together(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["store", "backup", "copies"]) == 0
    path, points = folder / "thudmud.db", 0
    is_done = False
    while not is_done:
        for each in folder.glob("thudmud.db*"):
            each.unlink()
        shutil.copy(folder / "copies" / f"{NAME}.db", path)
        leave_log(path)
        with monkeypatch.context() as patched:
            kill_after(points, patched)
            try:
                backups.restore(folder / "copies" / f"{NAME}.db", path)
                is_done = True
            except KeyboardInterrupt:
                points += 1
        backups.restore(folder / "copies" / f"{NAME}.db", path)
        assert check_file(path).events == 2
        asides = [each for each in folder.iterdir() if re.search(r"Z(-\d+)?$", each.name)]
        assert 4 in [check_file(each).events for each in asides], (points, files_in(folder))
    assert points > 5


def test_left_overs_of_a_lost_store_are_named(folder: Path, capsys: Shown) -> None:
    assert main(["store", "backup", "copies"]) == 0
    (folder / "thudmud.db").unlink()
    capsys.readouterr()
    assert main(["store", "restore", f"copies/{NAME}.db"]) == 0
    aside = f"thudmud.db.replaced-{NAME.removeprefix('thudmud-')}"
    told = capsys.readouterr().out
    assert "what was left of the previous store is kept as " in told
    assert told.endswith(f"{aside}-head\n")
    assert (folder / f"{aside}-head").exists()


def test_second_name_of_a_finished_backup_is_only_removed(folder: Path) -> None:
    assert main(["store", "backup", "copies"]) == 0
    first = folder / "copies" / f"{NAME}.db"
    os.link(first, folder / "copies" / ".thudmud.db.part")  # killed before its `unlink`
    os.link(first, folder / ".thudmud.db.part")
    assert main(["store", "backup", "copies"]) == 0
    assert files_in(folder / "copies") == [f"{NAME}-2.db", f"{NAME}.db"]
    assert check_file(first).events == 2
    assert main(["store", "restore", f"copies/{NAME}.db"]) == 0
    assert check_file(first).events == 2


def test_refused_restore_leaves_the_lock_of_a_starting_server(folder: Path, capsys: Shown) -> None:
    assert main(["store", "backup", "copies"]) == 0
    head = folder / "new.db-head"
    with head.open("w") as file:  # not written yet
        fcntl.flock(file, fcntl.LOCK_EX)
        for _ in range(2):
            assert main(["store", "restore", f"copies/{NAME}.db", "--file", "new.db"]) == 2
    assert "A server is running on the store new.db" in capsys.readouterr().err
    assert head.exists()
    assert not (folder / "new.db").exists()


def test_server_locks_the_file_that_has_the_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head, flock = folder / "thudmud.db-head", fcntl.flock
    calls: list[int] = []

    def lock(descriptor: int, operation: int) -> None:
        calls.append(descriptor)
        if len(calls) == 1:  # a restore has just ended
            head.unlink()
        flock(descriptor, operation)

    async def serve() -> None:
        store = await Store.open("thudmud.db", serving=True)
        with head.open() as file, pytest.raises(BlockingIOError):
            flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        await store.close()

    monkeypatch.setattr(fcntl, "flock", lock)
    asyncio.run(serve())
    assert len(calls) == 2


@pytest.mark.parametrize("suffix", ["-backup", "-backup.PID"])
def test_note_of_a_backup_follows_no_link(folder: Path, suffix: str) -> None:
    victim = folder / "victim"
    victim.write_text("precious", "ascii")
    victim.chmod(0o600)
    suffix = suffix.replace("PID", str(os.getpid()))
    beside(folder / "thudmud.db", suffix).symlink_to(victim)
    assert main(["store", "backup", "copies"]) == 0
    assert (victim.read_text("ascii"), mode(victim)) == ("precious", 0o600)
    assert last_backup(folder / "thudmud.db") == NOW
