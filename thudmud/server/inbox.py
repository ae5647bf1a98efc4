"""Input queues: fair scheduling of incoming lines, rate limits, and prompts."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Collection, Iterable
from functools import partial
from time import thread_time

from thudmud.accounts.limiters import TokenBucket
from thudmud.accounts.login import (
    AGAIN_PROMPT,
    NAME_PROMPT,
    NEW_PROMPT,
    OLD_PROMPT,
    PASSWORD_PROMPT,
    WORD_PROMPT,
)
from thudmud.server.config import ServerSettings
from thudmud.telnet.intake import ReadPauser
from thudmud.telnet.interface import (
    FAIR_TIME,
    Ask,
    Client,
    Item,
    Line,
    Mark,
    TerminalChanged,
    Watch,
    extra_cost,
)
from thudmud.telnet.screen import Screen, encode
from thudmud.values import Value, replace
from thudmud.views.data import Data
from thudmud.views.facts import as_json
from thudmud.views.view import Terminal
from thudmud.views.words import wrap

MOST_OWED = 10.0
"""The highest charge for a single line, in seconds of its rate."""

PACKAGE_TIME, PACKAGE_TIME_AT_ONCE = 200.0, 500.0
"""The CPU budget of all packages and questions from an address: milliseconds a second, and the
burst in milliseconds."""

ANSWER_PIECE = 16_384
"""Bytes of a response to a client program that cost one millisecond of `PACKAGE_TIME`. The web page
charges one request for the same number of bytes of a file."""

TURN_TIME = 0.002
"""Seconds of each event loop iteration in which inboxes may start. A ply needs several iterations
until the players see it; this bounds its wait in each of them, however many lines others send."""


Take = Callable[[], None]
"""Callback with which an inbox handles some of its items."""


class _RoundRobin:
    """Round-robin queue: one entry of each source in turn.

    Attributes:
        order: the sources with entries, the next one first.
    """

    def __init__(self) -> None:
        self.order: deque[str] = deque()
        self._entries: dict[str, deque[Take]] = {}

    def append(self, source: str, take: Take) -> None:
        """Append an entry to the queue of a source."""
        if entries := self._entries.get(source):
            entries.append(take)
        else:
            self._entries[source] = deque((take,))
            self.order.append(source)

    def popleft(self) -> Take:
        """Remove and return the first entry of the next source."""
        source = self.order.popleft()
        entries = self._entries[source]
        take = entries.popleft()
        if entries:
            self.order.append(source)
        else:
            del self._entries[source]
        return take


class FairScheduler:
    """Fair scheduler that shares each event loop iteration among inboxes.

    It's a fair queue with two classes, like FQ-CoDel for packets (RFC 8290). Inboxes that were
    empty and received a single line come first: a player who types an occasional line doesn't queue
    behind hundreds of lines from others. At least one inbox of the other class still runs in every
    iteration, so none of them starves.

    Within each class the sources take turns; a source is a network as computed by
    `accounts.limiters.network`. Inboxes of one source run in order of arrival. So a line waits for
    one inbox of each other source, not of each other connection: a hundred connections from four
    addresses get four turns in a round.

    Create it within the running event loop: it looks up the loop once, since doing so for each line
    would cost a system call.

    Attributes:
        throttled: the number of times that an inbox had to wait for its rate limit.
    """

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.throttled = 0
        self._incoming: list[tuple[_RoundRobin, str, Take]] = []
        """Entries for the next iteration. Each inbox has one at most: only writing the responses
        shows whether its client reads."""
        self._first, self._later = _RoundRobin(), _RoundRobin()
        self._scheduled = False

    def schedule(self, source: str, take: Take, *, again: bool = False) -> None:
        """Schedule ``take`` for one of the next iterations.

        Args:
            source: the network that the inbox belongs to.
            take: the callback.
            again: whether the inbox has a backlog, which puts it into the second class.
        """
        self._incoming.append((self._later if again else self._first, source, take))
        if not self._scheduled:
            self._scheduled = True
            self.loop.call_soon(self._begin)

    def _begin(self) -> None:
        loop = self.loop
        end = loop.time() + TURN_TIME
        self._scheduled = False
        first, later = self._first, self._later
        # Inboxes that are scheduled from here on wait for the next iteration.
        incoming, self._incoming = self._incoming, []
        for queue, source, take in incoming:
            queue.append(source, take)
        try:
            while first.order and loop.time() < end:
                first.popleft()()
            # Run before checking the time: the second class gets one turn even in a full iteration.
            while later.order:
                later.popleft()()
                if loop.time() >= end:
                    break
        finally:
            if not self._scheduled and (first.order or later.order):
                self._scheduled = True
                loop.call_soon(self._begin)


class Inbox:
    """Rate-limited queue of a connection's items, handled in order.

    The connection isn't read while the queue is full, or while the client doesn't read. Each item
    costs a token, and a slow line costs more and ends the inbox's turn. Negotiation is free unless
    it is slow: dragging a window sends hundreds of sizes, which would delay the next line. Of
    several queued sizes only the last is handled.

    Args:
        reading: pauses and resumes reading from the connection.
        turns: the scheduler.
        settings: the rates and sizes.
        package_time: the CPU budget in milliseconds for packages and questions, which the
            connections of an address share.
        source: the network that the connection is scheduled under.
        handle: handles an item; returns whether another may follow in the same turn.
        is_busy: whether items have to wait until `wake` is called.
    """

    def __init__(
        self,
        reading: ReadPauser,
        turns: FairScheduler,
        settings: ServerSettings,
        package_time: TokenBucket,
        *,
        source: str,
        handle: Callable[[Item], bool],
        is_busy: Callable[[], bool],
    ) -> None:
        self._reading, self._turns, self._source = reading, turns, source
        self._settings, self._most = settings, settings.queue_length
        self._rate = TokenBucket(settings.commands_per_second, settings.commands_at_once)
        self._package_time = package_time
        self._handle, self._is_busy = handle, is_busy
        self._waiting: deque[Item] = deque()
        self._scheduled = False
        self._is_again = False
        """Whether the inbox was scheduled with a backlog of more than one line."""
        self._is_paused = False
        self._paying: asyncio.TimerHandle | None = None
        """Timer that resumes reading once the cost of packages is paid off."""

    @property
    def has_line_next(self) -> bool:
        """Whether the next item is a line that can be handled at once."""
        if not self._waiting or not isinstance(self._waiting[0], Line):
            return False
        # A throttled line doesn't count, so that its client gets a prompt: while reading is paused,
        # only a write can reveal that the client has disconnected.
        return not self._rate.wait(self._turns.loop.time())

    @property
    def is_full(self) -> bool:
        """Whether the queue has reached the length at which reading stops."""
        return len(self._waiting) >= self._most

    def put(self, items: Iterable[Item]) -> None:
        """Queue incoming items, and schedule the inbox."""
        waiting = self._waiting
        again = bool(waiting)  # the session is busy, or its client does not read
        for item in items:
            if waiting and type(item) is TerminalChanged and _is_outdated(waiting[-1], item):
                waiting[-1] = item
            else:
                waiting.append(item)
        if len(waiting) >= self._most:
            self._reading.hold(self)
        if not self._scheduled:
            self._scheduled = True
            self._is_again = again or (len(waiting) > 1 and _has_several(waiting))
            self._turns.schedule(self._source, self._take_turn, again=self._is_again)

    def charge(self, seconds: float) -> None:
        """Charge a line's CPU seconds beyond a fair share, up to `MOST_OWED` of the rate."""
        if seconds > FAIR_TIME:
            tokens = extra_cost(seconds)
            # Capped: the time may include a garbage collection that others' lines made necessary.
            self._rate.charge(min(tokens, MOST_OWED * self._settings.commands_per_second))

    def charge_package(self, seconds: float) -> None:
        """Charge a package's CPU seconds, and pause reading until they are paid off.

        Packages are handled as soon as they are read, so only a pause in reading delays them.
        """
        self.charge_question(seconds)
        is_slow = seconds > FAIR_TIME or self._package_time.wait(self._turns.loop.time())
        if is_slow and not self._paying:
            self._read_when_paid()

    def charge_question(self, seconds: float) -> None:
        """Charge the CPU seconds of a program's question to both its address and this inbox."""
        self._package_time.charge(seconds * 1000)
        self.charge(seconds)

    def charge_answer(self, size: int) -> None:
        """Charge the address for a response of ``size`` bytes to the client's program."""
        self._package_time.charge(size / ANSWER_PIECE)

    def _read_when_paid(self) -> None:
        loop, self._paying = self._turns.loop, None
        now = loop.time()
        # Taking a token makes the waiting connections of an address resume one at a time.
        if wait := self._rate.wait(now) or self._package_time.take(now):
            self._reading.hold(self._rate)
            self._paying = loop.call_later(wait, self._read_when_paid)
        else:
            self._reading.release(self._rate)

    def pause(self) -> None:
        """Pause handling and reading while the client doesn't read its output."""
        self._is_paused = True
        self._reading.hold(self)

    def resume(self) -> None:
        """Resume handling once the client has caught up."""
        self._is_paused = False
        self.wake()

    def close(self) -> None:
        """Drop all items; keep reading, so that the end of the connection is noticed."""
        self._waiting.clear()
        if self._paying:
            self._paying.cancel()
            self._reading.release(self._rate)
        self._reading.release(self)

    def wake(self) -> None:
        """Schedule the next items, or resume reading if there are none."""
        if self._scheduled:
            return  # the end of that turn sees to it
        if self._waiting:
            self._scheduled = self._is_again = True
            self._turns.schedule(self._source, self._take_turn, again=True)
        elif not self._is_paused:
            self._reading.release(self)

    def _take_turn(self) -> None:
        loop = self._turns.loop
        now, delay = loop.time(), 0.0
        for _ in range(self._settings.commands_per_turn):
            if not self._waiting or self._is_paused or self._is_busy():
                break
            kind = type(self._waiting[0])
            is_negotiation = kind in _NEGOTIATION
            # The address's budget is only checked here: the cost is charged after the answer.
            if kind in _QUESTIONS and (delay := self._package_time.wait(now)):
                break
            if not is_negotiation and (delay := self._rate.take(now)):
                break
            begun = thread_time()
            has_room = self._handle(self._waiting.popleft())
            charge = self.charge_question if kind in _QUESTIONS else self.charge
            charge(thread_time() - begun)
            if not is_negotiation and not self._is_again:
                break  # a first-class turn is for one line, even if more arrived
            if not has_room or loop.time() - now > FAIR_TIME:
                break
        self._scheduled = False  # this turn covers wake-ups that came during it
        if self._is_paused or (self._waiting and self._is_busy()):
            return
        if delay and not self._scheduled:
            self._scheduled = self._is_again = True
            self._turns.throttled += 1
            back = partial(self._turns.schedule, self._source, self._take_turn, again=True)
            loop.call_later(delay, back)
        elif self._waiting:
            self.wake()
        if len(self._waiting) < self._most:
            self._reading.release(self)


