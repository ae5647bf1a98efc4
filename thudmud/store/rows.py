"""The tables of a store, how a row of any of them is written and read, and rows of projections.

Every row ends with a CRC of what is before it, which is checked whenever the row is read: SQLite
itself checks how its pages hang together, not what is in them. If an event is missing, the numbers
show it, and the projections can be made again. The CRCs of all other rows are summed up in
``head``, so that an old page in the place of a newer one is found too.

There are two kinds of tables. The durable ones cannot be changed later, only added to. Those of the
projections are made from the events, and are made anew when `thudmud.play.projections.PROJECTION`
changes, so they may be changed with it. A player is a number in all of them.

What happened at boards is kept as events alone, the plies of ended battles too. As one text each,
they would take a twelfth of the room: a table for that can be added when somebody has so many that
it matters. Their events may be pruned then, and ``gap`` says which were.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast
from zlib import crc32

from thudmud.play.archive import Battle, Rating, State, Tally
from thudmud.play.events import BattleId
from thudmud.play.projections import Strength, realm_of
from thudmud.rules import Comment, Ending, Outcome, Score, Side
from thudmud.store.interface import Damaged

APPLICATION = 0x54687564
"""What marks the file as ours: ``Thud``."""

Row = tuple[object, ...]

DURABLE = {
    # One row. On a database with several writers, it is their lock. ``commits`` counts all of them,
    # those of accounts too; ``at`` is the last time that was given to anything, ``served`` the last
    # at which a server is known to have run, ``sum`` the CRCs of the rows of tables in ``SUMMED``;
    # ``store`` is a random number that tells this store from others.
    "head": "id integer primary key, position integer, commits integer, projection integer,"
    " at real, served real, sum integer, store integer",
    # ``beginning``: from which version on a board's state is folded.
    "stream": "id integer primary key, key text unique, name text, version integer,"
    " beginning integer",
    # ``last`` is 1 for the last event of an append, so that whoever follows is given whole ones.
    "event": "position integer primary key, stream integer, version integer, schema integer,"
    " at real, last integer, body text, unique (stream, version)",
    # Positions that were pruned; the check accepts that these are missing, and no others.
    "gap": "first integer primary key, last integer",
    # ``key`` is the name in lower case, or null if the name is free for another player.
    "player": "id integer primary key, realm text, key text, name text, unique (realm, key)",
    # ``password`` is '' if the name is nobody's, but banned.
    "account": "player integer primary key, password text, preferences text, created real,"
    " seen real, banned integer",
    "guest": "player integer primary key, word blob, seen real",
    # Where members and guests came from last; the one with the highest ``coming`` is the latest.
    "address": "player integer, address text, coming integer, primary key (player, address)",
    # A node lives ``until`` then, unless it says once more that it does.
    "node": "name text primary key, seen real, until real",
    "claim": "player integer primary key, node text, session text, room text",
    # What requests with a key came to.
    "request": "stream integer, key text, position integer, version integer,"
    " primary key (stream, key)",
    # What was found out about battles, by where they began; it could be found out again.
    "analysis": "stream integer, version integer, nodes integer, body text,"
    " primary key (stream, version)",
}
SUMMED = DURABLE.keys() - {"head", "event"}
"""The tables of which an older row would not be seen to be older."""

PROJECTIONS = {
    "open_board": "stream integer primary key, rules text",
    "on_board": "stream integer primary key, battle integer",
    "battle": "number integer primary key, realm text, stream integer, version integer,"
    " at real, rules text, dwarf integer, troll integer, source integer, source_version integer,"
    " until integer,"
    " state text, part integer, dwarf_before integer, troll_before integer, plies integer,"
    " ending text, winner text, dwarf_score integer, troll_score integer, rated integer,"
    " dwarf_points integer, troll_points integer, imported integer, set_up integer,"
    " unique (stream, version)",
    "adjourned": "battle integer primary key, position integer, dwarf integer, troll integer",
    "player_battle": "player integer, battle integer, primary key (player, battle)",
    # ``role``: 'people', 'bots', 'puzzles', or the level at which the player, a bot, has played.
    "tally": "player integer, role text, rules text, kind text, won integer, drawn integer,"
    " lost integer, primary key (player, role, rules, kind)",
    "rating": "player integer, role text, realm text, mu real, sigma real, battles integer,"
    " proven integer, primary key (player, role)",
    "lesson": "player integer, lesson integer, primary key (player, lesson)",
    "puzzle_try": "player integer, puzzle integer, solved integer, primary key (player, puzzle)",
    "puzzle": "number integer primary key, mu real, sigma real, tries integer",
    # What players say about plies; ``position`` is that of the event that told it.
    "comment": "battle integer, ply integer, player integer, position integer, text text,"
    " primary key (battle, ply, player)",
}
INDEXES = (
    # Of those who are banned alone: they are looked for whenever another process has written.
    "create index account_banned on account (banned) where banned = 1",
    "create index adjourned_dwarf on adjourned (dwarf)",
    "create index adjourned_troll on adjourned (troll)",
    "create index comment_player on comment (player)",
    "create index battle_players on battle (dwarf, troll, at)",
    "create index battle_realm on battle (realm)",
    "create index player_name on player (name collate nocase)",
    "create index rating_proven on rating (realm, role, proven)",
)
_WITHOUT_ROWID = {
    "player_battle",
    "tally",
    "rating",
    "request",
    "address",
    "lesson",
    "puzzle_try",
    "comment",
    "analysis",
}
"""Tables of which the primary key is most of the row: kept as its index, not beside it. So are
those that were added later: an index of SQLite's own would be missing in a file without them."""

