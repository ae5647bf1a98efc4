"""Fit the weights of classic and discworld to the results of battles (Texel's method).

Run it from the checkout: ``python benchmarks/outcomes.py classic --battles 500``. The player plays
fast battles against itself, from random openings and partly with deliberate errors. Quiet positions
are sampled from them, those in which no capture is worthwhile. The final margin of their battle is
fitted by a weighted sum of the counts that the evaluation weighs, by least squares. The fitted
weights are printed beside the current ones, scaled so that a dwarf is worth 100.

Standard errors come from a jackknife over groups of battles, as the positions of a battle all have
the same result. They are much larger than those of ``tune.py --fit``, but the results are those of
whole battles. Mind what a fit doesn't show: a count may only accompany good results. Test all
weights in matches. ``--out FILE`` appends the samples to a file; with ``--battles 0`` those of the
file are fitted.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields, replace
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from benchmarks.tune import be_worker, inverse
from thudmud.bots.referee import random_opening
from thudmud.rules import RULESETS, Game, Ruleset, Side
from thudmud.search.search import Blunders, Limit, PruningOptions, Search
from thudmud.search.tactics import tactics_of, tuned_weights
from thudmud.search.thud import Weights

RULES = ("classic", "discworld")
OPENINGS = (2, 4, 6, 8, 10)
MOST_PLIES, MOST_QUIET = 200, 40
NODES = (250, 400, 700)
"""Positions a ply, drawn for each side of a battle."""
SLIPS, SLIPPED = (0, 0, 20, 40), 0.3
"""Standard deviations of deliberate errors in a battle, and the share of plies with such errors."""
NARROW = PruningOptions(root_beam=24)
SAMPLED = 0.34
"""The share of quiet positions that are sampled."""
UNIT = 1000
GROUPS = 20
"""Groups of battles that the jackknife leaves out in turn."""
PRIOR = 30.0
"""Pseudo-observations in favour of weights of 0, for counts scaled to a standard deviation of 1."""
DWARF, TROLL = 100, 400
"""The result's value of a dwarf and of a troll, in hundredths of a point."""

NAMES = ("dwarf", *(field.name for field in fields(Weights)))


class Sample(NamedTuple):
    """A position: its battle, the counts, the plies so far, and the gain until the end.

    The gain is the change of the dwarfs' margin, in hundredths of a point. The strength is the
    logarithm of the ratio of the sides' limits: a stronger side wins from worse positions.
    """

    battle: int
    counts: tuple[float, ...]
    plies: int
    strength: float
    gain: int


def counts_of(ruleset: Ruleset, game: Game, gathering_square: int) -> tuple[float, ...]:
    """Return what each weight is multiplied by in the evaluation of a position."""
    at, dwarfs = game.position, game.turn is Side.DWARF
    none = Weights(**dict.fromkeys(NAMES[1:], 0.0))
    changed: list[dict[str, Any]] = [{}, *({name: float(UNIT)} for name in NAMES[1:])]
    scores = []
    for each in changed:
        tactics = tactics_of(ruleset, dict.fromkeys(Side, replace(none, **each)))
        tactics.use_weights_of(game.turn, gathering_square, 0)
        field = tactics.field(at.dwarfs, at.trolls, at.empty)
        scores.append(
            tactics.evaluate(at.dwarfs, at.trolls, 0, at.empty, field, dwarfs_to_move=dwarfs)
        )
    base, *parts = scores
    return base / DWARF, *((part - base) / UNIT for part in parts)


def is_quiet(game: Game) -> bool:
    """Return whether the side to move has no capture worth playing, by a short search."""
    search = Search(game.ruleset)
    thought = search.think(game, Limit(depth=1))
    return not thought.move.captures


def margin(game: Game) -> int:
    """Return the dwarfs' lead on the board, in hundredths of a point."""
    return 100 * (game.score.dwarf - game.score.troll)


