"""What has come in on a connection and not been handled yet.

Owns the queue, how much is handled in a turn of the event loop, and when nothing more is read. Must
never know what anything in it means.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable

from thudmud.server.limits.buckets import Bucket
from thudmud.server.telnet.items import Item
from thudmud.server.telnet.lines import Line


class Inbox:
    """A queue of items, handled in their order, some in each turn.

    Reading is paused while too many wait, and while the client does not read.

    Args:
        transport: Where they come from.
        length: How many may wait.
        per_turn: How many are handled in a turn.
        pace: How many are handled a second; the others wait.
        handle: Handles one, and returns whether the next may follow in the same turn.
        is_busy: Whether none can be handled now. Who says so calls `wake` later.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        length: int,
        per_turn: int,
        pace: Bucket,
        *,
        handle: Callable[[Item], bool],
        is_busy: Callable[[], bool],
    ) -> None:
        self._transport = transport
        self._length, self._per_turn, self._pace = length, per_turn, pace
        self._handle, self._is_busy = handle, is_busy
        self._waiting: deque[Item] = deque()
        self._scheduled = False
        self._choked = False
        self._ended = False

    @property
    def line_is_next(self) -> bool:
        """Whether a line is waiting, with nothing before it, not even time."""
        if not self._waiting or not isinstance(self._waiting[0], Line):
            return False
        # A client whose lines have to wait is sent a prompt for each of them: nothing is read then,
        # and of one that has gone only a write brings the news.
        return not self._pace.wait(asyncio.get_running_loop().time())

    def put(self, items: Iterable[Item]) -> None:
        """Queue what has come in."""
        self._waiting.extend(items)
        if len(self._waiting) >= self._length:
            self._pause()
        self.wake()

    def end(self) -> None:
        """Note that nothing more will come."""
        self._ended = True

    def choke(self) -> None:
        """Stop handling, and reading: the client is not reading what it has been sent."""
        self._choked = True
        self._pause()

    def resume(self) -> None:
        """Go on handling: the client has caught up."""
        self._choked = False
        self.wake()

    def close(self) -> None:
        """Drop everything; read on, so that the client's end of the connection is seen."""
        self._waiting.clear()
        self._read_on()

    def wake(self) -> None:
        """Go on handling in the next turn."""
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._take_turn)

    def _take_turn(self) -> None:
        now, delay = asyncio.get_running_loop().time(), 0.0
        for _ in range(self._per_turn):
            if self._choked or self._is_busy() or not self._waiting:
                break
            if delay := self._pace.take(now):
                break
            if not self._handle(self._waiting.popleft()):
                break
        self._scheduled = False  # what woke us meanwhile has been handled, or is seen to now
        if self._choked or self._is_busy():
            return
        if delay and not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_later(delay, self._take_turn)
        elif self._waiting:
            self.wake()
        if len(self._waiting) < self._length:
            self._read_on()

    def _pause(self) -> None:
        if not self._ended:
            self._transport.pause_reading()

    def _read_on(self) -> None:
        # TLS that has ended fails at this, where a bare connection takes no notice.
        if not self._ended and not self._transport.is_closing():
            self._transport.resume_reading()
