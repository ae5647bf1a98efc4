"""Eager coroutines, and keyed locks that need no event loop until somebody has to wait.

Why eager. Most lines are answered without blocking. A task for each would cost a turn of the event
loop and a second write to the player. With a store in memory nothing ever blocks, so a house needs
no event loop. asyncio takes as long to load as the rest of a house, so it is imported only where
something blocks. (`asyncio.eager_task_factory` is similar, but needs a running loop and Python
3.12.)

How `run_eagerly` works. It runs the coroutine by ``send(None)``, in the caller's frame:

1. The coroutine finishes: ``StopIteration`` carries the result, and there's no task. An exception
   propagates to the caller of `run_eagerly`.
2. The coroutine blocks: ``send`` returns the future that it awaits, or None for a bare ``yield``
   such as ``asyncio.sleep(0)``. A task has to wait for that future, but a task starts a coroutine
   anew and can't be handed one that is suspended. So the task gets a wrapper, `_steps`, whose
   first step yields this same future. From then on the wrapper passes values and exceptions
   through in both directions, and the coroutine can't tell the difference.

Cancellation. The task can be cancelled between its creation and its first step. asyncio then throws
``CancelledError`` into the wrapper. If that hadn't started, it would raise at once, and the
coroutine would never see the exception: only the garbage collector would close it, and its
``finally`` blocks couldn't await anything. So `_continue_in_task` advances the wrapper to a bare
``yield`` inside its ``try`` before it makes the task. The exception arrives there and is thrown
into the coroutine.

The rest doesn't depend on the caller. If the caller is cancelled or ends, the task goes on, and
`_running_tasks` keeps it alive. Only a caller that is awaiting the task passes its own
cancellation on to it, as asyncio does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Coroutine, Generator, Iterable
from contextlib import suppress
from types import coroutine
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

_running_tasks: set[asyncio.Task[Any]] = set()
"""Strong references to running tasks: the event loop holds only weak ones."""


def future() -> asyncio.Future[None]:
    """Create a future on the running loop."""
    import asyncio  # noqa: PLC0415  (see above)

    return asyncio.get_running_loop().create_future()


def resolve_all(waiting: Iterable[asyncio.Future[None]], error: Exception | None = None) -> None:
    """Resolve futures with None, or with an error; skip those that are done or cancelled."""
    for each in waiting:
        if each.done():
            continue
        if error:
            each.set_exception(error)
        else:
            each.set_result(None)


Resume = Callable[[Callable[[Any], Any], Any], Any]
"""Resumes a coroutine: calls its ``send`` or ``throw`` with the value or exception."""


def _resume(step: Callable[[Any], Any], argument: Any) -> Any:
    return step(argument)


def run_eagerly(work: Coroutine[Any, Any, T], resume: Resume = _resume) -> asyncio.Task[T] | T:
    """Run a coroutine eagerly: until it blocks in the caller's frame, and the rest in a task.

    Until it blocks it has no task of its own, so `asyncio.timeout` and `asyncio.current_task` don't
    work there. Up to then, ``resume`` isn't called, either.

    Args:
        work: the coroutine.
        resume: resumes the coroutine in the task, see `metered_step`.

    Returns:
        Its result if it didn't block; otherwise the task that runs the rest.
    """
    try:
        waiting = work.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    return _continue_in_task(work, waiting, resume)


async def await_in_steps(work: Coroutine[Any, Any, T], resume: Resume) -> T:
    """Await a coroutine, and let ``resume`` resume it each time; see `metered_step`."""
    try:
        waiting = resume(work.send, None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    # Here the first bare `yield` of `_steps` reaches the caller's task, and costs a turn.
    return await _steps(work, waiting, resume)


def metered_step(ran: Callable[[float], None], clock: Callable[[], float]) -> Resume:
    """Return a function that resumes coroutines, and meters how long they occupy the event loop.

    Args:
        ran: called with the seconds of each stretch between two waits; waiting is free.
        clock: returns the time in seconds. `time.thread_time` excludes the time in which other
            threads and processes have the CPU.
    """

    def timed(step: Callable[[Any], Any], argument: Any) -> Any:
        begun = clock()
        try:
            return step(argument)
        finally:
            ran(clock() - begun)

    return timed


def _continue_in_task(
    work: Coroutine[Any, Any, T], waiting: Any, resume: Resume
) -> asyncio.Task[T]:
    """Create a task that runs the rest of a coroutine that already awaits ``waiting``."""
    import asyncio  # noqa: PLC0415  (see above)

    rest = _rest(work, waiting, resume)
    rest.send(None)  # to the bare `yield`, so that an early cancellation reaches the coroutine
    task = asyncio.get_running_loop().create_task(rest)
    _running_tasks.add(task)
    task.add_done_callback(_running_tasks.discard)
    return task


async def _rest(work: Coroutine[Any, Any, T], waiting: Any, resume: Resume) -> T:
    """Wrap `_steps` in a native coroutine, as ``create_task`` requires from Python 3.12 on."""
    return await _steps(work, waiting, resume)


@coroutine
def _steps(work: Coroutine[Any, Any, T], waiting: Any, resume: Resume) -> Generator[Any, Any, T]:
    """Drive a coroutine that already awaits ``waiting``, like ``yield from`` in mid-course."""
    try:
        try:
            # The task's first step resumes here. If it was cancelled before that, the coroutine
            # sees the exception where it is suspended, and its handlers run.
            yield
        except BaseException as error:  # noqa: BLE001  (the coroutine has to see it)
            waiting = resume(work.throw, error)
        while True:
            try:
                answer = yield waiting
            except BaseException as error:  # noqa: BLE001
                waiting = resume(work.throw, error)
            else:
                waiting = resume(work.send, answer)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


class KeyedLock:
    """A keyed lock: one fair (FIFO) mutex for each key, not reentrant.

    A release hands the key over to the first waiter directly: the key is never free in between, so
    nobody can jump the queue before the waiter runs.

    Args:
        on_release: called after a release if ``pending`` isn't empty. By then a waiter may own the
            key.
        pending: the queue that ``on_release`` drains.

    Attributes:
        held: the held keys, each with the futures of its waiters in order.
    """

    def __init__(
        self, on_release: Callable[[], None] | None = None, pending: Collection[object] = ()
    ) -> None:
        self._on_release, self._pending = on_release, pending
        self._idle: list[asyncio.Future[None]] = []
        """Futures of callers that wait until no key is held."""
        self.held: dict[str, deque[asyncio.Future[None]]] = {}

    def __len__(self) -> int:
        """Return the number of held keys."""
        return len(self.held)

    def is_held(self, key: str) -> bool:
        """Whether a key is held."""
        return key in self.held

    def try_acquire(self, key: str) -> bool:
        """Acquire a key without waiting; return False if it is held. Release it with `release`."""
        if key in self.held:
            return False
        self.held[key] = deque()
        return True

    def holding(self, key: str) -> Turn:
        """Return an asynchronous context manager that holds a key."""
        return Turn(self, key)

    async def acquire(self, key: str) -> None:
        """Acquire a key, after all earlier waiters."""
        if self.try_acquire(key):
            return
        turn, waiting = future(), self.held[key]
        waiting.append(turn)
        try:
            await turn
        except BaseException:
            if turn.cancelled() or not turn.done():
                with suppress(ValueError):  # `_hand_over` drops cancelled futures as well
                    waiting.remove(turn)
            else:  # cancelled after the key was handed over: it is ours, so pass it on
                self.release(key)
            raise

    def release(self, key: str) -> None:
        """Release a key, or hand it to its first waiter."""
        if self.held[key]:
            self._hand_over(key)
        else:
            del self.held[key]
        if self._pending and self._on_release:
            self._on_release()
        if self._idle and not self.held:
            idle, self._idle = self._idle, []
            resolve_all(idle)

    async def wait_idle(self) -> None:
        """Wait until no key is held."""
        if self.held:
            idle = future()
            self._idle.append(idle)
            await idle

    def _hand_over(self, key: str) -> None:
        """Hand a key to the first waiter that isn't cancelled; release it if there is none."""
        waiting = self.held[key]
        while waiting:
            turn = waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        del self.held[key]


class Turn:
    """Holds a key during an ``async with`` block."""

    __slots__ = ("_key", "_lock")

    def __init__(self, turns: KeyedLock, key: str) -> None:
        self._lock, self._key = turns, key

    def __aenter__(self) -> Coroutine[Any, Any, None]:
        return self._lock.acquire(self._key)

    async def __aexit__(self, *_: object) -> None:
        self._lock.release(self._key)
