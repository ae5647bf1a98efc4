"""Speed of the server, beside the obvious alternative: a game on Evennia.

Run it from the checkout: ``python benchmarks/evennia.py``, or ``python -m benchmarks.evennia``. A
full run takes six minutes, ``--quick`` one, with five players; ``make evennia`` installs Evennia.
Requires Linux: epoll and /proc.

Players connect by telnet to both. First all are in one room, where everyone hears what anyone says:
our hall, and Evennia's Limbo as installed, without our code. Then all are at a board: at ours they
walk up to one, in Evennia `thudmud.evennia` puts one into Limbo. Each round measures both servers,
one after the other, for each command:

- the rate of answers, when each player types the next line upon the answer to the last;
- the CPU time per answer, of all processes (Evennia has two, portal and server);
- the 99th percentile of the delay at a steady total pace that both servers can sustain.

Evennia's game is made by ``evennia --init``, set up as in docs/evennia.md, on its default database,
SQLite. Four of its caps are raised like ours, since all players come from one machine: lines a
second of a session (see `tests.evennia.mud`), connections a second, and the accounts and logins of
one address. Its players have accounts, ours are guests. It sends colours to clients that announce
no capabilities, we don't. Our room description names twelve of the people present, Evennia's all.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from benchmarks.load.busy import Pains
from benchmarks.load.crowd import Crowd
from benchmarks.load.players import LOOK, NAME_PROMPT, SAY, Words, come_in
from benchmarks.load.processes import ROOT, Running, board, letters, thudmud
from benchmarks.store import Row
from tests.evennia.mud import PASSWORD, Mud
from tests.ports import free_ports

COMMANDS = ROOT / "build" / "evennia" / "bin"
SETTINGS = """
MAX_CONNECTION_RATE = 1000
CREATION_THROTTLE_LIMIT = LOGIN_THROTTLE_LIMIT = 1_000_000
"""
HELLO = b" will re-show this screen."
"""The end of Evennia's welcome screen."""

AT_ONCE = 10
"""Concurrent registrations: Evennia hashes the passwords one after the other."""


@dataclass(frozen=True)
class Extent:
    """Amount of work.

    Attributes:
        pains: rounds and their duration.
        players: number of players in the room.
        pace: total lines a second during the measurement of delays.
    """

    pains: Pains
    players: int = 50
    pace: int = 50


FULL = Extent(Pains(3, 4.0))
QUICK = Extent(Pains(1, 1.0), players=5)

TheirWords = tuple[Words, Words]
"""A command at our server, and its equivalent at Evennia's."""

THEIR_SAY = Words("say", SAY.line, b"You say,")
IN_ROOM: Sequence[TheirWords] = (
    (
        Words("look", lambda number, count: b"look\r\n", f"1. {board(0)}".encode()),  # noqa: ARG005
        Words("look", lambda number, count: b"look\r\n", b"Limbo"),  # noqa: ARG005
    ),
    (SAY, THEIR_SAY),
)
AT_BOARD: Sequence[TheirWords] = (
    (LOOK, Words("look", lambda number, count: b"look board\r\n", LOOK.answer)),  # noqa: ARG005
    (SAY, THEIR_SAY),
)


@dataclass(frozen=True)
class RunningMud(Running):
    """A running Evennia game; `pid` is one of its processes.

    Attributes:
        pids: all of its processes.
    """

    pids: Sequence[int] = ()

    @property
    def cpu(self) -> float:
        """CPU seconds of all processes."""
        return sum(time.clock_gettime((~pid << 3) | 2) for pid in self.pids)


@contextmanager
def evennia(folder: Path) -> Iterator[Mud]:
    """Create an Evennia game in a folder, and run it in the context."""
    with free_ports() as free_port:
        mud = Mud(COMMANDS, folder, free_port, SETTINGS)
        try:
            mud.start()
            yield mud
        finally:
            mud.stop()


