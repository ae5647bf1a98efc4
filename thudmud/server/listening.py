"""The listening sockets: everybody who connects gets a session in one lobby.

Owns how a server starts and how it stops. Must never know what happens on a connection.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import ssl
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from argon2 import PasswordHasher

from thudmud.errors import StartError
from thudmud.server.limits import descriptors
from thudmud.server.limits.door import Door, Porch
from thudmud.server.limits.gate import Gate
from thudmud.server.limits.newcomers import Newcomers
from thudmud.server.lobby import Lobby
from thudmud.server.login import Desk
from thudmud.server.members.passwords import Passwords
from thudmud.server.session import Session
from thudmud.server.settings import ListingSettings, PlayerSettings, ServerSettings
from thudmud.server.telnet import mssp, tls
from thudmud.server.telnet.connection import RECEIVE_BUFFER, Connection
from thudmud.server.telnet.policy import TelnetPolicy

FAREWELL = "The server is shutting down. Goodbye."

_UNLISTED = ListingSettings()
_FORCED = 5.0  # seconds that connections may take to be gone once they are ended by force
_BACKLOG = 4096  # connections that may wait to be accepted, where the kernel allows as many

_log = logging.getLogger(__name__)


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
        hasher: PasswordHasher | None = None,
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
        descriptors.ask_for(self._settings.connections)
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
            listing=self._listing,
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
