"""`thudmud store`: check, back up, restore, prune, compact and copy a file or a database."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from thudmud.cli.common import Progress, refuse
from thudmud.cli.configured import (
    config_option,
    day,
    open_existing_store,
    reports_errors,
    storage_of,
)
from thudmud.english import pluralize
from thudmud.errors import CommandError, StartError
from thudmud.server.config import StorageSettings
from thudmud.server.shared_store import NEEDS_PSYCOPG
from thudmud.store import DamagedStoreError, checking, copying, upkeep
from thudmud.store.database import Database
from thudmud.store.files import megabytes
from thudmud.store.pruning import PruneReport

if TYPE_CHECKING:
    from thudmud.store.backups import Backup


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    # Long: one table of actions and their arguments, without branches.
    parser.description = "Maintain the store, which is a file or a database."
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    check = actions.add_parser("check", help="check the integrity of the store")
    check.description = (
        "Check that the store is consistent and complete. The server may be running; it does the "
        "same by itself after each start. The exit status is 0 if all is in order, 1 if the file "
        "is damaged, 2 if it cannot be checked, and 3 if nothing is wrong, but a server has to "
        "upgrade the file first."
    )
    check.set_defaults(run=run)
    prune = actions.add_parser("prune", help="delete events that are no longer needed")
    prune.description = (
        "Delete events that are no longer needed, from before the last match at each board: "
        "arrivals, departures and offers; and also ended seeks, closed boards and replaced "
        "comments. No battle, ply, clock, comment, score or rating is lost. The server may be "
        'running. The file keeps its size, and new events use the free space; see "thudmud store '
        'compact".'
    )
    prune.set_defaults(run=_run_prune)
    prune.add_argument(
        "--before",
        type=day,
        required=True,
        metavar="DATE",
        help="only events before that day, such as 2026-11-20",
    )
    prune.add_argument("--dry-run", action="store_true", help="only show what would be deleted")
    compact = actions.add_parser("compact", help="remove the free space from the file")
    compact.description = (
        "Rewrite the file without the free space that pruning and erasing have left in it. Stop "
        "the server first. Meanwhile this needs free disk space of twice the size of the file's "
        "contents."
    )
    compact.set_defaults(run=_run_compact)
    for action, example in ((check, ""), (prune, " --before 2025-01-01"), (compact, "")):
        action.epilog = f"Example: {action.prog}{example}"
        file = "the file; default: the one in the configuration"
        action.add_argument("file", type=Path, nargs="?", metavar="FILE", help=file)
        _declare_configured(action)
    _declare_backups(actions)
    copy = actions.add_parser("copy", help="copy the store to another place")
    copy.description = (
        "Copy the store to another place, and check it there: from a file to a PostgreSQL "
        "database, or back. No server may be running on the first, and the second must be empty. "
        'Name a database as for PostgreSQL\'s own programs: "host=... dbname=..." or '
        "postgresql://..."
    )
    copy.epilog = "Example: thudmud store copy thudmud.db dbname=thudmud"
    copy.set_defaults(run=_run_copy)
    copy.add_argument("source", metavar="FROM", help="the file, or the database")
    copy.add_argument("target", metavar="TO", help="the destination; a file is created")


def _declare_backups(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the actions that make and restore backups."""
    backup = actions.add_parser("backup", help="make a backup of the store, and check it")
    backup.description = (
        "Make a backup of the store in a folder, and check it. The server may be running. The "
        "backup's name has the time in UTC, such as thudmud-2026-11-30T0327Z.db, and only its "
        "owner can read it. For PostgreSQL, the data is checked, and then dumped from the same "
        "snapshot. The exit status is 0 if the backup is made, 1 if the store is "
        "damaged, and 2 if it cannot be backed up."
    )
    backup.epilog = f"Example: {backup.prog} /var/lib/thudmud/backups --keep 14"
    backup.set_defaults(run=_run_backup)
    backup.add_argument("folder", type=Path, metavar="DIR", help="the folder; it may be missing")
    backup.add_argument(
        "--keep",
        type=_positive,
        metavar="N",
        help="keep the newest N backups of this store there, and delete older ones; default: all",
    )
    restore = actions.add_parser("restore", help="replace the store by a backup")
    restore.description = (
        "Replace the store by a backup, after checking it. Stop the server first. The present "
        "files are kept under another name. For PostgreSQL, the database must be empty. The exit "
        "status is 0 if the backup is restored, 1 if it is damaged, and 2 if it cannot be restored."
    )
    restore.epilog = f"Example: {restore.prog} backups/thudmud-2026-11-30T0327Z.db"
    restore.set_defaults(run=_run_restore)
    restore.add_argument("backup", type=Path, metavar="FILE", help="the backup")
    for action in (backup, restore):
        words = "the store's file; default: the one in the configuration"
        action.add_argument("--file", type=Path, metavar="STORE", help=words)
        _declare_configured(action)