def enrolled(mud: Mud, size: int) -> Crowd:
    """Register accounts with an Evennia game, and return a crowd that is logged in."""
    pids = sorted(mud.pids)
    crowd = Crowd(RunningMud(pids[0], ("127.0.0.1", mud.port), 0.0, pids=pids), size, HELLO)
    try:
        for first in range(0, size, AT_ONCE):
            members = range(first, min(size, first + AT_ONCE))
            for line, answer in (
                (f"create {{}} {PASSWORD}\r\n", b"Is this what you intended?"),
                ("Y\r\n", b"was created"),
                (f"connect {{}} {PASSWORD}\r\n", b"You become"),
            ):
                crowd.say(members, lambda each: line.format(f"q{letters(each)}").encode(), answer)  # noqa: B023
        crowd.quiet()
    except BaseException:
        crowd.close()
        raise
    return crowd


def put_board(mud: Mud) -> None:
    """Create a board in the room, as the superuser."""
    anna = mud.client()
    for line, answer in (
        (f"connect Anna {PASSWORD}", "You become"),
        ("create/drop oak board:thudmud.evennia.ThudBoard", "You create"),
        ("quit", "Quitting"),
    ):
        anna.type(line)
        anna.until(lambda seen: answer in seen)  # noqa: B023


def report(extent: Extent, mud: Mud | None = None) -> Iterator[Row]:
    """Yield the rows of the table.

    Args:
        extent: amount of work.
        mud: a running Evennia game with `SETTINGS`; by default a new one.
    """
    players = range(extent.players)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="thudmud.")))
        mud = mud or stack.enter_context(evennia(folder))
        server = stack.enter_context(thudmud(folder / "thudmud", 1))
        theirs = stack.enter_context(enrolled(mud, extent.players))
        ours = stack.enter_context(Crowd(server, extent.players, NAME_PROMPT))
        come_in(ours, players)
        yield from _rows(ours, theirs, IN_ROOM, "room", extent)
        put_board(mud)
        ours.say(players, lambda _: f"go to {board(0)}\r\n".encode(), b"You walk")
        for crowd in (ours, theirs):
            crowd.quiet()
        yield from _rows(ours, theirs, AT_BOARD, "board", extent)


def _rows(
    ours: Crowd, theirs: Crowd, typed: Sequence[TheirWords], where: str, extent: Extent
) -> Iterator[Row]:
    players, seconds, rounds = range(extent.players), extent.pains.seconds, extent.pains.rounds
    for words in typed:
        both = list(zip((ours, theirs), words, strict=True))
        rates = [
            [crowd.rate(players, each.line, each.answer, seconds, 1) for crowd, each in both]
            for _ in range(rounds)
        ]
        delays = [
            [
                crowd.delays(players, each.line, each.answer, seconds, extent.pace)
                for crowd, each in both
            ]
            for _ in range(rounds)
        ]
        title = f"{words[1].title}, {extent.players} at one {where}"
        for what, unit, found in (
            ("", "a second", [[rate.wall for rate in each] for each in rates]),
            (": CPU for a line", "ms", [[1000 / rate.cpu for rate in each] for each in rates]),
            (
                f", {extent.pace} a second: 99 in 100 within",
                "ms",
                [[1000 * late[int(len(late) * 0.99)] for late in each] for each in delays],
            ),
        ):
            mine, other = (median(each) for each in zip(*found, strict=True))
            yield Row(title + what, mine, other, unit)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison and print the table."""
    parser = argparse.ArgumentParser(description="Measure the server beside a game of Evennia's.")
    parser.add_argument("--quick", action="store_true", help="five players, for a short run")
    options = parser.parse_args(arguments)
    # Evennia's processes are daemons: exit by an exception, so that they are stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print(f"{'':56}{'thudmud':>12}{'Evennia':>12} {'':10}{'ratio':>8}")
    for row in report(QUICK if options.quick else FULL):
        print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
