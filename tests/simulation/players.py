"""Simulated players: they connect by telnet, type every command, get disconnected, and return."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any

from tests.simulation import tournaments
from tests.simulation.clockwork import World
from tests.simulation.network import Wire
from tests.simulation.node import Server
from thudmud.accounts.login import NAME_PROMPT, PROMPTS, TOLD_WORD, WORD_PROMPT
from thudmud.features.playing.moves import Play
from thudmud.features.tournaments.model import TournamentRegister
from thudmud.game.table import Table
from thudmud.rules import EVERY, SQUARES, Attempt, Piece, Position, Side, Verb
from thudmud.views.facts import TAG
from thudmud.views.sentences import PROMPT

TELNET = re.compile(rb"\xff(?:\xfa.*?\xff\xf0|[\xfb-\xfe].|[\xf0-\xf9])", re.DOTALL)
MARK, MARKED = b"\xff\xfd\x06", b"\xff\xfb\x06"
"""Telnet's TIMING-MARK (RFC 860): its reply shows that all earlier input has been answered."""

PASSWORD = "correct horse"  # noqa: S105  (nobody's)

PATIENCE = 10.0
"""Seconds that a player usually waits for an answer before reconnecting."""

MUCH = 30
"""Number of commands whose output a player requests without reading it."""

LONGEST = 20.0
"""Seconds after which they read it; later than that, they never do."""

AWAITED = ("hint", "again")
"""Commands that may be answered after their mark, as they take a while."""

NOTHING_ELSE = 4.0
"""Seconds after which no answer to one of these can arrive."""


@dataclass
class Line:
    """A typed line.

    Attributes:
        text: the text.
        at: when it was typed.
        answered: when the prompt after its answer arrived.
        first: index of the first fact received after it was typed.
        end: index of the first fact after its answer; None if it is unanswered.
    """

    text: str
    at: float
    answered: float = inf
    first: int = 0
    end: int | None = None


