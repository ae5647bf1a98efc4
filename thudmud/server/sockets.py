"""Sockets that a program listens on: one for each address of a `host` setting."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from ipaddress import ip_address
from typing import Any

from thudmud.errors import StartError, ThudmudError

ALL_ADDRESSES = "::"
"""The host that stands for all addresses, of IPv6 and IPv4."""

WILDCARDS = {"0.0.0.0", ALL_ADDRESSES}  # noqa: S104  (they mean all addresses)

_log = logging.getLogger(__name__)

_SocketAddress = tuple[int, tuple[Any, ...]]
"""The family, and what ``bind`` takes, without the port."""

_TRIES = 20
"""How many free ports are tried until one is free at all addresses."""

_NO_SUCH_FAMILY = {errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL, errno.EPROTONOSUPPORT}
"""What the system answers for addresses of IPv6 or IPv4 if it has none of that family."""


async def bound_sockets(hosts: Sequence[str], setting: str, port: int) -> list[socket.socket]:
    """Bind one port at several addresses, without listening yet.

    `ALL_ADDRESSES` stands for those of IPv6 and IPv4. Every other IPv6 address takes IPv6
    connections only. A host with addresses of both families, such as ``localhost``, may have one
    family that this system lacks.

    Args:
        hosts: addresses and host names.
        setting: the key of the port, such as ``server.port``, for the message.
        port: the port; 0 for one that is free at all these addresses.

    Raises:
        StartError: an address isn't this machine's, or the port can't be used.
    """
    addresses: dict[_SocketAddress, str] = {}
    for host in hosts:
        try:
            addresses |= {each: host for each in await _resolve(host) if each not in addresses}
        except (OSError, ValueError) as error:  # ValueError: the host name is malformed
            raise StartError(_problem(error, host, setting, port)) from error
    complete = {family for family, (address, *_) in addresses if address in WILDCARDS}
    for each in list(addresses):
        if each[0] in complete and each[1][0] not in WILDCARDS:
            del addresses[each]  # one of those that the wildcard means
    tries = 1 if port else _TRIES
    while True:
        tries -= 1
        try:
            return _bind_all(addresses, port)
        except BindError as error:
            if not (tries and _is_in_use(error.why)):
                raise StartError(_problem(error.why, error.host, setting, port)) from error.why


class BindError(ThudmudError):
    """A port of an address can't be bound."""

    def __init__(self, host: str, why: OSError) -> None:
        super().__init__(host, why)
        self.host, self.why = host, why


async def _resolve(host: str) -> list[_SocketAddress]:
    """Return the addresses of a host; those found by name have a flow and a scope in IPv6."""
    if host == ALL_ADDRESSES:
        return [(socket.AF_INET6, ("::",)), (socket.AF_INET, ("0.0.0.0",))]  # noqa: S104
    with suppress(ValueError):  # a name, or an address with a scope, has to be looked up
        version = ip_address(host).version
        if "%" not in host:
            return [(socket.AF_INET6 if version == 6 else socket.AF_INET, (host,))]
    found = await asyncio.get_running_loop().getaddrinfo(
        host, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    return [(family, (place[0], *place[2:])) for family, _, _, _, place in found]


def _bind_all(addresses: Mapping[_SocketAddress, str], port: int) -> list[socket.socket]:
    """Bind a port at some addresses, which give their hosts.

    Raises:
        BindError: one of the ports can't be bound.
    """
    with ExitStack() as closing:
        bound: list[socket.socket] = []
        has_family: set[str] = set()
        lacking: dict[str, OSError] = {}
        for (family, (address, *rest)), host in addresses.items():
            number = bound[0].getsockname()[1] if bound else port
            try:
                end = _bind(family, (address, number, *rest))
            except OSError as error:
                if error.errno not in _NO_SUCH_FAMILY:
                    raise BindError(host, error) from error
                lacking[host] = error
            else:
                closing.callback(end.close)
                bound.append(end)
                has_family.add(host)
        for host, why in lacking.items():
            if host not in has_family:
                raise BindError(host, why) from why
        closing.pop_all()
    return bound


def _bind(family: int, place: tuple[Any, ...]) -> socket.socket:
    # asyncio sends without delay (TCP_NODELAY) only on sockets that name their protocol.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.setblocking(False)  # noqa: FBT003  (its only argument)
        bound.bind(place)
    except OSError:
        bound.close()
        raise
    return bound


def log_places(setting: str, sockets: Sequence[socket.socket]) -> list[tuple[str, int]]:
    """Log where a program listens for a setting's port; return the addresses and ports."""
    places: list[tuple[str, int]] = [each.getsockname()[:2] for each in sockets]
    for address, port in places:
        _log.info("listening", extra={"for": setting, "place": f"{address} {port}"})
    return places


def _is_in_use(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno == errno.EADDRINUSE


def _problem(error: OSError | ValueError, host: str, setting: str, port: int) -> str:
    """Return the reason why a program can't listen, as a line for its operator."""
    if _is_in_use(error):
        return f"{setting}: port {port} of {host} is in use by another program"
    if isinstance(error, PermissionError):
        return f"{setting}: this user may not listen on port {port} of {host}"
    return (
        f"{setting.partition('.')[0]}.host: cannot listen on {host!r}: this machine has no such "
        "address"
    )
