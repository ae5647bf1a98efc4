"""Input that waits: queues of lines, whose turn it is, and the prompts that ask for more."""

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
from thudmud.telnet.intake import Reading
from thudmud.telnet.interface import (
    FAIR_TIME,
    Ask,
    Client,
    Fitted,
    Item,
    Line,
    Mark,
    Watch,
    extra_cost,
)
from thudmud.telnet.screen import Screen, encode
from thudmud.values import Value, replace
from thudmud.views.data import Data
from thudmud.views.facts import as_json
from thudmud.views.view import Terminal
from thudmud.views.words import wrapped

MOST_OWED = 10.0
"""Seconds of its rate that a single line can cost."""

PACKAGE_TIME, PACKAGE_TIME_AT_ONCE = 200.0, 500.0
"""The CPU budget of all packages and questions from an address: milliseconds a second, and the
burst in milliseconds."""

ANSWER_PIECE = 16_384
"""Bytes of an answer to a client's program that cost a millisecond of `PACKAGE_TIME`. The page
charges a request for as many bytes of a file."""

TURN_TIME = 0.002
"""Seconds of each turn of the event loop in which inboxes may begin: a ply takes some turns until
the players see it, and waits that long in each, however many lines others send."""


Take = Callable[[], None]
"""Lets an inbox handle some of what waits in it."""


class _RoundRobin:
    """Queues by source, which are served one after the other, an entry each.

    Attributes:
        order: the sources that have entries; the next one comes first.
    """

    def __init__(self) -> None:
        self.order: deque[str] = deque()
        self._entries: dict[str, deque[Take]] = {}

    def append(self, source: str, take: Take) -> None:
        """Add an entry to the queue of a source."""
        if entries := self._entries.get(source):
            entries.append(take)
        else:
            self._entries[source] = deque((take,))
            self.order.append(source)

    def popleft(self) -> Take:
        """Remove the first entry of the source whose turn it is, and return it."""
        source = self.order.popleft()
        entries = self._entries[source]
        take = entries.popleft()
        if entries:
            self.order.append(source)
        else:
            del self._entries[source]
        return take


class InboxQueue:
    """Shares each turn of the event loop among inboxes.

    It is a fair queue of two classes (RFC 8290 has one for packets). Inboxes in which one line has
    come in, and none waited, come first: a player who types a line now and then does not queue
    behind others' hundreds. But one of those that have more to handle goes on in every turn,
    however many others there are.

    Within each class the sources, which are networks as `accounts.limiters.network` has them, are
    served in rotation, and the inboxes of one source in the order in which they came. So a line
    waits for one of each other source, not for one of each other connection; and who has a hundred
    connections from four addresses has four turns in a round.

    It is made where the event loop runs: to ask for that costs a system call, for each line.

    Attributes:
        throttled: how often an inbox had to wait, since its player had sent too much.
    """

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.throttled = 0
        self._incoming: list[tuple[_RoundRobin, str, Take]] = []
        """What waits for the next turn: each inbox has only one before its answers are written,
        since only then it is known whether its client reads."""
        self._first, self._later = _RoundRobin(), _RoundRobin()
        self._scheduled = False

    def wait(self, source: str, take: Take, *, again: bool = False) -> None:
        """Call ``take`` in one of the next turns; after others, if there is more to handle."""
        self._incoming.append((self._later if again else self._first, source, take))
        self._schedule()

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self.loop.call_soon(self._begin)

    def _begin(self) -> None:
        loop = self.loop
        end = loop.time() + TURN_TIME
        self._scheduled = False
        first, later = self._first, self._later
        incoming, self._incoming = self._incoming, []
        for queue, source, take in incoming:
            queue.append(source, take)
        try:
            while first.order and loop.time() < end:
                first.popleft()()
            while later.order:
                later.popleft()()
                if loop.time() >= end:
                    break
        finally:
            if first.order or later.order:
                self._schedule()


