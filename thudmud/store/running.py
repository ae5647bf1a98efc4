"""The store's thread, and subscriptions to events.

The thread takes all waiting writes and runs them as one transaction, so that many tables share one
wait for the disk (group commit). Results go to the event loop in one callback, which first wakes
those who appended and then calls the subscribers. So the text for a player and the prompt after it
go out in one write.

Theory of operation. Three rules hold between the thread and the loop:

- The thread alone touches the `Database`. It reaches the loop only by ``call_soon_threadsafe``, so
  callbacks come in the order in which it committed, and subscribers get entries in that order.
- A queued job always runs, even if its future is cancelled. A cancelled caller only loses the
  result, before or after the commit. Its entries still reach the subscribers, here and elsewhere.
- Writes go before reads, and reads run one at a time. The next read starts after the loop has taken
  the last answer, so a move waits for at most one look-up.

How does a subscriber that starts at an old position miss nothing? `Store.subscribe` first adds the
subscription, whose new entries then queue up (`Subscription._waiting`). After that it reads the
older entries in batches, until the feed covers the rest, and only then releases the queue. Entries
that come by both ways are recognised by their positions and dropped.

When does the thread look for writes of other processes? Each of their commits is announced by a
notification, which is followed by a poll. If the notification says that only plies were appended,
and those streams may wait for all subscribers (`MayWait`), the poll is `POLL_DELAY` seconds later.
Meanwhile any other poll, and any write of ours, reads them as well: entries always come in order.
Until that poll, further plies of these streams wait without asking again.

What happens if the thread dies? `_finish` runs in the loop. The jobs in progress and the queued
ones are refused, and `Store.wait_stopped` raises the cause. A write in progress that is refused
this way may have been committed; after a restart it can be repeated with its request key.

A database in memory has no thread. Its coroutines never wait, and can be driven without a loop.
asyncio is therefore imported only where there is a thread: importing it takes as long as everything
else that an embedded house needs.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from thudmud.store.backend import PliesStored
from thudmud.store.database import Database
from thudmud.store.interface import (
    Entry,
    FeedEntry,
    HistoryLostError,
    NotWrittenError,
    StoreError,
    UncertainError,
    UnknownFormatError,
)

if TYPE_CHECKING:
    from asyncio import Future, TimerHandle

T = TypeVar("T")
Take = Callable[[Sequence[Entry]], None]
TakeWithPlies = Callable[[Sequence[FeedEntry]], None]
"""Takes plies without their players, too."""

MayWait = Callable[[str], bool]
"""Returns whether there is no hurry for other nodes' plies at a stream."""

Failed = Callable[[StoreError], None]

POLL_DELAY = 0.2
"""Seconds for which plies wait that may, so that they are read together."""

CLOSED = "The store is closed."

_log = logging.getLogger(__name__)


class Subscription:
    """Delivers entries to one subscriber, until it is closed."""

    def __init__(
        self,
        followers: Subscriptions,
        streams: Collection[str] | None,
        after: int,
        take: Take | TakeWithPlies,
        failed: Failed,
        *,
        may_wait: MayWait | None,
    ) -> None:
        self._followers = followers
        self.streams = None if streams is None else frozenset(streams)
        self.position = after
        """The position of the last entry delivered."""
        self.failed = failed
        self.may_wait = may_wait
        self._take = cast("TakeWithPlies", take)
        self._waiting: list[Sequence[FeedEntry]] | None = []
        """New entries queued while older ones are still being read; None after that."""

    def close(self) -> None:
        """Stop delivering entries."""
        self._followers.remove(self)

    def catch_up(self, entries: Sequence[FeedEntry]) -> None:
        """Deliver older entries, which were read for this subscription."""
        if self.streams is not None:
            entries = [entry for entry in entries if entry.stream in self.streams]
        self._deliver_now(entries)

    def resume(self) -> None:
        """Deliver the queued entries; from now on, deliver new ones at once."""
        waiting, self._waiting = self._waiting or [], None
        for entries in waiting:
            self._deliver_now(entries)

    def deliver(self, entries: Sequence[FeedEntry]) -> None:
        """Deliver new entries, or queue them after the older ones that are being read."""
        if self._waiting is None:
            self._deliver_now(entries)
        else:
            self._waiting.append(entries)

    def _deliver_now(self, entries: Sequence[FeedEntry]) -> None:
        # While catching up, an entry may come twice: from the read, and from the feed.
        if entries and entries[0].position <= self.position:
            entries = [entry for entry in entries if entry.position > self.position]
        if not entries:
            return
        self.position = entries[-1].position
        try:
            self._take(entries)
        except Exception:  # noqa: BLE001 - the other subscribers still need the entries
            _log.exception("a subscriber to the store failed")


