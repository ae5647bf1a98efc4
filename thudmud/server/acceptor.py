"""Listening sockets and admission control: accepts connections and creates their sessions.

Connections are limited in total, per address, and per second. A rejected client receives the reason
in one line, before any telnet negotiation.
"""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
import socket
import ssl
import time
from collections import Counter
from collections.abc import Callable, Container, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, cast

from thudmud.accounts.guesses import Secret
from thudmud.accounts.limiters import (
    RateLimiter,
    RecentCounts,
    TokenBucket,
    is_local,
    network,
    site,
)
from thudmud.accounts.login import AccountDialogues
from thudmud.accounts.passwords import Hasher, Passwords
from thudmud.bots.workers import worker_count
from thudmud.errors import StartError
from thudmud.game.clocks import DAY
from thudmud.server.config import ServerSettings, Settings, WebSettings
from thudmud.server.inbox import PACKAGE_TIME, PACKAGE_TIME_AT_ONCE, FairScheduler
from thudmud.server.proxies import HEAD, Place, Proxies, parse_proxy_header, proxy_header_length
from thudmud.server.session import AcceptedConnection, SessionPolicy, TelnetSession
from thudmud.server.session_registry import Sessions
from thudmud.server.sockets import WILDCARDS, bound_sockets, log_places
from thudmud.telnet import mssp, tls
from thudmud.telnet.connection import RECEIVE_BUFFER, Connection
from thudmud.telnet.interface import TelnetPolicy
from thudmud.values import replace
from thudmud.version import VERSION
from thudmud.web.mpackage import NAME as MPACKAGE

if TYPE_CHECKING:
    from thudmud.server.pages import Pages

FAREWELL = "The server is shutting down. Goodbye."

_ABORT_TIME = 5.0  # seconds that connections may take to close once they are aborted
_BACKLOG = 4096  # length of the accept queue, if the kernel allows it
_HOUR = 3600.0

_log = logging.getLogger(__name__)
_of_strangers = logging.getLogger("thudmud.strangers")


Contexts = Mapping[str, ssl.SSLContext]
"""TLS contexts, by the settings section that names the certificate."""

Accept = Callable[[AcceptedConnection], asyncio.BufferedProtocol]
"""Factory of protocols for accepted connections."""


def _telnet_rejection(reason: str) -> bytes:
    return f"{reason}\r\n".encode()


def _http_rejection(reason: str) -> bytes:
    from thudmud.web.connection import rejection  # noqa: PLC0415  (the start does not wait for it)

    return rejection(reason)


