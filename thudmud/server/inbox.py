"""What has come in on a connection and not been handled yet; and which prompt stands before it.

How much is handled in a turn of the event loop, when nothing more is read, and who waits for the
next line: a command, or a dialogue, which may hide what is typed.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from thudmud.accounts.throttles import Bucket
from thudmud.telnet.interface import Item, Line, Typing
from thudmud.telnet.screen import Screen, encode
from thudmud.views.view import Terminal
from thudmud.views.words import wrapped


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


@dataclass(frozen=True, slots=True)
class _Ahead:
    """The answer to a question that may come next, and what to do when another one does."""

    prompt: str
    answer: str = field(repr=False)
    otherwise: Callable[[], None]


class Prompter:
    """Asks the player at a screen; a `guessing.Console`.

    Args:
        screen: where the questions are shown.
        typing: hides what is typed.
        inbox: where the lines come from; it holds them back until one is wanted.

    Attributes:
        terminal: what is known of it.
    """

    def __init__(self, screen: Screen, typing: Typing, inbox: Inbox) -> None:
        self.terminal = Terminal()
        self._screen, self._typing, self._inbox = screen, typing, inbox
        self._answer: asyncio.Future[str] | None = None
        self._ahead: _Ahead | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a dialogue waits for the next line."""
        return self._answer is not None and not self._answer.done()

    def asks(self, prompt: str) -> bool:
        """Whether a dialogue waits for the next line, behind this prompt."""
        return self.is_waiting and self._screen.prompt == prompt.encode()

    async def ask(self, prompt: str, *, hidden: bool = False, before: str = "") -> str:
        """Return the next line, as it was typed, which may be ``hidden`` meanwhile.

        The sentence ``before`` is left out where the answer has come ahead of the question.
        """
        if (ahead := self._ahead) is not None:
            self._ahead = None
            if prompt == ahead.prompt:
                self._ahead = replace(ahead, prompt="", answer="")
                return ahead.answer
            ahead.otherwise()
        if before:
            self.say(before)
        if hidden:
            self._typing.hide()
        else:
            self._typing.reveal()
        self._screen.prompt = prompt.encode()
        self._answer = asyncio.get_running_loop().create_future()
        self.prompt()
        self._inbox.wake()
        try:
            return await self._answer
        finally:
            self._answer = None

    def say(self, sentence: str) -> None:
        """Show a sentence."""
        self._screen.show(encode("\n".join(wrapped(sentence, self.terminal.width))))

    def reveal(self) -> None:
        """Hide nothing that is typed from now on."""
        self._typing.reveal()

    def invite(self, prompt: str) -> None:
        """Ask for lines that no dialogue waits for."""
        self._ahead = None
        self._typing.reveal()
        self._screen.prompt = prompt.encode()
        self.prompt()

    def prompt(self) -> None:
        """Ask again for what was asked for."""
        # A prompt belongs in front of an empty queue: pasted lines need none between them.
        if not self._inbox.line_is_next:
            self._screen.ask()

    def answered(self) -> None:
        """Note that a line has come: the cursor is on a fresh line."""
        self._screen.answered(echoed=not self._typing.is_hidden)

    def answer(self, line: str) -> None:
        """Give the dialogue the line it waits for."""
        if self._answer is not None:
            self._answer.set_result(line)

    def answer_ahead(
        self, line: str, prompt: str, answer: str, otherwise: Callable[[], None]
    ) -> None:
        """Give the dialogue the line it waits for, which nobody has typed, and one more.

        Args:
            line: the line.
            prompt: what it may ask for next.
            answer: what to answer then; to any other question nothing, and it is forgotten.
            otherwise: called when anything else is asked, before or after that.
        """
        self._screen.answered(echoed=False)
        self._ahead = _Ahead(prompt, answer, otherwise)
        self.answer(line)
