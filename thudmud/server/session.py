"""One connection's conversation: a name first, then commands until the player leaves.

Owns the order of everything: lines, changes of width, timing marks and the end of input are handled
one after the other, none while the answer to an earlier one is still being found. Must never know
how telnet spells them, nor what a command means.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from thudmud.play.events import Parting
from thudmud.server.doorstep import Doorstep
from thudmud.server.guests import Done
from thudmud.server.inbox import Inbox
from thudmud.server.limits.buckets import Bucket
from thudmud.server.limits.idleness import Idleness
from thudmud.server.lobby import Lobby
from thudmud.server.login import NAME_PROMPT, Desk
from thudmud.server.prompter import Prompter
from thudmud.server.settings import PlayerSettings, ServerSettings
from thudmud.server.telnet import strangers
from thudmud.server.telnet.items import Client, Credentials, Fitted, Item, Mark, Signal
from thudmud.server.telnet.lines import Line, Overlong
from thudmud.server.telnet.policy import TelnetPolicy
from thudmud.server.telnet.screen import Screen, encode
from thudmud.server.work import Work
from thudmud.text.display import Terminal

PROMPT = "> "

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
        show: Shows whole encoded lines there.
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
        self.screen = Screen(transport, settings.outbox_bytes, policy.turn)
        self.show = self.screen.show
        self._name = ""
        self._inbox = Inbox(
            transport,
            settings.queue_length,
            settings.commands_per_turn,
            Bucket(settings.commands_per_second, settings.commands_at_once),
            handle=self._handle,
            is_busy=lambda: self._work.is_going and not self._prompter.is_waiting,
        )
        self._work = Work(self._go_on, self._fail, self._inbox.wake)
        self._entering = False
        self._parting = Parting.LOST

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
            is_excused=lambda: bool(self._name) and self._lobby.is_waiting(self._name),
            warn=self._prompter.say,
            end=lambda reason: self._turn_away(reason, Parting.IDLE),
        )
        self._idleness.start()
        self.screen.show(encode(self._lobby.greeting))
        self._prompter.invite(NAME_PROMPT)  # now, so that both go out together,
        self.screen.end_turn()  # and before anything that the client may send
        self._work.begin(self._come_in())
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

    # What the lobby asks.

    def data(self, package: str, text: str) -> None:
        """Send a GMCP package."""
        self._client.data(package, text)

    def end(self, *, linger: bool, parting: Parting = Parting.LOST) -> None:
        """Send what is waiting and end the connection, after a grace period by force.

        Args:
            linger: Whether to leave it to the client to close the connection.
            parting: How the player came to leave.
        """
        self.screen.close(linger=linger, grace=self._settings.shutdown_grace)
        self._stop(parting)

    def dismiss(self) -> None:
        """End the connection of a player who is not to be seen out with it."""
        self._name = ""
        self.end(linger=True)

    @property
    def ended(self) -> bool:
        """Whether nothing can be shown any more."""
        return self.screen.closed

    def _turn_away(self, reason: str, parting: Parting = Parting.LOST) -> None:
        self._prompter.say(reason)
        self.end(linger=True, parting=parting)

    def _end_after(self, leaving: asyncio.Future[None] | None) -> None:
        """End the connection of a client that has nothing more to say, once the others know."""
        if leaving is None:
            self.end(linger=False)
        else:
            leaving.add_done_callback(lambda _: self.end(linger=False))

    def _stop(self, parting: Parting) -> asyncio.Future[None] | None:
        """Handle nothing more, and see the player out; return what is done when they are out."""
        self._idleness.stop()
        self._inbox.close()
        self._work.stop(to_its_end=self._entering)
        if self._entering:
            self._parting = parting
            return None
        return self._part(parting)

    def _part(self, parting: Parting) -> asyncio.Future[None] | None:
        name, self._name = self._name, ""
        if not name:
            return None
        try:
            leaving = self._lobby.part(self, name, parting)
            self._desk.left(name, gave_up=parting is Parting.QUIT)
        except Exception:  # noqa: BLE001  (the connection must end, whatever the house gets wrong)
            _log.exception("failed to see somebody out", extra={"player": name})
            return None
        return leaving

    # Dialogues.

    async def _come_in(self) -> Done:
        found = await self._desk.introduce(self._prompter, self._address)
        self._prompter.reveal()
        if found is None:
            return Done.LEAVES
        self._name = found.name
        self._idleness.named()
        self._entering = True
        try:
            terminal = self._prompter.terminal
            await self._lobby.admit(self, found.name, terminal, found.member, found.choices)
        except Exception:
            self._part(Parting.LOST)
            raise
        finally:
            self._entering = False
        _log.info("came in", extra={"peer": self._peer, "player": found.name})
        self._doorstep.entered()
        if self.screen.closed:
            self._part(self._parting)
        return Done.STAYS

    async def _talk(self, done: Done) -> Done:
        if done is Done.CHANGES_PASSWORD:
            await self._desk.change_password(self._prompter, self._name, self._address)
        elif await self._desk.register(self._prompter, self._name):
            await self._lobby.enrol(self._name)
        return Done.STAYS

    # Item by item.

    def _handle(self, item: Item) -> bool:
        """Handle an item; return whether there is room on the screen for the answer to another."""
        try:
            match item:
                case str() | Overlong():
                    self._handle_line(item)
                case Fitted(terminal):
                    self._fit(terminal)
                case Credentials():
                    self._idleness.heard()
                    self._doorstep.log_in(item)
                case Mark(answer):
                    self.screen.mark(answer)
                case Signal.ARE_YOU_THERE:
                    self._prompter.say(_HERE)
                case Signal.END_OF_INPUT:
                    self._end_after(self._stop(Parting.LOST))
                case Signal.SPEAKS_TLS:
                    self._turn_away(strangers.tls_answer(self._settings.tls_port))
        except Exception as error:  # noqa: BLE001  (whatever we get wrong, the connection goes on)
            self._fail(error)
        return self.screen.unsent <= self._settings.share

    def _fit(self, terminal: Terminal) -> None:
        before, self._prompter.terminal = self._prompter.terminal, terminal
        if self._name:
            self._lobby.fit(self._name, terminal, before)

    def _handle_line(self, line: Line) -> None:
        self._idleness.heard()
        self._prompter.answered()
        if isinstance(line, Overlong):
            self._prompter.say(_OVERLONG.format(self._settings.max_line))
            self._prompter.prompt()
        elif self._doorstep.is_lost(line):
            self._turn_away(strangers.HTTP)
        elif self._prompter.is_waiting:
            if not self._doorstep.answers(line):
                self._prompter.answer(line)
        else:
            done = self._lobby.obey(self._name, line)
            if isinstance(done, Done):
                self._go_on(done)
            else:
                self._work.wait_for(done)

    def _go_on(self, done: Done) -> None:
        """Go on after a line has been answered."""
        match done:
            case Done.STAYS:
                self._prompter.invite(PROMPT)
            case Done.LEAVES:
                self.end(linger=True, parting=Parting.QUIT)
            case Done.REGISTERS | Done.CHANGES_PASSWORD:
                self._work.begin(self._talk(done))

    def _fail(self, error: BaseException) -> None:
        """Go on after a mistake of ours."""
        # The line itself is not logged: it is the player's own.
        extra = {"peer": self._peer, "player": self._name}
        _log.error("failed to handle what somebody sent", exc_info=error, extra=extra)
        self._prompter.say(_SORRY)
        if self._name:
            self._go_on(Done.STAYS)
        elif not self._work.is_dialogue:
            self._work.begin(self._come_in())
