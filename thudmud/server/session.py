"""One connection's conversation: a name first, then commands until the player leaves.

Lines, changes of width, timing marks and the end of input are handled one after the other, none
while the answer to an earlier one is still being found. How telnet spells them is not known here,
nor what a command means. Whoever types nothing for long is warned, and then the connection ends.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from functools import lru_cache

from thudmud.accounts.login import NAME_PROMPT, Desk, Entrance
from thudmud.accounts.members import PASSWORD_PROMPT
from thudmud.accounts.throttles import Bucket
from thudmud.english import counted
from thudmud.play.commands import Register
from thudmud.play.events import Parting
from thudmud.server.config import PlayerSettings, ServerSettings
from thudmud.server.inbox import Inbox, Prompter
from thudmud.server.lobby import Lobby
from thudmud.service import Dismissal, Elsewhere, Unfollowed, Visit, now
from thudmud.store import StoreError
from thudmud.telnet import gmcp, mssp, tls
from thudmud.telnet.interface import (
    Client,
    Credentials,
    Fitted,
    Item,
    Line,
    Mark,
    Overlong,
    Signal,
    TelnetPolicy,
)
from thudmud.telnet.screen import Screen, encode
from thudmud.views import Message

_GLANCE = 30.0  # seconds; the longest between two looks at whether the opponent thinks
_MINUTE = 60.0
_EARLY = 0.001  # seconds; an event loop's timer may be early by less than that


class Idleness:
    """One timer, however much is typed, and one until somebody has a name.

    Args:
        warning: seconds after which there is a warning, fewer than ``limit``; 0 for never.
        limit: seconds after which it is over; 0 for never.
        login: seconds after which it is over for who has no name yet; 0 for never.
        is_excused: whether the player need not type now, since it is the opponent who thinks.
        warn: takes the warning.
        end: called when it is over, with the reason.
    """

    def __init__(
        self,
        warning: float,
        limit: float,
        login: float,
        *,
        is_excused: Callable[[], bool],
        warn: Callable[[str], None],
        end: Callable[[str], None],
    ) -> None:
        self._warning, self._limit, self._login = warning, limit, login
        self._is_excused, self._warn, self._end = is_excused, warn, end
        self._warned = False
        self._heard = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._naming: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to count."""
        self.heard()
        if self._limit:
            self._look_later(0.0)
        if self._login:
            loop = asyncio.get_running_loop()
            self._naming = loop.call_later(self._login, self._end_nameless)

    def heard(self) -> None:
        """Note that something has been typed."""
        self._heard = asyncio.get_running_loop().time()
        self._warned = False

    def named(self) -> None:
        """Note that it is known who it is."""
        if self._naming is not None:
            self._naming.cancel()

    def stop(self) -> None:
        """Count no longer."""
        self.named()
        if self._timer is not None:
            self._timer.cancel()

    def _end_nameless(self) -> None:
        self._end(f"This connection ends: it has had no name for {_told(self._login)}. Goodbye!")

    def _look_later(self, idle: float) -> None:
        due = self._warning if self._warning and not self._warned else self._limit
        wait = min(_GLANCE, max(0.0, due - idle))
        self._timer = asyncio.get_running_loop().call_later(wait, self._look)

    def _look(self) -> None:
        if self._is_excused():
            self.heard()
        idle = asyncio.get_running_loop().time() - self._heard
        if idle + _EARLY >= self._limit:
            self._end(f"You have typed nothing for {_told(self._limit)}. Goodbye!")
            return
        if self._warning and idle + _EARLY >= self._warning and not self._warned:
            self._warned = True
            self._warn(
                f"You have typed nothing for {_told(self._warning)}. After "
                f"{_told(self._limit - self._warning)} more the connection ends."
            )
        self._look_later(idle)


def _told(seconds: float) -> str:
    if seconds < 2 * _MINUTE:
        return counted(round(seconds), "second")
    return counted(round(seconds / _MINUTE), "minute")


