"""WebSocket output: text in binary frames, GMCP packages in text frames.

`SUBPROTOCOL` is specified at https://mudstandards.org/websocket.
"""

from __future__ import annotations

import asyncio
from functools import lru_cache

from websockets.frames import Close, CloseCode, Frame, Opcode

from thudmud.telnet.screen import CloseReason, Flusher, Screen

SUBPROTOCOL = "gmcp.mudstandards.org"

CLOSE_CODES = {
    CloseReason.QUIT: 4000,
    CloseReason.ELSEWHERE: 4001,
    CloseReason.IDLE: 4002,
    CloseReason.BANNED: 4003,
    CloseReason.KICKED: 4004,
    CloseReason.LOGGED_OUT: 4005,
    CloseReason.REJECTED: 4006,
    CloseReason.STOPPED: CloseCode.SERVICE_RESTART,
}
"""WebSocket close code by reason; from 4000 on, the client should not reconnect."""


@lru_cache(maxsize=8)  # a broadcast sends the same package to many clients in succession
def text_frame(package: bytes) -> bytes:
    """Serialize a GMCP package as a text frame."""
    return _serialized(Opcode.TEXT, package)


def binary_frame(text: bytes) -> bytes:
    """Serialize text as a binary frame."""
    return _serialized(Opcode.BINARY, text)


def close_frame(why: CloseReason) -> bytes:
    """Serialize a close frame with the code and the reason."""
    return _serialized(Opcode.CLOSE, Close(CLOSE_CODES[why], why.value).serialize())


def _serialized(opcode: Opcode, data: bytes) -> bytes:
    return Frame(opcode, data).serialize(mask=False)


PING = _serialized(Opcode.PING, b"")
"""An empty ping frame."""


class FrameScreen(Screen):
    """Output buffer of a WebSocket.

    The text of a turn of the event loop becomes one frame, unless packages come between its parts.

    Attributes:
        farewell: close frame that answers the client's frames (a protocol error or a close frame);
            b"" for the one that belongs to the reason for closing.
    """

    __slots__ = ("_framed", "farewell")

    def __init__(self, transport: asyncio.Transport, limit: int, flusher: Flusher) -> None:
        super().__init__(transport, limit, flusher)
        self.farewell = b""
        self._framed = 0  # number of leading pieces that are already frames
        self._join = self._join_frames

    def command(self, sequence: bytes) -> None:
        """Append a serialized frame, after framing any preceding text."""
        if len(self._pieces) > self._framed:
            self._frame()
        self._framed = len(self._pieces) + 1
        self._put(sequence)  # which writes if there is little room, and begins anew

    def close(self, why: CloseReason, *, linger: bool, grace: float) -> None:
        """Send the pending output and a close frame, then close the connection."""
        self.command(self.farewell or close_frame(why))
        super().close(why, linger=linger, grace=grace)

    def _join_frames(self, pieces: list[bytes]) -> bytes:
        if len(pieces) > self._framed:
            self._frame()
        self._framed = 0
        return self._flusher.join_pieces(pieces)

    def _frame(self) -> None:
        """Join the text after the last frame into a frame."""
        text = self._pieces[self._framed :]
        self._pieces[self._framed :] = [self._flusher.join_pieces(text, binary_frame)]
