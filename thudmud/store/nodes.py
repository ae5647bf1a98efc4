"""Nodes and their leases; claims on players. Each function runs in a transaction.

A node is a server process on the store. It is alive until its lease runs out, and each heartbeat
(`renew_lease`) renews that. A claim is a row with the node and the session that a player is on, and
the room that the player is in. Claims ensure that a name is used on only one node at a time.

Theory of operation. Both tables are changed only under the writers' lock, so of two nodes that
claim a name at once, the second sees the claim of the first. Three rules hold:

- A claim is never taken from a live node. `claim` returns the live owner's claim and changes
  nothing. The caller asks that owner, by a note, to release the player, and tries again.
- A claim of a dead node belongs to whoever takes it first: `reap`, for all of that node's claims,
  or `claim`, for a player who logs in elsewhere before that.
- A node may claim only while its lease holds by the store's time. It stops appending by its own
  clock, `thudmud.service.nodes.Node.is_alive`. That clock counts from before the heartbeat was
  sent, so the node considers itself dead no later than the others do.

What happens if a node dies?

- Before it releases a player: the claim stays, and protects the name until the lease runs out. The
  node that then takes it gets the last heartbeat as ``seen``, and has to store that the player is
  away and that clocks have stood still since then.
- After it has taken claims, before it has stored anything for them: they are its own by that time,
  so they are reaped again when its own lease runs out. Nothing is lost, only delayed.

And if a call is cancelled?

- A cancelled `renew_lease` may still have renewed the lease in the store. The node's own deadline
  is unchanged, so it merely stops earlier than it had to.
- A cancelled `claim` may have been stored. The node then owns the name without having the player,
  until it calls `release` or its lease runs out.
- A cancelled `reap` may have moved claims that the caller never saw, see
  `thudmud.service.nodes.Node.reap`.

If no node is alive, the next heartbeat first stores the time since ``head.served`` as an outage
event, and then makes its node alive. So no player loses time on the clock while no server runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic, sleep
from typing import cast

from thudmud.store.database import Database
from thudmud.store.interface import (
    DamagedStoreError,
    NotWrittenError,
    OtherSettingsError,
    PlayerClaim,
)
from thudmud.store.rows import has_servers

LEASE = 10.0
"""Seconds after its last heartbeat for which a node counts as alive, by default."""

PAUSE = 0.1
"""Seconds between two polls of the database's time."""


def renew_lease(
    database: Database, node: str, lease: float = LEASE, settings: Mapping[str, str] | None = None
) -> bool:
    """Renew a node's lease; the first heartbeat also registers the node.

    If no node was alive, the outage is first stored as an event. If no other node is alive, the
    given settings replace those that all nodes must share.

    Args:
        database: the database.
        node: the node's name.
        lease: seconds for which the node now counts as alive; 0 ends the lease.
        settings: the shared settings, by name; None where no other node can exist.

    Returns:
        Whether the node still had a row. If not, it is new, or was reaped and its claims are gone.

    Raises:
        OtherSettingsError: live nodes have other settings.
    """
    now = database.now()
    if settings is not None:
        _require_same_settings(database, node, settings, now)
    known = database.table.row("node", "where name = ?", node) is not None
    # Order matters: once our row is written below, a node is alive, and the outage would go
    # unnoticed. Both are in one transaction, so a crash can't separate them.
    if not is_served(database):
        database.record_outage()
        now = database.now()
    database.table.put("node", node, now, now + lease)
    database.lease = max(lease, database.lease or 0.0)
    database.record_heartbeat()
    return known


def _require_same_settings(
    database: Database, node: str, settings: Mapping[str, str], now: float
) -> None:
    rows = database.table.rows("setting", "order by name")
    there = {str(name): str(value) for name, value, *_ in rows}
    if there == settings:
        return
    if database.table.row("node", "where name <> ? and until > ? limit 1", node, now):
        names = sorted(there.keys() | settings.keys())
        both = {name: (there.get(name), settings.get(name)) for name in names}
        raise OtherSettingsError({name: two for name, two in both.items() if two[0] != two[1]})
    database.table.delete("setting", "")
    for name, value in settings.items():
        database.table.put("setting", name, value)


def time_of_nodes(database: Database) -> float:
    """Return the nodes' shared time, in seconds since the epoch; it may wait for up to a lease.

    The time is that of live nodes, else the database server's. After a fail-over another server's
    clock applies, and may be wrong. By that clock all live nodes might seem dead, or time might
    seem to have passed while nobody played. A live node writes at least twice during a lease. So if
    some node has not ended, and the server's time is not close to that of the last write, this
    waits for such a write.
    """
    before = database.read_head()
    now, heard = database.backend.now(), monotonic()
    rows = database.table.rows("node", "where until > ?", before.at)
    lease = max((cast("float", row[2]) - cast("float", row[1]) for row in rows), default=0.0)
    waits_until = monotonic() + lease
    while lease and not before.at <= now <= before.at + lease:
        # Other writes, such as those of starting nodes, don't change ``at``.
        if (head := database.read_head()).at > before.at:
            return head.at
        if monotonic() >= waits_until:
            break
        sleep(PAUSE)
        now, heard = database.backend.now(), monotonic()
    return max(now + monotonic() - heard, before.at)  # add the time spent since the reading


