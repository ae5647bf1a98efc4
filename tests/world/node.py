"""A server of the world: all of it but the sockets, on the world's loop and database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import psycopg
from argon2 import PasswordHasher

from tests.world.clockwork import Process, Queue, Thread, World
from tests.world.database import (
    Connection,
    Database,
    Listener,
    ServerCursor,
    Watch,
    no_longer_than,
)
from tests.world.disk import SlowDisk
from tests.world.network import Wire
from thudmud.accounts import passwords
from thudmud.accounts.limiters import TalkLimiter
from thudmud.play.hall import Hall
from thudmud.server import serve
from thudmud.server.acceptor import Acceptor, ConnectionLimiter, Room
from thudmud.server.config import (
    BoardSettings,
    GameSettings,
    PlayerSettings,
    ServerSettings,
    Settings,
    WebSettings,
)
from thudmud.server.sessions import Sessions, make_service
from thudmud.service import Node, Service
from thudmud.store import Store, database, postgres, running, store
from thudmud.store.steady import SteadyClock

SETTINGS = Settings(
    server=ServerSettings(accepts_per_second=1000, accepts_at_once=1000),
    players=PlayerSettings(names_per_hour=100_000, chat_per_minute=10_000, chat_at_once=1000),
    game=GameSettings(),
    web=WebSettings(enabled=False),
    board=(BoardSettings(name="oak board"), BoardSettings(name="pine board", style="brief")),
)


class Server:
    """A process that serves boards from a database."""

    def __init__(self, world: World, base: Database, name: str) -> None:
        self.world, self.base, self.name = world, base, name
        self.wires: list[Wire] = []
        self.is_ready = False
        self.acceptor: Acceptor | None = None
        self.service: Service | None = None
        self.process = Process(world, name)
        self.process.run(self._run())

    def connect(self, address: str, heard: Callable[[bytes], None]) -> Wire | None:
        """Connect a client; None if nobody listens."""
        return self._connect(lambda acceptor: acceptor._telnet_incoming, address, heard)

    def browse(self, address: str, heard: Callable[[bytes], None]) -> Wire | None:
        """Connect a page; None if nobody listens."""
        return self._connect(lambda acceptor: acceptor._web_incoming, address, heard)

    def _connect(
        self,
        port: Callable[[Acceptor], Callable[[], asyncio.BaseProtocol]],
        address: str,
        heard: Callable[[bytes], None],
    ) -> Wire | None:
        if self.process.is_dead or self.acceptor is None:
            return None
        wire = Wire(self.world, self.process, port(self.acceptor), address, heard)
        self.wires.append(wire)
        return wire

    def kill(self) -> None:
        """Kill it; what its system does then is that all its connections end."""
        self.process.kill()
        self.is_ready = False
        for wire in self.wires:
            wire.server_died()
        self.base.hang_up(self.process)

    async def _run(self) -> None:
        world = self.world
        clock = SteadyClock(world.wall, world.monotonic)
        opened = await Store.connect("dbname=world", clock=clock)
        node = Node(opened, self.name, clock=world.monotonic)
        await node.open()
        game = SETTINGS.game
        async with serve.background(node.live()):
            hall = Hall(serve.boards(SETTINGS), caps=serve.caps(SETTINGS), **game.limits)
            self.service = service = make_service(
                opened,
                hall,
                node=node,
                clock=clock,
                replay_pause=game.replay_pause,
                talk=TalkLimiter(*serve.talk_limits(SETTINGS.players)),
            )
            await service.open()
            await service.settle()
            sessions = Sessions(service)
            sessions.keep_order(await opened.order(sessions.keep_order))
            acceptor = Acceptor(SETTINGS, hasher=PasswordHasher(1, 8, 1))
            acceptor.limiter = ConnectionLimiter(SETTINGS.server, Room(1000))
            acceptor._places = [("world", 4000)]
            await acceptor.start(sessions)
            self.acceptor, self.is_ready = acceptor, True
            ends = [asyncio.create_task(end) for end in (service.ended(), opened.stopped())]
            done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                each.result()


@contextmanager
def in_the_world(world: World, base: Database) -> Iterator[None]:
    """Let servers run in the world: its threads, its clock, its database, its dice."""

    def word() -> str:
        return "-".join(world.dice.choice(passwords._PARTS) for _ in range(passwords._COUNT))

    def token(size: int = 8) -> str:
        return world.dice.randbytes(size).hex()

    def listen(dsn: str, channel: str, token: str, heard: Callable[[str | None], None]) -> Listener:
        return Listener(base, token, heard)

    changes: dict[Any, dict[str, Any]] = {
        running: {"Thread": Thread, "SimpleQueue": Queue, "monotonic": world.monotonic},
        store: {"monotonic": world.monotonic, "OnDisk": SlowDisk},
        database: {"monotonic": world.monotonic, "sleep": world.sleep},
        postgres: {
            "monotonic": world.monotonic,
            "sleep": world.sleep,
            "connected": lambda _: Connection(base),
            "LinkWatch": Watch,
            "Listener": listen,
            "no_longer_than": no_longer_than,
            "token_hex": token,
        },
        psycopg: {"ServerCursor": ServerCursor},
        passwords: {"new_word": word},
    }
    with ExitStack() as stack:
        for module, names in changes.items():
            for name, value in names.items():
                stack.enter_context(mock.patch.object(module, name, value))
        yield