def _declare_configured(action: argparse.ArgumentParser) -> None:
    """Declare the options that name a store of the configuration."""
    which = "the gateway's file instead of the server's"
    action.add_argument("--gateway", action="store_true", help=which)
    config_option(action)


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on, got {text!r}")
    return int(text)


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Check the integrity of the store and print the result."""
    storage, folder = _place(options)
    try:
        return checking.run(None if storage.dsn else folder / storage.file, storage.dsn)
    except ImportError as error:
        raise StartError(NEEDS_PSYCOPG) from error


def _place(options: argparse.Namespace) -> tuple[StorageSettings, Path]:
    """Return the storage settings for an action, and the folder of the store's file."""
    if options.file is None:
        return storage_of(options.config, gateway=options.gateway)
    if options.gateway or options.config:
        option = "--file" if "folder" in options or "backup" in options else "FILE"
        raise CommandError(f"expected either {option}, or --config and --gateway")
    return StorageSettings(file=str(options.file)), Path()


@reports_errors
def _run_backup(options: argparse.Namespace) -> int:
    """Make a backup; print its name and its contents."""
    storage, folder = _place(options)
    os.nice(19)
    try:
        made = _back_up(storage, folder, options)
    except DamagedStoreError as damage:
        return refuse(damage, status=checking.DAMAGED)
    told = f"{made.path}: {megabytes(made.size)}, {_counts(made.contents)}"
    if made.removed:
        told += f"; deleted {pluralize(len(made.removed), 'older backup')}"
    print(told)
    if made.note_problem:
        print(f"thudmud: could not note the time: {made.note_problem}", file=sys.stderr)
    return 0


def _back_up(storage: StorageSettings, folder: Path, options: argparse.Namespace) -> Backup:
    from thudmud.store import backups  # noqa: PLC0415  (Windows has no fcntl)

    if not storage.dsn:
        return backups.back_up(folder / storage.file, options.folder, options.keep)
    try:
        from thudmud.store import dumps  # noqa: PLC0415  (an optional dependency)
    except ImportError as error:
        raise StartError(NEEDS_PSYCOPG) from error
    return dumps.dump(storage.dsn, options.folder, options.keep)


def _counts(contents: checking.Contents) -> str:
    return f"{pluralize(contents.events, 'event')} and {pluralize(contents.battles, 'battle')}"


@reports_errors
def _run_restore(options: argparse.Namespace) -> int:
    """Restore a backup; print what was done."""
    storage, folder = _place(options)
    try:
        if storage.dsn:
            return _restore_database(storage.dsn, options.backup)
        return _restore_file(folder / storage.file, options.backup)
    except DamagedStoreError as damage:
        return refuse(damage, status=checking.DAMAGED)


def _restore_file(path: Path, backup: Path) -> int:
    from thudmud.store import backups  # noqa: PLC0415  (Windows has no fcntl)

    done = backups.restore(backup, path)
    print(f"{path}: restored from {backup}, {_counts(done.contents)}")
    if done.kept and not done.kept[0]:
        also = ", ".join(done.kept[1:])
        print(f"the previous file is kept as {done.aside}{f' (with {also})' if also else ''}")
    elif done.kept:
        names = ", ".join(f"{done.aside}{suffix}" for suffix in done.kept)
        print(f"what was left of the previous store is kept as {names}")
    for each in done.contents.unchecked:
        print(f"not checked: {each}")
    return 0


def _restore_database(dsn: str, backup: Path) -> int:
    try:
        from thudmud.store import dumps  # noqa: PLC0415  (an optional dependency)
    except ImportError as error:
        raise StartError(NEEDS_PSYCOPG) from error
    print(f"the database: restored from {backup}, {_counts(dumps.load(dsn, backup))}")
    return 0


@reports_errors
def _run_prune(options: argparse.Namespace) -> int:
    """Drop unneeded events; print their number."""
    storage, folder = _place(options)

    async def prune() -> PruneReport:
        async with open_existing_store(storage, folder, reading=options.dry_run) as store:
            with Progress("events") as told:
                return await upkeep.prune(
                    store,
                    options.before,
                    lambda report: told(report.looked, report.last),
                    drops=not options.dry_run,
                )

    report = asyncio.run(prune())
    what = "the database" if storage.dsn else folder / storage.file
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in report.dropped.most_common())
    in_all = f"{pluralize(report.dropped.total(), 'event')} ({megabytes(report.bytes)} of text)"
    if not kinds:
        print(f"{what}: nothing to delete before that day")
    elif options.dry_run:
        print(f"{what}: would delete {in_all}: {kinds}")
    else:
        print(f"{what}: deleted {in_all}: {kinds}")
        if not storage.dsn:
            print('new events use the free space; "thudmud store compact" makes the file smaller')
    return 0


@reports_errors
def _run_compact(options: argparse.Namespace) -> int:
    """Compact a file; print its size before and after."""
    storage, folder = _place(options)
    if storage.dsn:
        raise CommandError("only a file can be compacted; PostgreSQL reuses free space by itself")

    async def compact() -> tuple[int, int]:
        async with open_existing_store(storage, folder, serving=True) as store:
            return await store.read(Database.compact)

    before, after = asyncio.run(compact())
    print(f"{folder / storage.file}: {megabytes(before)} before, {megabytes(after)} now")
    return 0


@reports_errors
def _run_copy(options: argparse.Namespace) -> int:
    """Copy a store and print the number of copied events."""
    try:
        with Progress("events") as told:
            events = copying.copy(options.source, options.target, told)
    except ImportError as error:
        raise StartError(NEEDS_PSYCOPG) from error
    print(f"copied and checked {pluralize(events, 'event')}")
    return 0
