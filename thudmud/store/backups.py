"""Backups of a store in a file: made beside a running server, checked, and put back in its place.

A backup is made by ``vacuum into``: one snapshot, without free pages, that needs none of the files
beside the database. It is written under a temporary name, checked, and synced before it gets its
own. A process that is killed leaves the temporary file, which the next one overwrites.

The time of the last backup is noted in ``FILE-backup``, from which a running server reads it
(`thudmud.store.files.last_backup`).
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from tempfile import mkstemp
from time import gmtime, strftime, time
from typing import NamedTuple

from thudmud.store.checking import PATIENCE, Contents, check_file
from thudmud.store.files import (
    BACKUP_NOTE,
    COMPANIONS,
    HEAD,
    beside,
    companions,
    connect,
    damaged,
    errors_translated,
    free_bytes,
    is_at,
    is_damage,
    megabytes,
    open_locked,
    reason,
    require_nothing_left,
    require_ours,
    resolve_symlink,
    store_size,
    verify_watermark,
)
from thudmud.store.interface import StoreError, StoreInUseError

_PRIVATE, _PRIVATE_FOLDER, _PUBLIC = 0o600, 0o700, 0o644
_ROOM_SHARE, _ROOM_LEAST = 1.2, 64 << 20
"""The free room that is needed to keep a copy: a multiple of its size, and bytes besides."""

_STAMP = "%Y-%m-%dT%H%MZ"
_STAMPED = re.compile(r"-(\d{4}-\d\d-\d\dT\d{4}Z)(?:-(\d+))?")


class Backup(NamedTuple):
    """A backup that has been made.

    Attributes:
        path: its file.
        size: its size in bytes.
        contents: the size of its contents.
        removed: the older backups that were deleted.
        note_problem: why its time could not be noted for the server; "" without a problem.
    """

    path: Path
    size: int
    contents: Contents
    removed: tuple[Path, ...]
    note_problem: str = ""


def back_up(path: Path, folder: Path, keep: int | None = None) -> Backup:
    """Make a backup of a store, which a server may be using.

    Args:
        path: the store.
        folder: where to put the backup; created if it does not exist.
        keep: the number of backups of this store to keep there, with the new one; None for all.

    Raises:
        DamagedStoreError: the store is damaged. No backup is made, and no older one deleted.
        StoreError: it is not possible.
    """
    path = resolve_symlink(path)
    make_folder(folder)
    with temporary_file(folder / path.name) as (part, _):
        commits = copy_file(path, part)
        contents = check_file(part, name=path)
        head = _read_head(part)
        if head is None or head[0] < commits:
            raise damaged(path, f"its copy lacks some of {commits} transactions")
        now = time()
        target = publish(part, folder, path.stem, path.suffix, now)
    removed: tuple[Path, ...] = ()
    if keep is not None:
        found = list_backups(folder, path.stem, path.suffix)
        ours = [each for each in found if (_read_head(each) or (0, None))[1] == head[1]]
        removed = remove_oldest(ours, target, keep)
    return Backup(target, target.stat().st_size, contents, removed, _note(path, now))


def _note(path: Path, now: float) -> str:
    """Note the time of a backup; return why that was not possible, or ""."""
    note = beside(path, BACKUP_NOTE)
    try:
        # A random name that is created here: root may do this in a folder whose owner, if somebody
        # took the server over, has put links under any predictable name.
        descriptor, new = mkstemp(prefix=f".{note.name}.", dir=note.absolute().parent)
        try:
            with open(descriptor, "w") as file:  # noqa: PTH123  (a descriptor)
                # Not private: a backup made by root is read by the server's user.
                os.fchmod(descriptor, _PUBLIC)
                file.write(f"{now:.0f}\n")
            Path(new).replace(note)
        except BaseException:
            Path(new).unlink(missing_ok=True)
            raise
    except OSError as error:
        return f"{note}: {error.strerror}"
    return ""


class Restored(NamedTuple):
    """A store that has been replaced by a backup.

    Attributes:
        contents: the size of its contents.
        aside: the new name of the file that was there before, even if only companions were there.
        kept: the suffixes of the files that have that name; "" is the file itself.
    """

    contents: Contents
    aside: Path
    kept: tuple[str, ...]


def restore(backup: Path, path: Path) -> Restored:
    """Put a copy of a backup in the place of a store; the present files get other names.

    No file is deleted. If the process is killed between two renames, a server refuses to start on
    what is there, and the backup can be restored again.

    Args:
        backup: the backup, or any other store that is not in use.
        path: the store, which need not exist.

    Raises:
        StoreInUseError: a server runs on the store.
        DamagedStoreError: the backup is damaged.
        StoreError: the backup is no store, or a later version's; or a file cannot be written.
    """
    path = resolve_symlink(path)
    if path.exists() and backup.exists() and backup.samefile(path):
        raise StoreError(f"{backup} is the store itself. Name a backup of it.")
    contents = check_file(backup)
    with (
        errors_translated(path),
        excluding_servers(path),
        temporary_file(path) as (part, descriptor),
    ):
        commits = copy_file(backup, part)
        if (_read_head(part) or (-1, 0))[0] < commits:
            raise damaged(backup, f"its copy lacks some of {commits} transactions")
        _give_to_owner(descriptor, path)
        aside = _replace(path, part)
    kept = tuple(each for each in ("", *COMPANIONS) if beside(aside, each).exists())
    return Restored(contents, aside, kept)


@contextmanager
def excluding_servers(path: Path) -> Iterator[None]:
    """Keep servers from starting on a store; StoreInUseError if one runs."""
    head = beside(path, HEAD)
    try:
        descriptor = open_locked(head, wait=False)
    except BlockingIOError as error:
        raise StoreInUseError(
            f"A server is running on the store {path}. Stop it before you restore a backup."
        ) from error
    # Only now: the file of a server that is starting is empty, too.
    try:
        yield
    finally:
        try:
            if not os.fstat(descriptor).st_size and is_at(descriptor, head):
                head.unlink()  # made for the lock alone
        finally:
            os.close(descriptor)


def _give_to_owner(descriptor: int, path: Path) -> None:
    """Give an open file the owner of a store's present file, or of the folder if there is none.

    By its descriptor: root may do this in a folder whose owner could put a link in its place.

    Raises:
        StoreError: only that user and root may do this.
    """
    status = (path if path.exists() else path.absolute().parent).stat()
    if os.geteuid() == 0:
        os.fchown(descriptor, status.st_uid, status.st_gid)
    elif os.geteuid() != status.st_uid and path.exists():
        raise StoreError(
            f"The store {path} belongs to the user with the number {status.st_uid}. Restore it as "
            "that user, or as root."
        )


def _replace(path: Path, part: Path) -> Path:
    """Rename the files of a store, and put another one in its place; return the old one's new name.

    The watermark's old name goes last: a server refuses to start as long as it is there and locked,
    or there without its store. Its new name is added first. So if the process is killed in between,
    that name is the one under which the other files have to go, too, unless the new store was in
    place already.
    """
    head = beside(path, HEAD)
    begun = _begun_asides(path)
    unfinished = (each for each in begun if not (each.exists() and path.exists()))
    aside = next(unfinished, None) or _unused_aside(path)
    if head.stat().st_size and not begun:
        with suppress(OSError):  # a file system without hard links
            os.link(head, beside(aside, HEAD))
    for suffix in ("", *COMPANIONS[:-1]):
        old = beside(path, suffix)
        if old.exists():
            old.rename(beside(aside, suffix))
    part.rename(path)
    if begun or beside(aside, HEAD).exists():
        head.unlink()
    elif head.stat().st_size:
        head.rename(beside(aside, HEAD))
    sync(path.absolute().parent)
    return aside


def _begun_asides(path: Path) -> list[Path]:
    """Return the names that killed processes have given to the present store's watermark."""
    head, prefix = beside(path, HEAD), f"{path.name}.replaced-"
    return [
        path.with_name(each.name.removesuffix(HEAD))
        for each in path.absolute().parent.iterdir()
        if each.name.startswith(prefix) and each.name.endswith(HEAD) and each.samefile(head)
    ]


