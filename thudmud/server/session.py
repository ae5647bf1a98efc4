"""Player sessions: the login dialogue, then commands until the player leaves.

Lines, terminal changes, timing marks and the end of input are handled strictly in order, each after
the response to the one before. Sessions depend neither on the wire format (telnet or WebSocket) nor
on the meaning of commands.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from functools import lru_cache
from time import thread_time

from thudmud.accounts.limiters import RateLimiter, network
from thudmud.accounts.login import (
    BACK_WORD,
    NAME_PROMPT,
    NEW_PASSWORD_PROMPTS,
    AccountDialogues,
    Epochs,
    Login,
)
from thudmud.english import rounded_duration
from thudmud.errors import RefusedError
from thudmud.game.events import Parting
from thudmud.game.more import LogoutEverywhere, Quit, Register
from thudmud.game.options import HEIGHTS
from thudmud.server.config import PlayerSettings, ServerSettings
from thudmud.server.inbox import FairScheduler, Inbox, LinePrompter
from thudmud.server.session_registry import Sessions
from thudmud.service import (
    Dismissal,
    Onlooker,
    OutcomeUnknownError,
    PlaysElsewhereError,
    Visit,
    await_in_steps,
    metered_step,
    run_eagerly,
)
from thudmud.store import StoreError, UncertainError
from thudmud.telnet import gmcp, mssp, tls
from thudmud.telnet.intake import ReadPauser
from thudmud.telnet.interface import (
    Ask,
    Client,
    Credentials,
    Item,
    Line,
    Mark,
    Overlong,
    Signal,
    TelnetPolicy,
    TerminalChanged,
    Watch,
)
from thudmud.telnet.pager import MORE_PROMPT, Pager
from thudmud.telnet.screen import BELL, CloseReason, Screen, encode
from thudmud.values import Value
from thudmud.views import Message
from thudmud.views.sentences import PROMPT, SEEKING_PROMPT
from thudmud.views.view import Terminal

ELSEWHERE = "You have connected from somewhere else, so this session is being closed."
CUT_OFF = (
    "The server has lost touch with its storage, so you're being disconnected. Please come back "
    "in: your seats are waiting."
)
KICKED = "You're being disconnected. Any seats you have are kept for you."
_DISMISSED = {
    Dismissal.TAKEN_OVER: (ELSEWHERE, CloseReason.ELSEWHERE),
    Dismissal.MOVED: (ELSEWHERE, CloseReason.ELSEWHERE),
    Dismissal.CUT_OFF: (CUT_OFF, CloseReason.STOPPED),
    Dismissal.KICKED: (KICKED, CloseReason.KICKED),
}
_CHANGE_INTERRUPTED = (
    "You hadn't finished changing your password, so it stays as it was. Everybody who was logged "
    "in under your name has been logged out. Please log in again with your password."
)
_PARTINGS = {CloseReason.QUIT: Parting.QUIT, CloseReason.IDLE: Parting.IDLE}
_HELD = (
    "You're playing on another server of this game, which doesn't answer. Please try again in a "
    "moment."
)
NOT_STORED = (
    "The server can't reach its storage just now, so nothing has changed. Please try again in a "
    "while."
)
NOT_SEEN = (
    "The server has to stop, and can't tell whether that worked. Look at the board before you go "
    "on."
)
_UNCERTAIN = (
    "The server has lost touch with its storage, and can't tell whether that worked. Look at the "
    "board before you go on."
)
_TOO_OFTEN = "Others have just heard a lot from you. You can go on in {}."
_OVERLONG = "That line is longer than {:,} characters, so it was ignored."
_TOO_MUCH = (
    "Your client has sent more telnet commands than this server accepts, so you're being "
    "disconnected."
)
_HERE = "Yes, thudmud is here."
_LOST = "lost"  # why a connection ended, in the log, if not for a `CloseReason`
_SORRY = "Sorry, something went wrong in the server with that line. Please try something else."

_log = logging.getLogger(__name__)
_of_strangers = logging.getLogger("thudmud.strangers")


class AcceptedConnection(Value):
    """An accepted connection.

    Attributes:
        address: the client's address, or its proxy's.
        port: the client's port.
        release: must be called once the connection is gone.
        assign: must be called with the player's address if a proxy has forwarded it; returns the
            reason for a rejection as a sentence, or an empty string.
    """

    address: str
    port: int
    release: Callable[[], None]
    assign: Callable[[str], str]


class SessionPolicy(Value):
    """Dependencies and limits that all player sessions share."""

    sessions: Sessions
    logins: AccountDialogues
    settings: ServerSettings
    players: PlayerSettings
    turns: FairScheduler
    package_time: RateLimiter


class PlayerSession:
    """The session of one connection, from the greeting to the farewell.

    Commands wait while the client doesn't read, so that only messages from others can fill its
    outbox.

    Attributes:
        address: the player's network address.
        screen: the output.
        name: the player's name after login; empty before, and after the session has lost its player
            to another one.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        reading: ReadPauser,
        screen: Screen,
        caller: AcceptedConnection,
        shared: SessionPolicy,
    ) -> None:
        # Long: one assignment for each attribute, without branches.
        self._loop = shared.turns.loop
        self._share = shared.settings.share
        transport.set_write_buffer_limits(high=self._share)
        self._transport = transport
        self.address, self._peer = caller.address, f"{caller.address} {caller.port}"
        self._sessions, self._logins = shared.sessions, shared.logins
        self._settings, self._players = shared.settings, shared.players
        self._release = caller.release
        self.screen = screen
        self.name = ""
        self._word = ""
        """A guest's resume word; empty for members."""
        self._visit: Visit | None = None
        where = network(self.address)
        self._inbox = Inbox(
            reading,
            shared.turns,
            shared.settings,
            shared.package_time.bucket_for(where),
            source=where,
            handle=self._handle_item,
            is_busy=lambda: self._is_asking or (self._is_busy and not self._prompter.is_waiting),
        )
        self._metered = metered_step(self._inbox.charge, thread_time)
        """Resumes the coroutine of a line or dialogue once it has waited."""
        self._is_busy = self._reminds = False
        """Whether a command or dialogue is under way; whether the prompt reminds of seeks."""
        self._is_asking = False
        """Whether a question from the client's program is being answered."""
        self._onlooker: Onlooker | None = None
        """The spectator without a name, before login; None if the client watches no room."""
        self._dialogue: asyncio.Task[None] | None = None
        """The current dialogue, cancelled with the connection."""
        self._has_ended = False
        """Whether the client has closed its side."""
        self._end_reason = self._last_name = ""
        """Why the connection ends, and the player who had it, for the log; empty before."""
        self._client_logs_in = False
        """Whether the client program has sent the player's credentials."""
        self._pager: Pager | None = None
        """The rest of an answer that is longer than the screen; only over telnet."""

    # Called by the connection.

    def connection_made(self, client: Client) -> None:
        """Show the greeting, and start the login; reject banned addresses."""
        _of_strangers.info("connected", extra={"peer": self._peer})
        self._client = client
        self._prompter = LinePrompter(self.screen, client, self._inbox, self._close_if_gone)
        self._timer = IdleTimer(
            self._players,
            is_excused=self._need_not_type,
            warn=self._prompter.say,
            end=lambda sentence: self.end(sentence, CloseReason.IDLE),
        )
        self._timer.start()
        if banned := self._sessions.ban_reason("", self.address):
            _of_strangers.info("turned away", extra={"peer": self._peer, "for": "a ban"})
            self._sessions.add(self)
            self.end(banned, CloseReason.BANNED)
            return
        self.screen.show(encode(self._sessions.greeting))
        self._prompter.prompt(NAME_PROMPT)  # now, so that both go out together,
        self.screen.flush()  # and without waiting for the client
        self._begin(self._log_in)
        self._sessions.add(self)

    def items_received(self, items: Iterable[Item]) -> None:
        """Queue incoming items."""
        if not self.screen.closed:
            self._inbox.put(items)
            if self._prompter.is_held:
                self._close_if_gone()

    def charge(self, seconds: float) -> None:
        """Charge the client for the CPU seconds of a package."""
        self._inbox.charge_package(seconds)

    def input_ended(self) -> None:
        """Handle the end of input: queued items are still handled and answered."""
        self._has_ended = True
        if self._prompter.is_held:
            self._close_if_gone()
        if not self.screen.closed:
            self.items_received([Signal.END_OF_INPUT])
        elif not self._transport.is_closing():  # closing TLS twice makes abort impossible
            self._transport.close()

    def _close_if_gone(self) -> None:
        """Close the connection if its client has gone while a login answer is delayed.

        A full inbox counts as gone, too: it means many guesses sent ahead. As such a connection is
        no longer read, its end would go unnoticed.
        """
        if not self.name and (self._has_ended or self._inbox.is_full):
            self._close(CloseReason.REJECTED)

    def pause(self) -> None:
        """Pause handling while the client doesn't read its output."""
        self._inbox.pause()

    def resume(self) -> None:
        """Resume handling once the client has caught up."""
        self._inbox.resume()

    def connection_lost(self) -> None:
        """Clean up after the loss of the connection."""
        extra = {"peer": self._peer, "why": self._end_reason or _LOST}
        if player := self.name or self._last_name:
            _log.info("gone", extra={**extra, "player": player})
        else:
            _of_strangers.info("gone", extra=extra)
        self._release()
        self.screen.connection_lost()
        self._stop(Parting.LOST)
        self._sessions.remove(self)

    # Called by the service and by other sessions.

    def put(self, message: Message) -> None:
        """Send a message as text, or as a package."""
        if message.package:
            self._client.data(message.package, message.text)
        else:
            text = message.text
            if message.is_answer and "\n" in text:
                text = self._first_page(text)
            self.screen.show((BELL if message.with_bell else b"") + _encoded(text))
            if self._visit and (self._reminds or self._sessions.service.hall.seeks):
                prompt = self._sessions.service.prompt(self.name)
                self._prompter.change_prompt(self._adapted_prompt(prompt))

    def _first_page(self, answer: str) -> str:
        """Return the part of an answer to show now."""
        return answer

    def _read_on(self, pager: Pager, line: Line) -> bool:  # noqa: ARG002  (telnet uses them)
        """Handle a line typed at the pager; return False for a command, which ends the pager."""
        return False

    def handle_dismissal(self, why: Dismissal) -> None:
        """End the connection after a dismissal by the service."""
        sentence, goodbye = _DISMISSED[why]
        self._prompter.say(sentence)
        is_member = not self._word
        is_choosing = any(map(self._prompter.is_asking, NEW_PASSWORD_PROMPTS))
        if goodbye is CloseReason.ELSEWHERE and is_member and is_choosing:
            self._prompter.say(_CHANGE_INTERRUPTED)
            self._logins.end_logins(self.name)
        if why is not Dismissal.TAKEN_OVER:  # after a takeover the player is still online
            self._logins.record_departure(self.name, gave_up=False)
        self._last_name = self.name
        self.name, self._visit = "", None
        self._close(goodbye)

    @property
    def unsent(self) -> int:
        """Bytes of output that the client hasn't read yet."""
        return self.screen.unsent + self._transport.get_write_buffer_size()

    @property
    def has_ended(self) -> bool:
        """Whether the session has ended, and shows nothing more."""
        return self.screen.closed

    def end(self, sentence: str, why: CloseReason = CloseReason.STOPPED) -> None:
        """Show a sentence, if any, remove the player, and end the connection."""
        if sentence:
            self._prompter.say(sentence)
        self._close(why)

    # Closing.

    def _close(self, why: CloseReason = CloseReason.STOPPED, *, linger: bool = True) -> None:
        """Flush the output and close the connection; abort it after a grace period."""
        self._end_reason = self._end_reason or why.value
        self._prompter.send_goodbye(why.value)
        self.screen.close(why, linger=linger, grace=self._settings.shutdown_grace)
        self._stop(_PARTINGS.get(why, Parting.LOST), at_once=True)

    async def _close_after_leaving(self) -> None:
        """Close the connection after the client's end of input, once the player has left."""
        self._end_reason = self._end_reason or _LOST
        leaving = self._stop(Parting.LOST)
        if leaving:
            await asyncio.wait([leaving])
        self._close(linger=False)

    def _stop(self, parting: Parting, *, at_once: bool = False) -> asyncio.Task[None] | None:
        """Stop handling, and remove the player; return the task unless that finishes at once.

        Args:
            parting: why the player leaves.
            at_once: whether a lost connection can't come back, since the server has ended it.
        """
        self._timer.stop()
        self._inbox.close()
        self._stop_watching()
        if self._dialogue:
            self._dialogue.cancel()
        # Cleared first, so that a second call finds no visit to leave.
        name, visit, self.name, self._visit = self.name, self._visit, "", None
        if visit is None:
            return None
        self._last_name = name
        self._logins.record_departure(name, gave_up=parting is Parting.QUIT)
        return run_eagerly(self._leave(visit, parting, at_once=at_once))

    async def _leave(self, visit: Visit, parting: Parting, *, at_once: bool = False) -> None:
        try:
            await self._sessions.service.leave(visit, parting, at_once=at_once)
        except Exception:  # noqa: BLE001  (a bug must not keep the connection open)
            _log.exception("could not remove a player who left", extra={"player": visit.name})

    # Dialogues.

    def _begin(self, dialogue: Callable[[], Coroutine[None, None, None]]) -> None:
        """Start a dialogue, which receives the next lines as answers."""
        self._is_busy = True
        self._dialogue = self._loop.create_task(self._run_dialogue(dialogue))

    async def _run_dialogue(self, dialogue: Callable[[], Coroutine[None, None, None]]) -> None:
        try:
            await await_in_steps(dialogue(), self._metered)
        except Exception as error:  # noqa: BLE001  (a bug must not end the connection)
            self._dialogue = None
            self._fail(error)
        else:
            self._dialogue = None
            self._prompt_or_close()

    async def _log_in(self) -> None:
        login = await self._logins.log_in(self._prompter, self.address)
        self._prompter.reveal()
        self._dialogue = None  # from here on, losing the connection must not cancel us
        if login is None:
            self._close(CloseReason.QUIT)
            return
        self.name, self._word = login.name, login.word
        self._stop_watching()
        self._timer.cancel_login_timeout()
        try:
            await self._join_after_login(login)
        finally:
            if self._visit is None:
                self.name = ""
                self._logins.record_departure(login.name, gave_up=False)

    async def _join_after_login(self, login: Login) -> None:
        """Join the service after login, unless the connection ends meanwhile."""
        terminal = self._prompter.terminal
        try:
            visit = await self._join_service(login, terminal)
        except (PlaysElsewhereError, StoreError) as error:
            _log.error("%s could not join: %s", login.name, error)
            self.end(_HELD if isinstance(error, PlaysElsewhereError) else NOT_STORED)
            return
        if visit is None:
            return
        if self.screen.closed:
            await self._leave(visit, Parting.LOST)
            return
        self._visit = visit
        _log.info("came in", extra={"peer": self._peer, "player": login.name})
        if self._client_logs_in:
            self._client.data(gmcp.LOGIN_RESULT, gmcp.SUCCESS)

    def _need_not_type(self) -> bool:
        """Return whether the server or an opponent, not the player, has to act next."""
        if self._onlooker or (self._dialogue and not self._prompter.is_waiting):
            return True
        return bool(self.name) and self._sessions.service.is_waiting(self.name)

    async def _join_service(self, login: Login, terminal: Terminal) -> Visit | None:
        """Join the service, and wait as long as the player comes and goes too often.

        Returns:
            The visit; None if the player may no longer join.

        Raises:
            PlaysElsewhereError: the player is on another node, which doesn't release them.
            StoreError: the player's data can't be read.
        """
        while True:
            try:
                return await self._sessions.admit(
                    self, login.name, terminal, login.member, login.choices
                )
            except RefusedError as refusal:
                seconds = refusal.details["seconds"]
                self._prompter.say(_TOO_OFTEN.format(rounded_duration(seconds)))
                await asyncio.sleep(seconds)

    def _client_login_failed(self) -> None:
        self._client_logs_in = False
        self._client.data(gmcp.LOGIN_RESULT, gmcp.FAILURE)

    async def _register(self) -> None:
        if await self._logins.register(self._prompter, self.name, self._epochs):
            self._word = ""
            await self._sessions.enrol(self.name)

    async def _change_password(self) -> None:
        await self._logins.change_password(self._prompter, self.name, self.address, self._epochs)

    async def _log_out_everywhere(self) -> None:
        await self._logins.log_out_everywhere(self._prompter, self.name, self._epochs)

    @property
    def _epochs(self) -> Epochs:
        return self._sessions.epochs(self)

    # Input items.

    def _handle_item(self, item: Item) -> bool:
        """Handle an item; return whether the outbox has room for another response."""
        try:
            match item:
                case str() | Overlong():
                    self._handle_line(item)
                case TerminalChanged(terminal):
                    self._prompter.adopt_terminal(terminal)
                    if self._visit:
                        self._sessions.service.set_terminal(self.name, terminal, sends_facts=True)
                case Credentials(name, password):
                    self._timer.restart()
                    if self._prompter.is_asking(NAME_PROMPT):
                        self._client_logs_in = True
                        self._prompter.answer_ahead(name, password, self._client_login_failed)
                case Ask(line, number, in_words):
                    if self._visit:
                        ask = self._sessions.service.ask
                        self._inform(ask(self._visit, line, number, in_words=in_words))
                case Watch():
                    if not self.name:
                        self._watch(item)
                case Mark(answer):
                    self.screen.mark(answer)
                case Signal.ARE_YOU_THERE:
                    self._prompter.say(_HERE)
                case Signal.END_OF_INPUT:
                    run_eagerly(self._close_after_leaving())
        except Exception as error:  # noqa: BLE001  (a bug must not end the connection)
            self._fail(error)
        return self.screen.unsent <= self._share

    def _handle_line(self, line: Line) -> None:
        if self._pager and self._read_on(self._pager, line):
            return
        self._timer.restart()
        self.screen.note_input(echoed=not self._client.is_hidden)
        if isinstance(line, Overlong):
            self._prompter.say(_OVERLONG.format(self._settings.max_line))
            self._prompter.prompt()
        elif self._dialogue and self._prompter.is_waiting:
            self._answer(line)
        elif self._visit:
            self._is_busy = True
            run_eagerly(self._obey(self._visit, line), self._metered)

    def _answer(self, line: str) -> None:
        """Pass a line to the dialogue that waits for it."""
        self._prompter.answer(line)

    def _watch(self, watch: Watch) -> None:
        """Show public boards or battles to a client before login."""
        service = self._sessions.service
        if watch.question is not None:
            self._inform(service.answer_stranger(self, self._prompter.terminal, watch.question))
        elif watch.battle is None:
            self._stop_watching()
            self._onlooker = service.watch(self, self._prompter.terminal, watch.board)
        elif watch.explored is None:
            self._inform(service.show_battle(self, self._prompter.terminal, watch.battle))
        else:
            place = "explore", watch.battle, watch.explored
            self._inform(service.show_position(self, self._prompter.terminal, *place))

    def _stop_watching(self) -> None:
        if self._onlooker:
            self._sessions.service.unwatch(self._onlooker)
            self._onlooker = None

    def _inform(self, answer: Coroutine[None, None, None]) -> None:
        """Answer a question from the client's program, before any later item.

        Otherwise each connection could queue dozens of questions at the store, and delay plies.
        """
        metered = metered_step(self._inbox.charge_question, thread_time)
        run_eagerly(self._answer_program(answer), metered)

    async def _answer_program(self, answer: Coroutine[None, None, None]) -> None:
        self._is_asking = True
        try:
            await answer
            self._inbox.charge_answer(self.screen.unsent)
        except StoreError as error:
            _log.error("could not answer a client: %s", error, extra={"player": self.name})
        except Exception:  # noqa: BLE001  (a bug must not end the connection)
            _log.exception("failed to answer a client", extra={"player": self.name})
        self._is_asking = False
        self._inbox.wake()

    async def _obey(self, visit: Visit, line: str) -> None:
        """Execute a player's line, and prompt for the next."""
        # Never cancelled: a player who disconnects leaves once the command is complete.
        try:
            result = await self._sessions.submit(visit, line)
            if isinstance(result.command, Quit) and self._word:
                await self._repeat_resume_word(visit.name)
        except StoreError as error:
            why = {OutcomeUnknownError: NOT_SEEN, UncertainError: _UNCERTAIN}.get(
                type(error), NOT_STORED
            )
            _log.error("could not carry out a line: %s", error, extra={"player": visit.name})
            self._prompter.say(why)
            self._prompt_or_close()
        except Exception as error:  # noqa: BLE001  (a bug must not end the connection)
            self._fail(error)
        else:
            if result.seconds:
                self._inbox.charge(result.seconds)
            if not result.is_left or self.screen.closed:
                self._prompt_or_close(is_awaited=result.is_awaited)
            else:
                match result.command:
                    case Register():
                        self._begin(self._register)
                    case LogoutEverywhere():
                        self._begin(self._log_out_everywhere)
                    case _:
                        self._begin(self._change_password)

    async def _repeat_resume_word(self, name: str) -> None:
        """Repeat the resume word to a guest who quits while a match or tournament waits."""
        with suppress(StoreError):
            if await self._sessions.is_needed(name):
                self._prompter.say(BACK_WORD)
                self._prompter.say(self._word)

    def _prompt_or_close(self, *, is_awaited: bool = False) -> None:
        """Prompt for the next line, or close the connection if the player has left.

        Args:
            is_awaited: whether a response is still due. The prompt then follows it, but the player
                can already send the next line.
        """
        self._is_busy = False
        if self.screen.closed:
            return
        if self._visit is None or self._visit.is_over:
            self._close(CloseReason.QUIT)
        else:
            prompt = self._sessions.service.prompt(self.name)
            if prompt is SEEKING_PROMPT or self._reminds or self._pager:
                prompt = self._adapted_prompt(prompt)
            self._prompter.prompt(prompt, is_awaited=is_awaited)
        self._inbox.wake()

    def _adapted_prompt(self, prompt: str) -> str:
        """Return the prompt to use, and record whether it reminds of the player's seeks.

        Programs that display prompts themselves get the plain one: they know of the seeks.
        """
        if self._pager:
            return MORE_PROMPT
        if prompt is SEEKING_PROMPT and self._prompter.knows_prompts:
            prompt = PROMPT
        self._reminds = prompt is SEEKING_PROMPT
        return prompt

    def _fail(self, error: Exception) -> None:
        """Log an unexpected exception, apologise, and carry on."""
        # The line itself is private, so it is not logged.
        extra = {"peer": self._peer, "player": self.name}
        _log.error("failed to handle input", exc_info=error, extra=extra)
        if self.screen.closed:
            return
        self._prompter.say(_SORRY)
        if self._visit:
            self._prompt_or_close()
        elif not self._dialogue:
            self._begin(self._log_in)
        self._inbox.wake()