class Subscriptions:
    """All subscriptions, indexed by stream: most are to a few streams only."""

    def __init__(self) -> None:
        self._of_all: dict[Subscription, None] = {}
        self._of: dict[str, dict[Subscription, None]] = {}
        self._coming: deque[Sequence[FeedEntry]] = deque()
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

    def deliver(self, entries: Sequence[FeedEntry]) -> None:
        """Deliver entries to the subscribers of their streams.

        In memory, a subscriber may append while it is called. Those entries wait until every
        subscriber has got the current ones, so all see the same order.
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
        """Report to all subscribers that the next entries cannot be read for now."""
        everybody = dict(self._of_all)
        for some in self._of.values():
            everybody |= some
        for subscription in everybody:
            subscription.failed(error)

    def may_wait(self, streams: Collection[str]) -> bool:
        """Return whether no subscriber is in a hurry for plies at some streams."""
        if not self._of.keys().isdisjoint(streams):
            return False
        return all(each.may_wait and all(map(each.may_wait, streams)) for each in self._of_all)

    def _deliver(self, entries: Sequence[FeedEntry]) -> None:
        for subscription in list(self._of_all):
            subscription.deliver(entries)
        if not self._of:
            return
        parts: dict[Subscription, list[FeedEntry]] = {}
        for entry in entries:
            for subscription in self._of.get(entry.stream, ()):
                parts.setdefault(subscription, []).append(entry)
        for subscription, part in parts.items():
            subscription.deliver(part)


class AtOnce:
    """Runs work on a database in memory within the call, each in its own transaction."""

    def __init__(self, database: Database, followers: Subscriptions) -> None:
        self._database: Database | None = database
        self._followers = followers

    async def write(self, work: Callable[[Database], T]) -> T:
        """Run work that writes."""
        if self._database is None:
            raise NotWrittenError(CLOSED)
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
    """The work; None to end the thread."""
    result: Future[Any]
    writes: bool = False


class _Outage:
    """Logs when a store can be written to again after writes that were not stored."""

    def __init__(self) -> None:
        self._begun = 0.0
        self._refused = 0

    def note(self, outcomes: Sequence[object]) -> None:
        """Note the outcomes of a transaction, which all fail if it isn't stored."""
        if outcomes and isinstance(outcomes[0], NotWrittenError | UncertainError):
            self._begun = self._begun if self._refused else monotonic()
            self._refused += len(outcomes)
        elif self._refused:
            seconds = round(monotonic() - self._begun, 1)
            _log.warning("stores again", extra={"seconds": seconds, "refused": self._refused})
            self._refused = 0


