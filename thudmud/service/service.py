"""The one way in: a player's line becomes events, and these are stored, applied and told.

Every front end is a skin over this: telnet sessions, bots, the gateway, houses. It lets people
join, submits their lines and lets them leave. What a player is told goes to the outbox of their
visit; all that is told goes to ``told`` as well. A program that wants no words has a watcher, which
is called with what happens.

What holds here, each where the code does it:

1.  Locks are taken in one order: first a player's name, then a table. Whoever holds a table's lock
    waits for no name's. (`Service.submit`, `Service.write`)
2.  A name's lock covers joining, each line, leaving and being marked as away: what concerns one
    player happens in order. Other players' lines do not wait for it. (`Service.join`,
    `Service.leave`)
3.  Events are applied and told in one place, in the store's order, whoever stored them. Those that
    were decided here come with a mark, which holds what only the decision knows. (`Service._take`)
4.  When an append is done, its caller is woken first, and the events are handed out second, in one
    callback of the loop. Nothing waits between the end of an append and the end of the line: so
    the text and the prompt after it are one write.
5.  At a conflict, nothing has been told. The line waits until what came first has been applied
    here, and its command is decided again; it was parsed once. (`Service._decide`)
6.  A line that is cancelled while its events are being stored may be stored all the same. Then it
    is told when they are handed out; the next line at the table follows on it, or finds a
    conflict. (`Service.write`)
7.  What is not stored has not happened, and an exception says so to whoever submitted it. Only
    presence differs: a player who leaves is gone even if that cannot be stored, and it is stored
    later. A front end can ask that it must be stored; then they stay. (`Service._note`)
8.  Shutdown waits for the lines in flight. It marks nobody as away, and names stay claimed: the
    next start, or another node, marks those who do not come back. (`Service.close`)
9.  An outbox, or a watcher, neither raises nor calls the service. What it has to do, it does later.

What holds besides where several nodes share a store stands in `thudmud.service.nodes`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from thudmud.errors import Refused
from thudmud.language import ParseError, parse
from thudmud.language.parsing import ignored_of, player_problem
from thudmud.play.analysis import Analysis, AnalysisLookup, UnderWayLookup
from thudmud.play.archive import AdjournedLookup, BattleLookup, Found, Lookup, Unread
from thudmud.play.asides import (
    Active,
    Analysing,
    Aside,
    Asked,
    BoardListed,
    CameIn,
    CaughtUp,
    Emoted,
    Entered,
    Gone,
    LetterSent,
    LettersForgotten,
    ObserveChosen,
    OfOperators,
    ReportMade,
    Sanctioned,
    ShutdownTold,
    Spoke,
    StyleChosen,
    TookOver,
    WentOut,
)
from thudmud.play.command import Command
from thudmud.play.events import (
    Absent,
    BattleEnded,
    BoardClosed,
    BoardOpened,
    BoardRenamed,
    HallEvent,
    Interrupted,
    Parting,
    Returned,
    SavedMatch,
    TableEvent,
)
from thudmud.play.hall import DEFAULTS, Decision, Hall, Person, claimants
from thudmud.play.hints import AdviceLookup, Line
from thudmud.play.letters import NO_LETTERS, LetterCountLookup, LettersPage, Postbox, PostboxLookup
from thudmud.play.meaning import board_meant, named
from thudmud.play.options import Options, SetOption, Style, Toggle
from thudmud.play.order import Measure, Sanction
from thudmud.play.projections import HALL, realm_of
from thudmud.play.refusals import Refusal
from thudmud.play.table import BoardSpec, Table
from thudmud.play.telling import Telling
from thudmud.service.alarms import Alarms
from thudmud.service.analysing import Analyses, AnalysisWork
from thudmud.service.boards import close_at, put_up
from thudmud.service.countdown import Countdown
from thudmud.service.driving import Turns, future, now, settle
from thudmud.service.interface import (
    Adviser,
    Dismissal,
    Keep,
    Later,
    Onlooker,
    Ordered,
    Outbox,
    Result,
    Teller,
    Unfollowed,
    Visit,
    Watcher,
)
from thudmud.service.nodes import Node
from thudmud.service.onlookers import Onlookers, battle_facts, tell
from thudmud.service.tidying import Tidying
from thudmud.service.timing import Timing
from thudmud.store import (
    Conflict,
    Entry,
    Forgotten,
    Nobody,
    NotWritten,
    Store,
    StoreError,
)
from thudmud.verbs.archive import Analyse, CancelAnalysis, Replay, Step, Way
from thudmud.verbs.decisions import arrive, decide, is_limited, part
from thudmud.verbs.letters import Letters
from thudmud.verbs.matchmaking import PlayNow, require_share
from thudmud.verbs.more import Again, Quit
from thudmud.verbs.queries import Hint
from thudmud.verbs.rooms import Go, Look
from thudmud.verbs.tables import come_back, held, overdue, vanish
from thudmud.verbs.talk import is_shout
from thudmud.views import archive, rooms
from thudmud.views.data import Fact
from thudmud.views.facts import concerning, refusal_fact
from thudmud.views.messages import (
    Message,
    display_of,
    fitted,
    messages,
    refusal_messages,
    sent,
)
from thudmud.views.refusals import refused
from thudmud.views.telling import facts
from thudmud.views.view import Display, Screens, Terminal
from thudmud.views.words import wrapped

if TYPE_CHECKING:
    import asyncio

LISTED_EVERY = 1.0
"""Seconds between two times that those in the hall are told how a board has come to look."""

RETRY = 1.0
"""Seconds before it is tried again to store who is here."""

HINT_SECONDS = 0.05
"""For how long a hint, or a position of an analysis, keeps whoever is asked at work, about."""

HINT_SLOW = 2.0
"""After how many seconds whoever waits for a hint is told that it will come."""

ACTIVE_EVERY = 30.0
"""How many seconds apart it is noted, and other nodes are told, that somebody types."""

PLIES_AT_ONCE = 20
"""How many plies of a battle a line shows where there are no pauses between them."""

_ReplayCommand = Replay | Step | PlayNow

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class _Pending:
    """The mark of an append of ours: it tells our entries from those of other services."""

    service: Service
    decision: Decision
    cause: object


class Service:
    """A hall of boards and the people in it, on a store.

    Args:
        hall: the boards; nothing has happened at them yet.
        store: where what happens is stored.
        node: what it lives on, where several services share the store; None if this is the only one
            at these boards.
        clock: returns the seconds since the epoch.
        told: takes all that is told, and what has caused it.
        later: has something done later; None where nothing waits, and a failing store is not tried
            again.
        keep: stores how members want things; None if nobody does.
        allow: called before others are told of something that a player does or of their coming in,
            see `thudmud.verbs.decisions.is_limited`; raises Refused if that is too much.
        ordered: called with what operators bring about, before it is told: stores it, or raises
            StoreError.
        allow_shout: the same before somebody shouts, besides.
        leaves: kinds of commands that are left to the front end.
        adviser: who is asked for hints and analyses; None if there are none.
        pause: seconds between two plies of a battle that is shown again. With 0 some are shown at
            once; with None the front end calls `play_on`.
        is_alone: whether no other boards of this realm are ever shown here.
        read: makes a command of a line; raises ParseError.
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
        keep: Keep | None = None,
        allow: Callable[[Visit], None] = lambda _: None,
        ordered: Ordered | None = None,
        allow_shout: Callable[[Visit], None] = lambda _: None,
        leaves: tuple[type[Command], ...] = (),
        adviser: Adviser | None = None,
        pause: float | None = 0,
        is_alone: bool = False,
        read: Callable[[str], Command] = parse,
    ) -> None:
        self.hall, self.store, self.clock = hall, store, clock
        self._told, self._later, self._keep, self._allow = told, later, keep, allow
        self._allow_shout, self._ordered = allow_shout, ordered
        self._leaves, self._pause, self._read = leaves, pause, read
        self._adviser = adviser
        self._analyses = Analyses(adviser, store.keep_analysis, self) if adviser else None
        self.realm = next((realm_of(table.key) for table in hall.tables.values()), "")
        self._is_alone = is_alone
        self._node = node
        self._screens = Screens()
        self._onlookers = Onlookers(hall, self._screens)
        self._visits: dict[str, Visit] = {}
        self._watching: dict[str, Visit] = {}
        """Those of them that have a watcher."""
        self._names, self._tables = Turns(self._turn_ended), Turns()
        self._idle: asyncio.Future[None] | None = None
        """Done when no line is in flight any more; whoever closes waits for it."""
        self._retries = Alarms(clock, later)
        """By name, when it is tried again to store somebody's presence."""
        self._replays = Alarms(clock, later)
        """By name, when somebody is shown the next ply of a battle."""
        self._advised: dict[str, asyncio.Task[Line | None]] = {}
        """By name, the hint that is waited for."""
        self._unheld: set[str] = set()
        """By key, the boards at which it may have to be noted yet that the clock stood still."""
        self._unchecked: list[str] = []
        """Players whose seats may say wrongly whether they are here. It is checked at the end of a
        turn, when no lock is held."""
        self._on_the_way: dict[str, CameIn] = {}
        """By name, who has come on another node to a board that is not known here yet."""
        self._tidying = Tidying(hall, self, clock, later)
        self._timing = Timing(hall, self, clock, later, self._tell_here)
        self.countdown = Countdown(clock, later, self._tell_here)
        self._listings = Alarms(clock, later)
        """By the key of a board, when those in the hall are told how it has come to look."""
        self._closing = False
        self._trouble: Exception | None = None
        """Why what is stored cannot be made so here any more."""
        self._ended: list[asyncio.Future[None]] = []
        """Of those who wait for such trouble."""
        self._news: list[asyncio.Future[None]] = []
        """Of those who wait until something has come in from the store."""

    # Opening and closing.

    async def open(self) -> None:
        """Put up the boards of the hall, bring all that are up to where the store is; follow it.

        Nobody is marked as away by it, see `settle`.

        Raises:
            StartError: another board has the name of one of them.
            StoreError: the store cannot be read.
        """
        specs = {table.key: table for table in self.hall.tables.values()}
        await put_up(self.store, specs.values(), self.clock())
        position = await self.store.position()
        if not self._is_alone:
            self.hall.version = await self.store.version(HALL)  # what is read after it holds it
            self.hall.open(
                BoardSpec(board.name, board.rules, key=board.key)
                for board in await self.store.open_boards()
                if realm_of(board.key) == self.realm and board.key not in specs
            )
            if not self.realm:
                self.hall.seeks = {each.number: each for each in await self.store.open_seeks()}
        for table in list(self.hall.tables.values()):
            board_now = await self.store.board(table.key)
            first = board_now.beginning if board_now else 1
            entries = await self.store.read(table.key, first)
            events = [(cast("TableEvent", each.event), each.battle) for each in entries]
            self.hall.restore(table.name, first - 1, events)
        await self.follow(position)
        if self._node:
            await self._node.add(self)

    async def follow(self, position: int | None = None) -> None:
        """Follow the store from now on, or from a position; the boards stand as they did then.

        Raises:
            StoreError: it cannot be read.
        """
        if position is None:
            position = await self.store.position()
            self.hall.version = None if self._is_alone else await self.store.version(HALL)
        streams = [table.key for table in self.hall.tables.values()] if self._is_alone else None
        self._following = await self.store.subscribe(streams, position, self._take, self._unread)

    @property
    def is_alive(self) -> bool:
        """Whether it was stored just now that this service runs, so that other things can be."""
        return self._node is None or self._node.is_alive

    async def settle(self, *, must_store: bool = False) -> None:
        """Note that those are away who have a seat, and are neither here nor on another node.

        And that clocks stood still while no server ran.

        Raises:
            StoreError: that must be stored, and cannot be.
        """
        await self.hold_all_clocks(must_store=must_store)
        for table in list(self.hall.tables.values()):
            for side, name in table.seats.items():
                if side not in table.away and name not in self.hall.people:
                    await self._note_presence(name, Parting.RESTART, raises=must_store)
        self._tidying.begin()
        self._timing.begin()

    def expect_clocks_held(self) -> None:
        """Store nothing at a board, from now on, before it is noted there that its clock stood.

        What is stored moves a clock on: nobody could tell any more that it should have stood still.
        """
        self._unheld |= {table.key for table in self.hall.tables.values()}

    async def hold_all_clocks(self, *, must_store: bool = False) -> None:
        """Note that clocks stood still while no server could store anything.

        Raises:
            StoreError: that must be stored, and cannot be.
        """
        self.expect_clocks_held()
        for table in list(self.hall.tables.values()):
            await self.hold_clock(table, must_store=must_store)

    async def hold_clock(self, table: Table, *, must_store: bool = False) -> None:
        """Note the same of one board."""
        try:
            async with self._tables.of(table.name):
                await self._hold_clock(table.key)
        except StoreError as error:
            if must_store:
                raise
            _log.error("not stored: %s", error, extra={"board": table.name})

    async def hold_clocks(self, since: float) -> None:
        """Note that clocks have stood still since then, of which the store does not know.

        Raises:
            StoreError: that cannot be stored.
        """
        for table in list(self.hall.tables.values()):
            async with self._tables.of(table.name):
                await self._hold_clock(table.key, [(since, self.clock())])

    async def _hold_clock(
        self, key: str, interruptions: Sequence[tuple[float, float]] | None = None
    ) -> None:
        """Note that the clock at a board stood still while no server ran, if one runs there.

        The board's lock is held.
        """
        while (table := self.hall.board_with(key)) and table.clock:
            missed = interruptions
            if missed is None:
                missed = await self.store.interruptions(table.clock.at)
            events = held(table, missed, self.clock())
            if not events:
                break
            try:
                await self._append(Decision("", table.name, table.version, events))
                break
            except Conflict as conflict:
                await self.until(conflict)  # another node has noted it
        self._unheld.discard(key)

    async def pass_time(self) -> None:
        """Do what the time has brought about, for a front end where nothing is done later."""
        for table in list(self.hall.tables.values()):
            if events := overdue(table, self.clock()):
                await self.write(Decision("", table.name, table.version, events))

    def stop(self) -> None:
        """Take no new lines, and let nobody in or out any more. Whom we have claimed stays so."""
        self._closing = True
        self._tidying.stop()
        self._timing.stop()
        self._replays.close()
        self._retries.close()
        self.countdown.stop()
        self._listings.close()
        for advising in self._advised.values():
            advising.cancel()
        if self._analyses:
            self._analyses.close()

    async def close(self) -> None:
        """Stop, wait for the lines in flight, and follow the store no longer."""
        self.stop()
        if self._names:
            self._idle = future()
            await self._idle
        self._following.close()
        if self._node:
            self._node.remove(self)
        for visit in self._visits.values():
            visit.end()
        settle(self._ended)

    def fail(self, error: Exception) -> None:
        """Let everybody know who waits for the end that nothing can be made so here any more."""
        self._trouble = error
        settle(self._ended, error)

    def recount(self) -> None:
        """See out those who have left other nodes while nothing was heard of these."""
        for name in self.hall.people.keys() - self._visits.keys():
            self.lost(name)

    async def ended(self) -> None:
        """Wait until what is stored cannot be made so here any more: it went wrong, or may not be.

        Raises:
            Exception: always, when that is so.
        """
        if self._trouble:
            raise self._trouble
        waiting = future()
        self._ended.append(waiting)
        await waiting

    # People.

    async def join(
        self,
        name: str,
        terminal: Terminal | None,
        outbox: Outbox | None = None,
        *,
        watcher: Watcher | None = None,
        member: bool = False,
        styles: Mapping[str, Style] | None = None,
        options: Options | None = None,
        ignored: Sequence[str] | None = None,
        news: str | None = None,
        followed: Sequence[str] | None = None,
        plan: str | None = None,
        choices: Sequence[SetOption] = (),
        room: str | None = None,
        looks: bool = True,
        quiet: bool = False,
        origin: str = "",
        must_store: bool = False,
        admit: Callable[[], bool] = lambda: True,
        cause: object = None,
    ) -> Visit | None:
        """Let a player in whose name has no problem, and back to the seats that were kept.

        Who is here already goes on by this front end.

        Args:
            name: what they are called.
            terminal: what is known of it; None if they have no screen, so that they are told
                nothing of what happens, and only answered.
            outbox: where what they are told goes.
            watcher: what is called with all that happens and concerns them, as it happened.
            member: whether they have an account.
            styles: how they want to see boards, by the boards' names in any case.
            options: how they want to see everything, if that is known.
            ignored: the names of those whom they do not want to hear, if that is known.
            news: which edition of the news they have seen last, if that is known.
            followed: the names of those whom they follow, if that is known.
            plan: what they say about themselves, if that is known.
            choices: what they have chosen just now, which comes on top of that.
            room: the board that they come to; without one they come to where a seat of theirs was
                kept, or else to the hall.
            looks: whether they are shown a board to which they come and where they have no seat.
            quiet: they only stand about: nobody is told that they come or go, but at a seat.
            origin: where they come from, if that is known: an address.
            must_store: whether they stay outside if it cannot be stored that they are back, and
                here if it cannot be stored that they go: each a StoreError.
            admit: called once all is done that was begun under that name; returns whether they may
                still come in.
            cause: what ``told`` is to be told that this is about.

        Returns:
            their visit; None if they may not come in any more.

        Raises:
            Elsewhere: they are on another node, which does not let them go.
            Refused: others have been told too much of them to be told that they come in.
            StoreError: what is stored of them cannot be read, so they have not come in.
        """
        visit = Visit(name, outbox, must_store, quiet, origin, watcher=watcher)
        is_in = False
        try:
            async with self._names.of(name):
                away = await self.look_up(AdjournedLookup(name))
                self._require_lease()
                await self._claim(name, asks=True)
                letters = NO_LETTERS
                if member and self.hall.caps.letters:
                    # Nothing is waited for after this: of what comes later, they are told.
                    letters = await self.look_up(LetterCountLookup(name))
                if self._closing or not admit():
                    return None
                if name not in self.hall.people and not quiet:
                    self._allow_in(visit)
                if before := self._visits.get(name):
                    self._dismiss(before, Dismissal.TAKEN_OVER)
                self._visits[name] = visit
                self.hall.origins[name] = origin
                if watcher:
                    self._watching[name] = visit
                if terminal:
                    self.fit(name, terminal)
                if choices:
                    options = self.hall.choose(name, options, choices)
                chosen = {self.called(board): each for board, each in (styles or {}).items()}
                if person := self.hall.people.get(name):
                    if not before:
                        self.hall.observe(name, ())  # it lasts as long as a visit
                        person.member = member or person.member
                        person.styles = chosen or person.styles
                        person.options = options or person.options
                        person.news = news or person.news
                        person.plan = person.plan if plan is None else plan
                        self.hall.keep_lists(name, ignored, followed)
                    person.active = self.clock()
                    self._unchecked.append(name)  # their last node may have died just now
                    taken = TookOver(name, person.room, letters)
                    self._carry_out(Decision(name, asides=(taken,)), cause)
                    if watcher:
                        for table in self.hall.seats_of(name):
                            watcher(Telling(taken, (name,), table))
                    self._pass_on([_entered(person)])
                else:
                    arriving = arrive(
                        self.hall,
                        name,
                        self.clock(),
                        member=member,
                        styles=chosen,
                        options=options,
                        ignored=None if ignored is None else tuple(ignored),
                        news=news,
                        followed=None if followed is None else tuple(followed),
                        plan=plan,
                        room=None if room is None else self.called(room),
                        adjourned=bool(away.matches),
                        letters=letters,
                    )
                    await self._arrive(visit, arriving, looks=looks, cause=cause)
                self._tell_of_shutdown(name)
                is_in = True
            return visit
        finally:
            if not is_in:  # their front end before this one may have let them go already
                self._abandon(visit)

    async def submit(
        self,
        visit: Visit,
        line: str | Command,
        *,
        cause: object = None,
        at: int | None = None,
        key: str | None = None,
    ) -> Result:
        """Do what a line asks for, after all that this player has asked for before.

        Args:
            visit: the player's.
            line: what was typed, any text; or a command.
            cause: what ``told`` is to be told that this is about.
            at: the version at which the board has to stand, where there is but one.
            key: where there is but one board, tells this line from all others at it, so that it is
                not done twice, whatever became of us meanwhile. What is not stored may be.

        Raises:
            Conflict: the board stands at another version.
            StoreError: it cannot be stored, so it has not happened.
            Unfollowed: it may have happened.
        """
        async with self._names.of(visit.name):
            if visit.is_over or self._closing:
                return Result()
            if self._trouble:
                raise Unfollowed from self._trouble
            if self._node:
                self._require_lease()
            self._note_active(visit.name)
            if key is not None and (done := await self.store.came_to(self._only_table.key, key)):
                return Result(done=True, before=done.version)
            return await self._obey(visit, line, cause, at, key)

    def _note_active(self, name: str) -> None:
        """Note that a player types, if that has not been noted for a while."""
        now = self.clock()
        if now - self.hall.people[name].active >= ACTIVE_EVERY:
            self._carry_out(Decision(name, asides=(Active(name, now),)))

    async def emote(self, visit: Visit, board: str, deed: str) -> None:
        """Let all at a board see that a player does something, wherever in the hall the player is.

        Args:
            visit: the player's.
            board: its name.
            deed: what they see, without the name.
        """
        async with self._names.of(visit.name):
            if not (visit.is_over or self._closing) and board in self.hall.tables:
                self._carry_out(Decision(visit.name, asides=(Emoted(visit.name, board, deed),)))

    async def leave(
        self, visit: Visit, parting: Parting = Parting.LOST, *, cause: object = None
    ) -> None:
        """See a player out, after the line in flight; their seats are kept, or given up.

        Args:
            visit: the player's.
            parting: how they left. Who has lost the connection hears nothing more.
            cause: as for `submit`.

        Raises:
            StoreError: that must be stored and cannot be, so they are here still.
        """
        if parting is Parting.LOST and not visit.must_store:
            visit.outbox = visit.watcher = None
        async with self._names.of(visit.name):
            if visit.is_over:
                return
            if self._closing:
                visit.end()
            else:
                await self._see_out(visit, parting, cause)

    async def ask(self, visit: Visit, line: str) -> None:
        """Answer a question of a player's program by facts alone; a line that is none does nothing.

        It changes nothing, either, not even what "it" means to the player.

        Raises:
            StoreError: what was asked about cannot be read.
        """
        async with self._names.of(visit.name):
            if not (visit.is_over or self._closing):
                known = await self._answers(visit.name, line)
                self._tell(sent(known, (visit.name,), self._screens))

    async def _answers(self, name: str, line: str) -> list[Fact]:
        found = Found()
        while True:
            try:
                command = self._read(line)
                if not command.is_question:
                    return []
                [decision] = decide(self.hall, name, command, self.clock(), found)
            except Refused as refusal:
                return [refusal_fact(refusal, name)]
            except Unread as unread:
                found.take(unread.lookup, await self.look_up(unread.lookup))
                continue
            asked = [each for each in decision.asides if isinstance(each, Asked)]
            return [fact for each in asked for fact in self._answer_to(each)]

    def _answer_to(self, asked: Asked) -> list[Fact]:
        name, board = asked.player, asked.board
        table = self.hall.board_seen(name, board) if board else None
        return facts(self.hall, Telling(asked, (name,), table).told_at(self.clock()))

    # Without a name.

    def watch(self, outbox: Outbox, terminal: Terminal, words: str | None) -> Onlooker | None:
        """Let somebody without a name watch a board, or the hall; see `Onlookers.add`."""
        return self._onlookers.add(outbox, terminal, words)

    def unwatch(self, onlooker: Onlooker) -> None:
        """Let somebody without a name watch no longer."""
        self._onlookers.remove(onlooker)

    async def show_battle(self, outbox: Outbox, terminal: Terminal, number: int) -> None:
        """Tell the program of somebody without a name of a battle.

        Raises:
            StoreError: it cannot be read.
        """
        found = await self.look_up(BattleLookup(number))
        tell(outbox, terminal, battle_facts(found, number))

    def fit(self, name: str, terminal: Terminal, *, brief: bool = False) -> None:
        """Note what a player's terminal can show, now or as soon as they come in.

        Args:
            name: the player's.
            terminal: what is known of it.
            brief: whether a program that has just come is told how things stand.
        """
        before = self._screens.get(name)
        self._screens.fit(name, terminal.nearest())
        if brief and before and terminal.packages - before.packages:
            self._tell(self.brief(name))

    def enrol(self, name: str) -> None:
        """Take note that a player has an account now."""
        person = self.hall.people[name]
        person.member = True
        self._pass_on([_entered(person)])

    # What can be asked.

    def __contains__(self, name: object) -> bool:
        """Whether a player of that name is here."""
        return name in self.hall.people

    def visit(self, name: str) -> Visit | None:
        """Return the visit of a player of that name who is here."""
        return self._visits.get(name)

    def name_problem(self, name: str) -> str | None:
        """Return why nobody can be called that, as a sentence, or None if somebody can."""
        problem = player_problem(name, self.hall.board_words)
        return refused(problem) if problem else None

    def is_waiting(self, name: str) -> bool:
        """Whether a player is in a battle, and it is the other one's turn in all of theirs."""
        running = [table for table in self.hall.seats_of(name) if table.running and table.game]
        turns = [table.game.position.turn is table.side_of(name) for table in running if table.game]
        return bool(running) and not any(turns)

    def prompts(self, name: str) -> bool:
        """Whether a player wants a prompt where a line is expected."""
        person = self.hall.people.get(name)
        return person is None or person.options.has(Toggle.PROMPT)

    async def needs(self, name: str) -> bool:
        """Whether a seat is kept, or a match put away, for a player of that name, in any case.

        Raises:
            StoreError: that cannot be read.
        """
        return any(claimants(self.hall, name, await self.adjourned(name)))

    async def adjourned(self, name: str) -> list[SavedMatch]:
        """Return the matches of a player, named in any case, that are put away."""
        return [each.match for each in (await self.look_up(AdjournedLookup(name))).matches]

    async def look_up(self, lookup: Lookup[Any]) -> Any:
        """Return what is known of the battles that were played, or has been written to members.

        Raises:
            StoreError: that cannot be read.
        """
        if isinstance(lookup, PostboxLookup):
            return await self._postbox(lookup)
        return await self.store.look_up(lookup, realm=self.realm)

    async def _postbox(self, lookup: PostboxLookup) -> Postbox | None:
        account = await self.store.find(lookup.name)
        if account is None or account.banned:
            return None
        ignored = {name.lower() for name in ignored_of(account.preferences)}
        counts = await self.store.letters_from(account.name, lookup.sender)
        return Postbox(account.name, lookup.sender.lower() in ignored, *counts)

    def called(self, board: str) -> str:
        """Return what a board is called that somebody names in any case; else the same again."""
        tables = self.hall.tables
        if board in tables:
            return board
        return next((each for each in tables if each.lower() == board.lower()), board)

    def brief(self, name: str) -> list[Message]:
        """Return how things stand for a player, for a program of theirs that has just come."""
        known = concerning(self.hall, name) if name in self else ()
        return sent(known, (name,), self._screens)

    # One line.

    async def _obey(
        self,
        visit: Visit,
        line: str | Command,
        cause: object,
        at: int | None,
        key: str | None,
    ) -> Result:
        """Do what a player's line asks for. Their name's lock is held."""
        if at is not None:
            self._require_version(at)
        if not isinstance(line, str):
            command = line
        elif not line.strip():
            self._pause_replay(visit.name)
            return Result()
        else:
            try:
                command = self._read(line)
            except ParseError as error:
                return self._refuse(visit.name, None, error, cause)
        if isinstance(command, Again):
            command = visit.last or command
        else:
            visit.last = command
        result = await self._decide(visit, command, cause, at, key=key)
        if isinstance(command, _ReplayCommand) and result.done:
            self._go_on(visit.name, cause)
        elif isinstance(command, CancelAnalysis) and result.done and self._analyses:
            self._analyses.cancel(visit.name)
        return result

    async def _decide(
        self,
        visit: Visit,
        command: Command,
        cause: object,
        at: int | None = None,
        found: Found | None = None,
        *,
        key: str | None = None,
    ) -> Result:
        """Do what a command asks for; after a conflict, decide it again."""
        name = visit.name
        if isinstance(command, self._leaves):
            return Result(command, is_left=True)
        if isinstance(command, Quit):
            await self._see_out(visit, Parting.QUIT, cause)
            return Result(command, done=True)
        found, is_allowed = found or Found(), False
        while True:
            if at is not None:
                self._require_version(at)
            try:
                [decision] = decide(self.hall, name, command, self.clock(), found)
                if decision.hall and visit.origin:
                    require_share(self.hall, decision, self._all_from(visit.origin))
                if not is_allowed and is_limited(self.hall, decision):
                    self._allow(visit)
                    if is_shout(decision):
                        self._allow_shout(visit)
                    is_allowed = True  # it counts once, however often it is decided
                if self._keep and (chosen := self._chosen(name, decision)):
                    await self._keep(chosen)
                for aside in decision.asides:
                    if aside.is_kept:
                        await self._store_aside(aside)
                if decision.hall or decision.events:
                    await self.write(decision, cause, key)
                else:
                    self._carry_out(decision, cause)
                    if isinstance(command, Letters):
                        await self._mark_read(decision)
            except Refused as refusal:
                return self._refuse(name, command, refusal, cause)
            except Unread as unread:
                asked = unread.lookup
            except Conflict as conflict:
                # What came first may bring other answers, too.
                await self.until(conflict)
                found = Found()
                continue
            else:
                return Result(command, done=True)
            if result := await self._look_for(name, asked, found, cause):
                return result

    async def _store_aside(self, aside: Aside) -> None:
        """Store what is no event, before anybody is told of it.

        Raises:
            Refused: whom it is for is no member any more.
            StoreError: it cannot be stored.
        """
        match aside:
            case LetterSent(player, to, text):
                try:
                    await self.store.post(to, player, text)
                except Nobody:
                    raise Refused(Refusal.NO_SUCH_MEMBER, words=to) from None
            case LettersForgotten(player, numbers):
                await self.store.forget_letters(player, numbers)
            case ReportMade(player, about, text, said):
                number = await self.store.report(player, about, text, said)
                who = {"number": number, "player": player, "about": about}
                _log.warning("a player was reported", extra=who)
            case OfOperators():
                if self._ordered:
                    await self._ordered(aside)
                if isinstance(aside, ShutdownTold):  # that is of this node alone
                    self.countdown.begin(aside)
            case _:
                raise TypeError(f"nobody knows how {aside} is stored")

    async def _mark_read(self, decision: Decision) -> None:
        """Note that a player has read the letters that were shown to them just now."""
        for aside in decision.asides:
            if isinstance(aside, Asked) and isinstance(aside.answer, LettersPage):
                new = [each.number for each in aside.answer.letters if each.is_new]
                try:
                    if new:
                        await self.store.mark_read(aside.player, new)
                except StoreError as error:  # they are shown as new once more
                    _log.error("not stored: %s", error, extra={"player": aside.player})

    async def _look_for(
        self, name: str, asked: Lookup[Any], found: Found, cause: object
    ) -> Result | None:
        """Have something looked up or found out; None if that is there to be decided with."""
        match asked:
            case AdviceLookup():
                return self._look_for_hint(name, asked, found, cause)
            case AnalysisLookup():
                return self._look_for_analysis(name, asked, found, cause)
            case UnderWayLookup():
                found.take(asked, self._under_way(name))
            case _:
                found.take(asked, await self.look_up(asked))
        return None

    def _all_from(self, origin: str) -> list[str]:
        """Return who comes from somewhere, or did, and has left a seek or a seat behind."""
        self.hall.origins = {
            name: where
            for name, where in self.hall.origins.items()
            if name in self._visits or self._holds(name)
        }
        return [name for name, where in self.hall.origins.items() if where == origin]

    def _holds(self, name: str) -> bool:
        """Whether a player has what all from one address may have only so much of."""
        seekers = {seek.player for seek in self.hall.seeks.values()}
        return name in seekers or bool(self.hall.made_boards_of(name))

    # Hints.

    def _look_for_hint(
        self, name: str, asked: AdviceLookup, found: Found, cause: object
    ) -> Result | None:
        """Ask for a hint; None if it is there at once, as it is where nothing waits.

        Else it is waited for in the background: the player's other lines do not wait for it.
        """
        command = Hint(self.hall.called(asked.board))  # whatever "it" and here come to mean
        if self._adviser is None:
            return self._refuse(name, command, Refused(Refusal.NO_HINTS), cause)
        if name in self._advised:
            return self._refuse(name, command, Refused(Refusal.HINT_PENDING), cause)
        advising = now(_advised(self._adviser, asked))
        if advising is None or isinstance(advising, tuple):
            found.take(asked, advising)
            return None
        self._advised[name] = advising
        self._carry_out(Decision(name, command.on), cause)
        if self._later:
            self._later(HINT_SLOW, lambda: self._put_off(advising, name))
        now(self._await_hint(advising, name, asked, cause))
        return Result(command, done=True, seconds=HINT_SECONDS)

    def _put_off(self, advising: asyncio.Task[Line | None], name: str) -> None:
        """Tell a player that a hint will come, if it has not."""
        if self._advised.get(name) is advising and name in self._visits:
            self._refuse(name, None, Refused(Refusal.HINT_PENDING), None)

    async def _await_hint(
        self, advising: asyncio.Task[Line | None], name: str, asked: AdviceLookup, cause: object
    ) -> None:
        """Tell a player a hint once it is there, if the board has not changed meanwhile."""
        try:
            line = await advising
        finally:
            del self._advised[name]
        async with self._names.of(name):
            table = self.hall.board_with(asked.board)
            if self._closing or name not in self._visits or table is None:
                return
            game, plies = table.game, asked.game.moves
            if game and len(game.moves) > len(plies) and game.moves[: len(plies)] == plies:
                return  # they have played without it
            found = Found({asked: line})
            try:
                [decision] = decide(self.hall, name, Hint(table.name), self.clock(), found)
            except Refused as refusal:
                self._refuse(name, None, refusal, cause)
            except Unread:
                out_of_date = Refused(Refusal.HINT_OUT_OF_DATE, board=table.name)
                self._refuse(name, None, out_of_date, cause)
            else:
                self._carry_out(replace(decision, board=None), cause)  # "it" stays what it is

    # Analyses.

    def _look_for_analysis(
        self, name: str, asked: AnalysisLookup, found: Found, cause: object
    ) -> Result | None:
        """Have a battle analysed; None if that is there at once, as it is where nothing waits.

        Else it is waited for in the background, as a hint is.
        """
        command = Analyse(asked.battle.number)
        if self._analyses is None:
            refusal = Refused(Refusal.NO_ANALYSES, number=asked.battle.number)
            return self._refuse(name, command, refusal, cause)
        if under_way := self._under_way(name):
            number, done, plies = under_way
            refusal = Refused(Refusal.ANALYSIS_PENDING, number=number, done=done, plies=plies)
            return self._refuse(name, command, refusal, cause)
        origin = self._visits[name].origin
        if not self._analyses.is_under_way(asked):
            most = self.hall.caps.analyses_per_address
            if origin and self._analyses.begun_from(origin) >= most:
                crowded = Refused(Refusal.TOO_MUCH_FROM_ADDRESS, what="analyses", most=most)
                return self._refuse(name, command, crowded, cause)
            if self._analyses.is_full:
                return self._refuse(name, command, Refused(Refusal.ANALYSES_TOO_MANY), cause)
        work = self._analyses.begin(asked, name, origin, cause)
        if not isinstance(work, AnalysisWork):
            found.take(asked, work)
            return None
        self._carry_out(Decision(name, asides=(work.progress(name),)), cause)
        return Result(command, done=True, seconds=HINT_SECONDS)

    def _under_way(self, name: str) -> tuple[int, int, int] | None:
        """Return for which battle's analysis a player waits, and how far that has come."""
        work = self._analyses and self._analyses.awaited_by(name)
        if not work:
            return None
        return work.asked.battle.number, work.done, len(work.asked.game.moves)

    def tell_progress(self, progress: Analysing, cause: object) -> None:
        """Tell a player how far an analysis has come, unless they have left."""
        if progress.player in self._visits and not self._closing:
            self._carry_out(Decision(progress.player, asides=(progress,)), cause)

    async def tell_analysed(
        self, name: str, asked: AnalysisLookup, analysis: Analysis | None, cause: object
    ) -> None:
        """Tell a player the analysis that they have waited for, unless they have left."""
        async with self._names.of(name):
            visit = self._visits.get(name)
            if self._closing or visit is None:
                return
            try:
                command, found = Analyse(asked.battle.number), Found({asked: analysis})
                await self._decide(visit, command, cause, found=found)
            except StoreError as error:
                _log.error("an analysis was not told: %s", error)

    def _refuse(
        self, name: str, command: Command | None, refusal: Refused, cause: object
    ) -> Result:
        """Tell a player, and their programs, why nothing comes of a line or a command."""
        board = None
        if command:
            words = _words(command)
            self._carry_out(named(self.hall, name, words), cause)
            if words or hasattr(command, "on"):
                with suppress(Refused):
                    board = board_meant(self.hall, self.hall.people[name], words).name
        alone = refusal.code is Refusal.NEEDS_OPPONENT
        told = refusal_messages(
            refusal,
            name,
            self._display(name),
            self._screens,
            board=board,
            advice=rooms.seat_for_a_bot(self.hall) if alone else (),
        )
        self._tell(told, cause)
        return Result(command, refusal=refusal)

    async def write(self, decision: Decision, cause: object = None, key: str | None = None) -> None:
        """Store the events of a decision. When this returns, they have been applied and told.

        With the hall's own go those of a board that they open. Nobody knows that board yet, so it
        has no lock.

        Raises:
            Conflict: something else came first, so nothing has happened.
            StoreError: they cannot be stored, so nothing has happened.
            Unfollowed: they may have been stored.
        """
        board = str(decision.board)
        async with self._tables.of(HALL if decision.hall else board):
            table = self.hall.tables.get(board) if self._unheld else None
            if table and table.key in self._unheld:
                await self._hold_clock(table.key)
            await self._append(decision, cause, key)

    async def _append(
        self, decision: Decision, cause: object = None, key: str | None = None
    ) -> None:
        """Store the events of a decision; its board's lock is held, see `write`."""
        board, mark = str(decision.board), _Pending(self, decision, cause)
        self._require_lease()
        if decision.hall:
            version = decision.hall_version
            if self.hall.version != version:
                raise Conflict(HALL, version, self.hall.version or 0)
            of_hall = {HALL: (version, decision.hall)}
            for event in decision.hall:
                if isinstance(event, BoardOpened) and event.name == board:
                    key, at, events = event.key, event.version, decision.events
                    await self.store.append_to_board(key, at, events, first=of_hall, mark=mark)
                    break
            else:
                await self.store.append(of_hall, mark=mark)
        else:
            version, table = decision.version, self.hall.tables.get(board)
            if table is None:
                raise Conflict(board, version, 0)  # it was closed, or has another name
            if table.version != version:
                raise Conflict(table.key, version, table.version)
            await self.store.append_to_board(
                table.key, version, decision.events, key=key, mark=mark
            )
        if self._trouble:
            raise Unfollowed from self._trouble

    async def until(self, conflict: Conflict) -> None:
        """Wait until what came first at a board, or in the hall, has come in here.

        Raises:
            StoreError: it cannot be read.
            Unfollowed: it will never be.
        """
        if conflict.expected > conflict.found > 0:
            # A database that had not got all of it has taken the place of one that had. The store
            # sees that itself, unless others have written as much again by now.
            self.fail(Forgotten("The store has forgotten what this server has seen of it."))
            raise Unfollowed from conflict
        while self._version(conflict.stream, conflict.found) < conflict.found:
            if self._trouble:
                raise Unfollowed from self._trouble
            news = future()
            self._news.append(news)
            await news

    def _version(self, stream: str, found: int) -> int:
        """Return the version at which a stream stands here; ``found`` if it is not followed.

        That of a match is not, but looked up anew.
        """
        if stream == HALL:
            return self.hall.version or 0
        table = self.hall.board_with(stream)
        return table.version if table else found

    # What is stored is made so.

    def _take(self, entries: Sequence[Entry]) -> None:
        """Apply and tell what has been stored, by whomever, in the order of the store."""
        if self._trouble:
            return
        try:
            for entry in entries:
                if entry.stream == HALL:
                    self._take_hall_event(entry)
                    continue
                table = self.hall.board_with(entry.stream)
                # It may have been folded with what came meanwhile.
                if table and entry.version > table.version:
                    self._take_board_event(entry, table)
        except Exception as error:  # noqa: BLE001  (whoever waits for the end is told)
            self.fail(error)
        self._wake()
        if not self._names:  # else the end of a turn does that
            self._check_presence()

    def _take_hall_event(self, entry: Entry) -> None:
        """Apply and tell an event of the hall's own; each node moves those whom it knows."""
        if self.hall.version is None or entry.version <= self.hall.version:
            return
        self.hall.version = entry.version
        event = cast("HallEvent", entry.event)
        if isinstance(event, Interrupted):
            return
        # What is no board's is of the server's own hall.
        key = event.key if isinstance(event, BoardOpened | BoardClosed | BoardRenamed) else ""
        if realm_of(key) != self.realm:
            return
        decision, cause = Decision(event.player, hall=(event,)), None
        if isinstance(entry.mark, _Pending) and entry.mark.service is self:
            decided, cause = entry.mark.decision, entry.mark.cause
            is_first = entry.version == decided.hall_version + 1 and not decided.events
            if is_first and decided.player in self.hall.people:
                decision = replace(decision, asides=decided.asides, board=decided.board)
        self._carry_out(decision, cause)
        if isinstance(event, BoardOpened):
            for name, came in list(self._on_the_way.items()):
                if came.room == event.name:
                    self.hear([self._on_the_way.pop(name)])
        if table := self.hall.board_with(key):
            # Somebody's presence may just have been noted under the old name.
            self._unchecked += table.seats.values()
        else:
            self._unheld.discard(key)

    def _take_board_event(self, entry: Entry, table: Table) -> None:
        board, before = table.name, table.seats
        is_ours = isinstance(entry.mark, _Pending) and entry.mark.service is self
        decision, cause = self._decided(entry, board)
        try:
            self._carry_out(decision, cause)
        except Exception:
            # Nobody may play on a board that is not as it is stored; but what is only told badly
            # is no reason to stop.
            if self.hall.tables[board].version != entry.version:
                raise
            _log.exception("what has happened at the %s was not told to all", board)
        if _as_listed(self.hall.tables[board]) != _as_listed(table):
            self._list(table.key)
        if isinstance(entry.event, Absent | BattleEnded):
            self._tidying.wait_for(self.hall.tables[board])
        self._timing.watch(self.hall.tables[board])
        if not is_ours and not self._node:
            return  # without claims, only the service that stored it knows who is there
        seats = self.hall.tables[board].seats
        if seats is not before:
            self._unchecked += [each for each in seats.values() if each not in before.values()]
        if isinstance(entry.event, Absent | Returned):
            self._unchecked.append(entry.event.player)  # if cancelled, nobody has waited for it

    def _list(self, key: str) -> None:
        """Let those in the hall be told how a board has come to look, with all that comes soon."""

        def tell() -> None:
            if table := self.hall.board_with(key):
                self._tell_here(BoardListed("", table.name))

        if self._later:
            self._listings.set(key, self.clock() + LISTED_EVERY, tell)
        else:
            tell()

    def _decided(self, entry: Entry, board: str) -> tuple[Decision, object]:
        """Return what an entry brings about, and its cause, if it was decided here."""
        event = cast("TableEvent", entry.event)
        cause: object = None
        if isinstance(entry.mark, _Pending) and entry.mark.service is self:
            decided, cause = entry.mark.decision, entry.mark.cause
            # With the first event come the asides. But if the line was cancelled, its player may
            # be gone by now and walks nowhere; and the board may have another name.
            is_first = entry.version == decided.version + 1 and decided.board == board
            if is_first and decided.player in self.hall.people:
                stored = replace(decided, battle=entry.battle, changes=entry.changes)
                return replace(stored, events=(event,), hall=()), cause
        version = entry.version - 1
        told = Decision(event.player, board, version, (event,), battle=entry.battle)
        return replace(told, changes=entry.changes), cause

    def _unread(self, error: StoreError) -> None:
        """Let nobody wait for what cannot be read for now. It comes when it can be."""
        _log.error("what is new in the store cannot be read: %s", error)
        self._wake(error)

    def _wake(self, error: StoreError | None = None) -> None:
        waiting, self._news = self._news, []
        settle(waiting, error)

    def _carry_out(
        self,
        decision: Decision,
        cause: object = None,
        *,
        told: bool = True,
        crosses: bool = True,
        alone: str = "",
    ) -> None:
        """Make a decision so, and tell whom it concerns; on other nodes, too, if it ``crosses``.

        Args:
            decision: what has been decided.
            cause: as for `submit`.
            told: whether anybody is told.
            crosses: whether other nodes are.
            alone: the only player who is told, if not all are.
        """
        for telling in self.hall.commit(decision):
            self._tidying.note(telling, is_ours=self._visits.__contains__)
            if alone:
                audience = tuple(each for each in telling.audience if each == alone)
                telling = replace(telling, audience=audience)  # noqa: PLW2901
            if told:
                self._spread(telling, cause)
            if isinstance(telling.event, Sanctioned):
                self._end_kicked(telling.event.sanction)
        if told and crosses:
            self._pass_on(decision.asides)

    def _end_kicked(self, sanction: Sanction) -> None:
        """End the visit of somebody who has been kicked; their seats are kept."""
        visit = self._visits.get(sanction.whom)
        if visit and sanction.measure is Measure.KICK:
            if visit.outbox:
                visit.outbox.dismissed(Dismissal.KICKED)
            now(self.leave(visit))

    def _tell_of_shutdown(self, name: str) -> None:
        """Tell somebody who has just come in that this node will stop, if it will."""
        if coming := self.hall.shutdown:
            self._tell_here(self.countdown.told_now(coming, name))

    def _tell_here(self, aside: Aside) -> None:
        """Tell something to those on this node alone."""
        self._carry_out(Decision(aside.player, asides=(aside,)), crosses=False)

    # Coming and going, as it is stored.

    def _allow_in(self, visit: Visit) -> None:
        """Ask whether others may be told that a player comes in: if not, they are not.

        At a seat they have to be, since it is played on there. So for whoever has one it is asked
        of the name alone, and what is raised says when: others from their address keep nobody out.
        """
        if self.hall.seats_of(visit.name):
            self._allow(replace(visit, origin=""))
            return
        try:
            self._allow(visit)
        except Refused:
            visit.hushed = True

    async def _arrive(
        self, visit: Visit, arriving: Sequence[Decision], *, looks: bool, cause: object
    ) -> None:
        """Store and tell that a player comes in, and is back at their seats."""
        entered, *seats, news = arriving
        is_back = any(each.events for each in seats)
        is_told = is_back or not visit.quiet
        alone = visit.name if visit.hushed and not is_back else ""
        self._carry_out(entered, cause, told=is_told, alone=alone)
        for each in seats:
            if each.events:
                await self._back(visit, str(each.board), cause)
            else:
                self._carry_out(each, cause)
        there = self.hall.tables  # any may have been closed meanwhile
        asides = tuple(
            each for each in news.asides if isinstance(each, CaughtUp) and each.board in there
        )
        news = replace(news, board=news.board if news.board in there else None, asides=asides)
        if looks or seats:
            self._carry_out(news, cause, told=is_told, alone=alone)
        else:
            self._tell(self.brief(visit.name), cause)

    async def _back(self, visit: Visit, board: str, cause: object) -> None:
        """Store that a player is back at a board."""
        try:
            await self._note(visit.name, board, Parting.LOST, cause, raises=visit.must_store)
        except StoreError:
            gone = part(self.hall, visit.name, Parting.LOST, self.clock())[-1]
            self._carry_out(gone, told=False)
            self._forget(visit)
            raise

    def _abandon(self, visit: Visit) -> None:
        """See out somebody whose joining has failed half-way."""
        if self._visits.get(visit.name) is visit:
            visit.must_store = False  # no front end has them, so they cannot stay
            now(self.leave(visit))
        elif self._node and visit.name not in self._visits:
            now(self._note_presence(visit.name))

    async def _see_out(self, visit: Visit, parting: Parting, cause: object) -> None:
        """Store and tell that a player goes. If it must be stored and cannot be, they stay."""
        name = visit.name
        self._replays.cancel(name)
        terminal = self._screens.get(name)
        if parting is Parting.LOST:
            self._screens.forget(name)  # who has no screen is told nothing
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
        """Store that somebody leaves their seats, and then tell that they are gone."""
        *seats, gone = part(self.hall, name, parting, self.clock())
        for decision in seats:
            if decision.events:
                board = str(decision.board)
                await self._note(name, board, parting, cause, leaves=True, raises=raises)
        room = self.hall.people[name].room  # it may have been closed meanwhile
        asides = tuple(replace(each, room=room) for each in gone.asides if isinstance(each, Gone))
        self._carry_out(replace(gone, asides=asides), cause, told=not quiet, alone=alone)

    def _forget(self, visit: Visit) -> None:
        visit.end()
        if self._visits.get(visit.name) is visit:
            del self._visits[visit.name]
            self._watching.pop(visit.name, None)
            if not self._holds(visit.name):
                self.hall.origins.pop(visit.name, None)
        self._screens.forget(visit.name)
        # Another player's doing may have given them one more seat meanwhile.
        self._unchecked.append(visit.name)

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
        """Store whether a player who has a seat at a board is here; after a conflict, try again.

        If it cannot be stored, they are gone, or back, all the same, and it is tried again later.

        Args:
            name: the player's.
            board: which one.
            parting: how they left, if they are not here.
            cause: as for `submit`.
            leaves: whether they are leaving, and here until that is stored.
            raises: whether a StoreError is raised instead.
        """
        try:
            while True:
                table = self.hall.tables.get(board)
                if table is None or not table.side_of(name):
                    return
                is_here = name in self._visits and not leaves
                at = self.clock()
                events = come_back(table, name, at) if is_here else vanish(table, name, parting, at)
                if not events:
                    return
                try:
                    await self.write(Decision(name, table.name, table.version, events), cause)
                except Conflict as conflict:
                    await self.until(conflict)
        except StoreError as error:
            if raises:
                raise
            self._note_later(name, parting, error)

    def _note_later(self, name: str, parting: Parting, error: StoreError) -> None:
        """Try again in a while to store whether a player is here."""
        _log.error("not stored: %s", error, extra={"player": name})
        at = self.clock() + RETRY
        self._retries.set(name, at, lambda: now(self._note_presence(name, parting)))

    async def _note_presence(
        self, name: str, parting: Parting = Parting.LOST, *, raises: bool = False
    ) -> None:
        """Store, at all their seats, whether a player is here, or is away, being on no node.

        Players on another node are left to it. Those whom another node had and lost are seen out.

        Args:
            name: the player's.
            parting: how they left, if they are nowhere.
            raises: whether a StoreError is raised; else it is tried again later.
        """
        async with self._names.of(name):
            if self._closing:
                return
            if name in self._visits:
                for table in self.hall.seats_of(name):
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
            if name in self.hall.people:
                await self._go(name, parting, None)
            else:
                for table in self.hall.seats_of(name):
                    await self._note(name, table.name, parting, raises=raises)
                self._pass_on([Gone(name, None, Parting.LOST)])  # others may know them still
            await self._release(name)

    def _check_presence(self) -> None:
        """Note the presence of those who have got a seat, or have gone, by somebody else's doing.

        It waits until nobody holds a table's lock: a name's lock is taken before that.
        """
        names, self._unchecked = self._unchecked, []
        for name in names:
            is_here = name in self._visits
            is_elsewhere = name in self.hall.people and not is_here
            if self._closing or is_elsewhere or name in self._retries:
                continue  # the next start does that, or their node, or the next try
            if any(
                (each.side_of(name) in each.away) == is_here for each in self.hall.seats_of(name)
            ):
                now(self._note_presence(name))

    # What is left of those who are gone: see `thudmud.service.tidying`.

    async def close_idle_board(self, key: str) -> None:
        """Close a board that players have opened, unless somebody needs it."""
        async with self._tables.of(HALL):  # no other of ours comes first
            while (table := self.hall.board_with(key)) and self.hall.is_idle(table):
                self._require_lease()
                try:
                    await close_at(self.store, table, self.hall.version or 0, self.clock())
                except Conflict as conflict:
                    await self.until(conflict)

    # Other nodes.

    async def _claim(self, name: str, *, asks: bool = False) -> bool:
        """Claim a name for our node, if there is one, and have all come in that is stored."""
        return self._node is None or await self._node.claim(self, name, asks=asks)

    async def _release(self, name: str) -> None:
        """Let a name go, unless there is something to be stored of it yet."""
        if self._node and name not in self._retries:
            await self._node.release(self, name)

    def _pass_on(self, asides: Sequence[Aside]) -> None:
        """Tell the other nodes, if there are any, what of it is for them."""
        if self._node and self._node.peers:
            crossing = tuple(each for each in asides if each.crosses)
            if crossing:
                now(self._node.tell(self, crossing))

    def people_here(self) -> tuple[Entered, ...]:
        """Return who is here, where, and how they want to see things, for another node."""
        return tuple(_entered(self.hall.people[name]) for name in self._visits)

    def hear(self, asides: Iterable[Aside]) -> None:
        """Apply and tell what has happened on another node, or note who is there."""
        for aside in asides:
            name = aside.player
            person = self.hall.people.get(name)
            if isinstance(aside, CameIn | Gone):
                self._on_the_way.pop(name, None)  # they have walked on
            if name in self._visits:
                continue  # they have come in here before it was heard that they had been there
            match aside:
                case Entered() if person:
                    room = aside.room if aside.room in self.hall.tables else None
                    if room != person.room:  # what told it has been lost
                        self._carry_out(
                            Decision(name, asides=(CameIn(name, room),)), told=False, crosses=False
                        )
                    person.member, person.plan = aside.member, aside.plan or ""
                    person.styles, person.options = dict(aside.styles), aside.options or DEFAULTS
                    person.active = aside.active
                    self.hall.keep_lists(name, aside.ignored or (), aside.followed or ())
                    self.hall.observe(name, self._known_boards(aside.observed))
                    continue
                case Gone() if person:
                    aside = self._gone(aside, person)  # noqa: PLW2901
                case ObserveChosen(observed=observed):
                    aside = replace(aside, observed=self._known_boards(observed))  # noqa: PLW2901
                case StyleChosen(_, board, style) if person and board not in self.hall.tables:
                    person.styles[board] = style
                    continue
                case Entered(room=str(room)) if room not in self.hall.tables:
                    aside = replace(aside, room=None)  # noqa: PLW2901
                case CameIn(room=str(room)) if room not in self.hall.tables:
                    self._on_the_way[name] = aside  # its board may be about to be opened
                    continue
                case Spoke(room=str(room)) | Emoted(room=str(room)) | WentOut(room=str(room)):
                    if room not in self.hall.tables:
                        continue
            if person or isinstance(aside, Entered):
                self._carry_out(Decision(name, asides=(aside,)), crosses=False)

    def _known_boards(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return those boards of another node that are known here, too."""
        return tuple(name for name in names if name in self.hall.tables)

    def _gone(self, gone: Gone, person: Person) -> Gone:
        """Return that a player has gone from where they are here. At a seat, it has been told."""
        table = self.hall.tables.get(person.room) if person.room else None
        is_told = gone.told or bool(table and table.side_of(person.name) in table.away)
        return replace(gone, room=person.room, told=is_told)

    async def let_go(self, name: str) -> None:
        """Leave a player to another node, after their line in flight."""
        async with self._names.of(name):
            if visit := self._visits.get(name):
                self._dismiss(visit, Dismissal.MOVED)
            await self._release(name)

    def lost(self, name: str) -> None:
        """See out, in the background, a player whom no node has any more, unless they are here."""
        now(self._note_presence(name))

    async def dismiss(self, kept: Collection[str] = ()) -> None:
        """Dismiss all who are here: other nodes may have taken this one for dead.

        Args:
            kept: in lower case, those who stay, since they have certainly not been taken.
        """
        for name in sorted(self.hall.people, key=self._names.is_taken):  # at once, who can be
            if name.lower() in kept and name in self._visits:
                continue
            if name in self._visits:
                async with self._names.of(name):  # others wait for nothing of ours
                    if visit := self._visits.get(name):
                        self._dismiss(visit, Dismissal.CUT_OFF)
            person = self.hall.people.get(name)
            if person and name not in self._visits:
                gone = Gone(name, person.room, Parting.LOST)
                self._carry_out(Decision(name, asides=(gone,)), told=False)
            self.lost(name)

    def _dismiss(self, visit: Visit, why: Dismissal) -> None:
        """End the visit of a player who is not leaving, and tell their front end why."""
        outbox = visit.outbox
        self._replays.cancel(visit.name)
        self._forget(visit)
        if outbox:
            outbox.dismissed(why)

    # Battles that are shown again.

    def is_replaying(self, name: str) -> bool:
        """Whether a player is being shown a battle again, ply after ply."""
        person = self.hall.people.get(name)
        return bool(person and person.replay and person.replay.playing)

    def play_on(self, name: str, cause: object = None) -> None:
        """Show such a player the next ply."""
        if self.is_replaying(name):
            self._carry_out(decide(self.hall, name, Step(Way.PLAY), 0)[0], cause)

    def stop_playing(self, name: str) -> None:
        """Stop at the ply that is shown."""
        person = self.hall.people.get(name)
        if person and person.replay:
            person.replay = replace(person.replay, playing=False)

    def _go_on(self, name: str, cause: object = None) -> None:
        """Show what comes next of a battle, if a player has asked for it: at once, or later."""
        self._replays.cancel(name)
        if self._pause == 0:
            self._play_at_once(name, cause)
        elif self._pause and self.is_replaying(name):
            self._replays.set(name, self.clock() + self._pause, lambda: self._next(name))

    def _play_at_once(self, name: str, cause: object) -> None:
        """Show a few plies, and stop: everybody else waits meanwhile."""
        for _ in range(1, PLIES_AT_ONCE):
            self.play_on(name, cause)
        if self.is_replaying(name):
            self.stop_playing(name)
            self._say(name, archive.PLAY_ON, cause)

    def _next(self, name: str) -> None:
        self.play_on(name)  # unless a ply of their own battle has ended the replay meanwhile
        self._go_on(name)

    def _pause_replay(self, name: str) -> None:
        """Stop at the ply that a player is shown, if the next would come by itself."""
        if self._replays.cancel(name):
            self.stop_playing(name)

    # Telling.

    def _spread(self, telling: Telling, cause: object = None) -> None:
        """Tell an audience what has happened: outboxes in words, watchers by the telling itself."""
        telling = telling.told_at(self.clock())
        seen = self._onlookers.join(telling)
        self._tell(messages(self.hall, seen, self._screens), cause)
        self._onlookers.follow(telling)
        for name in [each for each in self._watching if each in telling.audience]:
            if watcher := self._watching[name].watcher:
                watcher(telling)

    def _tell(self, told: Iterable[Message], cause: object = None) -> None:
        for message in told:
            if self._told:
                self._told(message, cause)
            for name in message.to:
                visit = self._visits.get(name)
                outbox = visit.outbox if visit else self._onlookers.outbox(name)
                if outbox:
                    outbox.put(message)

    def announce(self, sentence: str) -> None:
        """Tell everybody the same."""
        if self.hall.people:
            self._tell([Message(tuple(self.hall.people), sentence)])

    def tell(self, name: str, sentence: str) -> None:
        """Tell somebody who is here a sentence."""
        self._say(name, sentence, None)

    def _say(self, name: str, sentence: str, cause: object) -> None:
        display = self._display(name)
        lines = fitted(wrapped(sentence, display.width), display)
        self._tell([Message((name,), "\n".join(lines))], cause)

    def _display(self, name: str) -> Display:
        return display_of(self.hall, name, self._screens)

    # Small things.

    def _turn_ended(self) -> None:
        """Do what had to wait until a player's turn was over."""
        if self._unchecked:
            self._check_presence()
        self._tidying.turn_ended()
        if self._idle and not self._names and not self._idle.done():
            self._idle.set_result(None)

    def _require_lease(self) -> None:
        """Raise NotWritten if other nodes may have taken ours for dead; there may be none."""
        if self._node and not self.store.is_exclusive and not self._node.is_alive:
            raise NotWritten("The lease of this node has run out: others may play on by now.")

    @property
    def _only_table(self) -> Table:
        [table] = self.hall.tables.values()
        return table

    def _require_version(self, at: int) -> None:
        table = self._only_table
        if table.version != at:
            raise Conflict(table.key, at, table.version)

    def _chosen(self, name: str, decision: Decision) -> Person | None:
        """Return a member with what they want after a decision, if that changes it."""
        person = self.hall.people[name]
        if not person.member or not decision.asides:
            return None
        after = person
        for aside in decision.asides:
            after = aside.chosen(self.hall, after)
        return None if after == person else after


def _as_listed(table: Table) -> tuple[object, ...]:
    """Return what a list of boards shows of one."""
    number = table.match.number if table.match else None
    return dict(table.seats), table.running, table.ruleset.name, table.time, number


async def _advised(adviser: Adviser, asked: AdviceLookup) -> Line | None:
    """Return what an adviser says, whatever it gets wrong."""
    try:
        return await adviser.advise(asked.board, asked.game)
    except Exception:  # noqa: BLE001  (the player is told that there is no hint)
        _log.exception("a hint was not found")
        return None


def _entered(person: Person) -> Entered:
    """Return what another node has to know of somebody who is here."""
    styles = tuple(person.styles.items())
    return Entered(
        person.name,
        person.room,
        person.member,
        styles,
        person.options,
        ignored=person.ignored,
        news=person.news,
        followed=person.followed,
        plan=person.plan,
        observed=person.observed,
        active=person.active,
    )


def _words(command: Command) -> str | None:
    """Return the words for a board that a command holds, if any."""
    match command:
        case Look(words) | Go(words):
            return words
    return getattr(command, "on", None)
