"""The output of a WebSocket: text in binary frames, packages in text frames.

That is the standard of https://mudstandards.org/websocket for `SUBPROTOCOL`.
"""

from __future__ import annotations

import asyncio
from functools import lru_cache

from websockets.frames import Close, CloseCode, Frame, Opcode

from thudmud.telnet.screen import Flusher, Goodbye, Screen

SUBPROTOCOL = "gmcp.mudstandards.org"

CLOSE_CODES = {
    Goodbye.QUIT: 4000,
    Goodbye.ELSEWHERE: 4001,
    Goodbye.IDLE: 4002,
    Goodbye.BANNED: 4003,
    Goodbye.KICKED: 4004,
    Goodbye.LOGGED_OUT: 4005,
    Goodbye.REJECTED: 4006,
    Goodbye.STOPPED: CloseCode.SERVICE_RESTART,
}
"""The close code of a WebSocket; one from 4000 on means that the client should not reconnect."""


@lru_cache(maxsize=8)  # many get the same, one after the other
def text_frame(package: bytes) -> bytes:
    """Return the frame of a package."""
    return _serialized(Opcode.TEXT, package)


def binary_frame(text: bytes) -> bytes:
    """Return the frame of a text."""
    return _serialized(Opcode.BINARY, text)


def close_frame(why: Goodbye) -> bytes:
    """Return the last frame, which tells the reason."""
    return _serialized(Opcode.CLOSE, Close(CLOSE_CODES[why], why.value).serialize())


def _serialized(opcode: Opcode, data: bytes) -> bytes:
    return Frame(opcode, data).serialize(mask=False)


PING = _serialized(Opcode.PING, b"")
"""Asks whether the client is there."""


class FrameScreen(Screen):
    """The output side of a WebSocket: the text of a turn is one frame, if no package comes between.

    Attributes:
        farewell: the last frame, if the client's frames call for another than the reason does.
    """

    __slots__ = ("_framed", "farewell")

    def __init__(self, transport: asyncio.Transport, limit: int, flusher: Flusher) -> None:
        super().__init__(transport, limit, flusher)
        self.farewell = b""
        self._framed = 0  # how many of the pieces are frames

    def command(self, sequence: bytes) -> None:
        """Append a frame, after the text before it."""
        if len(self._pieces) > self._framed:
            self._frame()
        self._put(sequence)
        self._framed = len(self._pieces)

    def mark(self, sequence: bytes) -> None:
        """Append a frame that marks the end of all output so far, a prompt included."""
        self._put_prompt()
        self.command(sequence)

    def close(self, why: Goodbye, *, linger: bool, grace: float) -> None:
        """Send what is waiting and the farewell, and end the connection after it."""
        self.command(self.farewell or close_frame(why))
        super().close(why, linger=linger, grace=grace)

    def _write(self) -> None:
        if len(self._pieces) > self._framed:
            self._frame()
        self._framed = 0
        super()._write()

    def _frame(self) -> None:
        """Make the text behind the last frame one, too."""
        text = self._pieces[self._framed :]
        self._pieces[self._framed :] = [self._flusher.join(text, binary_frame)]
