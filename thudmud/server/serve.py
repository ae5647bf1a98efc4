"""The running server: what is opened and closed, in which order, until a signal comes."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TypeVar

from thudmud.accounts.limiters import TalkLimiter
from thudmud.bots.adviser import WorkersAdviser
from thudmud.bots.opponent import START_AFTER
from thudmud.bots.workers import Workers
from thudmud.errors import StartError
from thudmud.language import clean
from thudmud.play.commands import Style
from thudmud.play.hall import BotLevel, Hall
from thudmud.play.table import BoardSpec
from thudmud.search.levels import LEVELS
from thudmud.server.acceptor import Acceptor
from thudmud.server.bots import Bots, require_programs
from thudmud.server.config import Settings
from thudmud.server.sessions import Sessions, make_service
from thudmud.service import Node
from thudmud.store import Damaged, InUse, Store, StoreError

T = TypeVar("T")

_PER_MINUTE = 1 / 60

_log = logging.getLogger(__name__)


async def serve(settings: Settings, folder: Path, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP comes.

    Args:
        settings: all of them.
        folder: where files are whose names are not absolute.
        announce: called with one line once connections are accepted.

    Raises:
        StartError: what the settings name cannot be had or used.
        StoreError: the store cannot be used.
    """
    require_programs(settings.bot, folder)
    stopped = stop_signal()
    server = Acceptor(settings, folder)
    # The port comes first: a server that cannot have it must not touch what another one stores.
    places = await server.bind()
    try:
        async with open_sessions(settings, folder) as sessions:
            await server.start(sessions)
            tune_for_latency()
            ways = [f"telnet {host} {port}" for host, port in places]
            ways += [f"with TLS {host} {port}" for host, port in server.tls_places]
            announce("thudmud is ready: " + " or ".join(ways))
            try:
                await _wait_for_end(stopped, sessions)
            finally:
                await server.stop()
    finally:
        server.close()


@asynccontextmanager
async def open_sessions(settings: Settings, folder: Path) -> AsyncIterator[Sessions]:
    """Open the store, the boards on it, the workers, and the bots; close them again.

    Raises:
        StartError: the file that the settings name is none for a store, or the news cannot be read.
        StoreError: the store cannot be used.
    """
    storage, game, players = settings.storage, settings.game, settings.players
    path = folder / storage.file if storage.backend == "sqlite" else None
    news = read_news(folder / players.news) if players.news else ()
    async with AsyncExitStack() as stack:
        store, node = await stack.enter_async_context(served_store("storage.file", path))
        talk = TalkLimiter(
            players.chat_per_minute * _PER_MINUTE, players.chat_at_once, players.chat_per_address
        )
        hall = Hall(boards(settings), game.quiet_plies, game.seat_grace)
        name_bots(hall, settings)
        hall.news = news
        workers = Workers(settings.server.workers, folder)
        stack.push_async_callback(workers.close)
        service = make_service(
            store,
            hall,
            node=node,
            replay_pause=game.replay_pause,
            talk=talk,
            adviser=WorkersAdviser(workers),
        )
        await service.open()
        await service.settle()
        stack.push_async_callback(service.close)
        sessions = Sessions(service)
        bans: asyncio.Queue[Collection[str]] = asyncio.Queue()
        sessions.ban(await store.barred(bans.put_nowait))
        works = background(_check_once_ready(sessions), _follow_bans(sessions, bans))
        await stack.enter_async_context(works)
        bots = Bots(
            settings.bot,
            sessions,
            folder,
            workers,
            patience=game.seat_grace,
            pause=START_AFTER,
        )
        stack.push_async_callback(bots.close)
        bots.start()
        yield sessions


def name_bots(hall: Hall, settings: Settings) -> None:
    """Let a hall know the bots that the settings describe, and how well each plays."""
    levels = {each.name: BotLevel(each.number, each.name, each.sentence) for each in LEVELS}
    hall.levels = tuple(levels.values())
    hall.bots = {each.name: None if each.command else levels[each.level] for each in settings.bot}


_LONGEST_NEWS = 16_384
"""The most bytes of the news: about ten screens."""


