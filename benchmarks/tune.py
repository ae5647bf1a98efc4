"""Tune the weights of the search by self-play with perturbed weights.

Run it from the checkout: ``python benchmarks/tune.py discworld --matches 1000``. An interrupted run
resumes, and further runs continue. ``python benchmarks/tune.py write`` then writes all results to
``thudmud/search/weights.py``.

The method is SPSA (simultaneous perturbation stochastic approximation, Spall 1992): each weight is
randomly increased or decreased, at first by a fifth, and a second set has the opposite changes. The
two sets play a match of two battles from the same opening, and all weights move a little towards
the winner's, in proportion to its margin. Over many matches, the effects of the other weights
average out. Weights are multiplied by factors, so they keep their signs.

Tuning starts from the current weights. Untuned ones are chosen by hand, and the file says so. Steps
are small: manual trials find weights that are far off sooner, and the mean of some twenty battles
reveals a difference of 4 dwarfs. ``--sides dwarf`` tunes only the dwarfs' weights.

``python benchmarks/tune.py classic --fit 4 --matches 20`` is an alternative: it prints the weights
for which the static evaluation of quiet positions is closest to the score of a four-ply search, by
least squares. The positions are up to three suboptimal plies away from self-play matches, like the
leaves of a search; each side's weights are fitted to searches with these weights. A match takes
some 10 seconds. Test the results in matches, as the fit only captures the effects of four plies.
"""

from __future__ import annotations

import argparse
import json
import math
import signal
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from multiprocessing import Pool
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from thudmud.bots.referee import random_opening
from thudmud.rules import RULESETS, Game, Ruleset, Side
from thudmud.search.search import Blunders, Limit, Search
from thudmud.search.tactics import AnyWeights, tactics_of, tuned_weights

FOLDER = Path("build/tuning")
TARGET = Path("thudmud/search/weights.py")
OPENING = 6
MOST_PLIES, MOST_QUIET = 160, 30
SPREAD, STEP, STABLE = 0.2, 0.0005, 100
"""Initial perturbation and initial step size, both of logarithms of weights, and the number of
matches after which the step size starts to shrink. The exponents of the decay are Spall's."""
INTERRUPTED = 130
"""The shell's exit status after SIGINT: 128 + 2."""
GOAL = 24
"""Margin of a battle that is won by reaching a goal."""

Factors = dict[str, float]
"""Logarithms of the factors of weights, by side and name."""


def applied(weights: Mapping[Side, AnyWeights], factors: Factors) -> dict[Side, AnyWeights]:
    """Multiply weights by factors."""
    found = {}
    for side, each in weights.items():
        changed: dict[str, Any] = {
            name: value * math.exp(factors.get(f"{side} {name}", 0.0))
            for name, value in asdict(each).items()
        }
        found[side] = replace(each, **changed)
    return found


def margin(
    ruleset: Ruleset, weights: Mapping[Side, Mapping[Side, AnyWeights]], seed: str, nodes: int
) -> float:
    """Play a battle.

    Args:
        ruleset: the ruleset.
        weights: for each player, by side, the weights of both sides.
        seed: random seed of the opening.
        nodes: search limit per ply.

    Returns:
        The score of the dwarfs minus that of the trolls.
    """
    players = {side: Search(ruleset, weights[side]) for side in Side}
    game = random_opening(ruleset, OPENING, seed)
    limit = Limit(nodes=nodes)
    while not game.outcome and len(game.moves) < MOST_PLIES and game.quiet_plies < MOST_QUIET:
        game = game.play(players[game.turn].think(game, limit).move)
    score = game.score
    return (score.dwarf - score.troll) * (GOAL if ruleset.goals else 1)


