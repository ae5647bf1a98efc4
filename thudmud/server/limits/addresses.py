"""Where a connection comes from, as far as it counts for limits.

Owns which addresses are one household's, and which are this machine's. Pure.
"""

from __future__ import annotations

import ipaddress

_IPV6_NETWORK = 64  # bits; what is given to one household


def origin(address: str) -> str:
    """Return an address; of an IPv6 address the network, for whoever has one has all of it."""
    parsed = _parsed(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((parsed, _IPV6_NETWORK), strict=False))
    return str(parsed or address)


def is_local(address: str) -> bool:
    """Whether that is this machine's own address, which nobody else can come from."""
    parsed = _parsed(address)
    return parsed is not None and parsed.is_loopback


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return mapped or parsed
