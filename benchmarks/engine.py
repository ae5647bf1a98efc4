"""Speed of the rules engine, beside the reference rules of its tests as a yardstick.

Run it from the checkout: ``python benchmarks/engine.py``, or ``python -m benchmarks.engine``. It
prints one table; the exit status is 1 if a ratio is below its target.

- Listing: generate all legal moves of the initial position, over and over.
- Playouts: play random legal moves until there are none, or for ``MOST_PLIES``; both sides of the
  comparison use the same seeds. The result is plies a second.
- Perft: seconds to count the distinct sequences of three plies.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from tests.rules import reference_rules
from tests.rules.shorthand import reference_state
from thudmud.rules import RULESETS, Ruleset, perft

ROUNDS = 5
"""Alternating rounds of engine and yardstick; the best of each counts, as the least disturbed."""

SECONDS = 0.4
"""Minimum duration of a round."""

SEEDS = 1_000
"""Distance between the seeds of two rounds, so that no round benefits from warm caches."""

MOST_PLIES = 1_000
"""Cutoff of a playout: random play under koom valley can last thousands of plies."""

WIDTH = 46
"""Width of the title column."""

LISTING_WANTED = 30
PLAYOUT_WANTED = 5
DEPTH = 3


@dataclass(frozen=True)
class Row:
    """A row of the table; rates are per second."""

    title: str
    engine: float
    yardstick: float
    wanted: float

    @property
    def ratio(self) -> float:
        """Speed relative to the yardstick."""
        return self.engine / self.yardstick

    def __str__(self) -> str:
        return (
            f"{self.title:{WIDTH}}{self.engine:12,.0f}{self.yardstick:12,.0f}"
            f"{self.ratio:9.1f}{self.wanted:9.0f}"
        )


def listing(rules: Ruleset, rounds: int, seconds: float) -> Row:
    """Compare the rate of move generation in the initial position."""
    position, state = rules.initial_position, reference_state(rules.initial_position)
    number = len(rules.legal_moves(position))
    assert number == len(reference_rules.outcomes(rules.name, state))

    def by_engine(_round: int) -> int:
        rules.legal_moves(position)
        return 1

    def by_yardstick(_round: int) -> int:
        reference_rules.outcomes(rules.name, state)
        return 1

    rates = best_rates(by_engine, by_yardstick, rounds, seconds)
    title = f"{rules.name}: lists of the opening's {number} moves"
    return Row(title, *rates, wanted=LISTING_WANTED)


def playouts(rules: Ruleset, rounds: int, seconds: float) -> Row:
    """Compare the plies per second of random playouts."""

    def by_engine(seed: int) -> int:
        random, position, plies = Random(seed), rules.initial_position, 0
        while plies < MOST_PLIES and (moves := rules.legal_moves(position)):
            position = position.after(random.choice(moves))
            plies += 1
        return plies

    def by_yardstick(seed: int) -> int:
        random, state, plies = Random(seed), reference_state(rules.initial_position), 0
        while plies < MOST_PLIES and (found := reference_rules.outcomes(rules.name, state)):
            state = reference_rules.after(state, random.choice(list(found)))
            plies += 1
        return plies

    rates = best_rates(by_engine, by_yardstick, rounds, seconds)
    return Row(f"{rules.name}: plies of random playouts", *rates, wanted=PLAYOUT_WANTED)


def best_rates(
    engine: Callable[[int], int], yardstick: Callable[[int], int], rounds: int, seconds: float
) -> tuple[float, float]:
    """Return the rates of engine and yardstick, each from its best round."""
    rates = [
        (rate(engine, seconds, first), rate(yardstick, seconds, first))
        for first in range(0, rounds * SEEDS, SEEDS)
    ]
    return max(each for each, _ in rates), max(each for _, each in rates)


def rate(work: Callable[[int], int], seconds: float, first: int) -> float:
    """Call a function for some seconds, and return the rate.

    Args:
        work: takes a seed, and returns the units of work done.
        seconds: minimum duration.
        first: first seed; later calls count up.

    Returns:
        Units of work per second.
    """
    done, seed = 0, first
    start = perf_counter()
    while (taken := perf_counter() - start) < seconds:
        done += work(seed)
        seed += 1
    return done / taken


def perft_line(rules: Ruleset, depth: int) -> str:
    """Count the sequences of legal plies to a depth, and format the count with its duration."""
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
    """Print the table; return 1 if a ratio is below its target."""
    status = 0
    for line in report(ROUNDS, SECONDS, DEPTH):
        print(line, flush=True)
        if isinstance(line, Row) and line.ratio < line.wanted:
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
