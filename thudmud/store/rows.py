"""The tables of a store, and how their rows are written and read.

Durable tables hold data that cannot be recomputed. Their definitions are final: further tables can
only be added. Only columns whose definition ends in "null" can be null. Projections are computed
from the events, and rebuilt when `thudmud.game.projections.PROJECTION` changes, so their
definitions can change with it. A player is a number in all tables. Features add tables of their
own, see `add_tables` and `add_projections`.

Events are stored one by one, including those of ended battles. A battle as a single text would take
a twelfth of the room. A table for that can be added once the size matters. The events can be pruned
then, and ``gap`` records which ones were.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from thudmud.game.projections import PROJECTION
from thudmud.store.backend import SQLITE, Backend, Dialect, SqlConnection
from thudmud.store.interface import DamagedStoreError, Schema, StoreError, UnknownFormatError

APPLICATION = 0x54687564
"""The application id of our SQLite files: ``Thud`` in ASCII."""

MALFORMED = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError)
"""The exceptions of decoding a malformed row."""

Row = tuple[object, ...]
Query = tuple[str, str, Sequence[object]]
"""A table, the rest of the query after its name, and the values of the placeholders."""

DURABLE: dict[str, str] = {
    # A single row, read first in each transaction. ``position`` is that of the last event.
    # ``commits`` counts all commits, including those of accounts. ``projection`` is the form of the
    # projections. ``at`` is the latest time of an event or a heartbeat; ``served`` is the last time
    # at which a server is known to have run. ``store`` is a random number that tells this store
    # from others.
    "head": "id integer primary key, position integer, commits integer, projection integer,"
    " at real, served real, store integer",
    # ``beginning`` is the first version needed to fold a board's state.
    "stream": "id integer primary key, key text unique, name text, version integer,"
    " beginning integer",
    # ``last`` is 1 for the last event of an append: subscribers get whole appends.
    "event": "position integer primary key, stream integer, version integer, schema integer,"
    " at real, last integer, body text, unique (stream, version)",
    # Pruned positions. The check accepts that these are missing, and no others.
    "gap": "first integer primary key, last integer",
    # ``key`` is the name in lower case; null once the name is free for another player.
    "player": "id integer primary key, realm text, key text null, name text, unique (realm, key)",
    # ``password`` is '' if the name is only banned.
    "account": "player integer primary key, password text, preferences text, created real,"
    " seen real, banned integer",
    # ``epoch`` is a random number, made at ``since``, when all earlier logins ended.
    "login": "player integer primary key, epoch integer, since real",
    # Hashes of resume words, which members' programs use in place of the password.
    "resume_word": "player integer, word blob, at real, primary key (player, word)",
    "guest": "player integer primary key, word blob, seen real",
    # What guests have chosen, for their next visit, as in ``account``.
    "guest_choice": "player integer primary key, preferences text",
    # The board where a player was who has no seat there, and those that the player observed, as the
    # keys of the boards. Deleted when the player leaves, so what is left is from before a restart.
    "place": "player integer primary key, room text, observed text",
    # The last addresses of members and guests. ``coming`` is in seconds since the epoch, and
    # increases with each, so that the later of two is known.
    "address": "player integer, address text, coming integer, primary key (player, address)",
    # The members with an operator's rights.
    "operator": "player integer primary key, since real",
    # ``measure`` is 'mute' or 'ban', of a player or of a network; the other of the two is 0 or ''.
    # ``until`` is null if the sanction does not end. ``operator`` is 0 once that account is erased.
    # A banned player also has a row in ``account``; without a row here, the ban does not end.
    "sanction": "measure text, player integer, network text, since real, until real null,"
    " operator integer, why text, primary key (measure, player, network)",
    # A lease: the node is alive until ``until``. ``seen`` is its last heartbeat.
    "node": "name text primary key, seen real, until real",
    # At most one node has a player, see `thudmud.store.nodes`.
    "claim": "player integer primary key, node text, session text, room text",
    # The settings that all live nodes share, as text.
    "setting": "name text primary key, value text",
    # The results of requests with a key, see `thudmud.store.Store.append`.
    "request": "stream integer, key text, position integer, version integer,"
    " primary key (stream, key)",
}

PROJECTIONS: dict[str, str] = {
    "open_board": "stream integer primary key, rules text",
    "open_seek": "number integer primary key, position integer",
    "on_board": "stream integer primary key, battle integer",
    "battle": "number integer primary key, realm text, stream integer, version integer,"
    " at real, rules text, dwarf integer, troll integer, source integer, source_version integer,"
    " until integer,"
    " state text, part integer, dwarf_before integer, troll_before integer, plies integer,"
    " ending text, winner text, dwarf_score integer, troll_score integer, rated integer,"
    " dwarf_points integer, troll_points integer, imported integer, set_up integer,"
    " time text, tournament integer, round integer, dwarf_rating integer, troll_rating integer,"
    " unique (stream, version)",
    # ``ended`` is null, and ``why`` '', until it is over; ``winner`` is 0 if nobody has won.
    "tournament": "number integer primary key, title text, kind text, rules text, time text,"
    " ended real, why text, entrants integer, winner integer",
    # The positions of a tournament's events.
    "tournament_event": "tournament integer, position integer, primary key (tournament, position)",
    # The final places in tournaments.
    "tournament_place": "player integer, tournament integer, place integer,"
    " primary key (player, tournament)",
    # Outages: spans of time in which no server ran.
    "interruption": "until real primary key, since real",
    "adjourned": "battle integer primary key, position integer, dwarf integer, troll integer",
    "player_battle": "player integer, battle integer, primary key (player, battle)",
    # ``role`` is 'people', 'bots', 'puzzles', or the level of a bot.
    "tally": "player integer, role text, rules text, kind text, won integer, drawn integer,"
    " lost integer, primary key (player, role, rules, kind)",
    # ``proven`` is null while the rating is provisional.
    "rating": "player integer, role text, rules text, time text, realm text, mu real, sigma real,"
    " results integer, proven integer, primary key (player, role, rules, time)",
    # Changes of ratings by matches between people and by battles with bots: ``role`` is 'people' or
    # 'bots', ``position`` that of the event that ended the match or battle.
    "rating_change": "player integer, role text, rules text, time text, position integer,"
    " opponent integer, before integer, points integer, uncertainty integer, results integer,"
    " primary key (player, role, rules, time, position)",
    "lesson": "player integer, lesson integer, primary key (player, lesson)",
    "puzzle_try": "player integer, puzzle integer, solved integer, primary key (player, puzzle)",
    "puzzle": "number integer primary key, mu real, sigma real, tries integer",
    # Comments on plies; ``position`` is that of the event.
    "comment": "battle integer, ply integer, player integer, position integer, text text,"
    " primary key (battle, ply, player)",
}
INDEXES = (
    # A partial index of banned accounts, which are read whenever another process has written.
    "create index account_banned on account (banned) where banned = 1",
    "create index adjourned_dwarf on adjourned (dwarf)",
    "create index adjourned_troll on adjourned (troll)",
    "create index comment_player on comment (player)",
    "create index battle_players on battle (dwarf, troll, at)",
    "create index battle_realm on battle (realm)",
    "create index player_name on player ({name})",
    "create index battle_rules on battle (realm, rules)",
    "create index battle_at on battle (realm, at)",
    "create index tournament_ended on tournament (ended)",
    "create index rating_proven on rating (realm, role, rules, time, proven)",
    "create index rating_change_position on rating_change (position)",
)

FORMAT = 1
"""The version of the tables' form. Raise it when they change: a program that only knows a lower one
does not open the database."""

OLDEST_FORMAT = 1
"""The oldest form that this version can upgrade."""

_PARENTS = {"player", "stream"}
"""Tables whose rows are referred to by columns of the same name."""

_OF_NOBODY = {"comment", "sanction"}
"""Tables in which such a column may be 0."""

_PART = re.compile(r", (?![^()]*\))")


def current_schema() -> Schema:
    """Return the schema of this version's stores."""
    return Schema(FORMAT, PROJECTION)


