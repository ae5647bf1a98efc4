"""Runs work on a database, in a thread or at once; and subscriptions to events.

All writes that wait when the thread is free become one transaction, so that many tables share one
wait for the disk (group commit). The loop gets the results in one callback: first those who
appended are woken, then the entries are handed to subscribers. So a player's own text and the
prompt after it are one write.

A database in memory has no thread. Its coroutines never wait, and may be driven without a loop. So
asyncio is imported only where there is a thread: importing it takes as long as everything else that
a house needs.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from thudmud.store.database import Database
from thudmud.store.interface import Entry, Forgotten, NotWritten, StoreError, Unknown

if TYPE_CHECKING:
    from asyncio import Future

T = TypeVar("T")
Take = Callable[[Sequence[Entry]], None]
Failed = Callable[[StoreError], None]

CLOSED = "The store is closed."

_log = logging.getLogger(__name__)


class Subscription:
    """Hands entries to one subscriber, until it is closed."""

    def __init__(
        self,
        followers: Followers,
        streams: Collection[str] | None,
        after: int,
        take: Take,
        failed: Failed,
    ) -> None:
        self._followers = followers
        self.streams = None if streams is None else frozenset(streams)
        self.position = after
        """The position of the last entry that was handed over."""
        self.failed = failed
        self._take = take
        self._waiting: list[Sequence[Entry]] | None = []
        """New entries that wait while earlier ones are being read; None after that."""

    def close(self) -> None:
        """Hand over nothing more."""
        self._followers.remove(self)

    def catch_up(self, entries: Sequence[Entry]) -> None:
        """Hand over earlier entries that were read."""
        if self.streams is not None:
            entries = [entry for entry in entries if entry.stream in self.streams]
        self._hand_over(entries)

    def go_on(self) -> None:
        """Hand over the new entries that wait; from now on, new ones are handed over at once."""
        waiting, self._waiting = self._waiting or [], None
        for entries in waiting:
            self._hand_over(entries)

    def deliver(self, entries: Sequence[Entry]) -> None:
        """Hand over new entries of the subscribed streams, after the earlier ones."""
        if self._waiting is None:
            self._hand_over(entries)
        else:
            self._waiting.append(entries)

    def _hand_over(self, entries: Sequence[Entry]) -> None:
        if entries and entries[0].position <= self.position:
            entries = [entry for entry in entries if entry.position > self.position]
        if not entries:
            return
        self.position = entries[-1].position
        try:
            self._take(entries)
        except Exception:  # noqa: BLE001 - the other subscribers still have to get it
            _log.exception("a subscriber to the store has failed")


class Followers:
    """All subscriptions, by stream: most are to few streams."""

    def __init__(self) -> None:
        self._of_all: dict[Subscription, None] = {}
        self._of: dict[str, dict[Subscription, None]] = {}
        self._coming: deque[Sequence[Entry]] = deque()
        self._busy = False

    def add(self, subscription: Subscription) -> None:
        """Add a subscription."""
        if subscription.streams is None:
            self._of_all[subscription] = None
        else:
            for stream in subscription.streams:
                self._of.setdefault(stream, {})[subscription] = None

    def remove(self, subscription: Subscription) -> None:
        """Remove a subscription."""
        self._of_all.pop(subscription, None)
        for stream in subscription.streams or ():
            found = self._of.get(stream, {})
            found.pop(subscription, None)
            if not found:
                self._of.pop(stream, None)

    def deliver(self, entries: Sequence[Entry]) -> None:
        """Hand entries to all subscribers of their streams.

        In memory a subscriber may append at once. Those entries wait until all subscribers have
        these.
        """
        self._coming.append(entries)
        if self._busy:
            return
        self._busy = True
        try:
            while self._coming:
                self._deliver(self._coming.popleft())
        finally:
            self._busy = False

    def fail(self, error: StoreError) -> None:
        """Tell all subscribers that the next entries cannot be read."""
        everybody = dict(self._of_all)
        for some in self._of.values():
            everybody |= some
        for subscription in everybody:
            subscription.failed(error)

    def _deliver(self, entries: Sequence[Entry]) -> None:
        for subscription in list(self._of_all):
            subscription.deliver(entries)
        if not self._of:
            return
        parts: dict[Subscription, list[Entry]] = {}
        for entry in entries:
            for subscription in self._of.get(entry.stream, ()):
                parts.setdefault(subscription, []).append(entry)
        for subscription, part in parts.items():
            subscription.deliver(part)


class AtOnce:
    """Runs work on a database within the call; each work is a transaction."""

    def __init__(self, database: Database, followers: Followers) -> None:
        self._database: Database | None = database
        self._followers = followers

    async def write(self, work: Callable[[Database], T]) -> T:
        """Run work that writes."""
        if self._database is None:
            raise NotWritten(CLOSED)
        [outcome], entries = self._database.write([work])
        if entries:
            self._followers.deliver(entries)
        if isinstance(outcome, Exception):
            raise outcome
        result: T = outcome
        return result

    async def read(self, work: Callable[[Database], T]) -> T:
        """Run work that only reads."""
        if self._database is None:
            raise StoreError(CLOSED)
        return self._database.read(work)

    async def catch_up(self) -> None:
        """Do nothing: no other process can write."""

    async def stop(self) -> None:
        """Close the database."""
        if self._database:
            self._database.close()
            self._database = None


class _Job(NamedTuple):
    """Work for the thread, and the future of its result, which belongs to the loop."""

    work: Callable[[Database], Any] | None
    """None to end the thread."""
    result: Future[Any]
    writes: bool = False


class InThread:
    """A thread with its own database. All methods are for the event loop.

    ``changed`` is called when another process has written something, perhaps accounts; ``stopped``
    when the database cannot be used any more; ``heard`` with notes of other nodes.
    """

    def __init__(
        self,
        open_it: Callable[[], Database],
        poll: float,
        followers: Followers,
        changed: Callable[[], None],
        stopped: Callable[[StoreError], None],
        *,
        heard: Callable[[str], None],
    ) -> None:
        self._open_it, self._poll, self._followers = open_it, poll, followers
        self._changed, self._stopped, self._heard = changed, stopped, heard
        self._will_look = False
        """Whether a check for others' writes has been queued."""
        import asyncio  # noqa: PLC0415  (a house needs no asyncio)

        self._loop = asyncio.get_running_loop()
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        """None in the queue means that the loop has taken the last answer."""
        self._at_work: Sequence[_Job] = ()
        """The jobs last taken from the queue; only the thread touches them while it runs."""
        self._is_answering = False
        """Whether the loop has not taken an answer yet; only the thread touches it."""
        self._why = CLOSED
        """Why work is refused, once the thread has ended."""
        self._trouble = ""
        """The last error that was told to subscribers; only the thread touches it."""
        self._started: Future[None] = self._loop.create_future()
        self._ended: Future[None] = self._loop.create_future()
        self._thread = Thread(target=self._run, name="store", daemon=True)

    async def start(self) -> None:
        """Open the database; StoreError if it cannot be opened."""
        self._thread.start()
        await self._started

    def write(self, work: Callable[[Database], T]) -> Future[T]:
        """Run work that writes, in one transaction with all other writes that wait."""
        return self._put(work, writes=True)

    def read(self, work: Callable[[Database], T]) -> Future[T]:
        """Run work that only reads, after the writes that wait."""
        return self._put(work)

    async def catch_up(self) -> None:
        """Hand out what other processes have written by now."""
        await self._put(self._hand_out)

    async def stop(self) -> None:
        """Finish the waiting work, and end the thread."""
        if not self._ended.done():
            self._put(None)
        import asyncio  # noqa: PLC0415  (a house needs no asyncio)

        await asyncio.shield(self._ended)

    def _put(self, work: Callable[[Database], Any] | None, *, writes: bool = False) -> Future[Any]:
        job = _Job(work, self._loop.create_future(), writes)
        if self._ended.done():
            _refuse(job, self._why)
        else:
            self._jobs.put(job)
        return job.result

    # What follows runs in the thread.

    def _run(self) -> None:
        try:
            database = self._open_it()
            # Before the start is reported: from then on no note may be missed.
            database.backend.listen(lambda said: self._tell(self._others_said, said))
        except Exception as error:  # noqa: BLE001 - the caller of start is told
            self._tell(_settle, self._started, error)
        else:
            self._tell(_settle, self._started, None)
            try:
                self._work(database)
            except (Forgotten, Unknown) as error:
                self._why = str(error)
            except Exception as error:  # noqa: BLE001 - it is logged, and callers are told
                _log.exception("the store's thread has failed")
                self._why = f"The store has stopped: {error!r}."
            finally:
                with suppress(Exception):
                    database.close()
        self._tell(self._finish)

    def _work(self, database: Database) -> None:
        due = monotonic() + self._poll
        ending = False
        reading: deque[_Job] = deque()
        while reading or not ending:
            jobs = self._next_jobs(monotonic() if reading and not self._is_answering else due)
            self._at_work = [*jobs, *reading]
            writing = [job for job in jobs if job.writes and job.work]
            if writing:
                outcomes, entries = database.write([job.work for job in writing if job.work])
                self._tell(self._written, writing, outcomes, entries)
                self._tell_of_others(database)
            reading.extend(job for job in jobs if job.work and not job.writes)
            # Reads one at a time, and the next when the loop has taken the result: so a ply does
            # not wait until all pending look-ups are read, nor until all their answers are told.
            if reading and not self._is_answering:
                job = reading.popleft()
                if job.work:
                    self._is_answering = True
                    self._tell(self._answer, job, _outcome(job.work, database))
            ending = ending or any(job.work is None for job in jobs)
            if monotonic() >= due:
                self._look(database)
                due = monotonic() + self._poll
            if database.forgotten:
                raise database.forgotten

    def _next_jobs(self, due: float) -> Sequence[_Job]:
        """Return all waiting jobs; none if none comes until it is ``due``."""
        jobs: list[_Job | None] = []
        with suppress(Empty):
            jobs.append(self._jobs.get(timeout=max(0.0, due - monotonic())))
            while True:
                jobs.append(self._jobs.get_nowait())
        if None in jobs:
            self._is_answering = False
        return [job for job in jobs if job]

    def _look(self, database: Database) -> None:
        """Check whether another process has written something.

        A failure to read is told once, and reading is tried again and again: later entries must not
        be handed out before these.
        """
        try:
            self._hand_out(database)
            self._trouble = ""
        except StoreError as error:
            if str(error) != self._trouble:
                self._trouble = str(error)
                self._tell(self._followers.fail, error)

    def _hand_out(self, database: Database) -> None:
        """Hand out what other processes have written."""
        while (entries := database.news()) is not None:
            self._tell_of_others(database)
            if entries:
                self._tell(self._followers.deliver, entries)
            if database.is_caught_up:
                return

    def _tell_of_others(self, database: Database) -> None:
        if database.others_wrote:
            database.others_wrote = False
            self._tell(self._changed)

    def _tell(self, call: Callable[..., None], *arguments: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
            self._loop.call_soon_threadsafe(call, *arguments)

    def _look_now(self, database: Database) -> None:
        self._will_look = False  # before the look: what is written during it needs another look
        self._look(database)

    # What follows runs in the loop.

    def _others_said(self, said: str | None) -> None:
        if said is not None:
            self._heard(said)
        if not said and not self._will_look and not self._ended.done():
            self._will_look = True
            look = self._put(self._look_now)
            look.add_done_callback(lambda future: future.exception())  # refused, if we have ended

    def _written(
        self, jobs: Sequence[_Job], outcomes: Sequence[object], entries: Sequence[Entry]
    ) -> None:
        for job, outcome in zip(jobs, outcomes, strict=True):
            _settle(job.result, outcome)
        if entries:
            self._followers.deliver(entries)

    def _answer(self, job: _Job, outcome: object) -> None:
        _settle(job.result, outcome)
        self._loop.call_soon(self._jobs.put, None)  # after the caller that waits for the answer

    def _finish(self) -> None:
        self._thread.join()
        if self._why != CLOSED:
            self._stopped(StoreError(self._why))
        _settle(self._ended, None)
        for job in self._at_work:
            _refuse(job, self._why)
        while not self._jobs.empty():
            if waiting := self._jobs.get_nowait():
                _refuse(waiting, self._why)


def _outcome(work: Callable[[Database], Any], database: Database) -> Any:
    """Return the result of work, or its exception."""
    try:
        return database.read(work)
    except Exception as error:  # noqa: BLE001 - the caller is told
        return error


def _settle(future: Future[Any], outcome: object) -> None:
    """Set a future's result, or exception, unless it is done or cancelled."""
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


def _refuse(job: _Job, why: str) -> None:
    """Fail a job that will not be run."""
    if job.work is None:
        _settle(job.result, None)
    else:
        _settle(job.result, (NotWritten if job.writes else StoreError)(why))
