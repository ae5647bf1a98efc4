"""The check of a store's contents, and the liveness probe of a running server.

The check runs in a process of its own, beside play: ``thudmud store check``, or ``python -m
thudmud.store FILE``, which a running server starts. It reads one snapshot, however much is written
meanwhile, at the lowest priority. First the database checks its pages and indexes. Then each event
is decoded, and folded from those before it. Last, the projections are rebuilt and compared. A
flipped bit in a string that can still be decoded is not found, see docs/reliability.md.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import zip_longest
from math import isclose
from pathlib import Path
from time import time
from typing import Any, NamedTuple, cast

from thudmud.english import pluralize
from thudmud.features import load_storage
from thudmud.game.events import (
    Adjourned,
    BattleEnded,
    BattleStarted,
    BoardClosed,
    BoardOpened,
    BoardRenamed,
    Cleared,
    Imported,
    Moved,
    PositionSet,
    Resumed,
    RulesSet,
    StoredEvent,
    TableEvent,
    TakenBack,
    is_complete,
)
from thudmud.game.match import fold_game
from thudmud.game.projections import PROJECTION
from thudmud.game.table import BoardSpec, Table, require_ply
from thudmud.rules import Game, IllegalMoveError
from thudmud.store import accounts, hall, hooks, nodes
from thudmud.store.backend import Backend
from thudmud.store.codec import from_text
from thudmud.store.database import Database, Head
from thudmud.store.files import (
    HEAD,
    Sqlite,
    beside,
    connect,
    damaged,
    errors_translated,
    require_nothing_left,
    require_ours,
    resolve_symlink,
    verify_watermark,
)
from thudmud.store.interface import (
    DamagedStoreError,
    Schema,
    StoreError,
)
from thudmud.store.projected import ProjectedRows, as_text, project_all
from thudmud.store.rows import (
    MALFORMED,
    PROJECTIONS,
    SqlTable,
    columns_of,
    current_schema,
    definitions,
    scan,
)
from thudmud.store.streams import EventRow, Stream
from thudmud.values import replace

IN_ORDER = 0
DAMAGED = 1
UNCHECKED = 2
OUTDATED = 3
"""The exit statuses: no damage, damage, check not possible, and another version's schema."""

PATIENCE = 5.0
"""Seconds to wait for other processes that are writing."""


class Contents(NamedTuple):
    """The size of an undamaged store.

    Attributes:
        events: the number of events.
        battles: the number of battles.
        players: the number of players.
        unchecked: descriptions of the checks that were not possible.
        outdated: the schema of another version; None if a server need not upgrade it.
    """

    events: int
    battles: int
    players: int
    unchecked: tuple[str, ...] = ()
    outdated: Schema | None = None

    def __str__(self) -> str:
        """Return the numbers in words."""
        events, battles = pluralize(self.events, "event"), pluralize(self.battles, "battle")
        return f"{events}, {battles} and {pluralize(self.players, 'player')}"


def last_stored(path: Path) -> float | None:
    """Return the seconds since something was last stored; None if no server runs on the file.

    A running server writes every few seconds, through its event loop, its thread and the disk. So
    the modification time of the commit watermark shows whether all three still work. It is compared
    with the system's time, from which it comes; the nodes' own clocks may differ.

    Raises:
        StoreError: the file cannot be read.
    """
    path = resolve_symlink(path)
    with errors_translated(path):
        require_ours(path)
        with closing(connect(path, PATIENCE, reading=True)) as connection:
            # A node that has ended, or was found dead, has no lease left.
            [(alive,)] = connection.execute("select count(*) from node where until > seen")
        stored = beside(path, HEAD).stat().st_mtime
    return max(0.0, time() - stored) if alive else None


def check_backend(backend: Backend) -> str | None:
    """Check a database, and describe the damage; None if there is none.

    The caller has to begin a transaction first if others may write meanwhile.
    """
    try:
        if problem := backend.find_problem():
            return problem
        head = _check_events(backend)
        if head.projection == PROJECTION:  # otherwise the next server rebuilds them
            _check_rows(Database(backend, time))
            _check_projections(backend)
    except (sqlite3.DatabaseError, DamagedStoreError, *MALFORMED) as error:
        return str(error)
    return None