def _unused_aside(path: Path) -> Path:
    """Return an unused name for a store that is replaced now."""
    stamp = strftime(_STAMP, gmtime(time()))
    for number in count(1):
        again = f"-{number}" if number > 1 else ""
        aside = path.with_name(f"{path.name}.replaced-{stamp}{again}")
        if not any(each.exists() for each in (aside, *companions(aside))):
            return aside
    raise AssertionError


def make_folder(folder: Path) -> None:
    """Create a private folder, unless it exists; StoreError if that fails."""
    try:
        folder.mkdir(_PRIVATE_FOLDER, exist_ok=True)
    except FileNotFoundError as error:
        why = f"no folder {folder.parent}"
        raise StoreError(f"The folder {folder} could not be created: {why}.") from error
    except OSError as error:
        raise StoreError(f"The folder {folder} could not be used: {error.strerror}.") from error


@contextmanager
def temporary_file(beside_path: Path) -> Iterator[tuple[Path, int]]:
    """Create an empty, private file beside another; remove it at the end unless it was renamed.

    It is yielded as its path and its descriptor. The name is always the same, and the file locked,
    so that those left by killed processes do not pile up. A second process waits for the first.

    Raises:
        StoreError: it cannot be created.
    """
    path = beside_path.with_name(f".{beside_path.name}.part")
    try:
        descriptor = _open_part(path)
    except OSError as error:
        raise StoreError(f"The file {path} could not be created: {error.strerror}.") from error
    try:
        for suffix in ("-journal", "-wal", "-shm"):
            beside(path, suffix).unlink(missing_ok=True)
        yield path, descriptor
    finally:
        try:
            if is_at(descriptor, path):
                path.unlink()
        finally:
            os.close(descriptor)


