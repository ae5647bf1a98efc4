"""How fast the rules engine is, beside the plain rules of its tests as a yardstick.

Run it from the checkout: ``python benchmarks/engine.py``, or ``python -m benchmarks.engine``. It
prints one table, and exits with status 1 if a ratio is below what is wanted of it.

- Listing: all legal moves of one position, over and over.
- Playouts: list all legal moves, play a random one, until there is none; both sides of the
  comparison from the same seeds, at most ``MOST_PLIES`` each, counted in plies a second.
- Perft: the count of distinct outcomes three plies deep, in seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from tests.rules import plain_rules
from tests.rules.shorthand import plain_state
from thudmud.rules import RULESETS, Ruleset, perft

ROUNDS = 5
"""Engine and yardstick take turns; the best round of each counts, being the least disturbed."""

SECONDS = 0.4
"""How long a round lasts at least."""

SEEDS = 1_000
"""Each round plays from seeds of its own, so that no round finds what another has remembered."""

MOST_PLIES = 1_000
"""Where a playout stops: koom valley at random may go on for thousands of plies."""

WIDTH = 46
"""How many columns the table's titles take."""

LISTING_WANTED = 30
PLAYOUT_WANTED = 5
DEPTH = 3


@dataclass(frozen=True)
class Row:
    """A line of the table; rates are per second."""

    title: str
    engine: float
    yardstick: float
    wanted: float

    @property
    def ratio(self) -> float:
        """How many times as fast as the yardstick the engine is."""
        return self.engine / self.yardstick

    def __str__(self) -> str:
        return (
            f"{self.title:{WIDTH}}{self.engine:12,.0f}{self.yardstick:12,.0f}"
            f"{self.ratio:9.1f}{self.wanted:9.0f}"
        )


def listing(rules: Ruleset, rounds: int, seconds: float) -> Row:
    """Compare how often the opening's moves are listed."""
    position, state = rules.initial_position, plain_state(rules.initial_position)
    number = len(rules.legal_moves(position))
    assert number == len(plain_rules.outcomes(rules.name, state))

    def by_engine(_round: int) -> int:
        rules.legal_moves(position)
        return 1

    def by_yardstick(_round: int) -> int:
        plain_rules.outcomes(rules.name, state)
        return 1

    rates = best_rates(by_engine, by_yardstick, rounds, seconds)
    title = f"{rules.name}: lists of the opening's {number} moves"
    return Row(title, *rates, wanted=LISTING_WANTED)


def playouts(rules: Ruleset, rounds: int, seconds: float) -> Row:
    """Compare how many plies of random battles are played."""

    def by_engine(seed: int) -> int:
        random, position, plies = Random(seed), rules.initial_position, 0
        while plies < MOST_PLIES and (moves := rules.legal_moves(position)):
            position = position.after(random.choice(moves))
            plies += 1
        return plies

    def by_yardstick(seed: int) -> int:
        random, state, plies = Random(seed), plain_state(rules.initial_position), 0
        while plies < MOST_PLIES and (found := plain_rules.outcomes(rules.name, state)):
            state = plain_rules.after(state, random.choice(list(found)))
            plies += 1
        return plies

    rates = best_rates(by_engine, by_yardstick, rounds, seconds)
    return Row(f"{rules.name}: plies of random playouts", *rates, wanted=PLAYOUT_WANTED)


def best_rates(
    engine: Callable[[int], int], yardstick: Callable[[int], int], rounds: int, seconds: float
) -> tuple[float, float]:
    """Return how much either did a second, in its best round."""
    rates = [
        (rate(engine, seconds, first), rate(yardstick, seconds, first))
        for first in range(0, rounds * SEEDS, SEEDS)
    ]
    return max(each for each, _ in rates), max(each for _, each in rates)


def rate(work: Callable[[int], int], seconds: float, first: int) -> float:
    """Do work, numbered from ``first`` on, for some seconds; return how much was done a second."""
    done, seed = 0, first
    start = perf_counter()
    while (taken := perf_counter() - start) < seconds:
        done += work(seed)
        seed += 1
    return done / taken


def perft_line(rules: Ruleset, depth: int) -> str:
    """Count and time the games of some plies."""
    start = perf_counter()
    count = perft(rules, rules.initial_position, depth)
    taken = perf_counter() - start
    title = f"{rules.name}: perft {depth} is {count:,}"
    return f"{title:{WIDTH}}{taken:11.2f}s"


def report(rounds: int, seconds: float, depth: int) -> Iterator[Row | str]:
    """Yield the lines of the table."""
    yield f"{'per second':{WIDTH}}{'engine':>12}{'yardstick':>12}{'ratio':>9}{'wanted':>9}"
    for rules in RULESETS.values():
        yield listing(rules, rounds, seconds)
    for rules in RULESETS.values():
        yield playouts(rules, rounds, seconds)
    for rules in RULESETS.values():
        yield perft_line(rules, depth)


def main() -> int:
    """Print the table; return 1 if the engine is slower than is wanted."""
    status = 0
    for line in report(ROUNDS, SECONDS, DEPTH):
        print(line, flush=True)
        if isinstance(line, Row) and line.ratio < line.wanted:
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
