"""The store named in the settings, its upgrade, and the locks that servers on one database share.

One lock decides which servers may serve; others elect the one that runs the bots and the one that
sends notifications.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from thudmud.errors import NotYetError, StartError
from thudmud.server.config import StorageSettings
from thudmud.store import (
    DamagedStoreError,
    Holder,
    Lock,
    Schema,
    Store,
    StoreError,
    Upgrade,
)
from thudmud.version import install_hint

if TYPE_CHECKING:
    from thudmud.store.postgres import AdvisoryLock

NEEDS_PSYCOPG = f"PostgreSQL needs psycopg. {install_hint('postgres')}"
ALONE = (
    "Another server with storage.standby = true serves alone from this database. Set "
    "storage.standby = true for this one too, or for neither."
)
TAKEN = "Another server took over while the database could not be reached."

_log = logging.getLogger(__name__)


async def open_store(
    storage: StorageSettings,
    folder: Path,
    *,
    serving: bool,
    reading: bool = False,
    upgrade: Upgrade | None = None,
) -> Store:
    """Open the store that is configured in the settings.

    Args:
        storage: the backend and its file or connection string.
        folder: the directory that a relative SQLite path refers to.
        serving: whether boards are served from the store.
        reading: whether it is only read. Then nothing changes it.
        upgrade: permits its upgrade, if another version has written it.

    Raises:
        StartError: PostgreSQL is configured but psycopg isn't installed.
        StoreError: the store can't be opened.
    """
    if storage.backend == "memory":
        return Store.in_memory(serving=serving)
    if storage.backend == "sqlite":
        file = folder / storage.file
        return await Store.open(file, serving=serving, reading=reading, upgrade=upgrade)
    try:
        return await Store.connect(storage.dsn, serving=serving, reading=reading, upgrade=upgrade)
    except ImportError as error:
        raise StartError(f"storage.backend: {NEEDS_PSYCOPG}") from error


@asynccontextmanager
async def serving_lock(
    storage: StorageSettings,
    stopped: asyncio.Event,
    announce: Callable[[str], None],
    stop: Callable[[str], None],
) -> AsyncIterator[bool]:
    """Acquire and hold the lock that permits this server to serve from a database.

    Ordinary servers share the lock. A standby server takes it exclusively, so it waits until all
    others have stopped.

    Args:
        storage: the connection string, and whether this server is a standby.
        stopped: set to stop waiting.
        announce: called with a line for the operator if the server has to wait.
        stop: called with the reason if the server must stop serving.

    Yields:
        Whether the lock was acquired; False if ``stopped`` was set first.

    Raises:
        NotYetError: another server holds the lock exclusively and this one isn't a standby; or the
            database can't be reached; or a standby lost its connection and then its lock.
    """
    serving: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    has_to_wait = is_lost = False

    def take_note(answer: Holder | StoreError) -> None:
        nonlocal has_to_wait, is_lost
        if serving.done():
            if storage.standby and answer is Holder.OTHERS:
                is_lost = True
                stop("another server serves")
        elif answer is Holder.OURS:
            serving.set_result(True)
        elif not storage.standby:
            why = ALONE if answer is Holder.OTHERS else f"storage.dsn: {answer}"
            serving.set_exception(NotYetError(why))
        elif answer is Holder.OTHERS and not has_to_wait:
            has_to_wait = True
            announce("thudmud stands by: another server serves from this database")

    lock = _advisory_lock(storage, Lock.SERVING, take_note, shared=not storage.standby)
    ending: asyncio.Future[bool] = asyncio.ensure_future(stopped.wait())
    try:
        await asyncio.wait([serving, ending], return_when=asyncio.FIRST_COMPLETED)
        yield serving.done() and serving.result()
        if is_lost:
            raise NotYetError(TAKEN)
    finally:
        ending.cancel()
        serving.cancel()
        await asyncio.to_thread(lock.close)


@asynccontextmanager
async def leader_lock(storage: StorageSettings, key: Lock) -> AsyncIterator[asyncio.Queue[Holder]]:
    """Compete for an exclusive lock that elects one server for a task (leader election).

    Yields:
        A queue with the lock's new holder at each change. While the database can't be reached, the
        queue stays empty. Without PostgreSQL the holder is always this server.
    """
    holders = asyncio.Queue[Holder]()
    if storage.backend != "postgresql":
        holders.put_nowait(Holder.OURS)
        yield holders
        return

    def take_note(answer: Holder | StoreError) -> None:
        if isinstance(answer, Holder):
            holders.put_nowait(answer)

    lock = _advisory_lock(storage, key, take_note)
    try:
        yield holders
    finally:
        await asyncio.to_thread(lock.close)


def require_dsn(storage: StorageSettings) -> None:
    """Check that a database could be connected to, without doing so.

    Raises:
        StartError: psycopg isn't installed, or the connection string is malformed.
    """
    try:
        from thudmud.store.postgres import parameters_of  # noqa: PLC0415  (an optional dependency)
    except ImportError as error:
        raise StartError(f"storage.backend: {NEEDS_PSYCOPG}") from error
    try:
        parameters_of(storage.dsn)
    except StoreError as error:
        raise StartError(f"storage.dsn: {error}") from error


def _advisory_lock(
    storage: StorageSettings,
    key: Lock,
    told: Callable[[Holder | StoreError], None],
    *,
    shared: bool = False,
) -> AdvisoryLock:
    """Return an advisory lock whose changes call ``told`` in the event loop's thread."""
    require_dsn(storage)
    from thudmud.store.postgres import AdvisoryLock  # noqa: PLC0415  (an optional dependency)

    loop = asyncio.get_running_loop()

    def tell(answer: Holder | StoreError) -> None:
        loop.call_soon_threadsafe(told, answer)

    return AdvisoryLock(storage.dsn, key, tell, shared=shared)