class Inbox:
    """A queue of items, handled in order, some in each turn of the event loop.

    Its connection is not read while too many items wait, or while the client does not read. Each
    item takes a token, and a slow line takes more; after a slow one it is the others' turn. What a
    program negotiates takes none, unless it is slow: while a window is dragged, its sizes come by
    the hundred, and the next line would wait for them. Of those that wait only the last counts.
    Packages and questions are charged to ``package_time``, which the connections of an address
    share.
    ``handle`` returns whether the next may follow in the same turn; while ``is_busy``, none is
    handled until `wake` is called.
    """

    def __init__(
        self,
        reading: Reading,
        turns: InboxQueue,
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
        """Whether it has more to handle than one line, if it is scheduled."""
        self._is_paused = False
        self._paying: asyncio.TimerHandle | None = None
        """Reads on once what packages have cost is paid for."""

    @property
    def line_is_next(self) -> bool:
        """Whether a line is waiting that can be handled at once."""
        if not self._waiting or not isinstance(self._waiting[0], Line):
            return False
        # A line that is throttled does not count: its client is sent a prompt. Nothing is read
        # meanwhile, and only a write shows that a client has gone.
        return not self._rate.wait(self._turns.loop.time())

    @property
    def is_full(self) -> bool:
        """Whether so many items wait that nothing more is read."""
        return len(self._waiting) >= self._most

    def put(self, items: Iterable[Item]) -> None:
        """Queue items that have come in."""
        waiting = self._waiting
        again = bool(waiting)  # it is busy, or its client does not read
        for item in items:
            if waiting and type(item) is Fitted and _is_outdated(waiting[-1], item):
                waiting[-1] = item
            else:
                waiting.append(item)
        if len(waiting) >= self._most:
            self._reading.hold(self)
        if not self._scheduled:
            self._scheduled = True
            self._is_again = again or (len(waiting) > 1 and _has_several(waiting))
            self._turns.wait(self._source, self._take_turn, again=self._is_again)

    def charge(self, seconds: float) -> None:
        """Charge for the CPU time that a line took, which costs `MOST_OWED` of the rate at most."""
        if seconds > FAIR_TIME:
            tokens = extra_cost(seconds)
            # It may not have been the line's fault: somebody else's garbage may be collected in it.
            self._rate.charge(min(tokens, MOST_OWED * self._settings.commands_per_second))

    def charge_package(self, seconds: float) -> None:
        """Charge for the CPU time of a package; read no more while it is owed.

        Packages are handled as they are read: only what is not read can wait.
        """
        self.charge_question(seconds)
        is_slow = seconds > FAIR_TIME or self._package_time.wait(self._turns.loop.time())
        if is_slow and not self._paying:
            self._read_when_paid()

    def charge_question(self, seconds: float) -> None:
        """Charge the CPU seconds of a program's question to the address, and as for a line."""
        self._package_time.charge(seconds * 1000)
        self.charge(seconds)

    def charge_answer(self, size: int) -> None:
        """Charge the address for an answer of ``size`` bytes to the client's program."""
        self._package_time.charge(size / ANSWER_PIECE)

    def _read_when_paid(self) -> None:
        loop, self._paying = self._turns.loop, None
        now = loop.time()
        # Each takes a token, so that the waiting connections of an address resume one by one.
        if wait := self._rate.wait(now) or self._package_time.take(now):
            self._reading.hold(self._rate)
            self._paying = loop.call_later(wait, self._read_when_paid)
        else:
            self._reading.let_go(self._rate)

    def pause(self) -> None:
        """Stop handling and reading: the client does not read its output."""
        self._is_paused = True
        self._reading.hold(self)

    def resume(self) -> None:
        """Go on handling: the client has caught up."""
        self._is_paused = False
        self.wake()

    def close(self) -> None:
        """Drop everything; read on, so that the end of the connection is noticed."""
        self._waiting.clear()
        if self._paying:
            self._paying.cancel()
            self._reading.let_go(self._rate)
        self._reading.let_go(self)

    def wake(self) -> None:
        """Go on handling in one of the next turns."""
        if self._waiting:
            if not self._scheduled:
                self._scheduled = self._is_again = True
                self._turns.wait(self._source, self._take_turn, again=True)
        elif not self._is_paused:
            self._reading.let_go(self)

    def _take_turn(self) -> None:
        loop = self._turns.loop
        now, delay = loop.time(), 0.0
        for _ in range(self._settings.commands_per_turn):
            if not self._waiting or self._is_paused or self._is_busy():
                break
            kind = type(self._waiting[0])
            is_negotiation = kind in _NEGOTIATION
            if kind in _QUESTIONS and (delay := self._package_time.wait(now)):
                break
            if not is_negotiation and (delay := self._rate.take(now)):
                break
            begun = thread_time() if is_negotiation else 0.0
            has_room = self._handle(self._waiting.popleft())
            if is_negotiation:
                self.charge(thread_time() - begun)
            elif not self._is_again:  # more may have come in since
                break
            if not has_room or loop.time() - now > FAIR_TIME:
                break
        self._scheduled = False  # a wake-up meanwhile has been handled, or is now
        if self._is_paused or self._is_busy():
            return
        if delay and not self._scheduled:
            self._scheduled = self._is_again = True
            self._turns.throttled += 1
            back = partial(self._turns.wait, self._source, self._take_turn, again=True)
            loop.call_later(delay, back)
        elif self._waiting:
            self.wake()
        if len(self._waiting) < self._most:
            self._reading.let_go(self)


_QUESTIONS = frozenset({Ask, Watch})
"""The questions of client programs, which wait while their address owes CPU time."""

_NEGOTIATION = frozenset({Fitted, Mark})
"""The items that a client's program sends by itself, whether or not its player types."""


def _has_several(items: Collection[Item]) -> bool:
    """Return whether more than one item was sent by the player, or asked for by a program."""
    return sum(type(each) not in _NEGOTIATION for each in items) > 1


def _is_outdated(item: Item, fitted: Fitted) -> bool:
    """Return whether an item needs no handling, since what the client has told next replaces it.

    A change of packages is never skipped: a program that gives one up and asks for it again is told
    anew how things stand.
    """
    return type(item) is Fitted and item.terminal.packages == fitted.terminal.packages


# Prompts.


class LinePrompter:
    """Asks the player for lines; an `accounts.login.Prompter`.

    ``held`` is called when an answer has to wait until it is checked.
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
        """The prompt of `invite`, if nothing else has been asked since."""
        self._asked = "", False
        """What is asked for now, in a program's words, and whether typing is hidden."""

    @property
    def is_waiting(self) -> bool:
        """Whether a dialogue waits for the next line."""
        return self._answer is not None and not self._answer.done()

    def asks(self, prompt: str) -> bool:
        """Return whether a dialogue waits for the next line, and has asked with this prompt."""
        return self.is_waiting and self._screen.prompt == prompt.encode()

    async def ask(self, prompt: str, *, hidden: bool = False, before: str = "") -> str:
        """Return the next line, as `accounts.login.Prompter.ask` does."""
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
        """Show a sentence."""
        self._screen.show(encode("\n".join(wrapped(sentence, self.terminal.width, private=True))))

    def hold(self, sentence: str) -> None:
        """Show a sentence, as `accounts.login.Prompter.hold` does."""
        self.is_held = True
        self.say(sentence)
        self._held()

    def reveal(self) -> None:
        """Stop hiding what is typed."""
        self._client.reveal()

    def invite(self, prompt: str, *, is_awaited: bool = False) -> None:
        """Ask for commands, outside of a dialogue; if something is awaited, after that."""
        if prompt != self._invited:  # before most lines nothing has changed
            self._ahead, self._invited = None, prompt
            self._client.reveal()
            self._set_prompt(prompt)
        self.prompt(is_awaited=is_awaited)

    @property
    def knows_prompts(self) -> bool:
        """Whether the client's program is told what is asked for, and shows that its own way."""
        return self.terminal.wants(_PROMPT)

    def change(self, prompt: str) -> None:
        """Ask for commands by another prompt from now on, if commands are asked for."""
        if self._invited not in {None, prompt}:
            self._invited = prompt
            self._screen.prompt = prompt.encode()

    def prompt(self, *, is_awaited: bool = False) -> None:
        """Show the prompt again."""
        # Only if no line waits: pasted lines need no prompt between them.
        if not self._inbox.line_is_next:
            self._screen.ask(at_once=not is_awaited)

    def answered(self) -> None:
        """Note that a line has come: the cursor is on a fresh line."""
        if self._screen.at_prompt:
            self._screen.answered(echoed=not self._client.is_hidden)
        else:
            self._screen.answered()

    def answer(self, line: str) -> None:
        """Give the dialogue its line."""
        if self._answer is not None:
            self._answer.set_result(line)

    def answer_ahead(self, name: str, secret: str, otherwise: Callable[[], None]) -> None:
        """Answer two questions with what the client itself has sent.

        The name answers the current one. The secret is the answer if a password or a resume word is
        asked for next; if it is anything else, then or later, ``otherwise`` is called.
        """
        self._screen.answered(echoed=False)
        self._ahead = _Ahead(secret, otherwise)
        self.answer(name)

    # What the client's program is told.

    def fit(self, terminal: Terminal) -> None:
        """Take over the client's terminal; a program that registers late is told the prompt."""
        is_new = not self.terminal.wants(_PROMPT)
        self.terminal = terminal
        if is_new:
            self._tell_prompt()

    @property
    def keeps_words(self) -> bool:
        """Whether the client's program wants resume words."""
        return self.terminal.wants(_WORD)

    def keep(self, name: str, word: str) -> None:
        """Send the client's program a resume word, see `accounts.login.Prompter.keep`."""
        self._tell(_WORD, {"player": name, "word": word})

    def part(self, why: str) -> None:
        """Tell the client's program why the connection ends."""
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
    """The answer to the next question, and what to call if another one is asked."""

    SECRETS = frozenset({"answer"})

    answer: str | None
    otherwise: Callable[[], None]


_PROMPT, _WORD, _GOODBYE = "Thud.Prompt", "Thud.Word", "Thud.Goodbye"

_USUAL_GOODBYE = "Core.Goodbye"  # as other MUDs have it

_ASKED = {
    NAME_PROMPT: "name",
    WORD_PROMPT: "word",
    PASSWORD_PROMPT: "password",
    OLD_PROMPT: "old_password",
    NEW_PROMPT: "new_password",
    AGAIN_PROMPT: "again",
}
"""What a prompt asks for, as programs are told; any other asks for a command."""
