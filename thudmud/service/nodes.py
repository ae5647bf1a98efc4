"""Nodes: services that share a store, and which of them has whom.

A name belongs to one node at a time, by a claim in the store, and a node lives by a lease there
that it renews. What holds besides what `thudmud.service.service` says:

10. Whoever stores that a player is away, or back, has the claim on their name: claim, store, let
    go. (`Service._note_presence`)
11. After a claim, all that is stored has to have come in here before anything is decided: the last
    node may have stored a moment ago that they are away. (`Service._claim`)
12. A node that dies is reaped by one that lives: in one transaction its claims are the reaper's,
    who stores that its players are away, tells it, and lets go. A reaper that dies is reaped
    likewise. (`Node.reap`)
13. A node acts only while its own clock says that its lease holds. If it has slept through that, it
    dismisses its players when it wakes: others may have them by now. Where nobody else can serve
    from the store, none of that is needed. (`Node.is_alive`, `Node.renew`, `Service.dismiss`)
14. What is only told has no order against events between nodes.

A claim is on a name in a realm: of services on one node, each is to have a realm of its own.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from secrets import token_hex
from typing import TYPE_CHECKING, Protocol

from thudmud.errors import ThudmudError
from thudmud.play.asides import Aside, Entered
from thudmud.service.driving import future, now
from thudmud.store import LEASE, PlayerClaim, Store, StoreError

if TYPE_CHECKING:
    import asyncio

_log = logging.getLogger(__name__)


def seconds() -> float:
    """Return seconds that go on while the machine sleeps, where there is such a clock."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


class Elsewhere(ThudmudError):
    """Somebody plays on another node, which does not let them go."""

    def __init__(self, name: str, node: str) -> None:
        super().__init__(name, node)
        self.name, self.node = name, node

    def __str__(self) -> str:
        return f"{self.name} plays on the node {self.node}, which does not let them go"


@dataclass(frozen=True, slots=True)
class NodeAsides:
    """What has happened on a node that is only told, or who is on it: a note to the others."""

    node: str
    realm: str
    asides: tuple[Aside, ...]


@dataclass(frozen=True, slots=True)
class NodeHello:
    """A node has begun, and asks the others who is on them."""

    node: str


@dataclass(frozen=True, slots=True)
class LetGo:
    """A node is asked to let somebody go, who comes in on another."""

    node: str
    realm: str
    name: str


@dataclass(frozen=True, slots=True)
class Freed:
    """Somebody is on no node any more."""

    realm: str
    name: str


class NodeService(Protocol):
    """What a node asks of a service that lives on it."""

    realm: str

    def people_here(self) -> tuple[Entered, ...]:
        """Return who is here, and where."""

    def hear(self, asides: Iterable[Aside]) -> None:
        """Take note of what has happened on another node, or of who is there."""

    async def let_go(self, name: str) -> None:
        """Let somebody go on on another node."""

    def lost(self, name: str) -> None:
        """See somebody out, in the background, whom no node has any more."""

    async def dismiss(self) -> None:
        """Dismiss all who are here: they may have been taken for lost."""


