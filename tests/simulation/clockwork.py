"""Programs in one process, on a clock that jumps: what runs next is drawn from a seed.

Each process of the world has an event loop of its own, and threads. A loop keeps asyncio's order
among its own callbacks, as a real one does; which process goes on, and when a message arrives, is
what the seed decides. Nothing takes any time but what says so. A process can be stopped and go on
later, or be killed: then nothing of it ever runs again, and all that it had in memory is gone.

Threads are greenlets: one of them runs until it waits, and only for what the world knows of.
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
"""The world's time when it begins, in seconds since the epoch."""

IDENT = get_ident()

MANY_TASKS = 50

MOST_CLEANUPS = 100
"""How often a coroutine waits on its way out, at most."""


class _NoFiles:
    """The selector of a loop that has none: nothing ever comes by a file."""

    def select(self, timeout: float | None = None) -> list[Any]:
        return []

    def close(self) -> None:
        pass


class Call(asyncio.Handle):
    """Something that a loop is to call soon."""

    __slots__ = ()

    def __init__(self, callback: Any, args: Any, loop: Loop, context: Context | None) -> None:
        self._context = copy_context() if context is None else context
        self._loop, self._callback, self._args = loop, callback, args
        self._cancelled, self._repr, self._source_traceback = False, None, None


class Timer(asyncio.TimerHandle):
    """The same at some time. It is equal to no other: asyncio's compares what they do."""

    __slots__ = ()
    __hash__ = object.__hash__
    __eq__ = object.__eq__


class Loop(asyncio.BaseEventLoop):
    """The event loop of one process. The world lets it go on for a turn at a time.

    It does what asyncio's does, in fewer steps: most of the time of a world passes in its loops.

    Attributes:
        timers: those that have not run yet, and were not cancelled.
    """

    process: Process

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world
        self._selector = _NoFiles()
        self._ready: deque[asyncio.Handle] = deque()
        self.timers: dict[asyncio.TimerHandle, None] = {}
        self._due: list[Timer] = []
        """The timers whose time has come since the last turn."""

    @property
    def waiting(self) -> list[Any]:
        """What the timers that have not run are to call."""
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
        """Do what is ready: first what came, and then what is due by now."""
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
        """Do without asyncio's warning: a process that is killed closes no loop."""

    def forget(self) -> None:
        """Do nothing more of what there is to do."""
        self._ready.clear()
        self.timers.clear()

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]
        """Do it at once, and have it take a while, also if nobody waits for it any more."""
        done = self.create_future()
        try:
            result = func(*args)
        except Exception as error:  # noqa: BLE001  (who waits for it is told)
            done.set_exception(error)
        else:
            self.call_later(self._world.delay(0.1), _set_result_unless_cancelled, done, result)
        return done

    def add_signal_handler(self, sig: int, callback: Any, *args: Any) -> None:  # type: ignore[override]
        """Have something called when a signal comes."""
        self.process.signals[sig] = partial(callback, *args)

    async def subprocess_exec(
        self, protocol_factory: Callable[[], Any], *args: Any, **kwargs: Any
    ) -> tuple[Any, Any]:
        """Start a program, which is one of the world's."""
        protocol = protocol_factory()
        return self._world.start_program(self.process, protocol), protocol


