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
from thudmud.server.sessions import Sessions
from thudmud.store import Store

# Shared machines stall now and then: no example is timed, nor what makes it. The same code is tried
# with the same examples, so that a test fails where something was changed; `make soak` looks for
# others with the profile "explore".
EVERY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", EVERY, derandomize=True)
settings.register_profile("explore", EVERY, max_examples=1000)
settings.load_profile("same")

features.load()  # registers their words, facts and refusal texts, as a service does

# Where we run in the background, or by nohup, signals are ignored that programs that we start would
# then ignore as well: what is handled here is not handed down to them.
for _signal in (signal.SIGHUP, signal.SIGINT):
    if signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, lambda *_: None)

SOAKING = "THUDMUD_SOAK_ROUNDS" in os.environ
"""Whether `make soak` runs: what is tried a few times in each test run is tried often then."""


def examples(most: int) -> settings:
    """Let a property be tried with so many examples, and in the profile "explore" with as many more
    as all others."""
    return settings(max_examples=most * settings().max_examples // 100)


Loops = Mapping[str, Callable[[], asyncio.AbstractEventLoop]]

ASYNCIO: Loops = {"asyncio": asyncio.new_event_loop}
LOOPS: Loops = {**ASYNCIO, "uvloop": uvloop.new_event_loop}
"""What a server may run in."""

RunServer = Callable[..., AbstractContextManager[tuple[str, int]]]
FreePort = Callable[[], int]
PassTime = Callable[[float], Awaitable[None]]


@pytest.fixture(scope="session", autouse=True)
def _as_players_have_it(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let programs that tests start find no ``interegular``, which players have not either.

    Where Lark finds it, it looks for collisions in its own grammar at each start, which takes a
    third of that.
    """
    folder = tmp_path_factory.mktemp("modules")
    (folder / "interegular.py").write_text("raise ImportError\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        with leaks.watched(), warm():
            yield


@pytest.fixture
def cold() -> Iterator[None]:
    """Start programs as players do: nothing of them has been loaded before."""
    with started_cold():
        yield


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """Leave logging to the next test as this one found it, also when a program began it here.

    Levels are set by ``setLevel``: loggers keep in mind what is enabled until that is called.
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
def running(words: Sequence[str | Path], cwd: Path) -> Iterator[tuple[str, int]]:
    """Run a server's command line as a process in a folder; yield where it listens."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=cwd) as process:
        try:
            assert process.stdout is not None
            *_, host, port = process.stdout.readline().split()
            yield host, int(port)
        finally:
            process.terminate()
    assert process.returncode == 0


@pytest.fixture
def run_server(tmp_path: Path) -> RunServer:
    """Return what runs a server's command line as a process, and gives where it listens.

    What it stores is in a folder of its own, unless another is given.
    """

    def run(
        words: Sequence[str | Path], cwd: Path = tmp_path
    ) -> AbstractContextManager[tuple[str, int]]:
        return running(words, cwd)

    return run


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Return a server of PostgreSQL that all tests of a process share."""
    cluster = Cluster(**FAST)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.remove()


@pytest.fixture(scope="session")
def schema(cluster: Cluster) -> str:
    """Return how to connect to a schema of it."""
    return cluster.schema()


@pytest.fixture
def dsn(schema: str) -> str:
    """Return how to connect to tables that are empty, or yet to be made, which takes longer."""
    empty(schema)
    return schema


@pytest.fixture
def free_port() -> Iterator[FreePort]:
    """Return what finds a port that is free, and stays so."""
    with free_ports() as find:
        yield find


@pytest.fixture
async def pass_time(monkeypatch: pytest.MonkeyPatch) -> PassTime:
    """Return what lets so many seconds pass at once for the timers of the loop.

    With it a limit can be so long that no machine is too slow for what has to come before. It needs
    asyncio's own loop: uvloop's clock cannot be set.
    """
    loop = asyncio.get_running_loop()
    now, passed = loop.time, 0.0

    async def pass_by(seconds: float) -> None:
        nonlocal passed
        passed += seconds
        # What is due is called, wakes whoever has slept, and those do their work.
        for _ in range(3):
            await asyncio.sleep(0)

    monkeypatch.setattr(loop, "time", lambda: now() + passed)
    return pass_by


GENEROUS = {
    "port": 0,
    "shutdown_grace": 0.2,
    # Tests come from one address, and faster than people type.
    "connections_per_address": 1000,
    "accepts_at_once": 10_000,
    "commands_at_once": 1_000_000,
}

NO_WEB = WebSettings(enabled=False)

SERVERS = {"serving", "secure"}
"""What starts a server in the loop of a test."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among what is collected: all of it stays: 630,000 objects."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000)  # a test makes as much and is over: by default it took a sixteenth
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Tell what everybody waits for where a test takes long, in case that it fails."""
    with told_of():
        return (yield)


class _Leaks:
    """Fails tests that leave programs running. A plugin: fixtures of a session are no folder's."""

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
    """Tell what every session of PostgreSQL does where a test has failed."""
    report = yield
    if report.failed and (told := sessions()):
        report.sections.append(("Sessions of PostgreSQL", told))
    return report


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Loops:
    """Test a server in each loop that it may run in; what is slow, and all else, in one."""
    fixtures = set(getattr(item, "fixturenames", ()))
    in_one = "pass_time" in fixtures or item.get_closest_marker("slow")
    return LOOPS if SERVERS & fixtures and not in_one else ASYNCIO


@pytest.fixture
async def serving() -> AsyncIterator[Serving]:
    """Start servers: ``await serving(queue_length=3)``, with a store that is there or another.

    With ``web={"port": 0}`` they have the page, too.
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
