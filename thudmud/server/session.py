"""One connection's conversation: a name first, then commands until the player leaves.

Owns the queue of what has come in and not been handled, and so the order of everything: lines,
changes of width, timing marks and the end of input are handled one after the other, some in each
turn of the event loop. Must never know how telnet spells them, nor what a command means.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from thudmud.server.lines import Line, Overlong
from thudmud.server.lobby import Lobby
from thudmud.server.screen import Screen, encode
from thudmud.server.settings import ServerSettings
from thudmud.text.words import wrapped

NAME_PROMPT = b"What is your name? "
PROMPT = b"> "
WIDTH = 80  # columns, until a terminal tells its own
NARROWEST, WIDEST = 20, 500

_HERE = "Yes, thudmud is here."
_GOODBYE = "Goodbye!"
_SORRY = "Sorry, something went wrong in the server with that line. Please try something else."

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Resized:
    """The terminal is so many columns wide now."""

    columns: int


@dataclass(frozen=True, slots=True)
class Mark:
    """The client asks to be sent ``answer`` once everything before it has been handled."""

    answer: bytes


class Signal(Enum):
    """What a client can say without a word."""

    ARE_YOU_THERE = "are you there"
    END_OF_INPUT = "end of input"


Item = Line | Resized | Mark | Signal


class Session:
    """What happens on one connection, from the greeting to the farewell.

    Reading is paused while too many items wait, and while the client does not read: its own
    commands wait then, so that only what others say can fill its outbox.

    Args:
        transport: The connection.
        lobby: Where names and commands go.
        settings: The caps.
    """

    def __init__(
        self, transport: asyncio.Transport, lobby: Lobby, settings: ServerSettings
    ) -> None:
        transport.set_write_buffer_limits(high=settings.share)
        self._transport = transport
        self._peer = "{} {}".format(*transport.get_extra_info("peername") or ("somebody", ""))
        self._lobby = lobby
        self._settings = settings
        self._screen = Screen(transport, settings.outbox_bytes)
        self._screen.prompt = NAME_PROMPT
        self._name = ""
        self._width = WIDTH
        self._waiting: deque[Item] = deque()
        self._scheduled = False
        self._choked = False
        self._input_ended = False
        self._abort: asyncio.TimerHandle | None = None

    # What the connection reports.

    def opened(self) -> None:
        """Greet, and ask for a name."""
        _log.info("%s is connected", self._peer)
        self._screen.show(encode(self._lobby.greeting))
        self._screen.ask()
        self._lobby.welcome(self)

    def received(self, items: Iterable[Item]) -> None:
        """Queue what has come in."""
        if self._screen.closed:
            return
        self._waiting.extend(items)
        if len(self._waiting) >= self._settings.queue_length and not self._input_ended:
            self._transport.pause_reading()
        self._schedule()

    def input_ended(self) -> None:
        """Note that nothing more will come; what has come is still handled and answered."""
        self._input_ended = True
        if self._screen.closed:
            self._transport.close()
        else:
            self.received([Signal.END_OF_INPUT])

    def command(self, sequence: bytes) -> None:
        """Send telnet bytes, in order with the text."""
        self._screen.command(sequence)

    def choke(self) -> None:
        """Stop handling: the client is not reading what it has been sent."""
        self._choked = True
        if not self._input_ended:
            self._transport.pause_reading()

    def resume(self) -> None:
        """Go on handling: the client has caught up."""
        self._choked = False
        self._schedule()

    def lost(self) -> None:
        """Note that the connection is gone."""
        _log.info("%s is gone", self._peer)
        self._screen.closed = True
        self._waiting.clear()
        if self._abort is not None:
            self._abort.cancel()
        self._part()
        self._lobby.farewell(self)

    # What the lobby asks.

    def show(self, lines: bytes) -> None:
        """Show whole encoded lines."""
        self._screen.show(lines)

    def end(self, *, linger: bool) -> None:
        """Send what is waiting and end the connection, after a grace period by force.

        The name is free at once, and the others are told at once.

        Args:
            linger: Whether to leave it to the client to close the connection.
        """
        self._part()
        self._waiting.clear()
        self._screen.close(linger=linger)
        if not self._input_ended:
            self._transport.resume_reading()  # to see the client close it
        if self._abort is None:
            loop = asyncio.get_running_loop()
            self._abort = loop.call_later(self._settings.shutdown_grace, self._transport.abort)

    def _part(self) -> None:
        name, self._name = self._name, ""
        if not name:
            return
        try:
            self._lobby.part(name)
        except Exception:  # noqa: BLE001  (the connection must end, whatever the house gets wrong)
            _log.exception("failed to see %s out", name)

    # Turn by turn.

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._take_turn)

    def _take_turn(self) -> None:
        self._scheduled = False
        for _ in range(self._settings.commands_per_turn):
            if self._choked or not self._waiting or self._screen.unsent > self._settings.share:
                break
            self._handle(self._waiting.popleft())
        if self._choked:
            return
        if self._waiting:
            self._schedule()
        if len(self._waiting) < self._settings.queue_length and not self._input_ended:
            self._transport.resume_reading()

    def _handle(self, item: Item) -> None:
        try:
            match item:
                case str() | Overlong():
                    self._handle_line(item)
                case Resized(columns):
                    self._resize(columns)
                case Mark(answer):
                    self._screen.mark(answer)
                case Signal.ARE_YOU_THERE:
                    self._show_wrapped(_HERE)
                case Signal.END_OF_INPUT:
                    self.end(linger=False)
        except Exception:  # noqa: BLE001  (whatever a handler gets wrong, the connection goes on)
            # The line itself is not logged: it is the player's own.
            _log.exception("failed to handle what %s sent", self._name or "somebody without a name")
            self._show_wrapped(_SORRY)
            self._screen.ask()

    def _handle_line(self, line: Line) -> None:
        self._screen.answered()
        if line is Overlong.LINE:
            self._show_wrapped(self._overlong())
        elif not (self._obey(line) if self._name else self._introduce(line.strip())):
            self.end(linger=True)
            return
        # A prompt belongs in front of an empty queue: pasted lines need none between them.
        if not (self._waiting and isinstance(self._waiting[0], str | Overlong)):
            self._screen.ask()

    def _introduce(self, words: str) -> bool:
        """Take words as a name; return whether the player stays."""
        if words.lower() == "quit":
            self._screen.show(encode(_GOODBYE))
            return False
        problem = self._lobby.name_problem(words) if words else ""
        if problem:
            self._show_wrapped(problem)
        elif words:
            self._name = self._lobby.admit(self, words, self._width)
            self._screen.prompt = PROMPT
            _log.info("%s is %s", self._peer, self._name)
        return True

    def _obey(self, line: str) -> bool:
        """Have a command carried out; return whether the player stays."""
        return self._lobby.obey(self._name, line)

    def _resize(self, columns: int) -> None:
        # RFC 1073: 0 columns means that the client does not know, or leaves it to us.
        self._width = min(max(columns, NARROWEST), WIDEST) if columns else WIDTH
        if self._name:
            self._lobby.resize(self._name, self._width)

    def _show_wrapped(self, sentence: str) -> None:
        self._screen.show(encode("\n".join(wrapped(sentence, self._width))))

    def _overlong(self) -> str:
        return f"That line is longer than {self._settings.max_line:,} characters; it was not read."
