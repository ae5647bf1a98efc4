"""Write it down, then say it: what a line brings about is stored before anybody is told.

Owns the order of things: decided, appended to the journal, and only then made so and told, as it
comes back from there. Must never know who is connected.

Commands at one board are decided one at a time. Boards do not wait for each other: what is decided
at many at once is stored together.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from thudmud.commands import Command, Password, Quit, Register, Style
from thudmud.journal import Conflict, Journal, JournalError
from thudmud.server.account_file import AccountsError
from thudmud.server.ledger import Ledger
from thudmud.tables import Decision, Parting, Unread
from thudmud.tables.asides import StyleChosen
from thudmud.text import House, Message, Plan

NOT_STORED = (
    "The server cannot store that just now, so it has not happened. Please try again in a while."
)
RETRY = 1.0
"""Seconds before what nobody waits for is tried again."""

_log = logging.getLogger(__name__)


class Scribe:
    """Carries out what players ask for, durably.

    Args:
        house: where it is decided, and made so.
        journal: where it is stored.
        clock: returns the seconds since the epoch.
        deliver: takes what people are told.
        keep_styles: stores how a member wants to see boards.
    """

    def __init__(
        self,
        house: House,
        journal: Journal,
        clock: Callable[[], float],
        deliver: Callable[[Iterable[Message]], None],
        keep_styles: Callable[[str, Mapping[str, Style]], Awaitable[None]],
    ) -> None:
        self._house = house
        self._clock = clock
        self._deliver = deliver
        self._ledger = Ledger(house, journal, deliver)
        self._keep_styles = keep_styles
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._later: dict[str, asyncio.Task[None]] = {}

    async def open(self) -> None:
        """Bring the house to where the journal is, and follow it from then on.

        Raises:
            JournalError: it cannot be read.
        """
        await self._ledger.open()
        self._opening = asyncio.create_task(self._open_doors())

    async def ready(self) -> None:
        """Wait until people may come in: all battles are known, and all who have seats are away.

        Raises:
            JournalError: the battles cannot be read.
        """
        await asyncio.shield(self._opening)

    async def ended(self) -> None:
        """Wait until the journal can be followed no longer."""
        await asyncio.wait([self._ledger.following])

    async def close(self) -> None:
        """Finish what has been begun, and close the journal."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        for task in self._later.values():
            task.cancel()
        with suppress(JournalError):
            await self._opening
        await self._ledger.close()

    def obey(self, name: str, line: str) -> Command | asyncio.Task[Command | None] | None:
        """Do what a player's line asks for; return the command once that is done.

        It is done at once if nothing has to be stored or read for it. ``register`` and ``password``
        are left to the caller.
        """
        try:
            plan = self._house.plan(name, line, self._clock())
        except Unread:
            return self._begin(self._obey(name, line))
        if self._has_to_be_stored(name, plan):
            return self._begin(self._obey(name, line))
        return self._tell(plan)

    async def arrive(
        self, name: str, *, width: int, member: bool, styles: Mapping[str, Style]
    ) -> None:
        """Let a player in, and back to the seats that were kept."""
        await self.ready()
        now = self._clock()
        await self._settle(
            partial(self._house.arrive, name, now, width=width, member=member, styles=styles)
        )

    def part(self, name: str, parting: Parting) -> asyncio.Task[None]:
        """See a player out who is gone; their seats are kept."""
        return self._begin(self._part(name, parting))

    # One line.

    async def _obey(self, name: str, line: str) -> Command | None:
        while name in self._house:
            try:
                plan = self._house.plan(name, line, self._clock())
                if not self._has_to_be_stored(name, plan):
                    return self._tell(plan)
                await self._carry_out(name, plan)
            except Unread as unread:
                await self._ledger.recall(unread)
            except Conflict as conflict:
                await self._ledger.until(conflict.stream, conflict.found)
            except (JournalError, AccountsError) as error:
                _log.error("%s cannot be obeyed: %s", name, error)
                self._answer(name, NOT_STORED)
                return None
            else:
                return plan.command
        return None

    def _has_to_be_stored(self, name: str, plan: Plan) -> bool:
        return any(each.events or self._chosen(name, each) for each in plan.decisions)

    def _tell(self, plan: Plan) -> Command | None:
        if not isinstance(plan.command, Register | Password):
            self._deliver(plan.messages)
            for decision in plan.decisions:
                self._deliver(self._house.carry_out(decision))
        return plan.command

    async def _carry_out(self, name: str, plan: Plan) -> None:
        """Store and tell a plan.

        Raises:
            Conflict: nothing has happened, since something else came first.
            JournalError: it cannot be stored, and so has not happened.
        """
        if isinstance(plan.command, Quit):
            await self._part(name, Parting.QUIT)
            return
        [decision] = plan.decisions
        chosen = self._chosen(name, decision)
        if chosen:
            await self._keep_styles(name, chosen)
            self._deliver(self._house.carry_out(decision))
            return
        board = str(decision.board)
        async with self._locks[board]:
            if self._house.version(board) != decision.version:
                raise Conflict(board, decision.version, self._house.version(board))
            await self._ledger.write(decision)

    # Coming and going.

    async def _open_doors(self) -> None:
        """Take note that everybody who has a seat is away."""
        await self._ledger.archiving
        for board in self._house.boards:
            try:
                await self._note_absences(board, Parting.RESTART)
            except JournalError as error:
                _log.error("%s: %s", board, error)
                self._try_later(board)

    async def _part(self, name: str, parting: Parting) -> None:
        await self._settle(partial(self._house.part, name, self._clock(), parting))

    async def _settle(self, decide: Callable[[], Sequence[Decision]]) -> None:
        """Let somebody come or go, whatever happens meanwhile.

        They are here, or gone, even if that cannot be stored; it is tried again then.
        """
        for decision in decide():
            if not decision.events:
                self._deliver(self._house.carry_out(decision))
                continue
            board = str(decision.board)
            try:
                await self._store(board, decide)
            except JournalError as error:
                _log.error("%s: %s", decision.player, error)
                self._try_later(board)

    async def _store(self, board: str, decide: Callable[[], Sequence[Decision]]) -> None:
        """Store and tell what is to happen at a board, decided again until nothing comes first."""
        async with self._locks[board]:
            while decided := [each for each in decide() if each.board == board and each.events]:
                try:
                    await self._ledger.write(decided[0])
                except Conflict as conflict:
                    await self._ledger.until(board, conflict.found)

    def _try_later(self, board: str) -> None:
        if board not in self._later:
            self._later[board] = asyncio.create_task(self._store_later(board))

    async def _store_later(self, board: str) -> None:
        """Try until it is stored who is away from a board."""
        with suppress(asyncio.CancelledError):
            while True:
                await asyncio.sleep(RETRY)
                with suppress(JournalError):
                    await self._note_absences(board, Parting.LOST)
                    break
            del self._later[board]

    async def _note_absences(self, board: str, parting: Parting) -> None:
        def decide() -> Sequence[Decision]:
            return self._house.vanished(board, self._clock(), parting)

        await self._store(board, decide)

    # Small things.

    def _chosen(self, name: str, decision: Decision) -> dict[str, Style] | None:
        """Return a member's styles if a decision changes them."""
        person = self._house.hall.people[name]
        chosen = [each for each in decision.asides if isinstance(each, StyleChosen)]
        if not (person.member and chosen):
            return None
        return person.styles | {each.board: each.style for each in chosen}

    def _answer(self, name: str, sentence: str) -> None:
        if name in self._house:
            self._deliver([self._house.answer(name, sentence)])

    def _begin(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