class Acceptor:
    """The server's listening sockets, and the factories of their connections' sessions."""

    def __init__(
        self, settings: Settings, folder: Path = Path(), hasher: Hasher | None = None
    ) -> None:
        self.tls_places: list[tuple[str, int]] = []
        self.web_places: list[tuple[str, int]] = []
        self._whole, self._settings, self._folder = settings, settings.server, folder
        self._contexts: Contexts = {}
        self._listening: list[asyncio.Server] = []
        self._telnet_proxies = self._web_proxies = self._forwarders = Proxies(())
        self._opening: asyncio.Future[list[None]] | None = None
        """The start of listening for connections that are turned away."""
        self._pages: Pages | None = None
        """The web side, loaded with the first web connection; None until then."""
        self._passwords = Passwords(hasher)
        self._buffer = memoryview(bytearray(RECEIVE_BUFFER))
        self.turns = FairScheduler()
        self._package_time = RateLimiter(PACKAGE_TIME, PACKAGE_TIME_AT_ONCE)
        self.login_failures: Counter[Secret] = Counter()
        """Wrong passwords and resume words since the start."""
        self.certificates: dict[str, tls.Certificate] = {}
        """The certificates in use, by the settings section; only known if metrics are enabled."""
        self.adopted_at = 0.0
        """When settings were last adopted, at the start or by a reload, in seconds since the
        epoch."""
        self.has_failed_reload = False
        """Whether the last reload of the settings failed."""
        self._claimed: list[tuple[str, socket.AddressFamily, str, int]] = []
        """Bound sockets: the setting, the address family, the address and the port."""

    async def bind(self) -> list[tuple[str, int]]:
        """Bind all ports, without listening yet.

        Returns:
            The addresses and ports of plain telnet.

        Raises:
            StartError: a port is in use, the host isn't an address of this machine, or a TLS file
                can't be used.
        """
        own = [each for each in self._whole.bot if each.command]
        programs = len(own) + worker_count(self._settings.workers)
        self._room = reserve_file_descriptors(self._settings.connections, programs)
        self.limiter = ConnectionLimiter(self._settings, self._room)
        telnet, web = self._settings, self._whole.web
        try:
            self._contexts = self.contexts(self._whole)
            self._places = await self._listen(
                telnet.host, "server.port", telnet.port, self._telnet_incoming
            )
            if telnet.tls_port:
                self.tls_places = await self._listen(
                    telnet.host,
                    "server.tls_port",
                    telnet.tls_port,
                    lambda: self._telnet_incoming(self._contexts["server"]),
                )
            if web.enabled:
                self.web_places = await self._listen_for_page(web)
        except StartError:
            self.close()
            raise
        return self._places

    def turn_away(self) -> None:
        """Listen before the start, and tell all who connect that the server is being upgraded."""
        if not self.limiter.is_upgrading:
            self.limiter.is_upgrading = True
            starts = (each.start_serving() for each in self._listening)
            self._opening = asyncio.gather(*starts)

    async def start(self, sessions: Sessions) -> None:
        """Start to accept connections, whose sessions register with ``sessions``."""
        self._sessions, self._booted = sessions, sessions.clock()
        self._logins = AccountDialogues(
            sessions.store,
            self._passwords,
            sessions,
            self._whole.players.guest_grace,
            failures=self.login_failures,
            clock=sessions.clock,
        )
        self.adopt(self._whole, self._contexts)
        if self._opening:
            await self._opening
        self.limiter.is_upgrading = False
        for listening in self._listening:
            await listening.start_serving()
            for each in listening.sockets:
                # asyncio's backlog also limits accepts per iteration, so set the queue separately.
                with socket.socket(fileno=os.dup(each.fileno())) as end:
                    end.listen(_BACKLOG)

    def contexts(self, settings: Settings) -> Contexts:
        """Load the TLS contexts that the settings require, by section.

        Raises:
            StartError: a file can't be read or used.
        """
        telnet, web = settings.server, settings.web
        wanted: dict[str, ServerSettings | WebSettings] = {}
        if telnet.tls_port:
            wanted["server"] = telnet
        if web.enabled and web.tls_certificate:
            wanted["web"] = web
        return {
            name: tls.context(
                self._folder / each.tls_certificate,
                self._folder / each.tls_key if each.tls_key else None,
                name,
            )
            for name, each in wanted.items()
        }

    def adopt(self, settings: Settings, contexts: Contexts) -> None:
        """Apply settings to future connections, except for the addresses and ports."""
        self._whole, self._settings, self._contexts = settings, settings.server, contexts
        self.adopted_at, self.has_failed_reload = time.time(), False
        self.certificates = self._served_certificates() if settings.metrics.enabled else {}
        self.limiter.adopt(settings.server)
        players, web = settings.players, settings.web
        self._telnet_proxies = Proxies(settings.server.proxies)
        self._web_proxies, self._forwarders = Proxies(web.proxies), Proxies(web.forwarders)
        self._policy = TelnetPolicy(
            max_line=self._settings.max_line,
            budget=partial(
                TokenBucket, self._settings.telnet_bytes_per_second, self._settings.telnet_bytes
            ),
            max_subnegotiation=self._settings.max_subnegotiation,
            option_changes=self._settings.option_changes,
            can_compress=self._settings.compress,
            status=self._status,
            gui=self._gui(to_local=False),
        )
        self._logins.last_seen.addresses_kept = players.addresses_kept * DAY
        self._local_policy = replace(self._policy, gui=self._gui(to_local=True))
        self._logins.new_names = RateLimiter(players.names_per_hour / _HOUR, players.names_per_hour)
        self._shared = SessionPolicy(
            self._sessions, self._logins, self._settings, players, self.turns, self._package_time
        )
        if self._pages:
            self._pages.adopt(settings, self._shared, self._forwarders)

    def _served_certificates(self) -> dict[str, tls.Certificate]:
        """Return the certificates of the TLS contexts, by the settings section."""
        files = {"server": self._settings.tls_certificate, "web": self._whole.web.tls_certificate}
        found = {
            section: tls.served_certificate(context, self._folder / files[section])
            for section, context in self._contexts.items()
        }
        return {section: each for section, each in found.items() if each}

    async def stop(self) -> None:
        """Close the sockets, say goodbye, and wait for all connections within the grace period."""
        self.close()
        self._sessions.close(FAREWELL)
        if self._pages:
            self._pages.abort()
        try:
            async with asyncio.timeout(self._settings.shutdown_grace + _ABORT_TIME):
                await self._sessions.wait_closed()
        except TimeoutError:
            _log.warning("stopped with connections still open")
        if self._pages:
            await self._pages.close()
        await self._logins.last_seen.close()
        await self._sessions.places.close()
        self._passwords.close()
        for listening in self._listening:
            await listening.wait_closed()

    def close(self) -> None:
        """Close the listening sockets."""
        for listening in self._listening:
            listening.close()

    @property
    def uses_fallback_port(self) -> bool:
        """Whether the web page is on another port than configured, since that one was in use."""
        port = self._whole.web.port
        return bool(port and self.web_places) and self.web_places[0][1] != port

    @property
    def web_links(self) -> list[str]:
        """The URLs of the web page."""
        scheme = "https" if self._whole.web.tls_certificate else "http"
        links = [f"{scheme}://{_url_host(host)}:{port}/" for host, port in self.web_places]
        return list(dict.fromkeys(links))  # all addresses of IPv6 and IPv4 have the same

    def _gui(self, *, to_local: bool) -> str:
        """Return the JSON that announces the Mudlet package; empty if it has no usable URL."""
        web = self._whole.web
        if not web.enabled:
            return ""
        link = f"{web.public_url}/"
        if not web.public_url:
            host = self.web_places[0][0]
            is_reached = to_local or not (host in WILDCARDS or is_local(host))
            if web.tls_certificate or web.proxies or not is_reached:
                return ""  # a certificate needs a host name, which only public_url has
            link = self.web_links[0]
        return json.dumps({"version": VERSION, "url": link + MPACKAGE})

    async def _listen_for_page(self, web: WebSettings) -> list[tuple[str, int]]:
        try:
            return await self._listen(web.host, "web.port", web.port, self._web_incoming)
        except StartError as error:
            why = error.__cause__
            is_in_use = isinstance(why, OSError) and why.errno == errno.EADDRINUSE
            if not (is_in_use and web.may_move):
                raise
        return await self._listen(web.host, "web.port", 0, self._web_incoming)

    async def _listen(
        self,
        hosts: Sequence[str],
        setting: str,
        port: int,
        incoming: Callable[[], IncomingConnection],
    ) -> list[tuple[str, int]]:
        ends = await bound_sockets(hosts, setting, port)
        self.claim_ports(setting, ends)
        loop = asyncio.get_running_loop()
        for end in ends:
            self._listening.append(
                await loop.create_server(
                    incoming,
                    sock=end,
                    backlog=self._room.accepted_at_once,  # asyncio accepts this many per iteration
                    start_serving=False,
                )
            )
        return log_places(setting, ends)

    def claim_ports(self, setting: str, sockets: Sequence[socket.socket]) -> None:
        """Record the sockets' ports as taken by a setting.

        The system doesn't report such a conflict: two sockets may share a port until they listen.

        Raises:
            StartError: another setting has the same port; the sockets are closed.
        """
        bound = [(each.family, *each.getsockname()[:2]) for each in sockets]
        for (family, address, port), (other, *known) in product(bound, self._claimed):
            is_same = address == known[1] or {address, known[1]} & WILDCARDS
            if [family, port] == known[::2] and is_same:
                for each in sockets:
                    each.close()
                told = f"{setting}: port {port} is already used by {other}; give each its own port"
                raise StartError(told) from OSError(errno.EADDRINUSE, told)
        self._claimed += [(setting, *each) for each in bound]

    def _telnet_incoming(self, context: ssl.SSLContext | None = None) -> IncomingConnection:
        return IncomingConnection(
            self.limiter, self._connection, context, proxies=self._telnet_proxies
        )

    def _web_incoming(self) -> IncomingConnection:
        return IncomingConnection(
            self.limiter,
            self._web_connection,
            self._contexts.get("web"),
            _http_rejection,
            proxies=self._web_proxies,
            forwarders=self._forwarders,
        )

    def _status(self) -> Mapping[str, str]:
        return mssp.status(
            players=self._sessions.player_count,
            booted=self._booted,
            port=self._places[0][1],
            tls_port=self._settings.tls_port,
            compresses=self._settings.compress,
            listing=self._whole.listing.model_dump(),
        )

    def _connection(self, caller: AcceptedConnection) -> Connection:
        policy = self._local_policy if is_local(caller.address) else self._policy
        session = partial(TelnetSession, caller=caller, shared=self._shared, policy=policy)
        return Connection(session, policy, self._buffer)

    def prepare_page(self) -> Pages:
        """Return the web side, loaded for the first connection that needs one."""
        if self._pages is None:
            from thudmud.server.pages import Pages  # noqa: PLC0415  (the start does not wait for it)

            self._pages = Pages(self._sessions, self._buffer)
            self._pages.adopt(self._whole, self._shared, self._forwarders)
        return self._pages

    def _web_connection(self, caller: AcceptedConnection) -> asyncio.BufferedProtocol:
        return self.prepare_page().connection(caller)


