"""The listening sockets: accepts connections, within limits, and gives each a session.

Limits connections: in all, per address, and per second. Whoever is turned away is told why, in a
line, before there is anything of telnet for them.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import resource
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from pathlib import Path
from typing import cast

from thudmud.accounts.login import Desk
from thudmud.accounts.passwords import Hasher, Passwords
from thudmud.accounts.throttles import Bucket, Buckets, Newcomers, is_local, origin
from thudmud.errors import StartError
from thudmud.server.config import ListingSettings, PlayerSettings, ServerSettings
from thudmud.server.lobby import Lobby
from thudmud.server.session import Session
from thudmud.telnet import mssp, tls
from thudmud.telnet.connection import RECEIVE_BUFFER, Connection
from thudmud.telnet.interface import TelnetPolicy

_OTHERS = 100  # files that are open besides, those of connections that are shown out among them

_log = logging.getLogger(__name__)


def ask_for(connections: int) -> None:
    """Raise the limit of this process, as far as may be, so that so many can be connected."""
    wanted = connections + _OTHERS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    granted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (granted, hard))
    except (OSError, ValueError):  # some systems allow less than they say
        granted = soft
    if granted < wanted:
        _log.warning(
            "too few open files",
            extra={"allowed": granted, "needed": wanted, "setting": "server.connections"},
        )


_SHARE_OF_ONE = 1 / 4  # of what is accepted, for one address: else it could keep all others out
_SHARE_KEPT = 1 / 10  # of what is accepted, for this machine


class Rejection(Enum):
    """Why a connection is not accepted, in the sentence that it is sent."""

    FULL = "The server is full. Please try again in a while."
    CROWDED = "There are enough connections from where you are. Please try again in a while."
    HASTY = "Too many connections are being made just now. Please try again in a minute."


class Gate:
    """Counts connections in and out.

    Args:
        settings: the caps.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        rate, size = settings.accepts_per_second, settings.accepts_at_once
        self._pace = Bucket(rate, size)
        self._paces = Buckets(rate * _SHARE_OF_ONE, size * _SHARE_OF_ONE)
        self._here: Counter[str] = Counter()
        self._all = 0
        self._kept = size * _SHARE_KEPT

    def enter(self, address: str, now: float) -> Rejection | None:
        """Count a connection in, for which `leave` is to be called later; or say why not."""
        local, where = is_local(address), origin(address)
        reserved = 0 if local else self._settings.connections_reserved
        if self._all >= self._settings.connections - reserved:
            return Rejection.FULL
        if self._here[where] >= self._settings.connections_per_address:
            return Rejection.CROWDED
        own, kept = self._paces.of(where), 0.0 if local else self._kept
        if own.wait(now) or self._pace.take(now, leaving=kept):
            return Rejection.HASTY
        own.take(now)
        self._here[where] += 1
        self._all += 1
        return None

    def leave(self, address: str) -> None:
        """Count a connection out."""
        where = origin(address)
        self._here[where] -= 1
        self._all -= 1
        if not self._here[where]:
            del self._here[where]


_GRACE = 2.0  # seconds for the client to read why it cannot come in, and to close the connection
_MOST = 50  # connections that are given the time for it
_HANDSHAKE = 10.0  # seconds that a client may take to begin with TLS


class Porch:
    """Those who are being shown out again, and how many they are."""

    def __init__(self) -> None:
        self.guests = 0


class _Admission:
    """A connection that the gate has counted in, until it is counted out, once."""

    def __init__(self, gate: Gate, address: str) -> None:
        self.address = address
        self._gate = gate
        self._is_taken = True

    def leave(self) -> None:
        """Have the gate count it out, unless it has."""
        if self._is_taken:
            self._is_taken = False
            self._gate.leave(self.address)