def check_database(dsn: str) -> Contents:
    """Check a PostgreSQL database, and return the size of its contents.

    Raises:
        DamagedStoreError: it is damaged.
        StoreError: the check is not possible.
    """
    from thudmud.store.postgres import Postgres  # noqa: PLC0415  (an optional dependency)

    with closing(Postgres(dsn, reading=True)) as backend:
        backend.read_all()
        return check_snapshot(backend)


def check_snapshot(backend: Backend) -> Contents:
    """Check a PostgreSQL database within a transaction that reads one snapshot.

    Raises:
        DamagedStoreError: it is damaged.
    """
    if found := check_backend(backend):
        raise backend.translate_error(DamagedStoreError(found))
    return contents_of(SqlTable(backend.connection), backend.skipped_checks())


def check_file(path: Path, *, held: bool = False, name: Path | None = None) -> Contents:
    """Check a file, which may be in use, and return the size of its contents.

    Args:
        path: the file.
        held: whether the check is for a server that has the file open. A missing file was moved
            away then: that server refuses writes until it is back, and needs no restart.
        name: the file to name in messages, if ``path`` is a copy of it.

    Raises:
        DamagedStoreError: it is damaged.
        StoreError: the check is not possible.
    """
    load_storage()
    path = resolve_symlink(path)
    with errors_translated(name or path):
        if not held:
            require_nothing_left(path)
        if not path.exists():
            raise StoreError(f"The store {path} could not be checked: no such file.")
        require_ours(path)
        verify_watermark(path, PATIENCE)
        with closing(connect(path, PATIENCE, reading=True)) as connection:
            backend = Sqlite(connection, path)
            backend.read_all()
            if found := check_backend(backend):
                raise damaged(name or path, found)
            return contents_of(SqlTable(connection))


def contents_of(table: SqlTable, unchecked: tuple[str, ...] = ()) -> Contents:
    """Return the size of a store's contents."""
    names = "event", "battle", "player"
    events, battles, players = (table.number(f"select count(*) from {name}") for name in names)  # noqa: S608  (ours)
    head = table.row("head", "where id = 1")
    wanted = current_schema()
    found = wanted._replace(projection=cast("int", head[3])) if head else wanted
    if found == wanted:
        return Contents(events, battles, players, unchecked)
    told = f'what is computed from the events. It has schema {found}, which "thudmud serve" will'
    told += f" upgrade to {wanted}."
    return Contents(events, battles, players, (*unchecked, told), found)


def _check_events(backend: Backend) -> Head:
    """Check that each event is decodable, present, and consistent with those before.

    Positions and versions have no gaps except recorded ones, and time does not go back. Battles are
    replayed by the rules.

    Returns:
        The row of ``head``.
    """
    table = SqlTable(backend.connection)
    row = table.row("head", "where id = 1")
    if row is None:
        raise DamagedStoreError("the row of head is missing")
    head = Head(*cast("Any", row))
    streams = {each.id: each for each in map(Stream._make, cast("Any", table.rows("stream")))}
    players = {number for (number,) in table.execute("select id from player")}

    def name_of(number: int) -> str:
        if number and number not in players:
            raise DamagedStoreError(f"player {number} is missing")
        return as_text(number)

    boards = _Boards()
    order = _EventOrder(head, streams, table.rows("gap", "order by first"))
    for row in cast("Iterable[EventRow]", scan(backend, "event", "order by position")):
        order.check_next(row)
        found, number, version, schema, at, _, body = row
        event = from_text(schema, body, at, name_of)
        try:
            boards.apply(streams[number].key, version, event)
        except (ValueError, TypeError, LookupError, IllegalMoveError) as error:
            raise DamagedStoreError(
                f"event {found} does not follow from those before: {error}"
            ) from None
    order.check_last()
    for stream in streams.values():
        boards.check(stream)
    order.check_count()
    return head


