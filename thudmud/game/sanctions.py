"""The operators, and their sanctions against players and networks.

The server stores and enforces them, whether or not operators have commands for that in the game.
Where boards are part of another MUD, the MUD keeps order, and `Hall.order` is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

from msgspec import field

from thudmud.errors import RefusedError
from thudmud.game.refusals import Refusal
from thudmud.values import Value

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


class Measure(Enum):
    """A kind of sanction. The values are stored, and typed by operators."""

    MUTE = "mute"
    KICK = "kick"
    BAN = "ban"


class Sanction(Value):
    """A sanction against a player or a network.

    Attributes:
        measure: the kind of sanction.
        whom: the name of a player, or a network in the format of `ipaddress`.
        by: the operator's name; "" if they no longer have an account.
        since: start, in seconds since the epoch.
        until: end, in seconds since the epoch; None if indefinite.
        why: the reason, typed after "because"; "" for none.
    """

    measure: Measure
    whom: str
    by: str = ""
    since: float = 0.0
    until: float | None = None
    why: str = ""

    def holds(self, now: float) -> bool:
        """Whether the sanction is in force at ``now``."""
        return self.until is None or now < self.until


class Order(Value):
    """The operators, and the sanctions that are or recently were in force.

    Attributes:
        operators: lower-case names of the operators.
        mutes: mutes by the player's lower-case name.
        bans: bans by the player's lower-case name.
        networks: bans of networks, by network.
    """

    operators: frozenset[str] = frozenset()
    mutes: Mapping[str, Sanction] = field(default_factory=dict)
    bans: Mapping[str, Sanction] = field(default_factory=dict)
    networks: Mapping[Network, Sanction] = field(default_factory=dict)

    @property
    def banned(self) -> set[str]:
        """Names and networks with a ban, even if it has expired."""
        return {each.whom for each in (*self.bans.values(), *self.networks.values())}

    def mute(self, name: str, now: float) -> Sanction | None:
        """Return the mute in force against a player, if any."""
        found = self.mutes.get(name.lower())
        return found if found and found.holds(now) else None

    def ban(self, name: str, now: float) -> Sanction | None:
        """Return the ban in force against a name, if any."""
        found = self.bans.get(name.lower())
        return found if found and found.holds(now) else None

    def ban_from(self, address: Address | None, now: float) -> Sanction | None:
        """Return the ban in force against an address, if any."""
        if address is None:
            return None
        found = (each for network, each in self.networks.items() if address in network)
        return next((each for each in found if each.holds(now)), None)

    def all_bans(self, now: float) -> list[Sanction]:
        """Return all bans in force, latest first."""
        found = (*self.bans.values(), *self.networks.values())
        return sorted((each for each in found if each.holds(now)), key=lambda each: -each.since)

    def all_mutes(self, now: float) -> list[Sanction]:
        """Return all mutes in force, latest first."""
        found = (each for each in self.mutes.values() if each.holds(now))
        return sorted(found, key=lambda each: -each.since)


def network_of(words: str) -> Network | None:
    """Parse an address or network; return None if the string is neither.

    An address becomes a network of that one address. An IPv4-mapped IPv6 network becomes IPv4.
    """
    try:
        network = ip_network(words, strict=False)
    except ValueError:
        return None
    mapped = network.network_address
    if isinstance(mapped, IPv6Address) and mapped.ipv4_mapped and network.prefixlen >= 96:
        return ip_network((mapped.ipv4_mapped, network.prefixlen - 96))
    return network


_OURSELVES = ip_network("127.0.0.0/8"), ip_network("::1/128")
"""Loopback networks of this machine, from which a local proxy connects, too."""


def is_loopback(words: str) -> bool:
    """Whether a string is a loopback address, or a network that includes one."""
    network = network_of(words)
    return network is not None and any(
        each.version == network.version and each.overlaps(network) for each in _OURSELVES
    )


def network_text(network: Network) -> str:
    """Format a network as typed by operators: a single address has no prefix length."""
    is_one = network.prefixlen == network.max_prefixlen
    return str(network.network_address if is_one else network)


def require_not_muted(order: Order | None, player: str, now: float) -> None:
    """Raise RefusedError if a player is muted."""
    if order and (mute := order.mute(player, now)):
        seconds = None if mute.until is None else mute.until - now
        raise RefusedError(Refusal.MUTED, seconds=seconds, why=mute.why)
