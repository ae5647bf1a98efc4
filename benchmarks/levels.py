"""Matches between adjacent levels of the computer player.

``python benchmarks/levels.py`` lets each level play 20 matches against the one below, by each
ruleset, and prints a table. ``--levels 2 3`` and ``--rules classic`` select some of them. Levels
have limits in positions, so the results don't depend on the machine or its load.

A match is two battles from the same random opening of four plies, with the sides swapped; the
higher total score wins. A battle ends after 60 plies without a capture, or after 220 plies, with
the score of the board; in Koom Valley that is a draw. Everything runs in this process, which saves
the starts of ``thudmud match``, but the results are alike.

The wanted share is 75 %, from 65 to 85 %. The last column is the share that a normal distribution
of the matches' margins predicts, which says more than the matches if there are few.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import NormalDist, mean, stdev

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from thudmud.bots.referee import random_opening
from thudmud.rules import RULESETS, Ending, Ruleset, Side
from thudmud.search.levels import LEVELS, Level
from thudmud.search.player import Player

QUIET, LENGTH = 60, 220
"""Plies without a capture, and plies in all, after which a battle ends."""

HEAD = (
    "| level | against | rules | won, drawn, lost | as dwarfs | as trolls | predicted |\n"
    "| --- | --- | --- | ---: | ---: | ---: | ---: |"
)


def margin(ruleset: Ruleset, dwarfs: Level, trolls: Level, seed: int) -> int:
    """Play a battle, and return the margin of the dwarfs."""
    game = random_opening(ruleset, 4, str(seed))
    players = {
        side: Player(ruleset, level, seed)
        for side, level in ((Side.DWARF, dwarfs), (Side.TROLL, trolls))
    }
    while not game.outcome and len(game.moves) < LENGTH and game.quiet_plies < QUIET:
        game = game.play(players[game.turn].think(game).move)
    if not game.outcome:
        game = game.agree(Ending.QUIET)
    return game.score.dwarf - game.score.troll


def row(upper: Level, lower: Level, ruleset: Ruleset, seeds: Sequence[int]) -> str:
    """Play matches between two levels, and return their row of the table."""
    as_dwarfs = [margin(ruleset, upper, lower, seed) for seed in seeds]
    as_trolls = [-margin(ruleset, lower, upper, seed) for seed in seeds]
    totals = [sum(pair) for pair in zip(as_dwarfs, as_trolls, strict=True)]
    won, lost = sum(each > 0 for each in totals), sum(each < 0 for each in totals)
    spread = stdev(totals) if len(totals) > 1 else 0.0
    predicted = f"{NormalDist().cdf(mean(totals) / spread):.0%}" if spread else ""
    return (
        f"| {upper.name} | {lower.name} | {ruleset} | {won}, {len(totals) - won - lost}, {lost}"
        f" | {mean(as_dwarfs):+.1f} | {mean(as_trolls):+.1f} | {predicted} |"
    )


def main(words: Sequence[str] | None = None) -> None:
    """Play the matches, and print the table."""
    parser = argparse.ArgumentParser(description="Let adjacent levels play each other.")
    parser.add_argument("--matches", type=int, default=20)
    parser.add_argument("--first", type=int, default=1, help="the seed of the first match")
    parser.add_argument("--rules", nargs="*", choices=RULESETS, default=[*RULESETS])
    upper = [each.number for each in LEVELS[1:]]
    parser.add_argument("--levels", nargs="*", type=int, choices=upper, default=upper)
    options = parser.parse_args(words)
    seeds = range(options.first, options.first + options.matches)
    print(HEAD, flush=True)
    for number in options.levels:
        for rules in options.rules:
            line = row(LEVELS[number - 1], LEVELS[number - 2], RULESETS[rules], seeds)
            print(line, flush=True)


if __name__ == "__main__":
    main()
