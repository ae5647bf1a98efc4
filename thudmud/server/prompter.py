"""What a player is asked for: a command, or the lines of a dialogue, some of them hidden.

Owns which prompt stands before the next line, and who waits for that line. Must never know what is
asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from thudmud.server.inbox import Inbox
from thudmud.server.telnet.items import Typing
from thudmud.server.telnet.screen import Screen, encode
from thudmud.text.display import Terminal
from thudmud.text.words import wrapped


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