_ALL = DURABLE | PROJECTIONS
_PART = re.compile(r", (?![^()]*\))")
_COLUMNS = {
    table: [part.split()[0] for part in _PART.split(body) if not part.startswith(("uni", "prim"))]
    for table, body in _ALL.items()
}
_KEYS = {
    table: found[1].split(", ")
    if (found := re.search(r"primary key \((.*?)\)", body))
    else _COLUMNS[table][:1]
    for table, body in _ALL.items()
}


def _insert(table: str) -> str:
    columns = [*_COLUMNS[table], "crc"]
    return f"insert into {table} values ({', '.join('?' * len(columns))})"  # noqa: S608  (ours)


def _put(table: str) -> str:
    changed = [each for each in [*_COLUMNS[table], "crc"] if each not in _KEYS[table]]
    changes = ", ".join(f"{each} = excluded.{each}" for each in changed)
    return f"{_insert(table)} on conflict ({', '.join(_KEYS[table])}) do update set {changes}"


def _crc(table: str) -> str:
    return f"select crc from {table} where {' and '.join(f'{key} = ?' for key in _KEYS[table])}"  # noqa: S608  (ours)


_INSERT_EVENT = _insert("event")
_ADVANCE = "update stream set version = ?, beginning = ?, crc = ? where id = ?"
_PLACES = {table: [_COLUMNS[table].index(key) for key in _KEYS[table]] for table in _ALL}
_CRC = {table: _crc(table) for table in SUMMED}
_PUT = {table: _put(table) for table in _ALL}


def definitions(tables: Iterable[str]) -> list[str]:
    """Return the statements that make some tables, and their indexes."""
    made = [
        f"create table {table} ({', '.join([*_column_parts(table), 'crc integer', *_rest(table)])})"
        f" strict{', without rowid' if table in _WITHOUT_ROWID else ''}"
        for table in tables
    ]
    of_these = [each for each in INDEXES if each.split()[4] in set(tables)]
    return made + of_these


def _column_parts(table: str) -> list[str]:
    return _PART.split(_ALL[table])[: len(_COLUMNS[table])]


def _rest(table: str) -> list[str]:
    return _PART.split(_ALL[table])[len(_COLUMNS[table]) :]


def crc(row: Sequence[object]) -> int:
    """Return the CRC of a row: of what its values look like, which is the same on any database."""
    return crc32(repr(tuple(row)).encode())


