"""Write it down, then say it: what a line brings about is stored before anybody is told.

Owns the order of things: decided, appended to the store, and only then made so and told, as it
comes back from there. Must never know who is connected.

Commands at one board are decided one at a time, and so is all that one player does: whoever is lost
while a line of theirs is being stored is gone after it. Boards do not wait for each other: what is
decided at many at once is stored together.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any
from weakref import WeakValueDictionary

from thudmud.play.asides import OptionChosen, StyleChosen
from thudmud.play.commands import Command, Password, Quit, Register, Style
from thudmud.play.events import Parting
from thudmud.play.hall import Decision
from thudmud.play.lookups import AdjournedLookup, Found, Unread
from thudmud.play.options import Options, SetOption
from thudmud.server.ledger import Ledger, Unfollowed
from thudmud.server.limits.talk import Talk
from thudmud.server.presence import Presence
from thudmud.store import Conflict, Store, StoreError
from thudmud.text import Message, Plan
from thudmud.text.display import Terminal
from thudmud.text.premises import Premises

NOT_STORED = (
    "The server cannot reach its storage just now, so that has not happened. Please try again in a"
    " while."
)
NOT_SEEN = (
    "The server has to stop. Whether that has happened you will see when it is there again: look at"
    " the board before you go on."
)
_DIALOGUES = Register | Password
"""What the caller of `Scribe.obey` sees to."""
NO_STYLES: Mapping[str, Style] = MappingProxyType({})

_log = logging.getLogger(__name__)


class Scribe:
    """Carries out what players ask for, durably.

    Args:
        house: where it is decided, and made so.
        store: where it is stored.
        clock: returns the seconds since the epoch.
        deliver: takes what people are told.
        keep: stores how a member wants to see boards, and everything.
        talk: counts what players say; None if they may say any number of things.
    """

    def __init__(
        self,
        house: Premises,
        store: Store,
        clock: Callable[[], float],
        deliver: Callable[[Iterable[Message]], None],
        keep: Callable[[str, Mapping[str, Style], Options], Awaitable[None]],
        *,
        talk: Talk | None = None,
    ) -> None:
        self._house = house
        self._clock = clock
        self._deliver = deliver
        self._ledger = Ledger(house, store, clock, deliver)
        self._presence = Presence(house, self._ledger, clock, deliver)
        self._keep, self._talk = keep, talk
        self._players: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def open(self) -> None:
        """Bring the house to where the store is, and follow it from then on.

        Raises:
            StoreError: it cannot be read.
        """
        await self._ledger.open()
        self._opening = asyncio.create_task(self._presence.note_restart())

    async def ready(self) -> None:
        """Wait until people may come in: all who have seats are noted as away."""
        await asyncio.shield(self._opening)

    async def ended(self) -> None:
        """Wait until the store is followed no longer.

        Raises:
            StoreError: it cannot be followed.
        """
        await asyncio.shield(self._ledger.ended)

    async def close(self) -> None:
        """Finish what has been begun, and follow the store no longer."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        await self._presence.close()
        await asyncio.wait([self._opening])
        self._ledger.close()

    def obey(self, name: str, line: str) -> Command | asyncio.Task[Command | None] | None:
        """Do what a player's line asks for; return the command once that is done.

        It is done at once if nothing has to be stored, read or waited for. ``register`` and
        ``password`` are left to the caller.
        """
        plan = None
        lock = self._players.get(name)
        if lock is None or not lock.locked():
            with suppress(Unread):
                plan = self._plan(name, line, Found())
                if not self._has_to_be_stored(name, plan):
                    return self._tell(plan)
        return self._begin(self._obey(name, line, plan))

    async def arrive(
        self,
        name: str,
        *,
        terminal: Terminal,
        member: bool = False,
        styles: Mapping[str, Style] = NO_STYLES,
        options: Options | None = None,
        choices: Sequence[SetOption] = (),
        admit: Callable[[], bool] = lambda: True,
    ) -> None:
        """Let a player in, and back to the seats that were kept; or go on, from another screen.

        Args:
            name: who.
            terminal: what is known of it.
            member: whether they have an account.
            styles: how they want to see boards, by the boards' names.
            options: how they want to see everything, if that is known.
            choices: what they have chosen just now, which comes on top of that.
            admit: called once all is done that was begun under that name; returns whether they may
                still come in.

        Raises:
            StoreError: what is stored of them cannot be read, so they have not come in.
        """
        await self.ready()
        async with self._player(name):
            away = await self._ledger.look_up(AdjournedLookup(name))
            if not admit():
                return
            self._house.fit(name, terminal)
            if choices:
                options = self._house.hall.choose(name, options, choices)
            if name in self._house:
                self._deliver(self._house.take_over(name))
            else:
                await self._presence.arrive(
                    name,
                    member=member,
                    styles=styles,
                    options=options,
                    adjourned=bool(away.matches),
                )

    def part(self, name: str, parting: Parting) -> asyncio.Task[None]:
        """See a player out who is gone; their seats are kept."""
        return self._begin(self._see_out(name, parting))

    # One line.

    async def _obey(self, name: str, line: str, plan: Plan | None) -> Command | None:
        async with self._player(name):
            try:
                return await self._do(name, line, plan)
            except Unfollowed as error:
                _log.error("it is not known what came of a line: %s", error, extra={"player": name})
                self._answer(name, NOT_SEEN)
            except StoreError as error:
                _log.error("a line cannot be obeyed: %s", error, extra={"player": name})
                self._answer(name, NOT_STORED)
        return None

    async def _do(self, name: str, line: str, made: Plan | None) -> Command | None:
        """Do what a line asks for, decided again until nothing comes first.

        A plan that has just been made holds still if it is about nothing but one board: if anything
        has happened there since, there is a conflict, and it is made again.
        """
        found = Found()
        while name in self._house:
            try:
                plan = made if made and _is_of_one_board(made) else self._plan(name, line, found)
                made = None
                if self._has_to_be_stored(name, plan):
                    await self._carry_out(name, plan)
                    return plan.command
                return self._tell(plan)
            except Unread as unread:
                found.take(unread.lookup, await self._ledger.look_up(unread.lookup))
            except Conflict as conflict:
                await self._ledger.until(conflict.stream, conflict.found)
                found = Found()
        return None

    def _plan(self, name: str, line: str, found: Found) -> Plan:
        now = self._clock()
        plan = self._house.plan(name, line, now, found)
        problem = self._talk.problem(name, plan, now) if self._talk else None
        return Plan(messages=(self._house.answer(name, problem),)) if problem else plan

    def _has_to_be_stored(self, name: str, plan: Plan) -> bool:
        return any(each.events or self._chosen(name, each) for each in plan.decisions)

    def _tell(self, plan: Plan) -> Command | None:
        if not isinstance(plan.command, _DIALOGUES):
            self._deliver(plan.messages)
            for decision in plan.decisions:
                self._deliver(self._house.carry_out(decision))
        return plan.command

    async def _carry_out(self, name: str, plan: Plan) -> None:
        """Store and tell a plan.

        Raises:
            Conflict: nothing has happened, since something else came first.
            StoreError: it cannot be stored, and so has not happened.
            Unfollowed: it may have happened.
        """
        if isinstance(plan.command, Quit):
            await self._presence.part(name, Parting.QUIT)
            return
        [decision] = plan.decisions
        chosen = self._chosen(name, decision)
        if chosen:
            await self._keep(name, *chosen)
            self._deliver(self._house.carry_out(decision))
        else:
            await self._ledger.write(decision)

    # Coming and going.

    async def _see_out(self, name: str, parting: Parting) -> None:
        async with self._player(name):
            if name in self._house:
                await self._presence.part(name, parting)

    # Small things.

    def _chosen(self, name: str, decision: Decision) -> tuple[dict[str, Style], Options] | None:
        """Return how a member wants to see things, if a decision changes that."""
        person = self._house.hall.people[name]
        if not person.member or not decision.asides:
            return None
        styles, options = dict(person.styles), person.options
        for aside in decision.asides:
            match aside:
                case StyleChosen(_, board, style):
                    styles[board] = style
                case OptionChosen(_, _, chosen):
                    options = chosen
        is_new = styles != person.styles or options != person.options
        return (styles, options) if is_new else None

    def _answer(self, name: str, sentence: str) -> None:
        if name in self._house:
            self._deliver([self._house.answer(name, sentence)])

    def _player(self, name: str) -> asyncio.Lock:
        return self._players.setdefault(name, asyncio.Lock())

    def _begin(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _is_of_one_board(plan: Plan) -> bool:
    return len(plan.decisions) == 1 and not plan.decisions[0].asides