class Doorstep:
    """What happens on one connection while it is asked for a name.

    Args:
        screen: where crawlers are answered.
        prompter: asks for the name.
        client: is told whether its login has gone well.
        policy: what holds for all connections.
    """

    def __init__(
        self, screen: Screen, prompter: Prompter, client: Client, policy: TelnetPolicy
    ) -> None:
        self._screen, self._prompter, self._client = screen, prompter, client
        self._policy = policy
        self._logging_in = False

    def answers(self, line: str) -> bool:
        """Answer a crawler, which asks for no name; return whether it was one."""
        if line != mssp.REQUEST or not self._prompter.asks(NAME_PROMPT):
            return False
        self._screen.show(encode(mssp.in_text(self._policy.status())))
        self._prompter.prompt()
        return True

    def is_lost(self, line: str) -> bool:
        """Whether somebody has come here by a mistake, whom no answer can help in."""
        return self._prompter.asks(NAME_PROMPT) and tls.is_http(line)

    def log_in(self, credentials: Credentials) -> None:
        """Let the client answer the two questions, if the first of them is being asked."""
        if self._prompter.asks(NAME_PROMPT):
            self._logging_in = True
            self._prompter.answer_ahead(
                credentials.name, PASSWORD_PROMPT, credentials.password, self._fail
            )

    def entered(self) -> None:
        """Note that there is a name now."""
        if self._logging_in:
            self._client.data(gmcp.LOGIN_RESULT, gmcp.SUCCESS)

    def _fail(self) -> None:
        self._logging_in = False
        self._client.data(gmcp.LOGIN_RESULT, gmcp.FAILURE)


PROMPT = "> "

ELSEWHERE = "You have come in from elsewhere. This connection ends."
CUT_OFF = (
    "The server has lost touch with the others that you may be playing with, and ends this"
    " connection. Please come in again: your seats are kept."
)
_DISMISSED = {
    Dismissal.TAKEN_OVER: ELSEWHERE,
    Dismissal.MOVED: ELSEWHERE,
    Dismissal.CUT_OFF: CUT_OFF,
}
_HELD = (
    "You are playing on another server of this game, which does not answer. Please try again in a"
    " moment."
)
NOT_STORED = (
    "The server cannot reach its storage just now, so that has not happened. Please try again in a"
    " while."
)
NOT_SEEN = (
    "The server has to stop. Whether that has happened you will see when it is there again: look at"
    " the board before you go on."
)

_OVERLONG = "That line is longer than {:,} characters; it was not read."
_HERE = "Yes, thudmud is here."
_SORRY = "Sorry, something went wrong in the server with that line. Please try something else."
_log = logging.getLogger(__name__)


