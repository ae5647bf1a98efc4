"""What goes out over a WebSocket: text in binary frames, packages in text frames.

https://mudstandards.org/websocket has it so, for `SUBPROTOCOL`.
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
    Goodbye.STOPPED: CloseCode.SERVICE_RESTART,
}
"""With which code a WebSocket is closed; those from 4000 say that nobody is to be brought back."""


@lru_cache(maxsize=8)  # the same goes to many, one after the other
def text_frame(package: bytes) -> bytes:
    """Return the frame of a package."""
    return _serialized(Opcode.TEXT, package)


def binary_frame(text: bytes) -> bytes:
    """Return the frame of a text."""
    return _serialized(Opcode.BINARY, text)


def ping_frame() -> bytes:
    """Return the frame that asks whether the client is there."""
    return _serialized(Opcode.PING, b"")


def close_frame(why: Goodbye) -> bytes:
    """Return the frame that says that nothing more comes, and why."""
    return _serialized(Opcode.CLOSE, Close(CLOSE_CODES[why], why.value).serialize())


def _serialized(opcode: Opcode, data: bytes) -> bytes:
    return Frame(opcode, data).serialize(mask=False)


class FrameScreen(Screen):
    """The output side of a WebSocket: the text of a turn is one frame, if no package is in it.

    Attributes:
        farewell: the frame that is sent last, if the frames of the client call for another one
            than the reason does.
    """

    __slots__ = ("_framed", "farewell")

    def __init__(self, transport: asyncio.Transport, limit: int, flusher: Flusher) -> None:
        super().__init__(transport, limit, flusher)
        self.farewell = b""
        self._framed = 0  # how many of the pieces are frames

    def command(self, sequence: bytes) -> None:
        """Append a frame, behind the text before it."""
        self._frame()
        super().command(sequence)
        self._framed = len(self._pieces)

    def mark(self, sequence: bytes) -> None:
        """Append a frame that answers what came before, a prompt included."""
        self._put_prompt()
        self.command(sequence)

    def close(self, why: Goodbye, *, linger: bool, grace: float) -> None:
        """Send what is waiting and the farewell, and end the connection behind it."""
        self.command(self.farewell or close_frame(why))
        super().close(why, linger=linger, grace=grace)

    def _write(self) -> None:
        self._frame()
        self._framed = 0
        super()._write()

    def _frame(self) -> None:
        text = self._pieces[self._framed :]
        if text:
            self._pieces[self._framed :] = [self._flusher.join(text, binary_frame)]
        self._framed = len(self._pieces)
