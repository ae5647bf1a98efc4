"""Engines that a server starts for its bots and for analyses. They may fail in any way.

They speak the engine protocol correctly but choose any legal ply. Answers take a while; now and
then an answer comes too late or is garbage, or the engine exits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

from tests.simulation.clockwork import Process, World
from thudmud.bots.dialogue import Dialogue

WRONG = 0.03
"""Probability that an answer is missing or wrong."""


LARGEST_PID = 1 << 22
"""Linux assigns no larger process id, so a signal to an engine can reach no real process."""


class _Dialogue(Dialogue):
    """The engine's side of the protocol, without the search."""

    def __init__(self, world: World, tell: Callable[[str], object]) -> None:
        super().__init__("Random", world.monotonic, tell=tell)
        self._world = world

    def _search(self, word: str, words: list[str], level: Any = None) -> Any:
        moves = self._game.legal_moves()
        thought = SimpleNamespace(depth=1, nodes=1, score=0)
        thought.move = self._world.dice.choice(moves)
        thought.principal_variation = [thought.move]
        if self._informs:
            self._report(thought)  # type: ignore[arg-type]
        return thought


class Engine(asyncio.SubprocessTransport):
    """An engine process, as the transport that its parent gets."""

    def __init__(self, world: World, pid: int, parent: Process, protocol: Any) -> None:
        super().__init__()
        self._pid = pid
        self._world, self._parent, self._protocol = world, parent, protocol
        self._dialogue = _Dialogue(world, self._say)
        self._asked, self._free = b"", 0.0
        self._status: int | None = None
        self._ended: list[asyncio.Future[int | None]] = []
        self._pipes = {number: _Pipe(self, number) for number in range(3)}

    @classmethod
    def started(
        cls, world: World, engines: dict[int, Engine], parent: Process, protocol: Any
    ) -> Engine:
        """Start an engine and register it under its process id."""
        pid = LARGEST_PID + 1 + len(engines)
        engine = engines[pid] = cls(world, pid, parent, protocol)
        protocol.connection_made(engine)
        return engine

    # Called on behalf of the engine.

    def take(self, data: bytes) -> None:
        """Receive input and schedule an answer to each line."""
        *lines, self._asked = (self._asked + data).split(b"\n")
        for line in lines:
            dice = self._world.dice
            takes = dice.uniform(0.1, 1.2) if line.startswith(b"go") else self._world.delay()
            self._free = max(self._free, self._world.now) + takes
            self._world.at(self._free, partial(self._answer, line.decode()))

    def _answer(self, line: str) -> None:
        dice = self._world.dice
        if self._status is not None:
            return
        if dice.random() < WRONG:
            wrong = dice.choice(["ends", "is silent", "is late", "go e1-e2", "banana", "go " * 99])
            self._world.note(f"a program of {self._parent} is asked {line!r}: {wrong}")
            if wrong == "ends":
                self._end(1)
            elif wrong == "is late":
                self._world.later(dice.uniform(1, 15), partial(self._answer, line))
            elif wrong != "is silent":
                self._say(wrong)
            return
        if answer := self._dialogue.answer(line):
            self._say(answer)
        if self._dialogue.ended:
            self._end(0)

    def _say(self, line: str) -> None:
        self._bring(1, f"{line}\n".encode())

    def _bring(self, number: int, data: bytes) -> None:
        def bring() -> None:
            if not self._pipes[number].is_closed:
                self._protocol.pipe_data_received(number, data)

        self._to_parent(bring)

    def _end(self, status: int) -> None:
        if self._status is None:
            self._status = status
            for pipe in self._pipes.values():
                self._to_parent(pipe.close)
            self._to_parent(self._protocol.process_exited)
            self._to_parent(self._tell_of_end)

    def _tell_of_end(self) -> None:
        for waiting in self._ended:
            if not waiting.done():
                waiting.set_result(self._status)

    def _to_parent(self, call: Callable[..., object], *arguments: object) -> None:
        if not self._parent.is_dead:
            self._parent.loop.call_soon(call, *arguments)

    # Called by the parent.

    def get_pid(self) -> int:
        return self._pid

    def get_returncode(self) -> int | None:
        return self._status

    def get_pipe_transport(self, fd: int) -> Any:
        return self._pipes[fd]

    def send_signal(self, signal: int) -> None:
        if self._status is not None:
            raise ProcessLookupError

    def terminate(self) -> None:
        self.send_signal(0)
        self._world.later(self._world.delay(), partial(self._end, -15))

    def kill(self) -> None:
        self._end(-9)

    def close(self) -> None:
        for pipe in self._pipes.values():
            pipe.close()

    async def _wait(self) -> int | None:
        """Wait for the engine to end and return its status, as asyncio's transport does."""
        if self._status is None:
            waiting: asyncio.Future[int | None] = self._parent.loop.create_future()
            self._ended.append(waiting)
            return await waiting
        return self._status

    def lost(self, number: int) -> None:
        """Tell the parent that a pipe is closed."""
        self._to_parent(self._protocol.pipe_connection_lost, number, None)


class _Pipe(asyncio.Transport):
    """The parent's end of a pipe."""

    def __init__(self, engine: Engine, number: int) -> None:
        super().__init__()
        self._engine, self._number = engine, number
        self.is_closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        world = self._engine._world
        world.later(world.delay(), partial(self._engine.take, bytes(data)))

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            self._engine.lost(self._number)

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass
