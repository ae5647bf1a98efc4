"""Nodes and their claims in the database. Each function is one transaction.

A node is alive until its lease runs out; each beat renews the lease. Claims tell the nodes which
player is on which node. A claim is never taken from a live node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic, sleep
from typing import cast

from thudmud.store.database import Database
from thudmud.store.interface import Damaged, NotWritten, OtherSettings, PlayerClaim
from thudmud.store.rows import has_servers

LEASE = 10.0
"""Seconds after its last beat for which a node counts as alive."""

PAUSE = 0.1
"""Seconds between two looks at whether a node is alive."""


def beat(
    database: Database, node: str, lease: float = LEASE, settings: Mapping[str, str] | None = None
) -> bool:
    """Renew a node's lease.

    If no node was alive, the time in which none was is stored as an event first. If no node is
    alive, the given settings hold from now on, which all nodes must share.

    Returns:
        Whether the node still had a row. If not, it was taken for dead, and its claims belong to
        others.

    Raises:
        OtherSettings: live nodes have other settings.
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
    """Return the nodes' shared time: that of live nodes, else the database server's.

    A new node takes the database server's time. After a fail-over that is another server's, whose
    clock may be wrong: by it all live nodes might be dead, and time might have passed in which
    nobody played. A live node writes at least twice during a lease. So where the last node has not
    ended, and the server's time is not near that of the last write, such a write is waited for.
    """
    before = database.read_head()
    now, heard = database.backend.now(), monotonic()
    rows = database.table.rows("node", "where until > ?", before.at)
    lease = max((cast("float", row[2]) - cast("float", row[1]) for row in rows), default=0.0)
    waits_until = monotonic() + lease
    while lease and not before.at <= now <= before.at + lease:
        # What else is written, by nodes that begin, tells nothing of the time.
        if (head := database.read_head()).at > before.at:
            return head.at
        if monotonic() >= waits_until:
            break
        sleep(PAUSE)
        now, heard = database.backend.now(), monotonic()
    return max(now + monotonic() - heard, before.at)  # what was read since has taken its time, too


def is_served(database: Database) -> bool:
    """Return whether any node is alive."""
    return has_servers(database.table, database.now())


def last_beat(database: Database) -> float | None:
    """Return how many seconds ago the last beat was; None if all nodes have ended."""
    seen = [cast("float", row[1]) for row in database.table.rows("node", "where until > seen")]
    return max(0.0, database.now() - max(seen)) if seen else None


def leave(database: Database, node: str) -> None:
    """Remove a node and its claims."""
    database.lived()
    database.table.delete("claim", "where node = ?", node)
    database.table.delete("node", "where name = ?", node)


def reap(database: Database, node: str) -> Sequence[PlayerClaim]:
    """Take over the claims of dead nodes for a live one; return them as they were."""
    dead = list(database.table.rows("node", "where until <= ?", database.now()))
    taken: list[PlayerClaim] = []
    for name, seen, _ in dead:
        if name == node:
            continue
        for row in list(database.table.rows("claim", "where node = ?", name)):
            taken.append(_claim(database, row)._replace(seen=cast("float", seen)))
            database.table.put("claim", row[0], node, *row[2:])
        database.table.delete("node", "where name = ?", name)
    return taken


def claim(
    database: Database, name: str, node: str, session: str, room: str = "", *, realm: str = ""
) -> PlayerClaim | None:
    """Claim a player for a node's session, or update the room of a claimed player.

    Returns:
        None if the player is claimed now, or the claim as it was if that was a dead node's, whose
        ``seen`` says when it lived; else the claim of another live node, which can be asked by a
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
    taken: PlayerClaim | None = None
    if row and row[1] != node:
        owner = database.table.row("node", "where name = ?", row[1])
        if owner and cast("float", owner[2]) > now:
            return _claim(database, row)
        if owner:
            taken = _claim(database, row)._replace(seen=cast("float", owner[1]))
    database.table.put("claim", database.players.number_of(name, realm), node, session, room)
    return taken


def release(database: Database, name: str, node: str, *, realm: str = "") -> None:
    """Release a node's claim on a player, if it has one."""
    if found := database.players.find(name, realm):
        database.table.delete("claim", "where player = ? and node = ?", found[0], node)


def owner(database: Database, name: str, *, realm: str = "") -> str | None:
    """Return the node that has claimed a player; None if none has."""
    found = database.players.find(name, realm)
    row = found and database.table.row("claim", "where player = ?", found[0])
    return cast("str", row[1]) if row else None


def people(database: Database) -> Sequence[PlayerClaim]:
    """Return all claims."""
    return [_claim(database, row) for row in database.table.rows("claim", "order by player")]


def _claim(database: Database, row: Sequence[object]) -> PlayerClaim:
    player, node, session, room = cast("tuple[int, str, str, str]", row)
    found = database.table.row("player", "where id = ?", player)
    if found is None:
        raise Damaged(f"there is no player {player}")
    return PlayerClaim(cast("str", found[1]), cast("str", found[3]), node, session, room)


def alone(database: Database) -> None:
    """Treat all nodes as dead: only one process at a time serves from these files."""
    [outcome], _ = database.write([_end_all])
    if outcome is not None:
        raise outcome


def _end_all(database: Database) -> None:
    for name, seen, _ in list(database.table.rows("node")):
        database.table.put("node", name, seen, 0.0)