@dataclass
class Told:
    """The messages and lines of one connection.

    Attributes:
        player: the player's name.
        server: the server's name.
        begun: when the connection was made.
        facts: the facts received, in order.
        times: the times of these facts.
        lines: the lines typed after entering.
        entered: when the player entered.
        ended: when the connection was cut or lost.
        doubts: when a line's outcome was reported as unknown.
        denied: when a line was reported as failed, as the database was unavailable.
    """

    player: str
    server: str
    begun: float
    facts: list[dict[str, Any]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    entered: float = inf
    ended: float = inf
    doubts: list[float] = field(default_factory=list)
    denied: list[float] = field(default_factory=list)


class Link:
    """A player's connection, which parses the output and informs the player."""

    FIRST = "set machine on"
    """The line typed right after entering."""

    def __init__(self, player: Player, server: Server) -> None:
        self.player, self.server, self.world = player, server, player.world
        self.told = Told(player.name, server.name, self.world.now)
        self.name = f"{player.name}/{len(player.told) + 1}"
        self.is_in = self.is_over = self.has_named = self.told_to_try_again = False
        self._bytes, self._line = b"", ""
        self._after_prompt = self._is_aside = False
        self._prompt, self._prompts = "", 0
        """The latest prompt, and the number of prompts since the last line was sent."""
        self._marks = 0
        """Number of outstanding marks."""
        self._is_answered = True
        self.wire = self._open()

    def _open(self) -> Wire | None:
        return self.server.connect("192.0.2.1", self._heard)

    def _send(self, wire: Wire, line: str, *, marked: bool) -> None:
        wire.send(line.encode() + b"\r\n" + (MARK if marked else b""))

    def send(self, line: str, *, marked: bool = True) -> None:
        """Send a line; ``marked`` says whether to request a mark after its answer."""
        if self.wire and not self.is_over:
            self.world.note(f"{self.name} at {self.server.name} types: {line}")
            if marked:
                self._expect_mark()
            self._send(self.wire, line, marked=marked)

    def _expect_mark(self) -> None:
        self._marks += 1
        self._is_answered, self._prompts = False, 0

    def cut(self) -> None:
        """Break the connection."""
        if self.wire and not self.is_over:
            self.wire.cut()
            self._end()

    def _end(self) -> None:
        self.is_over, self.is_in = True, False
        self.told.ended = min(self.told.ended, self.world.now)

    def _heard(self, data: bytes) -> None:
        if self.is_over:
            return
        if not data:
            self._lost()
            return
        self._read_all(data)

    def _lost(self) -> None:
        self.cut()
        self.player.lost(self)

    def _read_all(self, data: bytes) -> None:
        *before, self._bytes = (self._bytes + data).split(MARKED)
        for part in before:
            self._read_text(_without_telnet(part)[0])
            self._marked()
        text, self._bytes = _without_telnet(self._bytes)
        self._read_text(text)

    def _read_text(self, text: str) -> None:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._read(line.rstrip("\r"))
        if self._line.endswith((PROMPT, *PROMPTS)):
            self._prompt, self._line = self._line, ""
            self._prompts += 1
            # A message may precede an answer and share its prompt; then only the mark shows that
            # the answer has arrived.
            is_answer = not self._is_aside or not (self._marks or self._is_answered)
            self._after_prompt, self._is_aside = self._prompt.endswith(PROMPT), False
            if is_answer:
                self._is_answered = True
                self._asked(self._prompt)

    def _marked(self) -> None:
        """Handle a mark: everything sent before it has been answered."""
        self._marks -= 1
        if self._marks or self._is_answered:
            return
        lines = self.told.lines
        if lines and lines[-1].text in AWAITED:
            self.world.later(NOTHING_ELSE, partial(self._take_prompt, self._prompts, len(lines)))
        elif self._prompts:
            self._take_prompt(self._prompts, len(lines))
        else:
            self.world.broken(f"{self.name} is asked for nothing more: {lines[-1:]}")

    def _take_prompt(self, prompts: int, lines: int) -> None:
        """Treat the last prompt as the answer's, unless another prompt or line has followed."""
        is_last = prompts == self._prompts and lines == len(self.told.lines)
        if is_last and not (self._is_answered or self.is_over):
            self._is_answered = True
            self._asked(self._prompt)

    def _asked(self, prompt: str) -> None:
        self.player.asked(self, prompt)

    def _read(self, line: str) -> None:
        if self._after_prompt:
            # Text on a new line is a message, not an answer; the prompt is repeated after it.
            self._after_prompt, self._is_aside = False, not line
        while line.startswith(PROMPT):
            line = line.removeprefix(PROMPT)
        if line.startswith(TAG):
            self.told.facts.append(json.loads(line.removeprefix(TAG)))
            self.told.times.append(self.world.now)
            self.world.note(f"  {self.name} is told: {line}")
            return
        if "try again" in line:
            self.told_to_try_again = True
        if "can't tell" in line:
            self.told.doubts.append(self.world.now)
        if "nothing has changed" in line:
            self.told.denied.append(self.world.now)
        if line:
            self.world.note(f"  {self.name} reads: {line}")
        if found := TOLD_WORD.search(line):
            self.player.word = found[1]


class Player:
    """A player with a client and a resume word.

    Args:
        world: the world.
        name: the player's name.
        servers: the servers that they can connect to.
        numbers: source of unique numbers for their utterances.
        kind: the class of their connections.
        pause: average seconds of thought before typing.

    Attributes:
        word: their resume word.
        told: their connections in order.
        is_calm: whether they have stopped typing on their own.
        stays_away: whether they don't return after a disconnection.
        is_keen: whether they play in tournaments and announce them.
        waits_since: when their wait for an answer began; None if they aren't waiting.
    """

    def __init__(
        self,
        world: World,
        name: str,
        servers: list[Server],
        numbers: Iterator[int],
        *,
        kind: type[Link] = Link,
        pause: float = 0.5,
    ) -> None:
        self.world, self.name, self.servers, self.pause = world, name, servers, pause
        self.numbers, self._kind = numbers, kind
        self.word = PASSWORD if name in MEMBERS else ""
        self.others = [name]
        """Players they know about, including themselves and bots."""
        self.told: list[Told] = []
        self.is_calm = self.stays_away = self.is_keen = False
        self._is_sure = False
        """Whether a request for confirmation is open, which they will grant."""
        self.waits_since: float | None = None
        self.link: Link | None = None
        self._links: list[Link] = []
        self._thoughts = 0
        """Number of ideas they have had; an idea is dropped when the next one occurs."""

    @property
    def is_in(self) -> bool:
        """Whether they have entered and can type."""
        return self.link is not None and self.link.is_in

    @property
    def typed(self) -> list[str]:
        """All lines they have typed."""
        return [line.text for told in self.told for line in told.lines]

    @property
    def last(self) -> str:
        """The last line they typed."""
        lines = self.told[-1].lines if self.told else []
        return lines[-1].text if lines else ""

    def begin(self) -> None:
        """Connect after a while."""
        self._after(self.world.dice.uniform(0, 2), self.connect)

    def connect(self, *, cuts: bool = True) -> None:
        """Connect to any of the servers.

        Args:
            cuts: whether to break the current connection first.
        """
        if self.stays_away:
            return
        if cuts and self.link:
            self.link.cut()
        self.link, self.waits_since = None, None
        up = [each for each in self.servers if each.is_ready]
        link = self._kind(self, self.world.dice.choice(up)) if up else None
        if link is None or link.wire is None:
            self._after(2.0, self.connect)
            return
        self.link = link
        self._links.append(link)
        self.told.append(link.told)
        self._waits()

    def type(self, line: str) -> None:
        """Type a line, and think about the next one once it has been answered."""
        if self.link and not self.link.is_over:
            told = self.link.told
            told.lines.append(Line(line, self.world.now, first=len(told.facts)))
            self.link.send(line)
            self._waits()

    def nudge(self, line: str) -> None:
        """Type a line now, if possible."""
        if self.is_in and self.waits_since is None and not self.is_calm:
            self._thoughts += 1
            self.type(line)

    def lost(self, link: Link) -> None:
        """Handle the end of a connection, and reconnect if it was the current one."""
        if link is self.link:
            self.world.note(f"{self.name} is cut off")
            self.link, self.waits_since = None, None
            if not self.stays_away:
                self._after(self.world.dice.uniform(0, 3), self.connect)

    def leave(self) -> None:
        """Close all connections for good."""
        self.stay_away()
        self.type("quit")

    def stay_away(self) -> None:
        """Keep only the latest connection, and don't reconnect after it."""
        self.stays_away = True
        for each in self._links:
            if each is not self.link:
                each.cut()

    def asked(self, link: Link, prompt: str) -> None:
        """Respond to a prompt, or take a line as answered."""
        if link is not self.link:
            return
        if not prompt.endswith(PROMPTS):  # otherwise they will answer in a moment
            self.waits_since = None
        told = link.told
        if prompt.endswith(NAME_PROMPT):
            self._answer(self.name, 2.0 if link.has_named else 0.1)
            link.has_named = True
        elif prompt.endswith(WORD_PROMPT):
            self._answer(self.word)
        elif prompt.endswith(PROMPTS):
            self._answer(PASSWORD)
        elif not link.is_in:
            self._enter(link)
        elif len(told.lines) == 1 and link.told_to_try_again:  # must not miss the first messages
            link.is_in = link.told_to_try_again = False
            told.lines.clear()
            self._after(1.0, lambda: self._enter(link))
        else:
            if told.lines and told.lines[-1].answered == inf:
                told.lines[-1].answered, told.lines[-1].end = self.world.now, len(told.facts)
            self._after(self.world.dice.expovariate(1 / self.pause), self._go_on)

    def _enter(self, link: Link) -> None:
        link.is_in, link.told.entered = True, min(link.told.entered, self.world.now)
        self.type(link.FIRST)

    def _answer(self, line: str, delay: float = 0.1) -> None:
        def answer() -> None:
            if self.link:
                self.link.send(line)
                self._waits()

        self._after(delay, answer)

    def _waits(self) -> None:
        """Wait for an answer, with a timeout."""
        self.waits_since = self.world.now
        if self.world.dice.random() < 0.8:
            self._after(PATIENCE, self._despair)

    def _despair(self) -> None:
        if self.waits_since is not None and not self.is_calm:
            self.world.note(f"{self.name} waits no longer")
            self.connect(cuts=self.world.dice.random() < 0.5)

    def _after(self, delay: float, call: Callable[[], None]) -> None:
        """Call a function after a while, unless another idea has replaced it by then."""
        self._thoughts += 1
        thought = self._thoughts

        def then() -> None:
            if thought == self._thoughts:
                call()

        self.world.later(delay, then)

    def _go_on(self) -> None:
        if self.is_calm or not self.is_in:
            return
        chance = self.world.dice.random()
        if chance < 0.01:
            self.world.note(f"{self.name} cuts the connection")
            self.connect()
        elif chance < 0.02:  # in the middle of a line
            self.type(self._choose())
            self.connect()
        elif chance < 0.03:
            self.world.note(f"{self.name} connects once more")
            self.connect(cuts=False)
        elif chance < 0.04 and self.link and self.link.wire:
            self.world.note(f"{self.name} hears nothing for a while")
            self.link.wire.stall(self.world.dice.uniform(0, 6))
            self.type(self._choose())
        elif chance < 0.045 and self.link and self.link.wire:
            self.type(self._choose())
            self.world.note(f"{self.name} sends nothing more")
            self.link.wire.end_input()
        elif chance < 0.05 and self.link and self.link.wire:
            self.world.note(f"{self.name} asks for much, does not read it, and connects once more")
            if (seconds := self.world.dice.uniform(1, 30)) < LONGEST:
                self.link.wire.stall(seconds)
            else:
                self.link.wire.vanish()
                self.link.told.ended = self.world.now
            for _ in range(MUCH):
                self.link.send("look at oak board", marked=False)
            self.connect(cuts=False)
        else:
            self.type(self._choose())

    def _choose(self) -> str:
        """Return a line to type, mostly one that makes sense in the situation."""
        dice = self.world.dice
        if self._is_sure:
            self._is_sure = False
            return "yes"
        if self.is_keen and dice.random() < 0.4:
            return dice.choice(tournaments.LINES).format(
                last=self._last_tournament(), number=dice.randint(1, 3)
            )
        table = self._table()
        if table and dice.random() < 0.75:
            return self._at(table)
        lines = LINES if self.name != OPERATOR or dice.random() < 0.7 else ORDERS
        return dice.choice(lines).format(
            other=dice.choice(self.others),
            board=dice.choice(BOARDS),
            number=dice.randint(1, 9),
            new=next(self.numbers),
        )

    def _last_tournament(self) -> int:
        """Return the number of the latest tournament; 1 if there is none."""
        service = self.link.server.service if self.link else None
        return max(1, service.hall.part(TournamentRegister).last) if service else 1

    def _table(self) -> Table | None:
        """Return the board where they are seated, or else one with a free seat."""
        if self.link is None or self.link.server.service is None:
            return None
        tables = list(self.link.server.service.hall.tables.values())
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
        if not table.is_running or table.game is None:
            idle = ["start", "start", "start", "set clock 1+0", "set clock 1+2"]
            idle += [f"leave game on {board}"]
            return dice.choice(idle)
        # This leads to further rounds, and to matches that end and count.
        often = 0.3 if self.is_keen else 0.06 if self.name in MEMBERS else 0.0
        if often and dice.random() < often:
            self._is_sure = True
            return f"resign on {board}"
        if dice.random() < 0.12:
            line = dice.choice(["undo", "yes", "no", "adjourn", "resign", "end", "claim", "start"])
            self._is_sure = line in {"resign", "start"} and dice.random() < 0.7
            return f"{line} on {board}" if dice.random() < 0.5 else line
        if table.game.position.turn is side:
            return str(Play(self._attempt(table.game.position, side), board))
        new = next(self.numbers)
        return dice.choice(["look", f"say Your turn {new}.", f"look at {board}", "clock"])

    def _attempt(self, position: Position, side: Side) -> Attempt:
        """Return a ply that is usually legal; finding all legal ones would take longer."""
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
OPERATOR = "Olga"
MEMBERS = ["Emil", "Frieda", OPERATOR]
"""Members; all others are guests unless they register."""

NAMES = [["Anna", OPERATOR, "Anna"], ["Bert", "Emil"], ["Carla", "Frieda"], ["Dora"]]
"""Names of the players."""

BOARDS = ["oak board", "pine board", "1st board", "the moon"]
LINES = [
    "look", "who", "games", "score", "standings", "history", "boards", "seeks", "help", "news",
    "say Hello {new}, {other}.", "emote waves {new} times.", "tell {other} Well played {new}.",
    "finger {other}", "whisper {other} {new} now.", "shout Anybody {new}?",
    "ignore {other}", "unignore {other}",
    "follow {other}", "unfollow {other}", "observe {board}", "unobserve {board}",
    "go {board}", "go hall", "join {board}", "invite {other}", "seek", "play", "accept",
    "decline", "withdraw", "match {other}", "match {other} 1+0", "resume", "undo", "yes", "no",
    "adjourn", "move a6 to b6", "moev a6 b6", "shove", "replay {number}", "next", "stop",
    "record {number}", "set board brief on {board}", "options", "plan To win.",
    "kibitz Nice {new}.", "again", "  ", "new board", "say", "\u2603 snow", "x" * 300,
    "look at {board}", "leave game", "register", "comment {number} 1 Good.", "start", "claim",
    "possible", "message {other} Later {new}.", "messages", "hint", "analyse {number}", "bots",
    "report {other} for {new} reasons", "match {other}", "invite {other}", "resign",
    "tv", "tv", "tv off", "explore", "explore 1", "explore 1", "explore 2", "explore {number}",
    "explore 1 {number}", "explore on {board}", "explore on {board}",
]  # fmt: skip

ORDERS = [
    "broadcast Hear {new}.", "mute {other} for 1{number} seconds", "unmute {other}", "mutes",
    "bans", "kick {other}", "ban {other} for 1{number} seconds", "unban {other}", "reports",
    "close report {number}", "shutdown in {number} seconds", "cancel shutdown", "shutdown now",
]  # fmt: skip
"""Lines that only operators type."""

TOGETHER = [
    "join game as dwarf on oak board", "join game as troll on oak board", "accept", "play",
    "start", "undo", "yes", "resign", "adjourn", "resume", "new board", "leave game", "withdraw",
    "seek", "shout Anybody {new}?", "tv",
]  # fmt: skip
"""Lines that several players type at the same moment."""


def _without_telnet(data: bytes) -> tuple[str, bytes]:
    """Return the text in some bytes, and the start of an incomplete telnet command."""
    plain = TELNET.sub(b"", data)
    cut = plain.find(b"\xff")
    text, rest = (plain, b"") if cut < 0 else (plain[:cut], plain[cut:])
    return text.decode("utf-8", "replace"), rest
