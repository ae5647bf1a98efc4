"""Reports in the database. Each function is one transaction.

Rows refer to players of the realm ``""`` by number, so a report survives a change of name. Deleted
rows are soon erased from the disk, as by `thudmud.store.accounts.erase`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from typing import cast

from thudmud.features.moderation.model import (
    MOST_REPORTS,
    Report,
    Reported,
    ReportedLookup,
    ReportsLookup,
)
from thudmud.store import hooks
from thudmud.store.database import Database
from thudmud.store.lookups import answers
from thudmud.store.rows import add_tables, reading_row

add_tables(
    # Reports about players. ``said`` is a JSON list of lines.
    report="number integer primary key, at real, reporter integer, about integer, text text,"
    " said text, is_open integer",
)

REPORTS_KEPT = 1000
"""The number of closed reports to keep, the latest ones."""

_ReportRow = tuple[int, float, int, int, str, str, int]


def report(database: Database, by: str, about: str, text: str, said: Sequence[str] = ()) -> int:
    """Store a report and return its number; deletes the oldest closed reports beyond the limit.

    Args:
        database: the database.
        by: the author's name, perhaps a guest.
        about: the subject's name, perhaps a guest.
        text: the author's text.
        said: the subject's last lines that the author received.
    """
    number = database.table.number("select coalesce(max(number), 0) + 1 from report")
    players = database.players.number_of(by), database.players.number_of(about)
    lines = json.dumps(list(said), ensure_ascii=False)
    database.table.put("report", number, database.now(), *players, text, lines, 1)
    closed = "select number from report where is_open = 0 order by number desc limit 1 offset ?"
    old = database.table.execute(closed, (REPORTS_KEPT,)).fetchone()
    if old and database.table.delete("report", "where is_open = 0 and number <= ?", *old):
        database.erased = True
    return number


def reports(database: Database, *, open_only: bool = True, most: int = 50) -> Sequence[Report]:
    """Return at most `most` reports, the latest first."""
    which = "where is_open = 1 " if open_only else ""
    rows = database.table.rows("report", f"{which}order by number desc limit ?", most)
    return [_report(database, cast("_ReportRow", row)) for row in list(rows)]


def _report(database: Database, row: _ReportRow) -> Report:
    number, at, by, about, text, said, is_open = row
    who = database.players.name_of(by), database.players.name_of(about)
    with reading_row("report", row):
        return Report(number, at, *who, text, tuple(json.loads(said)), bool(is_open))


def close_report(database: Database, number: int) -> bool:
    """Close a report; return whether it was open."""
    row = database.table.row("report", "where number = ? and is_open = 1", number)
    if row is None:
        return False
    database.table.put("report", *row[:-1], 0)
    return True


def close_reports(database: Database, last: int, about: str = "", by: str = "") -> int:
    """Close the open reports up to number ``last``, and return how many were closed.

    Args:
        database: the database.
        last: the highest number to close.
        about: the current name of the subject, case-insensitive; "" for any.
        by: the current name of the author, case-insensitive; "" for any.
    """
    where, values = ["is_open = 1", "number <= ?"], [last]
    for column, name in (("about", about), ("reporter", by)):
        if name:
            found = database.players.find(name)
            where.append(f"{column} = ?")
            values.append(found[0] if found else -1)
    rows = list(database.table.rows("report", f"where {' and '.join(where)}", *values))
    for row in rows:
        database.table.put("report", *row[:-1], 0)
    return len(rows)


def erase(database: Database, player: int) -> None:
    """Delete the reports about a player, and remove the player as author of others."""
    database.table.delete("report", "where about = ?", player)
    for row in list(database.table.rows("report", "where reporter = ?", player)):
        database.table.put("report", *row[:2], 0, *row[3:])


@answers(ReportsLookup)
def _answer_reports_lookup(database: Database, _: ReportsLookup, __: str) -> tuple[Report, ...]:
    return tuple(reports(database, most=MOST_REPORTS))


@answers(ReportedLookup)
def _reported(database: Database, lookup: ReportedLookup, _: str) -> Reported:
    about, who = database.players.find(lookup.name), database.players.find(lookup.by)
    written = [hook(database, who[0], about[0]) for hook in hooks.last_written if who and about]
    in_all = "select count(*) from report where is_open = 1"
    return Reported(
        about and about[1],
        database.table.number(f"{in_all} and reporter = ?", who[0]) if who else 0,
        database.table.number(in_all),
        tuple(chain.from_iterable(written)),
    )


hooks.erased.append(erase)
hooks.checks.append(lambda database: reports(database, open_only=False, most=1 << 62))
