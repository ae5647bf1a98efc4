"""A run of the simulated world: servers, players, faults, calm, and the verdict."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, cast

from tests.simulation import history, seeing
from tests.simulation.clockwork import Process, World
from tests.simulation.database import Database
from tests.simulation.disk import Files, SlowDisk, copied
from tests.simulation.gateways import GatewayScene
from tests.simulation.history import ANSWER
from tests.simulation.mails import Mails, has_mails
from tests.simulation.node import BOTS, HASHER, SETTINGS, Server, in_the_world
from tests.simulation.pages import PageLink
from tests.simulation.players import MEMBERS, NAMES, OPERATOR, PASSWORD, TOGETHER, Link, Player
from tests.simulation.tournaments import LASTING, has_tournaments, wrong_with_tournaments
from thudmud.errors import NotYetError, StartError
from thudmud.features.hints.model import AdviceLookup
from thudmud.server.config import StorageSettings
from thudmud.store import Entry, Store, accounts
from thudmud.store.checking import check_backend
from thudmud.store.database import Database as StoreDatabase
from thudmud.store.interface import DamagedStoreError, StoreError
from thudmud.values import replace

ROUGH = 30.0
"""Maximum duration of the faults, in seconds."""

SHORT = (5.0, 6.0, 8.0, 8.0, 10.0, 12.0)
"""The maximum in most worlds: many short worlds find more than a few long ones."""

LONG = 0.12
"""Share of worlds that may last for the full maximum."""

BEGUN = 4.0
"""Seconds before the first fault, when all players are about to enter."""

CALM = 90.0
"""Seconds within which everything comes to rest once faults have ceased."""

SOME = 5.0
"""Seconds within which an utterance reaches everybody."""

QUIET = 3.0
"""Seconds before the first check that everything is at rest."""

MEASURES = 20.0
"""Seconds after which all sanctions by operators have expired."""

RENEWED = 4.0
"""Minimum seconds left on each lease while servers reach the database."""

LOOKS = 0.5
"""Seconds between two checks of a condition."""

PAGES = 0.15
"""Share of players who use the web page."""

GATEWAYS = 0.1
"""Share of worlds with a gateway."""

BOTTED = 0.2
"""Share of worlds in which bots play."""

FAULTS = (
    "kill", "sleep", "fail_over", "crash", "cut", "deaf", "full", "stop", "next", "update",
    "in_a_commit", "in_a_commit", "in_a_commit",
)  # fmt: skip
"""Faults in a cluster."""

ALONE = 0.08
"""Share of worlds with a standalone server that has a file of its own."""

ALONE_FAULTS = (
    "kill", "kill_in_a_commit", "kill_in_a_commit", "damage", "damage", "full", "stop", "sleep",
    "next", "update",
)  # fmt: skip
"""Faults of a standalone server."""


TASKS = {
    "serve", "Server._run", "Node.run_heartbeat", "EventApplier.wait_ended", "Store.wait_stopped",
    "Bots._follow", "Bot._run", "Event.wait", "Queue.get", "Program._listen", "log_clock_changes",
    "follow_logins", "_wait_for_end", "Notifier.follow", "Notifier._keep",
}  # fmt: skip
"""Tasks of a server without players."""


TIMERS = {
    "TimerScheduler._due", "LastSeen._tick", "Store._reread_watched",
    "_release_waiter", "_set_result_unless_cancelled",
}  # fmt: skip
"""Its timers: for due events at boards, and for its tasks."""


@dataclass
class Report:
    """The result of a run.

    Attributes:
        wrong: descriptions of failures.
        log: the log, line by line.
        counts: numbers of lines typed, faults and events.
    """

    wrong: list[str]
    log: list[str]
    counts: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Plan:
    """The setup of a world and its schedule of faults, as decided by a seed.

    Attributes:
        seed: decides all the rest.
        servers: the number of servers at the beginning.
        people: the players, and whether they use the web page.
        faults: times and names of faults, which are methods of `Run`.
        has_gateway: whether there is a gateway.
        has_bots: whether bots play.
        stays_away: whether players of a killed server stay away until calm.
        has_mails: whether codes are mailed.
        rough: seconds until calm.
        is_keen: whether players play in tournaments.
        is_alone: whether there is a standalone server with a file of its own.
    """

    seed: int
    servers: int
    people: tuple[tuple[str, bool], ...]
    faults: tuple[tuple[float, str], ...]
    has_gateway: bool
    has_bots: bool
    stays_away: bool
    rough: float
    has_mails: bool
    is_keen: bool
    is_alone: bool

    @classmethod
    def of(cls, seed: int) -> Plan:
        """Return the plan of a seed."""
        dice = Random(f"the plan of {seed}")  # noqa: S311  (what to try, no secret)
        rough = ROUGH if dice.random() < LONG else dice.choice(SHORT)
        names = [dice.choice(FAULTS) for _ in range(dice.randint(0, 3 + (rough == ROUGH)))]
        names += ["together"] * dice.randint(0, int(1 + rough / 4))
        is_keen = has_tournaments(seed)
        plan = cls(
            seed,
            dice.choice([1, 2, 2, 3]),
            tuple((dice.choice(each), dice.random() < PAGES) for each in NAMES),
            tuple(sorted((dice.uniform(BEGUN, rough), name) for name in names)),
            dice.random() < GATEWAYS,
            dice.random() < BOTTED,
            dice.random() < 0.3,
            max(rough, LASTING) if is_keen else rough,
            has_mails(seed),
            is_keen,
            is_alone=False,
        )
        if dice.random() < ALONE:
            faults = tuple(
                (when, name if name == "together" else dice.choice(ALONE_FAULTS))
                for when, name in plan.faults
            )
            plan = replace(plan, is_alone=True, servers=1, faults=faults, has_mails=False)
        return plan

    def smaller(self) -> Iterator[Plan]:
        """Yield plans that lack one element of this one."""
        for part in ("has_gateway", "has_bots", "stays_away", "has_mails", "is_keen"):
            if getattr(self, part):
                less: dict[str, Any] = {part: False}
                yield replace(self, **less)
        if self.servers > 1:
            yield replace(self, servers=self.servers - 1)
        for parts in ("faults", "people"):
            all_of_it = getattr(self, parts)
            for place in range(len(all_of_it)):
                yield replace(self, **{parts: all_of_it[:place] + all_of_it[place + 1 :]})
        if self.rough > SOME:
            yield replace(self, rough=self.rough * 0.8)


class Run:
    """A world of servers that share a database, and their players."""

    def __init__(self, plan: Plan, folder: Path, template: Template) -> None:
        self.plan = plan
        self.world = World(plan.seed, self._ended)
        self.base, self._folder = Database(self.world, template.path, folder), folder
        self.base.comment = template.comment
        self.counts: Counter[str] = Counter()
        self.numbers = count(1)
        self._starts = 0
        self.files: Files | None = None
        self._doubtful: list[Server] = []
        """Servers started since the last damage to the files."""
        self.is_lost = False
        """Whether damage to the files was detected too late."""
        bots = BOTS if plan.has_bots else ()
        self._bots = {each.name for each in bots}
        self._settings = SETTINGS.model_copy(update={"bot": bots})
        if plan.is_alone:
            self.files = Files(folder / "alone.db", self.base.note_stored)
            storage = StorageSettings(file=str(self.files.path))
            self._settings = self._settings.model_copy(update={"storage": storage})
        self.servers: list[Server] = []

    def play(self) -> Report:
        """Run the plan and return the report."""
        world, plan = self.world, self.plan
        mails = Mails(world, plan.seed) if plan.has_mails else None
        with in_the_world(world, self.base), mails.in_the_world() if mails else nullcontext():
            for _ in range(plan.servers):
                self._start()
            if mails:
                mails.begin()
            self.players = [
                Player(world, name, self.servers, self.numbers, kind=PageLink if is_page else Link)
                for name, is_page in plan.people
            ]
            for each in self.players:
                each.others = [*(name for name, _ in plan.people), *self._bots]
                each.is_keen = plan.is_keen
            for player in self.players:
                player.begin()
            self.gateway = None
            if plan.has_gateway:
                self.gateway = GatewayScene(world, self._folder)
                self.gateway.begin()
            for when, name in plan.faults:
                if when < plan.rough:
                    world.later(when, getattr(self, f"_{name}"))
            world.run(plan.rough)
            self._calm_down()
            is_whole = not self._is_damaged
            if mails:
                # Operators stop servers, too, even in the middle of a mail.
                faults = sum(name != "together" for _, name in plan.faults)
                world.wrong += mails.wrong(faults + self._starts * self._has(OPERATOR))
                self.counts["mails"] += sum(map(len, mails.taken.values()))
            if is_whole and (wrong := self._wait_while(self._at_rest, CALM)):
                world.wrong += wrong
            elif is_whole:
                self._say_good_night()
            stored = self._read()
            if stored is None or self.is_lost:
                world.close()
                return Report(world.wrong, world.log, self.counts)
            told = [each for player in self.players for each in player.told]
            world.wrong += history.wrong_with(told, stored, self.base.outages)
            world.wrong += history.wrong_of(self.players, stored)
            world.wrong += wrong_with_tournaments(stored)
            world.wrong += [wrong for each in told for wrong in seeing.wrong_with_tvs(each)]
            world.wrong += seeing.wrong_with_exploring(told, stored)
            if all(name == "together" for _, name in plan.faults):
                world.wrong += history.wrong_of_orders(self.players)
            if self.gateway:
                world.wrong += self.gateway.wrong()
                self.counts["gateways"] += 1
                self.counts["gateway requests"] += len(self.gateway.mud.asked)
                self.counts["gateway kills"] += self.gateway.kills
            self.counts += history.counted(stored)
            self.counts["lines"] = sum(len(player.typed) for player in self.players)
            world.close()
        return Report(world.wrong, world.log, self.counts)

    def _has(self, name: str) -> bool:
        """Whether a player takes part."""
        return any(each.name == name for each in self.players)

    # Faults.

    def _kill(self) -> None:
        if server := self._one():
            self.world.note(f"{server.name} is killed")
            self.counts["kills"] += 1
            self.servers.remove(server)
            for player in self.players if self.plan.stays_away else ():
                if player.link and player.link.server is server:
                    player.stay_away()
            server.kill()
            self.world.later(self.world.dice.uniform(0, 20), self._start)

    def _kill_in_a_commit(self) -> None:
        """Kill the standalone server during its next commit."""
        if self.files:
            self.files.on_commit = self._kill

    def _damage(self) -> None:
        """Kill the standalone server and damage its files before the next one starts."""
        if self.files and self._one() and not self.files.copy:
            self._kill()
            self._doubtful.clear()
            self.world.note(self.files.damage(self.world.dice))
            self.counts["damaged files"] += 1

    def _stop(self) -> None:
        if server := self._one():
            self.world.note(f"{server.name} is stopped")
            self.counts["stops"] += 1
            server.stop()

    def _next(self) -> None:
        """Stop all servers; their successors get the next configuration."""
        self.world.note("the next configuration comes")
        self.counts["configurations"] += 1
        game = self._settings.game
        game = game.model_copy(update={"seat_grace": game.seat_grace + 1})
        self._settings = self._settings.model_copy(update={"game": game})
        for server in self.servers:
            if server.is_ready:
                server.stop()

    def _update(self) -> None:
        """Upgrade: new servers get the next version, and the old ones are stopped one by one."""
        self.world.version += 1
        self.world.note(f"version {self.world.version} comes")
        self.counts["updates"] += 1
        self._replace_one()

    def _replace_one(self) -> None:
        """Stop a server of an earlier version, and after some time the next one."""
        if old := self._outdated():
            if ready := [each for each in old if each.is_ready and each.process.is_awake]:
                self.world.dice.choice(ready).stop()
            self.world.later(self.world.dice.uniform(0.1, 2), self._replace_one)

    def _outdated(self) -> list[Server]:
        return [each for each in self.servers if each.process.version < self.world.version]

    def _sleep(self) -> None:
        if server := self._one():
            seconds = self.world.dice.choice([1.0, 8.0, 12.0, 25.0])
            self.world.note(f"{server.name} sleeps for {seconds:g} seconds")
            self.counts["sleeps"] += 1
            server.process.sleep(seconds)

    def _fail_over(self, late: object = None) -> None:
        if self.base.is_up and self.world.now < self.plan.rough:
            pause = self.world.dice.choice([0.3, 2.0, 6.0, 14.0])
            self.world.note(f"the primary dies, and the standby serves after {pause:g} seconds")
            self.counts["fail-overs"] += 1
            self.base.fail_over(pause, late)

    def _crash(self, _: object = None) -> None:
        if self.base.is_up and self.world.now < self.plan.rough:
            dice = self.world.dice
            pause, lag = dice.choice([0.3, 0.3, 3.0]), dice.choice([0.1, 6.0, 9.0])
            self.world.note(f"the primary dies, and is back after {pause:g} seconds")
            self.counts["crashes"] += 1
            self.base.crash(pause, lag)
            if dice.random() < 0.8:  # and dies again
                self.world.later(pause + lag * dice.random(), self._fail_over)

    def _in_a_commit(self) -> None:
        """Kill the primary during a commit of events, before or after the standby gets it."""
        dice = self.world.dice
        fault = dice.choice([self._fail_over, self._crash])
        self.base.on_commit = dice.random() < (0.5 if fault == self._fail_over else 0.2), fault

    def _cut(self) -> None:
        if server := self._one():
            seconds = self.world.dice.choice([0.0, 1.0, 7.0, 15.0])
            self.world.note(f"{server.name} loses the database for {seconds:g} seconds")
            self.counts["cuts"] += 1
            self.base.cut_off(server.process, seconds)

    def _deaf(self) -> None:
        seconds = self.world.dice.choice([1.0, 8.0])
        for listener in self.base.listeners:
            if self.world.dice.random() < 0.5:
                listener.lose(seconds)

    def _full(self) -> None:
        self.world.note("the disk is full")
        self.counts["full disks"] += 1
        self._set_full(is_full=True)
        seconds = self.world.dice.choice([0.1, 3.0, 12.0])
        self.world.later(seconds, partial(self._set_full, is_full=False))

    def _set_full(self, *, is_full: bool) -> None:
        self.base.is_full = is_full
        if self.files:
            SlowDisk.is_full = is_full

    def _together(self) -> None:
        """Let all players type a line at the same moment, often one where only one can succeed."""
        dice = self.world.dice
        lines = dice.choice(TOGETHER), dice.choice(TOGETHER)
        for player in self.players:
            player.nudge(dice.choice(lines).format(new=next(self.numbers)))

    # Other events.

    def _start(self) -> None:
        self._starts += 1
        name = f"node-{self._starts}"
        self.world.note(f"{name} starts")
        server = Server(self.world, self.base, name, self._settings)
        self.servers.append(server)
        self._doubtful.append(server)

    def _one(self) -> Server | None:
        ready = [each for each in self.servers if each.is_ready and each.process.is_awake]
        return self.world.dice.choice(ready) if ready else None

    def _ended(self, process: Process, error: BaseException | None) -> None:
        """Handle a server that ended on its own: its manager starts another one."""
        server = next((each for each in self.servers if each.process is process), None)
        if server is None:
            if error:
                self.world.broken(f"{process} ended by {error!r}")
            return
        if error and self._is_damaged and isinstance(error, DamagedStoreError | StartError):
            self.world.note(f"{error}")
            self.counts["restored files"] += 1
            assert self.files
            self.files.restore()
            # Anything stored since then is lost, if a server started since then has served players.
            self.is_lost = self.is_lost or any(each.is_announced for each in self._doubtful)
        elif error and self.files and "the disk is full" in str(error):
            self.world.note(f"{error}")
        elif error and ("forgotten" in str(error) or not isinstance(error, NotYetError)):
            self.world.broken(f"{process} ended by {error!r}")
        asked = {"stop", "next", "update"} & {name for _, name in self.plan.faults}
        if not (error or asked or self._has(OPERATOR)):
            self.world.broken(f"{process} ended, and nobody has asked for that")
        self.servers.remove(server)
        server.kill()
        self.world.later(1.0, self._start)

    def _calm_down(self) -> None:
        world = self.world
        world.note("calm")
        self._set_full(is_full=False)
        if self.files:
            self.files.on_commit = None
        self.base.cuts.clear()
        for player in self.players:
            player.is_calm = True
        if self.gateway:
            self.gateway.mud.is_calm = True
        world.run_until(lambda: self.base.is_up, CALM)
        if not self.files:
            self._start()  # has to reach the same state as older servers
        quiet, most = world.now + QUIET, world.now + CALM
        while world.now < (end := max(quiet, min(self._ordered() + MEASURES, most))):
            world.run(end - world.now)
        if self._is_damaged:
            return
        if away := [each for each in self.players if each.stays_away]:
            world.run_until(lambda: not self._seen_here(away), CALM)
            world.wrong += self._seen_here(away)
            for player in away:
                player.stays_away = False
                player.connect()
        self._wait_while(self._at_rest, CALM)

    def _ordered(self) -> float:
        """Return when an operator last imposed a sanction; long ago if none did."""
        return max(
            (
                min(line.answered, told.ended, self.world.now)
                for player in self.players
                if player.name == OPERATOR
                for told in player.told
                for line in told.lines
                if line.text.startswith(("mute", "ban", "kick", "shutdown"))
            ),
            default=-MEASURES,
        )

    def _wait_while(self, wrong: Callable[[], Sequence[str]], most: float) -> Sequence[str]:
        """Advance until nothing is wrong or some seconds have passed; return remaining faults."""
        until = self.world.now + most
        while (found := wrong()) and self.world.now < until:
            self.world.run(LOOKS)
        return found

    @property
    def _is_damaged(self) -> bool:
        """Whether the files are damaged and no starting server has noticed yet."""
        return self.files is not None and self.files.copy is not None

    def _seen_here(self, away: Sequence[Player]) -> list[str]:
        """Return places where players of a dead server still appear as present or seated."""
        names = {each.name for each in away}
        wrong: list[str] = []
        for server in self.servers:
            if not server.service or not server.is_ready:
                continue
            hall = server.service.hall
            if here := sorted(names & set(hall.people)):
                wrong.append(f"on {server.name} are {here}, whose server has died")
            for table in hall.tables.values():
                for side, name in table.seats.items():
                    if name in names and side not in table.away:
                        wrong.append(f"{name} is not noted as away from the {table.name}")
        return wrong

    def _say_good_night(self) -> None:
        """Let each player say something, check that everybody receives it, and let them leave."""
        world = self.world
        said = {each.name: f"Good night {next(self.numbers)}." for each in self.players}
        heard = {each.name: len(each.told[-1].facts) for each in self.players}
        for each in self.players:
            each.type(f"shout {said[each.name]}")

        def unheard() -> list[str]:
            return [
                f"{each.name} has not heard {name}: {text}"
                for each in self.players
                for name, text in said.items()
                if f"ignore {name}" not in each.typed
                if not any(
                    fact.get("text") == text for fact in each.told[-1].facts[heard[each.name] :]
                )
            ]

        for wrong in self._wait_while(unheard, SOME):
            world.broken(wrong)
        for each in self.players:
            each.leave()
        world.wrong += self._wait_while(self._left_over, ANSWER)

    def _left_over(self) -> list[str]:
        """Return leftovers on the servers after all players have left."""
        left: list[str] = []
        for server in self.servers:
            if not (server.service and server.acceptor):
                continue
            names = {getattr(each.get_coro(), "__qualname__", "") for each in server.process.tasks}
            waiting = (getattr(each, "func", each) for each in server.process.loop.waiting)
            timers = {getattr(each, "__qualname__", "") for each in waiting}
            registers = {
                "people": set(server.service.hall.people) - self._bots,
                "visits": server.service.broadcaster.visits.keys() - self._bots,
                "watching": server.service.broadcaster.watching.keys() - self._bots,
                "retries and replays": [
                    key for key in server.service.scheduler._set if key[0] in {"presence", "replay"}
                ],
                "hints": cast("Any", server.service.lines.answers[AdviceLookup]).__self__.waiting,
                "reactions": server.service.bus.pending,
                "turns": [
                    *server.service.presence.names.held,
                    *server.service.applier.locks.held,
                ],
                "sessions": [each for each in server.acceptor.sessions.all if each.address],
                "held": server.acceptor.sessions._held.answers,
                "connections": range(server.acceptor.limiter._count),
                "work of the store": server.service.store._tasks,
                "tasks": names - TASKS,
                "timers": timers - TIMERS,
            }
            left += [
                f"all have left, and on {server.name} there are {what}: {sorted(map(str, each))}"
                for what, each in registers.items()
                if each
            ]
        return left

    def _read(self) -> dict[str, Sequence[Entry]] | None:
        """Return all stored events, or None if expected damage to the files is detected."""
        stored: dict[str, Sequence[Entry]] = {}
        damage: list[object] = []

        async def opened() -> Store:
            path = self.files and self.files.path
            while True:
                try:
                    return await (Store.open(path) if path else Store.connect("dbname=world"))
                except StoreError as error:
                    if "locked by another process" not in str(
                        error
                    ):  # the server is writing at the moment
                        raise
                    await asyncio.sleep(0.1)

        async def read() -> None:
            store = await opened()
            for key in await store.read(StoreDatabase.stream_versions):
                stored[key] = await store.read_stream(key)
            if found := await store.read(_checked):
                damage.append(found)
            await store.close()

        async def read_damaged() -> None:
            try:
                await read()
            except StoreError as error:
                damage.append(error)

        process = Process(self.world, "reader")
        process.run(read_damaged() if self._is_damaged else read())
        if not self.world.run_until(lambda: process.is_dead, 120.0):
            self.world.broken("what is stored cannot be read")
        if damage and self._is_damaged:
            self.counts["damages found in the end"] += 1
            return None
        for found in damage:
            self.world.broken(f"what is stored is not in order: {found}")
        return stored

    def _at_rest(self) -> list[str]:
        """Return everything that is wrong although the world should be at rest."""
        wrong = [
            f"{each.name} was not answered: {each.last!r}"
            for each in self.players
            if each.waits_since is not None
        ]
        wrong += [f"{each.name} is not in" for each in self.players if not each.is_in]
        wrong += [found for each in self.players for found in seeing.tv_at_rest(each)]
        wrong += [f"{each.name} is of an earlier version" for each in self._outdated()]
        if self.base.is_deaf:
            wrong.append("a server does not hear what others say")
        if self.base.behind or self.base.committing:
            wrong.append("the standby does not have all yet")
        if self.gateway:
            wrong += self.gateway.at_rest()
        halls = {
            each.name: (each.service.hall, set(each.service.hall.people))
            for each in self.servers
            if each.service and each.is_ready
        }
        if not halls:
            return [*wrong, "no server is there"]
        wrong += [
            f"{each.name} sleeps, or has not renewed its lease for a while"
            for each in self.servers
            if not each.process.is_awake or (each.is_ready and each.lease < RENEWED)
        ]
        (first, (hall, people)), *others = halls.items()
        for name, (other, there) in others:
            if there != people:
                wrong.append(f"on {first} are {sorted(people)}, on {name} {sorted(there)}")
            if hall.tables != other.tables:
                wrong.append(f"the boards on {first} are not those on {name}")
        for table in hall.tables.values():
            turn = table.seats.get(table.game.turn) if table.is_running and table.game else None
            if turn in self._bots and table.is_full and not table.away:
                wrong.append(f"{turn} does not play at the {table.name}")
        if people != {each.name for each in self.players if each.is_in} | self._bots:
            wrong.append(f"{sorted(people)} are here, who should not be, or others are not")
        return wrong


def _checked(database: StoreDatabase) -> str | None:
    """Check the whole store, including the rows derived from its events."""
    database.backend.read_all()
    try:
        return check_backend(database.backend)
    finally:
        database.backend.rollback()


class Template:
    """A database with the tables of a store and few rows, which is quick to copy."""

    def __init__(self) -> None:
        shm = Path("/dev/shm")  # noqa: S108  (as fast as memory, where it exists)
        self.folder = Path(tempfile.mkdtemp(prefix="world-", dir=shm if shm.is_dir() else None))
        empty = self.folder / "empty.db"
        sqlite3.connect(empty).close()
        empty.touch()
        world = World(0)
        base = Database(world, empty, self.folder)
        self.file = self.folder / "file.db"

        async def make() -> None:
            for opening in (Store.connect("dbname=world"), Store.open(self.file)):
                store = await opening
                for name in MEMBERS:
                    await store.write(accounts.enrol, name, HASHER.hash(PASSWORD))
                await store.write(accounts.set_operator, OPERATOR, is_one=True)
                await store.close()

        with in_the_world(world, base):
            Process(world, "maker").run(make())
            world.run(60.0)
        assert not world.wrong
        self.path = self.folder / "template.db"
        with sqlite3.connect(base.path) as made, sqlite3.connect(self.path) as copy:
            made.backup(copy)
        made.close()
        copy.close()
        self.comment = base.comment

    def play(self, plan: Plan) -> Report:
        """Run a plan and return the report."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            run = Run(plan, Path(folder), self)
            if run.files:
                copied(self.file, run.files.path)
            return run.play()

    def shrink(self, plan: Plan) -> Plan:
        """Return the smallest plan found that still fails."""
        while smaller := next((each for each in plan.smaller() if self.play(each).wrong), None):
            plan = smaller
        return plan

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
