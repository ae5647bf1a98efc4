"""The hall's state: boards, seeks and tournaments, and when no server ran; what players did in it.

All functions only read but `forget_titles`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, cast

from thudmud.features.tournaments.model import (
    PastTournament,
    PastTournaments,
    Tournament,
    TournamentsLookup,
    folded,
)
from thudmud.features.tournaments.pairing import TournamentKind
from thudmud.game.archive import PAGE
from thudmud.game.events import (
    SeekMade,
    StoredEvent,
    TournamentEnd,
    TournamentEvent,
    TournamentMade,
)
from thudmud.game.projections import HALL
from thudmud.store.codec import from_text, to_text
from thudmud.store.database import Database
from thudmud.store.interface import OpenBoard
from thudmud.store.projected import of_kinds


def open_boards(database: Database) -> Sequence[OpenBoard]:
    """Return the open boards, in the order in which they were first opened."""
    # Not a join: that would scan all boards there ever were. Between the two queries, others may
    # open or close boards.
    rest = "where id in (select stream from open_board) order by id"
    rows = cast("list[tuple[int, str, str, int, int]]", list(database.table.rows("stream", rest)))
    rules = dict(cast("list[tuple[int, str]]", list(database.table.rows("open_board"))))
    return [OpenBoard(*row[1:], rules[row[0]]) for row in rows if row[0] in rules]


def open_board(database: Database, key: str) -> OpenBoard | None:
    """Return the open board with a key, if there is one."""
    stream = database.streams.known(key)
    row = stream and database.table.row("open_board", "where stream = ?", stream.id)
    return OpenBoard(*stream[1:], rules=str(row[1])) if stream and row else None


def open_seeks(database: Database) -> Sequence[SeekMade]:
    """Return the open seeks, sorted by number."""
    entries = database.streams.entries("where position in (select position from open_seek)")
    made = [each.event for each in entries if isinstance(each.event, SeekMade)]
    return sorted(made, key=attrgetter("number"))


def open_tournaments(database: Database) -> Sequence[Tournament]:
    """Return the tournaments that are not over, sorted by number."""
    rows = list(database.table.rows("tournament", "where ended is null order by number"))
    return [found for row in rows if (found := tournament(database, cast("int", row[0])))]


def last_tournament(database: Database) -> int:
    """Return the number of the last tournament; 0 if there was none."""
    return database.table.number("select coalesce(max(number), 0) from tournament")


def tournament(database: Database, number: int) -> Tournament | None:
    """Return the tournament with a number, folded from its events, if there is one."""
    if not 0 < number < 1 << 63:
        return None  # too large for a column
    these = "select position from tournament_event where tournament = ?"
    found = database.streams.entries(f"where position in ({these}) order by position", number)
    stream = [each.event for each in found if isinstance(each.event, TournamentEvent)]
    return folded(stream) if stream else None


def past_tournaments(database: Database, asked: TournamentsLookup) -> PastTournaments:
    """Return a page of the tournaments that are over, the latest first."""
    in_all = database.table.number("select count(*) from tournament where ended is not null")
    rest = "where ended is not null order by ended desc, number desc limit ? offset ?"
    skipped = (asked.page - 1) * PAGE
    rows = database.table.rows("tournament", rest, PAGE, skipped) if skipped < in_all else ()
    return PastTournaments(tuple(_past(database, row) for row in list(rows)), in_all)


def _past(database: Database, row: Sequence[Any]) -> PastTournament:
    number, title, kind, rules, time, ended, why, entrants, winner = row
    name = database.players.name_of(winner)
    ended_by = TournamentEnd(why)
    known = number, title, TournamentKind(kind), rules, time, ended, ended_by
    return PastTournament(*known, entrants, name)


def forget_titles(database: Database, player: int) -> None:
    """Erase the titles of all tournaments that a player has announced: they have numbers, too."""
    database.streams.write()
    for *place, body in made_in_the_hall(database, TournamentMade, player):
        kind, announcer, number, _, *rest = json.loads(cast("str", body))
        untitled = to_text([kind, announcer, number, "", *rest])
        database.table.put("event", *place, untitled)
        if row := database.table.row("tournament", "where number = ?", number):
            database.table.put("tournament", number, "", *row[2:])


def interruptions(database: Database, after: float) -> Sequence[tuple[float, float]]:
    """Return the spans without a server that ended after a time: each from when, until when."""
    rows = database.table.rows("interruption", "where until > ? order by until", after)
    return [(since, until) for until, since in cast("Iterable[tuple[float, float]]", rows)]


def seeks_of(database: Database, player: int) -> Iterator[SeekMade]:
    """Yield all seeks that a player has ever made, in order."""
    for row in made_in_the_hall(database, SeekMade, player):
        *_, schema, at, _, body = cast("Any", row)
        yield cast("SeekMade", from_text(schema, body, at, database.players.name_of))


def made_in_the_hall(
    database: Database, kind: type[StoredEvent], player: int
) -> list[Sequence[object]]:
    """Return the rows of a player's events of one kind in the hall's stream, in order."""
    (name,) = of_kinds((kind,), database.backend.dialect)[1]
    hall, begins = database.streams.known(HALL), f"{name}{player},"
    where = "where stream = ? and substr(body, 1, ?) = ? order by version"
    return list(database.table.rows("event", where, hall and hall.id, len(begins), begins))
