"""The store: what has happened, and who has which name, behind one interface.

A store is streams of events: one for the hall, one for each board, one for each match that was put
away. A stream's events are numbered from 1, and the number of its last event is its version. Who
appends says which version they decided at, so two can never decide on the same state. All events of
all streams also have one common order, their positions.

Battles, tallies and ratings are rows that change in the transaction of the event that changes them;
accounts, nodes and claims are rows beside them.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeVar, cast

from thudmud.play.analysis import Analysis, KeptAnalysisLookup
from thudmud.play.archive import (
    AdjournedLookup,
    AdjournedMatches,
    BattleLookup,
    FoundBattle,
    HistoryLookup,
    Lookup,
    ScoreLookup,
    StandingsLookup,
    StudiesLookup,
)
from thudmud.play.events import Adjourned, BattleId, Event, Resumed, StoredEvent
from thudmud.play.match import game_of
from thudmud.play.projections import match_stream
from thudmud.rules import Game
from thudmud.store import accounts as account_rows
from thudmud.store.checking import DAMAGED, IN_ORDER, check_connection
from thudmud.store.database import Changes, Database
from thudmud.store.files import InMemory, OnDisk
from thudmud.store.interface import (
    Damage,
    Damaged,
    Entry,
    Stored,
    StoreError,
)
from thudmud.store.running import AtOnce, Failed, Followers, InThread, Subscription, Take

if TYPE_CHECKING:
    import asyncio

P = ParamSpec("P")
T = TypeVar("T")
DatabaseWork = Callable[Concatenate[Database, P], T]
StoreMethod = Callable[Concatenate["Store", P], Coroutine[Any, Any, T]]
Heard = Callable[[object], None]

POLL = 0.1
"""Seconds between two looks at whether another process has written something."""

GAMES_KEPT = 100
"""How many battles that have ended are kept folded, for whoever wants to see one."""

_log = logging.getLogger(__name__)


def _reading(work: DatabaseWork[P, T]) -> StoreMethod[P, T]:
    """Return the method of a store that does some work on its database, which changes nothing."""

    @wraps(work)
    async def method(store: Store, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await store._runner.read(lambda database: work(database, *args, **kwargs))  # noqa: SLF001  (of this module)

    return method


def _writing(work: DatabaseWork[P, T], *, bars: bool = False) -> StoreMethod[P, T]:
    """Return the method of a store that does some work on its database, all or nothing.

    ``bars`` says that the work may change who may not play.
    """

    @wraps(work)
    async def method(store: Store, /, *args: P.args, **kwargs: P.kwargs) -> T:
        outcome = await store._runner.write(lambda database: work(database, *args, **kwargs))  # noqa: SLF001  (of this module)
        if bars:
            await store._tell_barred()  # noqa: SLF001  (of this module)
        return outcome

    return method


class _Folded(NamedTuple):
    """The game of a battle, as far as its events have been read from ``source`` on."""

    source: BattleId
    events: int
    game: Game


class Store:
    """What is stored. `in_memory` and `open` make one.

    All methods are for one event loop, and nothing of them blocks it. In memory they need none:
    their coroutines never wait. Each raises StoreError if what is stored cannot be read or changed.
    If a call is cancelled, what it was to change may be changed nevertheless.

    Many of the methods are work of `Database`, or of `thudmud.store.accounts`, that is done in the
    store's thread. They take what that takes, but for the database. A ``realm`` is that of the
    players, see `thudmud.play.projections.realm_of`.
    """

    def __init__(self) -> None:
        self._runner: AtOnce | InThread
        self.is_exclusive = False
        """Whether no other process can serve boards from it while it is open."""
        self._path: Path | None = None
        self._followers = Followers()
        self._games: dict[int, _Folded] = {}
        """Battles that were looked up, by number: those first that are forgotten first."""
        self._hearing: list[Heard] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._trouble: StoreError | None = None
        """Why nothing can be done any more."""
        self._told_barred: list[Callable[[frozenset[str]], None]] = []
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    def in_memory(cls, *, clock: Callable[[], float] = time.time) -> Store:
        """Return a store that is gone when it is closed."""
        store = cls()
        store._runner = AtOnce(Database(InMemory(), clock), store._followers)
        return store

    @classmethod
    async def open(
        cls,
        path: str | Path,
        *,
        serving: bool = False,
        poll: float = POLL,
        patience: float = 5.0,
        clock: Callable[[], float] = time.time,
    ) -> Store:
        """Return the store in a file, which is made if it is not there.

        Args:
            path: of the file. Three more are kept beside it.
            serving: whether boards are served from it, which only one process at a time may do.
            poll: how many seconds it takes at most to notice what other processes write.
            patience: for how many seconds it waits while another process writes.
            clock: returns the seconds since the epoch.

        Raises:
            InUse: another server serves boards from it.
            Damaged: what is there is not what was written.
            Unknown: a later version of this program wrote it, or another program.
            StoreError: it cannot be used.
        """
        store = cls()
        store._path = Path(path)
        store.is_exclusive = serving

        def open_it() -> Database:
            files = OnDisk(Path(path), serving=serving, patience=patience)
            try:
                database = Database(files, clock)
                if serving:
                    database.alone()
            except BaseException:
                files.close()
                raise
            return database

        runner = InThread(
            open_it, poll, store._followers, store._others_changed, store._runner_stopped
        )
        store._runner = runner
        try:
            await runner.start()
        except BaseException:
            await runner.stop()
            raise
        return store

    async def stopped(self) -> None:
        """Wait until nothing can be done with the store any more, by a mistake of ours.

        Raises:
            StoreError: always, when that is so.
        """
        import asyncio  # noqa: PLC0415  (a house needs none)

        if self._trouble:
            raise self._trouble
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        await waiting

    async def close(self) -> None:
        """Store what is waiting to be stored, and let go of the file."""
        await self._runner.stop()
        if self._tasks:
            import asyncio  # noqa: PLC0415  (a house needs none)

            await asyncio.wait(list(self._tasks))

    # Streams

    async def append(
        self, changes: Changes, key: str | None = None, *, mark: object = None
    ) -> Mapping[str, Stored]:
        """Store events, all or none, durably, each with the store's time.

        Once it returns they are stored, and whoever follows has been handed them.

        Args:
            changes: by stream, the version that it has to stand at, and the events that come next.
                Where there are no events, only the version is required.
            key: tells this request from all others to these streams. If it was stored before, it
                is not again: what it came to then is returned. That is known for some days. A
                request that was refused may be made again.
            mark: what the entries are to be known by when this store hands them out.

        Returns:
            By stream, where the last event stands.

        Raises:
            Conflict: a stream stands at another version.
            NotWritten: they could not be stored.
        """
        kept = {name: (expected, tuple(events)) for name, (expected, events) in changes.items()}
        return await self._runner.write(lambda database: database.append(kept, key, mark))

    async def append_to_board(
        self,
        board: str,
        expected: int,
        events: Sequence[Event],
        *,
        besides: Changes | None = None,
        mark: object = None,
    ) -> Mapping[str, Stored]:
        """Store what was decided at a board, see `append`, and with it changes of other streams.

        What puts a match away, or takes it up again, is stored in a stream of the match's own as
        well: so no two boards can resume the same match, and none an older state of it.

        Raises:
            Conflict: the board stands at another version; or the match is not as it was.
            NotWritten: they could not be stored.
        """
        changes: dict[str, tuple[int, Sequence[StoredEvent]]] = {board: (expected, events)}
        for event in events:
            if isinstance(event, Adjourned | Resumed):
                stream = match_stream(event.match.began)
                look = partial(Database.match_version, stream=stream, event=event)
                changes[stream] = await self._runner.read(look), [event]
        return await self.append({**changes, **(besides or {})}, mark=mark)

    async def bring_in(
        self, events: Iterable[tuple[str, Event]], take: Callable[[Entry], None]
    ) -> None:
        """Store what was decided at boards elsewhere, all or nothing, each with its own time.

        If the event before has a later time, that is used instead. In all other respects it is as
        if each was given to `append_to_board`, but in one transaction.

        Args:
            events: what has happened at which board, in order. What it raises is raised here, and
                nothing is stored.
            take: called with what was stored of each before the next is asked for: with the entry
                of the board, then with that of the match's own stream, if it has one. It must not
                raise. Of a store in a file both are for its thread.

        Raises:
            Conflict: a match that is taken up is not as it was.
            NotWritten: they could not be stored.
        """
        raised: list[Exception] = []

        def asked_for() -> Iterator[tuple[str, Event]]:
            try:
                yield from events
            except Exception as error:
                raised.append(error)
                raise

        try:
            await self._runner.write(lambda database: database.bring_in(asked_for(), take))
        except StoreError as error:
            if raised and error is not raised[0]:
                raise raised[0] from None
            raise

    async def subscribe(
        self, streams: Collection[str] | None, after: int, take: Take, failed: Failed
    ) -> Subscription:
        """Be handed all events of some streams after a position, in order and without a gap.

        When this returns, ``take`` has been called with all that was stored before the call.

        Args:
            streams: by key; None for all of them.
            after: the position that the first one comes after.
            take: called with entries, always in the loop: whole appends, whoever appended them, but
                for the entries of other streams. Who appended has been woken before, and goes on
                after that. It must not raise.
            failed: called with why nothing is handed out for now; it goes on when it can.

        Raises:
            StoreError: they cannot be read.
        """
        subscription = Subscription(self._followers, streams, after, take, failed)
        self._followers.add(subscription)
        try:
            whole = False
            while not whole:
                read_to = after
                entries, whole = await self._runner.read(lambda db, to=read_to: db.follow(to))  # type: ignore[misc]  # of a default
                subscription.catch_up(entries)
                after = entries[-1].position if entries else after
        except BaseException:
            subscription.close()
            raise
        subscription.go_on()
        return subscription

    async def catch_up(self) -> None:
        """Have all handed to whoever follows that is stored by now, by other processes as well.

        Raises:
            StoreError: it cannot be read.
        """
        await self._runner.catch_up()

    read = _reading(Database.read_stream)
    version = _reading(Database.version)
    streams = _reading(Database.streams)
    open_boards = _reading(Database.open_boards)
    board = _reading(Database.open_board)
    position = _reading(Database.position)
    now = _reading(Database.now)

    # Battles

    async def look_up(self, lookup: Lookup[Any], *, realm: str = "") -> Any:
        """Return the answer to a lookup of `thudmud.play.archive`, of the kind that it says.

        Raises:
            StoreError: it cannot be read.
        """
        match lookup:
            case BattleLookup(number):
                return await self._found_battle(number, realm)
            case AdjournedLookup(player):
                return AdjournedMatches(tuple(await self.adjourned(player, realm=realm)))
            case HistoryLookup(player, page):
                return await self._runner.read(lambda db: db.history_page(player, page, realm))
            case ScoreLookup(player):
                return await self.score(player, realm=realm)
            case KeptAnalysisLookup(began, plies):
                return await self._kept_analysis(began, plies)
            case StudiesLookup(player):
                return await self.studies(player, realm=realm)
            case StandingsLookup(player):
                return await self._runner.read(lambda db: db.ranking(player, realm))
        raise ValueError(f"{lookup} cannot be looked up here")

    async def _kept_analysis(self, began: BattleId, plies: int) -> Analysis | None:
        """Return the analysis of a battle, unless it is of fewer plies than have been played."""
        found = await self._runner.read(lambda database: database.analysis(began))
        return found if found and len(found.lost) == plies else None

    battle = _reading(Database.battle)
    plies = _reading(Database.plies)
    comments = _reading(Database.comments)
    history = _reading(Database.history)
    battles = _reading(Database.battles)
    between = _reading(Database.between)
    number_of = _reading(Database.battle_number)
    keep_analysis = _writing(Database.keep_analysis)
    adjourned = _reading(Database.adjourned)
    standings = _reading(Database.standings)
    score = _reading(Database.score)
    studies = _reading(Database.studies)

    async def _found_battle(self, number: int, realm: str) -> FoundBattle | None:
        """Return a battle and its game. Folding one takes 10 ms and more: the last are kept.

        Of one that goes on, only what is new is read.
        """
        known = self._games.get(number)

        def read(database: Database) -> tuple[FoundBattle, int, Sequence[StoredEvent]] | None:
            battle = database.battle(number, realm=realm)
            if battle is None:
                return None
            done = known.events if known and known.source == battle.source else 0
            players = database.still_called(battle, realm=realm)
            found = FoundBattle(battle, None, database.comments(number), players)
            return found, done, database.plies(battle, done)

        answer = await self._runner.read(read)
        if answer is None:
            return None
        found, done, events = answer
        before = known.game if known and done else None
        game = game_of(cast("Sequence[Event]", events), before) if events else before
        if game is None:
            return found
        self._games.pop(number, None)
        self._games[number] = _Folded(found.battle.source, done + len(events), game)
        while len(self._games) > GAMES_KEPT:
            del self._games[next(iter(self._games))]
        # A match that was resumed may have lost plies on which something was said.
        plies = len(game.moves)
        comments = tuple(each for each in found.comments if each.ply <= plies)
        return found._replace(game=game, comments=comments)

    # Accounts, by names that are the same in any case

    find = _reading(account_rows.find)
    accounts = _reading(account_rows.everybody)
    enrol = _writing(account_rows.enrol)
    set_password = _writing(account_rows.set_password)
    set_preferences = _writing(account_rows.set_preferences)
    rename = _writing(account_rows.rename, bars=True)
    erase = _writing(account_rows.erase, bars=True)
    ban = _writing(account_rows.ban, bars=True)
    unban = _writing(account_rows.unban, bars=True)
    find_guest = _reading(account_rows.find_guest)
    keep_guest = _writing(account_rows.keep_guest)
    guests = _reading(account_rows.guests)
    forget_guests = _writing(account_rows.forget_guests)
    seen = _writing(account_rows.seen)
    addresses = _reading(account_rows.addresses)

    async def barred(self, told: Callable[[frozenset[str]], None] | None = None) -> frozenset[str]:
        """Return the names, in lower case, that nobody may play under.

        Args:
            told: called with them whenever somebody may have been banned, let in again, renamed or
                erased, whichever process has done it.
        """
        if told:
            self._told_barred.append(told)
        return await self._runner.read(account_rows.barred)

    # Nodes, and who is on them

    beat = _writing(Database.beat)
    is_served = _reading(Database.is_served)
    reap = _writing(Database.reap)
    leave = _writing(Database.leave)
    claim = _writing(Database.claim)
    release = _writing(Database.release)
    people = _reading(Database.people)

    async def notify(self, aside: object) -> None:
        """Tell all who hear, here and on other nodes, what is never stored."""
        for heard in list(self._hearing):
            heard(aside)

    def hear(self, callback: Heard) -> Callable[[], None]:
        """Have a callback called in the loop with all that is notified; return what ends that."""
        self._hearing.append(callback)
        return lambda: self._hearing.remove(callback)

    # The whole

    async def check(self) -> Damage | None:
        """Check all that is stored, while it is used: in a process of its own that gives way.

        If it is damaged, nothing is written any more.
        """
        if self._path is None:
            return await self._runner.read(lambda db: check_connection(db.files.connection))
        status, said, trouble = await _program("-m", "thudmud.store", str(self._path.absolute()))
        if status == IN_ORDER:
            return None
        if status != DAMAGED or not said:  # a program that could not begin has status 1, too
            why = trouble.splitlines()[-1:] or [f"The store {self._path} could not be checked."]
            raise StoreError(why[0])
        await self._runner.read(lambda database: database.is_damaged(Damaged(said)))
        return Damage(said)

    async def _tell_barred(self) -> None:
        if self._told_barred:
            names = await self._runner.read(account_rows.barred)
            for told in self._told_barred:
                told(names)

    def _others_changed(self) -> None:
        """Look again at what other processes may have changed."""
        if not self._told_barred:
            return
        import asyncio  # noqa: PLC0415  (a house needs none)

        async def tell() -> None:
            try:
                await self._tell_barred()
            except StoreError as error:
                _log.error("who may not come in is not known: %s", error)

        task = asyncio.get_running_loop().create_task(tell())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _runner_stopped(self, error: StoreError) -> None:
        """Tell whoever waits for the end."""
        self._trouble = error
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_exception(error)


def at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine of a store in memory comes to, which never waits."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return cast("T", done.value)
    coroutine.close()
    raise RuntimeError("a store in memory should not wait")


async def _program(*words: str) -> tuple[int | None, str, str]:
    """Run a program of Python's; return its status, what it printed, and its errors.

    It does not outlive its caller.
    """
    import asyncio  # noqa: PLC0415  (a house needs none)

    making = asyncio.create_task(
        asyncio.create_subprocess_exec(
            sys.executable, *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
    )
    try:
        # Whoever is cancelled in the middle of this would leave a process that nobody ends.
        process = await asyncio.shield(making)
        printed = await process.communicate()
    finally:
        process = await making
        if process.returncode is None:
            process.kill()
        await process.communicate()  # until its pipes are closed, too
    said, trouble = (text.decode("utf-8", "replace").strip() for text in printed)
    return process.returncode, said, trouble
