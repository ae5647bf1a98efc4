"""Causes of lost battles: the first plies that a much deeper search refutes.

Run it from the checkout: ``python benchmarks/blunders.py classic --battles 40``. The player, with
few positions a ply, plays against itself with many more, half of the battles with each side. In
each battle, a still deeper search looks at its plies in turn, up to the *blunder*: the first ply
that loses half a troll or more against the best one. The blunders are counted by their causes,
which are tried in this order:

- *pruning*: a search to the same depth, without reductions, pruning and a narrow beam, sees that
  the better ply is better;
- *horizon*: the usual search sees it with one ply more, or two;
- *evaluation*: neither does. The evaluation takes the position after the blunder for better than
  the one that the deeper search reaches.

A battle takes half a minute. Limits are in positions, so the results don't depend on the machine.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from thudmud.bots.referee import random_opening
from thudmud.rules import RULESETS, Game, Move, Ruleset, Side
from thudmud.search import search as engine
from thudmud.search.search import Limit, PruningOptions, Search

OPENING = 4
MOST_PLIES, MOST_QUIET = 180, 30
LOSS = 400
"""The least loss of a blunder, in hundredths of a dwarf."""
CLEAR = 100
"""By how much a search has to prefer the better ply to see the blunder."""
FURTHER = 2
"""The number of plies beyond the player's depth that count as its horizon."""
WIDE = PruningOptions(beam=60, root_beam=120, troll_beam=200, uses_late_move_reductions=False)
CAUSES = ("pruning", "horizon", "evaluation")


class Blunder(NamedTuple):
    """A blunder: the battle before it, the depth of its search, the better ply, and its loss."""

    game: Game
    played: Move
    depth: int
    better: Move
    loss: int


def played(ruleset: Ruleset, side: Side, limits: dict[Side, Limit], seed: str) -> Game:
    """Return a battle with a limit for each side, the side being that of the weaker player."""
    players = {each: Search(ruleset) for each in Side}
    game = random_opening(ruleset, OPENING, f"blunders {ruleset} {side} {seed}")
    while not game.outcome and len(game.moves) < MOST_PLIES and game.quiet_plies < MOST_QUIET:
        game = game.play(players[game.turn].think(game, limits[game.turn]).move)
    return game


def score_after(game: Game, move: Move, limit: Limit, width: PruningOptions | None = None) -> int:
    """Return the score of a ply for the side that plays it."""
    after = game.play(move)
    if after.outcome:
        lead = after.score.dwarf - after.score.troll
        return 100 * (lead if game.turn is Side.DWARF else -lead)
    return -Search(game.ruleset, options=width).think(after, limit).score


def first_blunder(game: Game, side: Side, limit: Limit, deep: Limit) -> Blunder | None:
    """Return the first blunder of a side in a battle, if any.

    Args:
        game: the battle, at its end.
        side: the side whose plies are checked.
        limit: the limit with which it played.
        deep: the limit of the search that checks them.
    """
    at = Game.start(game.ruleset)
    for move in game.moves:
        if at.turn is side and len(at.moves) >= OPENING:
            better = Search(game.ruleset).think(at, deep).move
            if better != move:
                loss = score_after(at, better, deep) - score_after(at, move, deep)
                if loss >= LOSS:
                    depth = Search(game.ruleset).think(at, limit).depth
                    return Blunder(at, move, max(1, depth), better, loss)
        at = at.play(move)
    return None


def cause(blunder: Blunder) -> str:
    """Return the cause of a blunder."""

    def sees(depth: int, width: PruningOptions | None = None) -> bool:
        better, other = (
            score_after(blunder.game, move, Limit(depth=depth - 1), width)
            for move in (blunder.better, blunder.played)
        )
        return better - other >= CLEAR

    with patch.object(engine, "_STATIC_MARGINS", ()):
        if sees(blunder.depth, WIDE):
            return "pruning"
    if any(sees(blunder.depth + more) for more in range(1, FURTHER + 1)):
        return "horizon"
    return "evaluation"


def blunders(
    rules: str, nodes: int, times: int, numbers: Sequence[int]
) -> Iterator[tuple[int, Side, Blunder, str]]:
    """Play battles, and yield the number, the side, the blunder and its cause of each."""
    ruleset = RULESETS[rules]
    limit, more = Limit(nodes=nodes), Limit(nodes=nodes * times)
    for number in numbers:
        side = tuple(Side)[number % 2]
        game = played(ruleset, side, {side: limit, side.other: more}, str(number // 2))
        found = first_blunder(game, side, limit, Limit(nodes=2 * nodes * times))
        if found:
            yield number, side, found, cause(found)


def main(words: Sequence[str] | None = None) -> None:
    """Print each blunder, and the table of causes."""
    parser = argparse.ArgumentParser(description="Find the causes of lost battles.")
    parser.add_argument("rules", choices=RULESETS)
    parser.add_argument("--battles", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="the number of the first battle")
    parser.add_argument("--nodes", type=int, default=1_000, help="positions a ply of the player")
    parser.add_argument("--times", type=int, default=8, help="times as many for its opponent")
    options = parser.parse_args(words)
    numbers = range(options.first, options.first + options.battles)
    counts: Counter[tuple[Side, str]] = Counter()
    for number, side, found, why in blunders(options.rules, options.nodes, options.times, numbers):
        counts[side, why] += 1
        print(
            f"battle {number}, ply {len(found.game.moves) + 1}: {found.played} instead of"
            f" {found.better} loses {found.loss / 100:.1f} at depth {found.depth}: {why}",
            flush=True,
        )
    print("| side | " + " | ".join(CAUSES) + " |\n| --- |" + " ---: |" * len(CAUSES))
    for side in Side:
        print(f"| {side} | " + " | ".join(str(counts[side, why]) for why in CAUSES) + " |")


if __name__ == "__main__":
    main()
