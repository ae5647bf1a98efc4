"""Runs coroutines that may have nothing to wait for: at once, with a task only for the rest.

Most lines are answered without waiting. A task for each would cost a turn of the event loop and a
second write to the player. With a store in memory nothing ever waits, so a house needs no event
loop, and asyncio, which takes as long to load as the rest of a house, is imported only where
something waits.
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

_going: set[asyncio.Task[Any]] = set()
"""References that keep tasks alive, since the event loop does not."""


def future() -> asyncio.Future[None]:
    """Return a future of the running loop."""
    import asyncio  # noqa: PLC0415  (see above)

    return asyncio.get_running_loop().create_future()


def settle(waiting: Iterable[asyncio.Future[None]], error: Exception | None = None) -> None:
    """Wake those who wait on some futures, with an error if there is one; some may be done."""
    for each in waiting:
        if each.done():
            continue
        if error:
            each.set_exception(error)
        else:
            each.set_result(None)


def now(work: Coroutine[Any, Any, T]) -> asyncio.Task[T] | T:
    """Start a coroutine at once.

    Before its first wait it does not run in a task of its own, so `asyncio.timeout` does not work
    there.

    Returns:
        its result if it did not wait; else the task that runs the rest.
    """
    try:
        waiting = work.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    return _going_on(work, waiting)


def metered_now(
    work: Coroutine[Any, Any, T], ran: Callable[[float], None], clock: Callable[[], float]
) -> asyncio.Task[T] | T:
    """Begin a coroutine at once, as `now` does, and meter how long it keeps the loop busy.

    Args:
        work: the coroutine.
        ran: takes the seconds of each stretch that it has run; waiting is free.
        clock: returns the time, in seconds. `time.thread_time` leaves out how long others keep the
            processor meanwhile.
    """
    timed = _timed(ran, clock)
    try:
        waiting = timed(work.send, None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    return _going_on(work, waiting, timed)


async def metered(
    work: Coroutine[Any, Any, T], ran: Callable[[float], None], clock: Callable[[], float]
) -> T:
    """Await a coroutine, and meter how long it keeps the loop busy, as `metered_now` does."""
    timed = _timed(ran, clock)
    try:
        waiting = timed(work.send, None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    return await _steps(work, waiting, timed)


_Step = Callable[[Callable[[Any], Any], Any], Any]
"""Resumes a coroutine by its ``send`` or ``throw``."""


def _timed(ran: Callable[[float], None], clock: Callable[[], float]) -> _Step:
    def timed(step: Callable[[Any], Any], argument: Any) -> Any:
        begun = clock()
        try:
            return step(argument)
        finally:
            ran(clock() - begun)

    return timed


def _going_on(
    work: Coroutine[Any, Any, T],
    waiting: Any,
    resume: _Step = lambda step, argument: step(argument),
) -> asyncio.Task[T]:
    """Return a task that goes on with a coroutine, which waits for something already."""
    import asyncio  # noqa: PLC0415  (see above)

    rest = _rest(work, waiting, resume)
    rest.send(None)
    task = asyncio.get_running_loop().create_task(rest)
    _going.add(task)
    task.add_done_callback(_going.discard)
    return task


async def _rest(work: Coroutine[Any, Any, T], waiting: Any, resume: _Step) -> T:
    """Continue a coroutine that waits for something already.

    From Python 3.12 on a task takes nothing but this: of a generator it says that it is none.
    """
    return await _steps(work, waiting, resume)


@coroutine
def _steps(work: Coroutine[Any, Any, T], waiting: Any, resume: _Step) -> Generator[Any, Any, T]:
    """Take the steps of a coroutine that waits for something already."""
    try:
        try:
            yield  # from here on it learns that the task is cancelled, even before its first step
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


class Turns:
    """Fair locks by key. They need no event loop until one has to be waited for.

    Args:
        ended: called after each release while something is ``pending``; another may hold the key by
            then.
        pending: calls queued until a release.

    Attributes:
        held: by held key, the futures of those who wait for it.
    """

    def __init__(
        self, ended: Callable[[], None] | None = None, pending: Collection[object] = ()
    ) -> None:
        self._ended, self._pending = ended, pending
        self._idle: list[asyncio.Future[None]] = []
        """The futures of those who wait until no key is held."""
        self.held: dict[str, deque[asyncio.Future[None]]] = {}

    def __len__(self) -> int:
        """Return how many keys are held."""
        return len(self.held)

    def is_taken(self, key: str) -> bool:
        """Whether a key is held."""
        return key in self.held

    def begin(self, key: str) -> bool:
        """Take a key if it is free; return whether it was. The caller has to `leave` it."""
        if key in self.held:
            return False
        self.held[key] = deque()
        return True

    def of(self, key: str) -> Turn:
        """Return a context manager that holds a key."""
        return Turn(self, key)

    async def take(self, key: str) -> None:
        """Wait for a key, and take it."""
        if self.begin(key):
            return
        turn, waiting = future(), self.held[key]
        waiting.append(turn)
        try:
            await turn
        except BaseException:
            if turn.cancelled() or not turn.done():
                with suppress(ValueError):  # it may have been removed already
                    waiting.remove(turn)
            else:  # we got the key just when we were cancelled
                self.leave(key)
            raise

    def leave(self, key: str) -> None:
        """Release a key."""
        if self.held[key]:
            self._hand_on(key)
        else:
            del self.held[key]
        if self._pending and self._ended:
            self._ended()
        if self._idle and not self.held:
            idle, self._idle = self._idle, []
            settle(idle)

    async def all_left(self) -> None:
        """Wait until no key is held."""
        if self.held:
            idle = future()
            self._idle.append(idle)
            await idle

    def _hand_on(self, key: str) -> None:
        """Hand a key to the next who waits for it."""
        waiting = self.held[key]
        while waiting:
            turn = waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        del self.held[key]


class Turn:
    """Holds a key, for an ``async with``."""

    __slots__ = ("_key", "_turns")

    def __init__(self, turns: Turns, key: str) -> None:
        self._turns, self._key = turns, key

    def __aenter__(self) -> Coroutine[Any, Any, None]:
        return self._turns.take(self._key)

    async def __aexit__(self, *_: object) -> None:
        self._turns.leave(self._key)
