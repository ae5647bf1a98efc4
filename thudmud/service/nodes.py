"""Nodes: services that share a store, and which of them has which players.

A name belongs to one node at a time, by a claim in the store. A node lives as long as its lease in
the store, which it renews. These invariants hold besides those in `thudmud.service.service`:

10. Only the node with the claim on a name stores that the player is away or back: it claims, stores
    and releases. (`Presence.note`)
11. After a claim, everything stored has to be applied here before anything is decided, since the
    previous node may just have stored that the player is away. (`Node.claim`)
12. A dead node is reaped by a living one. One transaction gives its claims to the reaper, which
    stores that clocks at their boards have stood still since the node renewed its lease last,
    stores and tells that the players are away, and releases the claims. So does a node, at once,
    that claims one of them who comes in there. A reaper that dies is
    reaped in turn. A player on whom nobody has a claim, as the node that asked for them has died
    before it had one, is seen out by that which left them to it. (`Node.reap`, `Presence.let_go`)
13. A node acts only while its own clock says that its lease holds. If it wakes up later, it
    dismisses its players, except those nobody has taken: while the store was away, no other node
    could. Where no other process can use the store, nobody is dismissed, and whoever writes renews
    the lease first: for how long no server lived is stored before anything else. (`Node.is_alive`,
    `Node.renew`, `Presence.dismiss`)
14. Asides reach other nodes in no certain order relative to events, and are lost while the link is
    down. Afterwards the nodes are asked who is on them, and players whom no node has are seen out.
    (`Presence.recount`)
15. Asides of one node reach the others in their order, and a name is released only after what was
    told of it: else it would come after what is told by the node that has the name next. A node
    that slept may tell something later yet. (`Node.tell`, `Node.release`, `Neighbours.hear`)

A claim is on a name in a realm, so each service of one node has to have a realm of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Generic, Protocol, Union

from thudmud.errors import ThudmudError
from thudmud.game.archive import NOTHING_FOUND, Found
from thudmud.game.asides import Aside, AsideT, Gone
from thudmud.game.events import Parting
from thudmud.game.options import SetOption
from thudmud.service.driving import Turns, future, now, settle
from thudmud.store import (
    LEASE,
    NotesMissed,
    OtherSettings,
    PlayerClaim,
    Store,
    StoreError,
    TooLong,
    nodes,
)
from thudmud.store.codec import Form
from thudmud.store.steady import seconds
from thudmud.values import ArrayValue

if TYPE_CHECKING:
    import asyncio


GREETINGS = 3
"""How often the other nodes are asked who is on them, half a lease apart, after a loss."""

_log = logging.getLogger(__name__)


class Elsewhere(ThudmudError):
    """A player is on another node, which does not release the name."""

    def __init__(self, name: str, node: str) -> None:
        super().__init__(name, node)
        self.name, self.node = name, node

    def __str__(self) -> str:
        return f"{self.name} plays on the node {self.node}, which does not let them go"


class NodeAsides(ArrayValue, Generic[AsideT], tag=True):
    """A note: asides that happened on a node, or who is on it."""

    node: str
    realm: str
    asides: tuple[AsideT, ...]


class NodeHello(ArrayValue, tag=True):
    """A note: a node has started, and asks the others who is on them."""

    node: str


class ReleaseRequest(ArrayValue, tag=True):
    """A note: a node is asked to release the name of a player who comes in on another."""

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
    """Return the form in which notes go to other processes."""
    crossing: Any = Union[tuple(Aside.crossing())]  # noqa: UP007  (they are not known here)
    notes = NodeAsides[crossing] | NodeHello | ReleaseRequest | NameReleased
    return Form(notes, {Found: NOTHING_FOUND, SetOption: SetOption()})


class Resident(Protocol):
    """A service, as the node sees it that it lives on.

    Attributes:
        realm: that of its boards.
    """

    realm: str

    def people_here(self) -> tuple[Aside, ...]:
        """Return who is here, where, and how they want to see things."""

    def hear(self, asides: Iterable[Aside], node: str) -> None:
        """Apply and tell what has happened on another node, or note who is there."""

    async def let_go(self, name: str) -> None:
        """Leave a player to another node, after their line in flight."""

    def lost(self, name: str, parting: Parting) -> None:
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
    """One of the nodes that share a store.

    Args:
        store: the store.
        name: its name for the others; made up if "".
        lease: how many seconds its lease lasts without renewal.
        settings: settings that all nodes must share, if there can be others.
        clock: returns seconds that also pass while the machine sleeps.

    Attributes:
        peers: the names of other nodes heard of.
        cut_off: by realm and lower-case name, players whose node is dead and whose clocks have to
            be held; since when.
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
        self.cut_off: dict[tuple[str, str], float] = {}
        self._store, self._settings, self._clock = store, settings, clock
        self._services: list[Resident] = []
        self._until: float | None = None
        self._unhear: Callable[[], None] = lambda: None
        self._greetings = 0
        """How often `live` still exchanges with the others who is on each node.

        Once is not enough, since nodes reconnect to the store at different moments.
        """
        self._spares = 0.0
        """Until when, by our clock, no other node is taken for dead; 0 if not set.

        While the store was away, the others could not renew their leases either.
        """
        self._has_ghosts = False
        """Whether we may have claims on players who are not here, whom `reap` sees out.

        They left while the store was away, or came to us by a transaction whose answer was lost.
        """
        self._releases: dict[tuple[str, str], list[asyncio.Future[None]]] = {}
        """By realm and name, the futures of those who wait for its release by another node."""
        self._telling = Turns()
        """By realm, the notes of asides go one after the other."""
        self._untold: set[tuple[str, str]] = set()
        """Realms and names of players who have left, which the others could not be told."""
        self._late: set[tuple[str, str]] = set()
        """Realms and names that were not released in time.

        If they are released after all, their players are seen out here, since nobody waits any
            more.
        """

    @property
    def is_alive(self) -> bool:
        """Whether its lease holds."""
        return self._until is not None and self._clock() < self._until

    async def open(self) -> None:
        """Begin the lease. If no other node lives, the time without any node is stored.

        Raises:
            OtherSettings: living nodes have other settings.
            StoreError: that cannot be stored.
        """
        await self._store.go_by_nodes()
        await self.renew()
        self._unhear = self._store.hear(self._hear, note_form)

    async def live(self) -> None:
        """Keep renewing the lease, and reap dead nodes."""
        import asyncio  # noqa: PLC0415  (a house needs none)

        has_failed = False
        while True:
            # To open it, to renew it or to reap may have taken long: then what is left of it might
            # run out before a pause and the next answer of the store.
            is_late = self._is_late
            if has_failed or not is_late:
                await asyncio.sleep(self.lease / (20 if has_failed else 2))
            try:
                await self.renew()
                if has_failed or is_late or self._is_late:
                    self._spare_others()
                has_failed = False
                if self._greetings:
                    self._greetings -= 1
                    await self._greet()
                if not self._is_sparing:
                    if self._spares:
                        self._spares = 0.0
                        for service in self._services:
                            service.recount()
                    await self.reap()
            except OtherSettings as error:  # they started while this node slept
                has_failed = True
                for service in self._services:
                    service.fail(error)
            except StoreError as error:
                has_failed, self._greetings = True, GREETINGS
                _log.error("it cannot be stored that the server runs: %s", error)
            except Exception:  # noqa: BLE001  (a node that stops renewing its lease dies)
                has_failed = True
                _log.exception("failed while the lease was renewed")

    @property
    def _is_late(self) -> bool:
        """Whether the lease lasts for little longer: it goes by when its renewal was begun."""
        return self._until is None or self._clock() > self._until - self.lease * 2 / 3

    async def renew(self) -> None:
        """Renew the lease once. If it had run out, dismiss players whom others may have by now.

        Players whose claims are still ours stay: from now on nobody can take them.

        Raises:
            OtherSettings: it had, and living nodes have other settings.
            StoreError: that cannot be stored.
        """
        begun = self._clock()
        is_known = await self._store.write(nodes.beat, self.name, self.lease, self._settings)
        before, now = self._until, self._clock()
        if before is None or (is_known and now < before):
            self._until = begun + self.lease
            return
        ours: list[PlayerClaim] = []
        if not self._store.is_exclusive:
            ours = [each for each in await self._store.read(nodes.people) if each.node == self.name]
            self._spare_others()
            self._has_ghosts = True  # of those who have left meanwhile
            _log.warning("the lease had run out", extra={"kept": len(ours)})
        self._until = begun + self.lease
        services = list(self._services)
        for service in services:
            service.expect_clocks_held()
        if not self._store.is_exclusive:
            # Dismiss before waiting for anything: players of other nodes must type nothing more
            # here.
            for service in services:
                names = {each.name.lower() for each in ours if each.realm == service.realm}
                await service.dismiss(names)
            self._greetings = GREETINGS
            await self._greet()
        for service in services:
            await service.hold_all_clocks()

    async def _greet(self) -> None:
        """Ask the other nodes who is on them, and tell them who is here."""
        try:
            await self._notify(NodeHello(self.name))
        except StoreError as error:
            self._greetings = GREETINGS
            _log.error("other nodes are not asked who is on them: %s", error)
            return
        await self._tell_who_is_here()

    async def _tell_who_is_here(self) -> None:
        for service in list(self._services):
            if people := service.people_here():
                await self.tell(service.realm, people)

    def _spare_others(self) -> None:
        """Take no other node for dead for a while, since the store was away for them as well."""
        self._spares = self._clock() + self.lease

    @property
    def _is_sparing(self) -> bool:
        return self._clock() < self._spares

    async def reap(self) -> None:
        """Take over the claims of dead nodes, and have their players seen out.

        Raises:
            StoreError: that cannot be stored.
        """
        if self._has_ghosts:
            for claim in await self._store.read(nodes.people):
                if claim.node == self.name:
                    self._lose(claim.realm, claim.name, Parting.CUT_OFF)
        self._has_ghosts = True  # until the result of this is known
        for claim in await self._store.write(nodes.reap, self.name):
            self._note_cut_off(claim)
            self._lose(claim.realm, claim.name, Parting.CUT_OFF)
        self._has_ghosts = False

    async def close(self) -> None:
        """End the lease. The claims stay for another node, or the next start, to deal with."""
        self._until = None
        self._unhear()
        try:
            await self._store.write(nodes.beat, self.name, 0)
        except StoreError as error:
            _log.error("it cannot be stored that the server stops: %s", error)

    async def add(self, service: Resident) -> None:
        """Add a service to this node, which then hears who is on the others."""
        self._services.append(service)
        await self._notify(NodeHello(self.name))

    def remove(self, service: Resident) -> None:
        """Remove a service from this node."""
        self._services.remove(service)

    async def claim(self, realm: str, name: str, *, asks: bool) -> bool:
        """Claim a name.

        Args:
            realm: the realm of the service.
            name: the name.
            asks: whether to ask a node that has it to release it, and wait for that.

        Returns:
            whether it is ours.

        Raises:
            Elsewhere: the other node did not release it.
            StoreError: the store cannot be used.
        """
        was_released = True
        try:
            if not asks and self._is_sparing and await self._is_elsewhere(realm, name):
                return False
            while owner := await self._store.write(nodes.claim, name, self.name, "", realm=realm):
                if owner.seen is not None:  # it is ours
                    self._note_cut_off(owner)
                    break
                if not asks:
                    return False
                if not was_released:
                    raise Elsewhere(name, owner.node)
                # A node that does not answer may be dead, and its lease may have run out by then.
                was_released = await self._ask(owner, name)
        except StoreError as error:
            if not self._store.is_exclusive:
                raise
            _log.error("not stored: %s", error, extra={"player": name})  # nobody else has it
            return True
        self._untold.discard((realm, name.lower()))
        if not self._store.is_exclusive:
            await self._store.catch_up()
        return True

    async def _is_elsewhere(self, realm: str, name: str) -> bool:
        """Return whether another node has the claim on a name."""
        return await self.owner(realm, name) not in (None, self.name)

    async def owner(self, realm: str, name: str) -> str | None:
        """Return the node that has the claim on a name; None if none has.

        Raises:
            StoreError: it cannot be read.
        """
        return await self._store.read(nodes.owner, name, realm=realm)

    async def _ask(self, owner: PlayerClaim, name: str) -> bool:
        """Ask the node that has a name to release it; return whether it did.

        Waits at most for the length of a lease.
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
                    self._late.add(key)  # if it is released later, see the player out
        return bool(done)

    async def release(self, realm: str, name: str) -> None:
        """Release a name once all is told that has happened under it, and tell who waits for it.

        If the others could not be told that its player has left, it is released when they are.
        """
        async with self._telling.of(realm):
            pass
        key = realm, name.lower()
        if key in self._untold:
            self._untold.discard(key)
            self._has_ghosts = True
            return
        try:
            await self._store.write(nodes.release, name, self.name, realm=realm)
            if self.peers:
                await self._notify(NameReleased(realm, name))
        except StoreError as error:  # it is released when this node ends or is reaped
            _log.error("not stored: %s", error, extra={"player": name})

    async def tell(self, realm: str, asides: tuple[Aside, ...]) -> None:
        """Tell the other nodes asides that happened, or who is here, after those told before.

        Split into several notes if one would be too long.
        """
        if not self._telling.begin(realm):  # for most lines, so no `async with`
            await self._telling.take(realm)
        try:
            await self._tell(realm, asides)
        finally:
            self._telling.leave(realm)

    async def _tell(self, realm: str, asides: tuple[Aside, ...]) -> None:
        try:
            await self._notify(NodeAsides(self.name, realm, asides))
        except TooLong as error:
            if len(asides) == 1:
                kind = type(asides[0]).__name__
                _log.error("other nodes are not told of %s: %s", kind, error)
                return
            middle = len(asides) // 2
            await self._tell(realm, asides[:middle])
            await self._tell(realm, asides[middle:])
        except StoreError as error:
            self._greetings = GREETINGS
            gone = {each.player.lower() for each in asides if isinstance(each, Gone)}
            self._untold |= {(realm, name) for name in gone}
            _log.error("other nodes are not told: %s", error)

    async def _notify(self, note: Note) -> None:
        await self._store.notify(note, note_form)

    def _hear(self, note: object) -> None:
        """Act on a note of another node. An error here must not reach the sender."""
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
                if node not in self.peers:  # it may have slept while people came in here
                    self.peers.add(node)
                    now(self._tell_who_is_here())
                for service in self._of(realm):
                    service.hear(asides, node)
            case ReleaseRequest(node, realm, name) if node == self.name:
                for service in self._of(realm):
                    now(service.let_go(name))
            case NameReleased(realm, name):
                key = realm, name.lower()
                settle(self._releases.get(key, ()))
                if key in self._late:
                    self._late.discard(key)
                    self._lose(realm, name, Parting.LOST)

    def _note_cut_off(self, claim: PlayerClaim) -> None:
        """Note since when the player of a dead node has been cut off, for `Presence`."""
        if claim.seen is not None and self._of(claim.realm):
            self.cut_off[claim.realm, claim.name.lower()] = claim.seen

    def _lose(self, realm: str, name: str, parting: Parting) -> None:
        for service in self._of(realm):
            service.lost(name, parting)

    def _of(self, realm: str) -> list[Resident]:
        return [service for service in self._services if service.realm == realm]
