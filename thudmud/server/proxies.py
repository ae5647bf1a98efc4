"""Client addresses forwarded by trusted proxies. Pure.

A TCP proxy begins each connection with a header of the PROXY protocol, version 2
(https://www.haproxy.org/download/1.8/doc/proxy-protocol.txt, section 2.2); an HTTP proxy adds
``X-Forwarded-For`` to each request, or ``Forwarded`` (RFC 7239). Any client can send
these, so they are ignored unless the peer's address is listed in the settings.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping

from thudmud.accounts.limiters import parsed_address

Place = tuple[str, int]
"""An IP address and a port."""

SIGNATURE = b"\r\n\r\n\x00\r\nQUIT\n"
HEAD = len(SIGNATURE) + 4
"""Bytes of a PROXY v2 header before the addresses; the last two hold the remaining length."""

_LONGEST = 2048  # limit on the remaining length: 36 for addresses, then extensions
_LOCAL, _PROXY = 0x20, 0x21
_TCP4, _TCP6 = 0x11, 0x21
_LENGTHS = {_TCP4: 4, _TCP6: 16}

_NODE = re.compile(r"(?:\[([^\[\]]*)\]|([^:]*))(?::[0-9]{1,5})?", re.ASCII)
"""A node: an address, optionally in brackets or with a port (RFC 7239, section 6)."""

_PAIR = re.compile(
    r"""\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=("(?:[^"\\]|\\.)*"|[^\s",;]*)\s*(?:([;,])|$)""", re.ASCII
)
"""A parameter of ``Forwarded`` and its separator (RFC 7239, section 4)."""


class Proxies:
    """The set of trusted proxies, given as addresses or networks such as ``192.0.2.0/24``.

    Raises:
        ValueError: a name is neither an address nor a network.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._networks = [ipaddress.ip_network(each) for each in names]

    def __contains__(self, address: object) -> bool:
        parsed = parsed_address(str(address))
        return parsed is not None and any(parsed in each for each in self._networks)

    def client(self, peer: str, fields: Mapping[str, str]) -> str | None:
        """Return the address of the client that sent a request.

        Each proxy appends the address of its own peer. So the last address that isn't a trusted
        proxy's is the client's; the client may have forged any before it. ``Forwarded`` is a
        fallback only: most proxies set ``X-Forwarded-For`` and pass ``Forwarded`` on unchanged.

        Args:
            peer: the address at the other end of the connection.
            fields: the header fields, with names in lower case.

        Returns:
            The address, or None if the peer is a proxy that doesn't name its client. The proxy's
            own address wouldn't do: it may be a local one, which is exempt from most limits.
        """
        if peer not in self:
            return peer
        if listed := fields.get("x-forwarded-for"):
            hops = [each.strip() for each in listed.split(",") if each.strip()]
        else:
            hops = [each.get("for", "") for each in _forwarded(fields.get("forwarded", ""))]
        address = None
        for hop in reversed(hops):
            address = node_address(hop)
            if address is None or address not in self:
                break
        return address

    def is_secure(self, peer: str, fields: Mapping[str, str]) -> bool:
        """Return whether a trusted proxy received the request by ``https:`` or ``wss:``.

        In a chain of proxies the first one counts, since the client connected to it.
        """
        if peer not in self:
            return False
        if (listed := fields.get("x-forwarded-proto")) is not None:
            scheme = listed.partition(",")[0].strip()
        else:
            first, *_ = _forwarded(fields.get("forwarded", "")) or [{}]
            scheme = first.get("proto", "")
        return scheme.lower() in {"https", "wss"}


def node_address(node: str) -> str | None:
    """Parse a node as written by a proxy: strip brackets and the port.

    Returns:
        The address, or None if there is none, as in ``unknown``.
    """
    if parsed := parsed_address(node):
        return str(parsed)
    found = _NODE.fullmatch(node)
    parsed = parsed_address(found[1] or found[2] or "") if found else None
    return str(parsed) if parsed else None


def _forwarded(field: str) -> list[dict[str, str]]:
    """Parse ``Forwarded`` to one dict of parameters per proxy; return [] if it is malformed."""
    hops: list[dict[str, str]] = [{}]
    end = 0
    while end < len(field):
        pair = _PAIR.match(field, end)
        if pair is None:
            return []
        name, value, separator = pair.groups()
        if value.startswith('"'):
            value = re.sub(r"\\(.)", r"\1", value[1:-1])
        hops[-1][name.lower()] = value
        end = pair.end()
        if separator == ",":
            hops.append({})
    return hops


def proxy_header_length(head: bytes) -> int | None:
    """Return the number of bytes after the first `HEAD` bytes; None if this is no PROXY header."""
    if len(head) != HEAD or not head.startswith(SIGNATURE):
        return None
    length = int.from_bytes(head[-2:], "big")
    return length if head[-4] in {_LOCAL, _PROXY} and length <= _LONGEST else None


def parse_proxy_header(header: bytes) -> Place | None:
    """Parse a complete PROXY v2 header.

    Returns:
        The client's address and port. None for a LOCAL connection, such as a health check, or an
        unsupported address family.

    Raises:
        ValueError: the header is too short for its addresses.
    """
    length = _LENGTHS.get(header[HEAD - 3])
    if header[HEAD - 4] == _LOCAL or length is None:
        return None
    source, ports = header[HEAD : HEAD + length], header[HEAD + 2 * length :]
    if len(ports) < 4:
        raise ValueError("the PROXY header is truncated")
    return str(ipaddress.ip_address(source)), int.from_bytes(ports[:2], "big")
