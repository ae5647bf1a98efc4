"""The running server: thudmud's house behind a listening socket, until a signal comes.

Owns the signals, what is opened and closed in which order, and is the one place where the server
meets the game.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from thudmud.bots.opponent import START_AFTER
from thudmud.journal import Journal
from thudmud.journal.memory import MemoryJournal
from thudmud.journal.sqlite import SqliteJournal
from thudmud.play.commands import Style
from thudmud.play.table import BoardSpec
from thudmud.server.bots import Bots
from thudmud.server.limits.talk import Talk
from thudmud.server.listening import Server
from thudmud.server.lobby import Lobby
from thudmud.server.members.accounts import Accounts
from thudmud.server.settings import Settings
from thudmud.text import House

RATED_AT_ONCE = 200
"""Battles whose ratings are worked out before it is the players' turn again."""

_log = logging.getLogger(__name__)


def furnish(settings: Settings) -> House:
    """Return the house that the settings describe."""
    boards = [BoardSpec(each.name, each.rules, Style(each.style)) for each in settings.board]
    house = House(boards, settings.game.quiet_plies, settings.game.seat_grace)
    house.hall.bots = frozenset(each.name for each in settings.bot)
    return house


async def serve(settings: Settings, folder: Path, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM comes.

    Args:
        settings: All of them.
        folder: Where files are whose names are not absolute.
        announce: Called with one line once connections are accepted.

    Raises:
        StartError: The port is in use, or the host isn't ours.
        JournalError: The journal cannot be used.
        AccountsError: The accounts cannot be used.
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
        JournalError: The journal cannot be used.
        AccountsError: The accounts cannot be used.
    """
    storage, house = settings.storage, furnish(settings)
    async with AsyncExitStack() as stack:
        accounts_path = folder / storage.accounts if storage.backend == "sqlite" else None
        if storage.backend == "sqlite":
            _warn_of_half(folder / storage.file, folder / storage.accounts)
        accounts = await Accounts.open(accounts_path)
        stack.push_async_callback(accounts.close)
        journal: Journal = MemoryJournal()
        if storage.backend == "sqlite":
            journal = await SqliteJournal.open(folder / storage.file)
        stack.push_async_callback(journal.close)
        talk = Talk(settings.players.chat_per_minute, settings.players.chat_at_once)
        lobby = Lobby(house, journal, accounts, replay_pause=settings.game.replay_pause, talk=talk)
        await lobby.scribe.open()
        stack.push_async_callback(lobby.scribe.close)
        for work in (_rate(house, lobby), _keep_out(lobby)):
            stack.callback(_begin(work).cancel)
        grace = settings.game.seat_grace
        bots = Bots(settings.bot, lobby, folder, patience=grace, pause=START_AFTER)
        stack.push_async_callback(bots.close)
        bots.start()
        yield lobby


def _warn_of_half(journal: Path, accounts: Path) -> None:
    """Warn if only one of the two files is there, before the other is begun anew."""
    for here, missing in ((journal, accounts), (accounts, journal)):
        if here.exists() and not missing.exists():
            _log.warning(
                "%s is there, but %s is not: an empty one is begun. If there should be one, stop"
                " the server, delete the new one and bring yours back",
                here,
                missing,
            )


async def _until(stopped: asyncio.Event, lobby: Lobby) -> None:
    """Wait for a signal.

    Raises:
        JournalError: the journal cannot be followed any longer; or whatever else ended that.
    """
    signalled = asyncio.create_task(stopped.wait())
    ended = asyncio.create_task(lobby.scribe.ended())
    await asyncio.wait([signalled, ended], return_when=asyncio.FIRST_COMPLETED)
    signalled.cancel()
    if ended.done() and not stopped.is_set():
        _log.critical("the journal can be followed no longer, so the server stops")
        ended.result()
    ended.cancel()


async def _rate(house: House, lobby: Lobby) -> None:
    """Work the ratings out of all battles that have been played before, a few at a time."""
    await lobby.ready()
    while house.hall.standings.rate(RATED_AT_ONCE):  # noqa: ASYNC110  (it waits for nothing)
        await asyncio.sleep(0)


async def _keep_out(lobby: Lobby) -> None:
    """Show out whoever is banned or removed while they play."""
    async for names in lobby.accounts.barred():
        lobby.keep_out(names)


def _begin(work: Coroutine[None, None, None]) -> asyncio.Task[None]:
    """Begin what nobody waits for; what goes wrong with it is logged."""
    task = asyncio.create_task(work)
    task.add_done_callback(_log_failure)
    return task


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        _log.error("failed behind the players' backs", exc_info=error)
