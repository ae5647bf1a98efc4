"""Frames of a WebSocket: each piece of output is framed once, however little room there is."""

from __future__ import annotations

from tests.telnet.test_screen import Notebook
from thudmud.telnet.screen import Flusher
from thudmud.web.frames import PING, FrameScreen, binary_frame


async def test_frame_that_finds_little_room_is_written_as_it_is() -> None:
    transport = Notebook()
    screen = FrameScreen(transport, 10, Flusher())
    screen.show(b"hello")
    screen.command(PING * 20)  # more than may wait, so it's written at once
    screen.show(b"bye")
    screen.flush()
    expected = binary_frame(b"hello") + PING * 20 + binary_frame(b"bye")
    assert b"".join(transport.writes) == expected
