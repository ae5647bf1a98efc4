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
import math
import sys
import time
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from thudmud.play.archive import (
    AdjournedLookup,
    AdjournedMatch,
    AdjournedMatches,
    Battle,
    BattleLookup,
    FoundBattle,
    HistoryLookup,
    Lookup,
    PlayerScore,
    ScoreLookup,
    StandingsLookup,
    State,
)
from thudmud.play.events import Adjourned, BattleId, Event, Resumed, StoredEvent
from thudmud.play.match import game_of
from thudmud.play.projections import match_stream
from thudmud.rules import Game
from thudmud.store import accounts
from thudmud.store.checking import DAMAGED, IN_ORDER, check_connection
from thudmud.store.database import Changes, Database
from thudmud.store.files import InMemory, OnDisk
from thudmud.store.interface import (
    Account,
    Damage,
    Damaged,
    Entry,
    KeptName,
    OpenBoard,
    PlayerClaim,
    Stored,
    StoreError,
)
from thudmud.store.running import AtOnce, Failed, Followers, InThread, Runner, Subscription, Take

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")
Heard = Callable[[object], None]

POLL = 0.1
"""Seconds between two looks at whether another process has written something."""

GAMES_KEPT = 100
"""How many battles that have ended are kept folded, for whoever wants to see one."""

LEASE = 10.0
"""Seconds for which a node lives, unless it says once more that it does."""

_log = logging.getLogger(__name__)


