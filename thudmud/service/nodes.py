"""Nodes: services that share a store, and which of them has whom.

A name belongs to one node at a time, by a claim in the store. A node lives as long as the lease
that it has there, and renews it. What holds besides what `thudmud.service.service` says:

10. Only the node that has the claim on a name stores that its player is away, or back: it claims,
    stores, releases. (`Presence.note`)
11. After a claim, everything that is stored has to be applied here before anything is decided: the
    node before may have stored a moment ago that the player is away. (`Node.claim`)
12. A node that has died is reaped by one that lives. One transaction gives its claims to the
    reaper, which stores and tells that the players are away, and releases them. A reaper that dies
    is reaped likewise. (`Node.reap`)
13. A node acts only while its own clock says that its lease holds. If it wakes up after that, it
    dismisses its players, but for those whom nobody has taken: if the store was away, no other node
    could. None of this is needed where no other process can serve from the store.
    (`Node.is_alive`, `Node.renew`, `Presence.dismiss`)
14. What is only told, and not stored, reaches other nodes in no certain order against events, and
    is lost while the link is. After that they are asked who is on them, and whoever nobody has is
    seen out. (`Presence.recount`)

A claim is on a name in a realm, so each service of one node has to have a realm of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from secrets import token_hex
from typing import TYPE_CHECKING, Protocol

from thudmud.errors import ThudmudError
from thudmud.play.asides import Aside
from thudmud.service.driving import future, now, settle
from thudmud.store import LEASE, NotesMissed, OtherSettings, PlayerClaim, Store, StoreError, TooLong
from thudmud.store.codec import Form, form_of
from thudmud.store.steady import seconds
from thudmud.values import value

if TYPE_CHECKING:
    import asyncio


GREETINGS = 3
"""How often the others are asked who is on them, half a lease apart, after something was missed."""

_log = logging.getLogger(__name__)


class Elsewhere(ThudmudError):
    """A player is on another node, which does not release their name."""

    def __init__(self, name: str, node: str) -> None:
        super().__init__(name, node)
        self.name, self.node = name, node

    def __str__(self) -> str:
        return f"{self.name} plays on the node {self.node}, which does not let them go"


@value
class NodeAsides:
    """A note: what has happened on a node and is only told, or who is on it."""

    node: str
    realm: str
    asides: tuple[Aside, ...]


@value
class NodeHello:
    """A note: a node has begun, and asks the others who is on them."""

    node: str


@value
class ReleaseRequest:
    """A note: a node is asked to release a name, whose player comes in on another."""

    node: str
    realm: str
    name: str


@value
class NameReleased:
    """A note: a name is on no node any more."""

    realm: str
    name: str


Note = NodeAsides | NodeHello | ReleaseRequest | NameReleased


@cache
def note_form() -> Form:
    """Return the form of notes, in which other processes are told them."""
    return form_of(Note)


class Resident(Protocol):
    """A service, as the node sees it that it lives on.

    Attributes:
        realm: that of its boards.
    """

    realm: str

    def people_here(self) -> tuple[Aside, ...]:
        """Return who is here, where, and how they want to see things."""

    def hear(self, asides: Iterable[Aside]) -> None:
        """Apply and tell what has happened on another node, or note who is there."""

    async def let_go(self, name: str) -> None:
        """Leave a player to another node, after their line in flight."""

    def lost(self, name: str) -> None:
        """See out a player whom no node has any more, unless they are here."""

    def recount(self) -> None:
        """See out those who have left other nodes while nothing was heard of these."""

    async def dismiss(self, kept: Collection[str] = ()) -> None:
        """Dismiss all who are here but for some, whose names are in lower case."""

    def expect_clocks_held(self) -> None:
        """Store nothing at a board before it is noted there that its clock stood."""

    async def hold_all_clocks(self) -> None:
        """Note that clocks stood still while no server could store anything."""

    def fail(self, error: Exception) -> None:
        """Let everybody know that nothing can be stored here any more."""


class Node:
    """One of those that share a store.

    Args:
        store: the store.
        name: what the others know it by; made up if it has none.
        lease: for how many seconds it lives unless it says again that it does.
        settings: what all nodes have to go by, if there can be others.
        clock: returns seconds from any beginning, which go on while the machine sleeps.

    Attributes:
        peers: the other nodes that have been heard of.
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
        self.name = name or f"node-{token_hex(4)}"
        self.lease = lease
        self.peers: set[str] = set()
        self._store, self._settings, self._clock = store, settings, clock
        self._services: list[Resident] = []
        self._until: float | None = None
        self._greetings = 0
        """How often `live` still tells the others who is here, and asks who is on them.

        Once would do if all heard each other again at the same moment, after the store was away.
        """
        self._spares = 0.0
        """Until when no other node is taken for dead, by our clock; 0 when they are again.

        While the store was away, they could not renew their leases either.
        """
        self._has_ghosts = False
        """Whether we may have claims on players who are not here; `reap` sees those out.

        They have left while the store was away, or were given to us by a transaction whose answer
        was lost.
        """
        self._releases: dict[tuple[str, str], list[asyncio.Future[None]]] = {}
        """Who waits until another node releases a name, by the realm and the name."""
        self._late: set[tuple[str, str]] = set()
        """Names that were not released in time, by the realm and the name.

        If they still are, their players are seen out here: nobody waits for them any more.
        """

    @property
    def is_alive(self) -> bool:
        """Whether its lease holds."""
        return self._until is not None and self._clock() < self._until

    async def open(self) -> None:
        """Begin the lease. If no other node lives, the time in which none did is stored.

        Raises:
            OtherSettings: nodes that live go by other settings.
            StoreError: that cannot be stored.
        """
        await self._store.go_by_nodes()
        await self.renew()
        self._unhear = self._store.hear(self._hear, note_form)

    async def live(self) -> None:
        """Renew the lease for ever, and reap nodes that have died."""
        import asyncio  # noqa: PLC0415  (a house needs none)

        is_behind = False
        while True:
            await asyncio.sleep(self.lease / (20 if is_behind else 2))
            begun = self._clock()
            try:
                await self.renew()
                is_late = self._clock() > begun + self.lease / 3  # it lasts for little longer
                if is_behind or is_late:
                    self._spare_others()
                is_behind = is_late
                if self._greetings:
                    self._greetings -= 1
                    await self._greet()
                if not self._is_sparing:
                    if self._spares:
                        self._spares = 0.0
                        for service in self._services:
                            service.recount()
                    await self.reap()
            except OtherSettings as error:  # they have begun while this node slept
                for service in self._services:
                    service.fail(error)
            except StoreError as error:
                is_behind, self._greetings = True, GREETINGS
                _log.error("it cannot be stored that the server runs: %s", error)
            except Exception:  # noqa: BLE001  (a node that does not renew its lease is dead)
                _log.exception("failed while the lease was renewed")

    async def renew(self) -> None:
        """Renew the lease once. If it had run out, players are dismissed: others may have them.

        Those stay whose claims are ours still: nobody takes one from us while we live again.

        Raises:
            OtherSettings: it had, and nodes that live go by other settings.
            StoreError: that cannot be stored.
        """
        begun = self._clock()
        is_known = await self._store.beat(self.name, self.lease, self._settings)
        before, now = self._until, self._clock()
        if before is None or (is_known and now < before):
            self._until = begun + self.lease
            return
        ours: list[PlayerClaim] = []
        if not self._store.is_exclusive:
            ours = [each for each in await self._store.people() if each.node == self.name]
            self._spare_others()
            self._has_ghosts = True  # of those who have left meanwhile
            _log.warning("the lease had run out", extra={"kept": len(ours)})
        self._until = begun + self.lease
        services = list(self._services)
        for service in services:
            service.expect_clocks_held()
        if not self._store.is_exclusive:
            # Before anything is waited for: who is another's by now may type nothing more here.
            for service in services:
                names = {each.name.lower() for each in ours if each.realm == service.realm}
                await service.dismiss(names)
            self._greetings = GREETINGS
            await self._greet()
        for service in services:
            await service.hold_all_clocks()

    async def _greet(self) -> None:
        """Ask the others who is on them, and tell them who is here."""
        try:
            await self._notify(NodeHello(self.name))
        except StoreError as error:
            self._greetings = GREETINGS
            _log.error("other nodes are not asked who is on them: %s", error)
            return
        for service in list(self._services):
            if people := service.people_here():
                await self.tell(service.realm, people)

    def _spare_others(self) -> None:
        """Take no other node for dead for a while: the store was away, and so for them as well."""
        self._spares = self._clock() + self.lease

    @property
    def _is_sparing(self) -> bool:
        return self._clock() < self._spares

    async def reap(self) -> None:
        """Take over the claims of nodes that have died, and have their players seen out.

        Raises:
            StoreError: that cannot be stored.
        """
        if self._has_ghosts:
            for claim in await self._store.people():
                if claim.node == self.name:
                    self._lose(claim.realm, claim.name)
        self._has_ghosts = True  # until what came of this is known
        for claim in await self._store.reap(self.name):
            self._lose(claim.realm, claim.name)
        self._has_ghosts = False

    async def close(self) -> None:
        """End the lease. The claims stay: another node, or the next start, sees to the players."""
        self._until = None
        self._unhear()
        try:
            await self._store.beat(self.name, 0)
        except StoreError as error:
            _log.error("it cannot be stored that the server stops: %s", error)

    async def add(self, service: Resident) -> None:
        """Add a service to this node; it is told who is on the others."""
        self._services.append(service)
        await self._notify(NodeHello(self.name))

    def remove(self, service: Resident) -> None:
        """Remove a service from this node."""
        self._services.remove(service)

    async def claim(self, realm: str, name: str, *, asks: bool) -> bool:
        """Claim a name.

        Args:
            realm: that of the service whose player it is.
            name: the name.
            asks: whether a node that has it is asked to release it, and waited for.

        Returns:
            whether it is ours.

        Raises:
            Elsewhere: it was not released.
            StoreError: whose it is cannot be told.
        """
        was_released = True
        try:
            if not asks and self._is_sparing and await self._is_elsewhere(realm, name):
                return False
            while owner := await self._store.claim(name, self.name, "", realm=realm):
                if not asks:
                    return False
                if not was_released:
                    raise Elsewhere(name, owner.node)
                # If the node does not answer, it may be dead, and its lease run out by then.
                was_released = await self._ask(owner, name)
        except StoreError as error:
            if not self._store.is_exclusive:
                raise
            _log.error("not stored: %s", error, extra={"player": name})  # nobody else has it
            return True
        if not self._store.is_exclusive:
            await self._store.catch_up()
        return True

    async def _is_elsewhere(self, realm: str, name: str) -> bool:
        """Return whether another node has a name, or had it when it was last heard of."""
        return any(
            claim.realm == realm and claim.name.lower() == name.lower() and claim.node != self.name
            for claim in await self._store.people()
        )

    async def _ask(self, owner: PlayerClaim, name: str) -> bool:
        """Ask the node that has a name to release it; return whether it has.

        That is waited for no longer than a lease lasts.
        """
        import asyncio  # noqa: PLC0415  (a house needs none)

        key = owner.realm, name.lower()
        released = future()
        self._releases.setdefault(key, []).append(released)
        self._late.discard(key)
        try:
            await self._notify(ReleaseRequest(owner.node, owner.realm, name))
            done, _ = await asyncio.wait([released], timeout=self.lease)
        finally:
            self._releases[key].remove(released)
            if not self._releases[key]:
                del self._releases[key]
                if not released.done():
                    self._late.add(key)  # if it is released after all, see the player out
        return bool(done)

    async def release(self, realm: str, name: str) -> None:
        """Release a name; a note tells whoever waits for it."""
        try:
            await self._store.release(name, self.name, realm=realm)
            if self.peers:
                await self._notify(NameReleased(realm, name))
        except StoreError as error:  # it is let go when this node ends, or comes back
            _log.error("not stored: %s", error, extra={"player": name})

    async def tell(self, realm: str, asides: tuple[Aside, ...]) -> None:
        """Tell the other nodes what has happened that is only told, or who is here.

        That is done in several notes if one would be too long.
        """
        try:
            await self._notify(NodeAsides(self.name, realm, asides))
        except TooLong as error:
            if len(asides) == 1:
                _log.error("other nodes are not told: %s", error)
                return
            middle = len(asides) // 2
            await self.tell(realm, asides[:middle])
            await self.tell(realm, asides[middle:])
        except StoreError as error:
            self._greetings = GREETINGS
            _log.error("other nodes are not told: %s", error)

    async def _notify(self, note: Note) -> None:
        await self._store.notify(note, note_form)

    def _hear(self, note: object) -> None:
        """Act on a note of another node. An error here must not reach the node that sent it."""
        try:
            self._act_on(note)
        except Exception:  # noqa: BLE001
            _log.exception("what another node has said could not be taken note of")

    def _act_on(self, note: object) -> None:
        match note:
            case NotesMissed():
                self._spare_others()
                for service in self._services:
                    service.recount()
                self._greetings = GREETINGS
                now(self._greet())
            case NodeHello(node) if node != self.name:
                self.peers.add(node)
                for service in self._services:
                    now(self.tell(service.realm, service.people_here()))
            case NodeAsides(node, realm, asides) if node != self.name:
                self.peers.add(node)
                for service in self._of(realm):
                    service.hear(asides)
            case ReleaseRequest(node, realm, name) if node == self.name:
                for service in self._of(realm):
                    now(service.let_go(name))
            case NameReleased(realm, name):
                key = realm, name.lower()
                settle(self._releases.get(key, ()))
                if key in self._late:
                    self._late.discard(key)
                    self._lose(realm, name)

    def _lose(self, realm: str, name: str) -> None:
        for service in self._of(realm):
            service.lost(name)

    def _of(self, realm: str) -> list[Resident]:
        return [service for service in self._services if service.realm == realm]
