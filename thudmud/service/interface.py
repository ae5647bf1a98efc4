"""The types shared by a service and its front ends: arrivals, visits, outboxes, results."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from thudmud.errors import RefusedError
from thudmud.game.archive import Lookup
from thudmud.game.command import Command
from thudmud.game.delivery import Delivery
from thudmud.game.hall import Hall
from thudmud.game.options import UNKNOWN, Profile, SetOption
from thudmud.game.people import Person
from thudmud.game.table import Table
from thudmud.immutable import immutable
from thudmud.service.bus import EventBus
from thudmud.service.nodes import Node
from thudmud.service.scheduler import Later, TimerScheduler
from thudmud.store import Store, StoreError
from thudmud.values import Value
from thudmud.views.messages import Message
from thudmud.views.view import Terminal

Teller = Callable[[Sequence[Message], object], None]
"""Called with all messages of a delivery, in order, and its cause if there is one."""

Watcher = Callable[[Delivery], None]
"""Called with each delivery to one player, a program that plays in this process. It must not raise
or call the service."""

Keep = Callable[[Person], Awaitable[None]]
"""Stores a member's preferences after a change."""


class Dismissal(Enum):
    """Why the service ended a visit although the player didn't leave."""

    TAKEN_OVER = "the player has connected from elsewhere"
    MOVED = "the player has connected to another node"
    CUT_OFF = "this node has lost touch with the store"
    KICKED = "an operator has ended the visit"


Limit = Callable[["Visit"], None]
"""Raises RefusedError if a player disturbs others too often; called before others are notified."""


class Quota(Protocol):
    """A quota of stored events for the players from each address.

    Attributes:
        full: the networks that have used up their quota; empty while nobody is limited.
    """

    full: set[str]

    def charge(self, address: str, events: int, now: float) -> None:
        """Count events that were stored for a player from an address."""

    def wait(self, address: str, now: float) -> float:
        """Return the seconds until an address may begin something new; 0 if it may now."""


class Outbox(Protocol):
    """Receives the messages for one player. Its methods must not raise or call the service."""

    def put(self, message: Message) -> None:
        """Queue a message. All its readers get the same object."""

    def handle_dismissal(self, why: Dismissal) -> None:
        """Handle the end of the visit; no more messages follow."""


@immutable
@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """The objects that all parts of a service share.

    Attributes:
        hall: the boards and the people.
        store: the store.
        clock: returns the seconds since the epoch.
        later: schedules a call on the event loop; None without an event loop.
        node: the service's node, where several share the store.
        realm: the realm of the hall's boards.
        bus: the event bus, which owns the locks.
        scheduler: the timers.
    """

    hall: Hall
    store: Store
    clock: Callable[[], float]
    later: Later | None
    node: Node | None
    realm: str
    bus: EventBus
    scheduler: TimerScheduler

    async def look_up(self, lookup: Lookup[Any]) -> Any:
        """Return the answer to a lookup, from the store.

        Raises:
            StoreError: the store cannot be read.
        """
        return await self.store.look_up(lookup, realm=self.realm)


class OutcomeUnknownError(StoreError):
    """Entries can't be applied any longer, so the outcome of an append is unknown."""

    def __str__(self) -> str:
        return "The store is no longer followed."


class Result(Value):
    """The result of a line.

    Attributes:
        command: the command; None for a blank line or one that couldn't be parsed.
        is_done: whether the command was carried out.
        is_left: whether the command is left to the front end.
        refusal: the refusal by the grammar, the rules, a table or the hall, if any.
        before: the board's version after the same line, by its ``key``, if that was carried out
            earlier and so not again.
        seconds: the approximate seconds of work that it causes outside the event loop.
        is_awaited: whether the answer follows later.
    """

    command: Command | None = None
    is_done: bool = False
    is_left: bool = False
    refusal: RefusedError | None = None
    before: int | None = None
    seconds: float = 0.0
    is_awaited: bool = False