class _EventOrder:
    """The order of the events: of all by position and time, and of each stream by version.

    Args:
        head: the row of ``head``.
        streams: the rows of ``stream`` by id.
        gaps: the rows of ``gap`` in order: the first and the last position of pruned events.
    """

    def __init__(
        self, head: Head, streams: Mapping[int, Stream], gaps: Iterator[Sequence[object]]
    ) -> None:
        self._head, self._streams = head, streams
        self._gaps = cast("Iterator[tuple[int, int]]", gaps)
        self._gap = next(self._gaps, None)
        self._position, self._time = 0, 0.0
        self._versions: defaultdict[int, int] = defaultdict(int)
        self._pruned = self._missing = 0
        """The events that the gaps account for, and those that the streams lack."""

    def check_next(self, row: EventRow) -> None:
        """Check the place of the next event."""
        found, number, version, _, at, *_ = row
        self._skip_gaps()
        if found != self._position + 1 or version <= self._versions[number]:
            raise DamagedStoreError(
                f"event {self._position + 1} is missing, or event {found} is out of place"
            )
        if number not in self._streams:
            raise DamagedStoreError(f"stream {number} is missing")
        if not self._time <= at <= self._head.at:
            raise DamagedStoreError(f"the time of event {found} is out of order")
        self._missing += version - self._versions[number] - 1
        self._versions[number], self._position, self._time = version, found, at

    def check_last(self) -> None:
        """Check that the last event was the last one stored."""
        self._skip_gaps()
        if self._head.position != self._position:
            raise DamagedStoreError("the last events are missing")

    def check_count(self) -> None:
        """Check that the streams lack as many events as were pruned."""
        for stream in self._streams.values():
            self._missing += stream.version - self._versions.pop(stream.id, 0)
        if self._gap or self._versions or self._missing != self._pruned:
            raise DamagedStoreError("some streams lack events")

    def _skip_gaps(self) -> None:
        while self._gap and self._gap[0] == self._position + 1:
            self._pruned += self._gap[1] - self._position
            self._position, self._gap = self._gap[1], next(self._gaps, None)


