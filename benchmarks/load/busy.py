"""A busy server: rate of commands, their latency, and broadcast of a move to many spectators.

Each round measures thudmud and the yardsticks one after the other; the result is the median of the
rounds' ratios, since absolute figures mean little on a shared machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks.load.crowd import PATIENCE, Crowd, Rate
from benchmarks.load.players import (
    EVERY_WORDS,
    LOOK,
    MOVED,
    PROMPT,
    REFUSED,
    SAY,
    UNREAD,
    UNREAD_ANEW,
    Words,
    move,
    seated,
    start_over,
    to_and_fro,
    watching,
)
from benchmarks.load.processes import thudmud, yardstick
from benchmarks.load.table import Row

SAME_LINE = b"\n"
"""Found once in each answer of an echo."""

WINDOW = 16
"""Lines in flight for each player when commands are pipelined."""

WANTED = {
    SAY.title: (0.9, 0.55),
    UNREAD.title: (1.4, 1.0),
    UNREAD_ANEW.title: (1.4, 1.0),
    REFUSED.title: (1.0, 0.6),
    LOOK.title: (0.55, 0.35),
}
"""Target ratios with 100 players or more: for ping-pong, and for pipelined commands."""
MOVE_WANTED = 0.25
TELLING_WANTED = 0.85
DELAY_WANTED = 1.5  # milliseconds

PACE = 2000
MANY = 100
"""Up to this number of talkers, each has a table with a listener; above, both players talk."""


@dataclass(frozen=True)
class Pains:
    """Effort of a measurement: the number of rounds, and the seconds of each."""

    rounds: int
    seconds: float


@dataclass(frozen=True)
class Trio:
    """Equal numbers of talkers at thudmud and at both echoes."""

    thudmud: Crowd
    telnetlib3: Crowd
    bare: Crowd
    talkers: Sequence[int]
    echoing: Sequence[int]


def trio(stack: ExitStack, folder: Path, talkers: int) -> Trio:
    """Start all three servers, and connect the talkers."""
    size = talkers if talkers > MANY else 2 * talkers
    server = stack.enter_context(thudmud(folder / f"{talkers} talkers", size // 2))
    documented = stack.enter_context(yardstick("telnetlib3", folder))
    bare = stack.enter_context(yardstick("bare", folder))
    return Trio(
        stack.enter_context(seated(server, size)),
        stack.enter_context(Crowd(documented, talkers, PROMPT)),
        stack.enter_context(Crowd(bare, talkers, PROMPT)),
        range(0, size, 1 if talkers > MANY else 2),
        range(talkers),
    )


def commands(folder: Path, numbers: Sequence[int], pains: Pains) -> Iterator[Row]:
    """Measure the rate of answered commands."""
    for talkers in numbers:
        with ExitStack() as stack:
            crowds = trio(stack, folder, talkers)
            for words in EVERY_WORDS:
                yield _rates(crowds, words, 1, pains)
                yield _rates(crowds, words, WINDOW, pains)
            yield _moves(crowds, pains)


def _rates(crowds: Trio, words: Words, window: int, pains: Pains) -> Row:
    ours = [number for number in crowds.talkers if not (words.is_by_turn and number % 2)]
    echoing = crowds.echoing[: len(ours)]

    def one_round() -> Iterator[Rate]:
        answers = (words.answer, SAME_LINE, SAME_LINE)
        talkers = (ours, echoing, echoing)
        everybody = (crowds.thudmud, crowds.telnetlib3, crowds.bare)
        for crowd, who, answer in zip(everybody, talkers, answers, strict=True):
            yield crowd.rate(who, words.line, answer, pains.seconds, window)

    way = "pipelined" if window > 1 else "ping-pong"
    title = f"{words.title}; {_with_count(len(ours), 'player')}, {way}"
    least = WANTED[words.title][window > 1] if len(ours) >= MANY else None
    return _compared(title, one_round, pains, least)


def _moves(crowds: Trio, pains: Pains) -> Row:
    size = len(crowds.thudmud)
    pairs = range(0, size, 2)

    def one_round() -> Iterator[Rate]:
        yield crowds.thudmud.turns(pairs, move, MOVED, pains.seconds)
        start_over(crowds.thudmud, range(size))
        for echo in (crowds.telnetlib3, crowds.bare):
            yield echo.rate(crowds.echoing, to_and_fro, SAME_LINE, pains.seconds, 1)

    count = _with_count(len(pairs), "table")
    title = f"a legal move, told to two in full style; {count}, ping-pong"
    return _compared(title, one_round, pains, MOVE_WANTED if len(pairs) >= MANY else None)


def _with_count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("s" if number > 1 else "")


def _compared(
    title: str, one_round: Callable[[], Iterator[Rate]], pains: Pains, least: float | None
) -> Row:
    rounds = [list(one_round()) for _ in range(pains.rounds)]
    rates = [median(each.wall for each in rates) for rates in zip(*rounds, strict=True)]
    return Row(
        title,
        "a second",
        rates,
        ratio=median(ours.wall / theirs.wall for ours, theirs, _ in rounds),
        cpu=median(ours.cpu / theirs.cpu for ours, theirs, _ in rounds),
        least=least,
    )


def delays(folder: Path, talkers: int, pains: Pains) -> Iterator[Row]:
    """Measure the latency of answers at a steady pace."""
    pace = min(PACE, 20 * talkers)
    with ExitStack() as stack:
        crowds = trio(stack, folder, talkers)
        rounds = []
        for _ in range(pains.rounds):
            ours = crowds.thudmud.delays(crowds.talkers, SAY.line, SAY.answer, pains.seconds, pace)
            echoes = [
                echo.delays(crowds.echoing, SAY.line, SAME_LINE, pains.seconds, pace)
                for echo in (crowds.telnetlib3, crowds.bare)
            ]
            rounds.append([ours, *echoes])
    title = f"delay at {pace:,} says a second"
    halfway = _percentile(rounds, 0.5)
    ratio = median(ours / theirs for ours, theirs, _ in halfway)
    yield Row(f"{title}, median", "ms", _medians(halfway), ratio=ratio)
    late = _medians(_percentile(rounds, 0.99))
    yield Row(f"{title}, 99th percentile", "ms", late, ratio=late[0], most=DELAY_WANTED, what=" ms")


def _percentile(rounds: Sequence[Sequence[Sequence[float]]], part: float) -> list[list[float]]:
    """Return a quantile of the delays, for each round and server.

    Args:
        rounds: sorted delays in seconds, by round and server.
        part: the quantile, from 0 to 1.

    Returns:
        Milliseconds, by round and server.
    """
    return [[each[int(len(each) * part)] * 1000 for each in delays] for delays in rounds]


def _medians(rounds: Sequence[Sequence[float]]) -> list[float]:
    return [median(each) for each in zip(*rounds, strict=True)]


def telling(folder: Path, watchers: int, pains: Pains) -> Iterator[Row]:
    """Measure the latency of a move to the last spectator's screen."""
    for style in ("full", "brief"):
        with ExitStack() as stack:
            server = stack.enter_context(thudmud(folder / style, 1))
            crowd = stack.enter_context(watching(server, watchers, style))
            teller = stack.enter_context(yardstick("tell", folder))
            told = stack.enter_context(Crowd(teller, watchers + 2, PROMPT))
            ours, bare = [], []
            for ply in range(10 * pains.rounds):
                taken, size = until_all_know(crowd, ply % 2, to_and_fro(0, ply))
                ours.append(taken)
                bare.append(until_all_know(told, 0, b"%d" % size)[0])
        title = f"a move told to {watchers:,} who look on, {style} style"
        middle = median(ours)
        ratio = median(theirs / mine for mine, theirs in zip(ours, bare, strict=True))
        yield Row(
            f"{title}: to the last",
            "ms",
            (middle * 1000, None, median(bare) * 1000),
            ratio=ratio,
            least=TELLING_WANTED,
        )
        yield Row(f"{title}: messages", "a second", [(watchers + 2) / middle])


def until_all_know(crowd: Crowd, teller: int, line: bytes) -> tuple[float, int]:
    """Send a line, and wait until every member has a prompt again.

    Returns:
        Seconds until then, and the mean number of bytes for each member.

    Raises:
        TimeoutError: some members received no prompt.
    """
    missing, size = set(range(len(crowd))), 0
    begun = perf_counter()
    crowd.send(teller, line)
    while missing:
        for number, data in crowd.receive_any():
            size += len(data)
            if data.endswith(PROMPT):
                missing.discard(number)
        if perf_counter() > begun + PATIENCE:
            raise TimeoutError(f"{len(missing)} were not told of a move")
    taken = perf_counter() - begun
    crowd.quiet(0.05)
    return taken, size // len(crowd)