class Session:
    """What happens on one connection, from the greeting to the farewell.

    While the client does not read, its own commands wait, so that only what others say can fill its
    outbox.

    Args:
        transport: The connection.
        lobby: Where commands go.
        desk: Finds out who somebody is.
        settings: The caps.
        players: How long nothing may be typed.
        policy: What holds for all connections.

    Attributes:
        screen: Where everything goes that is sent.
        name: The player's, once they have one; empty again when they have gone on elsewhere.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        *,
        lobby: Lobby,
        desk: Desk,
        settings: ServerSettings,
        players: PlayerSettings,
        policy: TelnetPolicy,
    ) -> None:
        transport.set_write_buffer_limits(high=settings.share)
        self._transport = transport
        peer = transport.get_extra_info("peername") or ("somebody", "")
        self._address, self._peer = str(peer[0]), f"{peer[0]} {peer[1]}"
        self._lobby, self._desk = lobby, desk
        self._settings, self._players, self._policy = settings, players, policy
        self.screen = Screen(transport, settings.outbox_bytes, policy.flusher)
        self.name = ""
        self._visit: Visit | None = None
        self._inbox = Inbox(
            transport,
            settings.queue_length,
            settings.commands_per_turn,
            Bucket(settings.commands_per_second, settings.commands_at_once),
            handle=self._handle,
            is_busy=lambda: self._is_busy and not self._prompter.is_waiting,
        )
        self._is_busy = False
        """Whether something is under way that what comes next has to wait for."""
        self._dialogue: asyncio.Task[None] | None = None
        """A dialogue, which ends with the connection."""

    # What the connection reports.

    def opened(self, client: Client) -> None:
        """Greet, and ask for a name."""
        _log.info("connected", extra={"peer": self._peer})
        self._client = client
        self._prompter = Prompter(self.screen, client, self._inbox)
        self._doorstep = Doorstep(self.screen, self._prompter, client, self._policy)
        self._idleness = Idleness(
            self._players.idle_warning,
            self._players.idle_limit,
            self._players.login_limit,
            is_excused=lambda: bool(self.name) and self._lobby.service.is_waiting(self.name),
            warn=self._prompter.say,
            end=lambda reason: self.turn_away(reason, Parting.IDLE),
        )
        self._idleness.start()
        self.screen.show(encode(self._lobby.greeting))
        self._prompter.invite(NAME_PROMPT)  # now, so that both go out together,
        self.screen.flush()  # and before anything that the client may send
        self._begin(self._come_in)
        self._lobby.welcome(self)

    def received(self, items: Iterable[Item]) -> None:
        """Queue what has come in."""
        if not self.screen.closed:
            self._inbox.put(items)

    def input_ended(self) -> None:
        """Note that nothing more will come; what has come is still handled and answered."""
        self._inbox.end()
        if not self.screen.closed:
            self.received([Signal.END_OF_INPUT])
        elif not self._transport.is_closing():  # one of TLS that is closed twice hears no abort
            self._transport.close()

    def choke(self) -> None:
        """Stop handling: the client is not reading what it has been sent."""
        self._inbox.choke()

    def resume(self) -> None:
        """Go on handling: the client has caught up."""
        self._inbox.resume()

    def lost(self) -> None:
        """Note that the connection is gone."""
        _log.info("gone", extra={"peer": self._peer})
        self.screen.lost()
        self._stop(Parting.LOST)
        self._lobby.farewell(self)

    # What the service and the lobby ask.

    def put(self, message: Message) -> None:
        """Show what the player is told."""
        if message.package:
            self._client.data(message.package, message.text)
        else:
            self.screen.show(_encoded(message.text))

    def dismissed(self, why: Dismissal) -> None:
        """End the connection of a player who goes on by another one, or cannot go on."""
        self._prompter.say(_DISMISSED[why])
        if why is not Dismissal.TAKEN_OVER:  # else they are here still
            self._desk.left(self.name, gave_up=False)
        self.name, self._visit = "", None
        self._end(linger=True)

    @property
    def ended(self) -> bool:
        """Whether nothing can be shown any more."""
        return self.screen.closed

    def turn_away(self, sentence: str, parting: Parting = Parting.LOST) -> None:
        """Tell them why, see the player out, and leave it to the client to end the connection."""
        self._prompter.say(sentence)
        self._end(linger=True, parting=parting)

    def show_out(self, sentence: str) -> None:
        """Tell them a sentence, if there is one, and end the connection."""
        if sentence:
            self.screen.show(encode(sentence))
        self._end(linger=False)

    # The end.

    def _end(self, *, linger: bool, parting: Parting = Parting.LOST) -> None:
        """Send what is waiting and end the connection, after a grace period by force."""
        self.screen.close(linger=linger, grace=self._settings.shutdown_grace)
        self._stop(parting)

    async def _end_after_leaving(self) -> None:
        """End the connection of a client that has nothing more to say, once the others know."""
        leaving = self._stop(Parting.LOST)
        if leaving:
            await asyncio.wait([leaving])
        self._end(linger=False)

    def _stop(self, parting: Parting) -> asyncio.Task[None] | None:
        """Handle nothing more, and see the player out; return what does that, if it takes time."""
        self._idleness.stop()
        self._inbox.close()
        if self._dialogue:
            self._dialogue.cancel()
        name, visit, self.name, self._visit = self.name, self._visit, "", None
        if visit is None:
            return None
        self._desk.left(name, gave_up=parting is Parting.QUIT)
        return now(self._leave(visit, parting))

    async def _leave(self, visit: Visit, parting: Parting) -> None:
        try:
            await self._lobby.service.leave(visit, parting)
        except Exception:  # noqa: BLE001  (the connection must end, whatever we get wrong)
            _log.exception("failed to see somebody out", extra={"player": visit.name})

    # Dialogues.

    def _begin(self, dialogue: Callable[[], Awaitable[None]]) -> None:
        """Begin a dialogue: its questions are answered by what comes next."""
        self._is_busy = True
        self._dialogue = asyncio.get_running_loop().create_task(self._lead(dialogue))

    async def _lead(self, dialogue: Callable[[], Awaitable[None]]) -> None:
        try:
            await dialogue()
        except Exception as error:  # noqa: BLE001  (whatever we get wrong, the connection goes on)
            self._dialogue = None
            self._fail(error)
        else:
            self._dialogue = None
            self._go_on()

    async def _come_in(self) -> None:
        found = await self._desk.introduce(self._prompter, self._address)
        self._prompter.reveal()
        self._dialogue = None  # what comes now goes to its end, whatever becomes of the connection
        if found is None:
            self._end(linger=True, parting=Parting.QUIT)
            return
        self.name = found.name
        self._idleness.named()
        try:
            await self._enter(found)
        finally:
            if self._visit is None:
                self.name = ""
                self._desk.left(found.name, gave_up=False)

    async def _enter(self, found: Entrance) -> None:
        """Let somebody in who may have their name, unless the connection ends meanwhile."""
        terminal = self._prompter.terminal
        try:
            visit = await self._lobby.admit(self, found.name, terminal, found.member, found.choices)
        except (Elsewhere, StoreError) as error:
            _log.error("%s cannot come in: %s", found.name, error)
            self.turn_away(_HELD if isinstance(error, Elsewhere) else NOT_STORED)
            return
        if visit is None:
            return
        if self.screen.closed:
            await self._leave(visit, Parting.LOST)
            return
        self._visit = visit
        _log.info("came in", extra={"peer": self._peer, "player": found.name})
        self._doorstep.entered()

    async def _register(self) -> None:
        if await self._desk.register(self._prompter, self.name):
            await self._lobby.enrol(self.name)

    async def _change_password(self) -> None:
        await self._desk.change_password(self._prompter, self.name, self._address)

    # Item by item.

    def _handle(self, item: Item) -> bool:
        """Handle an item; return whether there is room on the screen for the answer to another."""
        try:
            match item:
                case str() | Overlong():
                    self._handle_line(item)
                case Fitted(terminal):
                    self._prompter.terminal = terminal
                    if self._visit:
                        self._lobby.service.fit(self.name, terminal, is_playing=True)
                case Credentials():
                    self._idleness.heard()
                    self._doorstep.log_in(item)
                case Mark(answer):
                    self.screen.mark(answer)
                case Signal.ARE_YOU_THERE:
                    self._prompter.say(_HERE)
                case Signal.END_OF_INPUT:
                    now(self._end_after_leaving())
                case Signal.SPEAKS_TLS:
                    self.turn_away(tls.tls_answer(self._settings.tls_port))
        except Exception as error:  # noqa: BLE001  (whatever we get wrong, the connection goes on)
            self._fail(error)
        return self.screen.unsent <= self._settings.share

    def _handle_line(self, line: Line) -> None:
        self._idleness.heard()
        self._prompter.answered()
        if isinstance(line, Overlong):
            self._prompter.say(_OVERLONG.format(self._settings.max_line))
            self._prompter.prompt()
        elif self._doorstep.is_lost(line):
            self.turn_away(tls.HTTP)
        elif self._prompter.is_waiting:
            if not self._doorstep.answers(line):
                self._prompter.answer(line)
        elif self._visit:
            self._is_busy = True
            now(self._obey(self._visit, line))

    async def _obey(self, visit: Visit, line: str) -> None:
        """Do what a player's line asks for, and ask for the next."""
        # It is never cancelled: whoever goes leaves after it.
        try:
            result = await self._lobby.submit(visit, line)
        except StoreError as error:
            why = NOT_SEEN if isinstance(error, Unfollowed) else NOT_STORED
            _log.error("a line cannot be obeyed: %s", error, extra={"player": visit.name})
            self._prompter.say(why)
            self._go_on()
        except Exception as error:  # noqa: BLE001  (whatever we get wrong, the connection goes on)
            self._fail(error)
        else:
            if not result.is_left or self.screen.closed:
                self._go_on()
            elif isinstance(result.command, Register):
                self._begin(self._register)
            else:
                self._begin(self._change_password)

    def _go_on(self) -> None:
        """Ask for the next line, or end the connection of who has left."""
        self._is_busy = False
        if self.screen.closed:
            return
        if self._visit is None or self._visit.is_over:
            self._end(linger=True, parting=Parting.QUIT)
        else:
            self._prompter.invite(PROMPT)
        self._inbox.wake()

    def _fail(self, error: Exception) -> None:
        """Go on after a mistake of ours."""
        # The line itself is not logged: it is the player's own.
        extra = {"peer": self._peer, "player": self.name}
        _log.error("failed to handle what somebody sent", exc_info=error, extra=extra)
        if self.screen.closed:
            return
        self._prompter.say(_SORRY)
        if self._visit:
            self._go_on()
        elif not self._dialogue:
            self._begin(self._come_in)
        self._inbox.wake()


_encoded = lru_cache(maxsize=1)(encode)
"""One text goes to many, one after the other."""
