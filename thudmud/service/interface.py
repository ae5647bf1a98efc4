"""The types shared by a service and its front ends: arrivals, visits, outboxes, results."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from thudmud.errors import Refused
from thudmud.game.archive import Lookup
from thudmud.game.command import Command
from thudmud.game.hall import Hall
from thudmud.game.options import UNKNOWN, Profile, SetOption
from thudmud.game.people import Person
from thudmud.game.table import Table
from thudmud.game.telling import Telling
from thudmud.service.bus import EventBus
from thudmud.service.nodes import Node
from thudmud.service.scheduler import Later, TimerScheduler
from thudmud.store import Store, StoreError
from thudmud.values import Value
from thudmud.views.messages import Message
from thudmud.views.view import Terminal

Teller = Callable[[Message, object], None]
"""Called once with each message, and its cause if known."""

Watcher = Callable[[Telling], None]
"""Called with each telling for one player, for a program that plays in this process. It must not
raise or call the service."""

Keep = Callable[[Person], Awaitable[None]]
"""Stores a member's preferences after a choice."""


class Dismissal(Enum):
    """Why a visit ended although the player did not leave."""

    TAKEN_OVER = "they have come in by another"
    MOVED = "they have come in on another node"
    CUT_OFF = "this node has lost touch with the store"
    KICKED = "an operator has ended it"


Limit = Callable[["Visit"], None]
"""Called before others are told of something a player does; raises Refused if it is too much."""


class Quota(Protocol):
    """Limits how much players have stored.

    Attributes:
        full: is empty while nobody is limited.
    """

    full: set[str]

    def note(self, address: str, events: int, now: float) -> None:
        """Count events that were stored for a player from an address."""

    def wait(self, address: str, now: float) -> float:
        """Return the seconds until more can be begun from an address; 0 if it can be now."""


class Outbox(Protocol):
    """Takes the messages for one player. Its methods must not raise or call the service."""

    def put(self, message: Message) -> None:
        """Take a message. All its readers get the same object."""

    def dismissed(self, why: Dismissal) -> None:
        """Take note that the visit has ended; no more messages follow."""


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """What the parts of a service share.

    Attributes:
        hall: the boards and the people.
        store: the store.
        clock: returns the seconds since the epoch.
        later: calls a function later; None where nothing waits.
        node: the node of the service, where several share the store.
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
            StoreError: it cannot be read.
        """
        return await self.store.look_up(lookup, realm=self.realm)


class Unfollowed(StoreError):
    """The store cannot be followed any longer, so it is unknown whether an append succeeded."""

    def __str__(self) -> str:
        return "The store is followed no longer."


class Result(Value):
    """The result of a line.

    Attributes:
        command: the command; None if the line could not be read, or was blank.
        done: whether it was carried out.
        is_left: whether it is left to the front end.
        refusal: why it was refused by the grammar, the rules, a table or the hall; None if it was
            not.
        before: if the same line was carried out earlier, and so not again, the version after it.
        seconds: roughly how many seconds of work it causes outside the event loop.
        is_awaited: whether the player is told the answer later.
    """

    command: Command | None = None
    done: bool = False
    is_left: bool = False
    refusal: Refused | None = None
    before: int | None = None
    seconds: float = 0.0
    is_awaited: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Arrival:
    """A player who comes in by a front end.

    Attributes:
        name: what they are called.
        terminal: their terminal; None without a screen: they get answers, but are not told what
            happens.
        outbox: where what they are told goes.
        watcher: called with every telling for them.
        member: whether they have an account.
        profile: their preferences, as far as known.
        choices: options chosen just now, which are applied to the profile.
        room: the board that they come to; None for where a seat was kept, or else the hall.
        looks: whether they are shown a board to which they come without a seat there.
        quiet: whether others are not told that they come or go, except at a seat.
        origin: their address, if known.
        must_store: whether a StoreError keeps them out when it cannot be stored that they are back,
            and in when it cannot be stored that they leave.
        admit: called once earlier lines under that name are done; returns whether they may still
            come in.
        cause: the cause to pass to ``told``.
    """

    name: str
    terminal: Terminal | None
    outbox: Outbox | None = None
    watcher: Watcher | None = None
    member: bool = False
    profile: Profile = UNKNOWN
    choices: Sequence[SetOption] = ()
    room: str | None = None
    looks: bool = True
    quiet: bool = False
    origin: str = ""
    must_store: bool = False
    admit: Callable[[], bool] = lambda: True
    cause: object = None


ANSWERED_WITHIN = 60.0
"""Seconds within which a question whether a player means a command is answered."""


@dataclass(frozen=True, slots=True, eq=False)
class Unsure:
    """A question to a player whether they mean a command.

    Attributes:
        command: the command, with the board.
        table: the table when they were asked.
        asks: the question.
        at: when it was asked, in seconds since the epoch.
        offered: what had been offered to them by then, by the commands that accept it.
    """

    command: Command
    table: Table
    asks: Refused
    at: float = 0.0
    offered: frozenset[str] = frozenset()

    def stands(self, now: float) -> bool:
        """Whether an answer can still mean this, by the time."""
        return now - self.at < ANSWERED_WITHIN

    def is_clear(self, hall: Hall, offered: frozenset[str]) -> bool:
        """Whether an answer can only mean this: the same battle, and nothing offered since."""
        now, then = hall.tables.with_key(self.table.key), self.table
        if now is None or now.match is None or then.match is None:
            return False
        return now.match.began == then.match.began and offered <= self.offered


@dataclass(slots=True, eq=False)
class Visit:
    """One player's presence by one front end.

    Attributes:
        name: the player's.
        outbox: takes their messages, if anything does besides ``told``.
        watcher: called with tellings, if the player is a program that wants no words.
        must_store: whether they neither come nor go unless that can be stored.
        quiet: whether others are not told that they come or go, except at a seat.
        origin: their address, if the front end knows it.
        hushed: the same, because others have been told too much of them.
        is_over: whether the visit has ended. Whatever is done with it then has no effect.
        last: their last command, which "again" repeats.
        unsure: the question whether they mean a command, if the next line may answer it.
    """

    name: str
    outbox: Outbox | None = None
    must_store: bool = False
    quiet: bool = False
    origin: str = ""
    hushed: bool = False
    is_over: bool = False
    watcher: Watcher | None = None
    last: Command | None = None
    unsure: Unsure | None = None

    def end(self) -> None:
        """End the visit: nothing done with it has an effect any more."""
        self.is_over, self.outbox, self.watcher = True, None, None


@dataclass(slots=True, eq=False)
class Onlooker:
    """Somebody without a name who watches a room.

    Attributes:
        name: the name of their screen, which no player can have.
        outbox: where what they are told goes.
        room: the board they watch; None for the hall.
    """

    name: str
    outbox: Outbox
    room: str | None
