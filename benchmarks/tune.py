"""Tune the weights of the search, by letting it play against itself with slightly different ones.

Run it from the checkout: ``python benchmarks/tune.py discworld --matches 1000``. It goes on where
it was interrupted, and may be run again for more. ``python benchmarks/tune.py write`` then writes
all that has been found to ``thudmud/search/weights.py``.

It is SPSA (simultaneous perturbation stochastic approximation, Spall 1992): each weight is made
greater or smaller by a fifth at first, by chance, once as drawn and once the other way round. The
two play a match of two battles from the same opening, and all weights are moved a little towards
those of the winner, the more the greater its margin. What a weight does by itself stays when chance
has evened out what the others did. Weights change by factors, so all keep their signs.

It begins with the weights that there are. Where it has not been run these are chosen by hand, and
the file says so. Steps are small: what is far from where it should be is found sooner by trying by
hand, and the mean of some twenty battles tells a difference of 4 dwarfs. ``--sides dwarf`` moves
only the dwarfs' weights.
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
from multiprocessing import Pool
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from thudmud.bots.referee import random_opening
from thudmud.rules import RULESETS, Ruleset, Side
from thudmud.search.search import Limit, Search
from thudmud.search.tactics import AnyWeights, tuned

FOLDER = Path("build/tuning")
TARGET = Path("thudmud/search/weights.py")
OPENING = 6
MOST_PLIES, MOST_QUIET = 160, 30
SPREAD, STEP, STABLE = 0.2, 0.0005, 100
"""How far weights are changed at first, and how much of the gradient they are moved by at first,
both as logarithms; and after how many matches that begins to shrink. The exponents are Spall's."""
INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it."""
GOAL = 24
"""What a battle that is won by reaching a goal counts for as a margin."""

Factors = dict[str, float]
"""By side and weight, the logarithm of what it is multiplied by."""


def applied(weights: Mapping[Side, AnyWeights], factors: Factors) -> dict[Side, AnyWeights]:
    """Return weights times factors."""
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
    """Return by how much the dwarfs win a battle, by what counts for the player of each side."""
    players = {side: Search(ruleset, weights[side]) for side in Side}
    game = random_opening(ruleset, OPENING, seed)
    limit = Limit(nodes=nodes)
    while not game.outcome and len(game.moves) < MOST_PLIES and game.quiet_plies < MOST_QUIET:
        game = game.play(players[game.turn].think(game, limit).move)
    score = game.score
    return (score.dwarf - score.troll) * (GOAL if ruleset.goals else 1)


def match(rules: str, nodes: int, factors: Factors, moved: Sequence[str], number: int) -> Factors:
    """Play match ``number``; return by how much it was better to change each weight that way."""
    ruleset, random = RULESETS[rules], Random(number)
    spread = SPREAD / (number + 1) ** 0.101
    directions = {name: random.choice((-1.0, 1.0)) for name in moved}
    one, other = (
        applied(
            tuned(ruleset),
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


def kept(rules: str) -> dict[str, Any]:
    """Return what has been found, and from which weights it began."""
    path = FOLDER / f"{rules.replace(' ', '-')}.json"
    start = {str(side): asdict(each) for side, each in tuned(RULESETS[rules]).items()}
    if not path.exists():
        return {"from": start, "nodes": 0, "matches": 0, "factors": {}}
    state: dict[str, Any] = json.loads(path.read_text())
    if state["from"] != start:
        sys.exit(f"{path}: it was begun with other weights; move it away to begin anew")
    return state


def keep(rules: str, state: Mapping[str, Any]) -> None:
    """Keep what has been found."""
    path = FOLDER / f"{rules.replace(' ', '-')}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(state, indent=1))
    new.replace(path)


def be_worker() -> None:
    """End when the pool says so, by SIGTERM, and leave Ctrl-C to it."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def tune(rules: str, sides: Collection[str], nodes: int, matches: int, workers: int) -> None:
    """Play so many matches more, keeping what has been found after each few."""
    state = kept(rules)
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


NAMES = {"discworld": "ALL_TAKEN", "classic": "ONE_TAKEN", "koom valley": "ROCK"}
HEAD = '''"""The weights that count for each side: numbers, written by a program.

Written on {date} by ``python benchmarks/tune.py write``, which tells how they are tuned. Behind
each ruleset stands how many matches have moved its numbers since they were chosen; where none are
told of, the numbers come from trials by hand, or are first guesses.
"""

from __future__ import annotations

from thudmud.rules import Side
from thudmud.search.koom import KoomWeights
from thudmud.search.thud import Weights
'''


def write() -> None:
    """Write all weights to where the search has them, and begin with these from then on."""
    lines, states = [HEAD.format(date=datetime.now(UTC).date())], {}
    for rules, name in NAMES.items():
        states[rules] = state = kept(rules)
        lines.append(f"{name} = {{")
        for side, weights in applied(tuned(RULESETS[rules]), state["factors"]).items():
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
    """Tune, or write down what was found."""
    parser = argparse.ArgumentParser(description="Tune the weights of the search.")
    parser.add_argument("what", choices=(*RULESETS, "write"))
    parser.add_argument(
        "--sides", nargs="+", choices=list(map(str, Side)), default=list(map(str, Side))
    )
    parser.add_argument("--nodes", type=int, default=400, help="positions a ply")
    parser.add_argument("--matches", type=int, default=100, help="how many more are played")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    if options.what == "write":
        write()
    else:
        tune(options.what, options.sides, options.nodes, options.matches, options.workers)


if __name__ == "__main__":
    main()
