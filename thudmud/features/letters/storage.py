"""Letters and reports in the database. Each function is one transaction.

They belong to players of the realm ``""``, by number: so they follow a name that changes. What is
deleted here is soon erased from the disk, as by `thudmud.store.accounts.erase`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import cast

from thudmud.features.letters.model import Letter, LetterCount, Report, Reported
from thudmud.features.notifications import storage as notifications
from thudmud.features.notifications.model import Kind, Notification
from thudmud.store.battles import have_played
from thudmud.store.database import Database

REPORTS_KEPT = 1000
"""How many closed reports are kept: the last ones."""

_LetterRow = tuple[int, int, int, float, str, int]
_ReportRow = tuple[int, float, int, int, str, str, int]


def post(database: Database, to: str, sender: str, text: str) -> int:
    """Store a letter to a member; return its number.

    Raises:
        Nobody: the receiver or the sender is no member.
    """
    receiver = database.players.member(to)
    by = database.players.member(sender)
    last = "select coalesce(max(number), 0) from letter where receiver = ?"
    number = database.table.number(last, receiver) + 1
    database.table.put("letter", receiver, number, by, database.now(), text, 1)
    notifications.post(database, receiver, Notification(to, Kind.MESSAGE))
    return number


def letters(database: Database, player: str) -> tuple[Letter, ...]:
    """Return all letters to a member, the oldest first."""
    return tuple(
        Letter(number, database.players.name_of(sender), at, text, bool(is_new))
        for _, number, sender, at, text, is_new in _letters(database, player)
    )


def count(database: Database, player: str) -> LetterCount:
    """Return how many letters a member has."""
    rows = _letters(database, player)
    return LetterCount(sum(row[5] for row in rows), len(rows))


def count_from(
    database: Database, player: str, sender: str, followed: Iterable[str] = ()
) -> tuple[int, int, int | None]:
    """Return how many letters a member has, from one sender, and from strangers.

    The last is only counted if the sender is a stranger, else it is None. Strangers are those with
    whom the member has not played, and who are not among the ``followed``.
    """
    rows = _letters(database, player)
    sent = Counter(row[2] for row in rows)
    receiver, writer = database.players.find(player), database.players.find(sender)
    if not receiver or not writer:
        return len(rows), 0, sent.total()
    known = {each[0] for each in map(database.players.find, followed) if each}
    strangers: int | None = None
    if not _knows(database, receiver[0], writer[0], known):
        of_others = (each for each in sent if not _knows(database, receiver[0], each, known))
        strangers = sum(sent[each] for each in of_others)
    return len(rows), sent[writer[0]], strangers


def _knows(database: Database, player: int, other: int, known: Collection[int]) -> bool:
    """Return whether a player is among the known ones of another, or has played with them."""
    return other in known or have_played(database, player, other)


def mark_read(database: Database, player: str, numbers: Collection[int]) -> None:
    """Mark some letters of a member as read."""
    for *row, is_new in _letters(database, player):
        if is_new and row[1] in numbers:
            database.table.put("letter", *row, 0)


def forget(database: Database, player: str, numbers: Collection[int]) -> int:
    """Delete some letters of a member, from the disk as well; return how many there were."""
    found = database.players.find(player)
    if found is None:
        return 0
    where = "where receiver = ? and number = ?"
    gone = sum(database.table.delete("letter", where, found[0], each) for each in numbers)
    database.erased |= gone > 0
    return gone


def report(database: Database, by: str, about: str, text: str, said: Sequence[str] = ()) -> int:
    """Store a report of one player about another, either of whom may be a guest; return its number.

    ``said`` is what the reporter had last heard from the other, by lines.
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
    """Return reports, the latest first, ``most`` at most."""
    which = "where is_open = 1 " if open_only else ""
    rows = database.table.rows("report", f"{which}order by number desc limit ?", most)
    return [
        Report(
            number,
            at,
            database.players.name_of(by),
            database.players.name_of(about),
            text,
            tuple(json.loads(said)),
            bool(is_open),
        )
        for number, at, by, about, text, said, is_open in cast("list[_ReportRow]", list(rows))
    ]


def close_report(database: Database, number: int) -> bool:
    """Close a report; return whether it was open."""
    row = database.table.row("report", "where number = ? and is_open = 1", number)
    if row is None:
        return False
    database.table.put("report", *row[:-1], 0)
    return True


def close_reports(database: Database, last: int, about: str = "", by: str = "") -> int:
    """Close all open reports up to a number, about a player or by one, if named; return how many.

    The names are those of now, in any case.
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


def reported(database: Database, name: str, by: str) -> Reported:
    """Return the name of the player to be reported, and how many reports are open."""
    about, who = database.players.find(name), database.players.find(by)
    in_all = "select count(*) from report where is_open = 1"
    return Reported(
        about and about[1],
        database.table.number(f"{in_all} and reporter = ?", who[0]) if who else 0,
        database.table.number(in_all),
    )


def erase(database: Database, player: int) -> None:
    """Delete letters to a player and reports about them; remove the player as author of others."""
    database.table.delete("letter", "where receiver = ?", player)
    database.table.delete("report", "where about = ?", player)
    for row in list(database.table.rows("letter", "where sender = ?", player)):
        database.table.put("letter", *row[:2], 0, *row[3:])
    for row in list(database.table.rows("report", "where reporter = ?", player)):
        database.table.put("report", *row[:2], 0, *row[3:])


def _letters(database: Database, player: str) -> list[_LetterRow]:
    found = database.players.find(player)
    rest = "where receiver = ? order by number"
    rows = list(database.table.rows("letter", rest, found[0])) if found else []
    return cast("list[_LetterRow]", rows)