class Store:
    """What is stored. `in_memory` and `open` make one.

    All methods are for one event loop, and nothing of them blocks it. In memory they need none:
    their coroutines never wait. Each raises StoreError if what is stored cannot be read or changed.
    If a call is cancelled, what it was to change may be changed nevertheless.
    """

    def __init__(self) -> None:
        self._runner: Runner
        self.is_exclusive = False
        """Whether no other process can serve boards from it while it is open."""
        self._path: Path | None = None
        self._followers = Followers()
        self._games: dict[int, Game] = {}
        """Battles that have ended, by number: those first that are forgotten first."""
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
        store._runner = AtOnce(Database(InMemory(), clock), store._listener())
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

        runner = InThread(open_it, poll, store._listener())
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

    async def append(self, changes: Changes, *, mark: object = None) -> Mapping[str, Stored]:
        """Store events, all or none, durably, each with the store's time.

        Once it returns they are stored, and whoever follows has been handed them.

        Args:
            changes: by stream, the version that it has to stand at, and the events that come next.
                Where there are no events, only the version is required.
            mark: what the entries are to be known by when this store hands them out.

        Returns:
            By stream, where the last event stands.

        Raises:
            Conflict: a stream stands at another version.
            NotWritten: they could not be stored.
        """
        kept = {name: (expected, tuple(events)) for name, (expected, events) in changes.items()}
        return await self._runner.write(lambda database: database.append(kept, mark))

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
        well: so two boards cannot take up one, nor one as it was before.

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

        That is the time of the one before it, if that is later. Else it is as if each was given to
        `append_to_board`, but in one transaction.

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

    async def read(self, stream: str, first: int = 1, most: int | None = None) -> Sequence[Entry]:
        """Return the events of a stream from a version on, in order, ``most`` at most."""
        return await self._runner.read(lambda database: database.read_stream(stream, first, most))

    async def version(self, stream: str) -> int:
        """Return the version of a stream; 0 if it has no events."""
        return await self._runner.read(lambda database: database.version(stream))

    async def streams(self) -> Mapping[str, int]:
        """Return all streams by key, and their versions. For export and checks: there are many."""
        return await self._runner.read(Database.streams)

    async def open_boards(self) -> Sequence[OpenBoard]:
        """Return the boards that are up, in the order in which they first were."""
        return await self._runner.read(Database.open_boards)

    async def board(self, key: str) -> OpenBoard | None:
        """Return the board with a key, if it is up."""
        return await self._runner.read(lambda database: database.open_board(key))

    async def position(self) -> int:
        """Return the position of the last event; 0 if there is none."""
        return await self._runner.read(Database.position)

    async def now(self) -> float:
        """Return the store's time, in seconds since the epoch; it never goes back."""
        return await self._runner.read(Database.now)

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
            case StandingsLookup(player):
                return await self._runner.read(lambda db: db.ranking(player, realm))
        raise ValueError(f"{lookup} cannot be looked up here")

    async def battle(self, number: int, *, realm: str = "") -> Battle | None:
        """Return the battle with a number, if there is one."""
        return await self._runner.read(lambda database: database.battle(number, realm))

    async def plies(self, battle: Battle) -> Sequence[StoredEvent]:
        """Return the events that a battle is folded from; none if they were pruned."""
        return await self._runner.read(lambda database: database.plies(battle))

    async def history(
        self, player: str | None, before: int | None = None, most: int = 20, *, realm: str = ""
    ) -> Sequence[Battle]:
        """Return the last battles of a player, or of all, before a number if one is given.

        The latest comes first.
        """
        return await self._runner.read(lambda db: db.history(player, before, most, realm))

    async def battles(
        self,
        player: str | None = None,
        after: int = 0,
        most: int = 1000,
        *,
        since: float = -math.inf,
        realm: str = "",
    ) -> Sequence[Battle]:
        """Return the first battles after a number, in the order of their numbers.

        Args:
            player: whose; None for everybody's. Those of a guest whose name is free by now are
                among them, and those of who has it after that.
            after: the number.
            most: how many at most.
            since: only those that began at that time or later.
            realm: of the players.
        """
        return await self._runner.read(lambda db: db.battles(player, after, most, since, realm))

    async def between(
        self, dwarf: str, troll: str, since: float, until: float, *, realm: str = ""
    ) -> Sequence[Battle]:
        """Return the battles of two that began at a time or later and before another, in order.

        Each is who is called that, or was, as for `battles`.
        """
        return await self._runner.read(lambda db: db.between(dwarf, troll, since, until, realm))

    async def number_of(self, began: BattleId) -> int | None:
        """Return the number of the battle that began there, if one did."""
        return await self._runner.read(lambda database: database.projected.number_of(began))

    async def adjourned(self, player: str, *, realm: str = "") -> Sequence[AdjournedMatch]:
        """Return the matches of a player that are put away, each with the battle it has come to."""
        return await self._runner.read(lambda database: database.adjourned(player, realm))

    async def standings(
        self, rules: str | None = None, most: int = 50, *, realm: str = ""
    ) -> Sequence[PlayerScore]:
        """Return the best players by rating, of those who have ended a battle by some rules."""
        return await self._runner.read(lambda database: database.standings(rules, most, realm))

    async def score(self, player: str, *, realm: str = "") -> PlayerScore | None:
        """Return what a player has won and lost; None if they have ended no battle."""
        return await self._runner.read(lambda database: database.score(player, realm))

    async def _found_battle(self, number: int, realm: str) -> FoundBattle | None:
        """Return a battle and its game. Folding one takes 10 ms and more: the last are kept."""
        known = self._games.pop(number, None)

        def read(database: Database) -> tuple[Battle, Sequence[StoredEvent]] | None:
            battle = database.battle(number, realm)
            if battle is None:
                return None
            is_known = known and battle.state is State.ENDED
            return battle, () if is_known else database.plies(battle)

        found = await self._runner.read(read)
        if found is None:
            return None
        battle, events = found
        if events:
            game = game_of(cast("Sequence[Event]", events))
        elif known:
            game = known
        else:
            return FoundBattle(battle, None)
        if battle.state is State.ENDED:
            self._games[number] = game
            while len(self._games) > GAMES_KEPT:
                del self._games[next(iter(self._games))]
        return FoundBattle(battle, game)

    # Accounts, by names that are the same in any case

    async def find(self, name: str) -> Account | None:
        """Return the account of a name, which may be banned; None if it has none."""
        return await self._runner.read(lambda database: accounts.find(database, name))

    async def accounts(self) -> Sequence[Account]:
        """Return all accounts, by name."""
        return await self._runner.read(accounts.everybody)

    async def enrol(self, name: str, password: str) -> Account:
        """Make an account with the hash of a password. NameTaken if there is one."""
        return await self._runner.write(lambda database: accounts.enrol(database, name, password))

    async def set_password(self, name: str, password: str, instead_of: str | None = None) -> None:
        """Set the hash of a member's password; only if it is ``instead_of`` now, where given.

        Raises:
            Nobody: there is no such member, or their password is another one by now.
        """
        await self._runner.write(lambda db: accounts.set_password(db, name, password, instead_of))

    async def set_preferences(self, name: str, preferences: Mapping[str, Any]) -> None:
        """Set how a member wants things, in values of JSON. Nobody if there is no such member."""
        await self._runner.write(lambda db: accounts.set_preferences(db, name, preferences))

    async def rename(self, name: str, new: str) -> None:
        """Call a member something else; all they have played is theirs still.

        Raises:
            Nobody: there is no such member.
            NameTaken: somebody else is called that.
        """
        await self._change(lambda database: accounts.rename(database, name, new))

    async def erase(self, name: str) -> None:
        """Remove an account and its name, from the disk as well. Nobody if there is none."""
        await self._change(lambda database: accounts.erase(database, name))

    async def ban(self, name: str) -> None:
        """Let nobody in under a name, be there an account of it or not."""
        await self._change(lambda database: accounts.ban(database, name))

    async def unban(self, name: str) -> None:
        """Let a member in again; a name without an account is free again. Nobody if not banned."""
        await self._change(lambda database: accounts.unban(database, name))

    async def barred(self, told: Callable[[frozenset[str]], None] | None = None) -> frozenset[str]:
        """Return the names, in lower case, that nobody may play under.

        Args:
            told: called with them whenever somebody may have been banned, let in again, renamed or
                erased, whichever process has done it.
        """
        if told:
            self._told_barred.append(told)
        return await self._runner.read(accounts.barred)

    async def find_guest(self, name: str) -> KeptName | None:
        """Return what is kept of a guest's name, if anything is."""
        return await self._runner.read(lambda database: accounts.find_guest(database, name))

    async def keep_guest(self, kept: KeptName, instead_of: KeptName | None = None) -> bool:
        """Keep a name for a guest.

        Args:
            kept: the name, and what shows that it is theirs. With another word than before it is
                another guest's, who has nothing to do with what was played under it.
            instead_of: what was found of that name before, if anything.

        Returns:
            Whether it is kept; not if somebody else has got the name since it was looked for.
        """
        return await self._runner.write(lambda db: accounts.keep_guest(db, kept, instead_of))

    async def guests(self, before: float = math.inf) -> Sequence[str]:
        """Return the names of the guests who were last here before a time, by name."""
        return await self._runner.read(lambda database: accounts.guests(database, before))

    async def forget_guests(self, names: Iterable[str], before: float = math.inf) -> None:
        """Keep the names of these guests no longer; of those who were last here before a time."""
        some = list(names)
        await self._runner.write(lambda database: accounts.forget_guests(database, some, before))

    async def seen(self, times: Mapping[str, float]) -> None:
        """Note when players, members and guests, were here, in seconds since the epoch."""
        some = dict(times)
        await self._runner.write(lambda database: accounts.seen(database, some))

    # Nodes, and who is on them

    async def beat(self, node: str, lease: float = LEASE) -> bool:
        """Say that a node lives, for so many seconds at least.

        If no other does and it is new, the time in which none did is stored as an event first.

        Returns:
            Whether it had a row still. If not, it was taken for dead: its claims are others'.
        """
        return await self._runner.write(lambda database: database.beat(node, lease))

    async def is_served(self) -> bool:
        """Return whether a node lives."""
        return await self._runner.read(Database.is_served)

    async def reap(self, node: str) -> Sequence[PlayerClaim]:
        """Take the claims of dead nodes over for a node that lives; return them as they were."""
        return await self._runner.write(lambda database: database.reap(node))

    async def leave(self, node: str) -> None:
        """Take a node out, and let go of what it has claimed."""
        await self._runner.write(lambda database: database.leave(node))

    async def claim(
        self, name: str, node: str, session: str, room: str = "", *, realm: str = ""
    ) -> PlayerClaim | None:
        """Claim a player for a session of a node, or say in which room a session's player is.

        Returns:
            None if it is claimed; else whose it is, on another node that lives. That may be asked
            by a note to let go.

        Raises:
            NotWritten: the node's own lease has run out.
        """
        return await self._runner.write(lambda db: db.claim(name, node, session, room, realm))

    async def release(self, name: str, node: str, *, realm: str = "") -> None:
        """Let a player go, if the node has them."""
        await self._runner.write(lambda database: database.release(name, node, realm))

    async def people(self) -> Sequence[PlayerClaim]:
        """Return all who are claimed."""
        return await self._runner.read(Database.people)

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

    async def _change(self, work: Callable[[Database], T]) -> T:
        """Change accounts so that somebody may be welcome no longer, or again."""
        outcome = await self._runner.write(work)
        if self._told_barred:
            await self._tell_barred()
        return outcome

    async def _tell_barred(self) -> None:
        names = await self._runner.read(accounts.barred)
        for told in self._told_barred:
            told(names)

    def _listener(self) -> _Listener:
        return _Listener(self)


