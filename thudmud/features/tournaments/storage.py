"""Tournaments in the database. Their events are part of the hall's stream."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from thudmud.features.tournaments.model import (
    PastTournament,
    PastTournaments,
    Tournament,
    TournamentLookup,
    TournamentRegister,
    TournamentsLookup,
    folded,
)
from thudmud.game.archive import PAGE
from thudmud.game.events import TournamentEnd, TournamentEvent, TournamentKind, TournamentMade
from thudmud.store import hooks
from thudmud.store.codec import to_text
from thudmud.store.database import Database
from thudmud.store.hall import hall_event_rows
from thudmud.store.lookups import answers
from thudmud.store.rows import reading_row


def open_tournaments(database: Database) -> Sequence[Tournament]:
    """Return the tournaments that aren't over, by number."""
    rows = list(database.table.rows("tournament", "where ended is null order by number"))
    return [found for row in rows if (found := tournament(database, cast("int", row[0])))]


def last_tournament(database: Database) -> int:
    """Return the number of the last tournament; 0 if there was none."""
    return database.table.number("select coalesce(max(number), 0) from tournament")


def tournament(database: Database, number: int) -> Tournament | None:
    """Fold and return the tournament with the given number; None if there is none."""
    if not 0 < number < 1 << 63:
        return None  # out of the range of a column
    these = "select position from tournament_event where tournament = ?"
    found = database.streams.entries(f"where position in ({these}) order by position", number)
    stream = [each.event for each in found if isinstance(each.event, TournamentEvent)]
    return folded(stream) if stream else None


def past_tournaments(database: Database, asked: TournamentsLookup) -> PastTournaments:
    """Return a page of the tournaments that are over, latest first."""
    in_all = database.table.number("select count(*) from tournament where ended is not null")
    rest = "where ended is not null order by ended desc, number desc limit ? offset ?"
    skipped = (asked.page - 1) * PAGE
    rows = database.table.rows("tournament", rest, PAGE, skipped) if skipped < in_all else ()
    return PastTournaments(tuple(_past(database, row) for row in list(rows)), in_all)


def _past(database: Database, row: Sequence[Any]) -> PastTournament:
    number, title, kind, rules, time, ended, why, entrants, winner = row
    name = database.players.name_of(winner)
    with reading_row("tournament", row):
        known = number, title, TournamentKind(kind), rules, time, ended, TournamentEnd(why)
        return PastTournament(*known, entrants, name)


def _forget_titles(database: Database, player: int) -> None:
    """Erase the titles of a player's tournaments, which keep their numbers."""
    database.streams.write()
    for *place, body in hall_event_rows(database, TournamentMade, player):
        kind, announcer, number, _, *rest = json.loads(cast("str", body))
        untitled = to_text([kind, announcer, number, "", *rest])
        database.table.put("event", *place, untitled)
        if row := database.table.row("tournament", "where number = ?", number):
            database.table.put("tournament", number, "", *row[2:])


@answers(TournamentLookup)
def _one(database: Database, lookup: TournamentLookup, realm: str) -> Tournament | None:
    return None if realm else tournament(database, lookup.number)


@answers(TournamentsLookup)
def _past_ones(database: Database, lookup: TournamentsLookup, realm: str) -> PastTournaments:
    return PastTournaments((), 0) if realm else past_tournaments(database, lookup)


def _in_hall(database: Database) -> TournamentRegister:
    return TournamentRegister(open_tournaments(database), last_tournament(database))


hooks.hall_parts.append(_in_hall)
hooks.erased.append(_forget_titles)
