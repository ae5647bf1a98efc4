"""Server life cycle: start-up and shutdown order, signals and reloading."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from functools import partial
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import TypeVar

from thudmud import features
from thudmud.accounts.limiters import StorageQuota, TalkLimiter
from thudmud.bots.adviser import WorkersAdviser
from thudmud.bots.naming import name_bots
from thudmud.bots.opponent import START_AFTER
from thudmud.bots.session import level_of_each
from thudmud.bots.workers import Workers
from thudmud.english import pluralize
from thudmud.errors import NotYetError, StartError, system_reason
from thudmud.game.feature import Figure, Serving
from thudmud.game.hall import Caps, Hall
from thudmud.game.options import Style
from thudmud.game.sanctions import Order
from thudmud.game.table import BoardSpec
from thudmud.language import clean
from thudmud.server import logs
from thudmud.server.acceptor import Acceptor
from thudmud.server.bots import Bots, require_programs
from thudmud.server.config import (
    ConfigError,
    PlayerSettings,
    Settings,
    StorageSettings,
    changed_keys,
    common_settings,
    with_changes,
)
from thudmud.server.session_registry import Sessions, make_service
from thudmud.server.shared_store import ServerUpgrade, leader_lock, open_store, serving_lock
from thudmud.server.systemd import ServiceManager
from thudmud.service import Node
from thudmud.store import (
    DamagedStoreError,
    Holder,
    Lock,
    OtherSettingsError,
    Store,
    StoreError,
    StoreInUseError,
    UnknownFormatError,
    Upgrade,
    accounts,
    upkeep,
)
from thudmud.store.steady import SteadyClock
from thudmud.version import install_hint

T = TypeVar("T")
Limits = tuple[float, float, float]

_PER_MINUTE, _PER_HOUR = 1 / 60, 1 / 3600

AGREE = (
    "All servers on a database need the same settings. To change one, change it on each server "
    "and restart them one after the other: they start serving once none is left with the old "
    "settings."
)

_log = logging.getLogger(__name__)


async def serve(
    settings: Settings,
    folder: Path,
    announce: Callable[[str], None],
    reread: Callable[[], Settings] | None = None,
) -> None:
    """Run the server until SIGINT, SIGTERM or SIGHUP.

    Args:
        settings: all settings.
        folder: the base folder of relative file names.
        announce: called with one line when the server accepts connections or stands by.
        reread: reads the settings again, or raises ConfigError. With it, SIGHUP reloads the
            settings; without it, SIGHUP stops the server.

    Raises:
        StartError: the settings name something unusable.
        StoreError: the store can't be used.
    """
    require_programs(settings.bot, folder)
    manager, hangups = ServiceManager(), asyncio.Event()
    stopped = install_signal_handlers(hangups if reread else None)
    async with run_in_background(manager.watch()), AsyncExitStack() as stack:
        if settings.storage.backend == "postgresql":
            lock = _serving_lock(settings.storage, stopped, manager, announce)
            if not await stack.enter_async_context(lock):
                manager.stopping(stopped.why)
                return
        server = Acceptor(settings, folder)
        # Bind first: a server that can't have its port must not touch the store of another.
        places = await server.bind()
        stack.callback(server.close)
        upgrade = stack.enter_context(_upgrade(server, manager, stopped))
        opened = open_sessions(settings, folder, upgrade)
        async with opened as sessions, AsyncExitStack() as meanwhile:
            if settings.metrics.enabled:
                await meanwhile.enter_async_context(_measured(settings, server, sessions))
            sessions.service.server_stopper = stopped.ask
            await server.start(sessions)
            tune_for_latency()
            if reread:
                reload = Reload(settings, folder, reread, server, sessions)
                following = run_in_background(_follow_hangups(hangups, reload, manager))
                await meanwhile.enter_async_context(following)
            announce(_ready_line(settings, server, places))
            manager.status = partial(_status, sessions)
            manager.ready()
            await meanwhile.enter_async_context(
                run_in_background(_preload_modules(settings, server))
            )
            await _serve_until_end(stopped, server, sessions, manager)
        _log.info("stopped")


def _serving_lock(
    storage: StorageSettings,
    stopped: Shutdown,
    manager: ServiceManager,
    announce: Callable[[str], None],
) -> AbstractAsyncContextManager[bool]:
    """Return the `serving_lock` of a server that reports when it stands by."""

    def stand_by(line: str) -> None:
        manager.status = lambda: "Standing by"
        manager.ready()
        announce(line)

    return serving_lock(storage, stopped, stand_by, stopped.ask)


@contextmanager
def _upgrade(
    server: Acceptor, manager: ServiceManager, stopped: Shutdown
) -> Iterator[ServerUpgrade]:
    """Yield the permission to upgrade the store, until the server has to stop.

    Meanwhile the service manager shows the progress, and connections are turned away in words.
    """
    loop = asyncio.get_running_loop()

    def show(status: str) -> None:
        manager.starting(status)
        server.turn_away()

    # Called in the store's thread; `show` runs in the loop before that learns of the end.
    upgrade = ServerUpgrade(
        lambda status: loop.call_soon_threadsafe(show, status), should_stop=stopped.is_set
    )
    try:
        yield upgrade
    except (StartError, StoreError) as error:
        if not upgrade.is_stopped:
            raise
        _log.warning("stopped", extra={"why": str(error)})


def _ready_line(settings: Settings, server: Acceptor, places: Iterable[tuple[str, int]]) -> str:
    """Return the line that tells the operator how to connect."""
    ways = [*server.web_links, *(f"telnet {host} {port}" for host, port in places)]
    ways += [f"with TLS {host} {port}" for host, port in server.tls_places]
    line = "thudmud is ready: " + " or ".join(ways)
    if server.uses_fallback_port:
        line += f" (port {settings.web.port} is in use, so the page has another)"
    return line


def _measured(
    settings: Settings, server: Acceptor, sessions: Sessions
) -> AbstractAsyncContextManager[None]:
    """Return the context manager that serves metrics.

    Raises:
        StartError: prometheus-client isn't installed.
    """
    require_metrics()
    from thudmud.server.metrics import serve_metrics  # noqa: PLC0415  (an optional dependency)

    return serve_metrics(settings.metrics, server, sessions)


def require_metrics() -> None:
    """Raise StartError unless prometheus-client is installed."""
    try:
        import_module("prometheus_client")
    except ImportError as error:
        raise StartError(
            f"metrics.enabled needs prometheus-client. {install_hint('metrics')}"
        ) from error


def _status(sessions: Sessions) -> str:
    tables = sessions.service.hall.tables.values()
    battles = pluralize(sum(table.is_running for table in tables), "battle")
    return f"{pluralize(sessions.player_count, 'player')}, {battles} under way"


@asynccontextmanager
async def open_sessions(
    settings: Settings, folder: Path, upgrade: Upgrade | None = None
) -> AsyncIterator[Sessions]:
    """Open the store, boards, workers and bots, and close them at the end of the context.

    Args:
        settings: all settings.
        folder: the base folder of relative file names.
        upgrade: permits the store's upgrade; by default one that is only logged.

    Raises:
        StartError: the configured file isn't a store, or the news can't be read.
        StoreError: the store can't be used.
    """
    storage = settings.storage
    news = read_news(settings, folder)
    async with AsyncExitStack() as stack:
        # Entered first, so released last: a server that takes over the bots finds our lease ended.
        holders = await stack.enter_async_context(leader_lock(storage, Lock.BOTS))
        served: list[Serving] = [
            module.serve(settings, folder)
            for module in features.modules("serving", settings.features.off)
        ]
        common = common_settings(settings)
        for each in served:
            common |= each.common
        opened = open_serving_store(storage, folder, common=common, upgrade=upgrade)
        store, node = await stack.enter_async_context(opened)
        hall = Hall(configured_boards(settings), **settings.game.limits)
        name_bots(hall, level_of_each(settings.bot))
        configure(hall, settings, news)
        workers = Workers(settings.server.workers, folder)
        stack.push_async_callback(workers.close)
        sessions = _make_sessions(settings, store, node, hall, workers)
        service = sessions.service
        await service.open()
        await service.finish_start()
        stack.push_async_callback(service.close)
        changed = await _watch_orders(sessions)
        await _begin_features(served, sessions, storage, stack)
        works = _check_once_ready(sessions), follow_logins(sessions, changed)
        clock = log_clock_changes(store.clock)
        await stack.enter_async_context(run_in_background(*works, clock))
        patience = settings.game.seat_grace
        bots = Bots(settings.bot, sessions, folder, workers, patience=patience, pause=START_AFTER)
        stack.push_async_callback(bots.close)
        await stack.enter_async_context(run_in_background(bots.follow(holders)))
        yield sessions


def _make_sessions(
    settings: Settings, store: Store, node: Node, hall: Hall, workers: Workers
) -> Sessions:
    """Create the sessions, and their service, which has to be opened."""
    players = settings.players
    talk, shouts, reports = (TalkLimiter(*limits) for limits in talk_limits(players))
    quota = StorageQuota(players.stored_per_hour)
    service = make_service(
        store,
        hall,
        node=node,
        clock=store.clock,
        replay_pause=settings.game.replay_pause,
        talk=talk,
        shouts=shouts,
        reports=reports,
        quota=quota,
        adviser=WorkersAdviser(workers),
        without=settings.features.off,
        return_within=players.return_within,
    )
    sessions = Sessions(service, settings.listing.contact)
    sessions.talk, sessions.shouts, sessions.reports = talk, shouts, reports
    sessions.quota = quota
    return sessions


async def _watch_orders(sessions: Sessions) -> asyncio.Event:
    """Apply the stored operators and sanctions to the sessions, now and after each change.

    Returns:
        An event that is set after each change.
    """
    changed = asyncio.Event()

    def follow(order: Order) -> None:
        sessions.apply_order(order)
        changed.set()

    sessions.apply_order(await sessions.store.watch(accounts.order, follow))
    return changed


async def _begin_features(
    served: Sequence[Serving], sessions: Sessions, storage: StorageSettings, stack: AsyncExitStack
) -> None:
    """Start the background work of features, and end it when the stack is closed.

    Their pages and figures are registered with the sessions.
    """

    def lock(key: Lock) -> Awaitable[asyncio.Queue[Holder]]:
        return stack.enter_async_context(leader_lock(storage, key))

    for each in served:
        if work := await each.begin(sessions.service, lock):
            await stack.enter_async_context(run_in_background(work))
    sessions.pages = lambda: [page for each in served for page in each.pages]
    sessions.measure = partial(_measure_features, served)


async def _measure_features(served: Iterable[Serving]) -> Sequence[Figure]:
    """Return the figures of all features for monitoring systems.

    Raises:
        StoreError: the store can't be read.
    """
    return [figure for each in served for figure in await each.measure()]


def configure(hall: Hall, settings: Settings, news: Sequence[str] = ()) -> None:
    """Apply the news, and the settings of players and features, to a hall."""
    players = settings.players
    caps = Caps(
        seeks=players.seeks,
        boards=players.boards,
        seeks_per_address=players.seeks_per_address,
        boards_per_address=players.boards_per_address,
        only_members_open_boards=players.new_boards_for_members,
    )
    hall.configure(news=news, caps=caps)
    for each in features.load():
        if each.configure:
            each.configure(hall, settings)


REPORTS_PER_ADDRESS = 2
"""Reports per hour from one address, as a multiple of the open reports that a player may have."""


def talk_limits(players: PlayerSettings) -> tuple[Limits, Limits, Limits]:
    """Return the arguments of the `TalkLimiter` for messages, for shouts and for reports.

    Each is a rate per second, a burst, and the factor for all names at one address. The factor is 1
    for reports.
    """
    share, reports = players.chat_per_address, max(1, REPORTS_PER_ADDRESS * players.reports)
    return (
        (players.chat_per_minute * _PER_MINUTE, players.chat_at_once, share),
        (players.shouts_per_minute * _PER_MINUTE, players.shouts_at_once, share),
        (reports * _PER_HOUR, reports, 1),
    )


_SET = 5.0
"""Seconds of difference above which the system clock was set, not just adjusted."""

_LONGEST_NEWS = 16_384
"""The largest size of the news file in bytes: about ten screens."""


def read_news(settings: Settings, folder: Path) -> tuple[str, ...]:
    """Read the lines of the configured news file; none if there is no such file.

    Raises:
        StartError: the file can't be read, is too long, or isn't UTF-8.
    """
    if not settings.players.news:
        return ()
    path = folder / settings.players.news
    try:
        with path.open("rb") as file:
            text = file.read(_LONGEST_NEWS + 1)
    except OSError as error:
        raise StartError(f"players.news: {path}: {system_reason(error)}") from error
    if len(text) > _LONGEST_NEWS:
        raise StartError(f"players.news: {path} is longer than {_LONGEST_NEWS:,} bytes")
    try:
        lines = text.decode("utf-8-sig").strip().splitlines()
    except UnicodeDecodeError as error:
        raise StartError(f"players.news: {path} is not UTF-8 text") from error
    return tuple(map(clean, lines))


def configured_boards(settings: Settings) -> list[BoardSpec]:
    """Return the configured boards."""
    return [
        BoardSpec(each.name, each.rules, Style(each.style), each.key, each.description)
        for each in settings.board
    ]


async def _serve_until_end(
    stopped: Shutdown, server: Acceptor, sessions: Sessions, manager: ServiceManager
) -> None:
    """Wait as `_wait_for_end` does, then stop the server, even after an error."""
    try:
        await _wait_for_end(stopped, sessions)
    finally:
        why = stopped.why or "an error"
        _log.info("stopping", extra={"why": why, "players": sessions.player_count})
        manager.stopping(why)
        await server.stop()


async def _wait_for_end(stopped: Shutdown, sessions: Sessions) -> None:
    """Wait for a request to stop, or for the end of the service or store.

    Raises:
        NotYetError: the store has failed, or its entries can't be followed.
        Exception: a bug has ended the service.
    """
    signalled = asyncio.create_task(stopped.wait())
    ends = [
        asyncio.create_task(end)
        for end in (sessions.service.wait_ended(), sessions.store.wait_stopped())
    ]
    await asyncio.wait([signalled, *ends], return_when=asyncio.FIRST_COMPLETED)
    signalled.cancel()
    for end in ends:
        if end.done() and not stopped.is_set():
            _log.critical("cannot serve boards any longer: stopping")
            try:
                end.result()
            except StoreError as error:  # a restart may help: it reads everything again
                raise NotYetError(str(error)) from error
        end.cancel()


async def _check_once_ready(sessions: Sessions) -> None:
    """Check the store once players can log in."""
    await sessions.ready()
    await check_store(sessions.store)


async def log_clock_changes(clock: Callable[[], float], pause: float = 60.0) -> None:
    """Log changes of the system clock, which the clocks of battles ignore.

    Args:
        clock: the server's clock.
        pause: seconds between checks.
    """
    noted = 0.0
    while isinstance(clock, SteadyClock):
        if abs(clock.offset - noted) > _SET:
            noted = clock.offset
            _log.warning(
                "the system clock was set, and is now %+.0f seconds from the server's clock, "
                "which follows it at the next start",
                noted,
            )
        await asyncio.sleep(pause)


async def follow_logins(sessions: Sessions, changed: asyncio.Event, pause: float = 5.0) -> None:
    """End sessions whose accounts are removed or logged out elsewhere, in an endless loop.

    Args:
        sessions: the sessions.
        changed: set whenever an account may have changed.
        pause: seconds before a retry after the accounts couldn't be read.
    """
    while True:
        await changed.wait()
        changed.clear()
        try:
            await sessions.end_logged_out()
        except StoreError as error:
            _log.error("could not read which logins are still valid: %s", error)
            changed.set()  # else a stolen password would stay useful until the next change
            await asyncio.sleep(pause)
        except Exception:  # noqa: BLE001  (a bug must not end this loop)
            _log.exception("could not end the sessions of expired logins")


# Shared with the gateway.


_SWITCH_INTERVAL = 0.0005


def tune_for_latency() -> None:
    """Tune garbage collection and thread switching for low latency.

    All current objects are frozen, as `thudmud.cli.main` does after loading: collecting these sixty
    thousand objects would take forty milliseconds each time. The switch interval is shortened for
    the store's thread. With Python's default it waits five milliseconds after each SQLite step
    while the event loop is busy.
    """
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(_SWITCH_INTERVAL)


async def _preload_modules(settings: Settings, server: Acceptor) -> None:
    """Import the modules for the first command and the first web request, after the start."""
    if settings.web.enabled:
        await asyncio.to_thread(import_module, "thudmud.server.pages")
        server.prepare_page()
    await asyncio.to_thread(import_module, "thudmud.language.grammar")
    gc.freeze()


@asynccontextmanager
async def open_serving_store(
    storage: StorageSettings,
    folder: Path,
    setting: str = "storage",
    common: Mapping[str, str] | None = None,
    upgrade: Upgrade | None = None,
) -> AsyncIterator[tuple[Store, Node]]:
    """Open a store and a node for serving boards, and close both at the end of the context.

    Args:
        storage: the location of the store.
        folder: the base folder of a relative file name.
        setting: the name of the settings section, for error messages.
        common: the settings that all servers on the store must share.
        upgrade: as for `open_sessions`.

    Yields:
        The store, and a live node on it.

    Raises:
        StartError: the location isn't usable. It is a NotYetError if other servers have different
            settings, or the database is unavailable.
        StoreError: the store is damaged, or in use by another server.
    """
    try:
        store = await open_store(storage, folder, serving=True, upgrade=upgrade or ServerUpgrade())
    except (DamagedStoreError, StoreInUseError):
        raise
    except StoreError as error:
        raise _as_start_error(error, storage, setting) from error
    try:
        node = Node(store, settings=None if store.is_exclusive else common)
        await _open(node)
        try:
            async with run_in_background(node.run_heartbeat()):
                yield store, node
        finally:
            await node.close()  # otherwise other servers would believe a failed one alive
    except DamagedStoreError:
        raise
    except StoreError as error:
        if storage.backend != "postgresql":
            raise
        # A retry helps as well if another version has migrated the store since it was opened.
        raise NotYetError(f"{setting}.dsn: {error}") from error
    finally:
        await store.close()


def _as_start_error(error: StoreError, storage: StorageSettings, setting: str) -> StartError:
    """Convert a store error into a start error.

    It is a NotYetError if the database may return soon, so that the service manager tries again.
    """
    if storage.backend != "postgresql":
        return StartError(f"{setting}.file: {error}")
    kind = StartError if isinstance(error, UnknownFormatError) else NotYetError
    return kind(f"{setting}.dsn: {error}")


async def _open(node: Node) -> None:
    """Open a node once all nodes with different settings have ended.

    Raises:
        NotYetError: such nodes are alive after one lease, by which a killed node's has expired.
    """
    until = monotonic() + node.lease
    while True:
        try:
            await node.open()
        except OtherSettingsError as error:
            if monotonic() > until:
                raise NotYetError(f"{error}. {AGREE}") from error
        else:
            return
        await asyncio.sleep(1)


async def check_store(store: Store) -> None:
    """Check the store, finish a pending rebuild of its projections, and log problems."""
    try:
        damage = await store.check()
        if not damage:
            await upkeep.finish(store)
    except StoreError as error:
        _log.error("could not check the store: %s", error)
    else:
        if damage:
            _log.critical("storing is disabled: %s", damage)


@asynccontextmanager
async def run_in_background(*works: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Run coroutines as tasks, cancel them at the end of the context, and log exceptions."""
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
        _log.error("a background task failed", exc_info=error)


