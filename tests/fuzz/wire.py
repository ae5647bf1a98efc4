"""A connection without a socket: bytes go in, reports and replies are recorded.

The real `Connection` with all of its parsing, but without a transport below or a game above.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import cast

from thudmud.accounts.limiters import TokenBucket
from thudmud.telnet.capabilities import Capabilities
from thudmud.telnet.connection import RECEIVE_BUFFER, Connection
from thudmud.telnet.intake import TelnetQueue
from thudmud.telnet.interface import Client, Item, TelnetPolicy, TerminalChanged
from thudmud.telnet.screen import CloseReason, Screen
from thudmud.values import replace

POLICY = TelnetPolicy(
    max_line=10, budget=partial(TokenBucket, 1, 1_000_000_000), max_subnegotiation=64
)
"""Caps so low that short inputs exceed them, except for the budget, which is never exhausted."""

PER_TURN = 7
"""Telnet bytes interpreted per turn, so few that most have to wait."""


class Notes:
    """Records the reports of a connection; its `Receiver` and its screen."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.sent = b""
        self.closed = False  # as a screen

    @property
    def screen(self) -> Screen:
        return cast("Screen", self)

    def connection_made(self, client: Client) -> None:
        pass

    def items_received(self, items: Iterable[Item]) -> None:
        self.items += items

    def charge(self, seconds: float) -> None:
        pass

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

    def end(self, sentence: str, why: CloseReason) -> None:
        pass

    def tls_received(self) -> None:
        pass

    def budget_exceeded(self) -> None:
        pass

    def connection_lost(self) -> None:
        pass


class Nowhere(asyncio.Transport):
    """A transport that discards its output."""

    is_paused = False

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False


@dataclass(frozen=True)
class Report:
    """The effects of some bytes.

    Attributes:
        items: the reports of the connection.
        sent: the bytes sent in reply.
        line: the largest buffered part of an unfinished line, in bytes.
        subnegotiation: the same for a sub-negotiation.
    """

    items: list[Item]
    sent: bytes
    line: int
    subnegotiation: int


class Wire:
    """A single connection; must be created inside an event loop."""

    def __init__(self, policy: TelnetPolicy = POLICY) -> None:
        self._notes = Notes()
        self._mistakes: list[BaseException] = []
        self._line = self._subnegotiation = 0
        buffer = memoryview(bytearray(RECEIVE_BUFFER))
        policy = replace(policy, queue=TelnetQueue(PER_TURN))
        self._connection = Connection(lambda *_: self._notes, policy, buffer)
        self._nowhere = Nowhere()
        self._connection.connection_made(self._nowhere)
        self._feed_byte = self._connection._interpreter.feed_byte
        self._connection._interpreter.feed_byte = self._fed  # type: ignore[method-assign]

    async def feed(self, packet: bytes) -> None:
        """Deliver a packet as asyncio does: never empty, never larger than the buffer."""
        for start in range(0, len(packet), RECEIVE_BUFFER):
            piece = packet[start : start + RECEIVE_BUFFER]
            self._connection.get_buffer(-1)[: len(piece)] = piece
            self._connection.buffer_updated(len(piece))
            self._look()
            while self._nowhere.is_paused:
                await asyncio.sleep(0)
                self._look()

    def _look(self) -> None:
        self._line = max(self._line, len(self._connection._splitter._held))
        kept = len(self._connection._interpreter._sb_buffer)
        self._subnegotiation = max(self._subnegotiation, kept)

    def report(self) -> Report:
        """Return the report; raises the first internal error, if any."""
        for mistake in self._mistakes:
            raise mistake
        notes = self._notes
        return Report(list(_visible(notes.items)), notes.sent, self._line, self._subnegotiation)

    def _fed(self, byte: bytes) -> bool:
        # An exception in here is logged and ends the connection.
        try:
            return self._feed_byte(byte)
        except BaseException as mistake:
            self._mistakes.append(mistake)
            raise


def _visible(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items, with only the last of consecutive terminal descriptions.

    How many sizes of a dragged window are reported depends on the packet boundaries.
    """
    shown = latest = TerminalChanged(Capabilities().terminal)
    for item in (*items, None):
        if isinstance(item, TerminalChanged):
            latest = item
            continue
        if latest != shown:
            shown = latest
            yield latest
        if item is not None:
            yield item


async def reported(packets: Iterable[bytes], policy: TelnetPolicy = POLICY) -> Report:
    """Return the report for packets on a fresh connection."""
    wire = Wire(policy)
    for packet in packets:
        await wire.feed(packet)
    return wire.report()
