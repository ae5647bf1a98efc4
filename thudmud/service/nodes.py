"""Nodes: processes that share a store, with leases, and claims on the players' names.

A name belongs to one node at a time, by a claim in the store. A node is alive while its lease in
the store holds, and a heartbeat renews the lease. Nodes talk to each other by notes, which the
store passes on and doesn't keep. These invariants add to those in `thudmud.service.service`:

10. Only the node with the claim on a name stores that the player is away or back: it claims, stores
    and releases. (`Presence.store_presence`)
11. After a claim, all stored entries are applied here before anything is decided: the previous node
    may just have stored that the player is away. (`Node.claim`)
12. A dead node is reaped by a living one. One transaction moves its claims to the reaper. The
    reaper holds the clocks at the players' boards for the time since the dead node's last
    heartbeat, marks the players as away, and releases the claims. A node that claims a dead node's
    player, who comes in there, does the same for that player at once. A reaper that dies is reaped
    in turn. A node may also die after it asked for a player and before it claims the name; then the
    node that released the name removes the player. (`Node.reap`, `Presence.hand_over`)
13. A node acts only while its own clock says that its lease holds. If it wakes up after that, it
    dismisses its players, apart from those whose claims are still its own: while the store was
    away, no other node could take them. Where no other process can use the store, nobody is
    dismissed; but the first write renews the lease, so that the outage is recorded before anything
    else. (`Node.is_alive`, `Node.renew`, `Presence.dismiss_all`)
14. Asides reach other nodes in no certain order relative to events, and are lost while the link is
    down. Afterwards the nodes ask each other for their players, and players on no node are removed.
    (`Presence.remove_stale_players`)
15. The asides of one node reach the others in their order. A name is released only after the asides
    about it are sent; otherwise they could arrive after those of the name's next node. A node that
    slept may send something even later. (`Node.send_asides`, `Node.release`,
    `PeerNodes.apply_remote_asides`)

A claim is on a name in a realm, so each service of one node needs a realm of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Generic, Protocol, Union

from thudmud.errors import ThudmudError
from thudmud.game.archive import NOTHING_FOUND, LookupResults
from thudmud.game.asides import Aside, AsideT, Gone
from thudmud.game.events import Parting
from thudmud.game.options import SetOption
from thudmud.service.coroutines import KeyedLock, future, resolve_all, run_eagerly
from thudmud.store import (
    LEASE,
    NotesMissed,
    NoteTooLongError,
    OtherSettingsError,
    PlayerClaim,
    Store,
    StoreError,
    nodes,
)
from thudmud.store.codec import Form
from thudmud.store.steady import seconds
from thudmud.values import ArrayValue

if TYPE_CHECKING:
    import asyncio


GREETINGS = 3
"""Exchanges of player lists with the other nodes after a loss, half a lease apart."""

_log = logging.getLogger(__name__)


class PlaysElsewhereError(ThudmudError):
    """A player is on another node, which doesn't release the name."""

    def __init__(self, name: str, node: str) -> None:
        super().__init__(name, node)
        self.name, self.node = name, node

    def __str__(self) -> str:
        return f"{self.name} plays on the node {self.node}, which does not release them"


class NodeAsides(ArrayValue, Generic[AsideT], tag=True):
    """A note: asides of a node, or an `Entered` for each of its players."""

    node: str
    realm: str
    asides: tuple[AsideT, ...]


class NodeHello(ArrayValue, tag=True):
    """A note: a node asks the others to send their players."""

    node: str


class ReleaseRequest(ArrayValue, tag=True):
    """A note: asks ``node`` to release the name of a player who comes in on another node."""

    node: str
    realm: str
    name: str


class NameReleased(ArrayValue, tag=True):
    """A note: a name was released."""

    realm: str
    name: str


Note = NodeAsides[Aside] | NodeHello | ReleaseRequest | NameReleased