class TelnetSession(PlayerSession):
    """A session over telnet, which also detects TLS, HTTP and MSSP requests.

    An answer longer than the screen stops with a prompt of its own. Enter shows the next page, "q"
    drops the rest, and so does any command, which is carried out; but a rest of up to half a screen
    is shown first. Everything else goes on as usual: what happens meanwhile is shown.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        reading: ReadPauser,
        *,
        caller: AcceptedConnection,
        shared: SessionPolicy,
        policy: TelnetPolicy,
    ) -> None:
        screen = Screen(transport, shared.settings.outbox_bytes, policy.flusher)
        super().__init__(transport, reading, screen, caller, shared)
        self._policy = policy

    def _first_page(self, answer: str) -> str:
        """Return an answer, or the first page of a long one, which opens the pager.

        An answer doesn't stop while another one does, nor if the next line has come already: it was
        pasted, or a script sends it.
        """
        service = self._sessions.service
        if self._pager or self._dialogue or answer.count("\n") < HEIGHTS[0] - 1:
            return answer
        rows, width = service.page_size(self.name)
        if not rows or self._inbox.has_line_next:
            return answer
        pager = Pager(answer)
        page = pager.next_page(rows, width)
        if not pager.is_done:
            self._pager = pager
            if not self._is_busy:  # a late answer; otherwise the end of the line prompts
                self._prompter.prompt(MORE_PROMPT)
        return page

    def _read_on(self, pager: Pager, line: Line) -> bool:
        if isinstance(line, Overlong):
            return False
        self._pager = None
        typed = line.strip().lower()
        if typed not in {"", "q"}:
            rows, width = self._sessions.service.page_size(self.name)
            rest = pager.next_page(rows // 2, width)
            if pager.is_done:  # a few lines, which may be what the command answers
                self.screen.show(encode(rest))
            return False
        self._timer.restart()
        self.screen.note_input(echoed=not self._client.is_hidden)
        if not typed:
            page = pager.next_page(*self._sessions.service.page_size(self.name))
            self.screen.show(encode(page))
            self._pager = None if pager.is_done else pager
        self._prompt_or_close()
        return True

    def budget_exceeded(self) -> None:
        """Abort the connection of a client that sends too many telnet commands."""
        _of_strangers.info("too many telnet commands", extra={"peer": self._peer})
        self._prompter.say(_TOO_MUCH)
        self._close(CloseReason.REJECTED, linger=False)
        self._loop.call_soon(self._transport.abort)

    def tls_received(self) -> None:
        """Turn away a client that begins with TLS, which this port doesn't support."""
        self.end(tls.tls_answer(self._settings.tls_port), CloseReason.REJECTED)

    def _answer(self, line: str) -> None:
        if not self._prompter.is_asking(NAME_PROMPT):
            super()._answer(line)
        elif tls.is_http(line):
            self.end(tls.HTTP, CloseReason.REJECTED)
        elif line == mssp.REQUEST:
            self.screen.show(encode(mssp.in_text(self._policy.status())))
            self._prompter.prompt()
        else:
            super()._answer(line)


