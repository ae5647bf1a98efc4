"""The running server: boards behind a listening socket, until a signal comes.

What is opened and closed in which order stands here.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from thudmud.bots.opponent import START_AFTER
from thudmud.play.commands import Style
from thudmud.play.hall import Hall
from thudmud.play.table import BoardSpec
from thudmud.server.bots import Bots
from thudmud.server.limits.talk import Talk
from thudmud.server.listening import Server
from thudmud.server.lobby import Lobby, service_on
from thudmud.server.settings import Settings
from thudmud.server.upkeep import background, check, served_store
from thudmud.store import Store, StoreError

_log = logging.getLogger(__name__)


def boards(settings: Settings) -> list[BoardSpec]:
    """Return the boards that the settings describe."""
    return [BoardSpec(each.name, each.rules, Style(each.style)) for each in settings.board]


def furnish(settings: Settings) -> Hall:
    """Return the hall that the settings describe."""
    hall = Hall(boards(settings), settings.game.quiet_plies, settings.game.seat_grace)
    hall.bots = frozenset(each.name for each in settings.bot)
    return hall


async def serve(settings: Settings, folder: Path, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM comes.

    Args:
        settings: All of them.
        folder: Where files are whose names are not absolute.
        announce: Called with one line once connections are accepted.

    Raises:
        StartError: The port is in use, or the host isn't ours.
        StoreError: The store cannot be used.
    """
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    server = Server(settings.server, settings.players, folder=folder, listing=settings.listing)
    # First of all the port: whoever cannot have it must not touch what another server keeps.
    places = await server.bind()
    try:
        async with open_lobby(settings, folder) as lobby:
            await server.start(lobby)
            ways = [f"telnet {host} {port}" for host, port in places]
            ways += [f"with TLS {host} {port}" for host, port in server.tls_places]
            announce("thudmud is ready: " + " or ".join(ways))
            try:
                await _until(stopped, lobby)
            finally:
                await server.stop()
    finally:
        server.close()


@asynccontextmanager
async def open_lobby(settings: Settings, folder: Path) -> AsyncIterator[Lobby]:
    """Open all that is stored, and close it again.

    Raises:
        StoreError: The store cannot be used.
    """
    storage = settings.storage
    async with AsyncExitStack() as stack:
        path = folder / storage.file if storage.backend == "sqlite" else None
        store, node = await stack.enter_async_context(served_store(path))
        talk = Talk(settings.players.chat_per_minute, settings.players.chat_at_once)
        pause = settings.game.replay_pause
        service = service_on(store, furnish(settings), node=node, replay_pause=pause, talk=talk)
        lobby = Lobby(service)
        await lobby.open()
        stack.push_async_callback(lobby.service.close)
        changes: asyncio.Queue[Collection[str]] = asyncio.Queue()
        lobby.keep_out(await store.barred(changes.put_nowait))
        works = background(_check(store, lobby), _keep_out(lobby, changes))
        await stack.enter_async_context(works)
        grace = settings.game.seat_grace
        bots = Bots(settings.bot, lobby, folder, patience=grace, pause=START_AFTER)
        stack.push_async_callback(bots.close)
        bots.start()
        yield lobby


async def _until(stopped: asyncio.Event, lobby: Lobby) -> None:
    """Wait for a signal.

    Raises:
        Exception: what ended the store, or the following of it.
    """
    signalled = asyncio.create_task(stopped.wait())
    ends = [asyncio.create_task(end) for end in (lobby.service.ended(), lobby.store.stopped())]
    await asyncio.wait([signalled, *ends], return_when=asyncio.FIRST_COMPLETED)
    signalled.cancel()
    for end in ends:
        if end.done() and not stopped.is_set():
            _log.critical("what is stored cannot be followed any longer, so the server stops")
            end.result()
        end.cancel()


async def _check(store: Store, lobby: Lobby) -> None:
    """Check all that is stored, once people can come in."""
    await lobby.ready()
    await check(store)


async def _keep_out(lobby: Lobby, changes: asyncio.Queue[Collection[str]]) -> None:
    """Show out whoever is banned or removed while they play.

    Args:
        lobby: where they play.
        changes: all who are banned, whenever somebody may have been banned or removed.
    """
    while True:
        names = await changes.get()
        while not changes.empty():  # the last tells it all
            names = changes.get_nowait()
        lobby.keep_out(names)
        try:
            await lobby.see_out_removed()
        except StoreError as error:
            _log.error("who was removed is not known: %s", error)
