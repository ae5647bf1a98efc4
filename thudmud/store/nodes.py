"""Nodes, and whom they have claimed: what is written of them. Each function is one transaction.

A node lives for as long as its lease runs, which each beat renews. By the claims of players a node
knows who is on which. A claim is never taken from a node that lives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic, sleep
from typing import cast

from thudmud.store.database import Database
from thudmud.store.interface import Damaged, NotWritten, OtherSettings, PlayerClaim

LEASE = 10.0
"""Seconds for which a node lives, unless it says once more that it does."""

PAUSE = 0.1
"""Seconds between two looks at whether a node lives."""


def beat(
    database: Database, node: str, lease: float = LEASE, settings: Mapping[str, str] | None = None
) -> bool:
    """Say that a node lives, for so many seconds at least.

    If no other does and it is new, the time in which none did is stored as an event first.

    Args:
        database: where.
        node: its name.
        lease: for how many seconds.
        settings: what all nodes have to go by, if there can be others: if none lives, it is this
            from now on.

    Returns:
        Whether it had a row still. If not, it was taken for dead: its claims are others'.

    Raises:
        OtherSettings: nodes that live go by others.
    """
    now = database.now()
    if settings is not None:
        _agree(database, node, settings, now)
    known = database.table.row("node", "where name = ?", node) is not None
    if not is_served(database):
        database.interrupted()
        now = database.now()
    database.table.put("node", node, now, now + lease)
    database.lease = max(lease, database.lease or 0.0)
    database.lived()
    return known


def _agree(database: Database, node: str, settings: Mapping[str, str], now: float) -> None:
    rows = database.table.rows("setting", "order by name")
    there = {str(name): str(value) for name, value, *_ in rows}
    if there == settings:
        return
    if database.table.row("node", "where name <> ? and until > ? limit 1", node, now):
        names = sorted(there.keys() | settings.keys())
        both = {name: (there.get(name), settings.get(name)) for name in names}
        raise OtherSettings({name: two for name, two in both.items() if two[0] != two[1]})
    database.table.delete("setting", "")
    for name, value in settings.items():
        database.table.put("setting", name, value)


def time_of_nodes(database: Database) -> float:
    """Return the time that nodes go by: that of those which live, else the server's.

    A node takes the server's time when it begins. After a fail-over that is another server's, which
    may go wrong: by it all who live would be dead, and time would have passed in which nobody
    played. Who lives writes at least twice during a lease, so that is waited for where the last
    node has not ended, and the server's time is not about that of the last write.
    """
    before, now = database.read_head(), database.backend.now()
    rows = database.table.rows("node", "where until > ?", before.at)
    lease = max((cast("float", row[2]) - cast("float", row[1]) for row in rows), default=0.0)
    waits_until = monotonic() + lease
    while lease and not before.at <= now <= before.at + lease:
        if (head := database.read_head()) != before:
            return head.at
        if monotonic() >= waits_until:
            break
        sleep(PAUSE)
        now = database.backend.now()
    return max(now, before.at)


def is_served(database: Database) -> bool:
    """Return whether a node lives."""
    return database.table.row("node", "where until > ? limit 1", database.now()) is not None


def last_beat(database: Database) -> float | None:
    """Return how many seconds ago a node last said that it lives; None if all have ended."""
    seen = [cast("float", row[1]) for row in database.table.rows("node", "where until > seen")]
    return max(0.0, database.now() - max(seen)) if seen else None


def leave(database: Database, node: str) -> None:
    """Take a node out, and let go of what it has claimed."""
    database.lived()
    database.table.delete("claim", "where node = ?", node)
    database.table.delete("node", "where name = ?", node)


def reap(database: Database, node: str) -> Sequence[PlayerClaim]:
    """Take the claims of dead nodes over for a node that lives; return them as they were."""
    dead = [row[0] for row in database.table.rows("node", "where until <= ?", database.now())]
    taken: list[PlayerClaim] = []
    for name in dead:
        if name == node:
            continue
        for row in list(database.table.rows("claim", "where node = ?", name)):
            taken.append(_claim(database, row))
            database.table.put("claim", row[0], node, *row[2:])
        database.table.delete("node", "where name = ?", name)
    return taken


def claim(
    database: Database, name: str, node: str, session: str, room: str = "", *, realm: str = ""
) -> PlayerClaim | None:
    """Claim a player for a session of a node, or say in which room a session's player is.

    Returns:
        None if it is claimed; else whose it is, on another node that lives. That may be asked by a
        note to let go.

    Raises:
        NotWritten: the node's own lease has run out.
    """
    now = database.now()
    lease = database.table.row("node", "where name = ?", node)
    if lease is None or cast("float", lease[2]) <= now:
        raise NotWritten(f"The lease of the node {node} has run out.")
    found = database.players.find(name, realm)
    row = found and database.table.row("claim", "where player = ?", found[0])
    if row and row[1] != node:
        owner = database.table.row("node", "where name = ?", row[1])
        if owner and cast("float", owner[2]) > now:
            return _claim(database, row)
    database.table.put("claim", database.players.number_of(name, realm), node, session, room)
    return None


def release(database: Database, name: str, node: str, *, realm: str = "") -> None:
    """Let a player go, if the node has them."""
    if found := database.players.find(name, realm):
        database.table.delete("claim", "where player = ? and node = ?", found[0], node)


def people(database: Database) -> Sequence[PlayerClaim]:
    """Return all who are claimed."""
    return [_claim(database, row) for row in database.table.rows("claim", "order by player")]


def _claim(database: Database, row: Sequence[object]) -> PlayerClaim:
    player, node, session, room = cast("tuple[int, str, str, str]", row)
    found = database.table.row("player", "where id = ?", player)
    if found is None:
        raise Damaged(f"there is no player {player}")
    return PlayerClaim(cast("str", found[1]), cast("str", found[3]), node, session, room)


def alone(database: Database) -> None:
    """Take all nodes for dead: only one process at a time serves from these files."""
    [outcome], _ = database.write([_end_all])
    if outcome is not None:
        raise outcome


def _end_all(database: Database) -> None:
    for name, seen, _ in list(database.table.rows("node")):
        database.table.put("node", name, seen, 0.0)