def _url_host(host: str) -> str:
    """Return a host for a URL that works on this machine."""
    if host in WILDCARDS:
        return "localhost"
    return f"[{host}]" if ":" in host else host


# Limits.

_SHARE_OF_ONE = 1 / 4  # of rate and burst, for one address: more could lock out all others
_SHARE_LEFT = 1 / 4  # of the burst, which an address or its network leaves to others at most
_WEIGHT_OF_SITE = 1 / 4  # of a connection, counted for unrelated clients in its network
_RECENT = 120.0  # seconds after which a connection hardly counts as recent
_SHARE_RESERVED = 1 / 10  # of the burst, reserved for this machine


class Rejection(Enum):
    """Reasons for rejecting a connection, as sent to the client."""

    FULL = "The server is full. Please try again in a while."
    CROWDED = "There are too many connections from your address. Please try again in a while."
    HASTY = "Too many connections are coming in at once. Please try again in a minute."
    UPGRADING = "The server is being upgraded. Please try again in a few minutes."


class ConnectionLimiter:
    """Admission control for connections: total, per-address and per-second limits.

    Some connections, and a share of the burst, are reserved for this machine.

    All clients share a token bucket. An address must leave one token in it for each of its recent
    connections, and a quarter of a token for each from its network (`site`). So addresses that
    reconnect continuously can empty the bucket only down to the level left by the least active of
    them. Tokens below that level go to clients with fewer connections: newcomers, and players who
    lost their connection once or twice. A botnet that uses each address once, in separate networks,
    can't be told from newcomers.

    Besides, each address has a smaller bucket, which limits it to a quarter of the rate. Memory is
    bounded by `MAX_KEYS` addresses and as many networks. Rejected connections aren't remembered,
    so they can't evict others.

    Attributes:
        closing: the number of rejected connections that may still read the reason.
        max_closing: the limit of ``closing``.
        handshakes: a lock that limits new TLS handshakes to one per event loop iteration.
        is_upgrading: whether all connections are rejected, until the store is upgraded.
        recent: recent connections by address, and by `site`.
    """

    def __init__(self, settings: ServerSettings, room: ConnectionCapacity) -> None:
        self.closing, self.max_closing = 0, min(MAX_CLOSING, room.turned_away // 3)
        self.handshakes = asyncio.Lock()
        self.is_upgrading = False
        self.accepted, self.rejected = 0, Counter[Rejection]()
        self._most, self._kept = room.connections, settings.connections_reserved
        if room.is_short:
            self._kept = min(self._kept, room.connections // 4)
        self._count = 0
        self._counts: Counter[str] = Counter()
        self.recent = RecentCounts(_RECENT), RecentCounts(_RECENT)
        self.adopt(settings)

    def adopt(self, settings: ServerSettings) -> None:
        """Apply new limits; the total number of connections stays the same."""
        self._settings = settings
        rate, size = settings.accepts_per_second, settings.accepts_at_once
        self._rate = TokenBucket(rate, size)
        self._rates = RateLimiter(rate * _SHARE_OF_ONE, size * _SHARE_OF_ONE)
        self._reserved, self._most_left = size * _SHARE_RESERVED, size * _SHARE_LEFT

    def acquire(self, address: str | None, now: float) -> Rejection | None:
        """Admit and count a connection, or return the reason for its rejection.

        An admitted connection needs a later `release`.

        Args:
            address: the client's address; None for a forwarder's connection, whose client isn't
                known yet. These don't count towards the rate: one visitor may cause many of them,
                or each may be a newcomer's.
            now: the event loop's time.
        """
        if rejection := self._rejection(address, now):
            self.rejected[rejection] += 1
            return rejection
        self.accepted += 1
        self._count += 1
        self._assign(address, now)
        return None

    def assign(self, address: str, now: float) -> Rejection | None:
        """Count a forwarder's connection for its client, or return the reason for rejection."""
        rejection = self._check_count(address, now) or self._check_rate(address, now)
        if rejection:
            self.rejected[rejection] += 1
        else:
            self._assign(address, now)
        return rejection

    def release(self, address: str | None) -> None:
        """Stop counting a connection."""
        self._count -= 1
        if address:
            where = network(address)
            self._counts[where] -= 1
            if not self._counts[where]:
                del self._counts[where]

    def _rejection(self, address: str | None, now: float) -> Rejection | None:
        if self.is_upgrading:
            return Rejection.UPGRADING
        local = address is not None and is_local(address)
        if self._count >= self._most - (0 if local else self._kept):
            return Rejection.FULL
        if address is None:
            return None
        return self._check_count(address, now) or self._check_rate(address, now)

    def _check_rate(self, address: str, now: float) -> Rejection | None:
        """Take a token from the shared bucket, or reject the connection."""
        # The tokens to leave in the bucket: for this machine, and for less active clients.
        leaving = 0.0 if is_local(address) else self._reserved
        of_address, of_site = self.recent
        leaving += min(self._most_left, of_address.count(network(address), now))
        leaving += min(self._most_left, of_site.count(site(address), now) * _WEIGHT_OF_SITE)
        return Rejection.HASTY if self._rate.take(now, leaving=leaving) else None

    def _check_count(self, address: str, now: float) -> Rejection | None:
        where = network(address)
        if self._counts[where] >= self._settings.connections_per_address:
            return Rejection.CROWDED
        # Only looked up, not created: rejected addresses must not evict others.
        own = self._rates.find(where)
        return Rejection.HASTY if own and own.wait(now) else None

    def _assign(self, address: str | None, now: float) -> None:
        if address:
            where = network(address)
            self._rates.bucket_for(where).take(now)
            self._counts[where] += 1
            for recent, key in zip(self.recent, (where, site(address)), strict=True):
                recent.add(key, now)


# Open files.

_TURNED_AWAY = 150
"""Open files for connections that aren't counted: not yet, or no longer."""

_IN_FLIGHT = 12
"""Event loop iterations that accept connections before the first of these is closed (four), times
the listening sockets (three)."""

_OTHER_FILES = 24
"""Other open files: of the store, the event loop, and a starting program."""

_FILES_OF_PROGRAM = 4
"""Open files per bot program or worker: three pipes, and one to wait for its end."""


@dataclass(frozen=True)
class ConnectionCapacity:
    """Connection capacity under the limit on open files.

    Attributes:
        connections: the most accepted connections.
        turned_away: the most additional connections that are being accepted or rejected.
        is_short: whether the capacity is lower than the settings ask for.
    """

    connections: int
    turned_away: int = _TURNED_AWAY
    is_short: bool = False

    @property
    def accepted_at_once(self) -> int:
        """Connections to accept per socket and iteration, so that the open files suffice."""
        return max(1, (self.turned_away - self.turned_away // 3) // _IN_FLIGHT)


def reserve_file_descriptors(connections: int, programs: int) -> ConnectionCapacity:
    """Raise the limit on open files to the number needed, or to the system's maximum.

    A limit that stays too low reduces the capacity, with a warning. Otherwise the server would
    accept connections until it couldn't open any file, not even for players who are online.

    Args:
        connections: the number of connections that the settings allow.
        programs: the number of bot programs and workers.
    """
    needed = needed_file_descriptors(connections, programs)
    others = needed - connections - _TURNED_AWAY
    granted = _raise_file_limit(needed)
    if granted >= needed:
        return ConnectionCapacity(connections)
    left = max(2, granted - others)
    turned_away = min(_TURNED_AWAY, left // 2)
    room = ConnectionCapacity(min(connections, left - turned_away), turned_away, is_short=True)
    _log.warning(
        "the limit on open files allows only %d connections",
        room.connections,
        extra={"allowed": granted, "needed": needed, "server.connections": connections},
    )
    return room


def needed_file_descriptors(connections: int, programs: int) -> int:
    """Return how many files a server may have open at once.

    Args:
        connections: the number of connections that the settings allow.
        programs: the number of bot programs and workers.
    """
    others = _open_files() + _OTHER_FILES + programs * _FILES_OF_PROGRAM
    return others + connections + _TURNED_AWAY


def _open_files() -> int:
    try:
        return len(os.listdir("/dev/fd"))  # noqa: PTH208  (the entries are not used as paths)
    except OSError:
        return _OTHER_FILES


def _raise_file_limit(needed: int) -> int:
    """Raise the soft limit on open files to ``needed`` if it is lower; return the result."""
    import resource  # noqa: PLC0415  (Windows has none, and transcripts need no sockets)

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return needed
    granted = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (granted, hard))
    except (OSError, ValueError):  # some systems allow less than the hard limit
        return soft
    return granted


# Accepting.

REJECTION_GRACE = 2.0
"""Seconds for a rejected client to read the reason and close the connection."""

MAX_CLOSING = 50
"""The most rejected connections that get `REJECTION_GRACE` at a time."""

_HANDSHAKE = 10.0  # seconds for a PROXY header, for the first TLS record, and for the handshake


class IncomingConnection(asyncio.Protocol):
    """Protocol of a new connection until it is accepted, or rejected with a reason.

    Args:
        limiter: decides about the connection.
        accept: creates the protocol of an accepted connection.
        context: the TLS context, if the port has TLS. The handshake begins after the limiter has
            counted the connection; otherwise unfinished handshakes would escape the limits.
        rejection: encodes the reason for a rejection.
        proxies: the addresses whose connections begin with a PROXY header.
        forwarders: the addresses of reverse proxies, whose connections count for their clients as
            soon as these are known.
    """

    def __init__(
        self,
        limiter: ConnectionLimiter,
        accept: Accept,
        context: ssl.SSLContext | None = None,
        rejection: Callable[[str], bytes] = _telnet_rejection,
        *,
        proxies: Container[str] = (),
        forwarders: Container[str] = (),
    ) -> None:
        self._limiter, self._accept, self._context = limiter, accept, context
        self._rejection, self._proxies, self._forwarders = rejection, proxies, forwarders
        self._place: Place | None = None
        """The client's address and port; None until known."""
        self._is_counted = False
        self._counted: str | None = None
        """The address that the connection counts for; None for a forwarder's unknown client."""
        self._abort: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept or reject the connection, in case of a proxy after its header."""
        raw = cast("asyncio.Transport", transport)
        if self._place is None:
            host, port = (transport.get_extra_info("peername") or ("", 0))[:2]
            self._place = str(host), int(port)
            if self._place[0] in self._proxies:
                self._detach_socket(raw, self._ask_proxy)
                return
        address = self._place[0]
        self._counted = None if address in self._forwarders else address
        rejection = self._limiter.acquire(self._counted, asyncio.get_running_loop().time())
        if rejection is not None:
            extra = {"peer": self._peer, "for": rejection.name}
            _of_strangers.info("turned away", extra=extra)
            self._reject(raw, rejection.value)
            return
        self._is_counted = True
        if self._context is not None:
            self._detach_socket(raw, partial(self._accept_tls, context=self._context))
        else:
            accepted = self._accept(self._accepted_connection())
            raw.set_protocol(accepted)
            accepted.connection_made(raw)

    @property
    def _peer(self) -> str:
        """The client's address and port, formatted for the log."""
        return " ".join(map(str, self._place or ()))

    def _accepted_connection(self) -> AcceptedConnection:
        address, port = self._place or ("", 0)
        return AcceptedConnection(address, port, self._release, self._assign)

    def _assign(self, address: str) -> str:
        """Count a forwarder's connection for its client; return the reason if it is rejected."""
        if self._counted is not None:
            return ""
        rejection = self._limiter.assign(address, asyncio.get_running_loop().time())
        if rejection:
            _of_strangers.info("turned away", extra={"peer": address, "for": rejection.name})
            return rejection.value
        self._counted = address
        return ""

    def data_received(self, data: bytes) -> None:
        """Drop a rejected client's data: closing with unread data could destroy our answer."""

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  (asyncio's signature)
        """Stop counting a rejected client as closing."""
        if self._abort is not None:
            self._abort.cancel()
            self._limiter.closing -= 1

    def _release(self) -> None:
        if self._is_counted:
            self._is_counted = False
            self._limiter.release(self._counted)

    def _detach_socket(
        self, raw: asyncio.Transport, to: Callable[[socket.socket], Coroutine[None, None, None]]
    ) -> None:
        """Hand a duplicate of the socket to a coroutine before any byte is read.

        `loop.start_tls` isn't an option for TLS: a loop that reads at once, such as uvloop, would
        already have delivered the client's first bytes here.
        """
        try:
            end = raw.get_extra_info("socket").dup()
        except OSError as error:  # too many open files
            _log.warning("not accepted", extra={"why": str(error)})
            self._release()
        else:
            self._handshake = asyncio.create_task(to(end))
        raw.abort()  # closes our descriptor; the duplicate stays open

    async def _ask_proxy(self, end: socket.socket) -> None:
        """Read a proxy's PROXY header, and accept the connection for its client."""
        try:
            async with asyncio.timeout(_HANDSHAKE):
                place = await _read_header(end)
            self._place = place or self._place
            await asyncio.get_running_loop().connect_accepted_socket(lambda: self, end)
        except (OSError, ValueError) as error:
            extra = {"peer": self._peer, "why": str(error)}
            _of_strangers.warning("expected a PROXY header", extra=extra)
            end.close()

    async def _accept_tls(self, end: socket.socket, context: ssl.SSLContext) -> None:
        is_open = False
        try:
            async with asyncio.timeout(_HANDSHAKE):
                await _first_record(end)  # allocate no TLS memory for clients that never begin
                async with self._limiter.handshakes:  # a millisecond: one per iteration
                    await asyncio.sleep(0)
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: self._accept(self._accepted_connection()),
                end,
                ssl=context,
                ssl_handshake_timeout=_HANDSHAKE,
            )
            is_open = True  # by now a request may be answered and the socket closed: hands off
        except OSError as error:  # TLS errors are OSErrors, too
            _of_strangers.info("no TLS", extra={"peer": self._peer, "why": str(error)})
        finally:
            if not is_open:
                end.close()
                self._release()

    def _reject(self, transport: asyncio.Transport, reason: str) -> None:
        if self._context is not None:
            transport.close()  # the client expects TLS, no plain text
            return
        transport.write(self._rejection(reason))
        if self._limiter.closing >= self._limiter.max_closing or not transport.can_write_eof():
            transport.close()
            return
        self._limiter.closing += 1
        self._abort = asyncio.get_running_loop().call_later(REJECTION_GRACE, transport.abort)
        with suppress(OSError):  # the client has already disconnected
            transport.write_eof()


async def _read_header(end: socket.socket) -> Place | None:
    """Read the PROXY protocol header of a connection, and no byte beyond.

    Raises:
        OSError: the proxy has disconnected.
        ValueError: the connection doesn't begin with such a header.
    """
    length = proxy_header_length(await _peek(end, HEAD))
    if length is None:
        raise ValueError("the connection does not begin with one")
    await _peek(end, HEAD + length)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
    return parse_proxy_header(end.recv(HEAD + length))


async def _first_record(end: socket.socket) -> None:
    """Wait for a client's first TLS record, and leave it in the socket's buffer.

    Raises:
        OSError: the data isn't TLS, or the client has disconnected.
    """
    head = await _peek(end, tls.HEAD)
    if not tls.is_tls(head):
        raise ConnectionAbortedError("not TLS")
    await _peek(end, tls.HEAD + int.from_bytes(head[-2:], "big"))
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)


async def _peek(end: socket.socket, size: int) -> bytes:
    """Wait for ``size`` bytes or the end of input, and return the input without consuming any.

    SO_RCVLOWAT makes the socket readable only once that many bytes have come, which avoids polling.
    """
    loop, came = asyncio.get_running_loop(), asyncio.Event()
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)
    loop.add_reader(end, came.set)
    try:
        await came.wait()
    finally:
        loop.remove_reader(end)
    return end.recv(size, socket.MSG_PEEK)
