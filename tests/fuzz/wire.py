"""A connection without a socket: bytes go in, what it reports and answers is taken down.

The real `Connection`, with all that reads bytes; beneath it is no transport, above it no game.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from thudmud.telnet.connection import RECEIVE_BUFFER, Connection
from thudmud.telnet.interface import Item, TelnetPolicy
from thudmud.telnet.negotiation import Negotiation
from thudmud.telnet.screen import Screen

POLICY = TelnetPolicy(max_line=10, max_subnegotiation=64)
"""Caps so low that short inputs get beyond them."""


class Notes:
    """Takes down what a connection reports; a `Receiver`, and its screen."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.sent = b""

    @property
    def screen(self) -> Screen:
        return cast("Screen", self)

    def opened(self, client: Negotiation) -> None:
        pass

    def received(self, items: Iterable[Item]) -> None:
        self.items += items

    def input_ended(self) -> None:
        pass

    def command(self, sequence: bytes) -> None:
        self.sent += sequence

    def end_prompts(self, sequence: bytes) -> None:
        self.sent += b"(" + sequence + b")"

    def compress(self, sequence: bytes) -> None:
        self.sent += sequence + b"<"

    def decompress(self) -> None:
        self.sent += b">"

    def pause(self) -> None:
        pass

    def resume(self) -> None:
        pass

    def lost(self) -> None:
        pass


class Nowhere(asyncio.Transport):
    """A transport that leads nowhere."""


@dataclass(frozen=True)
class Report:
    """What came of some bytes.

    Attributes:
        items: what was reported.
        sent: what was answered.
        line: the most bytes of an unfinished line that were kept.
        subnegotiation: the same of a sub-negotiation.
    """

    items: list[Item]
    sent: bytes
    line: int
    subnegotiation: int


class Wire:
    """One connection; to be made inside an event loop."""

    def __init__(self, policy: TelnetPolicy = POLICY) -> None:
        self._notes = Notes()
        self._mistakes: list[BaseException] = []
        self._line = self._subnegotiation = 0
        buffer = memoryview(bytearray(RECEIVE_BUFFER))
        self._connection = Connection(lambda _: self._notes, policy, buffer)
        self._connection.connection_made(Nowhere())
        self._feed_byte = self._connection._interpreter.feed_byte
        self._connection._interpreter.feed_byte = self._fed  # type: ignore[method-assign]

    def feed(self, packet: bytes) -> None:
        """Let a packet come in as asyncio does: none is empty, nor larger than the buffer."""
        for start in range(0, len(packet), RECEIVE_BUFFER):
            piece = packet[start : start + RECEIVE_BUFFER]
            self._connection.get_buffer(-1)[: len(piece)] = piece
            self._connection.buffer_updated(len(piece))
            self._line = max(self._line, len(self._connection._splitter._held))
            kept = len(self._connection._interpreter._sb_buffer)
            self._subnegotiation = max(self._subnegotiation, kept)

    def report(self) -> Report:
        """Return what came of it; raises the first mistake of ours, if there was one."""
        for mistake in self._mistakes:
            raise mistake
        notes = self._notes
        return Report(notes.items, notes.sent, self._line, self._subnegotiation)

    def _fed(self, byte: bytes) -> bool:
        # telnetlib3 logs what goes wrong in here, and goes on.
        try:
            return self._feed_byte(byte)
        except BaseException as mistake:
            self._mistakes.append(mistake)
            raise


async def reported(packets: Iterable[bytes], policy: TelnetPolicy = POLICY) -> Report:
    """Return what comes of packets on a connection of their own."""
    wire = Wire(policy)
    await asyncio.sleep(0)  # until it has begun to negotiate
    for packet in packets:
        wire.feed(packet)
    return wire.report()
