"""One connection's conversation: a name first, then commands until the player leaves.

Owns the order of everything: lines, changes of width, timing marks and the end of input are handled
one after the other, none while the answer to an earlier one is still being found. Must never know
how telnet spells them, nor what a command means.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterable
from typing import Any

from thudmud.server.buckets import Bucket
from thudmud.server.idleness import Idleness
from thudmud.server.inbox import Inbox
from thudmud.server.items import Item, Mark, Resized, Signal, Typing
from thudmud.server.lines import Line, Overlong
from thudmud.server.lobby import Done, Lobby
from thudmud.server.login import NAME_PROMPT, Desk
from thudmud.server.prompter import Prompter
from thudmud.server.screen import Screen, encode
from thudmud.server.settings import PlayerSettings, ServerSettings
from thudmud.tables import Parting

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
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        *,
        lobby: Lobby,
        desk: Desk,
        settings: ServerSettings,
        players: PlayerSettings,
    ) -> None:
        transport.set_write_buffer_limits(high=settings.share)
        self._transport = transport
        peer = transport.get_extra_info("peername") or ("somebody", "")
        self._address, self._peer = str(peer[0]), f"{peer[0]} {peer[1]}"
        self._lobby, self._desk = lobby, desk
        self._settings, self._players = settings, players
        self._screen = Screen(transport, settings.outbox_bytes)
        self._name = ""
        self._inbox = Inbox(
            transport,
            settings.queue_length,
            settings.commands_per_turn,
            Bucket(settings.commands_per_second, settings.commands_at_once),
            handle=self._handle,
            is_busy=self._is_busy,
        )
        self._work: asyncio.Future[Done] | None = None  # a dialogue, or a command not yet done
        self._dialogue: asyncio.Task[Done] | None = None
        self._entering = False
        self._parting = Parting.LOST

    # What the connection reports.

    def opened(self, typing: Typing) -> None:
        """Greet, and ask for a name."""
        _log.info("%s is connected", self._peer)
        self._prompter = Prompter(self._screen, typing, self._inbox)
        self._idleness = Idleness(
            self._players.idle_warning,
            self._players.idle_limit,
            self._players.login_limit,
            is_excused=lambda: bool(self._name) and self._lobby.is_waiting(self._name),
            warn=self._prompter.say,
            end=self._end_idle,
        )
        self._idleness.start()
        self._screen.show(encode(self._lobby.greeting))
        self._prompter.invite(NAME_PROMPT)  # now, so that both go out together
        self._begin(self._come_in())
        self._lobby.welcome(self)

    def received(self, items: Iterable[Item]) -> None:
        """Queue what has come in."""
        if not self._screen.closed:
            self._inbox.put(items)

    def input_ended(self) -> None:
        """Note that nothing more will come; what has come is still handled and answered."""
        self._inbox.end()
        if self._screen.closed:
            self._transport.close()
        else:
            self.received([Signal.END_OF_INPUT])

    def command(self, sequence: bytes) -> None:
        """Send telnet bytes, in order with the text."""
        self._screen.command(sequence)

    def choke(self) -> None:
        """Stop handling: the client is not reading what it has been sent."""
        self._inbox.choke()

    def resume(self) -> None:
        """Go on handling: the client has caught up."""
        self._inbox.resume()

    def lost(self) -> None:
        """Note that the connection is gone."""
        _log.info("%s is gone", self._peer)
        self._screen.lost()
        self._stop(Parting.LOST)
        self._lobby.farewell(self)

    # What the lobby asks.

    def show(self, lines: bytes) -> None:
        """Show whole encoded lines."""
        self._screen.show(lines)

    def data(self, package: str, text: str) -> None:
        """Send a GMCP package."""

    def end(self, *, linger: bool, parting: Parting = Parting.LOST) -> None:
        """Send what is waiting and end the connection, after a grace period by force.

        Args:
            linger: Whether to leave it to the client to close the connection.
            parting: How the player came to leave.
        """
        self._screen.close(linger=linger, grace=self._settings.shutdown_grace)
        self._stop(parting)

    def dismiss(self) -> None:
        """End the connection of a player who is not to be seen out with it."""
        self._name = ""
        self.end(linger=True)

    @property
    def ended(self) -> bool:
        """Whether nothing can be shown any more."""
        return self._screen.closed

    def _end_idle(self, reason: str) -> None:
        self._prompter.say(reason)
        self.end(linger=True, parting=Parting.IDLE)

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
        self._work = None
        if self._entering:  # which goes to its end first
            self._parting = parting
            return None
        if self._dialogue is not None:
            self._dialogue.cancel()
        return self._part(parting)

    def _part(self, parting: Parting) -> asyncio.Future[None] | None:
        name, self._name = self._name, ""
        if not name:
            return None
        try:
            leaving = self._lobby.part(self, name, parting)
            self._desk.left(name, gave_up=parting is Parting.QUIT)
        except Exception:  # noqa: BLE001  (the connection must end, whatever the house gets wrong)
            _log.exception("failed to see %s out", name)
            return None
        return leaving

    # Dialogues.

    async def _come_in(self) -> Done:
        entrance = await self._desk.introduce(self._prompter, self._address)
        self._prompter.reveal()
        if entrance is None:
            return Done.LEAVES
        self._name = entrance.name
        self._idleness.named()
        self._entering = True
        try:
            await self._lobby.admit(self, entrance.name, self._prompter.terminal, entrance.member)
        except Exception:
            self._part(Parting.LOST)
            raise
        finally:
            self._entering = False
        _log.info("%s is %s", self._peer, entrance.name)
        if self._screen.closed:
            self._part(self._parting)
        return Done.STAYS

    async def _talk(self, done: Done) -> Done:
        if done is Done.CHANGES_PASSWORD:
            await self._desk.change_password(self._prompter, self._name, self._address)
        elif await self._desk.register(self._prompter, self._name):
            self._lobby.enrol(self._name)
        return Done.STAYS

    # Item by item.

    def _is_busy(self) -> bool:
        """Whether the answer to a line is still being found."""
        return self._work is not None and not self._prompter.is_waiting

    def _handle(self, item: Item) -> bool:
        """Handle an item; return whether there is room on the screen for the answer to another."""
        try:
            match item:
                case str() | Overlong():
                    self._handle_line(item)
                case Resized(columns):
                    self._prompter.resize(columns)
                    if self._name:
                        self._lobby.fit(self._name, self._prompter.terminal)
                case Mark(answer):
                    self._screen.mark(answer)
                case Signal.ARE_YOU_THERE:
                    self._prompter.say(_HERE)
                case Signal.END_OF_INPUT:
                    self._end_after(self._stop(Parting.LOST))
        except Exception as error:  # noqa: BLE001  (whatever we get wrong, the connection goes on)
            self._fail(error)
        return self._screen.unsent <= self._settings.share

    def _handle_line(self, line: Line) -> None:
        self._idleness.heard()
        self._prompter.answered()
        if isinstance(line, Overlong):
            self._prompter.say(_OVERLONG.format(self._settings.max_line))
            self._prompter.prompt()
        elif self._prompter.is_waiting:
            self._prompter.answer(line)
        else:
            done = self._lobby.obey(self._name, line)
            if isinstance(done, Done):
                self._go_on(done)
            else:
                self._wait_for(done)

    def _begin(self, dialogue: Coroutine[Any, Any, Done]) -> None:
        self._dialogue = asyncio.get_running_loop().create_task(dialogue)
        self._wait_for(self._dialogue)

    def _wait_for(self, work: asyncio.Future[Done]) -> None:
        self._work = work
        work.add_done_callback(self._finished)

    def _finished(self, work: asyncio.Future[Done]) -> None:
        if work is self._dialogue:
            self._dialogue = None
        error = asyncio.CancelledError() if work.cancelled() else work.exception()
        if self._work is not work:  # the session has ended meanwhile
            if error and not work.cancelled():
                _log.error("failed behind a connection's end", exc_info=error)
            return
        self._work = None
        if error:
            self._fail(error)
        else:
            self._go_on(work.result())
        self._inbox.wake()

    def _go_on(self, done: Done) -> None:
        """Go on after a line has been answered."""
        match done:
            case Done.STAYS:
                self._prompter.invite(PROMPT)
            case Done.LEAVES:
                self.end(linger=True, parting=Parting.QUIT)
            case Done.REGISTERS | Done.CHANGES_PASSWORD:
                self._begin(self._talk(done))

    def _fail(self, error: BaseException) -> None:
        """Go on after a mistake of ours."""
        # The line itself is not logged: it is the player's own.
        _log.error("failed to handle what %s sent", self._name or "somebody", exc_info=error)
        self._prompter.say(_SORRY)
        if self._name:
            self._go_on(Done.STAYS)
        elif self._dialogue is None:
            self._begin(self._come_in())