@immutable
@dataclass(frozen=True, slots=True, eq=False)
class JoinRequest:
    """A request to let a player in.

    Attributes:
        name: the player's name.
        terminal: the player's terminal; None without a screen: then the player gets answers, but no
            text about events.
        outbox: the outbox for the player's messages.
        watcher: called with every delivery to the player.
        is_member: whether the player has an account.
        profile: the player's known preferences.
        choices: options chosen during the login, to be applied to the profile.
        room: the board to enter; None for the one where a seat was kept, or else the hall.
        should_look: whether to show the player a board that they enter without having a seat there.
        quiet: whether arrival and departure are announced only at the player's seats.
        origin: the player's address, if known.
        must_store: whether a StoreError prevents the change: the player can't come in unless the
            return to their seats is stored, nor leave unless that is stored.
        admit: called once earlier lines under the name are done; returns whether the player may
            still come in.
        cause: the cause to deliver with the messages.
    """

    name: str
    terminal: Terminal | None
    outbox: Outbox | None = None
    watcher: Watcher | None = None
    is_member: bool = False
    profile: Profile = UNKNOWN
    choices: Sequence[SetOption] = ()
    room: str | None = None
    should_look: bool = True
    quiet: bool = False
    origin: str = ""
    must_store: bool = False
    admit: Callable[[], bool] = lambda: True
    cause: object = None


ANSWERED_WITHIN = 60.0
"""Seconds for which a request for confirmation can be answered."""


@immutable
@dataclass(frozen=True, slots=True, eq=False)
class PendingConfirmation:
    """A request for confirmation of a command, such as "resign".

    Attributes:
        command: the command, with the board.
        table: the table at the time of the question.
        refusal: the question.
        asked_at: the time of the question, in seconds since the epoch.
        offered: the offers to the player at that time, by the commands that accept them.
    """

    command: Command
    table: Table
    refusal: RefusedError
    asked_at: float = 0.0
    offered: frozenset[str] = frozenset()

    def is_fresh(self, now: float) -> bool:
        """Return whether the question isn't too old to be answered."""
        return now - self.asked_at < ANSWERED_WITHIN

    def is_clear(self, hall: Hall, offered: frozenset[str]) -> bool:
        """Return whether "yes" is unambiguous: the same battle, and no new offers since."""
        now, then = hall.tables.with_key(self.table.key), self.table
        if now is None or now.match is None or then.match is None:
            return False
        return now.match.battle_id == then.match.battle_id and offered <= self.offered


@dataclass(slots=True, eq=False)
class Visit:
    """One player's presence by one front end.

    A visit ends when another front end takes the player over. Its own front end may not know that
    yet, so all calls with a visit that is over do nothing.

    Attributes:
        name: the player's name.
        outbox: the outbox for the player's messages; None if only ``told`` gets them.
        must_store: whether the player neither comes nor goes unless that can be stored.
        quiet: whether arrival and departure are announced only at the player's seats.
        origin: the player's address, if the front end knows it.
        is_hushed: the same as ``quiet``, because the player has come and gone too often.
        is_over: whether the visit has ended.
        watcher: called with deliveries, if the player is a program that wants no text.
        last_command: the last command, which "again" repeats.
        pending_confirmation: the request for confirmation that the next line may answer, if any.
        lost_at: when the connection was lost, if it may still come back; None otherwise.
    """

    name: str
    outbox: Outbox | None = None
    must_store: bool = False
    quiet: bool = False
    origin: str = ""
    is_hushed: bool = False
    is_over: bool = False
    watcher: Watcher | None = None
    last_command: Command | None = None
    pending_confirmation: PendingConfirmation | None = None
    lost_at: float | None = None

    def end(self) -> None:
        """End the visit: from now on, calls with it do nothing."""
        self.is_over, self.outbox, self.watcher = True, None, None


@dataclass(slots=True, eq=False)
class Onlooker:
    """A spectator without a name, in one room.

    Attributes:
        name: the key of the onlooker's screen, which can't be a player's name.
        outbox: the outbox for the onlooker's messages.
        room: the board to watch; None for the hall.
    """

    name: str
    outbox: Outbox
    room: str | None
