"""A bot on somebody else's server: what to type there, given the packages that come.

A `Visitor` does no I/O. Its client passes it each GMCP package of the server (docs/gmcp.md), types
the lines that it returns, and asks a program for the plies of `Visitor.tasks`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from thudmud.bots.opponent import QUIET, Task
from thudmud.errors import ThudmudError
from thudmud.rules import RULESETS, Game, Piece, Position, Side, Square, read_ply
from thudmud.values import Value

SETTLE = 30.0
"""Seconds after the end of a match until the bot leaves its seat, for a rematch."""

PATIENCE = 300.0
"""Seconds that the bot waits for an opponent who is away, or hasn't come."""

RESTARTS = 3
"""How often the bot's program may fail in one battle before the bot resigns."""

TIMED, UNTIMED = "timed", "untimed"

_AGREED = frozenset({"undo", "adjourn", "rematch", "begin"})
"""The offers that the bot accepts, by their word in ``Thud.Table``."""

_COMMANDS = {
    "undo": "undo",
    "adjourn": "adjourn game",
    "rematch": "start game",
    "begin": "start game",
    "end": "end game",
}

Facts = Mapping[str, Any]


class ChallengePolicy(Value):
    """The challenges that a bot accepts.

    Attributes:
        rules: the rulesets.
        clocks: ``timed``, ``untimed`` or both.
        rated: whether rated and casual matches are accepted.
        boards: the maximum number of boards at the same time.
    """

    rules: Collection[str] = tuple(RULESETS)
    clocks: Collection[str] = (TIMED, UNTIMED)
    rated: Collection[bool] = (True, False)
    boards: int = 4

    def accepts(self, seek: Facts) -> bool:
        """Return whether a challenge fits, without regard to the number of boards."""
        return (
            seek["rules"] in self.rules
            and (TIMED if seek["time"] else UNTIMED) in self.clocks
            and seek["rated"] in self.rated
        )


@dataclass(slots=True)
class _VisitedSeat:
    """A board at which the bot sits.

    Attributes:
        side: the bot's side.
        table: the last ``Thud.Table``.
        since: time of the last change of the table.
        battle: number of the battle that ``game`` belongs to.
        game: the battle, from the last complete position on; None before the first one.
        start: number of plies played before that position.
        failures: failures of the program in this battle.
        done: what was typed since the last change.
    """

    side: Side
    table: Facts
    since: float
    battle: int | None = None
    game: Game | None = None
    start: int = 0
    failures: int = 0
    done: set[str] = field(default_factory=set)

    @property
    def is_running(self) -> bool:
        """Whether the bot's battle is being played."""
        return bool(self.table["running"]) and self.game is not None

    @property
    def opponent(self) -> Facts:
        """The other seat."""
        other: Facts
        [other] = [each for each in self.table["seats"] if each["side"] != self.side.value]
        return other