@cache
def note_form() -> Form:
    """Return the codec for notes to other processes; call it once all features are loaded."""
    crossing: Any = Union[tuple(Aside.kinds_for_other_nodes())]  # noqa: UP007  (they are not known here)
    notes = NodeAsides[crossing] | NodeHello | ReleaseRequest | NameReleased
    return Form(notes, {LookupResults: NOTHING_FOUND, SetOption: SetOption()})


class NodeService(Protocol):
    """The part of a service that its node calls.

    Attributes:
        realm: the realm of its boards.
    """

    realm: str

    def people_here(self) -> tuple[Aside, ...]:
        """Return the players on this node, with their rooms and preferences."""

    def apply_remote_asides(self, asides: Iterable[Aside], node: str) -> None:
        """Apply and deliver another node's asides."""

    async def hand_over(self, name: str) -> None:
        """Hand a player over to another node, after the line in flight."""

    def remove_lost_player(self, name: str, parting: Parting) -> None:
        """Remove a player who is on no node; do nothing if they are here."""

    def remove_stale_players(self) -> None:
        """Remove the players who have left other nodes while the link to those was down."""

    async def dismiss_all(self, kept: Collection[str] = ()) -> None:
        """Dismiss the players who are here, apart from some, by lower-case name."""

    def expect_clocks_held(self) -> None:
        """Hold the clock of each board before any other event is stored there."""

    async def hold_all_clocks(self) -> None:
        """Hold all clocks for the outages that the store has recorded."""

    def fail(self, error: Exception) -> None:
        """End the service: nothing more can be stored here."""


