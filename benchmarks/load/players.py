"""Crowds of players: logging in, sitting down, and typing commands.

Owns all text that is sent to thudmud, and the patterns that recognise its answers. Must never
measure anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from benchmarks.load.crowd import Crowd, Line
from benchmarks.load.processes import Running, board, letters
from thudmud.rules import DISCWORLD, Verb

NAME_PROMPT = b"What is your name? "
PROMPT = b"> "
MOVED = b"Last move"
"""Found once in a board in full style after a move."""

GAMES, PLIES = 100, 120
"""The number of different games, and their length in plies; none of them ends earlier."""

_STEPS = (b"A6 to B6", b"G7 to F7", b"B6 to A6", b"F7 to G7")
"""Moves of two pieces that shuttle back and forth, and capture nothing."""

_BEGUN = b"begin a match"

AT_ONCE = 250
"""The number of players who connect and log in at once; more are let in one group after another."""


@dataclass(frozen=True)
class Words:
    """A command, and the pattern of its answer.

    Attributes:
        title: of the row.
        line: the lines to type.
        answer: found once in the answer.
        is_by_turn: whether the answer depends on being on turn, so that only the dwarfs, who begin,
            get it.
    """

    title: str
    line: Line
    answer: bytes
    is_by_turn: bool = False


SAY = Words(
    "say, each line another",
    lambda number, count: b"say Well met, fellow dwarf! %d.%d\r\n" % (number, count),
    b"You say:",
)
UNREAD = Words(
    "a line that cannot be read",
    lambda number, count: b"mvoe from a6 to b6\r\n",  # noqa: ARG005  (the same for all)
    b"There is no command",
)
UNREAD_ANEW = Words(
    "the same, each line another",
    lambda number, count: b"mvoe from a6 to b6 %d.%d\r\n" % (number, count),
    b"There is no command",
)
REFUSED = Words(
    "a move that is refused",
    lambda number, count: b"move from a7 to c8\r\n",  # noqa: ARG005
    b"C8 isn't in a straight line",
    is_by_turn=True,
)
LOOK = Words(
    "look at board",
    lambda number, count: b"look at board\r\n",  # noqa: ARG005
    b"Score: dwarfs",
)
HISTORY = Words(
    "the first page of the history",
    lambda number, count: b"history all\r\n",  # noqa: ARG005
    b"\r\nPage ",
)
EVERY_WORDS = (SAY, UNREAD, UNREAD_ANEW, REFUSED, LOOK)


def move(number: int, count: int) -> bytes:
    """Return a move of the table's own game, by the number of plies before."""
    lines = _game(number // 2 % GAMES)
    return lines[count] if count < len(lines) else b""


@cache
def _game(seed: int) -> list[bytes]:
    """Return the lines of a random game."""
    random, position, lines = Random(seed), DISCWORLD.initial_position, []
    for _ in range(PLIES):
        found = random.choice(DISCWORLD.legal_moves(position))
        line = f"{found.verb.value} from {found.origin} to {found.target}"
        if found.captures and found.verb is not Verb.HURL:
            line += f" capturing {', '.join(map(str, found.captures))}"
        lines.append(f"{line}\r\n".encode())
        position = position.after(found)
    return lines


def to_and_fro(number: int, count: int) -> bytes:  # noqa: ARG001  (a `Line`)
    """Return a move of an endless game without captures, by the number of plies before."""
    return b"move from " + _STEPS[count % 4] + b"\r\n"


def move_by_name(number: int, count: int) -> bytes:
    """Return a move like `to_and_fro` that names the board."""
    return to_and_fro(number, count)[:-2] + f" on {board(number // 2)}\r\n".encode()


def come_in(crowd: Crowd, members: Sequence[int]) -> None:
    """Log members in under new names."""
    crowd.say(members, lambda number: f"q{letters(number)}\r\n".encode(), PROMPT)
    crowd.quiet()


def let_in(crowd: Crowd, more: int, settle: Callable[[range], None] = lambda _: None) -> None:
    """Add players to a crowd, in groups of `AT_ONCE`.

    Args:
        crowd: the crowd.
        more: number of players.
        settle: called with the members of each group after they have logged in.
    """
    first, end = len(crowd), len(crowd) + more
    for start in range(first, end, AT_ONCE):
        members = range(start, min(start + AT_ONCE, end))
        crowd.grow(len(members), NAME_PROMPT)
        come_in(crowd, members)
        settle(members)


def send_to_boards(crowd: Crowd, members: Sequence[int], at_board: int) -> None:
    """Send members from the hall to boards, some number of them to each."""
    crowd.say(
        members, lambda number: f"go to {board(number // at_board)}\r\n".encode(), b"You walk"
    )
    crowd.quiet()


def sit_down(crowd: Crowd, members: Sequence[int]) -> None:
    """Start a game between each even member and the next; pair N plays at board N."""

    def join(side: str) -> Callable[[int], bytes]:
        return lambda number: f"join game as {side} on {board(number // 2)}\r\n".encode()

    evens = [number for number in members if number % 2 == 0]
    odds = [number for number in members if number % 2]
    crowd.say(evens, join("dwarf"), b"You sit down")
    crowd.say(odds, join("troll"), b"You sit down")
    crowd.quiet()
    for number in evens:
        crowd.send(number, b"start game\r\n")
    crowd.wait_for(members, _BEGUN)
    crowd.quiet()


def start_over(crowd: Crowd, members: Sequence[int]) -> None:
    """Restart the games of all pairs, so that they don't grow from round to round."""
    for parity, lines in enumerate((b"start game\r\nyes\r\n", b"yes\r\n")):
        for number in members:
            if number % 2 == parity:
                crowd.send(number, lines)  # the first confirms, the second agrees
        crowd.quiet()


def seated(server: Running, size: int, kind: type[Crowd] = Crowd) -> Crowd:
    """Return a crowd of players, two at each table."""
    crowd = kind(server, 0)
    try:
        let_in(crowd, size, lambda members: sit_down(crowd, members))
    except BaseException:
        crowd.close()
        raise
    return crowd


def watching(server: Running, size: int, style: str, kind: type[Crowd] = Crowd) -> Crowd:
    """Return a crowd of two players and a number of spectators at one table."""
    crowd = seated(server, 2, kind)
    watch(crowd, size, style)
    return crowd


def watch(crowd: Crowd, more: int, style: str) -> None:
    """Add spectators to the first table of a crowd."""

    def settle(members: range) -> None:
        send_to_boards(crowd, members, len(crowd))
        crowd.say(members, lambda _: f"set board {style}\r\n".encode(), PROMPT)
        crowd.quiet()

    let_in(crowd, more, settle)
