"""A gateway with a file of its own, and a MUD that plays through it as docs/gateway.md says.

After a cut or a kill the MUD repeats its unanswered requests, and now and then answered ones, too.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

from tests.simulation import history
from tests.simulation.clockwork import Process, World
from tests.simulation.disk import SlowDisk
from tests.simulation.network import Wire
from tests.simulation.players import Told
from thudmud.game.table import Table
from thudmud.gateway.gateway import Gateway
from thudmud.gateway.listening import GatewayAcceptor
from thudmud.gateway.session import GatewayPolicy
from thudmud.rules import Side
from thudmud.store import Entry, Store
from thudmud.store.database import Database
from thudmud.store.steady import SteadyClock

SECRET = "a secret that is long enough"  # noqa: S105  (nobody's)
BOARD, STREAM = "oak", "mud/oak"
PEOPLE = ("Anna", "Bert")

EXPECTED = ("client_taken", "replaced", "closing", "hello_first")
"""Acceptable error codes; a gateway that was suspended may get the hello too late as well."""


class GatewayServer:
    """A gateway process."""

    def __init__(self, world: World, path: Path, name: str) -> None:
        self._world, self._path, self.name = world, path, name
        self._words = count(1)
        self._wires: list[Wire] = []
        self._acceptor: GatewayAcceptor | None = None
        self.gateway: Gateway | None = None
        self.process = Process(world, name)
        self.process.version = 0  # runs on its own
        self.process.run(self._run())

    def connect(self, heard: Callable[[bytes], None]) -> Wire | None:
        """Connect a client; return None if nobody listens."""
        if self.process.is_dead or self._acceptor is None:
            return None
        wire = Wire(self._world, self.process, self._protocol, "192.0.2.3", heard)
        self._wires.append(wire)
        return wire

    def kill(self) -> None:
        """Kill the process."""
        self.process.kill()
        for wire in self._wires:
            wire.server_died()

    def table(self) -> Table | None:
        """Return the board, if it is open."""
        boards = self.gateway._boards._boards if self.gateway else {}
        return boards[BOARD].table if BOARD in boards else None

    def _protocol(self) -> asyncio.BaseProtocol:
        assert self._acceptor
        loop = self.process.loop
        reader = asyncio.StreamReader(loop=loop)
        return asyncio.StreamReaderProtocol(reader, self._acceptor._connected, loop)

    async def _run(self) -> None:
        world = self._world
        clock = SteadyClock(world.wall, world.monotonic)
        store = await Store.open(self._path, serving=True, clock=clock)
        self.gateway = Gateway(
            store,
            GatewayPolicy(secret=SECRET),
            clock=world.wall,
            token=lambda: f"{self.name}-{next(self._words)}",
        )
        await self.gateway.open()
        self._acceptor = GatewayAcceptor(self.gateway)
        await store.wait_stopped()


@dataclass
class Asked:
    """A request and its outcome.

    Attributes:
        sent: the request.
        brought: the number of messages that resulted from it.
        answer: the answer; None if there was none.
        before: the version of the board before it, if known.
    """

    sent: dict[str, Any]
    brought: int = 0
    answer: dict[str, Any] | None = None
    before: int | None = None


class Mud:
    """A MUD with two players at one board.

    Attributes:
        told: the messages to its players, by session.
        asked: all its requests.
        wrong: messages that the gateway should not have sent.
    """

    name = "a MUD"

    def __init__(self, world: World, server: Callable[[], GatewayServer]) -> None:
        self.world, self._server = world, server
        self.told: list[Told] = []
        self.asked: list[Asked] = []
        self.wrong: list[str] = []
        self.is_calm = False
        self._wire: Wire | None = None
        self._turn = 0
        self._session, self._seen = "", 0
        self._version: int | None = None
        self._mine: dict[int, Asked] = {}
        """Requests of the current session, by number."""
        self._keys = count(1)
        self._bytes = b""

    @property
    def waiting(self) -> list[Asked]:
        """Unanswered requests."""
        return [each for each in self._mine.values() if each.answer is None]

    def connect(self) -> None:
        """Connect and resume the session."""
        self._turn += 1
        turn = self._turn
        if self._wire:
            self._wire.cut()
        self._bytes = b""
        self._wire = self._server().connect(lambda data: self._heard(data, turn))
        if self._wire is None:
            self._after(1.0, self.connect)
            return
        hello = {"type": "hello", "version": 1, "client": "mud", "secret": SECRET}
        if self._session:
            hello |= {"session": self._session, "seen": self._seen}
        self._send(hello)

    def _send(self, said: dict[str, Any]) -> None:
        self.world.note(f"a MUD says {json.dumps(said)}")
        if self._wire:
            self._wire.send(json.dumps(said).encode() + b"\n")

    def _ask(self, **request: Any) -> None:
        number = len(self._mine) + 1
        asked = Asked({**request, "id": number, "board": BOARD})
        self._mine[number] = asked
        self.asked.append(asked)
        self._send({**asked.sent, "seen": self._seen})

    def _after(self, delay: float, call: Callable[[], None]) -> None:
        turn = self._turn
        self.world.later(delay, lambda: call() if turn == self._turn else None)

    def _heard(self, data: bytes, turn: int) -> None:
        if turn != self._turn:
            return
        if not data:
            self.world.note("a MUD is cut off")
            self._turn += 1
            self._wire = None
            self._after(self.world.dice.uniform(0.1, 2), self.connect)
            return
        *lines, self._bytes = (self._bytes + data).split(b"\n")
        for line in lines:
            self.world.note(f"  a MUD is told {line.decode()}")
            self._take(json.loads(line))

    def _take(self, said: dict[str, Any]) -> None:
        match said["type"]:
            case "welcome":
                self._welcome(said)
            case "ping":
                self._send({"type": "pong"})
            case "error" if said["code"] not in EXPECTED:
                self.wrong.append(f"a MUD was told {said}")
            case "answer" | "tell" | "data" if said["seq"] > self._seen:
                if said["seq"] != self._seen + 1:
                    self.wrong.append(f"a MUD had all up to {self._seen} when told {said}")
                self._seen = said["seq"]
                self._take_new(said)

    def _welcome(self, said: dict[str, Any]) -> None:
        if said["resumed"]:
            sends_all = self.world.dice.random() < 0.3  # allowed but not required
            for each in self.waiting:
                if sends_all or each.sent["id"] > said["received"]:
                    self._send({**each.sent, "seen": self._seen})
        else:
            waiting, self._mine = self.waiting, {}
            for told in self.told[-len(PEOPLE) :]:
                told.ended = min(told.ended, self.world.now)
            self.told += [Told(each, said["session"], self.world.now) for each in PEOPLE]
            self._session, self._seen, self._version = said["session"], 0, None
            self._ask(type="open", name="oak board", style="brief")
            for player in PEOPLE:
                self._ask(type="enter", player=player, data=True)
            for late in waiting:
                if late.sent["type"] == "line":
                    self._again(late)
        self._think()

    def _take_new(self, said: dict[str, Any]) -> None:
        asked = self._mine.get(said["id"] or 0)
        if said["type"] != "answer":
            if asked:
                asked.brought += 1
            if said["type"] == "data":
                for told in self.told[-len(PEOPLE) :]:
                    if told.player in said["to"]:
                        kind = said["package"].rpartition(".")[2].lower()
                        told.facts.append({"type": kind, **said["data"]})
            return
        if asked is None or asked.answer is not None:
            self.wrong.append(f"a MUD was answered twice, or for nothing: {said}")
            return
        asked.answer, asked.before = said, self._version
        self._version = said.get("version", self._version)
        if asked.sent["type"] == "open" and not said["ok"]:  # the store was unavailable
            self._session = ""
            self._after(1.0, self.connect)

    def _again(self, asked: Asked) -> None:
        self._ask(**{name: each for name, each in asked.sent.items() if name not in ("id", "seen")})

    def _think(self) -> None:
        self._after(self.world.dice.expovariate(1.5), self._go_on)

    def _go_on(self) -> None:
        if self.is_calm or self._wire is None:
            return
        dice, chance = self.world.dice, self.world.dice.random()
        lines = [each for each in self.asked if each.sent["type"] == "line"]
        if chance < 0.15 and lines:
            self._again(dice.choice(lines[-8:]))
        elif len(self.waiting) < 3:
            line: dict[str, Any] = {"player": dice.choice(PEOPLE), "key": f"key-{next(self._keys)}"}
            if self._version is not None and dice.random() < 0.1:
                line["at_version"] = self._version
            self._ask(type="line", line=self._choose(line), **line)
        chance = dice.random()
        if chance < 0.05:
            self.connect()  # the old connection is lost, perhaps with unread data
            return
        if chance < 0.07:
            self._wire.end_input()
        elif chance < 0.1:
            self._wire.stall(dice.uniform(0, 40))
        elif chance < 0.11:
            self._session = ""  # the MUD itself has crashed
            self.connect()
            return
        self._think()

    def _choose(self, line: dict[str, Any]) -> str:
        """Return a line to type, and set the right player on the request."""
        dice, table = self.world.dice, self._server().table()
        if table is None or dice.random() < 0.2:
            return dice.choice(["look", "say Well.", "undo", "yes", "no", "leave game", "resign"])
        if len(table.seats) < len(Side):
            return f"join game as {dice.choice(list(Side)).value}"
        if not table.is_running or table.game is None:
            return "start"
        line["player"] = table.seats.get(table.game.position.turn, line["player"])
        move = dice.choice(table.game.legal_moves())
        return f"move {move.origin} to {move.target}"


class GatewayScene:
    """A gateway, a MUD, and the faults between them.

    Attributes:
        kills: the number of times that the gateway was killed.
    """

    def __init__(self, world: World, folder: Path) -> None:
        self._world, self._path = world, folder / "gateway.db"
        self._names = count(1)
        self.kills = 0
        self._start()
        self.mud = Mud(world, lambda: self._server)

    def begin(self) -> None:
        """Start the gateway, the MUD and the faults."""
        SlowDisk.is_full = False
        dice = self._world.dice
        self._world.later(0.5, self.mud.connect)
        for _ in range(dice.randint(0, 4)):
            fault = dice.choice(self.FAULTS)
            self._world.later(dice.uniform(2, 30), partial(fault, self))

    def _start(self) -> None:
        self._server = GatewayServer(self._world, self._path, f"gateway-{next(self._names)}")

    def _kill(self) -> None:
        if not self._server.process.is_dead:
            self._world.note("the gateway is killed")
            self.kills += 1
            self._server.kill()
            self._world.later(self._world.dice.uniform(0, 6), self._start)

    def _kill_soon(self) -> None:
        """Kill the gateway while it is about to handle something."""
        until = self._world.now + 5.0

        def look() -> None:
            if self.mud.waiting:
                self._world.later(self._world.dice.uniform(0, 0.1), self._kill)
            elif self._world.now < until:
                self._world.later(0.005, look)

        look()

    def _sleep(self) -> None:
        self._server.process.sleep(self._world.dice.uniform(0, 20))

    def _full(self) -> None:
        SlowDisk.is_full = True
        self._world.later(3.0, lambda: setattr(SlowDisk, "is_full", False))

    FAULTS: ClassVar[Sequence[Callable[[GatewayScene], None]]] = (
        _kill, _kill_soon, _kill_soon, _sleep, _full,
    )  # fmt: skip

    def at_rest(self) -> list[str]:
        """Return the unanswered requests, none of which should be left at rest."""
        return [f"a MUD was not answered: {each.sent}" for each in self.mud.waiting]

    def wrong(self) -> list[str]:
        """Return false messages and requests applied twice."""
        self._server.kill()
        stored: dict[str, Sequence[Entry]] = {}
        came: dict[str, int] = {}
        keys = {each.sent["key"] for each in self.mud.asked if "key" in each.sent}

        async def read() -> None:
            store = await Store.open(self._path)
            for stream in await store.read(Database.stream_versions):
                stored[stream] = await store.read_stream(stream)
            for key in sorted(keys):
                if to := await store.read(Database.request_result, STREAM, key):
                    came[key] = to[1]
            await store.close()

        process = Process(self._world, "gateway reader")
        process.version = 0
        process.run(read())
        if not self._world.run_until(lambda: process.is_dead, 60.0):
            return ["what the gateway has stored cannot be read"]
        return [
            *self.mud.wrong,
            *history.wrong_with(self.mud.told, stored),
            *_done_otherwise(self.mud.asked, came),
        ]


def _done_otherwise(everything: Sequence[Asked], came: dict[str, int]) -> Iterator[str]:
    """Yield requests that were applied twice, or with another result than answered.

    Requests are answered at once or after earlier ones, and nobody else uses the board. So each
    growth of the version results from the request. If no board is open, an answer does not say
    what an earlier attempt achieved; and a world with damaged files ends before all is answered.
    """
    known: dict[str, int] = {}
    unsaid = {
        each.sent.get("key")
        for each in everything
        if each.answer and each.answer.get("code") == "unknown_board"
    }
    answered = {each.sent.get("key") for each in everything if each.answer}
    for each in everything:
        key, answer = each.sent.get("key"), each.answer
        if key is None or answer is None:
            continue
        if "done_before" in answer:
            if known.setdefault(key, answer["done_before"]) != answer["done_before"]:
                yield f"{each} says otherwise than {known[key]}"
            if each.brought:
                yield f"{each} was done before, and was told of again"
        elif answer["ok"] and each.before is not None and answer["version"] > each.before:
            if key in known:
                yield f"{each} was done again: it had come to {known[key]}"
            known[key] = answer["version"]
        elif answer["ok"] and key in known:
            yield f"{each} was not known to be done before: it had come to {known[key]}"
    for key in sorted(known.keys() | (came.keys() & answered - unsaid)):
        if known.get(key) != came.get(key):
            yield f"{key} has come to {came.get(key)}, and was said to have to {known.get(key)}"
