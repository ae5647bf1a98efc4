"""Tune the weights of the search: play many quick battles, and fit the weights to the outcomes.

Run it from the checkout: ``python benchmarks/tune.py play discworld`` for as long as you like; it
goes on where it was interrupted. ``python benchmarks/tune.py fit discworld`` then prints the
weights that tell best, of all positions that were played, what the next plies win and lose.

Each battle begins with random plies and is played with few positions a ply, by weights that are
blurred at random: else nobody would learn what is never tried.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, fields, replace
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from thudmud.rules import RULESETS, Game, Ruleset, Side
from thudmud.rules.board import CENTRE
from thudmud.search.search import Limit, Search
from thudmud.search.tactics import AnyWeights, Tactics, tactics_of, tuned

FOLDER = Path("build/tuning")
OPENING = 6
MOST_PLIES = 160
MOST_QUIET = 30
BLUR = 0.5
AHEAD = (8, 16, 32)
"""After how many plies it is looked what was won and lost."""


def battle(ruleset: Ruleset, seed: int, nodes: int) -> list[dict[str, int]]:
    """Play a battle; return each position of it."""
    random = Random(seed)
    start = tuned(ruleset)
    blurred = [{side: _blurred(start[side], random) for side in Side} for _ in range(2)]
    players = {side: Search(ruleset, blurred[n]) for n, side in enumerate(Side)}
    game = Game.start(ruleset)
    for _ in range(OPENING):
        game = game.play(random.choice(game.legal_moves()))
    rows = []
    while not game.outcome and len(game.moves) < MOST_PLIES and game.quiet_plies < MOST_QUIET:
        player = players[game.turn]
        game = game.play(player.think(game, Limit(nodes=nodes)).move)
        at = game.position
        rows.append({"d": at.dwarfs, "t": at.trolls, "r": at.rock, "g": player.gather})
    return rows


def _blurred(weights: AnyWeights, random: Random) -> AnyWeights:
    blurred: dict[str, Any] = {
        name: round(value * 2 ** random.uniform(-BLUR, BLUR) + random.uniform(-2, 2))
        for name, value in asdict(weights).items()
        if name != "troll"
    }
    return replace(weights, **blurred)


def play(ruleset: Ruleset, nodes: int, path: Path, most: int) -> None:
    """Play battle after battle, from where the file ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    done = sum(1 for _ in path.open()) if path.exists() else 0
    with path.open("a") as file:
        for seed in range(done, most):
            file.write(json.dumps(battle(ruleset, seed, nodes)) + "\n")
            file.flush()


def samples(
    ruleset: Ruleset, path: Path, *, dwarfs_to_move: bool
) -> Iterator[tuple[list[float], float]]:
    """Yield the features of each position, and what was won by the dwarfs in the next plies."""
    zero, units = _units(ruleset)
    for line in path.open():
        rows = json.loads(line)
        for number, row in enumerate(rows):
            if (number % 2 == 1) is dwarfs_to_move:
                continue
            worth = [_worth(each, row, dwarfs_to_move=dwarfs_to_move) for each in units]
            base = _worth(zero, row, dwarfs_to_move=dwarfs_to_move)
            won = sum(_material(rows[min(number + far, len(rows) - 1)]) for far in AHEAD) / len(
                AHEAD
            ) - _material(row)
            controls = [1.0, row["d"].bit_count() / 10, row["t"].bit_count()]
            yield [*controls, *(each - base for each in worth)], won


def _material(row: dict[str, int]) -> float:
    return 100.0 * row["d"].bit_count() - 400.0 * row["t"].bit_count()


def _units(ruleset: Ruleset) -> tuple[Tactics, list[Tactics]]:
    names = [each.name for each in fields(tuned(ruleset)[Side.DWARF])]
    nothing: dict[str, Any] = dict.fromkeys(names, 0)
    zero = replace(tuned(ruleset)[Side.DWARF], **nothing)
    return tactics_of(ruleset, dict.fromkeys(Side, zero)), [
        tactics_of(ruleset, dict.fromkeys(Side, _with(zero, name)))
        for name in names
        if name != "troll"
    ]


def _with(weights: AnyWeights, name: str) -> AnyWeights:
    changed: dict[str, Any] = {name: 1}
    return replace(weights, **changed)


def _worth(tactics: Tactics, row: dict[str, int], *, dwarfs_to_move: bool) -> int:
    d, t, r = row["d"], row["t"], row["r"]
    tactics.weigh_for(Side.DWARF, row["g"] or CENTRE.bit)
    empty = tactics.empty(d, t, r)
    field = tactics.field(d, t, empty)
    return tactics.worth(d, t, r, empty, field, dwarfs_to_move=dwarfs_to_move)


def fit(rows: Iterator[tuple[list[float], float]], ridge: float = 1.0) -> tuple[list[float], int]:
    """Return the weights that fit best (least squares), and of how many samples."""
    sums: list[list[float]] = []
    count = 0
    for features, won in rows:
        row = [*features, won]
        if not sums:
            sums = [[0.0] * len(row) for _ in features]
        for i, x in enumerate(features):
            if x:
                line = sums[i]
                for j, y in enumerate(row):
                    line[j] += x * y
        count += 1
    size = len(sums)
    for i in range(size):
        sums[i][i] += ridge * count / 1000
    for i in range(size):  # Gauss
        pivot = max(range(i, size), key=lambda k: abs(sums[k][i]))
        sums[i], sums[pivot] = sums[pivot], sums[i]
        for k in range(size):
            if k != i and (factor := sums[k][i] / sums[i][i]):
                sums[k] = [a - factor * b for a, b in zip(sums[k], sums[i], strict=True)]
    return [sums[i][size] / sums[i][i] for i in range(size)], count


def main() -> None:
    """Play or fit."""
    parser = argparse.ArgumentParser(description="Tune the weights of the search.")
    parser.add_argument("action", choices=("play", "fit"))
    parser.add_argument("rules", choices=RULESETS)
    parser.add_argument("--nodes", type=int, default=400)
    parser.add_argument("--battles", type=int, default=1_000_000)
    options = parser.parse_args()
    ruleset = RULESETS[options.rules]
    path = FOLDER / f"{options.rules.replace(' ', '-')}.jsonl"
    if options.action == "play":
        play(ruleset, options.nodes, path, options.battles)
        return
    names = [each.name for each in fields(tuned(ruleset)[Side.DWARF]) if each.name != "troll"]
    for dwarfs_to_move in (True, False):
        weights, count = fit(samples(ruleset, path, dwarfs_to_move=dwarfs_to_move))
        print(f"{'dwarfs' if dwarfs_to_move else 'trolls'} to move, {count} positions:", end=" ")
        print(
            {
                name: round(each, 1)
                for name, each in zip(("one", "dwarfs", "trolls", *names), weights, strict=True)
            }
        )


if __name__ == "__main__":
    main()