_encoded = lru_cache(maxsize=1)(encode)
"""Cached because the same text goes to many players in a row."""


# The idle timer.

_MAX_WAIT = 30.0  # the longest time between two checks, in seconds
_EARLY = 0.001  # seconds, more than a timer of the event loop may be early


class IdleTimer:
    """Idle timeout with a warning, and login timeout.

    Args:
        players: the settings with the limits.
        is_excused: whether the player needn't type now, because the opponent is thinking or an
            answer is being checked.
        warn: shows the warning.
        end: ends the connection with a sentence.
    """

    def __init__(
        self,
        players: PlayerSettings,
        *,
        is_excused: Callable[[], bool],
        warn: Callable[[str], None],
        end: Callable[[str], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._players = players
        self._is_excused, self._warn, self._end = is_excused, warn, end
        self._is_warned = False
        self._last_input = 0.0
        self._idle: asyncio.TimerHandle | None = None
        self._login: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Start the timers."""
        self.restart()
        if self._players.idle_limit:
            self._schedule_check(0.0)
        if limit := self._players.login_limit:
            self._login = self._loop.call_later(limit, self._end_unnamed, limit)

    def restart(self) -> None:
        """Restart the idle timeout after input."""
        self._last_input = self._loop.time()
        self._is_warned = False

    def cancel_login_timeout(self) -> None:
        """Cancel the login timeout."""
        if self._login is not None:
            self._login.cancel()

    def stop(self) -> None:
        """Stop the timers."""
        self.cancel_login_timeout()
        if self._idle is not None:
            self._idle.cancel()

    def _end_unnamed(self, limit: float) -> None:
        if self._is_excused():
            self._login = self._loop.call_later(_MAX_WAIT, self._end_unnamed, limit)
        else:
            self._end(f"You haven't given a name for {rounded_duration(limit)}. Goodbye!")

    def _schedule_check(self, idle: float) -> None:
        warning, limit = self._players.idle_warning, self._players.idle_limit
        due = warning if warning and not self._is_warned else limit
        wait = min(_MAX_WAIT, max(0.0, due - idle))
        self._idle = self._loop.call_later(wait, self._check_idle)

    def _check_idle(self) -> None:
        # A single timer checks the time of the last line, so that lines need not reschedule it.
        warning, limit = self._players.idle_warning, self._players.idle_limit
        if self._is_excused():
            self.restart()
        idle = self._loop.time() - self._last_input
        if idle + _EARLY >= limit:
            self._end(f"You haven't typed anything for {rounded_duration(limit)}. Goodbye!")
            return
        if warning and idle + _EARLY >= warning and not self._is_warned:
            self._is_warned = True
            self._warn(
                f"You haven't typed anything for {rounded_duration(warning)}. In another "
                f"{rounded_duration(limit - warning)} you'll be disconnected."
            )
        self._schedule_check(idle)
