"""A factorial experiment: the effects of many weights on play, from the same battles.

Run it from the checkout: ``python benchmarks/factors.py classic another=90:240 pair=-3:5
--battles 400``. In each battle, each side draws a low or a high value of each factor by chance. The
margins are fitted by a sum of the factors' effects, so every battle counts for all of them: twenty
factors need no more battles than one. A factor is a weight, or ``beam``, ``root_beam`` or
``troll_beam`` of the search.

The table has, for each side that uses the high instead of the low value, the gain in points a
battle. Effects are shrunk towards 0, as most are small (a normal prior with a standard deviation of
`USUAL`). Standard errors don't tell about interactions: test the best values in matches.

``--out FILE`` appends the battles to a file, and continues it; a battle takes some 2 seconds.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from benchmarks.tune import be_worker, inverse
from thudmud.bots.referee import random_opening
from thudmud.rules import RULESETS, Ruleset, Side
from thudmud.search.search import Limit, PruningOptions, Search
from thudmud.search.tactics import AnyWeights, tuned_weights

OPENING = 4
MOST_PLIES, MOST_QUIET = 160, 30
OPTIONS = ("beam", "root_beam", "troll_beam")
USUAL = 1.2

Factors = dict[str, tuple[float, float]]
"""The low and the high value of each factor."""


class Battle(NamedTuple):
    """A battle: its number, which factors each side had high, and the dwarfs' margin."""

    number: int
    dwarfs: tuple[bool, ...]
    trolls: tuple[bool, ...]
    margin: int


def player(ruleset: Ruleset, side: Side, values: Mapping[str, float]) -> Search:
    """Return a player with some weights and options of its own."""
    options: dict[str, Any] = {name: int(values[name]) for name in values if name in OPTIONS}
    changed: dict[str, Any] = {name: values[name] for name in values if name not in OPTIONS}
    weights: AnyWeights = replace(tuned_weights(ruleset)[side], **changed)
    return Search(ruleset, dict.fromkeys(Side, weights), replace(PruningOptions(), **options))


def battle(rules: str, nodes: int, factors: Factors, number: int) -> Battle:
    """Play a battle, with levels drawn by its number."""
    ruleset, random = RULESETS[rules], Random(f"factors {number}")
    highs = {side: tuple(random.random() < 0.5 for _ in factors) for side in Side}
    players = {
        side: player(
            ruleset,
            side,
            {
                name: values[high]
                for (name, values), high in zip(factors.items(), highs[side], strict=True)
            },
        )
        for side in Side
    }
    game, limit = random_opening(ruleset, OPENING, f"factors {number}"), Limit(nodes=nodes)
    while not game.outcome and len(game.moves) < MOST_PLIES and game.quiet_plies < MOST_QUIET:
        game = game.play(players[game.turn].think(game, limit).move)
    margin = game.score.dwarf - game.score.troll
    return Battle(number, highs[Side.DWARF], highs[Side.TROLL], margin)


def effects(battles: Sequence[Battle]) -> list[tuple[float, float]]:
    """Return the effect of each factor on the margin, of the dwarfs' and then of the trolls'.

    Returns:
        The effects of high instead of low on the margin of the side that has it, each with its
        standard error: the posterior mean and standard deviation under the prior.
    """
    rows = [[1.0, *(0.5 if high else -0.5 for high in (*b.dwarfs, *b.trolls))] for b in battles]
    size = len(rows[0])
    level = sum(each.margin for each in battles) / len(battles)
    errors = [each.margin - level for each in battles]
    variance = sum(error * error for error in errors) / len(battles)
    sums = [[sum(row[i] * row[j] for row in rows) for j in range(size)] for i in range(size)]
    for i in range(1, size):
        sums[i][i] += variance / USUAL**2
    inverted = inverse(sums)
    slopes = [
        sum(row[i] * error for row, error in zip(rows, errors, strict=True)) for i in range(size)
    ]
    count = len(battles[0].dwarfs)
    return [
        (
            (1 if i <= count else -1)
            * sum(a * b for a, b in zip(inverted[i], slopes, strict=True)),
            math.sqrt(variance * inverted[i][i]),
        )
        for i in range(1, size)
    ]


def table(factors: Factors, battles: Sequence[Battle]) -> Iterator[str]:
    """Yield the lines of a table of effects."""
    mean = sum(each.margin for each in battles) / len(battles)
    yield f"{len(battles)} battles, mean margin of the dwarfs {mean:+.1f}"
    found = effects(battles)
    yield f"{'':12} {'low':>6} {'high':>6} {'for dwarfs':>12} {'for trolls':>12}"
    for i, (name, (low, high)) in enumerate(factors.items()):
        one, other = (f"{found[k][0]:+.1f} ± {found[k][1]:.1f}" for k in (i, i + len(factors)))
        yield f"{name:12} {low:6g} {high:6g} {one:>12} {other:>12}"


def read_factor(text: str) -> tuple[str, tuple[float, float]]:
    """Parse a factor such as ``pair=-3:5``."""
    name, _, values = text.partition("=")
    low, _, high = values.partition(":")
    return name, (float(low), float(high))


def load(path: Path) -> list[Battle]:
    """Return the battles of a file; none if there is no such file."""
    if not path.exists():
        return []
    rows = map(json.loads, path.read_text().splitlines())
    return [Battle(row[0], tuple(row[1]), tuple(row[2]), row[3]) for row in rows]


def main(words: Sequence[str] | None = None) -> None:
    """Play the battles, and print the table."""
    parser = argparse.ArgumentParser(description="Measure the effects of weights on play.")
    parser.add_argument("rules", choices=RULESETS)
    parser.add_argument("factors", nargs="+", type=read_factor, metavar="NAME=LOW:HIGH")
    parser.add_argument("--battles", type=int, default=400)
    parser.add_argument("--nodes", type=int, default=700, help="positions a ply")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, help="file to which the battles are appended")
    options = parser.parse_args(words)
    factors: Factors = dict(options.factors)
    weights = tuned_weights(RULESETS[options.rules])[Side.DWARF]
    known = {*OPTIONS, *(field.name for field in fields(weights))}
    if unknown := [name for name in factors if name not in known]:
        parser.error(f"unknown factor {unknown[0]}; expected one of {', '.join(sorted(known))}")
    found = load(options.out) if options.out else []
    first = 1 + max((each.number for each in found), default=-1)
    play = partial(battle, options.rules, options.nodes, factors)
    with Pool(options.workers, be_worker) as pool:
        for each in pool.imap(play, range(first, first + options.battles)):
            found.append(each)
            if options.out:
                with options.out.open("a") as file:
                    file.write(json.dumps(each) + "\n")
    for line in table(factors, found):
        print(line)


if __name__ == "__main__":
    main()
