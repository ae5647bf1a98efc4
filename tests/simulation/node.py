"""A simulated server: `thudmud serve` without sockets, on the world's event loop and database."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import psycopg
from argon2 import PasswordHasher

from tests.simulation.clockwork import Process, Queue, Thread, World
from tests.simulation.database import (
    AdvisoryLock,
    Connection,
    Database,
    Listener,
    ServerCursor,
    Watch,
    time_limit,
)
from tests.simulation.disk import SlowDisk
from tests.simulation.engines import Engine
from tests.simulation.network import Wire
from tests.simulation.versions import by_version, explored
from thudmud import child
from thudmud.accounts import passwords
from thudmud.features.tournaments.settings import TournamentSettings
from thudmud.server import runtime
from thudmud.server.acceptor import Acceptor
from thudmud.server.config import (
    BoardSettings,
    BotSettings,
    GameSettings,
    PlayerSettings,
    ServerSettings,
    Settings,
    StorageSettings,
)
from thudmud.server.session_registry import Sessions
from thudmud.service import Node, Service, nodes
from thudmud.store import Lock, postgres, running, store, streams
from thudmud.store import nodes as node_rows
from thudmud.store.backend import Heard
from thudmud.store.steady import SteadyClock

HASHER = PasswordHasher(1, 8, 1)

SETTINGS = Settings(  # type: ignore[call-arg]  # it has the sections of features
    server=ServerSettings(accepts_per_second=1000, accepts_at_once=1000, workers=1),
    players=PlayerSettings(
        names_per_hour=100_000,
        chat_per_minute=10_000,
        chat_at_once=1000,
        shouts_per_minute=10_000,
        shouts_at_once=1000,
    ),
    game=GameSettings(first_move=0.0),  # so that a clock that stands for too long is noticed
    storage=StorageSettings(backend="postgresql", dsn="dbname=world"),
    board=(BoardSettings(name="oak board"), BoardSettings(name="pine board", style="brief")),
    tournaments=TournamentSettings(by="everybody", grace=5.0, rest=1.0),
)

BOTS = (
    BotSettings(name="Grog", command=(sys.executable,), seconds=1.0, pause=0.5, restarts=2),
    BotSettings(name="Detritus", level="Granite", pause=0.2),
)


class Server:
    """A process that serves boards from a database.

    Args:
        world: the world.
        base: the database.
        name: the name of the node.
        settings: its configuration.

    Attributes:
        is_announced: whether it has announced its readiness.
    """

    def __init__(
        self, world: World, base: Database, name: str, settings: Settings = SETTINGS
    ) -> None:
        self.world, self.base, self.name = world, base, name
        self.wires: list[Wire] = []
        self.is_announced = False
        self.process = Process(world, name)
        self.process.run(self._run(settings))

    @property
    def is_ready(self) -> bool:
        """Whether players can connect."""
        is_open = bool(self.acceptor and self.acceptor.ports) and not self.process.is_dead
        return self.is_announced and is_open

    @property
    def acceptor(self) -> _Acceptor | None:
        """The acceptor, once it listens."""
        acceptor: _Acceptor | None = self.process.listens
        return acceptor if acceptor and acceptor.has_begun else None

    @property
    def service(self) -> Service | None:
        """The service, once players can connect."""
        return self.acceptor.sessions.service if self.acceptor else None

    @property
    def lease(self) -> float:
        """Seconds until its lease expires."""
        node = self.service and self.service._node
        return node._lease_end - node._clock() if node and node._lease_end else 0.0

    def connect(self, address: str, heard: Callable[[bytes], None]) -> Wire | None:
        """Connect a client; return None if nobody listens."""
        return self._connect("server.port", address, heard)

    def browse(self, address: str, heard: Callable[[bytes], None]) -> Wire | None:
        """Connect a web page; return None if nobody listens."""
        return self._connect("web.port", address, heard)

    def _connect(self, port: str, address: str, heard: Callable[[bytes], None]) -> Wire | None:
        if self.process.is_dead or self.acceptor is None or not self.acceptor.ports:
            return None
        protocol = self.acceptor.ports[port]
        wire = Wire(self.world, self.process, protocol, address, heard)
        self.wires.append(wire)
        return wire

    def stop(self) -> None:
        """Shut the server down in an orderly way."""
        self.process.signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the server; its system then closes all its connections."""
        self.process.kill()
        for wire in self.wires:
            wire.server_died()
        self.base.hang_up(self.process)

    async def _run(self, settings: Settings) -> None:
        def ready(line: str) -> None:
            self.world.note(f"{self.name}: {line}")
            self.is_announced = True

        await runtime.serve(settings, Path(), ready)