class Door(asyncio.Protocol):
    """Lets a connection in, or tells it in one line why not.

    Args:
        gate: counts who is here.
        porch: counts who is being shown out.
        inside: makes what takes a connection's place here that may come in.
        context: what TLS needs, where it is spoken. It begins behind the gate, which would
            otherwise not count those who never do.
    """

    def __init__(
        self,
        gate: Gate,
        porch: Porch,
        inside: Callable[[Callable[[], None]], asyncio.BufferedProtocol],
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._gate, self._porch, self._inside, self._context = gate, porch, inside, context
        self._ending: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let it in, or show it out."""
        peer = transport.get_extra_info("peername") or ("", 0)
        address = str(peer[0])
        rejection = self._gate.enter(address, asyncio.get_running_loop().time())
        raw = cast("asyncio.Transport", transport)
        if rejection is not None:
            _log.info("turned away", extra={"peer": f"{address} {peer[1]}", "for": rejection.name})
            self._show_out(raw, rejection.value)
        elif self._context is not None:
            self._begin_tls(raw, _Admission(self._gate, address), self._context)
        else:
            inside = self._inside(_Admission(self._gate, address).leave)
            raw.set_protocol(inside)
            inside.connection_made(raw)

    def data_received(self, data: bytes) -> None:
        """Forget what somebody says who is shown out: left unread it could cost them our words."""

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  (asyncio's signature)
        """Note that somebody who was shown out has gone."""
        if self._ending is not None:
            self._ending.cancel()
            self._porch.guests -= 1

    def _begin_tls(
        self, raw: asyncio.Transport, admission: _Admission, context: ssl.SSLContext
    ) -> None:
        """Hand the socket to TLS, before anything is read from it.

        `loop.start_tls` would be a turn too late where the loop reads at once, as uvloop does: the
        client's first words would come here.
        """
        try:
            end = raw.get_extra_info("socket").dup()
        except OSError as error:  # too many open files
            _log.warning("no TLS", extra={"why": str(error)})
            admission.leave()
        else:
            self._securing = asyncio.create_task(self._secure(end, admission, context))
        raw.abort()  # which closes this end of the socket, and leaves the other open

    async def _secure(
        self, end: socket.socket, admission: _Admission, context: ssl.SSLContext
    ) -> None:
        """Let a connection in once it speaks TLS."""
        is_in = False
        try:
            transport, _ = await asyncio.get_running_loop().connect_accepted_socket(
                lambda: self._inside(admission.leave),
                end,
                ssl=context,
                ssl_handshake_timeout=_HANDSHAKE,
            )
            is_in = not transport.is_closing()
        except OSError as error:  # of which all are that go wrong with TLS or the connection
            _log.info("no TLS", extra={"peer": admission.address, "why": str(error)})
        finally:
            if not is_in:
                admission.leave()

    def _show_out(self, transport: asyncio.Transport, reason: str) -> None:
        if self._context is not None:
            transport.close()  # they would read our words as TLS
            return
        transport.write(f"{reason}\r\n".encode())
        if self._porch.guests >= _MOST or not transport.can_write_eof():
            transport.close()
            return
        self._porch.guests += 1
        self._ending = asyncio.get_running_loop().call_later(_GRACE, transport.abort)
        transport.write_eof()


FAREWELL = "The server is shutting down. Goodbye."

_UNLISTED = ListingSettings()
_FORCED = 5.0  # seconds that connections may take to be gone once they are ended by force
_BACKLOG = 4096  # connections that may wait to be accepted, where the kernel allows as many


class _Counted(Connection):
    """A connection that is counted out at the gate when it ends."""

    leave: Callable[[], None]

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.leave()


class Server:
    """Listens, and gives everybody who connects a session in one lobby.

    Args:
        settings: Where to listen, and the caps.
        players: What holds for everybody who comes to play.
        hasher: How passwords are hashed; by default as argon2-cffi advises.
        folder: Where files are whose names are not absolute.
        listing: What lists of games are told.

    Attributes:
        tls_places: The addresses and ports where TLS is spoken, once they are bound.
    """

    def __init__(
        self,
        settings: ServerSettings,
        players: PlayerSettings,
        hasher: Hasher | None = None,
        folder: Path = Path(),
        listing: ListingSettings = _UNLISTED,
    ) -> None:
        self.tls_places: list[tuple[str, int]] = []
        self._settings, self._folder = settings, folder
        self._listening: list[asyncio.Server] = []
        self._passwords = Passwords(hasher)
        self._players, self._listing = players, listing
        self._gate = Gate(settings)
        self._porch = Porch()
        self._buffer = memoryview(bytearray(RECEIVE_BUFFER))

    async def bind(self) -> list[tuple[str, int]]:
        """Take the port; return the addresses and ports. Nobody can connect yet.

        Raises:
            StartError: A port is in use, the host isn't ours, or the files for TLS can't be
                used.
        """
        ask_for(self._settings.connections)
        try:
            context = self._tls_context()
            self._places = await self._listen("port", self._settings.port)
            if context:
                self.tls_places = await self._listen("tls_port", self._settings.tls_port, context)
        except StartError:
            self.close()
            raise
        return self._places

    async def start(self, lobby: Lobby) -> None:
        """Begin to listen; whoever connects comes to ``lobby``, which is open."""
        self._lobby, self._booted = lobby, lobby.clock()
        self._policy = TelnetPolicy(
            max_line=self._settings.max_line,
            max_subnegotiation=self._settings.max_subnegotiation,
            option_changes=self._settings.option_changes,
            compress=self._settings.compress,
            status=self._status,
        )
        self._desk = Desk(
            lobby.store,
            self._passwords,
            lobby,
            self._players.guest_grace,
            newcomers=Newcomers(self._players.names_per_hour),
            clock=lobby.clock,
        )
        for listening in self._listening:
            await listening.start_serving()

    async def stop(self) -> None:
        """Tell everybody, and wait for their connections to end, which they do within the grace."""
        self.close()
        self._lobby.close(FAREWELL)
        try:
            async with asyncio.timeout(self._settings.shutdown_grace + _FORCED):
                await self._lobby.emptied()
        except TimeoutError:
            _log.warning("stopped with connections that do not end")
        await self._desk.close()
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
                partial(self._door, context),
                host,
                port,
                backlog=_BACKLOG,
                start_serving=False,
            )
        except (OSError, ValueError) as error:  # ValueError: no name of a host looks like that
            raise StartError(_told(error, host, setting, port)) from error
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
            players=self._lobby.count,
            booted=self._booted,
            port=self._places[0][1],
            tls_port=self._settings.tls_port,
            compresses=self._settings.compress,
            listing=self._listing.model_dump(),
        )

    def _door(self, context: ssl.SSLContext | None) -> Door:
        return Door(self._gate, self._porch, self._connection, context)

    def _connection(self, leave: Callable[[], None]) -> Connection:
        session = partial(
            Session,
            lobby=self._lobby,
            desk=self._desk,
            settings=self._settings,
            players=self._players,
            policy=self._policy,
        )
        connection = _Counted(session, self._policy, self._buffer)
        connection.leave = leave
        return connection


def _told(error: OSError | ValueError, host: str, setting: str, port: int) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        return f"server.{setting}: port {port} of {host} is in use by another program"
    if number == errno.EACCES:
        return f"server.{setting}: port {port} of {host} needs rights that this user does not have"
    return f"server.host: this machine cannot listen on {host!r}"
