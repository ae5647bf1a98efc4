"""A house with a scribe, without sockets: who types what, and what everybody is told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from thudmud.play.commands import Style
from thudmud.play.options import Options
from thudmud.play.table import BoardSpec
from thudmud.server.scribe import Scribe
from thudmud.store import NotWritten, Store
from thudmud.text import Message
from thudmud.text.display import Terminal
from thudmud.text.premises import Premises

BOARDS = [BoardSpec("oak board", style=Style.BRIEF), BoardSpec("elm board", style=Style.BRIEF)]


class Place:
    """A house, its scribe, and what everybody has been told."""

    def __init__(self, store: Store) -> None:
        self.house = Premises(BOARDS, seat_grace=0)
        self.told: dict[str, list[str]] = {}
        self.now = 1000.0
        self.kept: dict[str, Mapping[str, Style]] = {}
        self.forgetful = False
        self.scribe = Scribe(self.house, store, lambda: self.now, self.deliver, self.keep)

    def deliver(self, messages: Iterable[Message]) -> None:
        for message in messages:
            for name in message.to:
                self.told.setdefault(name, []).append(message.text)

    async def keep(self, name: str, styles: Mapping[str, Style], options: Options) -> None:
        if self.forgetful:
            raise NotWritten("The disk is full.")
        self.kept[name] = styles

    async def open(self) -> None:
        await self.scribe.open()
        await self.scribe.ready()

    async def enter(self, *names: str, member: bool = False) -> None:
        for name in names:
            await self.scribe.arrive(name, terminal=Terminal(200), member=member)

    async def type(self, name: str, *lines: str) -> str:
        """Return what ``name`` is told."""
        self.told[name] = []
        for line in lines:
            done = self.scribe.obey(name, line)
            if isinstance(done, asyncio.Task):
                await done
        return "\n".join(self.told[name])

    async def sit(self) -> None:
        await self.enter("Anna", "Bert")
        await self.type("Anna", "join game as dwarf on oak board")
        await self.type("Bert", "join game as troll on oak board", "start")

    def plies(self, board: str = "oak board") -> int:
        game = self.house.hall.tables[board].game
        assert game
        return len(game.moves)
