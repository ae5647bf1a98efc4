"""Queries about the hall: open boards and seeks, outages, and the state of features."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, cast

from thudmud.game.events import SeekMade, StoredEvent
from thudmud.game.hall import HallPart
from thudmud.game.projections import HALL
from thudmud.store import hooks
from thudmud.store.codec import from_text
from thudmud.store.database import Database
from thudmud.store.interface import OpenBoard
from thudmud.store.projected import of_kinds


def open_boards(database: Database) -> Sequence[OpenBoard]:
    """Return the open boards, in the order in which they were first opened."""
    # Not a join, which would scan all boards there ever were. Others may open or close boards
    # between the two queries, hence the filter.
    rest = "where id in (select stream from open_board) order by id"
    rows = cast("list[tuple[int, str, str, int, int]]", list(database.table.rows("stream", rest)))
    rules = dict(cast("list[tuple[int, str]]", list(database.table.rows("open_board"))))
    return [OpenBoard(*row[1:], rules[row[0]]) for row in rows if row[0] in rules]


def open_board(database: Database, key: str) -> OpenBoard | None:
    """Return the open board with the given key; None if there is none."""
    stream = database.streams.find(key)
    row = stream and database.table.row("open_board", "where stream = ?", stream.id)
    return OpenBoard(*stream[1:], rules=str(row[1])) if stream and row else None


def open_seeks(database: Database) -> Sequence[SeekMade]:
    """Return the open seeks, sorted by number."""
    entries = database.streams.entries("where position in (select position from open_seek)")
    made = [each.event for each in entries if isinstance(each.event, SeekMade)]
    return sorted(made, key=attrgetter("number"))


def parts(database: Database) -> Sequence[HallPart]:
    """Return the state of features in the hall."""
    return [restore(database) for restore in hooks.hall_parts]


def interruptions(database: Database, after: float) -> Sequence[tuple[float, float]]:
    """Return the outages that ended after the given time, as pairs of their start and end."""
    rows = database.table.rows("interruption", "where until > ? order by until", after)
    return [(since, until) for until, since in cast("Iterable[tuple[float, float]]", rows)]


def seeks_of(database: Database, player: int) -> Iterator[SeekMade]:
    """Yield all seeks that a player has ever made, in order."""
    for row in hall_event_rows(database, SeekMade, player):
        *_, schema, at, _, body = cast("Any", row)
        yield cast("SeekMade", from_text(schema, body, at, database.players.name_of))


def hall_event_rows(
    database: Database, kind: type[StoredEvent], player: int
) -> list[Sequence[object]]:
    """Return the rows of a player's events of one kind in the hall's stream, in order."""
    (name,) = of_kinds((kind,), database.backend.dialect)[1]
    hall, begins = database.streams.find(HALL), f"{name}{player},"
    # Such events begin with their kind and their player's number, so a prefix finds them.
    where = "where stream = ? and substr(body, 1, ?) = ? order by version"
    return list(database.table.rows("event", where, hall and hall.id, len(begins), begins))