def samples(rules: str, number: int) -> list[Sample]:
    """Play a battle, and return its samples."""
    ruleset, random = RULESETS[rules], Random(f"outcomes {number}")
    game = random_opening(ruleset, random.choice(OPENINGS), f"outcomes {rules} {number}")
    players = {side: Search(ruleset, options=NARROW) for side in Side}
    nodes = {side: random.choice(NODES) for side in Side}
    slip = random.choice(SLIPS)
    errors = Blunders(misjudges=lambda _: round(random.gauss(0, slip)))
    strength = math.log(nodes[Side.DWARF] / nodes[Side.TROLL])
    found: list[tuple[tuple[float, ...], int, int]] = []
    while not game.outcome and len(game.moves) < MOST_PLIES and game.quiet_plies < MOST_QUIET:
        player = players[game.turn]
        blunders = errors if slip and random.random() < SLIPPED else None
        after = game.play(player.think(game, Limit(nodes=nodes[game.turn]), None, blunders).move)
        if random.random() < SAMPLED and is_quiet(game):
            counts = counts_of(ruleset, game, player.gathering_square)
            found.append((counts, len(game.moves), margin(game)))
        game = after
    end = margin(game)
    return [Sample(number, counts, plies, strength, end - at) for counts, plies, at in found]


def least_squares(rows: Sequence[tuple[Sequence[float], float]]) -> list[float]:
    """Return the coefficients of a ridge regression with an intercept, which is left out."""
    size, count = len(rows[0][0]), len(rows)
    means = [sum(x[i] for x, _ in rows) / count for i in range(size)]
    level = sum(y for _, y in rows) / count
    sums = [[0.0] * size for _ in range(size)]
    slopes = [0.0] * size
    for x, y in rows:
        centred = [a - b for a, b in zip(x, means, strict=True)]
        for i, a in enumerate(centred):
            if a:
                slopes[i] += a * (y - level)
                line = sums[i]
                for j, b in enumerate(centred):
                    line[j] += a * b
    for i in range(size):
        sums[i][i] += PRIOR * (sums[i][i] / count or 1.0)
    return [sum(a * b for a, b in zip(row, slopes, strict=True)) for row in inverse(sums)]


def weights_fitted(found: Sequence[Sample]) -> list[float]:
    """Return the value of a dwarf and the weights, scaled so that the dwarf has 100."""
    rows = [((*each.counts, each.plies, each.strength), each.gain) for each in found]
    changes = least_squares(rows)[: len(NAMES)]
    # The gain is what the board's own lead doesn't show; a troll's weight counts against dwarfs.
    changes[0] += DWARF
    changes[1] += TROLL
    return [100 * each / changes[0] for each in changes]


def report(rules: str, found: Sequence[Sample]) -> Iterator[str]:
    """Yield the lines of a table with current and fitted weights."""
    whole = weights_fitted(found)
    parts = [
        weights_fitted([each for each in found if each.battle % GROUPS != group])
        for group in range(GROUPS)
    ]
    battles = len({each.battle for each in found})
    yield f"{len(found)} positions of {battles} battles"
    now = [asdict(each) for each in tuned_weights(RULESETS[rules]).values()]
    yield f"{'':12} {'dwarfs':>8} {'trolls':>8} {'fitted':>8}"
    for i, name in enumerate(NAMES):
        middle = sum(part[i] for part in parts) / GROUPS
        error = math.sqrt(sum((part[i] - middle) ** 2 for part in parts) * (GROUPS - 1) / GROUPS)
        values = " ".join(f"{each.get(name, 100):8g}" for each in now)
        yield f"{name:12} {values} {whole[i]:8.1f} ± {error:.1f}"


def load(path: Path) -> list[Sample]:
    """Return the samples of a file; none if there is no such file."""
    if not path.exists():
        return []
    return [Sample(*json.loads(line)) for line in path.read_text().splitlines()]


def main(words: Sequence[str] | None = None) -> None:
    """Play battles, and print the fit."""
    parser = argparse.ArgumentParser(description="Fit the weights to the results of battles.")
    parser.add_argument("rules", choices=RULES)
    parser.add_argument("--battles", type=int, default=500)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, help="file to which the samples are appended")
    options = parser.parse_args(words)
    found = load(options.out) if options.out else []
    first = 1 + max((each.battle for each in found), default=-1)
    with Pool(options.workers, be_worker) as pool:
        numbers = range(first, first + options.battles)
        for some in pool.imap(partial(samples, options.rules), numbers):
            found += some
            if options.out:
                with options.out.open("a") as file:
                    file.writelines(json.dumps(each) + "\n" for each in some)
    for line in report(options.rules, found):
        print(line)


if __name__ == "__main__":
    main()