def at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine of a store in memory comes to, which never waits."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return cast("T", done.value)
    coroutine.close()
    raise RuntimeError("a store in memory should not wait")


class _Listener:
    """What the store is told of the work that is done on its database."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.deliver = store._followers.deliver  # noqa: SLF001  (of this module)
        self.fail = store._followers.fail  # noqa: SLF001  (of this module)

    def stopped(self, error: StoreError) -> None:
        """Let go on whoever waits for that."""
        self._store._trouble = error  # noqa: SLF001  (of this module)
        for waiting in self._store._waiting:  # noqa: SLF001  (of this module)
            if not waiting.done():
                waiting.set_exception(error)

    def changed(self) -> None:
        """Look again at what others may have changed."""
        store = self._store
        if not store._told_barred:  # noqa: SLF001  (of this module)
            return
        import asyncio  # noqa: PLC0415  (a house needs none)

        task = asyncio.get_running_loop().create_task(_logged(store))
        store._tasks.add(task)  # noqa: SLF001  (of this module)
        task.add_done_callback(store._tasks.discard)  # noqa: SLF001  (of this module)


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


async def _logged(store: Store) -> None:
    try:
        await store._tell_barred()  # noqa: SLF001  (of this module)
    except StoreError as error:
        _log.error("who may not come in is not known: %s", error)