def match(rules: str, nodes: int, factors: Factors, moved: Sequence[str], number: int) -> Factors:
    """Play a match between oppositely perturbed weights.

    Args:
        rules: name of the ruleset.
        nodes: search limit per ply.
        factors: current factors of the weights.
        moved: names of the weights to perturb.
        number: number of the match, which seeds the random choices.

    Returns:
        An estimate of the gradient of the margin, by weight.
    """
    ruleset, random = RULESETS[rules], Random(number)
    spread = SPREAD / (number + 1) ** 0.101
    directions = {name: random.choice((-1.0, 1.0)) for name in moved}
    one, other = (
        applied(
            tuned_weights(ruleset),
            {
                name: value + sign * spread * directions.get(name, 0.0)
                for name, value in factors.items()
            },
        )
        for sign in (1, -1)
    )
    seed = f"{rules} {number}"
    won = margin(ruleset, {Side.DWARF: one, Side.TROLL: other}, seed, nodes)
    lost = margin(ruleset, {Side.DWARF: other, Side.TROLL: one}, seed, nodes)
    return {name: (won - lost) * each / (2 * spread) for name, each in directions.items()}


def load_state(rules: str) -> dict[str, Any]:
    """Load the saved state of a ruleset; exit if it started from other weights."""
    path = FOLDER / f"{rules.replace(' ', '-')}.json"
    start = {str(side): asdict(each) for side, each in tuned_weights(RULESETS[rules]).items()}
    if not path.exists():
        return {"from": start, "nodes": 0, "matches": 0, "factors": {}}
    state: dict[str, Any] = json.loads(path.read_text())
    if state["from"] != start:
        sys.exit(f"{path}: it was begun with other weights; move it away to begin anew")
    return state


def keep(rules: str, state: Mapping[str, Any]) -> None:
    """Save the state of a ruleset, atomically."""
    path = FOLDER / f"{rules.replace(' ', '-')}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(state, indent=1))
    new.replace(path)


def be_worker() -> None:
    """Set up the signals of a worker: die of the pool's SIGTERM, ignore Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def tune(rules: str, sides: Collection[str], nodes: int, matches: int, workers: int) -> None:
    """Play further matches, saving the state after each batch of one match per worker."""
    state = load_state(rules)
    moved = [f"{side} {name}" for side in sides for name in state["from"][side]]
    factors: Factors = dict.fromkeys(moved, 0.0) | state["factors"]
    end = state["matches"] + matches
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: sys.exit(INTERRUPTED))
    with Pool(workers, be_worker) as pool:
        while (first := state["matches"]) < end:
            numbers = range(first, first + workers)
            step = STEP * (STABLE / (STABLE + first)) ** 0.602
            for slopes in pool.map(partial(match, rules, nodes, dict(factors), moved), numbers):
                for name, slope in slopes.items():
                    factors[name] += step * slope
            state |= {"matches": first + workers, "factors": factors, "nodes": nodes}
            keep(rules, state)
            if state["matches"] % 20 < workers:
                told = {name: round(math.exp(each), 2) for name, each in factors.items()}
                print(state["matches"], told, flush=True)


SAMPLED = 0.25
"""Probability of sampling a position near a ply of a battle."""
ASIDE, SLIP = 3, 60
"""Maximum number of suboptimal plies before a sample, and the standard deviation of their
evaluation errors, which arise as those of levels."""
UNIT = 1000
"""Value of a single weight in a probe of its coefficient: scores are whole numbers."""
USUAL = 120
"""Huber threshold in hundredths of a dwarf: larger residuals are due to tactics."""
PRIOR = 10.0
"""Pseudo-observations in favour of the current weights, to regularise rare features."""

Sample = tuple[Side, bool, float, tuple[float, ...]]
"""The side whose weights were used; whether the dwarfs are to move; the search's score minus the
static evaluation, for the dwarfs; and the coefficient of each weight in the evaluation."""


def aside(game: Game, random: Random) -> Game:
    """Play some plausible but suboptimal plies."""
    slips = Blunders(misjudges=lambda _: round(random.gauss(0, SLIP)))
    for _ in range(random.randint(1, ASIDE)):
        if not game.outcome:
            game = game.play(Search(game.ruleset).think(game, Limit(depth=0), None, slips).move)
    return game


def sampled(game: Game, depth: int) -> list[Sample]:
    """Return a sample for each side's weights, unless the search prefers a capture."""
    found: list[Sample] = []
    ruleset, at = game.ruleset, game.position
    is_dwarfs = at.turn is Side.DWARF
    for side, weights in tuned_weights(ruleset).items():
        search = Search(ruleset, dict.fromkeys(Side, weights))
        thought = search.think(game, Limit(depth=depth))
        if thought.move.captures:
            continue
        nothing: dict[str, Any] = dict.fromkeys(asdict(weights), 0.0)
        each_of = [replace(weights, **(nothing | {name: UNIT})) for name in nothing]
        scores = []
        for each in (weights, replace(weights, **nothing), *each_of):
            tactics = tactics_of(ruleset, dict.fromkeys(Side, each))
            tactics.use_weights_of(side, search.gathering_square, 0)
            field = tactics.field(at.dwarfs, at.trolls, at.empty)
            scores.append(
                tactics.evaluate(
                    at.dwarfs, at.trolls, at.rock, at.empty, field, dwarfs_to_move=is_dwarfs
                )
            )
        still, base, *parts = scores
        error = (thought.score if is_dwarfs else -thought.score) - still
        found.append((side, is_dwarfs, error, tuple((part - base) / UNIT for part in parts)))
    return found


