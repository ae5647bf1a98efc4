"""The service: players' lines become events, which are stored, applied and told.

Every front end is a skin over it: telnet sessions, bots, the gateway, houses. A front end lets
people join, submits their lines and lets them leave. Messages for a player go to the outbox of
their visit; all messages also go to ``told``. A program that wants no words has a watcher, which is
called with tellings.

The invariants, each with the place in the code:

1.  Locks are taken in one order: first a player's name, then a table. The holder of a table's lock
    never waits for a name's. (`PlayerLines.submit`, `Following.write`)
2.  A name's lock is held for joining, each line, leaving and being marked as away, so what concerns
    one player happens in order. Other players' lines do not wait for it. (`Presence.join`,
    `Presence.leave`)
3.  Events are applied and told in one place, in the store's order, whoever stored them. Those that
    were decided here carry a mark with what only the decision knows. (`Following._take`)
4.  When an append is done, its caller is woken first and the events are handed out second, in the
    same callback of the loop. Nothing waits between the end of an append and the end of the line,
    so the text and the prompt after it are one write.
5.  At a conflict, nothing has been told yet. The line waits until what came first is applied here,
    and then its command is decided again, without parsing. (`PlayerLines._decide`)
6.  A line that is cancelled while its events are being stored may be stored all the same. Then it
    is told when they are handed out, and the next line at the table follows it or finds a conflict.
    (`Following.write`)
7.  What is not stored has not happened, and an exception tells the front end so. Only presence
    differs: a player who leaves is gone even if that cannot be stored yet, and it is stored later.
    A front end can demand that it is stored; then the player stays. (`Presence._note`)
8.  Shutdown waits for the lines in flight. It marks nobody as away, and claims on names stay: the
    next start, or another node, marks those who do not come back. (`Service.close`)
9.  Outboxes and watchers neither raise nor call the service. They postpone what they have to do.

`thudmud.service.nodes` has more invariants, for several nodes on one store.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Coroutine, Iterable
from functools import partial
from typing import Any, cast

from thudmud import features
from thudmud.errors import Refused
from thudmud.features.archive.messages import recorded
from thudmud.game import events
from thudmud.game.archive import (
    NOTHING_FOUND,
    AdjournedLookup,
    BattleLookup,
    Found,
    FoundBattle,
    Lookup,
)
from thudmud.game.asides import Aside, AsideT, BoardListed, Entered
from thudmud.game.command import Command
from thudmud.game.evaluation import Adviser
from thudmud.game.events import TableEvent
from thudmud.game.feature import (
    AppliedEvent,
    AsideStorer,
    FindWork,
    LookupAnswerer,
    PositionAnswerer,
    Reactor,
)
from thudmud.game.hall import Decision, Hall, claimants
from thudmud.game.options import Toggle
from thudmud.game.projections import HALL, realm_of
from thudmud.game.refusals import Refusal
from thudmud.game.table import BoardSpec, Table
from thudmud.language.parsing import player_problem
from thudmud.service.boards import put_up
from thudmud.service.broadcasting import Broadcaster
from thudmud.service.bus import EventBus
from thudmud.service.driving import now
from thudmud.service.following import Following
from thudmud.service.interface import Arrival, Base, Onlooker, Outbox, Result, Teller, Visit
from thudmud.service.lines import PlayerLines, Policy
from thudmud.service.neighbours import Neighbours
from thudmud.service.nodes import Node
from thudmud.service.onlookers import tell
from thudmud.service.presence import Presence
from thudmud.service.scheduler import Later, TimerScheduler
from thudmud.service.tidying import Tidying
from thudmud.service.timing import Timing
from thudmud.store import Conflict, Store
from thudmud.store import hall as hall_rows
from thudmud.views import sentences
from thudmud.views.facts import refusal_fact
from thudmud.views.messages import Message
from thudmud.views.refusals import refused
from thudmud.views.view import Terminal

LISTED_EVERY = 1.0
"""The shortest time, in seconds, between two updates of a board's entry for those in the hall."""

_log = logging.getLogger(__name__)