class _Boards:
    """The fold of the boards' events: their names, and the battles played there."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._beginnings: dict[str, int] = {}
        self._games: dict[str, Game] = {}

    def apply(self, stream: str, version: int, event: StoredEvent) -> None:
        """Apply the next event of a stream; ValueError or IllegalMoveError if it is impossible."""
        if is_complete(event):
            self._beginnings[stream] = version
        game = self._games.get(stream)
        match event:
            case Moved():
                require_ply(game, event)
                self._games[stream] = cast("Game", game).play(event.move)
            case BattleStarted() | Imported() | Resumed():
                self._games[stream] = fold_game([event])
            case TakenBack(moves=moves):
                plies = game.moves if game else ()
                if not game or plies[-len(moves) :] != moves:
                    raise ValueError("the plies taken back were not the last")
                self._games[stream] = game.after(len(plies) - len(moves))
            case BattleEnded(outcome=outcome, plies=plies):
                if not game or len(game.moves) != plies or game.outcome not in {None, outcome}:
                    raise ValueError("no such battle was in progress")
                self._games[stream] = replace(game, outcome=outcome)
            case Cleared() | Adjourned() | RulesSet() | PositionSet():
                self._games.pop(stream, None)
            case BoardOpened(key=key, name=name) | BoardRenamed(key=key, name=name):
                self._names[key] = name
            case BoardClosed(key=key):
                self._games.pop(key, None)

    def check(self, stream: Stream) -> None:
        """Compare a row of ``stream`` with the events of its board."""
        name = self._names.get(stream.key, stream.name)
        if (stream.name, stream.beginning) != (name, self._beginnings.get(stream.key, 1)):
            raise DamagedStoreError(f"a row of stream does not match its events: {stream.id}")


def _check_rows(database: Database) -> None:
    """Check that all rows can be decoded, and everything that a server reads at its start."""
    for board in hall.open_boards(database):
        table = Table.set_up(BoardSpec(board.name, board.rules))
        entries = database.read_stream(board.key, board.beginning)
        try:
            for each in entries:
                table = table.apply(cast("TableEvent", each.event), each.battle)
        except (ValueError, TypeError, LookupError) as error:
            raise DamagedStoreError(f"cannot fold the events of {board.key!r}: {error}") from error
    hall.open_seeks(database)
    hall.parts(database)
    accounts.all_accounts(database)
    accounts.order(database)
    accounts.guests(database)
    nodes.all_claims(database)
    for check in hooks.checks:
        check(database)


def _check_projections(backend: Backend) -> None:
    """Rebuild the projections in another database, and compare them with the stored ones."""
    table = SqlTable(backend.connection)
    with closing(sqlite3.connect("", isolation_level=None)) as connection:  # a temporary file
        connection.execute("pragma synchronous = off")
        for statement in definitions(PROJECTIONS):
            connection.execute(statement)
        connection.execute("begin")
        anew = Sqlite(connection)
        projected = ProjectedRows(SqlTable(connection), durable=table)
        project_all(backend, projected)
        for make in hooks.made_anew:
            make(table, anew, projected)
        for name in sorted(PROJECTIONS):
            order = f"order by {', '.join(columns_of(name))}"
            for found, made in zip_longest(scan(backend, name, order), scan(anew, name, order)):
                if not _is_same(found, made):
                    raise DamagedStoreError(f"a row of {name} does not match the events")


def _is_same(found: Sequence[object] | None, made: Sequence[object] | None) -> bool:
    """Return whether two rows are equal, except for rounding of floating-point numbers."""
    if found is None or made is None or len(found) != len(made):
        return False
    return all(
        isclose(one, other, rel_tol=1e-9)
        if isinstance(one, float) and isinstance(other, float)
        else one == other
        for one, other in zip(found, made, strict=True)
    )


def run(path: Path | None, dsn: str = "", *, held: bool = False) -> int:
    """Check a store, print the result, and return the exit status.

    Damage is printed to standard output, all other errors to standard error.

    Args:
        path: the file; None for PostgreSQL.
        dsn: the connection string of a PostgreSQL database.
        held: as for `check_file`.
    """
    os.nice(19)
    try:
        contents = check_file(path, held=held) if path else check_database(dsn)
    except DamagedStoreError as damage:
        print(damage)
        return DAMAGED
    except StoreError as error:
        print(error, file=sys.stderr)
        return UNCHECKED
    except Exception as error:  # noqa: BLE001  (not damage, so another exit status)
        what = f"The store {path}" if path else "The database"
        print(f"{what} could not be checked: {error!r}.", file=sys.stderr)
        return UNCHECKED
    print(f"{path or 'The database'} is in order: {contents}")
    for each in contents.unchecked:
        print(f"Not checked: {each}")
    return OUTDATED if contents.outdated else IN_ORDER


async def check_beside(path: str, dsn: str) -> str | None:
    """Check a store in another process, which does not outlive the call.

    Args:
        path: the file; "" for PostgreSQL.
        dsn: the connection string of a PostgreSQL database.

    Returns:
        A description of the damage; None if there is none.

    Raises:
        StoreError: the check is not possible.
    """
    import asyncio  # noqa: PLC0415  (a house needs no asyncio)

    from thudmud.child import ChildProcess  # noqa: PLC0415  (it imports asyncio)

    command = (sys.executable, "-m", "thudmud.store", *([path] if path else []))
    starting = asyncio.create_task(ChildProcess.start(*command, stderr=asyncio.subprocess.PIPE))
    try:
        # Shielded: a cancellation during the start would leave behind a process that nobody ends.
        process = await asyncio.shield(starting)
        # The check of a file reads nothing, and may be over by now: uvloop can't write to it then.
        printed = await process.communicate(None if path else dsn.encode())
    finally:
        process = await starting
        process.send_signal(signal.SIGKILL)
        await process.communicate()  # also waits until its pipes are closed
    said, trouble = (text.decode("utf-8", "replace").strip() for text in printed)
    if process.returncode in {IN_ORDER, OUTDATED}:
        return None
    if process.returncode != DAMAGED or not said:  # status 1 is also Python's, if it can't start
        why = trouble.splitlines()[-1:] or ["the store could not be checked"]
        raise StoreError(why[0])
    return said