class Node:
    """One of those that share a store.

    Args:
        store: the store.
        name: what the others know it by; made up if it has none.
        lease: for how many seconds it lives unless it says again that it does.
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
        clock: Callable[[], float] = seconds,
    ) -> None:
        self.name = name or f"node-{token_hex(4)}"
        self.lease = lease
        self.peers: set[str] = set()
        self._store, self._clock = store, clock
        self._services: list[NodeService] = []
        self._until: float | None = None
        self._freed: dict[tuple[str, str], list[asyncio.Future[None]]] = {}
        """Those who wait here until somebody is let go, by realm and name."""
        self._late: set[tuple[str, str]] = set()
        """Those whom another node may still let go, though nobody waits for it any more."""

    @property
    def is_alive(self) -> bool:
        """Whether its lease holds."""
        return self._until is not None and self._clock() < self._until

    async def open(self) -> None:
        """Begin to live. If no other node lives, the time in which none did is stored.

        Raises:
            StoreError: that cannot be stored.
        """
        await self.renew()
        self._unhear = self._store.hear(self._hear)

    async def live(self) -> None:
        """Renew the lease time and again, and see to those of nodes that have died."""
        import asyncio  # noqa: PLC0415  (a house needs none)

        while True:
            await asyncio.sleep(self.lease / 2)
            try:
                await self.renew()
                await self.reap()
            except StoreError as error:
                _log.error("it cannot be stored that the server runs: %s", error)
            except Exception:  # noqa: BLE001  (a node that does not renew its lease is dead)
                _log.exception("failed while the lease was renewed")

    async def renew(self) -> None:
        """Renew the lease once. If it had run out, others may have our players: they are dismissed.

        Raises:
            StoreError: that cannot be stored.
        """
        begun = self._clock()
        is_known = await self._store.beat(self.name, self.lease)
        before, self._until = self._until, begun + self.lease
        is_late = before is not None and (not is_known or begun >= before)
        if is_late and not self._store.is_exclusive:
            _log.warning("the lease had run out, so all players have to come in again")
            for service in list(self._services):
                await service.dismiss()
            await self._store.notify(NodeHello(self.name))

    async def reap(self) -> None:
        """Take over the claims of nodes that have died, and have their players seen out.

        Raises:
            StoreError: that cannot be stored.
        """
        for claim in await self._store.reap(self.name):
            self._lose(claim.realm, claim.name)

    async def close(self) -> None:
        """Live no longer. Our claims stay: another node, or the next, sees to the players."""
        self._until = None
        self._unhear()
        try:
            await self._store.beat(self.name, 0)
        except StoreError as error:
            _log.error("it cannot be stored that the server stops: %s", error)

    async def add(self, service: NodeService) -> None:
        """Have a service live on this node; it is told who is on the others."""
        self._services.append(service)
        await self._store.notify(NodeHello(self.name))

    def remove(self, service: NodeService) -> None:
        """Have a service live here no longer."""
        self._services.remove(service)

    async def claim(self, service: NodeService, name: str, *, asks: bool) -> bool:
        """Claim a name.

        Args:
            service: whose player it is.
            name: the name.
            asks: whether a node that has it is asked to let go, and waited for.

        Returns:
            whether it is ours.

        Raises:
            Elsewhere: it was not let go.
            StoreError: that is not known.
        """
        realm = service.realm
        try:
            while owner := await self._store.claim(name, self.name, "", realm=realm):
                if not asks:
                    return False
                await self._ask(owner, name)
        except StoreError as error:
            if not self._store.is_exclusive:
                raise
            _log.error("not stored: %s", error, extra={"player": name})  # nobody else has it
            return True
        if not self._store.is_exclusive:
            await self._store.catch_up()
        return True

    async def _ask(self, owner: PlayerClaim, name: str) -> None:
        """Ask the node that has somebody to let them go, and wait until it has.

        Raises:
            Elsewhere: it has not, in the time after which it would be dead.
        """
        import asyncio  # noqa: PLC0415  (a house needs none)

        key = owner.realm, name.lower()
        freed = future()
        self._freed.setdefault(key, []).append(freed)
        self._late.discard(key)
        try:
            await self._store.notify(LetGo(owner.node, owner.realm, name))
            done, _ = await asyncio.wait([freed], timeout=self.lease)
        finally:
            self._freed[key].remove(freed)
            if not self._freed[key]:
                del self._freed[key]
                if not freed.done():
                    self._late.add(key)  # if they are let go after all, nobody else sees to them
        if not done:
            raise Elsewhere(name, owner.node)

    async def release(self, service: NodeService, name: str) -> None:
        """Let a name go; a note tells who waits for it."""
        try:
            await self._store.release(name, self.name, realm=service.realm)
        except StoreError as error:  # it is let go when this node ends, or comes back
            _log.error("not stored: %s", error, extra={"player": name})
            return
        if self.peers:
            await self._store.notify(Freed(service.realm, name))

    async def tell(self, service: NodeService, asides: tuple[Aside, ...]) -> None:
        """Tell the other nodes what has happened that is only told, or who is here."""
        await self._store.notify(NodeAsides(self.name, service.realm, asides))

    def _hear(self, note: object) -> None:
        """Take note of what another node says. Who says it must not suffer by our mistakes."""
        try:
            self._heed(note)
        except Exception:  # noqa: BLE001
            _log.exception("what another node has said could not be taken note of")

    def _heed(self, note: object) -> None:
        match note:
            case NodeHello(node) if node != self.name:
                self.peers.add(node)
                for service in self._services:
                    now(self.tell(service, service.people_here()))
            case NodeAsides(node, realm, asides) if node != self.name:
                self.peers.add(node)
                for service in self._of(realm):
                    service.hear(asides)
            case LetGo(node, realm, name) if node == self.name:
                for service in self._of(realm):
                    now(service.let_go(name))
            case Freed(realm, name):
                key = realm, name.lower()
                for freed in self._freed.get(key, ()):
                    if not freed.done():
                        freed.set_result(None)
                if key in self._late:
                    self._late.discard(key)
                    self._lose(realm, name)

    def _lose(self, realm: str, name: str) -> None:
        for service in self._of(realm):
            service.lost(name)

    def _of(self, realm: str) -> list[NodeService]:
        return [service for service in self._services if service.realm == realm]
