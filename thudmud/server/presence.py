"""Who is here, as it is stored: coming and going happens even if it cannot be stored just then.

Owns what is still to be stored of that. Must never know who is connected.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from thudmud.play.commands import Style
from thudmud.play.events import Parting
from thudmud.play.hall import Decision
from thudmud.play.options import Options
from thudmud.server.ledger import Ledger
from thudmud.store import Conflict, StoreError
from thudmud.text import Message
from thudmud.text.premises import Premises

RETRY = 1.0
"""Seconds before it is tried again to store who is here."""

_log = logging.getLogger(__name__)


class Presence:
    """Lets players come and go. What is done under one name is done one after the other.

    Args:
        house: where they come to.
        ledger: where it is stored.
        clock: returns the seconds since the epoch.
        deliver: takes what people are told.
    """

    def __init__(
        self,
        house: Premises,
        ledger: Ledger,
        clock: Callable[[], float],
        deliver: Callable[[Iterable[Message]], None],
    ) -> None:
        self._house, self._ledger = house, ledger
        self._clock, self._deliver = clock, deliver
        self._due: dict[tuple[str, str], asyncio.TimerHandle] = {}
        self._retries: set[asyncio.Task[None]] = set()

    async def note_restart(self) -> None:
        """Take note that everybody who has a seat is away."""
        for board in self._house.boards:
            for name in self._house.seated(board):
                await self._note(name, board, Parting.RESTART)

    async def arrive(
        self,
        name: str,
        *,
        member: bool,
        styles: Mapping[str, Style],
        options: Options | None,
        adjourned: bool,
    ) -> None:
        """Let a player in who is not here, and back to the seats that were kept.

        Args:
            name: who.
            member: whether they have an account.
            styles: how they want to see boards, by the boards' names.
            options: how they want to see everything, if that is known.
            adjourned: whether a match of theirs is put away.
        """
        now = self._clock()

        def decide() -> Sequence[Decision]:
            return self._house.arrive(
                name, now, member=member, styles=styles, options=options, adjourned=adjourned
            )

        await self._settle(decide, name, Parting.LOST)

    async def part(self, name: str, parting: Parting) -> None:
        """See a player out who is here; their seats are kept, or given up."""
        go = partial(self._house.part, name, self._clock(), parting)
        await self._settle(go, name, parting)

    async def close(self) -> None:
        """Finish what has been begun; what could not be stored is told by the next start."""
        while self._retries:
            await asyncio.wait(self._retries)
        for handle in self._due.values():
            handle.cancel()

    async def _settle(
        self, decide: Callable[[], Sequence[Decision]], name: str, parting: Parting
    ) -> None:
        for decision in decide():
            if decision.events:
                await self._store(decide, name, str(decision.board), parting)
            else:
                self._deliver(self._house.carry_out(decision))
        # What was decided before may give them a seat only now, or have them away.
        for board in self._ledger.busy:
            await self._ledger.idle(board)
            await self._note(name, board, parting)

    async def _note(self, name: str, board: str, parting: Parting) -> None:
        """Store whether a player is here, if they have a seat at a board."""

        def decide() -> Sequence[Decision]:
            return self._house.presence(name, board, self._clock(), parting)

        await self._store(decide, name, board, parting)

    async def _store(
        self, decide: Callable[[], Sequence[Decision]], name: str, board: str, parting: Parting
    ) -> None:
        """Store and tell what happens at a board; if that cannot be stored, it is tried again."""
        if handle := self._due.pop((name, board), None):
            handle.cancel()
        try:
            await self._write(board, decide)
        except StoreError as error:
            _log.error("not stored: %s", error, extra={"player": name, "board": board})
            loop = asyncio.get_running_loop()
            self._due[name, board] = loop.call_later(RETRY, self._retry, name, board, parting)

    async def _write(self, board: str, decide: Callable[[], Sequence[Decision]]) -> None:
        """Store and tell what happens at a board, decided again until nothing comes first."""
        while decided := [each for each in decide() if each.board == board and each.events]:
            try:
                await self._ledger.write(decided[0])
            except Conflict as conflict:
                await self._ledger.until(conflict.stream, conflict.found)

    def _retry(self, name: str, board: str, parting: Parting) -> None:
        del self._due[name, board]
        task = asyncio.create_task(self._note(name, board, parting))
        self._retries.add(task)
        task.add_done_callback(self._retries.discard)