def _open_part(path: Path) -> int:
    """Open and lock a temporary file, and empty it; return its descriptor."""
    while True:
        descriptor = open_locked(path, wait=True, flags=os.O_NOFOLLOW)
        try:
            if os.fstat(descriptor).st_nlink == 1:
                os.fchmod(descriptor, _PRIVATE)
                os.ftruncate(descriptor, 0)
                return descriptor
            # A second name of a finished backup, whose process was killed within `_link`.
            path.unlink()
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def copy_file(path: Path, target: Path) -> int:
    """Write a snapshot of a store into an empty file, and sync it.

    Args:
        path: the store, which may be in use.
        target: the file.

    Returns:
        The number of transactions that the copy has at least.

    Raises:
        DamagedStoreError: the store is damaged.
        StoreError: it cannot be read, or the copy not written.
    """
    with errors_translated(path):
        require_nothing_left(path)
        if not path.exists():
            raise StoreError(f"{path}: no such file.")
        require_ours(path)
        commits, _ = verify_watermark(path, PATIENCE)
        with closing(connect(path, PATIENCE, reading=True)) as connection:
            try:
                connection.execute("vacuum into ?", (os.fspath(target),))
            except sqlite3.Error as error:
                if is_damage(error):
                    raise
                why = reason(target, error)
                raise StoreError(f"The copy {target} could not be written: {why}.") from error
    sync(target)
    return commits


def _read_head(path: Path) -> tuple[int, int] | None:
    """Return a store's number of transactions and its identity; None if it isn't a store."""
    try:
        with closing(connect(path, PATIENCE, reading=True)) as connection:
            row = connection.execute("select commits, store from head where id = 1").fetchone()
    except sqlite3.Error:
        return None
    return row and (int(row[0]), int(row[1]))


def publish(part: Path, folder: Path, stem: str, suffix: str, now: float) -> Path:
    """Give a finished file its name, with the time in UTC, without replacing another file."""
    stamp = strftime(_STAMP, gmtime(now))
    same = [number for at, number, _ in _numbered(folder, stem, suffix) if at == stamp]
    # Never lower than another one of the same minute, which would then count as newer.
    for number in count(max(same, default=0) + 1):
        target = folder / f"{stem}-{stamp}{f'-{number}' if number > 1 else ''}{suffix}"
        if _link(part, target):
            return target
    raise AssertionError


def _link(part: Path, target: Path) -> bool:
    """Give a finished file its name; return False if there is such a file."""
    try:
        os.link(part, target)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        if target.exists():
            return False
        part.rename(target)
    else:
        part.unlink()
    sync(target.absolute().parent)
    return True


def keep_copy(path: Path, label: str) -> Path:
    """Copy a store to a file beside it, unless there is such a copy of its present state.

    Args:
        path: the store.
        label: the end of the copy's name.

    Raises:
        DamagedStoreError: the store is damaged.
        StoreError: it cannot be copied, for example for want of room.
    """
    head = _read_head(path)
    for number in count(1):
        target = path.with_name(f"{path.name}.{label}{f'-{number}' if number > 1 else ''}")
        if not target.exists():
            break
        if head and _read_head(target) == head:
            return target
    needed, room = int(store_size(path) * _ROOM_SHARE) + _ROOM_LEAST, free_bytes(path)
    if room < needed:
        raise StoreError(
            f"A copy of {path} needs {megabytes(needed)} of free disk space, and only "
            f"{megabytes(room)} are free."
        )
    with temporary_file(path) as (part, _):
        copy_file(path, part)
        if not _link(part, target):
            raise StoreError(f"There is a file {target} by now.")
    return target


def list_backups(folder: Path, stem: str, suffix: str) -> list[Path]:
    """Return the backups in a folder, the oldest first, by their names."""
    return [path for _, _, path in _numbered(folder, stem, suffix)]


def _numbered(folder: Path, stem: str, suffix: str) -> list[tuple[str, int, Path]]:
    """Return the minute, the number within it, and the path of each backup in a folder."""
    found = []
    for each in folder.iterdir():
        stamp = each.name.removeprefix(stem).removesuffix(suffix)
        match = _STAMPED.fullmatch(stamp)
        if match and each.name == stem + stamp + suffix and stat.S_ISREG(each.lstat().st_mode):
            found.append((match[1], int(match[2] or 1), each))
    return sorted(found)


def remove_oldest(backups: list[Path], newest: Path, keep: int) -> tuple[Path, ...]:
    """Delete the oldest backups; return those that could be deleted.

    Args:
        backups: all backups, the oldest first.
        newest: the one just made. It is kept even if its name is older, because the clock was set.
        keep: the number of backups to keep.
    """
    removed = []
    others = [each for each in backups if each != newest]
    for path in others[: max(0, len(others) + 1 - keep)]:
        with suppress(OSError):
            path.unlink()
            removed.append(path)
    return tuple(removed)


def sync(path: Path) -> None:
    """Write a file or a folder through to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
