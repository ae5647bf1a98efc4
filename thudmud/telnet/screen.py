"""The screen of a connection: output is only ever appended, with a prompt after it.

A screen shows prompts, begins fresh lines, compresses, writes once in each turn of the event loop,
and cuts off a client that reads too slowly.
"""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import Callable
from enum import Enum

CRLF = b"\r\n"
BELL = b"\a"
"""The control character BEL, for which a terminal makes a sound."""

_READING_ON = 1 / 2  # of the grace period, where a connection cannot be closed in one direction

_log = logging.getLogger(__name__)
_of_strangers = logging.getLogger("thudmud.strangers")


class CloseReason(Enum):
    """Why a connection ends, for programs: WebSockets send it as a close code."""

    QUIT = "quit"
    """The player has typed "quit"."""
    ELSEWHERE = "elsewhere"
    """The player has come in by another connection."""
    IDLE = "idle"
    """The player has typed nothing for too long, or given no name."""
    BANNED = "banned"
    """The player is banned, or their account was removed."""
    KICKED = "kicked"
    """An operator has ended the visit."""
    LOGGED_OUT = "logged_out"
    """All logins were ended, perhaps by a new password: the player has to log in again."""
    REJECTED = "rejected"
    """The client has sent too much, or violated the protocol, and would do so again."""
    STOPPED = "stopped"
    """The server stops, or has lost its storage: the client can come back in a while."""


def encode(text: str) -> bytes:
    r"""Encode lines, separated by "\n", as UTF-8 with CR LF after each.

    UTF-8 never contains the byte 0xFF, so IAC needs no escaping.
    """
    return f"{text}\n".replace("\n", "\r\n").encode("utf-8", "replace")


class Screen:
    """The output side of a connection.

    While the cursor is after a prompt, new text starts on a fresh line, and the prompt is shown
    again, once, at the end of the turn. A player's own line ends the prompt's line by its echo, if
    the terminal echoes it.

    Args:
        transport: the connection.
        limit: the most bytes that may wait to be sent; a client that reads more slowly is cut off.
            A single longer answer, such as the record of a long battle, may wait in addition if at
            most a quarter of the limit was waiting before it.
        flusher: flushes the screen at the end of the turn of the event loop.

    Attributes:
        prompt: the prompt for the player's next line; it may be empty.
        at_prompt: whether the cursor is right after the prompt.
        unsent: the number of bytes shown in this turn and not yet written.
        closed: whether output is over.
    """

    __slots__ = (
        "_asking",
        "_beyond",
        "_compressor",
        "_flusher",
        "_join",
        "_limit",
        "_owes_prompt",
        "_pieces",
        "_prompt_end",
        "_room",
        "_timers",
        "_transport",
        "at_prompt",
        "closed",
        "prompt",
        "unsent",
    )

    def __init__(self, transport: asyncio.Transport, limit: int, flusher: Flusher) -> None:
        self.prompt = b""
        self._prompt_end = b""
        self._compressor: zlib._Compress | None = None
        self.closed = False
        self._transport = transport
        self._limit = self._room = limit
        self._beyond = 0  # bytes that a long answer may wait in addition to the limit
        self._flusher = flusher
        self._join: Callable[[list[bytes]], bytes] = flusher.join_pieces
        """Joins the pieces of a turn to what is sent."""
        self._pieces: list[bytes] = []
        self.unsent = 0
        self._asking = False
        self.at_prompt = self._owes_prompt = False
        self._timers: list[asyncio.TimerHandle] = []

    def show(self, lines: bytes) -> None:
        """Append whole lines, each with CR LF at its end."""
        if self.closed:
            return
        if self.at_prompt:
            self.at_prompt = False
            self._asking = True
            self._pieces.append(CRLF)
            self.unsent += len(CRLF)
        elif self._owes_prompt:
            self._owes_prompt = False
            self._asking = True
        self._pieces.append(lines)  # `_put` inlined: this is the hot path
        self.unsent += len(lines)
        if self.unsent > self._room:
            self._look_for_room()
        if not self._flusher.due:
            self._flusher.schedule()
        self._flusher.due[self] = None

    def show_prompt(self, *, at_once: bool = True) -> None:
        """Show the prompt at the end of this turn, unless the cursor is after it already.

        Args:
            at_once: whether to show it in this turn; otherwise after the next lines.
        """
        self._owes_prompt = not (self.at_prompt or at_once)
        if at_once and not self.at_prompt:
            self._asking = True
            if not self._flusher.due:
                self._flusher.schedule()
            self._flusher.due[self] = None

    def note_input(self, *, echoed: bool = True) -> None:
        """Handle a line of the player's; its echo, if any, has moved the cursor to a fresh line."""
        if self.at_prompt and not echoed:
            self._put(CRLF)
        self._asking = self.at_prompt = self._owes_prompt = False

    def command(self, sequence: bytes) -> None:
        """Append a telnet command, which a terminal doesn't show."""
        self._put(sequence)

    def end_prompts(self, sequence: bytes) -> None:
        """Set the telnet command that ends each prompt, including the current one."""
        if sequence != self._prompt_end:
            self._prompt_end = sequence
            if self.at_prompt and sequence:
                self._put(sequence)

    def compress(self, sequence: bytes) -> None:
        """Append the telnet command that begins MCCP2, and compress all later output."""
        self._put(sequence)
        self._write()
        self._compressor = zlib.compressobj(wbits=_WINDOW, memLevel=_MEMORY)

    def decompress(self) -> None:
        """End the compressed part of the output."""
        self._write()
        self._end_compression()

    def mark(self, sequence: bytes) -> None:
        """Write all output so far, with a prompt that is due, and append a telnet command."""
        self.flush()
        self.command(sequence)

    def close(
        self,
        why: CloseReason,  # noqa: ARG002  (telnet has no close codes)
        *,
        linger: bool,
        grace: float,
    ) -> None:
        """Send all output, without a prompt, and end the connection.

        Args:
            why: the reason, for subclasses whose protocol has close codes.
            linger: whether to let the client close first. If we close while it is still sending, it
                may never see our last output (RFC 1122, section 4.2.2.13).
            grace: the seconds until the connection is aborted.
        """
        self._asking = self.at_prompt = False
        self._write()
        self._end_compression()
        self.closed = True
        loop = asyncio.get_running_loop()
        if not self._timers:
            self._timers.append(loop.call_later(grace, self._transport.abort))
        if linger and self._transport.can_write_eof():
            try:
                self._transport.write_eof()
            except (OSError, RuntimeError):  # the client has gone already (RuntimeError: uvloop)
                self._transport.abort()
        elif linger and not self._transport.is_reading():
            # TLS cannot be closed in one direction only, so read the client's last bytes first.
            self._timers.append(loop.call_later(grace * _READING_ON, self._close_now))
        else:
            self._transport.close()

    def _close_now(self) -> None:
        if not self._transport.is_closing():  # TLS that is closed twice cannot be aborted
            self._transport.close()

    def connection_lost(self) -> None:
        """Handle the loss of the connection."""
        self.closed = True
        for timer in self._timers:
            timer.cancel()

    def _put(self, piece: bytes) -> None:
        if self.closed:
            return
        self._pieces.append(piece)
        self.unsent += len(piece)
        if self.unsent > self._room:
            self._look_for_room()
        if not self._flusher.due:
            self._flusher.schedule()
        self._flusher.due[self] = None

    def flush(self) -> None:
        """Write this turn's output, followed by the prompt if that is due."""
        if self._asking:
            self._asking = False
            self.at_prompt = bool(self.prompt)  # without a prompt the line is fresh
            self._pieces.append(self.prompt + self._prompt_end)
        if self._pieces and not self.closed:
            output = self._join(self._pieces)
            if self._compressor is not None:
                # Flushed, so that the client can decompress and show all of it now.
                compressed = self._compressor.compress(output)
                output = compressed + self._compressor.flush(zlib.Z_SYNC_FLUSH)
            self._transport.write(output)
            self._room -= len(output)  # a lower bound: some of it may be sent already
        self._pieces.clear()
        self.unsent = 0

    def _write(self) -> None:
        """Write the output so far, without the prompt."""
        is_due, self._asking = self._asking, False
        self.flush()
        self._asking = is_due

    def _end_compression(self) -> None:
        if self._compressor is not None and not self.closed:
            self._transport.write(self._compressor.flush(zlib.Z_FINISH))
        self._compressor = None

    def _look_for_room(self) -> None:
        """Measure how much may still wait; if too much does, write, or cut the client off."""
        waiting = self._transport.get_write_buffer_size()
        if waiting <= self._limit // 4:
            self._beyond = self.unsent
        self._room = self._limit + self._beyond - waiting
        if self.unsent > self._room:
            self._write()
            self._room = self._limit + self._beyond - self._transport.get_write_buffer_size()
            if self._room < 0:
                # No farewell: there's no room for it.
                _of_strangers.info("disconnected a slow reader", extra={"unread": self._limit})
                self.closed = True
                self._transport.abort()


