"""The thread that a journal's file belongs to.

Owns the queue between the event loop and the thread. Must never touch the file in the loop, nor
the loop's objects in the thread: what is to happen in the loop is told to it.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import Future
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any, Protocol, TypeVar

from thudmud.journal.interface import Entry, JournalError, NotWritten
from thudmud.journal.store import Append, Store, Stored

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Observer(Protocol):
    """Is told, in the event loop, what has been stored."""

    def deliver(self, after: int, entries: Sequence[Entry]) -> None:
        """These entries were stored; they come next after a position."""

    def advance(self, position: int) -> None:
        """Events up to a position are stored."""

    def close(self) -> None:
        """There will be no more."""


@dataclass(frozen=True, slots=True)
class _Job:
    """Something to be done in the thread, and the future of its result, which is the loop's."""

    work: Append | Callable[[Store], Any] | None
    """Events to be stored, or something else to be done; None to come to an end."""
    result: Future[Any]


class Worker:
    """A thread with a store of its own. All methods are for the event loop."""

    def __init__(self, open_store: Callable[[], Store], poll: float, observer: Observer) -> None:
        self._open_store = open_store
        self._poll = poll
        self._observer = observer
        self._loop = asyncio.get_running_loop()
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._at_work: Sequence[_Job] = ()
        """Those that were last taken from the queue; the thread's, as long as it runs."""
        self._why = "The journal is closed."
        """Why nothing is done any more, once nothing is."""
        self._started: Future[None] = self._loop.create_future()
        self._ended: Future[None] = self._loop.create_future()
        self._thread = Thread(target=self._run, name="journal", daemon=True)

    def start(self) -> Future[None]:
        """Open the store; the future is done when it is, or has the reason why it is not."""
        self._thread.start()
        return self._started

    def append(self, append: Append) -> Future[None]:
        """Store events, together with all others that wait for it.

        The future is done when everybody who follows has been handed them.
        """
        return self._put(append)

    def call(self, work: Callable[[Store], T]) -> Future[T]:
        """Do something with the store, after what is waiting to be stored."""
        return self._put(work)

    def stop(self) -> Future[None]:
        """Do what is waiting, and come to an end; the future is done when it has come to it."""
        if not self._ended.done():
            self._put(None)
        return self._ended

    def _put(self, work: Append | Callable[[Store], Any] | None) -> Future[Any]:
        job = _Job(work, self._loop.create_future())
        if self._ended.done():
            _refuse(job, self._why)
        else:
            self._jobs.put(job)
        return job.result

    # What follows runs in the thread.

    def _run(self) -> None:
        try:
            store = self._open_store()
        except Exception as error:  # noqa: BLE001 - who waits for the start is told
            self._tell(_settle, self._started, error)
        else:
            self._tell(_settle, self._started, None)
            self._work_and_close(store)
        self._tell(self._finish)

    def _work_and_close(self, store: Store) -> None:
        """Do what there is to be done; whatever goes wrong with it, nobody waits for ever."""
        try:
            try:
                self._work(store)
            finally:
                store.close()
        except Exception as error:  # noqa: BLE001 - it is logged, and who waits is told
            _log.exception("the journal has come to an end that it should not come to")
            self._why = f"The journal has stopped: {error!r}."

    def _work(self, store: Store) -> None:
        self._look(store)
        due = monotonic() + self._poll
        ending = False
        while not ending:
            self._at_work = jobs = self._next_jobs(due)
            self._store(store, jobs)
            for job in jobs:
                if callable(job.work):
                    self._tell(_settle, job.result, _outcome(job.work, store))
            ending = any(job.work is None for job in jobs)
            if monotonic() >= due:
                self._look(store)
                due = monotonic() + self._poll

    def _next_jobs(self, due: float) -> Sequence[_Job]:
        """Return all jobs that wait; none if there are none until it is ``due``."""
        jobs = []
        with suppress(Empty):
            jobs.append(self._jobs.get(timeout=max(0.0, due - monotonic())))
            while True:
                jobs.append(self._jobs.get_nowait())
        return jobs

    def _store(self, store: Store, jobs: Sequence[_Job]) -> None:
        """Store all there is to be stored, in one transaction."""
        writing = [(job, job.work) for job in jobs if isinstance(job.work, Append)]
        if writing:
            outcomes = store.append([append for _, append in writing])
            self._tell(self._stored, [job for job, _ in writing], outcomes)

    def _look(self, store: Store) -> None:
        """See whether another process has stored something."""
        with suppress(JournalError):  # whoever reads or writes next is told
            if store.has_news():
                self._tell(self._observer.advance, store.position())

    def _tell(self, call: Callable[..., None], *arguments: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits for anything any more
            self._loop.call_soon_threadsafe(call, *arguments)

    # What follows runs in the loop.

    def _stored(self, jobs: Sequence[_Job], outcomes: Sequence[Stored | Exception]) -> None:
        for job, outcome in zip(jobs, outcomes, strict=True):
            if isinstance(outcome, Stored):
                if outcome.entries:
                    self._observer.deliver(outcome.after, outcome.entries)
                _settle(job.result, None)
            else:
                _settle(job.result, outcome)

    def _finish(self) -> None:
        self._thread.join()
        self._observer.close()
        _settle(self._ended, None)
        for job in self._at_work:
            _refuse(job, self._why)
        while not self._jobs.empty():
            _refuse(self._jobs.get_nowait(), self._why)


def _outcome(work: Callable[[Store], Any], store: Store) -> Any:
    """Return what comes of work, or the exception that does."""
    try:
        return work(store)
    except Exception as error:  # noqa: BLE001 - who waits for the result is told
        return error


def _settle(future: Future[Any], outcome: Any) -> None:
    """Hand an outcome, maybe an exception, to who waits for it, unless they wait no more."""
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


def _refuse(job: _Job, why: str) -> None:
    """Tell who waits for a job, if it has not been done, why it will not be."""
    kind = NotWritten if isinstance(job.work, Append) else JournalError
    _settle(job.result, None if job.work is None else kind(why))
