"""Trusted proxies in front of a server, and the client addresses that they pass on. Pure.

A TCP proxy begins each connection with a header of the PROXY protocol, version 2
(https://www.haproxy.org/download/1.8/doc/proxy-protocol.txt, section 2.2); an HTTP proxy adds
``X-Forwarded-For`` to each request. Any client could send either, so both are only read in
connections from the addresses that the settings name.
"""

from __future__ import annotations

import ipaddress
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

    def client(self, peer: str, fields: Mapping[str, str]) -> str:
        """Return the address of the client that sent a request, by its header fields.

        Each proxy appends the address that it got the request from. So the last address that is no
        proxy's is the client's; any before it may be made up by the client.
        """
        if peer not in self:
            return peer
        told = fields.get("x-forwarded-for", "").split(",")
        for address in map(str.strip, reversed(told)):
            if parsed_address(address) is None:
                return peer
            if address not in self:
                return address
        return peer


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
