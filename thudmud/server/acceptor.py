"""The listening sockets: accepts connections, within limits, and gives each a session.

Limits connections: in all, per address, and per second. A client that is rejected is told why in
one line, before any telnet.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import resource
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import cast

from thudmud.accounts.limiters import RateLimiter, TokenBucket, is_local, network
from thudmud.accounts.login import Logins
from thudmud.accounts.passwords import Hasher, Passwords
from thudmud.bots.workers import worker_count
from thudmud.errors import StartError
from thudmud.server.config import ServerSettings, Settings
from thudmud.server.inbox import InboxQueue
from thudmud.server.sessions import Sessions
from thudmud.server.telnet_session import TelnetSession
from thudmud.telnet import mssp, tls
from thudmud.telnet.connection import RECEIVE_BUFFER, Connection
from thudmud.telnet.interface import TelnetPolicy

FAREWELL = "The server is shutting down. Goodbye."

_ABORT_TIME = 5.0  # seconds that connections may take to be gone once they are aborted
_BACKLOG = 4096  # connections that may wait to be accepted, where the kernel allows as many
_HOUR = 3600.0

_log = logging.getLogger(__name__)


class Acceptor:
    """Listens, and gives everybody who connects a session.

    Args:
        settings: where to listen, the limits, and what lists of games are told.
        folder: where files are whose names are not absolute.
        hasher: how passwords are hashed; by default as argon2-cffi advises.

    Attributes:
        tls_places: the addresses and ports where TLS is spoken, once they are bound.
    """

    def __init__(
        self, settings: Settings, folder: Path = Path(), hasher: Hasher | None = None
    ) -> None:
        self.tls_places: list[tuple[str, int]] = []
        self._whole, self._settings, self._folder = settings, settings.server, folder
        self._listening: list[asyncio.Server] = []
        self._passwords = Passwords(hasher)
        self._buffer = memoryview(bytearray(RECEIVE_BUFFER))
        self._turns = InboxQueue()

    async def bind(self) -> list[tuple[str, int]]:
        """Take the ports; return the addresses and ports of plain telnet. Nobody can connect yet.

        Raises:
            StartError: a port is in use, the host is not ours, or the files for TLS cannot be used.
        """
        own = [each for each in self._whole.bot if each.command]
        programs = len(own) + worker_count(self._settings.workers)
        self._room = room_for(self._settings.connections, programs)
        self._limiter = ConnectionLimiter(self._settings, self._room)
        try:
            context = self._tls_context()
            self._places = await self._listen("port", self._settings.port)
            if context:
                self.tls_places = await self._listen("tls_port", self._settings.tls_port, context)
        except StartError:
            self.close()
            raise
        return self._places

    async def start(self, sessions: Sessions) -> None:
        """Begin to accept; ``sessions`` gets everybody who connects."""
        self._sessions, self._booted = sessions, sessions.clock()
        players = self._whole.players
        self._policy = TelnetPolicy(
            max_line=self._settings.max_line,
            budget=partial(
                TokenBucket, self._settings.telnet_bytes_per_second, self._settings.telnet_bytes
            ),
            max_subnegotiation=self._settings.max_subnegotiation,
            option_changes=self._settings.option_changes,
            compress=self._settings.compress,
            status=self._status,
        )
        self._logins = Logins(
            sessions.store,
            self._passwords,
            sessions,
            players.guest_grace,
            new_names=RateLimiter(players.names_per_hour / _HOUR, players.names_per_hour),
            clock=sessions.clock,
        )
        for listening in self._listening:
            await listening.start_serving()
            for each in listening.sockets:
                with socket.socket(fileno=os.dup(each.fileno())) as end:
                    end.listen(_BACKLOG)

    async def stop(self) -> None:
        """Tell everybody, and wait for their connections to end, which they do within the grace."""
        self.close()
        self._sessions.close(FAREWELL)
        try:
            async with asyncio.timeout(self._settings.shutdown_grace + _ABORT_TIME):
                await self._sessions.wait_closed()
        except TimeoutError:
            _log.warning("stopped with connections that do not end")
        await self._logins.last_seen.close()
        self._passwords.close()
        for listening in self._listening:
            await listening.wait_closed()

    def close(self) -> None:
        """Give the ports back."""
        for listening in self._listening:
            listening.close()

    async def _listen(
        self, setting: str, port: int, context: ssl.SSLContext | None = None
    ) -> list[tuple[str, int]]:
        host = self._settings.host
        try:
            listening = await asyncio.get_running_loop().create_server(
                lambda: IncomingConnection(self._limiter, self._connection, context),
                host,
                port,
                backlog=self._room.accepted_at_once,  # asyncio accepts so many in a turn
                start_serving=False,
            )
        except (OSError, ValueError) as error:  # ValueError: no name of a host looks like that
            raise StartError(_problem(error, host, setting, port)) from error
        self._listening.append(listening)
        return [each.getsockname()[:2] for each in listening.sockets]

    def _tls_context(self) -> ssl.SSLContext | None:
        if not self._settings.tls_port:
            return None
        key = self._settings.tls_key
        return tls.context(
            self._folder / self._settings.tls_certificate, self._folder / key if key else None
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

    def _connection(self, release: Callable[[], None]) -> Connection:
        session = partial(
            TelnetSession,
            sessions=self._sessions,
            logins=self._logins,
            settings=self._settings,
            players=self._whole.players,
            policy=self._policy,
            turns=self._turns,
            release=release,
        )
        return Connection(session, self._policy, self._buffer)


def _problem(error: OSError | ValueError, host: str, setting: str, port: int) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        return f"server.{setting}: port {port} of {host} is in use by another program"
    if number == errno.EACCES:
        return f"server.{setting}: port {port} of {host} needs rights that this user does not have"
    return f"server.host: this machine cannot listen on {host!r}"


# Limits.

_SHARE_OF_ONE = 1 / 4  # of the rate, for one address: else it could keep all others out
_SHARE_RESERVED = 1 / 10  # of the rate, for this machine


class Rejection(Enum):
    """Why a connection is not accepted, as the client is told."""

    FULL = "The server is full. Please try again in a while."
    CROWDED = "There are too many connections from your address. Please try again in a while."
    HASTY = "Too many connections are being made just now. Please try again in a minute."


class ConnectionLimiter:
    """Limits connections: in all, per address, and per second.

    Args:
        settings: the limits. Some connections, and a share of the rate, are for this machine alone.
        room: how many connections the system has room for.

    Attributes:
        closing: how many rejected connections are given time to read why.
        max_closing: how many may be.
        handshakes: held by a connection while its TLS begins, so that one does in each turn.
    """

    def __init__(self, settings: ServerSettings, room: Room) -> None:
        self.closing, self.max_closing = 0, min(MAX_CLOSING, room.turned_away // 3)
        self.handshakes = asyncio.Lock()
        self._settings, self._most = settings, room.connections
        self._kept = settings.connections_reserved
        if room.is_short:
            self._kept = min(self._kept, room.connections // 4)
        rate, size = settings.accepts_per_second, settings.accepts_at_once
        self._rate = TokenBucket(rate, size)
        self._rates = RateLimiter(rate * _SHARE_OF_ONE, size * _SHARE_OF_ONE)
        self._reserved = size * _SHARE_RESERVED
        self._count = 0
        self._counts: Counter[str] = Counter()

    def acquire(self, address: str, now: float) -> Rejection | None:
        """Count a connection, for which `release` is to be called later; or say why not."""
        local, where = is_local(address), network(address)
        if self._count >= self._most - (0 if local else self._kept):
            return Rejection.FULL
        if self._counts[where] >= self._settings.connections_per_address:
            return Rejection.CROWDED
        own = self._rates.of(where)
        if own.wait(now) or self._rate.take(now, leaving=0.0 if local else self._reserved):
            return Rejection.HASTY
        own.take(now)
        self._counts[where] += 1
        self._count += 1
        return None

    def release(self, address: str) -> None:
        """Count a connection no more."""
        where = network(address)
        self._count -= 1
        self._counts[where] -= 1
        if not self._counts[where]:
            del self._counts[where]


# Open files.

_TURNED_AWAY = 150
"""Open files of connections that are not counted: not yet, or not any more."""

_IN_FLIGHT = 8
"""In how many turns of the event loop connections are accepted before the first of them has been
closed, times the sockets that they are accepted from: four, and two."""

_OTHER_FILES = 24
"""Files that will be open besides: the store's, the event loop's, a program's as it starts."""