def samples(rules: str, nodes: int, depth: int, number: int) -> list[Sample]:
    """Play a battle, and return the samples near its plies."""
    ruleset, random = RULESETS[rules], Random(number)
    players = {side: Search(ruleset) for side in Side}
    game = random_opening(ruleset, random.choice((4, 8, 12)), f"fit {rules} {number}")
    found: list[Sample] = []
    while not game.outcome and len(game.moves) < MOST_PLIES and game.quiet_plies < MOST_QUIET:
        game = game.play(players[game.turn].think(game, Limit(nodes=nodes)).move)
        if random.random() < SAMPLED and not (near := aside(game, random)).outcome:
            found += sampled(near, depth)
    return found


def inverse(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """Invert a symmetric positive definite matrix by Gauss-Jordan elimination."""
    size = len(matrix)
    rows = [[*row, *(float(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    for i, row in enumerate(rows):
        row[:] = [each / row[i] for each in row]
        for other in rows:
            if other is not row and (factor := other[i]):
                other[:] = [a - factor * b for a, b in zip(other, row, strict=True)]
    return [row[size:] for row in rows]


def fit_changes(xs: Sequence[Sequence[float]], ys: Sequence[float]) -> list[tuple[float, float]]:
    """Fit changes of weights by regularised Huber regression.

    The algorithm is iteratively reweighted least squares.

    Args:
        xs: coefficients of the weights, for each sample.
        ys: residual of the evaluation, for each sample.

    Returns:
        The change of each weight, and its standard error.
    """
    size = len(xs[0])
    scales = [math.sqrt(sum(x[i] ** 2 for x in xs) / len(xs)) or 1.0 for i in range(size)]
    changes = [0.0] * size
    for _ in range(6):
        errors = [
            y - sum(a * b for a, b in zip(x, changes, strict=True))
            for x, y in zip(xs, ys, strict=True)
        ]
        counts = [1 / max(1.0, abs(each) / USUAL) for each in errors]
        sums = [[0.0] * size for _ in range(size)]
        slopes = [0.0] * size
        for x, y, count in zip(xs, ys, counts, strict=True):
            for i, a in enumerate(x):
                if a:
                    slopes[i] += count * a * y
                    for j, b in enumerate(x):
                        sums[i][j] += count * a * b
        for i, scale in enumerate(scales):
            sums[i][i] += PRIOR * scale * scale
        inverted = inverse(sums)
        changes = [sum(a * b for a, b in zip(row, slopes, strict=True)) for row in inverted]
    spread = sum(c * e * e for c, e in zip(counts, errors, strict=True)) / sum(counts)
    return [(each, math.sqrt(spread * inverted[i][i])) for i, each in enumerate(changes)]


def fit(
    rules: str, sides: Collection[str], nodes: int, depth: int, *, battles: int, workers: int
) -> None:
    """Print the current weights of each side, beside weights fitted to searches."""
    with Pool(workers, be_worker) as pool:
        each = pool.imap(partial(samples, rules, nodes, depth), range(battles))
        found = list(chain.from_iterable(each))
    for side, weights in tuned_weights(RULESETS[rules]).items():
        if str(side) not in sides:
            continue
        # An intercept for each side to move: the move has a value of its own, but no weight.
        rows = [
            ((float(first), float(not first), *x), y)
            for whose, first, y, x in found
            if whose is side
        ]
        xs, ys = [x for x, _ in rows], [y for _, y in rows]
        changes = fit_changes(xs, ys)
        left = [y - sum(a * b for a, (b, _) in zip(x, changes, strict=True)) for x, y in rows]
        before, after = (math.sqrt(sum(e * e for e in es) / len(es)) for es in (ys, left))
        print(f"{side}: {len(rows)} positions, error {before:.0f}, after the fit {after:.0f}")
        for (name, value), (change, error) in zip(
            asdict(weights).items(), changes[2:], strict=True
        ):
            print(f"  {name:12} {value:6g} {value + change:8.1f} ± {error:.1f}")


NAMES = {"discworld": "ALL_TAKEN", "classic": "ONE_TAKEN", "koom valley": "ROCK"}
HEAD = '''"""The evaluation's weights for each side.

Written on {date} by ``python benchmarks/tune.py write``; its docstring describes the tuning. The
line below each ruleset gives the number of matches that have tuned its weights. Without a number,
the weights come from manual trials or are first guesses.
"""

from __future__ import annotations

from thudmud.rules import Side
from thudmud.search.koom import KoomWeights
from thudmud.search.thud import Weights
'''


def write() -> None:
    """Write the tuned weights to the search's module, and make them the new starting point."""
    lines, states = [HEAD.format(date=datetime.now(UTC).date())], {}
    for rules, name in NAMES.items():
        states[rules] = state = load_state(rules)
        lines.append(f"{name} = {{")
        for side, weights in applied(tuned_weights(RULESETS[rules]), state["factors"]).items():
            lines.append(f"    Side.{side.name}: {type(weights).__name__}(")
            for each, value in asdict(weights).items():
                lines.append(f"        {each}={value:.4g},")
                state["from"][str(side)][each] = float(f"{value:.4g}")
            lines.append("    ),")
        count = ""
        if state["matches"]:
            sides = " and ".join(dict.fromkeys(each.split()[0] for each in state["factors"]))
            count = f": {sides} after {state['matches']} matches"
            count += f", the last with {state['nodes']} positions a ply"
        lines += ["}", f'"""For {rules}{count}."""', ""]
    TARGET.write_text("\n".join(lines), encoding="utf-8")
    for rules, state in states.items():
        if state["matches"]:
            keep(rules, state | {"factors": dict.fromkeys(state["factors"], 0.0)})


def main() -> None:
    """Tune, fit, or write the results."""
    parser = argparse.ArgumentParser(description="Tune the weights of the search.")
    parser.add_argument("what", choices=(*RULESETS, "write"))
    parser.add_argument(
        "--sides", nargs="+", choices=list(map(str, Side)), default=list(map(str, Side))
    )
    parser.add_argument("--nodes", type=int, default=400, help="positions a ply")
    parser.add_argument("--matches", type=int, default=100, help="number of further matches")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument(
        "--fit", type=int, metavar="PLIES", help="fit the weights to searches of this depth"
    )
    options = parser.parse_args()
    if options.fit and (options.what == "write" or RULESETS[options.what].goals):
        parser.error(
            f"expected classic or discworld, got {options.what}:"
            " under other rules an evaluation isn't a sum of weights"
        )
    terms = options.what, options.sides, options.nodes
    if options.what == "write":
        write()
    elif options.fit:
        battles = 2 * options.matches
        fit(*terms, options.fit, battles=battles, workers=options.workers)
    else:
        tune(*terms, options.matches, options.workers)


if __name__ == "__main__":
    main()