class Visitor:
    """A bot's knowledge of the boards where it sits.

    Args:
        name: the bot's name.
        policy: the challenges that it accepts.
    """

    def __init__(self, name: str, policy: ChallengePolicy) -> None:
        self.name, self._policy = name, policy
        self._seats: dict[str, _VisitedSeat] = {}

    @property
    def plays(self) -> bool:
        """Whether the bot sits at any board."""
        return bool(self._seats)

    def forget(self) -> None:
        """Forget all boards: after a lost connection the server describes them anew."""
        self._seats.clear()

    def receive(self, package: str, data: Any, now: float) -> list[str]:
        """Process a package, and return the lines to type.

        Args:
            package: name of the package.
            data: its data.
            now: the time in seconds, by any clock that never goes back.
        """
        match package:
            case "Thud.Seek":
                return self._answer_seek(data)
            case "Thud.Invite":
                return self._answer_invitation(data)
            case "Thud.Table":
                return self._follow_table(data, now)
            case "Thud.Board":
                self._follow_position(data)
            case "Thud.Move":
                return self._follow_move(data)
        return []

    def tasks(self) -> list[Task]:
        """Return the battles in which the bot is to move."""
        return [
            Task(board, seat.battle or 0, seat.game)
            for board, seat in self._seats.items()
            if seat.is_running and seat.game and seat.game.position.turn is seat.side
        ]

    def ply_line(self, task: Task, ply: str) -> str | None:
        """Return the line that plays a program's ply; None if the battle has gone on meanwhile.

        Raises:
            ValueError: the string is not a ply, or the rules refuse it.
        """
        if task not in self.tasks():
            return None
        task.game.push(ply)
        return f"ply {ply} on {task.board}"

    def count_failure(self, task: Task) -> list[str]:
        """Record a failure of the program; after too many of them, return how to resign."""
        seat = self._seats.get(task.board)
        if seat is None or task not in self.tasks():
            return []
        seat.failures += 1
        if seat.failures <= RESTARTS:
            return []
        seat.game = None  # whatever comes, the bot plays no more here
        opponent = seat.opponent["player"]
        sorry = [f"tell {opponent} My program has failed too often. I resign."] if opponent else []
        return [*sorry, f"resign on {task.board}", "yes"]

    def due(self, now: float) -> list[str]:
        """Return the lines that are due by now: for offers, and to leave a board."""
        lines = []
        for board, seat in list(self._seats.items()):
            for line in self._due_at(board, seat, now - seat.since):
                if line not in seat.done:
                    seat.done.add(line)
                    lines.append(line)
        return lines

    def _due_at(self, board: str, seat: _VisitedSeat, waited: float) -> list[str]:
        if theirs := [
            each["offer"] for each in seat.table["offers"] if each["side"] != seat.side.value
        ]:
            wanted = [each for each in theirs if self._agrees(each, seat)]
            command = _COMMANDS[wanted[0]] if wanted else "no"
            return [f"{command} on {board}"]
        opponent = seat.opponent
        if not opponent["player"] or seat.table["over"]:
            is_time = waited >= SETTLE if seat.table["over"] else waited >= PATIENCE
            return [f"leave game on {board}", "go hall"] if is_time else []
        if opponent["away_since"] and waited >= PATIENCE:
            return [f"adjourn game on {board}"]
        return []

    def _agrees(self, offer: str, seat: _VisitedSeat) -> bool:
        quiet = seat.game.quiet_plies if seat.game else 0
        return offer in _AGREED or (offer == "end" and quiet >= QUIET)

    def _answer_seek(self, seek: Facts) -> list[str]:
        if seek["to"] != self.name or seek["player"] == self.name:
            return []
        number = seek["seek"]
        fits = len(self._seats) < self._policy.boards and self._policy.accepts(seek)
        return [f"accept {number}" if fits else f"decline {number}"]

    def _answer_invitation(self, invitation: Facts) -> list[str]:
        player = invitation["player"]
        if invitation["to"] != self.name or player == self.name:
            return []
        fits = len(self._seats) < self._policy.boards
        return [f"accept {player}" if fits else f"decline {player}"]

    def _follow_table(self, table: Facts, now: float) -> list[str]:
        board = table["board"]
        mine = [Side(each["side"]) for each in table["seats"] if each["player"] == self.name]
        if not mine:
            self._seats.pop(board, None)
            return []
        seat = self._seats.get(board)
        if seat is None:
            self._seats[board] = _VisitedSeat(mine[0], table, now, table["battle"])
            return [f"look {board}"]  # the position
        if seat.table != table:
            seat.since, seat.done = now, set()
        seat.side, seat.table = mine[0], table
        return []

    def _follow_position(self, facts: Facts) -> None:
        seat = self._seats.get(facts["board"])
        if seat is None:
            return
        if facts["battle"] != seat.battle:
            seat.battle, seat.failures = facts["battle"], 0
        seat.start = facts["ply"]
        turn = facts["turn"]
        if turn is None:
            seat.game = None
            return
        squares = {
            **dict.fromkeys(facts["dwarfs"], Piece.DWARF),
            **dict.fromkeys(facts["trolls"], Piece.TROLL),
            **{facts[each]: piece for each, piece in _SINGLE.items() if facts[each]},
        }
        pieces = {Square.parse(name): piece for name, piece in squares.items()}
        position = Position.of(pieces, Side(turn))
        seat.game = Game.start(RULESETS[facts["rules"]], position)

    def _follow_move(self, facts: Facts) -> list[str]:
        seat = self._seats.get(facts["board"])
        if seat is None or seat.game is None or facts["taken_back"]:
            return []  # a complete position follows
        if facts["ply"] <= seat.start + len(seat.game.moves):
            return []  # from before the last complete position
        try:
            move = read_ply(facts["record"], seat.game.ruleset, seat.game.position)
            seat.game = seat.game.play(move)
        except ThudmudError:
            seat.game = None
            return [f"look {facts['board']}"]
        return []


_SINGLE = {"stone": Piece.STONE, "rock": Piece.ROCK}
