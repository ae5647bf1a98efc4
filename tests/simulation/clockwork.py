"""Deterministic scheduler: many processes in one, on a simulated clock, ordered by a seed.

Each simulated process has an event loop and threads of its own. A loop runs its callbacks in
asyncio's order; the seed decides which process runs next and when messages arrive. Computation
takes no time unless it sleeps explicitly. A process can be suspended and resumed, or killed: then
none of its code ever runs again, and its memory is lost.

Threads are greenlets: each runs until it waits, which it does only through the world's functions.
"""

from __future__ import annotations

import asyncio
from asyncio.events import _set_running_loop
from asyncio.futures import _set_result_unless_cancelled  # type: ignore[attr-defined]  # its own
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context, copy_context
from functools import partial
from heapq import heappop, heappush
from itertools import count, islice
from math import inf
from queue import Empty
from random import Random
from threading import get_ident
from traceback import format_exception
from typing import Any

from greenlet import GreenletExit, getcurrent, greenlet

BEGINNING = 1_795_262_400.0
"""The wall-clock time at which the world begins, in seconds since the epoch."""

IDENT = get_ident()

MANY_TASKS = 50

MOST_CLEANUPS = 100
"""Maximum number of awaits in a coroutine's cleanup."""


class _NoFiles:
    """The selector of a loop without file descriptors; it never reports an event."""

    def select(self, timeout: float | None = None) -> list[Any]:
        return []

    def close(self) -> None:
        pass


class Call(asyncio.Handle):
    """A callback scheduled to run soon."""

    __slots__ = ()

    def __init__(self, callback: Any, args: Any, loop: Loop, context: Context | None) -> None:
        self._context = copy_context() if context is None else context
        self._loop, self._callback, self._args = loop, callback, args
        self._cancelled, self._repr, self._source_traceback = False, None, None


class Timer(asyncio.TimerHandle):
    """A callback scheduled for a time. Timers compare by identity, unlike asyncio's."""

    __slots__ = ()
    __hash__ = object.__hash__
    __eq__ = object.__eq__


class Loop(asyncio.BaseEventLoop):
    """The event loop of one process, run by the world one iteration at a time.

    It behaves like asyncio's loop with less overhead, as a world spends most of its time here.

    Attributes:
        timers: timers neither run nor cancelled.
    """

    process: Process

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world
        self._selector = _NoFiles()
        self._ready: deque[asyncio.Handle] = deque()
        self.timers: dict[asyncio.TimerHandle, None] = {}
        self._due: list[Timer] = []
        """Timers that have become due since the last iteration."""

    @property
    def waiting(self) -> list[Any]:
        """The callbacks of pending timers."""
        return [each._callback for each in self.timers]  # type: ignore[attr-defined]  # asyncio's

    def time(self) -> float:
        return self._world.now

    def call_soon(  # type: ignore[override]
        self, callback: Any, *args: Any, context: Any = None
    ) -> asyncio.Handle:
        if self._closed:  # type: ignore[attr-defined]  # asyncio's
            raise RuntimeError("Event loop is closed")
        call = Call(callback, args, self, context)
        self._ready.append(call)
        self._world.ready[self] = None
        return call

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Any, *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._world.now + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Any, *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        timer = Timer(when, callback, args, self, context)
        self.timers[timer] = None
        self._world.at(when, partial(self._is_due, timer))
        return timer

    def _is_due(self, timer: Timer) -> None:
        if timer in self.timers:
            self._due.append(timer)
            self._world.ready[self] = None

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        self.timers.pop(handle, None)

    def go_on(self) -> None:
        """Run the ready callbacks, then the timers that are due."""
        ready = self._ready
        if self._due:
            for timer in self._due:
                if timer in self.timers:
                    del self.timers[timer]
                    ready.append(timer)
            self._due.clear()
        self._world.process = self.process
        self._thread_id = IDENT
        _set_running_loop(self)
        try:
            for _ in range(len(ready)):
                call = ready.popleft()
                if not call._cancelled:
                    call._run()
        finally:
            _set_running_loop(None)
            self._thread_id = None  # type: ignore[assignment]  # as asyncio does
        if ready:
            self._world.ready[self] = None

    def __del__(self) -> None:
        """Suppress asyncio's warning, as a killed process never closes its loop."""

    def forget(self) -> None:
        """Drop all pending callbacks and timers."""
        self._ready.clear()
        self.timers.clear()

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]
        """Run a function at once and deliver its result later, even if the waiter is cancelled."""
        done = self.create_future()
        try:
            result = func(*args)
        except Exception as error:  # noqa: BLE001  (re-raised in the waiter)
            done.set_exception(error)
        else:
            self.call_later(self._world.delay(0.1), _set_result_unless_cancelled, done, result)
        return done

    def add_signal_handler(self, sig: int, callback: Any, *args: Any) -> None:  # type: ignore[override]
        """Register a callback for a signal."""
        self.process.signals[sig] = partial(callback, *args)

    async def subprocess_exec(
        self, protocol_factory: Callable[[], Any], *args: Any, **kwargs: Any
    ) -> tuple[Any, Any]:
        """Start one of the world's engines."""
        protocol = protocol_factory()
        return self._world.start_program(self.process, protocol), protocol