class ThreadRunner:
    """A thread with its own database. Call the public methods from the event loop only.

    Args:
        open_it: opens the database; called in the thread.
        poll: seconds between polls for other processes' writes.
        followers: the subscriptions to which new entries are delivered.
        changed: called when another process has written something, perhaps to accounts.
        stopped: called when the database can no longer be used.
        heard: called with each note of another node.
    """

    def __init__(
        self,
        open_it: Callable[[], Database],
        poll: float,
        followers: Subscriptions,
        changed: Callable[[], None],
        stopped: Callable[[StoreError], None],
        *,
        heard: Callable[[str], None],
    ) -> None:
        self._open_it, self._poll, self._followers = open_it, poll, followers
        self._changed, self._stopped, self._heard = changed, stopped, heard
        self._is_poll_queued = False
        """Whether a poll for other processes' writes is queued."""
        self._late_poll: TimerHandle | None = None
        """The timer of the next poll for plies that may wait."""
        self._late_streams: frozenset[str] = frozenset()
        """The streams for which that timer was set; also read by the backend's thread."""
        import asyncio  # noqa: PLC0415  (a house needs no asyncio)

        self._loop = asyncio.get_running_loop()
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        """The queue of jobs; None means that the loop has taken the last answer."""
        self._at_work: Sequence[_Job] = ()
        """The jobs last taken from the queue; touched only by the thread while it runs."""
        self._is_answering = False
        """Whether an answer is still on its way to the loop; touched only by the thread."""
        self._why = CLOSED
        """The message with which work is refused once the thread has ended."""
        self._trouble = ""
        """The last read error reported to subscribers; touched only by the thread."""
        self._outage = _Outage()
        self._started: Future[None] = self._loop.create_future()
        self._ended: Future[None] = self._loop.create_future()
        self._thread = Thread(target=self._run, name="store", daemon=True)

    async def start(self) -> None:
        """Open the database; StoreError if that fails."""
        self._thread.start()
        await self._started

    def write(self, work: Callable[[Database], T]) -> Future[T]:
        """Queue work that writes; it shares a transaction with all other waiting writes."""
        return self._put(work, writes=True)

    def read(self, work: Callable[[Database], T]) -> Future[T]:
        """Queue work that only reads; it runs after the waiting writes."""
        return self._put(work)

    async def catch_up(self) -> None:
        """Deliver all entries that other processes have appended by now."""
        await self._put(self._deliver_entries)

    async def stop(self) -> None:
        """Finish the queued work, and end the thread."""
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

    # Runs in a thread of the backend.

    def _hear(self, said: str | PliesStored | None) -> None:
        # The next poll reads more plies of the same boards as well, so the loop isn't woken for
        # each. `_queue_poll` forgets the streams before its poll reads, so none is overlooked.
        if not (isinstance(said, PliesStored) and self._late_streams.issuperset(said.streams)):
            self._tell(self._on_backend_note, said)

    # From here to `_poll_now`: runs in the thread.

    def _run(self) -> None:
        try:
            database = self._open_it()
            # Listen before the start is reported: no note may be missed from then on.
            database.backend.listen(self._hear)
        except Exception as error:  # noqa: BLE001 - raised by `start`
            self._tell(_resolve, self._started, error)
        else:
            self._tell(_resolve, self._started, None)
            try:
                self._work(database)
            except (HistoryLostError, UnknownFormatError) as error:
                self._why = str(error)
            except Exception as error:  # noqa: BLE001 - logged, and raised to callers
                _log.exception("the store's thread failed")
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
            # If the thread fails, `_finish` refuses these too: they have left the queue.
            self._at_work = [*jobs, *reading]
            writing = [job for job in jobs if job.writes and job.work]
            if writing:
                outcomes, entries = database.write([job.work for job in writing if job.work])
                # One callback for both: nothing can run between waking the callers and delivering
                # their entries.
                self._tell(self._written, writing, outcomes, entries)
                self._tell_of_others(database)
            reading.extend(job for job in jobs if job.work and not job.writes)
            # Start the next read only after the loop has taken the last answer. A move then waits
            # neither for all pending look-ups nor for the delivery of their answers.
            if reading and not self._is_answering:
                job = reading.popleft()
                if job.work:
                    self._is_answering = True
                    self._tell(self._answer, job, _outcome(job.work, database))
            ending = ending or any(job.work is None for job in jobs)
            if monotonic() >= due:
                self._poll_others(database)
                due = monotonic() + self._poll
            if database.forgotten:
                raise database.forgotten

    def _next_jobs(self, due: float) -> Sequence[_Job]:
        """Return all waiting jobs; wait for the first one until ``due`` at most."""
        jobs: list[_Job | None] = []
        with suppress(Empty):
            jobs.append(self._jobs.get(timeout=max(0.0, due - monotonic())))
            while True:
                jobs.append(self._jobs.get_nowait())
        if None in jobs:
            self._is_answering = False
        return [job for job in jobs if job]

    def _poll_others(self, database: Database) -> None:
        """Look for writes of other processes, and deliver their entries.

        An error is reported once, and the read is retried at each poll. Later entries must not be
        delivered before these.
        """
        try:
            self._deliver_entries(database)
            self._trouble = ""
        except StoreError as error:
            if str(error) != self._trouble:
                self._trouble = str(error)
                self._tell(self._followers.fail, error)

    def _deliver_entries(self, database: Database) -> None:
        """Deliver the entries of other processes, batch by batch."""
        while (entries := database.read_news()) is not None:
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
        with suppress(RuntimeError):  # the loop is closed, so nobody is waiting
            self._loop.call_soon_threadsafe(call, *arguments)

    def _poll_now(self, database: Database) -> None:
        self._is_poll_queued = False  # first: a write during this poll needs another one
        self._poll_others(database)

    # From here on: runs in the loop.

    def _on_backend_note(self, said: str | PliesStored | None) -> None:
        if isinstance(said, PliesStored):
            if not self._followers.may_wait(said.streams):
                self._queue_poll()
            elif not self._ended.done():
                self._late_streams |= {*said.streams}
                if self._late_poll is None:
                    self._late_poll = self._loop.call_later(POLL_DELAY, self._queue_poll)
            return
        if said is not None:
            self._heard(said)
        if not said:
            self._queue_poll()

    def _queue_poll(self) -> None:
        """Queue a poll, unless one is queued; it reads the plies that waited, too."""
        if self._late_poll:
            self._late_poll.cancel()
            self._late_poll, self._late_streams = None, frozenset()
        if not self._is_poll_queued and not self._ended.done():
            self._is_poll_queued = True
            poll = self._put(self._poll_now)
            poll.add_done_callback(lambda future: future.exception())  # retrieve a refusal silently

    def _written(
        self, jobs: Sequence[_Job], outcomes: Sequence[object], entries: Sequence[FeedEntry]
    ) -> None:
        for job, outcome in zip(jobs, outcomes, strict=True):
            _resolve(job.result, outcome)
        self._outage.note(outcomes)
        if entries:
            self._followers.deliver(entries)

    def _answer(self, job: _Job, outcome: object) -> None:
        _resolve(job.result, outcome)
        self._loop.call_soon(self._jobs.put, None)  # after the caller has run

    def _finish(self) -> None:
        self._thread.join()
        if self._late_poll:
            self._late_poll.cancel()
        if self._why != CLOSED:
            self._stopped(StoreError(self._why))
        _resolve(self._ended, None)
        for job in self._at_work:
            _refuse(job, self._why)
        while not self._jobs.empty():
            if waiting := self._jobs.get_nowait():
                _refuse(waiting, self._why)


def _outcome(work: Callable[[Database], Any], database: Database) -> Any:
    """Run work that reads; return its result or its exception."""
    try:
        return database.read(work)
    except Exception as error:  # noqa: BLE001 - raised to the caller
        return error


def _resolve(future: Future[Any], outcome: object) -> None:
    """Set a future's result or exception, unless it is already done or cancelled."""
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


def _refuse(job: _Job, why: str) -> None:
    """Fail a job that will never run."""
    if job.work is None:
        _resolve(job.result, None)
    else:
        _resolve(job.result, (NotWrittenError if job.writes else StoreError)(why))
