"""The service: assembles its parts, and is the interface for front ends, nodes and features.

A front end (telnet sessions, bots, the gateway, houses) lets players join, submits their lines and
lets them leave. Messages for a player go to the outbox of their visit; all messages also go to the
function ``told``. A program that plays without reading text has a watcher instead, which is called
with `Delivery` values.

The invariants, each with its place in the code:

1.  Lock order: first a player's name, then a table. The holder of a table's lock never waits for a
    name's. (`PlayerLines.submit`, `EventApplier.write`)
2.  A name's lock is held for joining, each line, leaving and being marked as away. So everything
    about one player happens in order, and other players' lines don't wait. (`Presence.join`,
    `Presence.leave`)
3.  Events are applied and delivered in one place, in the store's order, whichever node stored them.
    Those decided here carry a mark with the unstored parts of the decision.
    (`EventApplier._apply_entries`)
4.  When an append is done, its caller is woken first and the events are delivered second, in the
    same callback of the event loop. Nothing blocks between the end of an append and the end of the
    line, so the text and the prompt after it are one write.
5.  At a conflict, nothing has been delivered yet. The line waits until the events stored first are
    applied here; then its command is decided again, without parsing. (`PlayerLines._decide`)
6.  The events of a line that is cancelled during its append may be stored all the same. Then they
    are applied and delivered as usual. The next line at the table is decided on top of them, or
    gets a conflict. (`EventApplier.write`)
7.  An event that isn't stored hasn't happened, and an exception tells the front end so. Presence is
    the exception: a player who leaves is gone even if the event can't be stored yet, and the event
    is stored later. With ``must_store`` the player stays instead. (`Presence._store_presence_at`)
8.  Shutdown waits for the lines in flight. It marks nobody as away and keeps the claims on names:
    the next start, or another node, marks the players who don't come back. (`Service.close`)
9.  Outboxes and watchers neither raise nor call the service. They defer their own work.

`thudmud.service.nodes` has the invariants of several nodes on one store.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Coroutine, Iterable
from functools import partial
from typing import Any, cast

from thudmud import features
from thudmud.errors import RefusedError
from thudmud.game import events
from thudmud.game.archive import (
    NOTHING_FOUND,
    AdjournedLookup,
    BattleLookup,
    FoundBattle,
    Lookup,
    LookupResults,
)
from thudmud.game.asides import Aloud, Aside, AsideT, BoardListed, Entered
from thudmud.game.command import Command
from thudmud.game.evaluation import Adviser
from thudmud.game.events import TableEvent
from thudmud.game.feature import (
    AppliedEvent,
    AsideStorer,
    FindPreview,
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
from thudmud.service.boards import update_open_boards
from thudmud.service.broadcasting import Broadcaster
from thudmud.service.bus import EventBus
from thudmud.service.clock_timers import ClockTimers
from thudmud.service.coroutines import run_eagerly
from thudmud.service.event_applier import EventApplier
from thudmud.service.interface import Base, JoinRequest, Onlooker, Outbox, Teller, Visit
from thudmud.service.janitor import Janitor
from thudmud.service.lines import PlayerLines, Policy
from thudmud.service.nodes import Node
from thudmud.service.onlookers import send_facts
from thudmud.service.peer_nodes import PeerNodes
from thudmud.service.presence import Presence
from thudmud.service.scheduler import Later, TimerScheduler
from thudmud.store import ConflictError, Store
from thudmud.store import hall as hall_rows
from thudmud.views import sentences
from thudmud.views.facts import refusal_fact
from thudmud.views.messages import Message
from thudmud.views.refusals import refusal_text
from thudmud.views.view import Terminal, page_rows

LISTED_EVERY = 1.0
"""The shortest time, in seconds, between two updates of a board's entry in the hall's list."""

_log = logging.getLogger(__name__)


class Service:
    """A hall of boards and its people, on a store.

    Args:
        hall: the hall, with fresh boards.
        store: the store.
        node: the service's node, where several share the store; None if no other service serves
            these boards.
        clock: returns the seconds since the epoch.
        told: called with all messages and their cause.
        later: schedules a call on the event loop; None without an event loop: then timers never
            fire, and a failed write of presence isn't retried.
        policy: how lines are handled.
        adviser: computes hints and analyses; None for neither.
        replay_pause: seconds between two plies of a replay. With 0 several are shown at once; with
            None the front end shows the next.
        is_alone: whether the hall never has other boards than its first ones.
        without: the features whose handlers and timers aren't set up.

    Attributes:
        realm: the realm of the hall's boards, see `thudmud.game.projections.realm_of`.
        bus: the event bus, which owns the locks.
        scheduler: the timers.
        server_stopper: stops the server, and logs the reason given; None without a server.
        reactors: the features' reactors.
        submit: carries out a line, after all earlier lines of the player, see `PlayerLines.submit`.
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
        # Long: builds one part after the other, mostly from the parts before.
        self.hall, self.store, self.clock = hall, store, clock
        self.realm = next((realm_of(table.key) for table in hall.tables.values()), "")
        self._is_alone, self._node = is_alone, node
        self.adviser, self.replay_pause = adviser, replay_pause
        self._to_list: set[str] = set()
        """Keys of boards whose entries are about to be delivered, in a service without timers."""
        self.server_stopper: Callable[[str], None] | None = None
        self.bus, self.scheduler = EventBus(), TimerScheduler(clock, later)
        policy = policy or Policy()
        hall.keep_talk(policy.return_within > 0)

        # Each part subscribes to the bus; handlers run in the order of construction.
        base = Base(hall, store, clock, later, node, self.realm, self.bus, self.scheduler)
        self._base = base
        self.broadcaster = broadcaster = Broadcaster(base, told)
        self.applier = EventApplier(base, broadcaster, is_alone=is_alone)
        self.bus.subscribe(events.TABLE_EVENTS_BUT_MOVES, self._list)
        self._janitor = Janitor(base, self.applier)
        self._clock_timers = ClockTimers(base, self.applier, broadcaster.deliver_locally)
        self.presence = Presence(
            base,
            broadcaster=broadcaster,
            following=self.applier,
            allow=policy.allow,
            return_within=policy.return_within,
        )
        self.lines = PlayerLines(
            base,
            policy,
            broadcaster=broadcaster,
            following=self.applier,
            presence=self.presence,
            is_alone=is_alone,
        )
        self.submit = self.lines.submit
        self._peer_nodes = PeerNodes(base, broadcaster, self.presence.remove_lost_player)
        self.reactors: list[Reactor] = []
        self._answerers: dict[str, PositionAnswerer] = {}
        self._previews: dict[str, FindPreview] = {}
        self._at_stop: list[Callable[[], None]] = []
        gone = features.left_out(without)
        for feature in features.load():
            if feature.setup and feature not in gone:
                reactor = feature.setup(self)
                self.reactors += [reactor] if isinstance(reactor, Reactor) else []

    # Players' visits and lines.

    def join(self, arrival: JoinRequest) -> Coroutine[Any, Any, Visit | None]:
        """Let a player in, see `Presence.join`.

        Returns:
            The visit; None if the player may no longer come in.

        Raises:
            PlaysElsewhereError: the player is on another node, which doesn't release the name.
            RefusedError: the player has come and gone too often.
            StoreError: the store cannot be read, so the player hasn't come in.
        """
        return self.presence.join(arrival)

    def leave(
        self,
        visit: Visit,
        parting: events.Parting = events.Parting.LOST,
        *,
        at_once: bool = False,
        cause: object = None,
    ) -> Coroutine[Any, Any, None]:
        """Let a player leave after the line in flight, see `Presence.leave`.

        Raises:
            StoreError: the visit has ``must_store`` set and the departure cannot be stored, so the
                player is still here.
        """
        return self.presence.leave(visit, parting, at_once=at_once, cause=cause)

    def ask(
        self,
        visit: Visit,
        line: str,
        number: int | str | None = None,
        *,
        in_words: bool = False,
    ) -> Coroutine[Any, Any, None]:
        """Answer a question of a player's program with facts, see `PlayerLines.ask`.

        Raises:
            StoreError: the answer cannot be read from the store.
        """
        return self.lines.ask(visit, line, number, in_words=in_words)

    def speak_at_board(self, visit: Visit, aside: Aloud) -> Coroutine[Any, Any, None]:
        """Deliver speech to everybody at a board, see `PlayerLines.speak_at_board`."""
        return self.lines.speak_at_board(visit, aside)

    def enrol(self, name: str) -> None:
        """Mark a player as a member, who has just registered an account."""
        self.presence.enrol(name)

    # Screens and messages.

    def set_terminal(self, name: str, terminal: Terminal, *, sends_facts: bool = False) -> None:
        """Set a player's terminal, see `Broadcaster.set_terminal`."""
        self.broadcaster.set_terminal(name, terminal, sends_facts=sends_facts)

    def current_facts(self, name: str) -> list[Message]:
        """Return the present state as facts, for a player's program that has just connected."""
        return self.broadcaster.current_facts(name)

    def announce(self, sentence: str) -> None:
        """Send a sentence to everybody in the hall."""
        self.broadcaster.announce(sentence)

    def say(self, name: str, sentence: str, cause: object = None) -> None:
        """Send a sentence to a player who is here."""
        self.broadcaster.say(name, sentence, cause)

    def watch(self, outbox: Outbox, terminal: Terminal, words: str | None) -> Onlooker | None:
        """Let somebody without a name watch a board, or the hall, see `Onlookers.add`."""
        return self.broadcaster.onlookers.add(outbox, terminal, words)

    def unwatch(self, onlooker: Onlooker) -> None:
        """Remove an onlooker."""
        self.broadcaster.onlookers.remove(onlooker)

    # The store.

    def look_up(self, lookup: Lookup[Any]) -> Coroutine[Any, Any, Any]:
        """Return the answer to a lookup, from the store.

        Raises:
            StoreError: the store cannot be read.
        """
        return self._base.look_up(lookup)

    def follow(self, position: int | None = None) -> Coroutine[Any, Any, None]:
        """Subscribe to the store, see `EventApplier.subscribe`.

        Raises:
            StoreError: the store cannot be read.
        """
        return self.applier.subscribe(position)

    def fail(self, error: Exception) -> None:
        """Apply nothing more, and have `wait_ended` raise the error."""
        self.applier.fail(error)

    def wait_ended(self) -> Coroutine[Any, Any, None]:
        """Wait until entries can't be applied any longer, see `EventApplier.wait_ended`."""
        return self.applier.wait_ended()

    def expect_clocks_held(self) -> None:
        """From now on, hold the clock of each board before any other event is stored there."""
        self.applier.expect_clocks_held()

    def hold_clocks(self, since: float) -> Coroutine[Any, Any, None]:
        """Hold all clocks for the time from ``since`` to now, which the store hasn't recorded.

        Raises:
            StoreError: the events cannot be stored.
        """
        return self.applier.hold_clocks(since)

    def hold_all_clocks(self, *, must_store: bool = False) -> Coroutine[Any, Any, None]:
        """Hold all clocks for the outages that the store has recorded.

        Raises:
            StoreError: ``must_store`` is set, and the events cannot be stored.
        """
        return self.applier.hold_all_clocks(must_store=must_store)

    # Other nodes: the protocol `thudmud.service.nodes.NodeService`.

    def apply_remote_asides(self, asides: Iterable[Aside], node: str) -> None:
        """Apply and deliver another node's asides, see `PeerNodes.apply_remote_asides`."""
        self._peer_nodes.apply_remote_asides(asides, node)

    def hand_over(self, name: str) -> Coroutine[Any, Any, None]:
        """Hand a player over to another node, after the line in flight."""
        return self.presence.hand_over(name)

    def remove_lost_player(self, name: str, parting: events.Parting = events.Parting.LOST) -> None:
        """Remove a player on no node, in the background, see `Presence.remove_lost_player`."""
        self.presence.remove_lost_player(name, parting)

    def remove_stale_players(self) -> None:
        """Remove the players who have left other nodes while the link to those was down."""
        self.presence.remove_stale_players()

    def dismiss_all(self, kept: Collection[str] = ()) -> Coroutine[Any, Any, None]:
        """Dismiss the players who are here, since other nodes may have taken this one for dead.

        Args:
            kept: lower-case names of the players who stay: their claims are still this node's.
        """
        return self.presence.dismiss_all(kept)

    # Opening and closing.

    async def open(self) -> None:
        """Open the hall's boards in the store, load all open boards, and subscribe to the store.

        Nobody is marked as away yet, see `finish_start`.

        Raises:
            StartError: another board has the name of one of the hall's boards.
            StoreError: the store cannot be read.
        """
        specs = {table.key: table for table in self.hall.tables.values()}
        await update_open_boards(self.store, specs.values(), self.clock())
        # Everything below is read after the position, so the subscription may deliver an event
        # that is folded already, but never misses one.
        position = await self.store.position()
        if not self._is_alone:
            version = await self.store.version(HALL)  # before the boards, for the same reason
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
        """Return the players on this node, for another node; none once this one shuts down.

        Others may claim their names while lines in flight are still being stored here.
        """
        return () if self.presence.closing else self._peer_nodes.people_here()

    @property
    def is_alive(self) -> bool:
        """Whether the node's lease holds, so that events can be stored."""
        return self._node is None or self._node.is_alive

    async def finish_start(self, *, must_store: bool = False) -> None:
        """Finish the start: mark seated players who are on no node as away, and start all timers.

        The clocks are first held for any outage during which no server ran.

        Raises:
            StoreError: ``must_store`` is set, and the events cannot be stored.
        """
        await self.hold_all_clocks(must_store=must_store)
        for table in list(self.hall.tables.values()):
            for side, name in table.seats.items():
                if side not in table.away and name not in self.hall.people:
                    await self.presence.store_presence(
                        name, events.Parting.RESTART, raises=must_store
                    )
        self._janitor.check_all_boards()
        self._clock_timers.watch_all_boards()
        self.hall.set_start_time(self.clock())
        for reactor in self.reactors:
            reactor.begin()

    def stop(self) -> None:
        """Accept no new lines, and let nobody in or out from now on. Claims stay."""
        self.presence.stop()
        self._janitor.stop()
        self.scheduler.close()
        for call in self._at_stop:
            try:
                call()
            except Exception:  # noqa: BLE001  (the rest has to stop all the same)
                _log.exception("a feature failed to stop")

    async def close(self) -> None:
        """Stop, wait for the lines in flight, and end the subscription to the store."""
        self.stop()
        await self.presence.close()
        self.applier.close()
        if self._node:
            self._node.remove(self)

    async def pass_time(self) -> None:
        """Store the timed events that are due and run the reactors, without timers."""
        await self.applier.pass_time()
        for reactor in self.reactors:
            await reactor.run_overdue()

    # The interface for features, see `thudmud.game.feature.FeatureContext`.

    def local_players(self) -> Collection[str]:
        """Return the names of the players who are on this node."""
        return self.broadcaster.visits.keys()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine eagerly; return its result, or the task that runs the rest."""
        return run_eagerly(work)

    def has_screen(self, player: str) -> bool:
        """Return whether a player on this node reads text; bots and some programs don't."""
        return player in self.broadcaster.screens.terminals

    def register_transaction_work(self, find: FindWork) -> None:
        """Register a function that adds work to the transaction of a decision."""
        self.applier.transaction_work_finders.append(find)

    def tell(self, aside: Aside, cause: object = None) -> None:
        """Apply an aside, and deliver it on this node only."""
        self.broadcaster.deliver_locally(aside, cause)

    def refuse(self, player: str, refusal: RefusedError) -> None:
        """Deliver a refusal to a player on this node."""
        self.broadcaster.refuse(player, None, refusal, None)

    async def wait_for_line(self, player: str) -> None:
        """Wait until a player's line in progress is done, or the player has joined."""
        async with self.bus.names.holding(player):
            pass

    def register_lookup(self, kind: type[Lookup[Any]], look_up: LookupAnswerer) -> None:
        """Register a function that answers the lookups of a type instead of the store."""
        self.lines.answers[kind] = look_up

    async def carry_out(self, decision: Decision) -> bool:
        """Store, apply and deliver a decision that no player made.

        Returns:
            False if another append came first, so that nothing was stored.

        Raises:
            StoreError: the events cannot be stored.
        """
        try:
            await self.applier.write(decision)
        except ConflictError as conflict:
            await self.applier.wait_past_conflict(conflict)
            return False
        return True

    async def run_command(
        self,
        player: str,
        command: Command,
        found: LookupResults = NOTHING_FOUND,
        cause: object = None,
        *,
        unless: Callable[[], bool] | None = None,
    ) -> None:
        """Run a command for a player on this node, see `PlayerLines.run_command`.

        Raises:
            StoreError: the store cannot be read or written.
        """
        await self.lines.run_command(player, command, found, cause, unless=unless)

    def on_blank_line(self, call: Callable[[str], None]) -> None:
        """Register a function to call with the name of a player who enters a blank line."""
        self.lines.at_blank_line.append(call)

    def on_stop(self, call: Callable[[], None]) -> None:
        """Register a function to call when the service stops."""
        self._at_stop.append(call)

    def disconnect(self, player: str) -> None:
        """End the visit of a player on this node; seats are kept."""
        self.presence.disconnect(player)

    def stop_server(self, why: str) -> None:
        """Stop the server, if the service belongs to one; ``why`` is logged."""
        if self.server_stopper:
            self.server_stopper(why)

    def register_aside_store(self, kind: type[AsideT], store: AsideStorer[AsideT]) -> None:
        """Register a function that stores the asides of a type before their delivery."""
        self.lines.storers[kind] = store

    def register_entry_lookup(self, make: Callable[[str], Lookup[Any] | None]) -> None:
        """Register a function that returns the lookup to make about a member who comes in."""
        self.presence.lookups_at_entry.append(make)

    # Event handlers.

    def _list(self, applied: AppliedEvent) -> None:
        """Schedule the delivery of a board's new entry to the hall, together with later changes."""
        after, before = applied.table, applied.before
        # The last move has changed the entry; this handler isn't called for moves.
        ended = isinstance(applied.event, events.BattleEnded)
        if after is None or (before and _as_listed(after) == _as_listed(before) and not ended):
            return
        tell = partial(self._tell_listed, after.key)
        if self.scheduler.has_timers:
            self.scheduler.schedule(("listed", after.key), self.clock() + LISTED_EVERY, tell)
        elif after.key not in self._to_list:
            self._to_list.add(after.key)
            self.bus.defer(tell)

    def _tell_listed(self, key: str) -> None:
        self._to_list.discard(key)
        if table := self.hall.tables.with_key(key):
            self.broadcaster.deliver_locally(BoardListed("", table.name))

    # Queries.

    def __contains__(self, name: object) -> bool:
        """Return whether a player is here, on any node."""
        return name in self.hall.people

    def visit(self, name: str) -> Visit | None:
        """Return the visit of a player on this node; None if there is none."""
        return self.broadcaster.visits.get(name)

    def name_problem(self, name: str) -> str | None:
        """Return why a player's name is invalid, as a sentence; None if it is valid."""
        problem = player_problem(name, self.hall.tables.own_words)
        return refusal_text(problem) if problem else None

    def is_waiting(self, name: str) -> bool:
        """Return whether a player has running battles, but is to move in none."""
        running = [table for table in self.hall.tables.seats_of(name) if table.is_running]
        return bool(running) and not any(table.is_turn_of(name) for table in running)

    def prompt(self, name: str) -> str:
        """Return a player's prompt; "" for players who want none.

        The prompt reminds a player who is looking for an opponent, unless it would be read out
        after every answer.
        """
        person = self.hall.people.get(name)
        if person and Toggle.PROMPT not in person.options.on:
            return ""
        if self.hall.seeks and self.broadcaster.display(name).is_for_reader:
            return sentences.PROMPT
        for seek in self.hall.seeks.values():  # `any` with a generator costs a call for each item
            if seek.player == name and not seek.to:
                return sentences.SEEKING_PROMPT
        return sentences.PROMPT

    def page_size(self, name: str) -> tuple[int, int]:
        """Return the rows and columns of a player's screen; 0 rows if long texts don't stop."""
        person = self.hall.people.get(name)
        terminal = self.broadcaster.screens.terminals.get(name)
        rows = page_rows(terminal, person.options) if person and terminal else 0
        width = self.broadcaster.display(name).width
        return rows, min(width, terminal.width) if terminal else width

    async def is_name_needed(self, name: str) -> bool:
        """Return whether a seat, a place in a tournament or an adjourned match needs a name.

        Args:
            name: the name, case-insensitive.

        Raises:
            StoreError: the store cannot be read.
        """
        return any(claimants(self.hall, name, await self.adjourned(name)))

    async def adjourned(self, name: str) -> list[events.SavedMatch]:
        """Return the adjourned matches of a player, whose name is case-insensitive."""
        return [each.match for each in await self.look_up(AdjournedLookup(name))]

    async def answer_stranger(self, outbox: Outbox, terminal: Terminal, line: str) -> None:
        """Answer a question that anybody may ask with facts, to an onlooker's program.

        Raises:
            StoreError: the store cannot be read.
        """
        send_facts(outbox, terminal, await self.lines.answer_stranger(line))

    async def show_battle(self, outbox: Outbox, terminal: Terminal, number: int) -> None:
        """Send a battle, as facts, to an onlooker's program.

        Raises:
            StoreError: the store cannot be read.
        """
        await self.answer_stranger(outbox, terminal, f"record {number}")

    def register_onlooker_answer(self, request: str, answerer: PositionAnswerer) -> None:
        """Register a function that answers onlookers' requests about a position of a battle."""
        self._answerers[request] = answerer

    def register_preview(self, kind: str, find: FindPreview) -> None:
        """Register the finder of previews for links of the form ``/kind/name``."""
        self._previews[kind] = find

    async def preview(self, kind: str, name: str) -> tuple[str, str] | None:
        """Return the title and the summary of what a link names; None if there is no such thing.

        Raises:
            StoreError: the store can't be read.
        """
        find = self._previews.get(kind)
        return await find(name) if find else None

    async def show_position(
        self, outbox: Outbox, terminal: Terminal, request: str, number: int, ply: int
    ) -> None:
        """Answer an onlooker's request about a position; ignore a request that nobody registered.

        Raises:
            StoreError: the store cannot be read.
        """
        if answerer := self._answerers.get(request):
            found: FoundBattle | None = await self.look_up(BattleLookup(number))
            try:
                fact = await answerer(found, ply) if found else None
            except RefusedError as refusal:
                fact = refusal_fact(refusal, "")
            none = RefusedError(Refusal.NO_SUCH_BATTLE, number=number)
            send_facts(outbox, terminal, [fact or refusal_fact(none, "")])


def _as_listed(table: Table) -> tuple[object, ...]:
    """Return the parts of a table's state that its entry in the list of boards shows."""
    number = table.match.number if table.match else None
    return dict(table.seats), table.is_running, table.ruleset.name, table.time, number