def require_known_format(name: str, found: int) -> None:
    """Refuse a store whose tables this version does not know.

    Args:
        name: the store, as the beginning of a sentence.
        found: the version of its tables.

    Raises:
        UnknownFormatError: a later version of this program wrote it, or one that is too old.
    """
    if found > FORMAT:
        raise UnknownFormatError(
            f"{name} was written by a later version of thudmud: it has schema {found}, and this "
            f"version knows schemas up to {FORMAT}."
        )
    if found < OLDEST_FORMAT:
        raise UnknownFormatError(
            f"{name} is older than what this version of thudmud can upgrade: it has schema "
            f"{found}, and {OLDEST_FORMAT} is the oldest. Upgrade it by an earlier version first."
        )


def add_tables(**columns: str) -> None:
    """Add a feature's durable tables, by name, when its ``storage`` module is imported."""
    DURABLE.update(columns)


def add_projections(**columns: str) -> None:
    """Add a feature's projections, which it rebuilds by `thudmud.store.hooks`."""
    PROJECTIONS.update(columns)


@cache
def columns_of(table: str) -> Sequence[str]:
    """Return the names of a table's columns."""
    parts = _PART.split(_body(table))
    return [part.split()[0] for part in parts if not part.startswith(("unique", "primary"))]


def _body(table: str) -> str:
    return DURABLE[table] if table in DURABLE else PROJECTIONS[table]