class Node:
    """One of the nodes that share a store.

    Args:
        store: the store.
        name: its name, unique among the nodes; "" for a random one.
        lease: the seconds for which its lease holds without renewal.
        settings: the settings that all nodes must share; None if it is the only node.
        clock: returns seconds that also pass while the machine sleeps.

    Attributes:
        peers: the names of the nodes that have sent notes.
        cut_off: the last heartbeat of a player's dead node, by realm and lower-case name. The
            player's clocks have to be held since then.
    """

    def __init__(
        self,
        store: Store,
        name: str = "",
        *,
        lease: float = LEASE,
        settings: Mapping[str, str] | None = None,
        clock: Callable[[], float] = seconds,
    ) -> None:
        # Long: one assignment for each attribute, without branches.
        self.name = name or f"node-{token_hex(4)}"
        self.lease = lease
        self.peers: set[str] = set()
        self.cut_off: dict[tuple[str, str], float] = {}
        self._store, self._settings, self._clock = store, settings, clock
        self._services: list[NodeService] = []
        self._lease_end: float | None = None
        self._unsubscribe: Callable[[], None] = lambda: None
        self._greetings = 0
        """The number of exchanges of player lists that `run_heartbeat` still has to make.

        One isn't enough, since nodes reconnect to the store at different moments.
        """
        self._sparing_until = 0.0
        """The time, by our clock, until which this node reaps no other; 0 if not set.

        While the store was away, the others couldn't renew their leases either. Only a player who
        comes in here is taken over from a node whose lease has run out.
        """
        self._has_ghosts = False
        """Whether this node may have claims on players who aren't here; `reap` removes those.

        They left while the store was away, or became ours by a transaction whose result was lost.
        """
        self._releases: dict[tuple[str, str], list[asyncio.Future[None]]] = {}
        """By realm and name, futures that the name's release by another node resolves."""
        self._aside_locks = KeyedLock()
        """The locks, by realm, that keep the notes of asides in order."""
        self._unsent_departures: set[tuple[str, str]] = set()
        """Realms and names of players whose departure could not be sent to the other nodes."""
        self._late_releases: set[tuple[str, str]] = set()
        """Realms and names that another node didn't release in time.

        The player has given up waiting. If the name is released after all, `remove_lost_player` is
        called, since no node claims it then.
        """

    @property
    def is_alive(self) -> bool:
        """Whether the lease holds, by this node's own clock."""
        return self.lease_left > 0.0

    @property
    def lease_left(self) -> float:
        """Seconds until the lease ends, by this node's own clock."""
        return 0.0 if self._lease_end is None else self._lease_end - self._clock()

    async def open(self) -> None:
        """Begin the lease. If no other node is alive, the outage before it is recorded.

        Raises:
            OtherSettingsError: living nodes have other settings.
            StoreError: the lease cannot be stored.
        """
        await self._store.use_nodes_clock()
        await self.renew()
        self._unsubscribe = self._store.subscribe_notes(self._handle_note, note_form)

    async def run_heartbeat(self) -> None:
        """Renew the lease twice in its length, and reap dead nodes, forever."""
        import asyncio  # noqa: PLC0415  (a house needs none)

        has_failed = False
        while True:
            # The store may have been slow. Then the lease could run out before the end of a pause
            # and of the next renewal, so there's no pause.
            is_late = self._is_late
            if has_failed or not is_late:
                await asyncio.sleep(self.lease / (20 if has_failed else 2))
            try:
                await self._beat(is_overdue=has_failed or is_late)
                has_failed = False
            except OtherSettingsError as error:  # nodes that started while this one slept
                has_failed = True
                for service in self._services:
                    service.fail(error)
            except StoreError as error:
                has_failed, self._greetings = True, GREETINGS
                _log.error("could not renew the lease: %s", error)
            except Exception:  # noqa: BLE001  (a node that stops renewing its lease dies)
                has_failed = True
                _log.exception("failed to renew the lease")

    async def _beat(self, *, is_overdue: bool) -> None:
        """Renew the lease, greet the other nodes if that is still to be done, and reap dead ones.

        Args:
            is_overdue: whether the store was away or slow, so that the others may have missed their
                renewals, too.
        """
        await self.renew()
        if is_overdue or self._is_late:
            self._spare_others()
        if self._greetings:
            self._greetings -= 1
            await self._greet()
        if self._is_sparing:
            return
        if self._sparing_until:
            self._sparing_until = 0.0
            for service in self._services:
                service.remove_stale_players()
        await self.reap()

    @property
    def _is_late(self) -> bool:
        """Whether a third of the lease has passed. It counts from the start of its renewal."""
        return self._lease_end is None or self._clock() > self._lease_end - self.lease * 2 / 3

    async def renew(self) -> None:
        """Renew the lease. If it had run out, dismiss the players whom other nodes may have taken.

        Players whose claims are still this node's stay: with a new lease nobody can take them.

        Raises:
            OtherSettingsError: the lease had run out, and living nodes have other settings.
            StoreError: the lease cannot be stored.
        """
        # The lease counts from here, not from the answer: the store may have written at once and
        # answered late, and by the store's time the lease then ends earlier.
        begun = self._clock()
        is_known = await self._store.write(nodes.renew_lease, self.name, self.lease, self._settings)
        before, now = self._lease_end, self._clock()
        # Without a row, this node was reaped. With one, the lease may still have run out before
        # this renewal: then `nodes.claim` may have taken single names, and leaves the row.
        if before is None or (is_known and now < before):
            self._lease_end = begun + self.lease
            return
        ours: list[PlayerClaim] = []
        if not self._store.is_exclusive:
            ours = [
                each for each in await self._store.read(nodes.all_claims) if each.node == self.name
            ]
            self._spare_others()
            self._has_ghosts = True  # claims on players who have left meanwhile
            _log.warning("the lease had expired", extra={"kept": len(ours)})
        self._lease_end = begun + self.lease
        services = list(self._services)
        for service in services:
            service.expect_clocks_held()
        if not self._store.is_exclusive:
            # Dismiss before anything that blocks: players whom other nodes have taken must not
            # type anything more here.
            for service in services:
                names = {each.name.lower() for each in ours if each.realm == service.realm}
                await service.dismiss_all(names)
            self._greetings = GREETINGS
            await self._greet()
        for service in services:
            await service.hold_all_clocks()

    async def _greet(self) -> None:
        """Ask the other nodes for their players, and send them ours."""
        try:
            await self._notify(NodeHello(self.name))
        except StoreError as error:
            self._greetings = GREETINGS
            _log.error("could not ask the other nodes for their players: %s", error)
            return
        await self._send_players_here()

    async def _send_players_here(self) -> None:
        for service in list(self._services):
            if people := service.people_here():
                await self.send_asides(service.realm, people)

    def _spare_others(self) -> None:
        """Take no other node for dead for the length of a lease: the store was away for all."""
        self._sparing_until = self._clock() + self.lease

    @property
    def _is_sparing(self) -> bool:
        return self._clock() < self._sparing_until

    async def reap(self) -> None:
        """Take over the claims of dead nodes, and remove their players.

        Raises:
            StoreError: the claims cannot be read or stored.
        """
        if self._has_ghosts:
            for claim in await self._store.read(nodes.all_claims):
                if claim.node == self.name:
                    self._remove_lost_player(claim.realm, claim.name, Parting.CUT_OFF)
        self._has_ghosts = True  # in case the claims are stored and the result is lost
        for claim in await self._store.write(nodes.reap, self.name):
            self._note_cut_off(claim)
            self._remove_lost_player(claim.realm, claim.name, Parting.CUT_OFF)
        self._has_ghosts = False

    async def close(self) -> None:
        """End the lease. The claims are left to another node, or to the next start."""
        self._lease_end = None
        self._unsubscribe()
        try:
            await self._store.write(nodes.renew_lease, self.name, 0)
        except StoreError as error:
            _log.error("could not end the lease: %s", error)

    async def add(self, service: NodeService) -> None:
        """Add a service to this node, and ask the other nodes for their players."""
        self._services.append(service)
        await self._notify(NodeHello(self.name))

    def remove(self, service: NodeService) -> None:
        """Remove a service from this node."""
        self._services.remove(service)

    async def claim(self, realm: str, name: str, *, asks: bool) -> bool:
        """Claim a name, and apply everything that is stored.

        Args:
            realm: the realm of the service.
            name: the name.
            asks: whether to ask another node that has the name to release it, and wait for that.

        Returns:
            Whether this node has the claim; always, if ``asks`` is set.

        Raises:
            PlaysElsewhereError: the other node didn't release the name.
            StoreError: the store cannot be used.
        """
        was_released = True
        try:
            if not asks and self._is_sparing and await self._is_elsewhere(realm, name):
                return False
            while owner := await self._store.write(nodes.claim, name, self.name, "", realm=realm):
                if owner.seen is not None:  # a dead node's, and ours now
                    self._note_cut_off(owner)
                    break
                if not asks:
                    return False
                if not was_released:
                    raise PlaysElsewhereError(name, owner.node)
                # Even without an answer, try once more: the other node may be dead, and its lease
                # may run out while we wait.
                was_released = await self._request_release(owner, name)
        except StoreError as error:
            if not self._store.is_exclusive:
                raise
            # No other node can have the name, so the player needn't wait for the store.
            _log.error("could not store a claim: %s", error, extra={"player": name})
            return True
        self._unsent_departures.discard((realm, name.lower()))
        if not self._store.is_exclusive:
            await self._store.catch_up()
        return True

    async def _is_elsewhere(self, realm: str, name: str) -> bool:
        """Return whether another node has the claim on a name."""
        return await self.owner(realm, name) not in (None, self.name)

    async def owner(self, realm: str, name: str) -> str | None:
        """Return the name of the node that has the claim on a player; None if none has.

        Raises:
            StoreError: the claim cannot be read.
        """
        return await self._store.read(nodes.owner, name, realm=realm)

    async def _request_release(self, owner: PlayerClaim, name: str) -> bool:
        """Ask the owner of a claim to release the name, and wait for at most the length of a lease.

        Returns:
            Whether the name was released.
        """
        import asyncio  # noqa: PLC0415  (a house needs none)

        key = owner.realm, name.lower()
        released = future()
        self._releases.setdefault(key, []).append(released)
        self._late_releases.discard(key)
        try:
            await self._notify(ReleaseRequest(owner.node, owner.realm, name))
            done, _ = await asyncio.wait([released], timeout=self.lease)
        finally:
            self._releases[key].remove(released)
            if not self._releases[key]:
                del self._releases[key]
                if not released.done():
                    self._late_releases.add(key)
        return bool(done)

    async def release(self, realm: str, name: str) -> None:
        """Release a name after the asides about it are sent, and notify the other nodes.

        If the player's departure could not be sent, the claim stays until `reap` has sent it.
        """
        async with self._aside_locks.holding(realm):
            pass
        key = realm, name.lower()
        if key in self._unsent_departures:
            self._unsent_departures.discard(key)
            self._has_ghosts = True
            return
        try:
            await self._store.write(nodes.release, name, self.name, realm=realm)
            if self.peers:
                await self._notify(NameReleased(realm, name))
        except StoreError as error:  # the claim ends with this node, or when that is reaped
            _log.error("could not release a claim: %s", error, extra={"player": name})

    async def send_asides(self, realm: str, asides: tuple[Aside, ...]) -> None:
        """Send asides, or the list of players, to the other nodes, after all earlier ones.

        They are split into several notes if one would be too long.
        """
        if not self._aside_locks.try_acquire(realm):  # not `async with`: this runs for most lines
            await self._aside_locks.acquire(realm)
        try:
            await self._send_asides(realm, asides)
        finally:
            self._aside_locks.release(realm)

    async def _send_asides(self, realm: str, asides: tuple[Aside, ...]) -> None:
        try:
            await self._notify(NodeAsides(self.name, realm, asides))
        except NoteTooLongError as error:
            if len(asides) == 1:
                kind = type(asides[0]).__name__
                _log.error("could not notify the other nodes of %s: %s", kind, error)
                return
            middle = len(asides) // 2
            await self._send_asides(realm, asides[:middle])
            await self._send_asides(realm, asides[middle:])
        except StoreError as error:
            self._greetings = GREETINGS
            gone = {each.player.lower() for each in asides if isinstance(each, Gone)}
            self._unsent_departures |= {(realm, name) for name in gone}
            _log.error("could not notify the other nodes: %s", error)

    async def _notify(self, note: Note) -> None:
        await self._store.publish_note(note, note_form)

    def _handle_note(self, note: object) -> None:
        """Handle a note. An exception must not reach the sender, which may be in this process."""
        try:
            self._act_on(note)
        except Exception:  # noqa: BLE001
            _log.exception("could not handle a note from another node")

    def _act_on(self, note: object) -> None:
        match note:
            case NotesMissed():
                self._spare_others()
                for service in self._services:
                    service.remove_stale_players()
                self._greetings = GREETINGS
                run_eagerly(self._greet())
            case NodeHello(node) if node != self.name:
                self.peers.add(node)
                for service in self._services:
                    run_eagerly(self.send_asides(service.realm, service.people_here()))
            case NodeAsides(node, realm, asides) if node != self.name:
                if node not in self.peers:  # it may have slept, and missed the players here
                    self.peers.add(node)
                    run_eagerly(self._send_players_here())
                for service in self._services_of(realm):
                    service.apply_remote_asides(asides, node)
            case ReleaseRequest(node, realm, name) if node == self.name:
                for service in self._services_of(realm):
                    run_eagerly(service.hand_over(name))
            case NameReleased(realm, name):
                key = realm, name.lower()
                resolve_all(self._releases.get(key, ()))
                if key in self._late_releases:
                    self._late_releases.discard(key)
                    self._remove_lost_player(realm, name, Parting.LOST)

    def _note_cut_off(self, claim: PlayerClaim) -> None:
        """Remember when a dead node had its last heartbeat, for `Presence` to hold the clocks."""
        if claim.seen is not None and self._services_of(claim.realm):
            self.cut_off[claim.realm, claim.name.lower()] = claim.seen

    def _remove_lost_player(self, realm: str, name: str, parting: Parting) -> None:
        for service in self._services_of(realm):
            service.remove_lost_player(name, parting)

    def _services_of(self, realm: str) -> list[NodeService]:
        return [service for service in self._services if service.realm == realm]
