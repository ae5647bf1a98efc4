"""Connections between clients and servers: bytes arrive in pieces, late, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any, cast

from tests.simulation.clockwork import Process, World

LATENCY = 0.03
"""Maximum delay of a piece, in seconds."""

NETWORK = 4096
"""Maximum number of bytes in transit; further output waits at the server."""


class Wire:
    """The client's end of a connection.

    Args:
        world: the world.
        process: the server's process.
        protocol: the server's protocol for the connection.
        address: the client's address.
        heard: called with received bytes, and with none when the server has closed the connection.
    """

    def __init__(
        self,
        world: World,
        process: Process,
        protocol: Callable[[], asyncio.BaseProtocol],
        address: str,
        heard: Callable[[bytes], None],
    ) -> None:
        self.world, self.process, self.heard = world, process, heard
        self.is_cut, self.has_ended, self.is_half_closed = False, False, False
        self._there = self._here = 0.0
        """Arrival times of the last pieces, at the server and at the client."""
        self._end = _ServerEnd(self, address)

        def made() -> None:
            self._end.made(protocol())

        self._to_server(made)

    def send(self, data: bytes) -> None:
        """Send bytes, which arrive in pieces."""
        dice = self.world.dice
        while data and not (self.is_cut or self.is_half_closed):
            size = len(data) if dice.random() < 0.7 else dice.randint(1, len(data))
            piece, data = data[:size], data[size:]
            self._to_server(partial(self._end.came, piece))

    def cut(self) -> None:
        """Break the connection at both ends; a vanished client doesn't notify the server."""
        is_known, self.is_cut = self.is_cut or self._here == inf, True
        if not is_known:
            self._to_server(lambda: self._end.lost(ConnectionResetError()))

    def end_input(self) -> None:
        """Close the sending side only."""
        if not (self.is_cut or self.is_half_closed):
            self.is_half_closed = True
            self._to_server(partial(self._end.came, b""))

    def stall(self, seconds: float) -> None:
        """Delay all traffic in both directions for some seconds."""
        self._there = max(self._there, self.world.now + seconds)
        self._here = max(self._here, self.world.now + seconds)

    def vanish(self) -> None:
        """Stop delivery to the client without closing, as if its machine were off."""
        self._here = inf

    def _to_server(self, call: Callable[[], None]) -> None:
        self._there = max(self._there, self.world.now + self.world.delay(LATENCY))

        def arrive() -> None:
            if not self.process.is_dead:
                self.process.loop.call_soon(call)

        self.world.at(self._there, arrive)

    def to_client(self, data: bytes) -> None:
        """Deliver bytes to the client."""
        if self.process.is_dead and data:
            return
        self._here = max(self._here, self.world.now + self.world.delay(LATENCY))

        def arrive() -> None:
            self._end.arrived(len(data))
            if not self.is_cut and not self.has_ended:
                self.has_ended = not data
                self.heard(data)

        self.world.at(self._here, arrive)

    def server_died(self) -> None:
        """Handle the death of the server's process, whose kernel closes the connection."""
        self.to_client(b"")


class _ServerEnd(asyncio.Transport):
    """The server's end: a transport."""

    def __init__(self, wire: Wire, address: str) -> None:
        super().__init__({"peername": (address, 1)})
        self._number = next(wire.world.numbers)
        self._wire = wire
        self._protocol: Any = None
        self._is_closing = self._is_lost = self._is_paused = False
        self._is_full = self._ends_when_sent = False
        self._waiting: list[bytes] = []
        self._on_the_way = 0
        """Bytes written that have not arrived yet."""
        self._most = 65_536

    def __hash__(self) -> int:
        return self._number  # makes the iteration order of sets reproducible

    # Called by the network.

    def made(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol
        protocol.connection_made(self)

    def came(self, data: bytes) -> None:
        self._waiting.append(data)
        self._read()

    def lost(self, error: Exception | None) -> None:
        if not self._is_lost:
            self._is_lost = self._is_closing = True
            self._protocol.connection_lost(error)

    def arrived(self, size: int) -> None:
        """Release the space that arrived bytes had taken in transit."""
        self._on_the_way -= size
        if self._wire.process.is_dead or self._is_lost:
            return
        if self._is_full and self.get_write_buffer_size() <= self._most // 4:
            self._is_full = False
            self._wire.process.loop.call_soon(self._protocol.resume_writing)
        if self._ends_when_sent and not self.get_write_buffer_size():
            self._wire.process.loop.call_soon(self.lost, None)

    def _read(self) -> None:
        while self._waiting and not self._is_paused and not self._is_closing:
            data = self._waiting.pop(0)
            if not data:
                if not self._protocol.eof_received():
                    self.close()
            elif isinstance(self._protocol, asyncio.BufferedProtocol):
                while data:
                    room = cast("memoryview", self._protocol.get_buffer(len(data)))
                    size = min(len(room), len(data))
                    room[:size] = data[:size]
                    self._protocol.buffer_updated(size)
                    data = data[size:]
            else:
                self._protocol.data_received(data)

    # Called by the server.

    def is_reading(self) -> bool:
        return not self._is_paused and not self._is_closing

    def pause_reading(self) -> None:
        self._is_paused = True

    def resume_reading(self) -> None:
        self._is_paused = False
        self._wire.process.loop.call_soon(self._read)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        return cast("asyncio.BaseProtocol", self._protocol)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._most = self._most if high is None else high

    def get_write_buffer_size(self) -> int:
        return max(0, self._on_the_way - NETWORK)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if data and not (self._is_lost or self._is_closing):
            self._on_the_way += len(data)
            self._wire.to_client(bytes(data))
            if not self._is_full and self.get_write_buffer_size() > self._most:
                self._is_full = True
                self._protocol.pause_writing()

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self._wire.to_client(b"")

    def is_closing(self) -> bool:
        return self._is_closing

    def close(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            self._wire.to_client(b"")
            if self.get_write_buffer_size():
                self._ends_when_sent = True
            else:
                self._wire.process.loop.call_soon(self.lost, None)

    def abort(self) -> None:
        self.close()
        self._wire.process.loop.call_soon(self.lost, None)