def is_served(database: Database) -> bool:
    """Return whether any node is alive."""
    return has_servers(database.table, database.now())


def seconds_since_heartbeat(database: Database) -> float | None:
    """Return the seconds since the last heartbeat of any node; None if all nodes have ended.

    A killed node still counts: its row stays until it is reaped.
    """
    seen = [cast("float", row[1]) for row in database.table.rows("node", "where until > seen")]
    return max(0.0, database.now() - max(seen)) if seen else None


def remove_node(database: Database, node: str) -> None:
    """Remove a node that ends properly, and all of its claims."""
    database.record_heartbeat()
    # The last sign of life: an outage is counted from here if no other node is left.
    database.table.delete("claim", "where node = ?", node)
    database.table.delete("node", "where name = ?", node)


def reap(database: Database, node: str) -> Sequence[PlayerClaim]:
    """Move all claims of dead nodes to a live one, and remove the dead nodes.

    Unlike `claim`, this doesn't verify the live node's own lease: the caller has just renewed it.

    Returns:
        The claims as they were; ``seen`` is the dead owner's last heartbeat. The caller must store
        that these players are away, and then release the claims.
    """
    dead = list(database.table.rows("node", "where until <= ?", database.now()))
    taken: list[PlayerClaim] = []
    for name, seen, _ in dead:
        if name == node:  # our own lease has run out: only `renew_lease` may revive it
            continue
        for row in list(database.table.rows("claim", "where node = ?", name)):
            taken.append(_claim(database, row)._replace(seen=cast("float", seen)))
            # Moved, not deleted: if we die before the players are marked as away, whoever reaps us
            # finds them.
            database.table.put("claim", row[0], node, *row[2:])
        database.table.delete("node", "where name = ?", name)
    return taken


def claim(
    database: Database, name: str, node: str, session: str, room: str = "", *, realm: str = ""
) -> PlayerClaim | None:
    """Claim a player for a session of a node, or update the room of a claimed player.

    Args:
        database: the database.
        name: the player's name.
        node: the claiming node.
        session: the claiming session.
        room: where the player is.
        realm: the player's realm.

    Returns:
        None, or the former claim of a dead node with that node's last heartbeat in ``seen``: the
        player is claimed now. A claim without ``seen`` belongs to another live node, and nothing
        was changed: ask that node to release the player.

    Raises:
        NotWrittenError: the claiming node's own lease has run out.
    """
    now = database.now()
    # Checked under the lock: this work may have queued until another node reaped us. A claim stored
    # after that would belong to a node without a row, and nobody would reap it.
    lease = database.table.row("node", "where name = ?", node)
    if lease is None or cast("float", lease[2]) <= now:
        raise NotWrittenError(f"The lease of the node {node} has expired.")
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
    """Release a node's claim on a player; claims of other nodes stay."""
    if found := database.players.find(name, realm):
        database.table.delete("claim", "where player = ? and node = ?", found[0], node)


def owner(database: Database, name: str, *, realm: str = "") -> str | None:
    """Return the name of the node that has claimed a player; None if there is no claim."""
    found = database.players.find(name, realm)
    row = found and database.table.row("claim", "where player = ?", found[0])
    return cast("str", row[1]) if row else None


def all_claims(database: Database) -> Sequence[PlayerClaim]:
    """Return all claims, ordered by player number."""
    return [_claim(database, row) for row in database.table.rows("claim", "order by player")]


def _claim(database: Database, row: Sequence[object]) -> PlayerClaim:
    player, node, session, room = cast("tuple[int, str, str, str]", row)
    found = database.table.row("player", "where id = ?", player)
    if found is None:
        raise DamagedStoreError(f"no player {player}")
    return PlayerClaim(cast("str", found[1]), cast("str", found[3]), node, session, room)


def end_all_leases(database: Database) -> None:
    """End the leases of all nodes, where only one process at a time can serve from a file."""
    [outcome], _ = database.write([_end_all])
    if outcome is not None:
        raise outcome


def _end_all(database: Database) -> None:
    for name, seen, _ in list(database.table.rows("node")):
        # The rows stay: their claims are still to be reaped, and ``seen`` says since when.
        database.table.put("node", name, seen, 0.0)
