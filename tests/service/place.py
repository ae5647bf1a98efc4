"""A service without sockets: who types what, and what everybody is told."""

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
    now,
)
from thudmud.service.scheduler import Later
from thudmud.store import NotWrittenError, Store
from thudmud.views import Message, Terminal

T = TypeVar("T")

PATIENCE = 20.0
"""Seconds after which something that was waited for will not come."""

BOARDS = [BoardSpec("oak board", style=Style.BRIEF), BoardSpec("elm board", style=Style.BRIEF)]


class Screen:
    """A front end of one player: what they are told there, and why they are told no more."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.why: Dismissal | None = None

    @property
    def told(self) -> list[str]:
        return [message.text for message in self.messages]

    def put(self, message: Message) -> None:
        self.messages.append(message)

    def dismissed(self, why: Dismissal) -> None:
        self.why = why


class Place:
    """A service, those who have come in, and what everybody has been told."""

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
    ) -> None:
        self.told: dict[str, list[str]] = {}
        self.causes: list[object] = []
        self.visits: dict[str, Visit] = {}
        self.now = 1000.0
        self.kept: dict[str, Person] = {}
        """Those whose preferences were to be kept, as they were then."""
        self.forgetful = False
        self.service = Service(
            Hall(boards, seat_grace=0),
            store,
            clock=clock or (lambda: self.now),
            node=node,
            told=lambda message, cause: self.take(message, cause),  # noqa: PLW0108  (tests set it)
            later=later or (lambda delay, call: asyncio.get_running_loop().call_later(delay, call)),
            policy=Policy(
                keep=lambda person: self.keep(person),  # noqa: PLW0108  (tests set it)
                leaves=(Register, Password, LogoutEverywhere),
            ),
            adviser=adviser,
            without=() if teaches else ("teaching",),
        )
        self.hall = self.service.hall

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
        await self.service.settle()

    async def enter(
        self, *names: str, screen: Screen | None = None, member: bool = False, origin: str = ""
    ) -> None:
        for name in names:
            visit = await self.service.join(
                JoinRequest(name, Terminal(200), screen, member=member, origin=origin)
            )
            assert visit
            self.visits[name] = visit

    def submit(
        self, name: str, line: str | Command, cause: object = None
    ) -> asyncio.Future[Result]:
        """Begin what ``name`` types, or a program of theirs asks for."""
        return begin(self.service.submit(self.visits[name], line, cause=cause))

    async def leave(self, name: str, parting: Parting = Parting.LOST) -> None:
        await self.service.leave(self.visits[name], parting)

    async def type(self, name: str, *lines: str | Command) -> str:
        """Return what ``name`` is told."""
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
        """Return who is noted to be away from their seat."""
        table = self.hall.tables[board]
        return {table.seats[side] for side in table.away}


async def refused(place: Place, name: str, line: str) -> Enum | None:
    """Return why nothing comes of a line; None if something does."""
    result = await place.submit(name, line)
    return result.refusal.code if result.refusal else None


def begin(work: Coroutine[Any, Any, T]) -> asyncio.Future[T]:
    """Begin something at once, and return what comes of it."""
    going = now(work)
    if isinstance(going, asyncio.Task):
        return going
    done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    done.set_result(going)
    return done


async def finished(*work: asyncio.Future[Any]) -> list[Any]:
    """Wait until all of it is done, and return what has come of it."""
    async with asyncio.timeout(PATIENCE):
        return await asyncio.gather(*work)


async def until(true: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110  (it has no bell)
            await asyncio.sleep(0)