_WINDOW, _MEMORY = 12, 5
"""Parameters of zlib. A board is less than 1 KiB, so a small window is enough. These values cost 32
KiB for each compressed connection and zlib's defaults 256 KiB; the formula in zlib's manual is
2 ** (wbits + 2) + 2 ** (memLevel + 9)."""


class Flusher:
    """Flushes all screens, once at the end of each turn of the event loop.

    Attributes:
        due: the screens to be flushed, in this order; `schedule` has to be called for the first.
    """

    def __init__(self) -> None:
        self.due: dict[Screen, None] = {}
        self._joined: dict[Callable[[bytes], bytes] | None, tuple[list[bytes], bytes]] = {}
        """The pieces and result of the last `join_pieces`, by ``make``."""

    def schedule(self) -> None:
        """Schedule the end of this turn."""
        asyncio.get_running_loop().call_soon(self._flush)

    def join_pieces(
        self, pieces: list[bytes], make: Callable[[bytes], bytes] | None = None
    ) -> bytes:
        """Join pieces; screens with the same pieces in one turn get the same object.

        Args:
            pieces: the output of one screen in this turn.
            make: transforms the joined bytes, such as to a WebSocket frame; None for no change.
        """
        before = self._joined.get(make)
        if before is not None and pieces == before[0]:  # fast: mostly identical objects
            return before[1]
        joined = b"".join(pieces)
        if make:
            joined = make(joined)
        self._joined[make] = pieces.copy(), joined
        return joined

    def _flush(self) -> None:
        due, self.due = self.due, {}
        for screen in due:
            try:
                screen.flush()
            except Exception:  # noqa: BLE001  (it is logged, and others go on)
                _log.exception("failed to write to a client")
        self._joined.clear()