class SqlTable:
    """Writes and reads the rows of a connection.

    Attributes:
        sum: of the CRCs of the rows in the tables of ``SUMMED``, combined by exclusive or. Whoever
            ends a transaction has to see to it that it is what ``head`` says.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.execute = connection.execute
        self._execute_many = connection.executemany
        self.sum = 0

    def insert_events(self, rows: Iterable[Row]) -> None:
        """Add rows of ``event``. Numbers have to be of the type of their column."""
        self._execute_many(_INSERT_EVENT, [(*row, crc(row)) for row in rows])

    def put(self, table: str, *row: object) -> None:
        """Add a row, or replace the one with its key."""
        new = crc(row)
        if table in SUMMED:
            key = [row[place] for place in _PLACES[table]]
            before = self.execute(_CRC[table], key).fetchone()
            self.sum ^= new ^ (before[0] if before else 0)
        self.execute(_PUT[table], (*row, new))

    def advance(self, streams: Iterable[tuple[Row, Row]]) -> None:
        """Replace rows of ``stream``, each by one of another version and beginning."""
        changed = []
        for before, stream in streams:
            new = crc(stream)
            self.sum ^= new ^ crc(before)
            changed.append((*stream[3:], new, stream[0]))
        self._execute_many(_ADVANCE, changed)

    def delete(self, table: str, rest: str, *values: object) -> int:
        """Delete the rows that such a query finds; return how many."""
        if table in SUMMED:
            for (before,) in self.execute(f"select crc from {table} {rest}", values):  # noqa: S608  (ours)
                self.sum ^= before
        return self.execute(f"delete from {table} {rest}", values).rowcount  # noqa: S608  (ours)

    def rows(self, table: str, rest: str = "", *values: object) -> Iterator[Sequence[object]]:
        """Yield rows without their CRC, each checked.

        Args:
            table: of which they are, or several of which one is meant, such as ``a join b``.
            rest: what follows the name of the table in the query.
            values: those of the placeholders in it.

        Raises:
            Damaged: one is not as it was written.
        """
        for row in self.execute(f"select {table}.* from {table} {rest}", values):  # noqa: S608  (ours)
            if crc(row[:-1]) != row[-1]:
                raise Damaged(f"a row of {table} has changed: {row[0]!r:.50}")
            yield row[:-1]

    def row(self, table: str, rest: str, *values: object) -> Sequence[object] | None:
        """Return the first such row, if there is one."""
        return next(self.rows(table, rest, *values), None)

    def number(self, query: str, *values: object) -> int:
        """Return the first value of the first row of a query, as a number."""
        (found,) = self.execute(query, values).fetchone()
        return int(found)


class ProjectedRows:
    """The rows of projections in a database. Streams are told apart by number there.

    Args:
        table: the database.
        durable: the one that has the streams and the players, if that is another.
    """

    def __init__(self, table: SqlTable, durable: SqlTable | None = None) -> None:
        self._table = table
        self._durable = durable or table

    def open_board(self, board: str, rules: str) -> None:
        """Note that a board is up, and the ruleset that it begins with."""
        self._table.put("open_board", self._number(board), rules)

    def close_board(self, board: str) -> None:
        """Note that a board is not up any more."""
        self._table.delete("open_board", "where stream = ?", self._number(board))

    def count(self) -> int:
        """Return the number of the last battle."""
        return self._table.number("select coalesce(max(number), 0) from battle")

    def battle(self, number: int) -> Battle:
        """Return a battle that is there, the players by number."""
        row = self._table.row("battle", "where number = ?", number)
        if row is None:
            raise LookupError(f"there is no battle {number}")
        return self._battle(row)

    def number_of(self, battle: BattleId) -> int | None:
        """Return the number of the battle that began there, if one did."""
        if not 0 < battle.version < 1 << 63:
            return None  # nor could it be looked for
        where = "where stream = ? and version = ?"
        row = self._table.row("battle", where, self._number(battle.board), battle.version)
        return cast("int", row[0]) if row else None

    def put_battle(self, battle: Battle) -> None:
        """Keep a battle."""
        outcome, points = battle.outcome, battle.points or (None, None)
        dwarf, troll = int(battle.dwarf or 0), int(battle.troll or 0)
        self._table.put(
            "battle",
            battle.number,
            realm_of(battle.id.board),
            self._number(battle.id.board),
            battle.id.version,
            float(battle.at),
            battle.rules,
            dwarf,
            troll,
            self._number(battle.source.board),
            battle.source.version,
            battle.until,
            battle.state.value,
            battle.part,
            *battle.before,
            battle.plies,
            outcome and outcome.ending.value,
            outcome.winner.value if outcome and outcome.winner else None,
            outcome and outcome.score.dwarf,
            outcome and outcome.score.troll,
            int(battle.rated),
            *points,
            int(battle.imported),
            int(battle.set_up),
        )
        for player in {dwarf, troll} - {0}:
            self._table.put("player_battle", player, battle.number)

    def on_board(self, board: str) -> int | None:
        """Return the number of the last battle at a board, unless that is as new."""
        row = self._table.row("on_board", "where stream = ?", self._number(board))
        return cast("int", row[1]) if row else None

    def put_on_board(self, board: str, number: int | None) -> None:
        """Keep the number of the last battle at a board."""
        if number is None:
            self._table.delete("on_board", "where stream = ?", self._number(board))
        else:
            self._table.put("on_board", self._number(board), number)

    def put_away(self, number: int, position: int, dwarf: str, troll: str) -> None:
        """Keep where the match that came to a battle was put away, and whose it is."""
        self._table.put("adjourned", number, position, int(dwarf), int(troll))

    def take_up(self, number: int) -> bool:
        """Forget that a match was put away; return whether it was."""
        return self._table.delete("adjourned", "where battle = ?", number) > 0

    def tally(self, player: str, role: str, rules: str, kind: str) -> Tally:
        """Return how a player fared in a role."""
        where = "where player = ? and role = ? and rules = ? and kind = ?"
        row = self._table.row("tally", where, int(player), role, rules, kind)
        return Tally(*cast("tuple[int, int, int]", row[4:])) if row else Tally()

    def put_tally(self, player: str, role: str, rules: str, kind: str, tally: Tally) -> None:
        """Keep how a player fared in a role."""
        self._table.put("tally", int(player), role, rules, kind, *tally)

    def strength(self, player: str, role: str) -> Strength | None:
        """Return how good a player is in a role, if that is known."""
        row = self._table.row("rating", "where player = ? and role = ?", int(player), role)
        return _strength(row) if row else None

    def put_strength(self, player: str, role: str, strength: Strength) -> None:
        """Keep how good a player is in a role."""
        row = self._durable.row("player", "where id = ?", int(player))
        realm = row[1] if row else ""
        self._table.put("rating", int(player), role, realm, *strength, strength.rating.proven)

    def ratings(self, player: int) -> dict[str, Rating]:
        """Return how good a player is in each role in which that is known."""
        rows = self._table.rows("rating", "where player = ?", player)
        return {cast("str", row[1]): _strength(row).rating for row in rows}

    def put_comment(self, number: int, position: int, comment: Comment) -> None:
        """Keep what a player says about a ply of a battle."""
        player = int(comment.player or 0)
        self._table.put("comment", number, comment.ply, player, position, comment.text)

    def remove_comment(self, number: int, ply: int, player: str) -> None:
        """Forget what a player has said about a ply of a battle."""
        where = "where battle = ? and ply = ? and player = ?"
        self._table.delete("comment", where, number, ply, int(player or 0))

    def comments(self, number: int) -> Iterator[tuple[int, int, str]]:
        """Yield the comments on a battle in their order: the ply, the player's number, the text."""
        rest = "where battle = ? order by ply, position"
        for _, ply, player, _, text in self._table.rows("comment", rest, number):
            yield cast("int", ply), cast("int", player), cast("str", text)

    def put_lesson(self, player: str, lesson: int) -> None:
        """Keep that a player has done a lesson."""
        self._table.put("lesson", int(player), lesson)

    def has_tried(self, player: str, puzzle: int) -> bool:
        """Return whether a player has tried a puzzle."""
        where = "where player = ? and puzzle = ?"
        return self._table.row("puzzle_try", where, int(player), puzzle) is not None

    def put_try(self, player: str, puzzle: int, *, solved: bool) -> None:
        """Keep that a player has tried a puzzle, and whether it was solved."""
        self._table.put("puzzle_try", int(player), puzzle, int(solved))

    def difficulty(self, puzzle: int) -> Strength | None:
        """Return how hard a puzzle is, if that is known."""
        row = self._table.row("puzzle", "where number = ?", puzzle)
        return Strength(*cast("tuple[float, float, int]", row[1:])) if row else None

    def put_difficulty(self, puzzle: int, strength: Strength) -> None:
        """Keep how hard a puzzle is."""
        self._table.put("puzzle", puzzle, *strength)

    def battles(self, rest: str, *values: object) -> list[Battle]:
        """Return the battles that a query finds, the players by number."""
        return [self._battle(row) for row in self._table.rows("battle", rest, *values)]

    def _number(self, stream: str) -> int:
        row = self._durable.row("stream", "where key = ?", stream)
        return cast("int", row[0]) if row else 0

    def _key(self, stream: object) -> str:
        row = self._durable.row("stream", "where id = ?", stream)
        if row is None:
            raise LookupError(f"there is no stream {stream}")
        return cast("str", row[1])

    def _battle(self, row: Any) -> Battle:
        number, _, stream, version, at, rules, dwarf, troll, source, source_version = row[:10]
        until, state, part, *before, plies, ending, winner, of_dwarf, of_troll = row[10:20]
        rated, *points, imported, set_up = row[20:]
        outcome = ending and Outcome(
            Ending(ending), Side(winner) if winner else None, Score(of_dwarf, of_troll)
        )
        return Battle(
            number,
            BattleId(self._key(stream), version),
            at,
            rules,
            str(dwarf or ""),
            str(troll or ""),
            BattleId(self._key(source), source_version),
            until,
            State(state),
            part,
            (before[0], before[1]),
            plies,
            outcome,
            bool(rated),
            None if points[0] is None else (points[0], points[1]),
            bool(imported),
            bool(set_up),
        )


def _strength(row: Sequence[object]) -> Strength:
    return Strength(*cast("tuple[float, float, int]", row[3:6]))