class Process:
    """A program that runs in the world.

    Args:
        world: what it is in.
        name: what it is called.
        loop: its event loop, if one has been made for it.

    Attributes:
        loop: its event loop.
        is_awake: whether it runs; a process that was stopped goes on later.
        is_dead: whether it was killed, or has ended.
        signals: what is called when a signal comes, by its number.
        listens: what takes connections there, if anything does.
        version: that of the program, which is the latest when it begins.
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
        """Of how many tasks those are forgotten that have ended."""
        self.loop.set_task_factory(self._make_task)
        world.processes.append(self)

    def __str__(self) -> str:
        return self.name

    def run(self, main: Coroutine[Any, Any, None]) -> None:
        """Begin with a coroutine. When it ends, so does the process."""
        self.main = self.loop.create_task(main)
        self.main.add_done_callback(self._ended)

    def sleep(self, seconds: float) -> None:
        """Stop it; it goes on after some seconds."""
        self.is_awake = False
        self.world.later(seconds, self._wake)

    def _wake(self) -> None:
        self.is_awake = True
        self.world.ready[self.loop] = None
        for thread in self.threads:
            self.world.ready[thread] = None

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self.loop.call_soon(self.signals[number])

    def kill(self) -> None:
        """End it at once: nothing of it runs any more."""
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
        """Its tasks that have not ended."""
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
    """End a coroutine of a process that is dead.

    What it would still wait for on its way out it does not: there is no loop to do it in.
    """
    with suppress(BaseException):
        for _ in range(MOST_CLEANUPS):
            work.throw(_Killed)  # and again where it would wait


class Thread:
    """A thread of the process that makes it; it takes what `threading.Thread` does."""

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
        """When it goes on unless it is woken before, and when that is looked at next."""
        self._greenlet = greenlet(lambda: self._run(target, args))
        self.process.threads.append(self)

    def start(self) -> None:
        self.wake()

    def wake(self) -> None:
        """Let it go on when its turn comes."""
        self.is_ready = True
        self.process.world.ready[self] = None

    def wake_after(self, seconds: float) -> None:
        """Let it go on after so many seconds, unless it has been woken before."""
        self._until = self.process.world.now + seconds
        self._ring_then()

    def _ring_then(self) -> None:
        if self._rings > self._until:
            self._rings = self._until
            self.process.world.at(self._until, partial(self._ring, self._until))

    def _ring(self, when: float) -> None:
        """Look whether its time has come: mostly it has been woken, and waits for something new."""
        if when != self._rings:
            return
        self._rings = inf
        if self._until <= when:
            self.wake()
        else:
            self._ring_then()

    def join(self, timeout: float | None = None) -> None:
        """Let it run to its end, which it is near: it waits for nothing."""
        while timeout is None and not self._greenlet.dead:
            self.is_ready = True
            self.go_on()

    def go_on(self) -> None:
        """Let it run until it waits."""
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
    """A queue between a process's loop and a thread of its, as `queue.SimpleQueue` is one."""

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
    """The clock, and everything that runs by it.

    Args:
        seed: decides all that is left to chance.
        ended: called with a process that has ended by itself, and with the error if by one.

    Attributes:
        here: the one that runs.
        start_program: called with who starts a program, and the protocol of its pipes; returns
            their transport.
        now: its time, in seconds since it began.
        numbers: what is to be told from all else is numbered by them.
        log: what has happened, line by line, if somebody wants to read it.
        wrong: what should not have happened.
        version: the latest of the program, see `tests.simulation.versions`.
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
        """Who can go on, in an order that does not change from run to run."""
        self.numbers = count()
        self._hub = getcurrent()

    def wall(self) -> float:
        """Return the time of day, in seconds since the epoch."""
        return BEGINNING + self.now

    def note(self, what: str) -> None:
        """Log what has happened."""
        self.log.append(f"{self.now:9.4f} {what}")

    def broken(self, what: str) -> None:
        """Log that something has happened which should not have."""
        self.wrong.append(what)
        self.note(f"WRONG: {what}")

    def _should_not_fail(self, process: Process, error: BaseException | None) -> None:
        if error:
            self.broken(f"{process} ended by {error!r}")

    def later(self, delay: float, call: Callable[[], object]) -> None:
        """Have something done after some seconds."""
        heappush(self._events, (self.now + delay, next(self.numbers), call))

    def at(self, when: float, call: Callable[[], object]) -> None:
        """Have something done at a time, after what was to be done then before."""
        heappush(self._events, (when, next(self.numbers), call))

    def delay(self, most: float = 0.02) -> float:
        """Return how many seconds a message takes; few take long."""
        return most * self._chance() ** 3

    # What threads call.

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.wait(seconds)

    def wait(self, timeout: float | None = None) -> None:
        """Let others run, until somebody wakes this thread or the time is over."""
        if timeout is not None:
            self.thread.wake_after(timeout)
        self._hub.switch()

    # What runs it.

    def run(self, seconds: float) -> None:
        """Let so much time pass, and all that happens in it."""
        self.run_until(None, seconds)

    def run_until(self, true: Callable[[], bool] | None, most: float) -> bool:
        """Let time pass until something is true, or for so many seconds; return whether it is.

        One of those goes on who can; time passes where nobody can.
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
        """End all that runs."""
        for process in list(self.processes):
            process.kill()