# The event loop.


class Shutdown(asyncio.Event):
    """Event that is set when the server has to stop, with the reason for the log."""

    why = ""

    def ask(self, why: str) -> None:
        """Request a shutdown; only the first reason is recorded."""
        self.why = self.why or why
        self.set()


def install_signal_handlers(hangups: asyncio.Event | None = None) -> Shutdown:
    """Install handlers for SIGINT, SIGTERM and SIGHUP, which set the returned event.

    SIGHUP stays ignored if it already is, as under nohup.

    Args:
        hangups: set by SIGHUP instead, if given.
    """
    stopped = Shutdown()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.ask, number.name)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        heard = hangups.set if hangups else partial(stopped.ask, signal.SIGHUP.name)
        loop.add_signal_handler(signal.SIGHUP, heard)
    return stopped


# Reloading.


class Reload:
    """Reloads the settings, and applies those that a running server can change."""

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        reread: Callable[[], Settings],
        server: Acceptor,
        sessions: Sessions,
    ) -> None:
        self._settings, self._folder, self._reread = settings, folder, reread
        self._server, self._sessions = server, sessions

    def __call__(self) -> None:
        """Reload settings, certificates and news; change nothing if any of them is invalid."""
        try:
            wanted = self._reread()
            live, others = changed_keys(self._settings, wanted)
            settings = with_changes(self._settings, wanted, live)
            news = read_news(settings, self._folder)
            contexts = self._server.contexts(settings)
            if settings.log != self._settings.log or {"server.log_level", "server.log_file"} & {
                *live
            }:
                set_up_logging(settings, self._folder)
        except (ConfigError, StartError) as error:
            self._server.has_failed_reload = True
            _log.error("could not reload the settings", extra={"why": str(error)})
            return
        self._settings = settings
        self._server.adopt(settings, contexts)
        hall = self._sessions.service.hall
        configure(hall, settings, news)
        self._sessions.contact = settings.listing.contact
        sessions = self._sessions
        limiters = sessions.talk, sessions.shouts, sessions.reports
        for limiter, limits in zip(limiters, talk_limits(settings.players), strict=True):
            if limiter:
                limiter.adopt(*limits)
        if sessions.quota:
            sessions.quota.adopt(settings.players.stored_per_hour)
        _log.info("reloaded settings and certificates", extra={"changed": " ".join(live)})
        if others:
            _log.warning(
                "some changed settings need a restart", extra={"settings": " ".join(others)}
            )


async def _follow_hangups(
    hangups: asyncio.Event, reload: Callable[[], None], manager: ServiceManager
) -> None:
    """Reload the settings after each SIGHUP."""
    while True:
        await hangups.wait()
        hangups.clear()
        manager.reloading()
        try:
            reload()
        finally:
            manager.ready()


def set_up_logging(settings: Settings, folder: Path) -> None:
    """Set up logging according to the settings.

    Raises:
        StartError: the log file can't be written.
    """
    server = settings.server
    path = folder / server.log_file if server.log_file else None
    logs.configure_logging(server.log_level, path, settings.log.format)


def run_in_loop(work: Coroutine[None, None, T]) -> T:
    """Run a coroutine in uvloop if it is installed, else in asyncio's own event loop.

    The server behaves the same in both.

    Returns:
        The result of the coroutine.
    """
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        _log.info("starting", extra={"loop": type(runner.get_loop()).__module__.partition(".")[0]})
        return runner.run(work)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop  # noqa: PLC0415  (an optional dependency)
    except ImportError:
        return None
    return uvloop.new_event_loop
