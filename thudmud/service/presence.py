"""Presence: lets players in and out, and stores at their seats whether they are away.

Each player's name has a lock, which is held for joining, each line, leaving and being marked as
away. Where several nodes share a store, names are also claimed, see `thudmud.service.nodes`.

A player's presence is a fact of this process (`Broadcaster.visits`). Only its effect on a seat is
stored, as the events `Absent` and `Returned`. If the store fails meanwhile, the two differ, and
`store_presence` repairs the difference later: it compares each seat with the visits, and stores
what's missing. Whatever might cause a difference calls `check_stored_presence`, which starts
`store_presence` if it finds one.

A lost connection often comes back at once, as when a page is reloaded. So the player stays for some
seconds, as a visit without a front end: nobody is told, and whoever joins under the name takes the
visit over. If nobody does, the player leaves, and has been away since the connection was lost.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, cast

from thudmud.errors import RefusedError
from thudmud.game.archive import NOTHING_FOUND, AdjournedLookup, Lookup, LookupResults
from thudmud.game.asides import CaughtUp, Gone, TookOver
from thudmud.game.decisions import decide_arrival, decide_departure
from thudmud.game.delivery import Delivery
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
from thudmud.game.tables import come_back, leave_server
from thudmud.service.broadcasting import Broadcaster
from thudmud.service.coroutines import run_eagerly
from thudmud.service.event_applier import EventApplier
from thudmud.service.interface import Base, Dismissal, JoinRequest, Limit, Visit
from thudmud.service.peer_nodes import entered
from thudmud.store import ConflictError, StoreError
from thudmud.values import replace

RETRY = 1.0
"""Seconds before another attempt to store a player's presence."""

_UNNOTICED = 1.0
"""Seconds that are too few to hold a clock for: it has just been held for the opponent's return, or
for an outage."""

_log = logging.getLogger(__name__)