class Process:
    """A simulated process.

    Args:
        world: the world it belongs to.
        name: its name.
        loop: its event loop, if already created.

    Attributes:
        loop: its event loop.
        is_awake: whether it is running, not suspended.
        is_dead: whether it was killed or has ended.
        signals: signal handlers by number.
        listens: the object that accepts connections, if any.
        version: the version of the program, by default the latest.
    """

    def __init__(self, world: World, name: str, loop: Loop | None = None) -> None:
        self.world, self.name = world, name
        self.loop = loop or Loop(world)
        self.loop.process = self
        self.loop.set_exception_handler(self._failed)
        self.is_awake, self.is_dead = True, False
        self.signals: dict[int, Callable[[], object]] = {}
        self.listens: Any = None
        self.version = world.version
        self.threads: list[Thread] = []
        self._tasks: list[asyncio.Task[Any]] = []
        self._many = MANY_TASKS
        """Number of tasks above which finished ones are dropped."""
        self.loop.set_task_factory(self._make_task)
        world.processes.append(self)

    def __str__(self) -> str:
        return self.name

    def run(self, main: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine; the process ends with it."""
        self.main = self.loop.create_task(main)
        self.main.add_done_callback(self._ended)

    def sleep(self, seconds: float) -> None:
        """Suspend the process for some seconds."""
        self.is_awake = False
        self.world.later(seconds, self._wake)

    def _wake(self) -> None:
        self.is_awake = True
        self.world.ready[self.loop] = None
        for thread in self.threads:
            self.world.ready[thread] = None

    def signal(self, number: int) -> None:
        """Send a signal to the process."""
        self.loop.call_soon(self.signals[number])

    def kill(self) -> None:
        """Kill the process; none of its code runs again."""
        if self.is_dead:
            return
        self.is_dead = True
        self.world.processes.remove(self)
        for thread in self.threads:
            thread.kill()
        for task in self.tasks:
            task._log_destroy_pending = False  # type: ignore[attr-defined]  # asyncio's
            _abandon(task.get_coro())
        self.loop.forget()

    def _make_task(
        self, loop: asyncio.AbstractEventLoop, work: Any, **more: Any
    ) -> asyncio.Task[Any]:
        task = asyncio.Task(work, loop=loop, **more)
        self._tasks.append(task)
        if len(self._tasks) > self._many:
            self._tasks = self.tasks
            self._many = 2 * len(self._tasks) + MANY_TASKS
        return task

    @property
    def tasks(self) -> list[asyncio.Task[Any]]:
        """Unfinished tasks of the process."""
        return [each for each in self._tasks if not each.done()]

    def _ended(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error:
            self.world.note("".join(format_exception(error)))
        if not self.is_dead:
            self.world.ended(self, error)
        self.world.later(0.0, self.kill)

    def _failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if not self.is_dead:
            work = getattr(context.get("task") or context.get("future"), "get_coro", lambda: None)()
            what = f"{context.get('message')}: {getattr(work, '__qualname__', '')}"
            self.world.broken(f"{self}: {what}: {context.get('exception')!r}")


class _Killed(BaseException):
    """The process is dead."""


def _abandon(work: Any) -> None:
    """Unwind a coroutine of a dead process.

    Awaits in its cleanup raise as well, as there is no loop to serve them.
    """
    with suppress(BaseException):
        for _ in range(MOST_CLEANUPS):
            work.throw(_Killed)  # once more at each await


class Thread:
    """A thread of the current process, with the interface of `threading.Thread`."""

    def __init__(
        self,
        target: Callable[..., object],
        name: str = "",
        args: tuple[object, ...] = (),
        *,
        daemon: bool = True,
    ) -> None:
        self.process = World.here.process
        self.name, self.is_ready = name, False
        self._until = self._rings = inf
        """The time at which the thread's wait times out, and the time of the next check for that.
        """
        self._greenlet = greenlet(lambda: self._run(target, args))
        self.process.threads.append(self)

    def start(self) -> None:
        self.wake()

    def wake(self) -> None:
        """Make the thread runnable."""
        self.is_ready = True
        self.process.world.ready[self] = None

    def wake_after(self, seconds: float) -> None:
        """Set a timeout for the wait that is about to begin."""
        self._until = self.process.world.now + seconds
        self._ring_then()

    def _ring_then(self) -> None:
        if self._rings > self._until:
            self._rings = self._until
            self.process.world.at(self._until, partial(self._ring, self._until))

    def _ring(self, when: float) -> None:
        """Check for a timeout; mostly the thread has been woken and is in another wait."""
        if when != self._rings:
            return
        self._rings = inf
        if self._until <= when:
            self.wake()
        else:
            self._ring_then()

    def join(self, timeout: float | None = None) -> None:
        """Run the thread to its end, which it reaches without waiting."""
        while timeout is None and not self._greenlet.dead:
            self.is_ready = True
            self.go_on()

    def go_on(self) -> None:
        """Run the thread until it waits."""
        if not self.is_ready:
            return
        world = self.process.world
        world.process, world.thread = self.process, self
        self.is_ready, self._until = False, inf
        self._greenlet.switch()
        if self._greenlet.dead:
            self.process.threads.remove(self)

    def kill(self) -> None:
        self.is_ready = False
        if self._greenlet and not self._greenlet.dead:
            with suppress(BaseException):
                self._greenlet.throw(GreenletExit)

    @staticmethod
    def _run(target: Callable[..., object], args: tuple[object, ...]) -> None:
        with suppress(GreenletExit):
            target(*args)


class Queue:
    """A queue between a process's event loop and one of its threads, like `queue.SimpleQueue`."""

    def __init__(self) -> None:
        self._items: deque[Any] = deque()
        self._waiting: Thread | None = None

    def put(self, item: object) -> None:
        self._items.append(item)
        if self._waiting:
            self._waiting.wake()

    def get(self, timeout: float | None = None) -> Any:
        if not self._items:
            self._waiting = World.here.thread
            World.here.wait(timeout)
            self._waiting = None
        return self.get_nowait()

    def get_nowait(self) -> Any:
        if not self._items:
            raise Empty
        return self._items.popleft()

    def empty(self) -> bool:
        return not self._items


class World:
    """The simulated clock and everything that runs on it.

    Args:
        seed: decides everything left to chance.
        ended: called with a process that ended on its own, and with its exception, if any.

    Attributes:
        here: the current world.
        start_program: called with the parent process and the protocol of its pipes; returns the
            transport.
        now: seconds since the beginning.
        numbers: source of unique numbers.
        log: a line for each thing that happened, for debugging.
        wrong: descriptions of failures.
        version: the latest version of the program, see `tests.simulation.versions`.
    """

    here: World

    def __init__(
        self, seed: int, ended: Callable[[Process, BaseException | None], None] | None = None
    ) -> None:
        World.here = self
        self.dice = Random(seed)  # noqa: S311  (what to try, no secret)
        self._chance = self.dice.random
        self.ended = ended or self._should_not_fail
        self.start_program: Callable[[Process, Any], Any]
        self.now = 0.0
        self.processes: list[Process] = []
        self.process: Process = None  # type: ignore[assignment]  # that which runs, if one does
        self.thread: Thread = None  # type: ignore[assignment]  # the same
        self.log: list[str] = []
        self.wrong: list[str] = []
        self.version = 0
        self._events: list[tuple[float, int, Callable[[], object]]] = []
        self.ready: dict[Loop | Thread, None] = {}
        """Runnable loops and threads, in a reproducible order."""
        self.numbers = count()
        self._hub = getcurrent()

    def wall(self) -> float:
        """Return the time of day in seconds since the epoch."""
        return BEGINNING + self.now

    def note(self, what: str) -> None:
        """Append a line to the log."""
        self.log.append(f"{self.now:9.4f} {what}")

    def broken(self, what: str) -> None:
        """Record a failure, in the log as well."""
        self.wrong.append(what)
        self.note(f"WRONG: {what}")

    def _should_not_fail(self, process: Process, error: BaseException | None) -> None:
        if error:
            self.broken(f"{process} ended by {error!r}")

    def later(self, delay: float, call: Callable[[], object]) -> None:
        """Call a function after some seconds."""
        heappush(self._events, (self.now + delay, next(self.numbers), call))

    def at(self, when: float, call: Callable[[], object]) -> None:
        """Call a function at a time, after those scheduled earlier for the same time."""
        heappush(self._events, (when, next(self.numbers), call))

    def delay(self, most: float = 0.02) -> float:
        """Return a random message delay in seconds, mostly short."""
        return most * self._chance() ** 3

    # Called by threads.

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.wait(seconds)

    def wait(self, timeout: float | None = None) -> None:
        """Suspend the current thread until it is woken or the timeout expires."""
        if timeout is not None:
            self.thread.wake_after(timeout)
        self._hub.switch()

    # Called from outside.

    def run(self, seconds: float) -> None:
        """Advance the world by some seconds."""
        self.run_until(None, seconds)

    def run_until(self, true: Callable[[], bool] | None, most: float) -> bool:
        """Advance until a condition holds or some seconds pass; return whether it holds.

        At each step one of the runnable loops and threads runs; time passes only if there are none.
        """
        ready, events, chance, end = self.ready, self._events, self._chance, self.now + most
        while not (true and true()):
            if ready:
                number = len(ready)
                is_due = bool(events) and events[0][0] <= self.now
                chosen = int(chance() * (number + is_due)) if number + is_due > 1 else 0
                if chosen < number:
                    one = next(islice(ready, chosen, None))
                    del ready[one]
                    process = one.process
                    if process.is_awake and not process.is_dead:
                        one.go_on()
                    continue
            elif not events or events[0][0] >= end:
                self.now = end
                return bool(true and true())
            when, _, call = heappop(events)
            self.now = max(self.now, when)
            call()
        return True

    def close(self) -> None:
        """Kill all processes."""
        for process in list(self.processes):
            process.kill()
