"""A service without sockets: submits players' lines and collects their messages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from copy import copy
from enum import Enum
from typing import Any, TypeVar

from thudmud.game.command import Command
from thudmud.game.events import Parting
from thudmud.game.hall import Hall
from thudmud.game.more import LogoutEverywhere, Password, Register
from thudmud.game.options import Style
from thudmud.game.people import Person
from thudmud.game.table import BoardSpec
from thudmud.service import (
    Adviser,
    Dismissal,
    JoinRequest,
    Node,
    Policy,
    Result,
    Service,
    Visit,
    run_eagerly,
)
from thudmud.service.scheduler import Later
from thudmud.store import NotWrittenError, Store
from thudmud.views import Message, Terminal

T = TypeVar("T")

PATIENCE = 20.0
"""Timeout of all waiting, in seconds."""

BOARDS = [BoardSpec("oak board", style=Style.BRIEF), BoardSpec("elm board", style=Style.BRIEF)]


class Screen:
    """A front end for one player: collects the messages and the reason of a dismissal."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.why: Dismissal | None = None

    @property
    def told(self) -> list[str]:
        return [message.text for message in self.messages]

    def put(self, message: Message) -> None:
        self.messages.append(message)

    def handle_dismissal(self, why: Dismissal) -> None:
        self.why = why


class Place:
    """A service, the visits of its players, and all messages to them."""

    def __init__(
        self,
        store: Store,
        node: Node | None = None,
        boards: Sequence[BoardSpec] = BOARDS,
        adviser: Adviser | None = None,
        later: Later | None = None,
        *,
        teaches: bool = False,
        clock: Callable[[], float] | None = None,
        return_within: float = 0.0,
    ) -> None:
        self.told: dict[str, list[str]] = {}
        self.causes: list[object] = []
        self.visits: dict[str, Visit] = {}
        self.now = 1000.0
        self.kept: dict[str, Person] = {}
        """Copies of the players as of the last time their preferences were saved."""
        self.forgetful = False
        self.service = Service(
            Hall(boards, seat_grace=0),
            store,
            clock=clock or (lambda: self.now),
            node=node,
            told=self.take_all,
            later=later or (lambda delay, call: asyncio.get_running_loop().call_later(delay, call)),
            policy=Policy(
                keep=lambda person: self.keep(person),  # noqa: PLW0108  (tests set it)
                leaves=(Register, Password, LogoutEverywhere),
                return_within=return_within,
            ),
            adviser=adviser,
            without=() if teaches else ("teaching",),
        )
        self.hall = self.service.hall

    def take_all(self, messages: Sequence[Message], cause: object) -> None:
        for message in messages:
            self.take(message, cause)

    def take(self, message: Message, cause: object) -> None:
        self.causes.append(cause)
        for name in message.to:
            self.told.setdefault(name, []).append(message.text)

    async def keep(self, person: Person) -> None:
        if self.forgetful:
            raise NotWrittenError("The disk is full.")
        self.kept[person.name] = copy(person)

    async def open(self) -> None:
        await self.service.open()
        await self.service.finish_start()

    async def enter(
        self, *names: str, screen: Screen | None = None, member: bool = False, origin: str = ""
    ) -> None:
        for name in names:
            visit = await self.service.join(
                JoinRequest(name, Terminal(200), screen, is_member=member, origin=origin)
            )
            assert visit
            self.visits[name] = visit

    def submit(
        self, name: str, line: str | Command, cause: object = None
    ) -> asyncio.Future[Result]:
        """Start a line of ``name``, or a command of their program."""
        return begin(self.service.submit(self.visits[name], line, cause=cause))

    async def leave(self, name: str, parting: Parting = Parting.LOST) -> None:
        await self.service.leave(self.visits[name], parting)

    async def type(self, name: str, *lines: str | Command) -> str:
        """Submit lines of ``name`` and return the messages to them."""
        self.told[name] = []
        for line in lines:
            await self.service.submit(self.visits[name], line)
        return "\n".join(self.told[name])

    async def sit(self) -> None:
        await self.enter("Anna", "Bert")
        await self.type("Anna", "join game as dwarf on oak board")
        await self.type("Bert", "join game as troll on oak board", "start")

    def plies(self, board: str = "oak board") -> int:
        game = self.hall.tables[board].game
        assert game
        return len(game.moves)

    def away(self, board: str = "oak board") -> set[str]:
        """Return the seated players marked as away."""
        table = self.hall.tables[board]
        return {table.seats[side] for side in table.away}


async def refused(place: Place, name: str, line: str) -> Enum | None:
    """Return the code of a line's refusal; None if it is accepted."""
    result = await place.submit(name, line)
    return result.refusal.code if result.refusal else None


def begin(work: Coroutine[Any, Any, T]) -> asyncio.Future[T]:
    """Start a coroutine eagerly and return a future of its result."""
    going = run_eagerly(work)
    if isinstance(going, asyncio.Task):
        return going
    done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    done.set_result(going)
    return done


async def finished(*work: asyncio.Future[Any]) -> list[Any]:
    """Wait for all futures and return their results."""
    async with asyncio.timeout(PATIENCE):
        return await asyncio.gather(*work)


async def until(true: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110  (there is no event to wait for)
            await asyncio.sleep(0)