_QUESTIONS = frozenset({Ask, Watch})
"""Questions of client programs, which wait while their address owes CPU time."""

_NEGOTIATION = frozenset({TerminalChanged, Mark})
"""Items that client programs send by themselves, without input from the player."""


def _has_several(items: Collection[Item]) -> bool:
    """Return whether more than one item isn't negotiation."""
    return sum(type(each) not in _NEGOTIATION for each in items) > 1


def _is_outdated(item: Item, fitted: TerminalChanged) -> bool:
    """Return whether a newer terminal size replaces an item that is still queued.

    Changes of packages are never skipped: a program that drops a package and requests it again
    receives the current state again.
    """
    return type(item) is TerminalChanged and item.terminal.packages == fitted.terminal.packages


# Prompts.


class LinePrompter:
    """Line-based prompts for one connection: an `accounts.login.Prompter`.

    Args:
        screen: shows the prompts.
        client: hides typing, and receives packages.
        inbox: the queue that lines come from.
        held: called when an answer has to wait until it is checked.
    """

    def __init__(
        self, screen: Screen, client: Client, inbox: Inbox, held: Callable[[], None]
    ) -> None:
        self.terminal = Terminal()
        self.is_held = False
        self._screen, self._client, self._inbox, self._held = screen, client, inbox, held
        self._answer: asyncio.Future[str] | None = None
        self._ahead: _Ahead | None = None
        self._invited: str | None = None
        """The last prompt for a command; None if a dialogue has asked since."""
        self._asked = "", False
        """The current question as sent to programs, and whether typing is hidden."""

    @property
    def is_waiting(self) -> bool:
        """Whether a dialogue waits for the next line."""
        return self._answer is not None and not self._answer.done()

    def is_asking(self, prompt: str) -> bool:
        """Return whether a dialogue waits for the answer to this prompt."""
        return self.is_waiting and self._screen.prompt == prompt.encode()

    async def ask(self, prompt: str, *, hidden: bool = False, before: str = "") -> str:
        """Prompt for a line and return the input; see `accounts.login.Prompter.ask`."""
        if (ahead := self._ahead) is not None:
            self._ahead = None
            if ahead.answer is not None and prompt in {WORD_PROMPT, PASSWORD_PROMPT}:
                self._ahead = replace(ahead, answer=None)
                return ahead.answer
            ahead.otherwise()
        self._invited = None
        if before:
            self.say(before)
        if hidden:
            self._client.hide()
        else:
            self._client.reveal()
        self.is_held = False
        self._set_prompt(prompt, hidden=hidden)
        self._answer = asyncio.get_running_loop().create_future()
        self.prompt()
        self._inbox.wake()
        try:
            return await self._answer
        finally:
            self._answer = None

    def say(self, sentence: str) -> None:
        """Show a sentence, wrapped to the width of the terminal."""
        self._screen.show(encode("\n".join(wrap(sentence, self.terminal.width, private=True))))

    def hold(self, sentence: str) -> None:
        """Show a sentence while an answer has to wait; see `accounts.login.Prompter.hold`."""
        self.is_held = True
        self.say(sentence)
        self._held()

    def reveal(self) -> None:
        """Make typing visible again."""
        self._client.reveal()

    @property
    def knows_prompts(self) -> bool:
        """Whether the client's program displays prompts itself, from a package."""
        return self.terminal.wants(_PROMPT)

    def change_prompt(self, prompt: str) -> None:
        """Replace the command prompt; no effect during a dialogue."""
        if self._invited not in {None, prompt}:
            self._invited = prompt
            self._screen.prompt = prompt.encode()

    def prompt(self, for_command: str | None = None, *, is_awaited: bool = False) -> None:
        """Show the prompt again, or prompt for a command.

        Args:
            for_command: the prompt for a command, outside of dialogues; None for the present one.
            is_awaited: whether a response is still due, which the prompt should follow.
        """
        if for_command not in {None, self._invited}:  # usually the prompt stays the same
            self._ahead, self._invited = None, for_command
            self._client.reveal()
            self._set_prompt(for_command)
        # Pasted lines need no prompts between them.
        if not self._inbox.has_line_next:
            self._screen.show_prompt(at_once=not is_awaited)

    def answer(self, line: str) -> None:
        """Pass a line to the waiting dialogue."""
        if self._answer is not None:
            self._answer.set_result(line)

    def answer_ahead(self, name: str, secret: str, otherwise: Callable[[], None]) -> None:
        """Answer two prompts with credentials sent by the client program.

        Args:
            name: the answer to the current prompt.
            secret: the answer to the next prompt if it asks for a password or a resume word.
            otherwise: called as soon as a prompt asks for anything else.
        """
        self._screen.note_input(echoed=False)
        self._ahead = _Ahead(secret, otherwise)
        self.answer(name)

    # Packages for the client's program.

    def adopt_terminal(self, terminal: Terminal) -> None:
        """Adopt the client's terminal, and send the prompt to newly registered programs."""
        is_new = not self.terminal.wants(_PROMPT)
        self.terminal = terminal
        if is_new:
            self._tell_prompt()

    @property
    def keeps_words(self) -> bool:
        """Whether the client's program stores resume words."""
        return self.terminal.wants(_WORD)

    @property
    def shows_words(self) -> bool:
        """Whether the client's program shows the resume word in its settings."""
        return self.keeps_words and self.terminal.can_draw

    def send_resume_word(self, name: str, word: str) -> None:
        """Send a resume word to the client's program, see `Prompter.send_resume_word`."""
        self._tell(_WORD, {"player": name, "word": word})

    def send_goodbye(self, why: str) -> None:
        """Send the client's program the reason for the end of the connection."""
        self._tell(_GOODBYE, {"why": why})
        if self.terminal.wants_usual or self.terminal.wants(_USUAL_GOODBYE):
            self._client.data(_USUAL_GOODBYE, json.dumps(why))

    def _set_prompt(self, prompt: str, *, hidden: bool = False) -> None:
        self._screen.prompt = prompt.encode()
        asked = _ASKED.get(prompt, "command"), hidden
        if asked != self._asked:
            self._asked = asked
            self._tell_prompt()

    def _tell_prompt(self) -> None:
        asks, hidden = self._asked
        self._tell(_PROMPT, {"asks": asks, "hidden": hidden})

    def _tell(self, package: str, known: Data) -> None:
        if self.terminal.wants(package):
            self._client.data(package, as_json(known))


class _Ahead(Value):
    """The answer to the next prompt, and a callback for a different prompt."""

    SECRETS = frozenset({"answer"})

    answer: str | None
    otherwise: Callable[[], None]


_PROMPT, _WORD, _GOODBYE = "Thud.Prompt", "Thud.Word", "Thud.Goodbye"

_USUAL_GOODBYE = "Core.Goodbye"  # the package that other MUDs use

_ASKED = {
    NAME_PROMPT: "name",
    WORD_PROMPT: "word",
    PASSWORD_PROMPT: "password",
    OLD_PROMPT: "old_password",
    NEW_PROMPT: "new_password",
    AGAIN_PROMPT: "again",
}
"""Prompts by the names that programs receive; any other prompt means ``command``."""
