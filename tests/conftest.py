from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import subprocess
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractContextManager, AsyncExitStack, contextmanager, nullcontext
from pathlib import Path

import pytest
import uvloop
from hypothesis import HealthCheck, settings

from tests import leaks
from tests.accounts.dialogues import CHEAP
from tests.ports import free_ports
from tests.server.plain import PlainService, Serving, Setup
from tests.store.clusters import FAST, Cluster, empty, sessions
from tests.waits import told_of
from tests.warm import cold as started_cold
from tests.warm import warm
from thudmud import features
from thudmud.server.acceptor import Acceptor
from thudmud.server.config import PlayerSettings, ServerSettings, Settings, WebSettings
from thudmud.server.session_registry import Sessions
from thudmud.store import Store

# Shared machines stall now and then, so there are no deadlines. Unchanged code gets the same
# examples, so that failures point to changes; `make soak` explores others with "explore".
EVERY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", EVERY, derandomize=True)
settings.register_profile("explore", EVERY, max_examples=1000)
settings.load_profile("same")

features.load()  # registers words, facts and refusal texts, as a service does

# In the background or under nohup these signals are ignored, which child processes would inherit.
# Handlers are not inherited.
for _signal in (signal.SIGHUP, signal.SIGINT):
    if signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, lambda *_: None)

SOAKING = "THUDMUD_SOAK_ROUNDS" in os.environ
"""Whether `make soak` runs, which repeats randomized tests far more often."""


