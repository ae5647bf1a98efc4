"""The running server: a store, boards on it, and listening sockets, until a signal comes.

What is opened and closed in which order stands here. The event loop is uvloop's where that is
installed, else asyncio's own; what players see is the same in both.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from thudmud.accounts.throttles import Talk
from thudmud.bots.opponent import START_AFTER
from thudmud.play.commands import Style
from thudmud.play.hall import Hall
from thudmud.play.table import BoardSpec
from thudmud.server.acceptor import Server
from thudmud.server.bots import Bots
from thudmud.server.config import Settings
from thudmud.server.lobby import Lobby, service_on
from thudmud.service import Node
from thudmud.store import Store, StoreError

Factory = Callable[[], asyncio.AbstractEventLoop]
T = TypeVar("T")

_log = logging.getLogger(__name__)


def run_in_loop(work: Coroutine[None, None, T]) -> T:
    """Run something to its end in a loop of its own, and return what comes of it."""
    with asyncio.Runner(loop_factory=factory()) as runner:
        _log.info("starting", extra={"loop": type(runner.get_loop()).__module__.partition(".")[0]})
        return runner.run(work)


def factory() -> Factory:
    """Return what makes the fastest loop that there is."""
    try:
        made: Factory = import_module("uvloop").new_event_loop
    except ImportError:
        return asyncio.new_event_loop
    return made


@asynccontextmanager
async def served_store(path: Path | None) -> AsyncIterator[tuple[Store, Node]]:
    """Open a store to serve boards from, in memory if there is no path, and close it again.

    Yields:
        it, and the node that lives on it meanwhile.

    Raises:
        StoreError: it cannot be used, or another server uses it.
    """
    store = Store.in_memory() if path is None else await Store.open(path, serving=True)
    try:
        node = Node(store)
        await node.open()
        async with background(node.live()):
            yield store, node
        await node.close()
    finally:
        await store.close()


async def check(store: Store) -> None:
    """Check all that is stored; what is found is logged."""
    try:
        damage = await store.check()
    except StoreError as error:
        _log.error("what is stored could not be checked: %s", error)
    else:
        if damage:
            _log.critical("nothing is stored any more: %s", damage.what)


@asynccontextmanager
async def background(*works: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Do what nobody waits for, and end it, with any process that it may have begun.

    What goes wrong with it is logged.
    """
    tasks = [asyncio.create_task(work) for work in works]
    for task in tasks:
        task.add_done_callback(_log_failure)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        _log.error("failed behind the players' backs", exc_info=error)


def boards(settings: Settings) -> list[BoardSpec]:
    """Return the boards that the settings describe."""
    return [
        BoardSpec(each.name, each.rules, Style(each.style), each.key) for each in settings.board
    ]


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
