"""Trusted proxies in front of a server, and the client addresses that they pass on. Pure.

A TCP proxy begins each connection with a header of the PROXY protocol, version 2
(https://www.haproxy.org/download/1.8/doc/proxy-protocol.txt, section 2.2); an HTTP proxy adds
``X-Forwarded-For`` to each request, or ``Forwarded`` (RFC 7239). Any client could send these, so
they are only read in connections from the addresses that the settings name.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping

from thudmud.accounts.limiters import parsed_address

Place = tuple[str, int]
"""An address and a port."""

SIGNATURE = b"\r\n\r\n\x00\r\nQUIT\n"
HEAD = len(SIGNATURE) + 4
"""Bytes of a header before the addresses; the last two tell how many follow."""

_LONGEST = 2048  # bytes that may follow; addresses take 36, and extensions some hundred
_LOCAL, _PROXY = 0x20, 0x21
_TCP4, _TCP6 = 0x11, 0x21
_LENGTHS = {_TCP4: 4, _TCP6: 16}

_NODE = re.compile(r"(?:\[([^\[\]]*)\]|([^:]*))(?::[0-9]{1,5})?", re.ASCII)
"""An address with a port, or in brackets, as some proxies write it (RFC 7239, section 6)."""

_PAIR = re.compile(
    r"""\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=("(?:[^"\\]|\\.)*"|[^\s",;]*)\s*(?:([;,])|$)""", re.ASCII
)
"""A parameter of ``Forwarded``, and what follows it (RFC 7239, section 4)."""


class Proxies:
    """The trusted proxies, by addresses or networks such as ``192.0.2.0/24``.

    Raises:
        ValueError: one of these is neither.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._networks = [ipaddress.ip_network(each) for each in names]

    def __contains__(self, address: object) -> bool:
        parsed = parsed_address(str(address))
        return parsed is not None and any(parsed in each for each in self._networks)

    def client(self, peer: str, fields: Mapping[str, str]) -> str | None:
        """Return the address of the client that sent a request, by its header fields.

        Each proxy appends the address that it got the request from. So the last address that is no
        proxy's is the client's; any before it may be made up by the client. ``Forwarded`` is only
        read where there is no ``X-Forwarded-For``: most proxies set the latter, and pass on the
        former as a client has sent it.

        Returns:
            The address; None if the peer is a proxy that does not say it. That is nobody's, not the
            proxy's: it may be this machine's own, which few limits hold for.
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
        """Return whether a proxy says that its client's request came by ``https:`` or ``wss:``.

        The first of several proxies is the one that the client has spoken to.
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
    """Return the address of a client as a proxy writes it, without port and brackets.

    None if there is none in it, as in ``unknown``.
    """
    if parsed := parsed_address(node):
        return str(parsed)
    found = _NODE.fullmatch(node)
    parsed = parsed_address(found[1] or found[2] or "") if found else None
    return str(parsed) if parsed else None


def _forwarded(field: str) -> list[dict[str, str]]:
    """Return the parameters that each proxy has added to ``Forwarded``; none if it is malformed."""
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


def following(head: bytes) -> int | None:
    """Return how many bytes follow the first `HEAD` of a header; None if these are no header."""
    if len(head) != HEAD or not head.startswith(SIGNATURE):
        return None
    length = int.from_bytes(head[-2:], "big")
    return length if head[-4] in {_LOCAL, _PROXY} and length <= _LONGEST else None


def told(header: bytes) -> Place | None:
    """Return the client's address and port in a whole header; None if the proxy speaks for itself.

    That is a health check, or an unknown client.

    Raises:
        ValueError: the header is cut short.
    """
    length = _LENGTHS.get(header[HEAD - 3])
    if header[HEAD - 4] == _LOCAL or length is None:
        return None
    source, ports = header[HEAD : HEAD + length], header[HEAD + 2 * length :]
    if len(ports) < 4:
        raise ValueError("the header of the proxy is cut short")
    return str(ipaddress.ip_address(source)), int.from_bytes(ports[:2], "big")