class _InOrder(dict[Any, None]):
    """A set of sessions with a reproducible iteration order."""

    def add(self, each: Any) -> None:
        self[each] = None

    def discard(self, each: Any) -> None:
        self.pop(each, None)


class _Sessions(Sessions):
    """A session registry that ends sessions in order of arrival."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.all = _InOrder()  # type: ignore[assignment]  # it does what a set does


class _Acceptor(Acceptor):
    """An acceptor that listens on the world's network."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        super().__init__(settings, folder, HASHER)
        self.ports: dict[str, Callable[[], asyncio.BaseProtocol]] = {}
        self.has_begun = False
        World.here.process.listens = self

    @property
    def sessions(self) -> Sessions:
        """The sessions being served."""
        return self._sessions

    async def start(self, sessions: Sessions) -> None:
        await super().start(sessions)
        self.has_begun = True

    def close(self) -> None:
        super().close()
        self.ports.clear()

    async def _listen(self, hosts: Any, setting: str, port: int, incoming: Any) -> Any:
        self.ports[setting] = incoming
        return [(host, port) for host in hosts]


@contextmanager
def in_the_world(world: World, base: Database) -> Iterator[None]:
    """Patch servers to use the world's threads, clock, database and dice."""

    def word() -> str:
        return "-".join(world.dice.choice(passwords._PARTS) for _ in range(passwords._COUNT))

    def token(size: int = 8) -> str:
        return world.dice.randbytes(size).hex()

    def listen(dsn: str, channel: str, token: str, heard: Heard) -> Listener:
        return Listener(base, token, heard)

    def lock(dsn: str, key: Lock, told: Any, *, shared: bool = False) -> AdvisoryLock:
        return AdvisoryLock(base, key, told, shared=shared)

    engines: dict[int, Engine] = {}

    def send_signal(pid: int, number: int) -> None:
        with suppress(ProcessLookupError):
            match number:
                case signal.SIGTERM:
                    engines[pid].terminate()
                case signal.SIGKILL:
                    engines[pid].kill()
                case _:
                    engines[pid].send_signal(number)

    changes: dict[Any, dict[str, Any]] = {
        child: {"send_signal": send_signal},
        running: {"Thread": Thread, "SimpleQueue": Queue, "monotonic": world.monotonic},
        store: {"monotonic": world.monotonic, "OnDisk": SlowDisk},
        streams: {"monotonic": world.monotonic},
        node_rows: {"monotonic": world.monotonic, "sleep": world.sleep},
        postgres: {
            "AdvisoryLock": lock,
            "monotonic": world.monotonic,
            "sleep": world.sleep,
            "open_connection": lambda _: Connection(base),
            "LinkWatch": Watch,
            "Listener": listen,
            "time_limit": time_limit,
            "token_hex": token,
        },
        psycopg: {"ServerCursor": ServerCursor},
        passwords: {"new_word": word},
        nodes: {"token_hex": lambda _: str(world.process).removeprefix("node-")},
        runtime: {
            "Acceptor": _Acceptor,
            "Sessions": _Sessions,
            "monotonic": world.monotonic,
            "check_store": explored,  # the real check spawns a process
            "tune_for_latency": lambda: None,
            "gc": SimpleNamespace(freeze=lambda: None),  # worlds end as garbage
        },
        SteadyClock.__init__: {"__defaults__": (world.wall, world.monotonic)},
        **by_version(),
    }
    with ExitStack() as stack:
        for module, names in changes.items():
            for name, value in names.items():
                stack.enter_context(mock.patch.object(module, name, value))
        defaults = Node.__init__.__kwdefaults__
        stack.enter_context(mock.patch.dict(defaults, clock=world.monotonic))
        world.start_program = partial(Engine.started, world, engines)
        yield