PAUSE = 5.0
"""Seconds between two reports of an upgrade's progress."""


class ServerUpgrade(Upgrade):
    """An upgrade that is logged, and before which the file is kept as it was.

    The copy is named ``FILE.schema-1.6``, and needs room on the disk. If the upgrade was
    interrupted, the next one finds that copy, and makes no second one. A PostgreSQL database is not
    copied.

    Args:
        report: called with a sentence for the operator at the beginning, and every few seconds.
        should_stop: returns whether to stop, which leaves the store as it was.

    Attributes:
        is_stopped: whether the upgrade was stopped.
    """

    def __init__(
        self,
        report: Callable[[str], object] = lambda _: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.is_stopped = False
        self._report, self._should_stop = report, should_stop
        self._begun = self._due = monotonic()
        self._schemas: tuple[Schema, Schema] | None = None
        self._kept: Path | None = None

    def begin(self, found: Schema, wanted: Schema) -> None:
        """Report that an upgrade begins; later calls do nothing."""
        if self._schemas:
            return
        self._schemas = found, wanted
        self._begun = monotonic()
        self._due = self._begun + PAUSE
        _log.warning("upgrading the store from schema %s to %s", found, wanted)
        self._report(f"Upgrading the store from schema {found} to {wanted}")

    def keep_file(self, path: Path, found: Schema) -> None:
        """Copy a store's file before it is changed, if there is room."""
        from thudmud.store.backups import keep_copy  # noqa: PLC0415  (rarely needed)

        try:
            self._kept = keep_copy(path, f"schema-{found}")
        except DamagedStoreError:
            raise
        except StoreError as error:
            _log.warning("could not keep the store as it was", extra={"why": str(error)})
        else:
            _log.warning("kept the store as it was", extra={"file": str(self._kept)})

    def advance(self, done: int, in_all: int) -> None:
        """Report the progress, if enough time has passed; StoreError if it should stop."""
        if self._should_stop():
            self.is_stopped = True
            raise StoreError("The upgrade was stopped. The store is as it was.")
        if self._schemas is None or (now := monotonic()) < self._due:
            return
        self._due = now + PAUSE
        share = 100 * done // max(1, in_all)
        done_for = {"percent": share, "seconds": round(now - self._begun)}
        _log.info("upgrading the store", extra=done_for)
        found, wanted = self._schemas
        self._report(f"Upgrading the store from schema {found} to {wanted}: {share} %")

    def end(self) -> None:
        """Report that the store is upgraded."""
        if self._schemas is None:
            return
        seconds = monotonic() - self._begun
        back = 'no copy was kept; see "Upgrades" in docs/reliability.md'
        if self._kept:
            back = f'"thudmud store restore {self._kept}" undoes that'
        _log.warning("upgraded the store in %.0f s; %s", seconds, back)
