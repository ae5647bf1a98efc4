"""The listening socket: everybody who connects gets a session in one lobby.

Owns how a server starts and how it stops. Must never know what happens on a connection.
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from functools import partial

from argon2 import PasswordHasher

from thudmud.server import descriptors
from thudmud.server.connection import RECEIVE_BUFFER, Connection
from thudmud.server.door import Door, Porch
from thudmud.server.gate import Gate
from thudmud.server.lobby import Lobby
from thudmud.server.login import Desk
from thudmud.server.newcomers import Newcomers
from thudmud.server.passwords import Passwords
from thudmud.server.session import Session
from thudmud.server.settings import PlayerSettings, ServerSettings

FAREWELL = "The server is shutting down. Goodbye."

_BACKLOG = 4096  # connections that may wait to be accepted, where the kernel allows as many


class CannotListenError(Exception):
    """There is no listening at that host and port; the message names the setting to change."""


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
    """

    def __init__(
        self,
        settings: ServerSettings,
        players: PlayerSettings,
        hasher: PasswordHasher | None = None,
    ) -> None:
        self._settings = settings
        self._passwords = Passwords(hasher)
        self._players = players
        self._gate = Gate(settings)
        self._porch = Porch()
        self._buffer = memoryview(bytearray(RECEIVE_BUFFER))

    async def bind(self) -> list[tuple[str, int]]:
        """Take the port; return the addresses and ports. Nobody can connect yet.

        Raises:
            CannotListenError: The port is in use, or the host isn't ours.
        """
        host, port = self._settings.host, self._settings.port
        descriptors.ask_for(self._settings.connections)
        try:
            self._listening = await asyncio.get_running_loop().create_server(
                self._door, host, port, backlog=_BACKLOG, start_serving=False
            )
        except (OSError, ValueError) as error:  # ValueError: no name of a host looks like that
            raise CannotListenError(_told(error, host, port)) from error
        return [each.getsockname()[:2] for each in self._listening.sockets]

    async def start(self, lobby: Lobby) -> None:
        """Begin to listen; whoever connects comes to ``lobby``, which is open."""
        self._lobby = lobby
        self._desk = Desk(
            lobby.accounts,
            self._passwords,
            lobby,
            self._players.guest_grace,
            newcomers=Newcomers(self._players.names_per_hour),
            clock=lobby.clock,
        )
        await self._listening.start_serving()

    async def stop(self) -> None:
        """Tell everybody, and wait for their connections to end, which they do within the grace."""
        self._listening.close()
        self._lobby.close(FAREWELL)
        await self._lobby.emptied()
        await self._desk.close()
        self._passwords.close()
        await self._listening.wait_closed()

    def close(self) -> None:
        """Give the port back, if nobody could connect yet."""
        self._listening.close()

    def _door(self) -> Door:
        return Door(self._gate, self._porch, self._connection)

    def _connection(self, leave: Callable[[], None]) -> Connection:
        session = partial(
            Session,
            lobby=self._lobby,
            desk=self._desk,
            settings=self._settings,
            players=self._players,
        )
        connection = _Counted(session, self._settings.max_line, self._buffer)
        connection.leave = leave
        return connection


def _told(error: OSError | ValueError, host: str, port: int) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        return f"server.port: port {port} of {host} is in use by another program"
    if number == errno.EACCES:
        return f"server.port: port {port} of {host} needs rights that this user does not have"
    return f"server.host: this machine cannot listen on {host!r}"