def read_news(path: Path) -> tuple[str, ...]:
    """Return the lines of the news.

    Raises:
        StartError: the file cannot be read, is too long, or is no text.
    """
    try:
        with path.open("rb") as file:
            text = file.read(_LONGEST_NEWS + 1)
    except OSError as error:
        raise StartError(f"players.news: {path}: {error.strerror or error}") from error
    if len(text) > _LONGEST_NEWS:
        raise StartError(f"players.news: {path} is longer than {_LONGEST_NEWS:,} bytes")
    try:
        lines = text.decode("utf-8-sig").strip().splitlines()
    except UnicodeDecodeError as error:
        raise StartError(f"players.news: {path} is not UTF-8") from error
    return tuple(map(clean, lines))


def boards(settings: Settings) -> list[BoardSpec]:
    """Return the boards that the settings describe."""
    return [
        BoardSpec(each.name, each.rules, Style(each.style), each.key) for each in settings.board
    ]


async def _wait_for_end(stopped: asyncio.Event, sessions: Sessions) -> None:
    """Wait for a signal.

    Raises:
        Exception: what ended the store, or the following of it.
    """
    signalled = asyncio.create_task(stopped.wait())
    ends = [
        asyncio.create_task(end) for end in (sessions.service.ended(), sessions.store.stopped())
    ]
    await asyncio.wait([signalled, *ends], return_when=asyncio.FIRST_COMPLETED)
    signalled.cancel()
    for end in ends:
        if end.done() and not stopped.is_set():
            _log.critical("what is stored cannot be followed any longer, so the server stops")
            end.result()
        end.cancel()


async def _check_once_ready(sessions: Sessions) -> None:
    """Check all that is stored, once people can come in."""
    await sessions.ready()
    await check(sessions.store)


async def _follow_bans(sessions: Sessions, bans: asyncio.Queue[Collection[str]]) -> None:
    """End the sessions of players who are banned or removed while they play.

    Args:
        sessions: the sessions.
        bans: gets all who are banned, whenever somebody may have been banned or removed.
    """
    while True:
        names = await bans.get()
        while not bans.empty():  # the last says it all
            names = bans.get_nowait()
        sessions.ban(names)
        try:
            await sessions.end_removed()
        except StoreError as error:
            _log.error("who was removed is not known: %s", error)


# What a gateway does with its store, too.


_SWITCH_INTERVAL = 0.0005


def tune_for_latency() -> None:
    """Let nobody wait for the garbage collector, or for a turn among threads, for long.

    The collector is never again to look through all that has been loaded by now, some sixty
    thousand objects, which takes forty milliseconds. And by Python's default, where many lines keep
    the event loop busy, the store's thread waits five milliseconds after each of SQLite's steps.
    """
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(_SWITCH_INTERVAL)


@asynccontextmanager
async def served_store(setting: str, path: Path | None) -> AsyncIterator[tuple[Store, Node]]:
    """Open a store to serve boards from, in memory if there is no path, and close it again.

    Args:
        setting: what names the file.
        path: of the file.

    Yields:
        the store, and the node that lives on it meanwhile.

    Raises:
        StartError: no store can be kept there.
        StoreError: it is damaged, or another server uses it.
    """
    try:
        store = Store.in_memory() if path is None else await Store.open(path, serving=True)
    except (Damaged, InUse):
        raise
    except StoreError as error:
        raise StartError(f"{setting}: {error}") from error
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
    """Do what nobody waits for, and cancel it in the end. What goes wrong with it is logged."""
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
        _log.error("failed in the background", exc_info=error)


# The event loop.


def stop_signal() -> asyncio.Event:
    """Return what is set once SIGINT, SIGTERM or SIGHUP comes; from now on these end nothing else.

    Where SIGHUP is ignored already, as under nohup, it stays so.
    """
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, stopped.set)
    return stopped


def run_in_loop(work: Coroutine[None, None, T]) -> T:
    """Run something to its end in the fastest event loop there is, and return what comes of it.

    That is uvloop's, where it is installed, else asyncio's own. Players see the same in both.
    """
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        _log.info("starting", extra={"loop": type(runner.get_loop()).__module__.partition(".")[0]})
        return runner.run(work)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop  # noqa: PLC0415  (it is optional)
    except ImportError:
        return None
    return uvloop.new_event_loop
