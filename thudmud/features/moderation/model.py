"""Keeping order: the operators, and their sanctions against players and networks.

The server stores them. Where boards are part of another MUD, the MUD keeps order, and `Hall.order`
is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from enum import Enum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import TYPE_CHECKING, NamedTuple

from thudmud.game.archive import Lookup
from thudmud.game.asides import Aside, StoredAside, aside
from thudmud.game.telling import Telling
from thudmud.values import value

if TYPE_CHECKING:
    from thudmud.game.hall import Hall

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

WIDEST = {4: 8, 6: 20}
"""The shortest prefixes, by version of IP, of networks that can be banned. Wider ones would keep
out far more than the people meant."""


class Measure(Enum):
    """A kind of sanction. The values are stored, and typed by operators."""

    MUTE = "mute"
    KICK = "kick"
    BAN = "ban"


@value
class Sanction:
    """A sanction against a player or a network.

    Attributes:
        measure: what is done.
        whom: the name of a player, or a network as `ipaddress` prints it.
        by: the name of the operator; "" if they have no account any more.
        since: when it began, in seconds since the epoch.
        until: when it ends; None if it has no end.
        why: the reason, as typed after "because"; "" if none was given.
    """

    measure: Measure
    whom: str
    by: str = ""
    since: float = 0.0
    until: float | None = None
    why: str = ""

    def holds(self, now: float) -> bool:
        """Whether it still holds at a time."""
        return self.until is None or now < self.until


@value
class Order:
    """The operators, and the sanctions that hold or held until recently.

    Attributes:
        operators: the names of the operators, in lower case.
        mutes: by the lower-case name of the muted player.
        bans: by the lower-case name of the banned player.
        networks: bans of networks, by network.
    """

    operators: frozenset[str] = frozenset()
    mutes: Mapping[str, Sanction] = field(default_factory=dict)
    bans: Mapping[str, Sanction] = field(default_factory=dict)
    networks: Mapping[Network, Sanction] = field(default_factory=dict)

    @property
    def banned(self) -> set[str]:
        """The names and the networks that are banned."""
        return {each.whom for each in (*self.bans.values(), *self.networks.values())}

    def mute(self, name: str, now: float) -> Sanction | None:
        """Return the mute that holds against a player, if any."""
        found = self.mutes.get(name.lower())
        return found if found and found.holds(now) else None

    def ban(self, name: str, now: float) -> Sanction | None:
        """Return the ban that holds against a name, if any."""
        found = self.bans.get(name.lower())
        return found if found and found.holds(now) else None

    def ban_from(self, address: Address | None, now: float) -> Sanction | None:
        """Return the ban that holds against an address, if any."""
        if address is None:
            return None
        found = (each for network, each in self.networks.items() if address in network)
        return next((each for each in found if each.holds(now)), None)

    def all_bans(self, now: float) -> list[Sanction]:
        """Return all bans that hold, the latest first."""
        found = (*self.bans.values(), *self.networks.values())
        return sorted((each for each in found if each.holds(now)), key=lambda each: -each.since)

    def all_mutes(self, now: float) -> list[Sanction]:
        """Return all mutes that hold, the latest first."""
        found = (each for each in self.mutes.values() if each.holds(now))
        return sorted(found, key=lambda each: -each.since)


def network_of(words: str) -> Network | None:
    """Return the network that words name, where an address is a network of one; None if none."""
    try:
        network = ip_network(words, strict=False)
    except ValueError:
        return None
    mapped = network.network_address
    if isinstance(mapped, IPv6Address) and mapped.ipv4_mapped and network.prefixlen >= 96:
        return ip_network((mapped.ipv4_mapped, network.prefixlen - 96))
    return network


_OURSELVES = ip_network("127.0.0.0/8"), ip_network("::1/128")
"""The networks of this machine itself, from which a proxy on it connects, too."""


def is_this_machine(words: str) -> bool:
    """Whether words name this machine itself: an address of it, or a network that has one."""
    network = network_of(words)
    return network is not None and any(
        each.version == network.version and each.overlaps(network) for each in _OURSELVES
    )


def network_text(network: Network) -> str:
    """Return a network as it is typed: a single address without its prefix."""
    is_one = network.prefixlen == network.max_prefixlen
    return str(network.network_address if is_one else network)


class OfOperators(StoredAside, Aside):
    """Something an operator did. It is stored or logged before it is told."""

    __slots__ = ()


@aside
class Announced(OfOperators):
    """An operator told everybody something."""

    crosses = True

    text: str

    def happen(self, hall: Hall) -> Telling:
        return Telling(self, tuple(hall.people))


@value
class OfSanction(OfOperators):
    """A sanction is imposed or lifted. Told to the player concerned and to all operators."""

    sanction: Sanction
    crosses = True

    @property
    def involves(self) -> set[str]:
        return {self.player, self.sanction.whom}

    def happen(self, hall: Hall) -> Telling:
        told_of_it = hall.operators_and(self.player)
        is_ban = self.sanction.measure is Measure.BAN
        if not is_ban and self.sanction.whom in hall.people:
            told_of_it = *told_of_it, self.sanction.whom
        return Telling(self, tuple(dict.fromkeys(told_of_it)))


@aside
class Sanctioned(OfSanction):
    """An operator imposed a sanction."""


@aside
class Lifted(OfSanction):
    """An operator lifted a sanction, which is told as it was imposed."""


@aside
class ReportClosed(OfOperators):
    """An operator closed a report. Told to all operators."""

    crosses = True

    number: int

    def happen(self, hall: Hall) -> Telling:
        return Telling(self, hall.operators_and(self.player))


@aside
class ReportsClosed(OfOperators):
    """An operator closed all reports of a kind that were open by then. Told to all operators.

    Attributes:
        player: the operator.
        last: the number of the last one that may be among them.
        how_many: how many there were.
        about: the player that they are about; "" for any.
        by: the player who made them; "" for any.
    """

    crosses = True

    last: int
    how_many: int
    about: str = ""
    by: str = ""

    def happen(self, hall: Hall) -> Telling:
        return Telling(self, hall.operators_and(self.player))


@aside
class ShutdownTold(OfOperators):
    """Everybody on this node, or one player, is told that the server will shut down.

    Attributes:
        player: the operator who asked for it.
        at: when it stops, in seconds since the epoch.
        seconds: how many seconds remain; None if the shutdown is cancelled.
        why: the reason, if one was given.
        to: the only player who is told; "" for everybody.
    """

    at: float
    seconds: float | None
    why: str = ""
    to: str = ""

    def happen(self, hall: Hall) -> Telling:
        if self.to:
            return Telling(self, (self.to,))
        hall.plan_shutdown(None if self.seconds is None else self)
        return Telling(self, tuple(hall.people))


@aside
class ReportMade(StoredAside, Aside):
    """A player reported another. ``said`` is what they last heard from that player.

    Operators are told by `ReportsTold`.
    """

    crosses = is_limited = True

    about: str
    text: str
    said: tuple[str, ...] = ()

    def abroad(self) -> Aside:
        return replace(self, said=())  # it is stored, and may be long


@aside
class ReportsTold(Aside):
    """The operators here are told of reports that were made. ``player`` is ""."""

    reports: tuple[ReportMade, ...]

    def happen(self, hall: Hall) -> Telling:
        return Telling(self, hall.operators_and(self.player))


MOST_REPORTS = 1000
"""How many reports may be open in all."""


class Report(NamedTuple):
    """A report of a player to the operators.

    Attributes:
        number: its number, from 1.
        at: when it was made, in seconds since the epoch.
        by: who made it; "" if their name has been erased.
        about: the player it is about.
        text: what it says.
        said: what the reporter last heard from that player, as the server recorded it.
        is_open: whether no operator has closed it yet.
    """

    number: int
    at: float
    by: str
    about: str
    text: str
    said: tuple[str, ...] = ()
    is_open: bool = True


class Reported(NamedTuple):
    """What is known of a player before a report about them.

    Attributes:
        name: their name; None if no player has ever had it here.
        open_by: how many reports by the reporter are open.
        open: how many are open in all.
        written: the last lines that the reporter has been written by them.
    """

    name: str | None
    open_by: int = 0
    open: int = 0
    written: tuple[str, ...] = ()


@value
class ReportsLookup(Lookup[tuple[Report, ...]]):
    """All open reports, the latest first."""


@value
class ReportedLookup(Lookup[Reported]):
    """The player with a name, in any case, before a report about them."""

    name: str
    by: str