def insertion(table: str) -> str:
    """Return the statement that inserts a row into a table."""
    return f"insert into {table} values ({', '.join('?' * len(columns_of(table)))})"  # noqa: S608  (our own names)


@cache
def _put(table: str) -> str:
    columns, found = columns_of(table), re.search(r"primary key \((.*?)\)", _body(table))
    keys = found[1].split(", ") if found else columns[:1]
    changes = ", ".join(f"{each} = excluded.{each}" for each in columns if each not in keys)
    then = f"update set {changes}" if changes else "nothing"
    return f"{insertion(table)} on conflict ({', '.join(keys)}) do {then}"


_INSERT_EVENT = insertion("event")
_ADVANCE = "update stream set version = ?, beginning = ? where id = ?"


def definitions(tables: Iterable[str], dialect: Dialect = SQLITE) -> list[str]:
    """Return the statements that create some tables and their indexes."""
    made = []
    for table in tables:
        parts, width = _PART.split(_body(table)), len(columns_of(table))
        columns = [_column(table, part, dialect) for part in parts[:width]]
        # SQLite can store a table as its primary key's index alone, which saves room if that is
        # most of it.
        has_rowid = "integer primary key" in parts[0]
        end = dialect.strict if has_rowid else dialect.without_rowid
        made.append(f"create table {table} ({', '.join([*columns, *parts[width:]])}){end}")
    of_these = [each for each in INDEXES if each.split()[4] in set(tables)]
    return made + [each.format(name=dialect.index_of) for each in of_these]


def _column(table: str, part: str, dialect: Dialect) -> str:
    name, kind, *rest = part.split()
    if rest[-1:] == ["null"]:
        rest.pop()
    elif table in DURABLE and rest[:1] != ["primary"]:
        rest.append("not null")
    if name in _PARENTS and table not in _OF_NOBODY and dialect.has_reference_checks:
        rest.append(f"references {name}")
    return " ".join([name, dialect.types.get(kind, kind), *rest])


def has_rows(connection: SqlConnection) -> bool:
    """Return whether any durable table has a row."""
    return any(
        connection.execute(f"select 1 from {table} limit 1").fetchone()  # noqa: S608  (our own names)
        for table in DURABLE
    )


