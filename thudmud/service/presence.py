"""Presence: who is here, by which front end, and who is stored as away at their seats.

Each player's name has a lock, which is held for joining, each line, leaving and being marked as
away. Where several nodes share a store, names are also claimed, see `thudmud.service.nodes`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, cast

from thudmud.errors import Refused
from thudmud.game.archive import NOTHING_FOUND, AdjournedLookup, Found, Lookup
from thudmud.game.asides import CaughtUp, Gone, TookOver
from thudmud.game.decisions import arrive, part
from thudmud.game.events import (
    TABLE_EVENTS_BUT_MOVES,
    Absent,
    BoardOpened,
    BoardRenamed,
    Parting,
    Returned,
)
from thudmud.game.feature import AppliedEvent
from thudmud.game.hall import Decision
from thudmud.game.options import Profile
from thudmud.game.tables import come_back, vanish
from thudmud.game.telling import Telling
from thudmud.service.broadcasting import Broadcaster
from thudmud.service.driving import now
from thudmud.service.following import Following
from thudmud.service.interface import Arrival, Base, Dismissal, Limit, Visit
from thudmud.service.neighbours import entered
from thudmud.store import Conflict, StoreError
from thudmud.values import replace

RETRY = 1.0
"""Seconds before storing a player's presence is tried again."""

_UNNOTICED = 1.0
"""Seconds for which no clock is held: it was held just now for the opponent, or for an outage."""

_log = logging.getLogger(__name__)