class Service:
    """A hall of boards and the people in it, on a store.

    Args:
        hall: the hall, with fresh boards.
        store: the store.
        node: its node, where several services share the store; None if it is the only one at these
            boards.
        clock: returns the seconds since the epoch.
        told: called with all that is told, and its cause.
        later: calls a function later; None where nothing waits, and a failing store is not tried
            again.
        policy: how lines are handled.
        adviser: asked for hints and analyses; None if there are none.
        replay_pause: seconds between two plies of a replay. With 0 several are shown at once; with
            None the front end shows the next.
        is_alone: whether the hall never has other boards than its first ones.
        without: features whose handlers and timers aren't set up.

    Attributes:
        realm: the realm of the hall's boards, see `thudmud.game.projections.realm_of`.
        bus: the event bus, which owns the locks.
        scheduler: the timers.
        server_stopper: stops the server, for the reason it is called with; None without a server.
        reactors: what features do by themselves.
    """

    def __init__(
        self,
        hall: Hall,
        store: Store,
        *,
        clock: Callable[[], float],
        node: Node | None = None,
        told: Teller | None = None,
        later: Later | None = None,
        policy: Policy | None = None,
        adviser: Adviser | None = None,
        replay_pause: float | None = 0,
        is_alone: bool = False,
        without: Collection[str] = (),
    ) -> None:
        self.hall, self.store, self.clock = hall, store, clock
        self.realm = next((realm_of(table.key) for table in hall.tables.values()), "")
        self._is_alone, self._node = is_alone, node
        self.adviser, self.replay_pause = adviser, replay_pause
        self._to_list: set[str] = set()
        """The keys of boards whose entries are about to be told, where there are no timers."""
        self.server_stopper: Callable[[str], None] | None = None
        self.bus, self.scheduler = EventBus(), TimerScheduler(clock, later)
        policy = policy or Policy()

        # Each part subscribes to the bus; handlers run in the order of construction.
        base = Base(hall, store, clock, later, node, self.realm, self.bus, self.scheduler)
        self._base = base
        self.broadcaster = broadcaster = Broadcaster(base, told)
        self.following = Following(base, broadcaster, is_alone=is_alone)
        self.bus.on(events.TABLE_EVENTS_BUT_MOVES, self._list)
        self._tidying = Tidying(base, self.following)
        self._timing = Timing(base, self.following, broadcaster.tell_here)
        self.presence = Presence(
            base,
            broadcaster=broadcaster,
            following=self.following,
            allow=policy.allow,
        )
        self.lines = PlayerLines(
            base,
            policy,
            broadcaster=broadcaster,
            following=self.following,
            presence=self.presence,
            is_alone=is_alone,
        )
        self._neighbours = Neighbours(base, broadcaster, self.presence.lost)
        self.reactors: list[Reactor] = []
        self._answerers: dict[str, PositionAnswerer] = {}
        self._at_stop: list[Callable[[], None]] = []
        gone = features.left_out(without)
        for feature in features.load():
            if feature.setup and feature not in gone:
                reactor = feature.setup(self)
                self.reactors += [reactor] if isinstance(reactor, Reactor) else []

    # Players come, type and go.

    def join(self, arrival: Arrival) -> Coroutine[Any, Any, Visit | None]:
        """Let a player in, see `Presence.join`; the visit is None if they may not come any more.

        Raises:
            Elsewhere: the player is on another node, which does not let them go.
            Refused: others have been told too much of the player already.
            StoreError: the store cannot be read, so the player has not come in.
        """
        return self.presence.join(arrival)

    def leave(
        self, visit: Visit, parting: events.Parting = events.Parting.LOST, *, cause: object = None
    ) -> Coroutine[Any, Any, None]:
        """See a player out, after the line in flight, see `Presence.leave`.

        Raises:
            StoreError: it must be stored and cannot be, so they are still here.
        """
        return self.presence.leave(visit, parting, cause=cause)

    def submit(
        self,
        visit: Visit,
        line: str | Command,
        *,
        cause: object = None,
        at: int | None = None,
        key: str | None = None,
    ) -> Coroutine[Any, Any, Result]:
        """Carry out a line, after all earlier lines of the player, see `PlayerLines.submit`.

        Raises:
            Conflict: the board is at another version than ``at``.
            StoreError: it cannot be stored, so nothing happened.
            Unfollowed: it may have happened.
        """
        return self.lines.submit(visit, line, cause=cause, at=at, key=key)

    def ask(
        self, visit: Visit, line: str, number: int | str | None = None
    ) -> Coroutine[Any, Any, None]:
        """Answer a question of a player's program with facts, see `PlayerLines.ask`.

        Raises:
            StoreError: the answer cannot be read from the store.
        """
        return self.lines.ask(visit, line, number)

    def emote(self, visit: Visit, board: str, deed: str) -> Coroutine[Any, Any, None]:
        """Tell all at a board that a player does something, wherever the player is."""
        return self.lines.emote(visit, board, deed)

    def enrol(self, name: str) -> None:
        """Note that a player has an account now."""
        self.presence.enrol(name)

    # What they see.

    def fit(self, name: str, terminal: Terminal, *, brief: bool = False) -> None:
        """Note a player's terminal, see `Broadcaster.fit`."""
        self.broadcaster.fit(name, terminal, brief=brief)

    def brief(self, name: str) -> list[Message]:
        """Return the present state for a player's program that has just come."""
        return self.broadcaster.brief(name)

    def announce(self, sentence: str) -> None:
        """Tell everybody a sentence."""
        self.broadcaster.announce(sentence)

    def say(self, name: str, sentence: str, cause: object = None) -> None:
        """Tell a player who is here a sentence."""
        self.broadcaster.say(name, sentence, cause)

    def watch(self, outbox: Outbox, terminal: Terminal, words: str | None) -> Onlooker | None:
        """Let somebody without a name watch a board, or the hall, see `Onlookers.add`."""
        return self.broadcaster.onlookers.add(outbox, terminal, words)

    def unwatch(self, onlooker: Onlooker) -> None:
        """Let an onlooker go."""
        self.broadcaster.onlookers.remove(onlooker)

    # The store.

    def look_up(self, lookup: Lookup[Any]) -> Coroutine[Any, Any, Any]:
        """Return the answer to a lookup, from the store.

        Raises:
            StoreError: it cannot be read.
        """
        return self._base.look_up(lookup)

    def follow(self, position: int | None = None) -> Coroutine[Any, Any, None]:
        """Follow the store from now on, or from a position at which the boards stand.

        Raises:
            StoreError: it cannot be read.
        """
        return self.following.begin(position)

    def fail(self, error: Exception) -> None:
        """Give up: nothing more is applied here, and `ended` raises the error."""
        self.following.fail(error)

    def ended(self) -> Coroutine[Any, Any, None]:
        """Wait until nothing more can be applied here, and raise the reason."""
        return self.following.ended()

    def expect_clocks_held(self) -> None:
        """From now on, hold the clock of each board before anything else is stored there."""
        self.following.expect_clocks_held()

    def hold_clocks(self, since: float) -> Coroutine[Any, Any, None]:
        """Hold all clocks for the time since then, which the store does not know of.

        Raises:
            StoreError: it cannot be stored.
        """
        return self.following.hold_clocks(since)

    def hold_all_clocks(self, *, must_store: bool = False) -> Coroutine[Any, Any, None]:
        """Hold all clocks for the time in which no server could store anything.

        Raises:
            StoreError: ``must_store`` is set, and it cannot be stored.
        """
        return self.following.hold_all_clocks(must_store=must_store)

    # Other nodes.

    def hear(self, asides: Iterable[Aside], node: str) -> None:
        """Apply and tell what happened on another node, or note who is there."""
        self._neighbours.hear(asides, node)

    def let_go(self, name: str) -> Coroutine[Any, Any, None]:
        """Leave a player to another node, after their line in flight."""
        return self.presence.let_go(name)

    def lost(self, name: str, parting: events.Parting = events.Parting.LOST) -> None:
        """See out, in the background, a player whom no node has any more, unless they are here."""
        self.presence.lost(name, parting)

    def recount(self) -> None:
        """See out those who left other nodes while nothing was heard from these."""
        self.presence.recount()

    def dismiss(self, kept: Collection[str] = ()) -> Coroutine[Any, Any, None]:
        """Dismiss all who are here, since other nodes may have taken this one for dead.

        Args:
            kept: the lower-case names of those who stay, since nobody can have taken them.
        """
        return self.presence.dismiss(kept)

    # Opening and closing.

    async def open(self) -> None:
        """Open the hall's boards in the store, load all open boards, and follow the store.

        It marks nobody as away, see `settle`.

        Raises:
            StartError: another board has the name of one of them.
            StoreError: the store cannot be read.
        """
        specs = {table.key: table for table in self.hall.tables.values()}
        await put_up(self.store, specs.values(), self.clock())
        position = await self.store.position()
        if not self._is_alone:
            version = await self.store.version(HALL)  # read before the boards
            self.hall.advance(version)
            self.hall.tables.open(
                BoardSpec(board.name, board.rules, key=board.key)
                for board in await self.store.read(hall_rows.open_boards)
                if realm_of(board.key) == self.realm and board.key not in specs
            )
            if not self.realm:
                self.hall.resume_from(
                    version,
                    await self.store.read(hall_rows.open_seeks),
                    await self.store.read(hall_rows.parts),
                )
        for table in list(self.hall.tables.values()):
            board_now = await self.store.read(hall_rows.open_board, table.key)
            first = board_now.beginning if board_now else 1
            entries = await self.store.read_stream(table.key, first)
            happened = [(cast("TableEvent", each.event), each.battle) for each in entries]
            self.hall.restore(table.name, first - 1, happened)
        await self.follow(position)
        if self._node:
            await self._node.add(self)

    def people_here(self) -> tuple[Entered, ...]:
        """Return who is here, for another node; nobody once this one shuts down.

        The others may have the claims on them before all is stored here.
        """
        return () if self.presence.closing else self._neighbours.people_here()

    @property
    def is_alive(self) -> bool:
        """Whether the lease of the node holds, so that events can be stored."""
        return self._node is None or self._node.is_alive

    async def settle(self, *, must_store: bool = False) -> None:
        """Store that seated players are away who are on no node.

        Also hold the clocks for the time in which no server ran.

        Raises:
            StoreError: ``must_store`` is set, and it cannot be stored.
        """
        await self.hold_all_clocks(must_store=must_store)
        for table in list(self.hall.tables.values()):
            for side, name in table.seats.items():
                if side not in table.away and name not in self.hall.people:
                    await self.presence.note(name, events.Parting.RESTART, raises=must_store)
        self._tidying.begin()
        self._timing.begin()
        self.hall.begin(self.clock())
        for reactor in self.reactors:
            reactor.begin()

    def stop(self) -> None:
        """Take no new lines, and let nobody in or out any more. Claims stay."""
        self.presence.stop()
        self._tidying.stop()
        self.scheduler.close()
        for call in self._at_stop:
            try:
                call()
            except Exception:  # noqa: BLE001  (the rest has to stop all the same)
                _log.exception("a feature could not stop")

    async def close(self) -> None:
        """Stop, wait for the lines in flight, and stop following the store."""
        self.stop()
        await self.presence.close()
        self.following.close()
        if self._node:
            self._node.remove(self)

    async def pass_time(self) -> None:
        """Do what is due by now, for a front end without timers."""
        await self.following.pass_time()
        for reactor in self.reactors:
            await reactor.look()

    # The interface for features, see `thudmud.game.feature.FeatureContext`.

    def local_players(self) -> Collection[str]:
        """Return the names of the players who are on this node."""
        return self.broadcaster.visits.keys()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Start a coroutine at once; return its result, or the task that runs the rest."""
        return now(work)

    def has_screen(self, player: str) -> bool:
        """Whether a player on this node reads text; bots and some programs don't."""
        return player in self.broadcaster.screens.terminals

    def store_with_decisions(self, find: FindWork) -> None:
        """Have what a function finds for a decision done in the transaction that stores it."""
        self.following.finding.append(find)

    def tell(self, aside: Aside, cause: object = None) -> None:
        """Apply an aside, and deliver it to players on this node."""
        self.broadcaster.tell_here(aside, cause)

    def refuse(self, player: str, refusal: Refused) -> None:
        """Tell a player on this node that something was refused."""
        self.broadcaster.refuse(player, None, refusal, None)

    async def wait_for_line(self, player: str) -> None:
        """Wait until a player's line in progress, or their joining, is done."""
        async with self.bus.names.of(player):
            pass

    def answer(self, kind: type[Lookup[Any]], look_up: LookupAnswerer) -> None:
        """Have a function answer the lookups of a type, instead of the store."""
        self.lines.answers[kind] = look_up

    async def carry_out(self, decision: Decision) -> bool:
        """Store a decision that no player made, apply it, and tell of it.

        Returns:
            False if something else came first, so that nothing was stored.

        Raises:
            StoreError: it cannot be stored.
        """
        try:
            await self.following.write(decision)
        except Conflict as conflict:
            await self.following.until(conflict)
            return False
        return True

    async def run_command(
        self,
        player: str,
        command: Command,
        found: Found = NOTHING_FOUND,
        cause: object = None,
        *,
        unless: Callable[[], bool] | None = None,
    ) -> None:
        """Carry out a command for a player, as if they had typed it, if they are on this node.

        Raises:
            StoreError: it cannot be stored, or something that it needs cannot be read.
        """
        await self.lines.run_command(player, command, found, cause, unless=unless)

    def at_blank_line(self, call: Callable[[str], None]) -> None:
        """Have a function called with the name of each player who enters a blank line."""
        self.lines.at_blank_line.append(call)

    def at_stop(self, call: Callable[[], None]) -> None:
        """Have a function called when the service stops."""
        self._at_stop.append(call)

    def disconnect(self, player: str) -> None:
        """End the visit of a player on this node, whose seats are kept."""
        self.presence.disconnect(player)

    def stop_server(self, why: str) -> None:
        """Stop the server, where the service is one's; ``why`` is logged."""
        if self.server_stopper:
            self.server_stopper(why)

    def store_asides(self, kind: type[AsideT], store: AsideStorer[AsideT]) -> None:
        """Have a function store the asides of a type before they are told."""
        self.lines.storers[kind] = store

    def look_up_at_entry(self, make: Callable[[str], Lookup[Any] | None]) -> None:
        """Have something looked up about each member who comes in."""
        self.presence.lookups_at_entry.append(make)

    # What has happened.

    def _list(self, applied: AppliedEvent) -> None:
        """Tell those in the hall the new entry of a board, soon, with changes that follow."""
        after, before = applied.table, applied.before
        ended = isinstance(applied.event, events.BattleEnded)  # the move before it has changed it
        if after is None or (before and _as_listed(after) == _as_listed(before) and not ended):
            return
        tell = partial(self._tell_listed, after.key)
        if self.scheduler.has_timers:
            self.scheduler.at(("listed", after.key), self.clock() + LISTED_EVERY, tell)
        elif after.key not in self._to_list:
            self._to_list.add(after.key)
            self.bus.defer(tell)

    def _tell_listed(self, key: str) -> None:
        self._to_list.discard(key)
        if table := self.hall.tables.with_key(key):
            self.broadcaster.tell_here(BoardListed("", table.name))

    # Queries.

    def __contains__(self, name: object) -> bool:
        """Whether a player of that name is here."""
        return name in self.hall.people

    def visit(self, name: str) -> Visit | None:
        """Return the visit of a player on this node; None if they are not here."""
        return self.broadcaster.visits.get(name)

    def name_problem(self, name: str) -> str | None:
        """Return why that cannot be a player's name, as a sentence; None if it can."""
        problem = player_problem(name, self.hall.tables.words)
        return refused(problem) if problem else None

    def is_waiting(self, name: str) -> bool:
        """Whether a player is in battles, and it is the opponent's turn in all of them."""
        running = [table for table in self.hall.tables.seats_of(name) if table.running]
        return bool(running) and not any(table.is_turn_of(name) for table in running)

    def prompt(self, name: str) -> str:
        """Return the sign that asks a player for a line; "" if they want none.

        It reminds them that they are looking for an opponent.
        """
        person = self.hall.people.get(name)
        if person and Toggle.PROMPT not in person.options.on:
            return ""
        for seek in self.hall.seeks.values():  # a generator would be called, for each line
            if seek.player == name and not seek.to:
                return sentences.SEEKING_PROMPT
        return sentences.PROMPT

    async def needs(self, name: str) -> bool:
        """Whether a seat or a place in a tournament is kept for a name, or a match put away.

        The name can be in any case.

        Raises:
            StoreError: that cannot be read.
        """
        return any(claimants(self.hall, name, await self.adjourned(name)))

    async def adjourned(self, name: str) -> list[events.SavedMatch]:
        """Return the matches of a player, named in any case, that were put away."""
        return [each.match for each in await self.look_up(AdjournedLookup(name))]

    async def show_battle(self, outbox: Outbox, terminal: Terminal, number: int) -> None:
        """Tell an onlooker's program about a battle.

        Raises:
            StoreError: it cannot be read.
        """
        if found := await self.look_up(BattleLookup(number)):
            tell(outbox, terminal, recorded(found, ""))
        else:
            none = Refused(Refusal.NO_SUCH_BATTLE, number=number)
            tell(outbox, terminal, [refusal_fact(none, "")])

    def answer_onlookers(self, request: str, answerer: PositionAnswerer) -> None:
        """Register the answer to a request of onlookers' programs about a position of a battle."""
        self._answerers[request] = answerer

    async def show_position(
        self, outbox: Outbox, terminal: Terminal, request: str, number: int, ply: int
    ) -> None:
        """Answer a request of an onlooker's program; do nothing if it is no request of a feature.

        Raises:
            StoreError: it cannot be read.
        """
        if answerer := self._answerers.get(request):
            found: FoundBattle | None = await self.look_up(BattleLookup(number))
            try:
                fact = await answerer(found, ply) if found else None
            except Refused as refusal:
                fact = refusal_fact(refusal, "")
            none = Refused(Refusal.NO_SUCH_BATTLE, number=number)
            tell(outbox, terminal, [fact or refusal_fact(none, "")])


def _as_listed(table: Table) -> tuple[object, ...]:
    """Return what determines a board's entry in the list of boards."""
    number = table.match.number if table.match else None
    return dict(table.seats), table.running, table.ruleset.name, table.time, number
