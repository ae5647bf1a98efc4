"""People of the world: they come in by telnet, type all that there is, are cut off, come back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Any

from tests.world.clockwork import World
from tests.world.network import Wire
from tests.world.node import Server
from thudmud.accounts.login import NAME_PROMPT, PROMPTS, TOLD_WORD, WORD_PROMPT
from thudmud.play.commands import Play
from thudmud.play.table import Table
from thudmud.rules import EVERY, SQUARES, Attempt, Piece, Position, Side, Verb
from thudmud.server.session import PROMPT
from thudmud.views.facts import TAG

TELNET = re.compile(rb"\xff(?:\xfa.*?\xff\xf0|[\xfb-\xfe].|[\xf0-\xf9])", re.DOTALL)
PASSWORD = "correct horse"  # noqa: S105  (nobody's)


@dataclass
class Told:
    """What one connection was told: its facts, in their order."""

    player: str
    server: str
    begun: float
    facts: list[dict[str, Any]] = field(default_factory=list)
    ended: float = inf
    doubts: list[float] = field(default_factory=list)
    """When they were told that it is not known what came of a line."""


class Player:
    """Somebody who has a client, and a word to come back with.

    Args:
        world: what they are in.
        name: what they are called.
        servers: those that they can connect to.
    """

    def __init__(self, world: World, name: str, servers: list[Server]) -> None:
        self.world, self.name, self.servers = world, name, servers
        self.word = ""
        self.told: list[Told] = []
        self.is_in = self.is_calm = False
        self.lines = 0
        self.waits_since: float | None = None
        self.last = ""
        self.server: Server | None = None
        self._wire: Wire | None = None
        self._bytes, self._line = b"", ""
        self._turn = 0
        """Which connection it is, so that what was planned for an older one is not done."""
        self._on_answer: Callable[[], None] | None = None

    def begin(self) -> None:
        """Come in after a while."""
        self.world.later(self.world.dice.uniform(0, 3), self.connect)

    def connect(self) -> None:
        """Come in, at any of the servers."""
        self.hang_up()
        up = [each for each in self.servers if each.is_ready]
        self._turn += 1
        turn = self._turn
        wire = None
        if up:
            self.server = self.world.dice.choice(up)
            wire = self.server.connect("192.0.2.1", lambda data: self._heard(data, turn))
        if wire is None or self.server is None:
            self._after(2.0, self.connect)
            return
        self._wire, self._bytes, self._line = wire, b"", ""
        self.told.append(Told(self.name, self.server.name, self.world.now))
        self.waits_since = self.world.now

    def hang_up(self) -> None:
        """Cut the connection, if there is one."""
        self.is_in, self.waits_since = False, None
        if self._wire:
            self.told[-1].ended = self.world.now
            self._wire.cut()
            self._wire = None

    def type(self, line: str, answered: Callable[[], None] | None = None) -> None:
        """Type a line; ``answered`` is called once it has been."""
        if self._wire is None:
            return
        self.lines += 1
        self.last, self.waits_since, self._on_answer = line, self.world.now, answered
        self.world.note(f"{self.name} at {self.server and self.server.name} types: {line}")
        self._wire.send(line.encode() + b"\r\n")

    def _heard(self, data: bytes, turn: int) -> None:
        if turn != self._turn:
            return
        if not data:
            self._lost()
            return
        self._bytes += data
        text, rest = _without_telnet(self._bytes)
        self._bytes = rest
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._read(line.rstrip("\r"))
        if self._line.endswith((PROMPT, *PROMPTS)):
            self._asked()

    def _lost(self) -> None:
        self.world.note(f"{self.name} is cut off")
        self.told[-1].ended = self.world.now
        self._wire, self.is_in, self.waits_since = None, False, None
        self._after(self.world.dice.uniform(0, 3), self.connect)

    def _read(self, line: str) -> None:
        while line.startswith(PROMPT):
            line = line.removeprefix(PROMPT)
        if line.startswith(TAG):
            fact = json.loads(line.removeprefix(TAG))
            self.told[-1].facts.append(fact)
            self.world.note(f"  {self.name} is told: {line}")
            return
        if "cannot tell" in line:
            self.told[-1].doubts.append(self.world.now)
        if line:
            self.world.note(f"  {self.name} reads: {line}")
        if found := TOLD_WORD.search(line):
            self.word = found[1]

    def _asked(self) -> None:
        prompt, self._line = self._line, ""
        self.waits_since = None
        if prompt.endswith(NAME_PROMPT):
            self._answer(self.name)
        elif prompt.endswith(WORD_PROMPT):
            self._answer(self.word)
        elif prompt.endswith(PROMPTS):
            self._answer(PASSWORD)
        elif not self.is_in:
            self.is_in = True
            self.type("set machine on", self._think)
        elif done := self._on_answer:
            self._on_answer = None
            done()

    def _answer(self, line: str) -> None:
        self._after(0.1, lambda: self.type(line))

    def _think(self) -> None:
        self._after(self.world.dice.expovariate(1.0), self._go_on)

    def _after(self, delay: float, call: Callable[[], None]) -> None:
        """Do something after a while, unless they have connected anew by then."""
        turn = self._turn

        def then() -> None:
            if turn == self._turn:
                call()

        self.world.later(delay, then)

    def _go_on(self) -> None:
        if self.is_calm or not self.is_in:
            return
        chance = self.world.dice.random()
        if chance < 0.02:
            self.world.note(f"{self.name} cuts the connection")
            self.connect()
        elif chance < 0.04:  # in the middle of a line
            self.type(self._choose(), None)
            self.connect()
        else:
            self.type(self._choose(), self._think)

    def _choose(self) -> str:
        """Return what to type next: what makes sense here, mostly."""
        dice = self.world.dice
        table = self._table()
        if table and dice.random() < 0.75:
            return self._at(table)
        return dice.choice(LINES).format(
            other=dice.choice(NAMES), board=dice.choice(BOARDS), number=dice.randint(1, 9)
        )

    def _table(self) -> Table | None:
        """Return the board where they have a seat, if they have one; else one with a free seat."""
        if self.server is None or self.server.service is None:
            return None
        tables = list(self.server.service.hall.tables.values())
        for table in tables:
            if self.name in table.seats.values():
                return table
        free = [table for table in tables if len(table.seats) < 2]
        return self.world.dice.choice(free) if free else None

    def _at(self, table: Table) -> str:
        dice, board = self.world.dice, table.name
        side = next((each for each, name in table.seats.items() if name == self.name), None)
        if side is None:
            free = [each for each in Side if each not in table.seats]
            return f"join game as {dice.choice(free)} on {board}" if free else f"go {board}"
        if not table.running or table.game is None:
            return dice.choice(["start", "start", "say Shall we?", f"leave game on {board}"])
        if dice.random() < 0.12:
            return dice.choice(["undo", "yes", "no", "adjourn", "resign", "end", "claim"]) + (
                f" on {board}" if dice.random() < 0.5 else ""
            )
        if table.game.position.turn is side:
            return str(Play(self._attempt(table.game.position, side), board))
        return dice.choice(["look", "say Your turn.", f"look at {board}", "clock"])

    def _attempt(self, position: Position, side: Side) -> Attempt:
        """Return a ply that is allowed, as a rule: to find all that are would take longer."""
        dice, piece = self.world.dice, Piece.DWARF if side is Side.DWARF else Piece.TROLL
        for _ in range(50):
            origin = dice.choice(position.squares(piece))
            across, down = dice.choice(WAYS)
            steps = 1 if side is Side.TROLL else dice.randint(1, 4)
            way = [
                (origin.column + across * step, origin.row + down * step)
                for step in range(1, steps + 1)
            ]
            squares = [square for each in way if (square := PLACES.get(each))]
            if len(squares) == steps and not any(map(position.piece_at, squares)):
                captures = EVERY if dice.random() < 0.5 and side is Side.TROLL else None
                return Attempt(Verb.MOVE, origin, squares[-1], captures)
        return Attempt(Verb.MOVE, origin, origin)


WAYS = [(across, down) for across in (-1, 0, 1) for down in (-1, 0, 1) if across or down]
PLACES = {(each.column, each.row): each for each in SQUARES}
NAMES = ["Anna", "Bert", "Carla", "Dora"]
BOARDS = ["oak board", "pine board", "1st board", "the moon"]
LINES = [
    "look", "who", "games", "score", "standings", "history", "boards", "seeks", "help", "news",
    "say Hello, {other}.", "emote waves.", "tell {other} Well played.", "finger {other}",
    "whisper {other} Now.", "shout Anybody?", "ignore {other}", "unignore {other}",
    "follow {other}", "unfollow {other}", "observe {board}", "unobserve {board}",
    "go {board}", "go hall", "join {board}", "invite {other}", "seek", "play", "accept",
    "decline", "withdraw", "match {other}", "resume", "undo", "yes", "no", "adjourn",
    "move a6 to b6", "moev a6 b6", "shove", "replay {number}", "next", "stop", "record {number}",
    "set board brief on {board}", "options", "plan To win.", "kibitz Nice.", "again", "  ",
    "new board", "say", "\u2603 snow", "x" * 300, "look at {board}", "leave game",
    "register", "comment {number} 1 Good.", "start", "claim", "possible",
]  # fmt: skip


def _without_telnet(data: bytes) -> tuple[str, bytes]:
    """Return the text of some bytes, and what may be the beginning of a telnet command."""
    plain = TELNET.sub(b"", data)
    cut = plain.find(b"\xff")
    text, rest = (plain, b"") if cut < 0 else (plain[:cut], plain[cut:])
    return text.decode("utf-8", "replace"), rest