_FILES_OF_PROGRAM = 4
"""What is open for a bot's program, or a worker: three pipes, and something to wait for its end."""


@dataclass(frozen=True)
class Room:
    """How many connections there may be, as the system has it.

    Attributes:
        connections: how many that are accepted.
        turned_away: how many besides, until they have been told why they are not.
        is_short: whether these are fewer than the settings have it.
    """

    connections: int
    turned_away: int = _TURNED_AWAY
    is_short: bool = False

    @property
    def accepted_at_once(self) -> int:
        """How many may be accepted in a turn of the event loop, so that these are enough."""
        return max(1, (self.turned_away - self.turned_away // 3) // _IN_FLIGHT)


def room_for(connections: int, programs: int) -> Room:
    """Let this process open as many files as so many connections need, as far as it may.

    If that is too few there is room for fewer connections, and the log says so. Without that, the
    server would accept them until it can open nothing at all, not even for those who are in.
    """
    others = _open_files() + _OTHER_FILES + programs * _FILES_OF_PROGRAM
    needed = others + connections + _TURNED_AWAY
    granted = _raise_file_limit(needed)
    if granted >= needed:
        return Room(connections)
    left = max(2, granted - others)
    turned_away = min(_TURNED_AWAY, left // 2)
    room = Room(min(connections, left - turned_away), turned_away, is_short=True)
    _log.warning(
        "too few open files: there can be %d connections at once",
        room.connections,
        extra={"allowed": granted, "needed": needed, "server.connections": connections},
    )
    return room


def _open_files() -> int:
    try:
        return len(os.listdir("/dev/fd"))  # noqa: PTH208  (there are no paths behind these names)
    except OSError:
        return _OTHER_FILES


def _raise_file_limit(needed: int) -> int:
    """Raise the limit on open files, if that many are more; return what it is then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return needed
    granted = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (granted, hard))
    except (OSError, ValueError):  # some systems allow less than they say
        return soft
    return granted


# Accepting.

REJECTION_GRACE = 2.0
"""Seconds for a rejected client to read why, and to close the connection."""

MAX_CLOSING = 50
"""Rejected connections that are given that time at once."""

_HANDSHAKE = 10.0  # seconds that a client may take to begin with TLS, and then to agree on it


class IncomingConnection(asyncio.Protocol):
    """A connection that has just come in: it is accepted, or told in one line why not.

    Args:
        limiter: decides.
        accept: makes the protocol of an accepted connection; it gets what is to be called when the
            connection ends.
        context: what TLS needs, where it is spoken. The handshake begins after the limiter has
            counted the connection: else those that never finish it would not count.
    """

    def __init__(
        self,
        limiter: ConnectionLimiter,
        accept: Callable[[Callable[[], None]], asyncio.BufferedProtocol],
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._limiter, self._accept, self._context = limiter, accept, context
        self._is_counted = False
        self._abort: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept the connection, or reject it."""
        host, port = (transport.get_extra_info("peername") or ("", 0))[:2]
        self._address = str(host)
        rejection = self._limiter.acquire(self._address, asyncio.get_running_loop().time())
        raw = cast("asyncio.Transport", transport)
        if rejection is not None:
            peer = f"{self._address} {port}"
            _log.info("turned away", extra={"peer": peer, "for": rejection.name})
            self._reject(raw, rejection.value)
            return
        self._is_counted = True
        if self._context is not None:
            self._begin_tls(raw, self._context)
        else:
            accepted = self._accept(self._release)
            raw.set_protocol(accepted)
            accepted.connection_made(raw)

    def data_received(self, data: bytes) -> None:
        """Drop what a rejected client sends: left unread, it could cost them our answer."""

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  (asyncio's signature)
        """Note that a rejected client has gone."""
        if self._abort is not None:
            self._abort.cancel()
            self._limiter.closing -= 1

    def _release(self) -> None:
        if self._is_counted:
            self._is_counted = False
            self._limiter.release(self._address)

    def _begin_tls(self, raw: asyncio.Transport, context: ssl.SSLContext) -> None:
        """Hand the socket to TLS before anything is read from it.

        `loop.start_tls` would be a turn too late in a loop that reads at once, as uvloop does: the
        client's first bytes would come here.
        """
        try:
            end = raw.get_extra_info("socket").dup()
        except OSError as error:  # too many open files
            _log.warning("no TLS", extra={"why": str(error)})
            self._release()
        else:
            self._handshake = asyncio.create_task(self._accept_tls(end, context))
        raw.abort()  # which closes this end of the socket, and leaves the other open

    async def _accept_tls(self, end: socket.socket, context: ssl.SSLContext) -> None:
        is_open = False
        try:
            async with asyncio.timeout(_HANDSHAKE):
                await _first_record(end)  # TLS takes memory: not for those who never begin
                async with self._limiter.handshakes:  # and a millisecond: one begins in each turn
                    await asyncio.sleep(0)
            transport, _ = await asyncio.get_running_loop().connect_accepted_socket(
                lambda: self._accept(self._release),
                end,
                ssl=context,
                ssl_handshake_timeout=_HANDSHAKE,
            )
            is_open = not transport.is_closing()
        except OSError as error:  # whatever goes wrong with TLS or the connection is one
            _log.info("no TLS", extra={"peer": self._address, "why": str(error)})
        finally:
            if not is_open:
                end.close()
                self._release()

    def _reject(self, transport: asyncio.Transport, reason: str) -> None:
        if self._context is not None:
            transport.close()  # the client would read our words as TLS
            return
        transport.write(f"{reason}\r\n".encode())
        if self._limiter.closing >= self._limiter.max_closing or not transport.can_write_eof():
            transport.close()
            return
        self._limiter.closing += 1
        self._abort = asyncio.get_running_loop().call_later(REJECTION_GRACE, transport.abort)
        with suppress(OSError):  # the client has gone already
            transport.write_eof()


async def _first_record(end: socket.socket) -> None:
    """Wait until the first message of a client that begins with TLS is there, and leave it there.

    Raises:
        OSError: it is something else, or the client has gone.
    """
    head = await _peek(end, tls.HEAD)
    if not tls.is_tls(head):
        raise ConnectionAbortedError("that is no TLS")
    await _peek(end, tls.HEAD + int.from_bytes(head[-2:], "big"))
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)


async def _peek(end: socket.socket, size: int) -> bytes:
    """Return the first bytes once there are so many, or will be no more."""
    loop, came = asyncio.get_running_loop(), asyncio.Event()
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)
    loop.add_reader(end, came.set)
    try:
        await came.wait()
    finally:
        loop.remove_reader(end)
    return end.recv(size, socket.MSG_PEEK)
