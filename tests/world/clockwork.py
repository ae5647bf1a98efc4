"""Programs in one process, on a clock that jumps: what runs next is drawn from a seed.

Each process of the world has an event loop of its own, and threads. A loop keeps asyncio's order
among its own callbacks, as a real one does; which process goes on, and when a message arrives, is
what the seed decides. Nothing takes any time but what says so. A process can be stopped and go on
later, or be killed: then nothing of it ever runs again, and all that it had in memory is gone.

Threads are greenlets: one of them runs until it waits, and only for what the world knows of.
"""

from __future__ import annotations

import asyncio
import heapq
from asyncio import events
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from itertools import count
from queue import Empty
from random import Random
from threading import get_ident
from traceback import format_exception
from typing import Any

from greenlet import GreenletExit, getcurrent, greenlet

BEGINNING = 1_795_262_400.0
"""The world's time when it begins, in seconds since the epoch."""


class _NoFiles:
    """The selector of a loop that has none: nothing ever comes by a file."""

    def select(self, timeout: float | None = None) -> list[Any]:
        return []

    def close(self) -> None:
        pass


class Loop(asyncio.BaseEventLoop):
    """The event loop of one process. The world lets it take a turn."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world
        self._selector = _NoFiles()
        self._clock_resolution = 1e-9

    def time(self) -> float:
        return self._world.now

    @property
    def is_ready(self) -> bool:
        """Whether there is something to do now."""
        return bool(self._ready) or self.due <= self._world.now  # type: ignore[attr-defined]  # asyncio's

    @property
    def due(self) -> float:
        """When the first of its timers is due."""
        timers = self._scheduled  # type: ignore[attr-defined]  # asyncio's
        while timers and timers[0]._cancelled:
            heapq.heappop(timers)._scheduled = False
            self._timer_cancelled_count -= 1  # type: ignore[attr-defined]  # asyncio's
        return timers[0]._when if timers else float("inf")

    def turn(self) -> None:
        """Do what is ready."""
        self._thread_id = get_ident()
        events._set_running_loop(self)
        try:
            self._run_once()  # type: ignore[attr-defined]  # asyncio's
        finally:
            events._set_running_loop(None)
            self._thread_id = None  # type: ignore[assignment]  # as asyncio does

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]
        """Do it at once, and have it take a while."""
        done = self.create_future()
        try:
            result = func(*args)
        except Exception as error:  # noqa: BLE001  (who waits for it is told)
            done.set_exception(error)
        else:
            self.call_later(self._world.delay(0.1), done.set_result, result)
        return done

    def _process_events(self, event_list: object) -> None:
        pass

    def _write_to_self(self) -> None:
        pass


class Process:
    """A program that runs in the world.

    Attributes:
        loop: its event loop.
        awake: whether it runs; a process that was stopped goes on later.
        is_dead: whether it was killed, or has ended.
    """

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.loop = Loop(world)
        self.loop.set_exception_handler(self._failed)
        self.awake, self.is_dead = True, False
        self.threads: list[Thread] = []
        self.tasks: set[asyncio.Task[Any]] = set()
        self.loop.set_task_factory(self._make_task)
        world.processes.append(self)

    def __str__(self) -> str:
        return self.name

    def run(self, main: Coroutine[Any, Any, None]) -> None:
        """Begin with a coroutine. When it ends, so does the process."""
        self.main = self.loop.create_task(main)
        self.main.add_done_callback(self._ended)

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
            # What it would still do on its way out it does not: there is no loop to do it in.
            with suppress(BaseException):
                task.get_coro().close()
        self.loop._ready.clear()  # type: ignore[attr-defined]  # asyncio's
        self.loop._scheduled.clear()  # type: ignore[attr-defined]  # asyncio's

    def _make_task(
        self, loop: asyncio.AbstractEventLoop, work: Any, **more: Any
    ) -> asyncio.Task[Any]:
        task = asyncio.Task(work, loop=loop, **more)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            self.world.note("".join(format_exception(error)))
            self.world.ended(self, error)
        self.world.later(0.0, self.kill)

    def _failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if not self.is_dead:
            self.world.broken(f"{self}: {context.get('message')}: {context.get('exception')!r}")


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
        self.name, self.is_ready, self.wakes = name, False, float("inf")
        self._greenlet = greenlet(lambda: self._run(target, args))
        self.process.threads.append(self)

    def start(self) -> None:
        self.is_ready = True

    def join(self, timeout: float | None = None) -> None:
        """Let it run to its end, which it is near: it waits for nothing."""
        while timeout is None and not self._greenlet.dead:
            self.go_on()

    def go_on(self) -> None:
        """Let it run until it waits."""
        self.is_ready, self.wakes = False, float("inf")
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
            self._waiting.is_ready = True

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
        ended: called with a process that has ended by an error, and with that.

    Attributes:
        here: the one that runs.
        now: its time, in seconds since it began.
        log: what has happened, line by line, if somebody wants to read it.
        wrong: what should not have happened.
    """

    here: World

    def __init__(
        self, seed: int, ended: Callable[[Process, BaseException], None] | None = None
    ) -> None:
        World.here = self
        self.dice = Random(seed)  # noqa: S311  (what to try, no secret)
        self.ended = ended or self._should_not_end
        self.now = 0.0
        self.processes: list[Process] = []
        self.process: Process = None  # type: ignore[assignment]  # that which runs, if one does
        self.thread: Thread = None  # type: ignore[assignment]  # the same
        self.log: list[str] = []
        self.wrong: list[str] = []
        self._events: list[tuple[float, int, Callable[[], object]]] = []
        self._numbers = count()
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

    def _should_not_end(self, process: Process, error: BaseException) -> None:
        self.broken(f"{process} ended by {error!r}")

    def later(self, delay: float, call: Callable[[], object]) -> None:
        """Have something done after some seconds."""
        heapq.heappush(self._events, (self.now + delay, next(self._numbers), call))

    def delay(self, most: float = 0.02) -> float:
        """Return how many seconds a message takes; few take long."""
        return most * self.dice.random() ** 3

    # What threads call.

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.wait(seconds)

    def wait(self, timeout: float | None = None) -> None:
        """Let others run, until somebody wakes this thread or the time is over."""
        if timeout is not None:
            self.thread.wakes = self.now + timeout
        self._hub.switch()

    # What runs it.

    def run(self, seconds: float) -> None:
        """Let so much time pass, and all that happens in it."""
        end = self.now + seconds
        while self._step(end):
            pass
        self.now = end

    def run_until(self, true: Callable[[], bool], most: float) -> bool:
        """Let time pass until something is true, or for so many seconds; return whether it is."""
        end = self.now + most
        while not true():
            if not self._step(end):
                self.now = end
                return true()
        return True

    def close(self) -> None:
        """End all that runs."""
        for process in list(self.processes):
            process.kill()

    def _step(self, end: float) -> bool:
        ready: list[Callable[[], None]] = []
        due = end
        for process in self.processes:
            if not process.awake:
                continue
            if process.loop.is_ready:
                ready.append(process.loop.turn)
            else:
                due = min(due, process.loop.due)
            for thread in process.threads:
                if thread.is_ready or thread.wakes <= self.now:
                    ready.append(thread.go_on)
                else:
                    due = min(due, thread.wakes)
        if self._events and self._events[0][0] <= self.now:
            ready.append(self._event)
        if ready:
            chosen = ready[0] if len(ready) == 1 else self.dice.choice(ready)
            owner = getattr(chosen, "__self__", None)
            match owner:
                case Loop():
                    self.process = next(each for each in self.processes if each.loop is owner)
                case Thread():
                    self.process, self.thread = owner.process, owner
            chosen()
            return True
        if self._events:
            due = min(due, self._events[0][0])
        if due >= end:
            return False
        self.now = due
        return True

    def _event(self) -> None:
        heapq.heappop(self._events)[2]()