class Presence:
    """Lets players in and out, and stores at their seats whether they are away.

    Args:
        base: the parts of the service that all others share.
        broadcaster: delivers arrivals and departures, and owns the visits.
        following: stores events.
        allow: raises RefusedError if a player comes and goes too often; None for no limit.
        return_within: seconds for which players stay after their connection was lost.

    Attributes:
        names: the locks of the players' names.
        closing: whether the service is closing, so that nobody comes or goes.
        lookups_at_entry: functions of features that return the lookup to make about a member who
            comes in.
    """

    def __init__(
        self,
        base: Base,
        *,
        broadcaster: Broadcaster,
        following: EventApplier,
        allow: Limit | None,
        return_within: float = 0.0,
    ) -> None:
        self._return_within = return_within
        self._hall, self._clock, self._look_up = base.hall, base.clock, base.look_up
        self._store = base.store
        self._node, self._realm, self._allow = base.node, base.realm, allow
        self._broadcaster, self._applier = broadcaster, following
        self._visits, self._watching = broadcaster.visits, broadcaster.watching
        self._screens = broadcaster.screens
        self._bus, self._scheduler, self.names = base.bus, base.scheduler, base.bus.names
        self.closing = False
        self.lookups_at_entry: list[Callable[[str], Lookup[Any] | None]] = []
        base.bus.subscribe(TABLE_EVENTS_BUT_MOVES, self._seats_changed)
        base.bus.subscribe((BoardOpened, BoardRenamed), self._board_changed)

    async def join(self, arrival: JoinRequest) -> Visit | None:
        """Let a player in, and back to their seats. The name has to be valid.

        If the player is here already, the new front end takes over, and the old visit is dismissed.

        Returns:
            The visit; None if the player may no longer come in.

        Raises:
            PlaysElsewhereError: the player is on another node, which doesn't release the name.
            RefusedError: the player has a seat, and has come and gone too often.
            StoreError: the store cannot be read, so the player hasn't come in.
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
            async with self.names.holding(name):
                away = await self._look_up(AdjournedLookup(name))
                self._applier.require_lease()
                await self._claim(name, asks=True)
                found = await self._look_up_at_entry(name) if arrival.is_member else NOTHING_FOUND
                # From here to the first message nothing blocks, so the player sees the present
                # state and misses no change after it.
                if self.closing or not arrival.admit():
                    return None
                await self._let_in(visit, arrival, found, adjourned=bool(away))
                is_in = True
            return visit
        finally:
            if not is_in:  # perhaps cancelled after the earlier visit was dismissed
                self._abandon(visit)

    async def _let_in(
        self, visit: Visit, arrival: JoinRequest, found: LookupResults, *, adjourned: bool
    ) -> None:
        """Make a visit the player's only one, and show them in.

        Args:
            visit: the new visit.
            arrival: the request.
            found: the answers of the features' lookups.
            adjourned: whether the player has adjourned matches.
        """
        name = visit.name
        if name not in self._hall.people and not arrival.quiet:
            self._allow_in(visit)
        before = self._visits.get(name)
        if before:
            visit.is_hushed = before.is_hushed  # nobody knows that they came
            self._dismiss(before, Dismissal.TAKEN_OVER)
        self._visits[name] = visit
        self._hall.set_origin(name, arrival.origin)
        if arrival.watcher:
            self._watching[name] = visit
        if arrival.terminal:
            self._broadcaster.set_terminal(name, arrival.terminal)
        profile = self._profile(arrival)
        if name in self._hall.people:
            self._take_over(visit, None if before else profile, arrival, found)
        else:
            await self._arrive(visit, profile, arrival, found, adjourned=adjourned)

    async def _look_up_at_entry(self, name: str) -> LookupResults:
        """Make the features' lookups about a member who comes in."""
        found = LookupResults()
        for make in self.lookups_at_entry:
            if lookup := make(name):
                found.store(lookup, await self._look_up(lookup))
        return found

    def _profile(self, arrival: JoinRequest) -> Profile:
        """Return the arrival's profile with its choices applied and its board names spelled."""
        profile = arrival.profile
        styles = {
            self._hall.tables.exact_name(board): each for board, each in profile.styles.items()
        }
        options = profile.options
        if arrival.choices:
            options = self._hall.apply_option_choices(arrival.name, options, arrival.choices)
        return replace(profile, styles=styles, options=options)

    def _take_over(
        self, visit: Visit, profile: Profile | None, arrival: JoinRequest, found: LookupResults
    ) -> None:
        """Continue the presence of a player who is in the hall already.

        Args:
            visit: the new visit.
            profile: the player's preferences if they were on another node; None if they were here.
            arrival: the request.
            found: the answers of the features' lookups.
        """
        name, person = visit.name, self._hall.people[visit.name]
        if profile:
            self._hall.observe(name, ())  # observing ends with a visit
            person.parts, person.node = {}, ""
            person.is_member = arrival.is_member or person.is_member
            self._hall.people.apply_preferences(person, profile)
            self._hall.rooms.update(person)
        elif arrival.choices:
            person.options = self._hall.apply_option_choices(name, person.options, arrival.choices)
        person.last_active = self._clock()
        # Their last node may have just died.
        self._bus.defer(partial(self.check_stored_presence, name))
        taken = TookOver(name, person.room, found)
        self._broadcaster.carry_out(Decision(name, asides=(taken,)), arrival.cause)
        if visit.watcher:
            for table in self._hall.tables.seats_of(name):
                visit.watcher(Delivery(taken, (name,), table))
        self._broadcaster.send_to_peers([entered(person)])

    async def leave(
        self,
        visit: Visit,
        parting: Parting = Parting.LOST,
        *,
        at_once: bool = False,
        cause: object = None,
    ) -> None:
        """Let a player leave after the line in flight. Seats are kept or given up, by ``parting``.

        Args:
            visit: the player's visit.
            parting: why they leave. After a lost connection they get no more messages.
            at_once: whether they leave now even if a lost connection might come back.
            cause: the cause to deliver with the messages.

        Raises:
            StoreError: the visit has ``must_store`` set and the departure cannot be stored, so the
                player is still here.
        """
        is_lost = parting is Parting.LOST and not visit.must_store
        may_return = is_lost and not at_once and visit.watcher is None
        if is_lost:
            # Before waiting for the lock: the line in flight has nobody to answer.
            visit.outbox = visit.watcher = None
        async with self.names.holding(visit.name):
            if visit.is_over:
                return
            if self.closing:
                visit.end()
            elif may_return and self._can_wait_for(visit):
                self._wait_for(visit)
            else:
                await self.see_out(visit, parting, cause)

    def _can_wait_for(self, visit: Visit) -> bool:
        """Return whether a player may stay for a while without a connection.

        If their time might be up meanwhile, they leave at once, which stops their clock.
        """
        if not (self._return_within and self._scheduler.has_timers):
            return False
        if visit.lost_at is not None:
            return True  # they wait already
        now = self._clock()
        return all(
            clock.advanced_to(now).seconds_left(side) > self._return_within
            for table in self._hall.tables.seats_of(visit.name)
            for side in table.sides_of(visit.name)
            if (clock := table.clock)
        )

    def _wait_for(self, visit: Visit) -> None:
        """Let a player stay whose connection was lost, and leave later unless they come back."""
        if visit.lost_at is not None:
            return
        visit.lost_at = self._clock()
        self._hall.people[visit.name].is_lost = True
        self._screens.forget(visit.name)  # nothing is rendered without a screen
        self._watching.pop(visit.name, None)
        self._scheduler.schedule(
            ("return", visit.name),
            visit.lost_at + self._return_within,
            lambda: run_eagerly(self.leave(visit, at_once=True)),
        )

    def _allow_in(self, visit: Visit) -> None:
        """Charge the talk limit for an arrival; if it is exhausted, hush the visit.

        An arrival at a seat can't be hushed, since play goes on there. So a player with a seat is
        refused instead, and told how long to wait; then only the name counts, not the address.
        """
        if self._allow is None:
            return
        if self._hall.tables.seats_of(visit.name):
            self._allow(replace(visit, origin=""))
            return
        try:
            self._allow(visit)
        except RefusedError:
            visit.is_hushed = True

    async def _arrive(
        self,
        visit: Visit,
        profile: Profile,
        arrival: JoinRequest,
        found: LookupResults,
        *,
        adjourned: bool,
    ) -> None:
        """Bring a player into the hall: first announce, then return to the seats, then look."""
        cause = arrival.cause
        entering, *seats, news = decide_arrival(
            self._hall,
            visit.name,
            self._clock(),
            profile,
            member=arrival.is_member,
            room=None if arrival.room is None else self._hall.tables.exact_name(arrival.room),
            adjourned=adjourned,
            found=found,
        )
        is_back = any(each.events for each in seats)
        is_told = is_back or not visit.quiet
        alone = visit.name if visit.is_hushed and not is_back else ""
        self._broadcaster.carry_out(entering, cause, should_deliver=is_told, only_to=alone)
        for each in seats:
            if each.events:
                await self._return_to_seat(visit, str(each.board), cause)
            else:
                self._broadcaster.carry_out(each, cause)
        there = self._hall.tables  # without those closed while `_return_to_seat` waited
        asides = tuple(
            each for each in news.asides if isinstance(each, CaughtUp) and each.board in there
        )
        news = replace(news, board=news.board if news.board in there else None, asides=asides)
        if arrival.should_look or seats:
            self._broadcaster.carry_out(news, cause, should_deliver=is_told, only_to=alone)
        else:
            self._broadcaster.send(self._broadcaster.current_facts(visit.name), cause)

    async def _return_to_seat(self, visit: Visit, board: str, cause: object) -> None:
        """Store a player's return to a seat. With ``must_store``, a failure undoes the arrival."""
        try:
            await self._store_presence_at(
                visit.name, board, Parting.LOST, cause, raises=visit.must_store
            )
        except StoreError:
            gone = decide_departure(self._hall, visit.name, Parting.LOST, self._clock())[-1]
            self._broadcaster.carry_out(gone, should_deliver=False)
            self._forget(visit)
            raise

    def _abandon(self, visit: Visit) -> None:
        """Clean up after `join` failed or was cancelled half-way."""
        if self._visits.get(visit.name) is visit:
            visit.must_store = False  # there's no front end, so the player cannot stay
            run_eagerly(self.leave(visit, at_once=True))
        elif self._node and visit.name not in self._visits:
            # Marks them as away, and releases the claim.
            run_eagerly(self.store_presence(visit.name))

    async def see_out(self, visit: Visit, parting: Parting, cause: object) -> None:
        """Store and announce a departure, end the visit, and release the name.

        The caller holds the name's lock.

        Raises:
            StoreError: the visit has ``must_store`` set and the departure cannot be stored, so the
                player stays.
        """
        name = visit.name
        terminal = self._screens.terminals.get(name)
        if parting is Parting.LOST:
            self._screens.forget(name)  # nothing is rendered without a screen
        try:
            alone = name if visit.is_hushed else ""
            await self._depart(
                name, parting, cause, quiet=visit.quiet, alone=alone, raises=visit.must_store
            )
        except StoreError:
            if terminal:
                self._screens.fit(name, terminal)
            raise
        self._forget(visit)
        await self._release(name)

    async def _depart(
        self,
        name: str,
        parting: Parting,
        cause: object,
        *,
        quiet: bool = False,
        alone: str = "",
        raises: bool = False,
    ) -> None:
        """Store that a player leaves their seats, and then announce the departure."""
        *seats, gone = decide_departure(self._hall, name, parting, self._clock())
        for decision in seats:
            if decision.events:
                board = str(decision.board)
                await self._store_presence_at(
                    name, board, parting, cause, leaves=True, raises=raises
                )
        room = self._hall.people[name].room  # the board may have been closed meanwhile
        asides = tuple(replace(each, room=room) for each in gone.asides if isinstance(each, Gone))
        is_ours, gone = name in self._visits, replace(gone, asides=asides)
        self._broadcaster.carry_out(
            gone, cause, should_deliver=not quiet, only_to=alone, is_ours=is_ours
        )

    def _forget(self, visit: Visit) -> None:
        visit.end()
        if person := self._hall.people.get(visit.name):
            person.is_lost = False  # back, or on another node
        if self._visits.get(visit.name) is visit:
            del self._visits[visit.name]
            self._scheduler.cancel(("return", visit.name))
            self._watching.pop(visit.name, None)
            if not self._needs_origin(visit.name):
                self._hall.forget_origin(visit.name)
        self._screens.forget(visit.name)
        # Another player may have accepted their seek meanwhile, which gave them a seat.
        self._bus.defer(partial(self.check_stored_presence, visit.name))

    def _dismiss(self, visit: Visit, why: Dismissal) -> None:
        """End a visit while the player stays in the hall, and notify the front end."""
        outbox = visit.outbox
        self._forget(visit)
        if outbox:
            outbox.handle_dismissal(why)

    def disconnect(self, name: str) -> None:
        """End the visit of a player at an operator's request; seats are kept."""
        if visit := self._visits.get(name):
            if visit.outbox:
                visit.outbox.handle_dismissal(Dismissal.KICKED)
            run_eagerly(self.leave(visit, at_once=True))

    def enrol(self, name: str) -> None:
        """Mark a player as a member, who has just registered an account."""
        person = self._hall.people[name]
        person.is_member = True
        self._broadcaster.send_to_peers([entered(person)])
        self._broadcaster.introduce(name)

    def players_from(self, origin: str) -> list[str]:
        """Return the players from an address who are here, or for whom something is kept.

        That is a seek, a seat at a player-opened board, or something that a feature keeps, such as
        a place in a tournament. The origins of all other players are forgotten.
        """
        holders = self._players_with_claims()
        self._hall.keep_origins(
            lambda name: (
                name in self._visits
                or name in holders
                or bool(self._hall.tables.player_boards_of(name))
            )
        )
        return [name for name, where in self._hall.origins.items() if where == origin]

    def _needs_origin(self, name: str) -> bool:
        """Return whether a player's origin is still needed, see `players_from`."""
        return name in self._players_with_claims() or bool(self._hall.tables.player_boards_of(name))

    def _players_with_claims(self) -> set[str]:
        """Return the players who have a seek, or for whom a feature keeps something."""
        holders = {seek.player for seek in self._hall.seeks.values()}
        return holders.union(*(part.protected_players() for part in self._hall.parts.values()))

    # Storing presence.

    async def _store_presence_at(
        self,
        name: str,
        board: str,
        parting: Parting,
        cause: object = None,
        *,
        leaves: bool = False,
        raises: bool = False,
    ) -> None:
        """Store a seated player's presence at one board: `Absent` or `Returned`, if it differs.

        After a conflict it tries again. If the store fails, the player is away or back all the
        same, and another attempt is scheduled. If nobody was told at first, since the connection
        might have come back, the player has been away since it was lost.

        Args:
            name: the player's name.
            board: the board's name.
            parting: why the player left, if they aren't here.
            cause: the cause to deliver with the event.
            leaves: whether the player is leaving, though still among the visits.
            raises: whether to raise StoreError instead of trying again later.
        """
        try:
            while True:
                table = self._hall.tables.get(board)
                if table is None or not table.side_of(name):
                    return
                is_here = name in self._visits and not leaves
                at = self._clock()
                events = (
                    come_back(table, name, at)
                    if is_here
                    else leave_server(table, name, parting, at, self._lost_since(name))
                )
                if not events:
                    return
                try:
                    await self._applier.write(
                        Decision(name, table.name, table.version, events), cause
                    )
                except ConflictError as conflict:
                    await self._applier.wait_past_conflict(conflict)
        except StoreError as error:
            if raises:
                raise
            self._retry_storing_presence(name, parting, error)

    def _lost_since(self, name: str) -> float | None:
        """Return when the connection of a player who leaves was lost, if that was earlier."""
        visit = self._visits.get(name)
        return visit.lost_at if visit else None

    def _retry_storing_presence(self, name: str, parting: Parting, error: StoreError) -> None:
        """Schedule another attempt to store a player's presence."""
        _log.error("could not store a player's presence: %s", error, extra={"player": name})
        at = self._clock() + RETRY
        self._scheduler.schedule(
            ("presence", name), at, lambda: run_eagerly(self.store_presence(name, parting))
        )

    async def store_presence(
        self, name: str, parting: Parting = Parting.LOST, *, raises: bool = False
    ) -> None:
        """Update the stored presence of a player at all their seats.

        A player on another node is left to that node: then the claim fails. A player in the
        hall who is on no node is removed.

        Args:
            name: the player's name.
            parting: why the player left, if they are on no node.
            raises: whether to raise StoreError instead of trying again later.
        """
        async with self.names.holding(name):
            if self.closing:
                return
            if name in self._visits:
                for table in self._hall.tables.seats_of(name):
                    await self._store_presence_at(name, table.name, parting)
                return
            try:
                if not await self._claim(name):
                    return
            except StoreError as error:
                if raises:
                    raise
                self._retry_storing_presence(name, parting, error)
                return
            if name in self._hall.people:
                await self._depart(name, parting, None)
            else:
                for table in self._hall.tables.seats_of(name):
                    await self._store_presence_at(name, table.name, parting, raises=raises)
                # Other nodes may still list the player.
                self._broadcaster.send_to_peers([Gone(name, None, Parting.LOST)], always=True)
            await self._release(name)

    def _seats_changed(self, applied: AppliedEvent) -> None:
        """Check players who got a seat, or whose presence was stored, by another's line."""
        event, table, before = applied.event, applied.table, applied.before
        if table is None or not (applied.is_ours or self._node):
            return  # without claims, only the service that stored the event knows who is here
        if before is None or table.seats is not before.seats:
            known = before.seats.values() if before else ()
            for name in table.seats.values():
                if name not in known:
                    self.check_stored_presence(name)
        if isinstance(event, Absent | Returned):
            # If the writer was cancelled, it may be wrong by now.
            self.check_stored_presence(event.player)

    def _board_changed(self, applied: AppliedEvent) -> None:
        """Check the players at a board opened or renamed while `_store_presence_at` waited."""
        event = cast("BoardOpened | BoardRenamed", applied.event)
        if table := self._hall.tables.with_key(event.key):
            for name in table.seats.values():
                self.check_stored_presence(name)

    def check_stored_presence(self, name: str) -> None:
        """Start `store_presence` for a player if the presence stored at a seat is wrong.

        Call it with no table's lock held, since names are locked before tables.
        """
        is_here = name in self._visits
        is_elsewhere = name in self._hall.people and not is_here
        if self.closing or is_elsewhere or ("presence", name) in self._scheduler:
            return  # left to the next start, the player's node or the scheduled attempt
        if any(
            (each.side_of(name) in each.away) == is_here
            for each in self._hall.tables.seats_of(name)
        ):
            run_eagerly(self.store_presence(name))

    async def _claim(self, name: str, *, asks: bool = False) -> bool:
        """Claim a name for the service's node, if any, and apply everything that is stored.

        If the name was a dead node's, the clocks at the player's boards are held for the time since
        that node's last heartbeat.

        Args:
            name: the player's name.
            asks: whether to ask another node that has the name to release it.

        Returns:
            Whether the name is the node's now; True without a node.
        """
        if self._node is None:
            return True
        if not await self._node.claim(self._realm, name, asks=asks):
            return False
        since = self._node.cut_off.pop((self._realm, name.lower()), None)
        if since is not None:
            for table in self._hall.tables.seats_of(name):
                if table.clock and self._clock() - max(since, table.clock.at) > _UNNOTICED:
                    await self._applier.hold_clock(table, since=since)
        return True

    async def _release(self, name: str) -> None:
        """Release a claim, unless the player's presence has yet to be stored."""
        if self._node and ("presence", name) not in self._scheduler:
            await self._node.release(self._realm, name)

    # Other nodes.

    async def hand_over(self, name: str) -> None:
        """Hand a player over to another node, after the line in flight.

        That node may die before it has claimed the name, and then no node has the player. So after
        the length of a lease, `_look_for` removes a player who is in the hall but not here; if
        another node has the name, the claim fails and nothing happens.
        """
        async with self.names.holding(name):
            if visit := self._visits.get(name):
                self._dismiss(visit, Dismissal.MOVED)
            await self._release(name)
        if self._node and not self.closing:
            at = self._clock() + self._node.lease
            self._scheduler.schedule(("let go", name), at, lambda: self._look_for(name))

    def _look_for(self, name: str) -> None:
        if name in self._hall.people and name not in self._visits:
            self.remove_lost_player(name)

    def remove_lost_player(self, name: str, parting: Parting = Parting.LOST) -> None:
        """Remove a player who is on no node, in the background; do nothing if they are here."""
        run_eagerly(self.store_presence(name, parting))

    def remove_stale_players(self) -> None:
        """Remove the players who have left other nodes while the link to those was down."""
        for name in self._hall.people.keys() - self._visits.keys():
            self.remove_lost_player(name)

    async def dismiss_all(self, kept: Collection[str] = ()) -> None:
        """Dismiss the players who are here, since other nodes may have taken this one for dead.

        Args:
            kept: lower-case names of the players who stay: their claims are still this node's.
        """
        # Unlocked names first: they needn't wait for anybody's line.
        for name in sorted(self._hall.people, key=self.names.is_held):
            if name.lower() in kept and name in self._visits:
                continue
            if name in self._visits:
                async with self.names.holding(name):
                    if visit := self._visits.get(name):
                        self._dismiss(visit, Dismissal.CUT_OFF)
            person = self._hall.people.get(name)
            if person and name not in self._visits:
                gone = Gone(name, person.room, Parting.LOST)
                gone_from_us = Decision(name, asides=(gone,))
                self._broadcaster.carry_out(gone_from_us, should_deliver=False, is_ours=False)
                self._bus.dispatch()
            self.remove_lost_player(name, Parting.CUT_OFF)

    def stop(self) -> None:
        """Let nobody in or out from now on. Claims stay."""
        self.closing = True

    async def close(self) -> None:
        """Wait for the lines in flight, and end all visits."""
        await self.names.wait_idle()
        for visit in self._visits.values():
            visit.end()
