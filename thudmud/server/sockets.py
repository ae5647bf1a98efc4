"""Sockets that a program listens on: one for each address of a `host` setting."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import Any

from thudmud.errors import StartError, ThudmudError

ANY_ADDRESS = {"0.0.0.0", "::"}  # noqa: S104  (they mean all addresses)
_log = logging.getLogger(__name__)

_ALL = {"::", "*"}
"""Hosts that stand for all addresses, of IPv6 and IPv4."""

_Place = tuple[int, tuple[Any, ...]]

_TRIES = 20
"""How many free ports are tried until one is free at all addresses."""

_NO_SUCH_FAMILY = {errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL, errno.EPROTONOSUPPORT}
"""What the system answers for addresses of IPv6 or IPv4 if it has none."""


async def bound_sockets(hosts: Sequence[str], setting: str, port: int) -> list[socket.socket]:
    """Bind one port at several addresses, without listening yet.

    ``::`` and ``*`` stand for all addresses, of IPv6 and IPv4, or of the one that this system has.
    Every other IPv6 address takes IPv6 connections only.

    Args:
        hosts: addresses and host names.
        setting: the key of the port, such as ``server.port``, for the message.
        port: the port; 0 for one that is free at all these addresses.

    Raises:
        StartError: an address isn't this machine's, or the port can't be used.
    """
    places: dict[_Place, str] = {}
    for host in hosts:
        try:
            places |= {place: host for place in await _places(host) if place not in places}
        except (OSError, ValueError) as error:  # ValueError: the host name is malformed
            raise StartError(_problem(error, host, setting, port)) from error
    whole = {family for family, (address, *_) in places if address in ANY_ADDRESS}
    for place in list(places):
        if place[0] in whole and place[1][0] not in ANY_ADDRESS:
            del places[place]  # one of those that the other means
    tries = 1 if port else _TRIES
    while True:
        tries -= 1
        try:
            return _bind_all(places, port)
        except BindError as error:
            if not (tries and _is_in_use(error.why)):
                raise StartError(_problem(error.why, error.host, setting, port)) from error.why


class BindError(ThudmudError):
    """A port of an address can't be bound."""

    def __init__(self, host: str, why: OSError) -> None:
        super().__init__(host, why)
        self.host, self.why = host, why


async def _places(host: str) -> list[_Place]:
    """Return the families and addresses of a host; an address has a flow and a scope in IPv6."""
    if host in _ALL:
        return [(socket.AF_INET6, ("::",)), (socket.AF_INET, ("0.0.0.0",))]  # noqa: S104
    with suppress(ValueError):  # a name, or an address with a scope, has to be looked up
        version = ip_address(host).version
        if "%" not in host:
            return [(socket.AF_INET6 if version == 6 else socket.AF_INET, (host,))]
    found = await asyncio.get_running_loop().getaddrinfo(
        host, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    return [(family, (place[0], *place[2:])) for family, _, _, _, place in found]


def _bind_all(places: Mapping[_Place, str], port: int) -> list[socket.socket]:
    """Bind a port at all places, which give the hosts they stand for.

    Raises:
        BindError: one of the ports can't be bound.
    """
    bound: list[socket.socket] = []
    missing: BindError | None = None
    for (family, (address, *rest)), host in places.items():
        number = bound[0].getsockname()[1] if bound else port
        try:
            bound.append(_bind(family, (address, number, *rest)))
        except OSError as error:
            missing = BindError(host, error)
            if host not in _ALL or error.errno not in _NO_SUCH_FAMILY:
                break
    else:
        if bound:
            return bound
    for each in bound:
        each.close()
    raise missing or BindError("", OSError(errno.EADDRNOTAVAIL, "no address"))


def _bind(family: int, place: tuple[Any, ...]) -> socket.socket:
    bound = socket.socket(family, socket.SOCK_STREAM)
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