def has_servers(table: SqlTable, now: float) -> bool:
    """Return whether any node is alive at ``now``, in seconds since the epoch."""
    return table.row("node", "where until > ? limit 1", now) is not None


def require_no_servers(table: SqlTable, now: float) -> None:
    """Refuse to change the form of stored data while servers may write the old form.

    Raises:
        StoreError: a node is alive at the given time, in seconds since the epoch.
    """
    if has_servers(table, now):
        raise StoreError(
            "Servers of another version of thudmud use this store, and keep a part of it in "
            "another format. Stop all of them first."
        )


class SqlTable:
    """Writes and reads the rows of a database.

    Attributes:
        changes: the number of rows inserted, updated or deleted.
        event_bytes: the length of all events written.
    """

    def __init__(self, connection: SqlConnection) -> None:
        self.execute = connection.execute
        self._execute_many = connection.executemany
        self.changes = 0
        self.event_bytes = 0

    def insert_events(self, rows: Sequence[Row]) -> None:
        """Insert rows of ``event``."""
        if rows:
            self._execute_many(_INSERT_EVENT, rows)
            self.count_events(rows)

    def count_events(self, rows: Sequence[Row]) -> None:
        """Count rows of ``event`` that have been inserted."""
        self.changes += len(rows)
        self.event_bytes += sum([len(str(row[-1])) for row in rows])

    def put(self, table: str, *row: object) -> None:
        """Insert a row, or replace the one with the same primary key (upsert)."""
        self.execute(_put(table), row)
        self.changes += 1

    def advance(self, streams: Iterable[Row]) -> None:
        """Update the versions and beginnings of streams."""
        changed = [(*stream[3:], stream[0]) for stream in streams]
        if changed:
            self._execute_many(_ADVANCE, changed)
            self.changes += len(changed)

    def delete(self, table: str, rest: str, *values: object) -> int:
        """Delete the rows that a query finds; return their number."""
        deleted = self.execute(f"delete from {table} {rest}", values).rowcount  # noqa: S608  (our own names)
        self.changes += deleted
        return deleted

    def rows(self, table: str, rest: str = "", *values: object) -> Iterator[Sequence[object]]:
        """Return the rows of a query, one after the other.

        Args:
            table: the table whose columns are returned.
            rest: the rest of the query after the table's name, perhaps a join.
            values: the values of the placeholders.
        """
        return iter(self.execute(f"select {table}.* from {table} {rest}", values))  # noqa: S608  (our own names)

    def several(self, backend: Backend, *queries: Query) -> list[list[Sequence[object]]]:
        """Return the rows of several queries, sent in one round trip where possible."""
        with backend.pipelined():
            cursors = [
                self.execute(f"select * from {table} {rest}", values)  # noqa: S608  (our own names)
                for table, rest, values in queries
            ]
        return [cursor.fetchall() for cursor in cursors]

    def row(self, table: str, rest: str, *values: object) -> Sequence[object] | None:
        """Return the first row that a query finds; None if there is none."""
        query = f"select {table}.* from {table} {rest}"  # noqa: S608  (our own names)
        row: Sequence[object] | None = self.execute(query, values).fetchone()
        return row

    def number(self, query: str, *values: object) -> int:
        """Return the single number that a query yields."""
        (found,) = self.execute(query, values).fetchone()
        return int(found)


def scan(
    backend: Backend, table: str, rest: str = "", *values: object
) -> Iterable[Sequence[object]]:
    """Return rows like `SqlTable.rows`, when there may be more than fit in memory."""
    return backend.scan(f"select * from {table} {rest}", values)  # noqa: S608  (our own names)


@contextmanager
def reading_row(table: str, row: Sequence[object]) -> Iterator[None]:
    """Raise `DamagedStoreError` instead of the exceptions of decoding a row."""
    try:
        yield
    except MALFORMED as error:
        raise DamagedStoreError(f"cannot read a row of {table}: {row[0]!r:.50}") from error