class Presence:
    """Lets players in and out, and stores at their seats whether they are here.

    Args:
        base: what the parts of a service share.
        broadcaster: tells that they come and go, and has their visits.
        following: stores it.
        allow: called before others are told that somebody comes in; raises Refused if it is too
            much.

    Attributes:
        names: the locks of the players' names.
        closing: whether the service is closing, so that nobody comes or goes.
        lookups_at_entry: return what is to be looked up about a member who comes in, by the name.
    """

    def __init__(
        self,
        base: Base,
        *,
        broadcaster: Broadcaster,
        following: Following,
        allow: Limit | None,
    ) -> None:
        self._hall, self._clock, self._look_up = base.hall, base.clock, base.look_up
        self._store = base.store
        self._node, self._realm, self._allow = base.node, base.realm, allow
        self._broadcaster, self._following = broadcaster, following
        self._visits, self._watching = broadcaster.visits, broadcaster.watching
        self._screens = broadcaster.screens
        self._bus, self._scheduler, self.names = base.bus, base.scheduler, base.bus.names
        self.closing = False
        self.lookups_at_entry: list[Callable[[str], Lookup[Any] | None]] = []
        base.bus.on(TABLE_EVENTS_BUT_MOVES, self._seats_changed)
        base.bus.on((BoardOpened, BoardRenamed), self._board_changed)

    async def join(self, arrival: Arrival) -> Visit | None:
        """Let a player in, and back to their seats. The name has to be valid.

        A player who is here already moves to this front end.

        Returns:
            the visit; None if the player may not come in any more.

        Raises:
            Elsewhere: the player is on another node, which does not let them go.
            Refused: the player has a seat, but others have been told too much of them already.
            StoreError: the store cannot be read, so the player has not come in.
        """
        name = arrival.name
        visit = Visit(
            name,
            arrival.outbox,
            arrival.must_store,
            arrival.quiet,
            arrival.origin,
            watcher=arrival.watcher,
        )
        is_in = False
        try:
            async with self.names.of(name):
                away = await self._look_up(AdjournedLookup(name))
                self._following.require_lease()
                await self._claim(name, asks=True)
                found = await self._found(name) if arrival.member else NOTHING_FOUND
                # Nothing waits after this, so that what changes later is told as it comes.
                if self.closing or not arrival.admit():
                    return None
                if name not in self._hall.people and not arrival.quiet:
                    self._allow_in(visit)
                before = self._visits.get(name)
                if before:
                    self._dismiss(before, Dismissal.TAKEN_OVER)
                self._visits[name] = visit
                self._hall.set_origin(name, arrival.origin)
                if arrival.watcher:
                    self._watching[name] = visit
                if arrival.terminal:
                    self._broadcaster.fit(name, arrival.terminal)
                profile = self._profile(arrival)
                if name in self._hall.people:
                    self._take_over(visit, None if before else profile, arrival, found)
                else:
                    adjourned = bool(away)
                    await self._arrive(visit, profile, arrival, found, adjourned=adjourned)
                is_in = True
            return visit
        finally:
            if not is_in:  # their earlier front end may have let them go already
                self._abandon(visit)

    async def _found(self, name: str) -> Found:
        """Return what features want to be looked up about a member who comes in."""
        found = Found()
        for make in self.lookups_at_entry:
            if lookup := make(name):
                found.take(lookup, await self._look_up(lookup))
        return found

    def _profile(self, arrival: Arrival) -> Profile:
        """Return the profile of a player who comes in, with the choices they made just now."""
        profile = arrival.profile
        styles = {self._hall.tables.spelt(board): each for board, each in profile.styles.items()}
        options = profile.options
        if arrival.choices:
            options = self._hall.choose(arrival.name, options, arrival.choices)
        return replace(profile, styles=styles, options=options)

    def _take_over(
        self, visit: Visit, profile: Profile | None, arrival: Arrival, found: Found
    ) -> None:
        """Let a player go on who is here, or was on another node. Then ``profile`` is given."""
        name, person = visit.name, self._hall.people[visit.name]
        if profile:
            self._hall.observe(name, ())  # observing lasts as long as a visit
            person.parts, person.node = {}, ""
            person.member = arrival.member or person.member
            self._hall.people.adopt(person, profile)
        person.active = self._clock()
        self._bus.defer(partial(self.check, name))  # their last node may have just died
        taken = TookOver(name, person.room, found)
        self._broadcaster.carry_out(Decision(name, asides=(taken,)), arrival.cause)
        if visit.watcher:
            for table in self._hall.tables.seats_of(name):
                visit.watcher(Telling(taken, (name,), table))
        self._broadcaster.pass_on([entered(person)])

    async def leave(
        self, visit: Visit, parting: Parting = Parting.LOST, *, cause: object = None
    ) -> None:
        """See a player out, after the line in flight. Their seats are kept, or given up.

        Args:
            visit: the player's.
            parting: why they left. After a lost connection they are told nothing more.
            cause: what ``told`` is to be told that it is about.

        Raises:
            StoreError: it must be stored and cannot be, so they are still here.
        """
        if parting is Parting.LOST and not visit.must_store:
            visit.outbox = visit.watcher = None
        async with self.names.of(visit.name):
            if visit.is_over:
                return
            if self.closing:
                visit.end()
            else:
                await self.see_out(visit, parting, cause)

    def _allow_in(self, visit: Visit) -> None:
        """Ask whether others may be told that a player comes in; if not, hush the visit.

        At a seat others have to be told, since play goes on there. So for a player with a seat only
        the name counts, not the address, and a refusal says how long to wait.
        """
        if self._allow is None:
            return
        if self._hall.tables.seats_of(visit.name):
            self._allow(replace(visit, origin=""))
            return
        try:
            self._allow(visit)
        except Refused:
            visit.hushed = True

    async def _arrive(
        self,
        visit: Visit,
        profile: Profile,
        arrival: Arrival,
        found: Found,
        *,
        adjourned: bool,
    ) -> None:
        """Store and tell that a player comes in, and is back at their seats."""
        cause = arrival.cause
        entering, *seats, news = arrive(
            self._hall,
            visit.name,
            self._clock(),
            profile,
            member=arrival.member,
            room=None if arrival.room is None else self._hall.tables.spelt(arrival.room),
            adjourned=adjourned,
            found=found,
        )
        is_back = any(each.events for each in seats)
        is_told = is_back or not visit.quiet
        alone = visit.name if visit.hushed and not is_back else ""
        self._broadcaster.carry_out(entering, cause, told=is_told, alone=alone)
        for each in seats:
            if each.events:
                await self._back(visit, str(each.board), cause)
            else:
                self._broadcaster.carry_out(each, cause)
        there = self._hall.tables  # some may have been closed meanwhile
        asides = tuple(
            each for each in news.asides if isinstance(each, CaughtUp) and each.board in there
        )
        news = replace(news, board=news.board if news.board in there else None, asides=asides)
        if arrival.looks or seats:
            self._broadcaster.carry_out(news, cause, told=is_told, alone=alone)
        else:
            self._broadcaster.send(self._broadcaster.brief(visit.name), cause)

    async def _back(self, visit: Visit, board: str, cause: object) -> None:
        """Store that a player is back at a board."""
        try:
            await self._note(visit.name, board, Parting.LOST, cause, raises=visit.must_store)
        except StoreError:
            gone = part(self._hall, visit.name, Parting.LOST, self._clock())[-1]
            self._broadcaster.carry_out(gone, told=False)
            self._forget(visit)
            raise

    def _abandon(self, visit: Visit) -> None:
        """See out a player whose joining failed half-way."""
        if self._visits.get(visit.name) is visit:
            visit.must_store = False  # they have no front end, so they cannot stay
            now(self.leave(visit))
        elif self._node and visit.name not in self._visits:
            now(self.note(visit.name))

    async def see_out(self, visit: Visit, parting: Parting, cause: object) -> None:
        """Store and tell that a player leaves. If it must be stored and cannot be, they stay."""
        name = visit.name
        terminal = self._screens.terminals.get(name)
        if parting is Parting.LOST:
            self._screens.forget(name)  # without a screen they are told nothing
        try:
            alone = name if visit.hushed else ""
            await self._go(
                name, parting, cause, quiet=visit.quiet, alone=alone, raises=visit.must_store
            )
        except StoreError:
            if terminal:
                self._screens.fit(name, terminal)
            raise
        self._forget(visit)
        await self._release(name)

    async def _go(
        self,
        name: str,
        parting: Parting,
        cause: object,
        *,
        quiet: bool = False,
        alone: str = "",
        raises: bool = False,
    ) -> None:
        """Store that a player leaves their seats, and then tell that they left."""
        *seats, gone = part(self._hall, name, parting, self._clock())
        for decision in seats:
            if decision.events:
                board = str(decision.board)
                await self._note(name, board, parting, cause, leaves=True, raises=raises)
        room = self._hall.people[name].room  # the board may have been closed meanwhile
        asides = tuple(replace(each, room=room) for each in gone.asides if isinstance(each, Gone))
        is_ours, gone = name in self._visits, replace(gone, asides=asides)
        self._broadcaster.carry_out(gone, cause, told=not quiet, alone=alone, is_ours=is_ours)

    def _forget(self, visit: Visit) -> None:
        visit.end()
        if self._visits.get(visit.name) is visit:
            del self._visits[visit.name]
            self._watching.pop(visit.name, None)
            if not self._holds(visit.name):
                self._hall.forget_origin(visit.name)
        self._screens.forget(visit.name)
        # Another player may have given them a seat meanwhile, by accepting a seek.
        self._bus.defer(partial(self.check, visit.name))

    def _dismiss(self, visit: Visit, why: Dismissal) -> None:
        """End a visit without the player leaving, and tell the front end why."""
        outbox = visit.outbox
        self._forget(visit)
        if outbox:
            outbox.dismissed(why)

    def disconnect(self, name: str) -> None:
        """End the visit of a player. Their seats are kept."""
        if visit := self._visits.get(name):
            if visit.outbox:
                visit.outbox.dismissed(Dismissal.KICKED)
            now(self.leave(visit))

    def enrol(self, name: str) -> None:
        """Note that a player has an account now."""
        person = self._hall.people[name]
        person.member = True
        self._broadcaster.pass_on([entered(person)])
        self._broadcaster.introduce(name)

    def all_from(self, origin: str) -> list[str]:
        """Return the players from an address who are here, or left something behind.

        That is a seek, a seat, or a place in a tournament that is not over.
        """
        holders = self._holders()
        self._hall.keep_origins(
            lambda name: (
                name in self._visits or name in holders or bool(self._hall.tables.made_of(name))
            )
        )
        return [name for name, where in self._hall.origins.items() if where == origin]

    def _holds(self, name: str) -> bool:
        """Whether a player has a seek, a place in a tournament, or a seat at such a board."""
        return name in self._holders() or bool(self._hall.tables.made_of(name))

    def _holders(self) -> set[str]:
        """Return the players with a seek, or for whom a feature keeps something."""
        holders = {seek.player for seek in self._hall.seeks.values()}
        return holders.union(*(part.named() for part in self._hall.parts.values()))

    # Storing presence.

    async def _note(
        self,
        name: str,
        board: str,
        parting: Parting,
        cause: object = None,
        *,
        leaves: bool = False,
        raises: bool = False,
    ) -> None:
        """Store whether a player with a seat at a board is here; after a conflict, try again.

        If it cannot be stored, they are away or back all the same, and it is stored later.

        Args:
            name: the player's.
            board: which one.
            parting: why they left, if they are not here.
            cause: what ``told`` is to be told that it is about.
            leaves: whether they are leaving, but here until that is stored.
            raises: whether to raise a StoreError instead.
        """
        try:
            while True:
                table = self._hall.tables.get(board)
                if table is None or not table.side_of(name):
                    return
                is_here = name in self._visits and not leaves
                at = self._clock()
                events = come_back(table, name, at) if is_here else vanish(table, name, parting, at)
                if not events:
                    return
                try:
                    await self._following.write(
                        Decision(name, table.name, table.version, events), cause
                    )
                except Conflict as conflict:
                    await self._following.until(conflict)
        except StoreError as error:
            if raises:
                raise
            self._note_later(name, parting, error)

    def _note_later(self, name: str, parting: Parting, error: StoreError) -> None:
        """Try again later to store whether a player is here."""
        _log.error("not stored: %s", error, extra={"player": name})
        at = self._clock() + RETRY
        self._scheduler.at(("presence", name), at, lambda: now(self.note(name, parting)))

    async def note(
        self, name: str, parting: Parting = Parting.LOST, *, raises: bool = False
    ) -> None:
        """Store at all seats of a player whether they are here, or away and on no node.

        Players on another node are left to it. Those whom another node lost are seen out.

        Args:
            name: the player's.
            parting: why they left, if they are nowhere.
            raises: whether to raise a StoreError; else it is tried again later.
        """
        async with self.names.of(name):
            if self.closing:
                return
            if name in self._visits:
                for table in self._hall.tables.seats_of(name):
                    await self._note(name, table.name, parting)
                return
            try:
                if not await self._claim(name):
                    return
            except StoreError as error:
                if raises:
                    raise
                self._note_later(name, parting, error)
                return
            if name in self._hall.people:
                await self._go(name, parting, None)
            else:
                for table in self._hall.tables.seats_of(name):
                    await self._note(name, table.name, parting, raises=raises)
                # Other nodes may still list them.
                self._broadcaster.pass_on([Gone(name, None, Parting.LOST)], always=True)
            await self._release(name)

    def _seats_changed(self, applied: AppliedEvent) -> None:
        """Check those who got a seat, or left, by somebody else's line."""
        event, table, before = applied.event, applied.table, applied.before
        if table is None or not (applied.is_ours or self._node):
            return  # without claims, only the service that stored it knows who is here
        if before is None or table.seats is not before.seats:
            known = before.seats.values() if before else ()
            for name in table.seats.values():
                if name not in known:
                    self.check(name)
        if isinstance(event, Absent | Returned):
            self.check(event.player)  # if its line was cancelled, nobody waited for it

    def _board_changed(self, applied: AppliedEvent) -> None:
        """Check those at a board, whose presence may have been stored under its old name."""
        event = cast("BoardOpened | BoardRenamed", applied.event)
        if table := self._hall.tables.with_key(event.key):
            for name in table.seats.values():
                self.check(name)

    def check(self, name: str) -> None:
        """Store whether a player is here, if a seat of theirs says otherwise.

        It is called when no table's lock is held, since names are locked before tables.
        """
        is_here = name in self._visits
        is_elsewhere = name in self._hall.people and not is_here
        if self.closing or is_elsewhere or ("presence", name) in self._scheduler:
            return  # the next start, their node or the next try does it
        if any(
            (each.side_of(name) in each.away) == is_here
            for each in self._hall.tables.seats_of(name)
        ):
            now(self.note(name))

    async def _claim(self, name: str, *, asks: bool = False) -> bool:
        """Claim a name for our node, if there is one, and apply everything stored.

        If the player's node was dead, the clocks at their boards are held for the time since.
        """
        if self._node is None:
            return True
        if not await self._node.claim(self._realm, name, asks=asks):
            return False
        since = self._node.cut_off.pop((self._realm, name.lower()), None)
        if since is not None:
            for table in self._hall.tables.seats_of(name):
                if table.clock and self._clock() - max(since, table.clock.at) > _UNNOTICED:
                    await self._following.hold_clock(table, since=since)
        return True

    async def _release(self, name: str) -> None:
        """Release a name, unless its presence has yet to be stored."""
        if self._node and ("presence", name) not in self._scheduler:
            await self._node.release(self._realm, name)

    # Other nodes.

    async def let_go(self, name: str) -> None:
        """Leave a player to another node, after their line in flight.

        That may die before it has claimed them: then nobody has them, and they are seen out.
        """
        async with self.names.of(name):
            if visit := self._visits.get(name):
                self._dismiss(visit, Dismissal.MOVED)
            await self._release(name)
        if self._node and not self.closing:
            at = self._clock() + self._node.lease
            self._scheduler.at(("let go", name), at, lambda: self._look_for(name))

    def _look_for(self, name: str) -> None:
        if name in self._hall.people and name not in self._visits:
            self.lost(name)

    def lost(self, name: str, parting: Parting = Parting.LOST) -> None:
        """See out, in the background, a player whom no node has any more, unless they are here."""
        now(self.note(name, parting))

    def recount(self) -> None:
        """See out those who left other nodes while nothing was heard from these."""
        for name in self._hall.people.keys() - self._visits.keys():
            self.lost(name)

    async def dismiss(self, kept: Collection[str] = ()) -> None:
        """Dismiss all who are here, since other nodes may have taken this one for dead.

        Args:
            kept: the lower-case names of those who stay, since nobody can have taken them.
        """
        for name in sorted(self._hall.people, key=self.names.is_taken):  # free locks first
            if name.lower() in kept and name in self._visits:
                continue
            if name in self._visits:
                async with self.names.of(name):  # nobody waits for this
                    if visit := self._visits.get(name):
                        self._dismiss(visit, Dismissal.CUT_OFF)
            person = self._hall.people.get(name)
            if person and name not in self._visits:
                gone = Gone(name, person.room, Parting.LOST)
                gone_from_us = Decision(name, asides=(gone,))
                self._broadcaster.carry_out(gone_from_us, told=False, is_ours=False)
                self._bus.dispatch()
            self.lost(name, Parting.CUT_OFF)

    def stop(self) -> None:
        """Let nobody in or out any more. Claims stay."""
        self.closing = True

    async def close(self) -> None:
        """Wait for the lines in flight, and end all visits."""
        await self.names.all_left()
        for visit in self._visits.values():
            visit.end()