def examples(most: int) -> settings:
    """Set the number of examples of a property, scaled up in the profile "explore"."""
    return settings(max_examples=most * settings().max_examples // 100)


Loops = Mapping[str, Callable[[], asyncio.AbstractEventLoop]]

ASYNCIO: Loops = {"asyncio": asyncio.new_event_loop}
LOOPS: Loops = {**ASYNCIO, "uvloop": uvloop.new_event_loop}
"""The event loops that a server supports."""

RunServer = Callable[..., AbstractContextManager[tuple[str, int]]]
FreePort = Callable[[], int]
PassTime = Callable[[float], Awaitable[None]]


@pytest.fixture(scope="session", autouse=True)
def _as_players_have_it(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hide ``interegular`` from child processes, and keep the priority of this one.

    Players lack the package. With it Lark checks its own grammar for collisions at each start, a
    third of the start time. Some commands lower the priority of their process, which here would run
    all later tests.
    """
    folder = tmp_path_factory.mktemp("modules")
    (folder / "interegular.py").write_text("raise ImportError\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        patch.setattr(os, "nice", lambda _: os.getpriority(os.PRIO_PROCESS, 0))
        with leaks.watched(), warm():
            yield


@pytest.fixture
def cold() -> Iterator[None]:
    """Start programs without a preloaded process, as players do."""
    with started_cold():
        yield


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """Restore the logging configuration, even if the test configured it as a program.

    Levels are restored by ``setLevel``, which also clears the loggers' caches.
    """
    root, quiet = logging.getLogger(), logging.getLogger("telnetlib3")
    handlers, levels = root.handlers[:], (root.level, quiet.level)
    yield
    for handler in root.handlers:
        if handler not in handlers:
            handler.close()
    root.handlers[:] = handlers
    if (root.level, quiet.level) != levels:
        root.setLevel(levels[0])
        quiet.setLevel(levels[1])


@contextmanager
def running(
    words: Sequence[str | Path], cwd: Path, *, ends_itself: bool = False
) -> Iterator[tuple[str, int]]:
    """Run a server's command line as a process in a folder; yield its address.

    One that ends by itself gets no signal: in its last moments it doesn't handle one any more.
    """
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=cwd) as process:
        try:
            assert process.stdout is not None
            *_, host, port = process.stdout.readline().split()
            yield host, int(port)
            if ends_itself:
                process.wait()
        finally:
            process.terminate()
    assert process.returncode == 0


@pytest.fixture
def run_server(tmp_path: Path) -> RunServer:
    """Return a context manager that runs a server's command line and gives its address.

    Each server stores its data in a fresh folder, unless another is given.
    """

    def run(
        words: Sequence[str | Path], cwd: Path = tmp_path, *, ends_itself: bool = False
    ) -> AbstractContextManager[tuple[str, int]]:
        return running(words, cwd, ends_itself=ends_itself)

    return run


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Return a PostgreSQL server shared by all tests of a process."""
    cluster = Cluster(**FAST)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.remove()


@pytest.fixture(scope="session")
def schema(cluster: Cluster) -> str:
    """Return the connection string of a schema in the cluster."""
    return cluster.schema()


@pytest.fixture
def dsn(schema: str) -> str:
    """Return the connection string of a schema with empty tables, or none yet, which is slower."""
    empty(schema)
    return schema


@pytest.fixture
def free_port() -> Iterator[FreePort]:
    """Return a function that reserves free ports."""
    with free_ports() as find:
        yield find


@pytest.fixture
async def pass_time(monkeypatch: pytest.MonkeyPatch) -> PassTime:
    """Return a function that advances the loop's clock by a number of seconds.

    Time limits can thus be too long for any slow machine to reach by accident. This requires
    asyncio's own loop, as uvloop's clock cannot be set.
    """
    loop = asyncio.get_running_loop()
    now, passed = loop.time, 0.0

    async def pass_by(seconds: float) -> None:
        nonlocal passed
        passed += seconds
        # One round each for the due callbacks, the tasks they wake, and the work of those.
        for _ in range(3):
            await asyncio.sleep(0)

    monkeypatch.setattr(loop, "time", lambda: now() + passed)
    return pass_by


GENEROUS = {
    "port": 0,
    "shutdown_grace": 0.2,
    # Tests connect from one address, and type faster than people.
    "connections_per_address": 1000,
    "accepts_at_once": 10_000,
    "commands_at_once": 1_000_000,
}

NO_WEB = WebSettings(enabled=False)

SERVERS = {"serving", "secure"}
"""Fixtures that start a server in the event loop of the test."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt the 630,000 objects of test collection from garbage collection: all of them stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000)  # about one test; the default cost 1/16 of the time
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Report what a long-running test waits for, in case it fails."""
    with told_of():
        return (yield)


class _Leaks:
    """Fails tests that leave programs running; a plugin, to see session fixtures of all folders."""

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object]
    ) -> Generator[None, object, object]:
        with nullcontext() if fixturedef.scope == "function" else leaks.shared():
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self) -> Generator[None, object, object]:
        result = yield
        leaks.fail_if_any()
        return result


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Leaks())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the state of all PostgreSQL sessions to the report of a failed test."""
    report = yield
    if report.failed and (told := sessions()):
        report.sections.append(("Sessions of PostgreSQL", told))
    return report


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Loops:
    """Run server tests in every supported event loop; slow tests and all others in one."""
    fixtures = set(getattr(item, "fixturenames", ()))
    in_one = "pass_time" in fixtures or item.get_closest_marker("slow")
    return LOOPS if SERVERS & fixtures and not in_one else ASYNCIO


@pytest.fixture
async def serving() -> AsyncIterator[Serving]:
    """Start servers with ``await serving(queue_length=3)``, on a given store or a new one.

    With ``web={"port": 0}`` they also serve the web page.
    """
    async with AsyncExitStack() as stack:

        async def start(
            *,
            store: Store | None = None,
            web: Mapping[str, object] | None = None,
            **changed: object,
        ) -> Setup:
            of_players = {
                key: changed.pop(key) for key in PlayerSettings.model_fields & changed.keys()
            }
            settings = Settings(
                server=ServerSettings.model_validate(GENEROUS | changed),
                players=PlayerSettings.model_validate(of_players),
                web=WebSettings.model_validate(web) if web else NO_WEB,
            )
            if store is None:
                store = Store.in_memory()
                stack.push_async_callback(store.close)
            sessions = Sessions(PlainService(store))
            setup = Setup(Acceptor(settings, hasher=CHEAP), sessions, stack)
            await setup.start()
            return setup

        yield start
