"""What a service and its front ends are to each other: visits, outboxes, what a line comes to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from thudmud.errors import Refused
from thudmud.play.analysis import Weighed
from thudmud.play.asides import OfOperators
from thudmud.play.command import Command
from thudmud.play.hall import Hall
from thudmud.play.hints import Line
from thudmud.play.options import UNKNOWN, Profile, SetOption
from thudmud.play.people import Person
from thudmud.play.table import Table
from thudmud.play.telling import Telling
from thudmud.rules import Game
from thudmud.service.nodes import Node
from thudmud.store import Store, StoreError
from thudmud.values import value
from thudmud.verbs.moves import Resign
from thudmud.views.messages import Message
from thudmud.views.view import Terminal

Teller = Callable[[Message, object], None]
"""Called with all that is told, once each, and what has caused it, if that is known."""

Watcher = Callable[[Telling], None]
"""Called with what happens that one player is told of, for a program that plays in this process. It
may not raise, or call the service."""

Keep = Callable[[Person], Awaitable[None]]
"""Stores how a member wants to see things, and whom they ignore, as they are after a choice."""


Ordered = Callable[[OfOperators], Awaitable[None]]
"""Notes, and stores, what operators bring about, before anybody is told of it."""


class Dismissal(Enum):
    """Why a visit ended although the player did not leave by that front end."""

    TAKEN_OVER = "they have come in by another"
    MOVED = "they have come in on another node"
    CUT_OFF = "this node has lost touch with the store"
    KICKED = "an operator has ended it"


Limit = Callable[["Visit"], None]
"""Called before others are told of something that a player does; raises Refused if that is too
much."""


class Outbox(Protocol):
    """Where what one player is told goes. Neither method may raise, or call the service."""

    def put(self, message: Message) -> None:
        """Take something that they are told; the same object goes to all who are told it."""

    def dismissed(self, why: Dismissal) -> None:
        """Take note that they do not go on by this front end; nothing comes any more."""


class Adviser(Protocol):
    """Who knows what to play."""

    async def advise(self, board: str, game: Game) -> Line | None:
        """Return what to play in a battle that goes on, and the plies that are expected then.

        Args:
            board: the key of the board. Whoever has much to do is fair to each of them.
            game: the battle.

        Returns:
            at least one ply, legal as all that follow; None if nothing was found out.
        """

    async def weigh(self, game: Game) -> Weighed | None:
        """Return what a position of a battle is worth, which nobody waits for in order to play.

        Args:
            game: a battle that could go on; the plies of its line are legal in it.

        Returns:
            None if nothing was found out.
        """


class Handle(Protocol):
    """Something that will be done later."""

    def cancel(self) -> None:
        """Do not do it."""


Later = Callable[[float, Callable[[], None]], Handle]
"""Has something called after some seconds, as ``asyncio.loop.call_later`` does."""


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """What the parts of a service stand on.

    Attributes:
        hall: the boards and the people.
        store: where what happens is stored.
        clock: returns the seconds since the epoch.
        later: has something done later; None where nothing waits.
        node: what the service lives on, where several share the store.
        realm: that of the hall's boards.
    """

    hall: Hall
    store: Store
    clock: Callable[[], float]
    later: Later | None
    node: Node | None
    realm: str


class Unfollowed(StoreError):
    """The store cannot be followed any longer, so it is not known what became of an append."""

    def __str__(self) -> str:
        return "The store is followed no longer."


@value
class Result:
    """What a line came to.

    Attributes:
        command: what was asked for; None if the line could not be read, or was blank.
        done: whether that was done.
        is_left: whether that is left to the front end.
        refusal: why nothing came of it, if it could not be read, or is refused by the rules, a
            table or the hall.
        before: the version to which it had brought the board, if it was done before, and not now.
        seconds: for how long it keeps others than the event loop at work, about.
        is_awaited: whether the player is told later what comes of it.
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
        terminal: what is known of it; None if they have no screen, so that they are told nothing
            of what happens, and only answered.
        outbox: where what they are told goes.
        watcher: what is called with all that happens and concerns them, as it happened.
        member: whether they have an account.
        profile: how they want things, as far as that is known.
        choices: what they have chosen just now, which comes on top of that.
        room: the board that they come to; without one they come to where a seat of theirs was
            kept, or else to the hall.
        looks: whether they are shown a board to which they come and where they have no seat.
        quiet: they only stand about: nobody is told that they come or go, but at a seat.
        origin: where they come from, if that is known: an address.
        must_store: whether they stay outside if it cannot be stored that they are back, and here
            if it cannot be stored that they go: each a StoreError.
        admit: called once all is done that was begun under that name; returns whether they may
            still come in.
        cause: what ``told`` is to be told that this is about.
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


@dataclass(frozen=True, slots=True, eq=False)
class Unsure:
    """What a player is asked about, whether they mean it.

    Attributes:
        command: what they have typed, with the board.
        table: the board as it stood then.
    """

    command: Resign
    table: Table

    def holds(self, hall: Hall) -> bool:
        """Whether the answer can mean that still: it is the same battle, and no other question."""
        now, then = hall.tables.with_key(self.table.key), self.table
        if now is None or now.match is None or then.match is None:
            return False
        return now.match.began == then.match.began and now.offers == then.offers


@dataclass(slots=True, eq=False)
class Visit:
    """One front end's hold on one player's name.

    Attributes:
        name: the player's.
        outbox: where what they are told goes, if it goes anywhere but to ``told``.
        watcher: what is called with what happens, if it is a program that wants no words for it.
        must_store: whether they neither come nor go if that cannot be stored.
        quiet: whether nobody is told that they come or go, but at a seat.
        origin: where they come from, if the front end knows: an address.
        hushed: whether it is not told, but at a seat, since others have heard too much of them.
        is_over: whether they have gone on by another front end, or are gone: nothing comes of what
            is done with it then.
        last: the command that they gave last, which "again" repeats.
        unsure: what they are asked about, whether they mean it: the next line may be "yes".
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
        """Let nothing come of it any more."""
        self.is_over, self.outbox, self.watcher = True, None, None


@dataclass(slots=True, eq=False)
class Onlooker:
    """Somebody without a name who sees what happens in a room.

    Attributes:
        name: what their screen goes by; nobody can be called so.
        outbox: where what they are told goes.
        room: the board that they watch; None for the hall.
    """

    name: str
    outbox: Outbox
    room: str | None
