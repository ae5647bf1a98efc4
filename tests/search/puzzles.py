"""Finds puzzles: positions in which one capture is worth two dwarfs more than anything else.

``python -m tests.search.puzzles RULES COUNT [SEED]`` finds some in battles of the player against
itself, and prints them as they stand in ``thudmud/play/puzzles.txt``: rules, position, solution.
Each was found with `DEPTH` plies and confirmed with two more, and there are several captures to
choose from. New ones go to the end of the file: players know the others by their numbers.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator

from thudmud.bots.referee import random_opening
from thudmud.rules import RULESETS, Game, Move, Ruleset, write_position
from thudmud.search.search import Blunders, Limit, Search

DEPTH = 2
MUCH = 200
"""Hundredths of a dwarf by which the solution is better than anything else."""


def solution(game: Game, depth: int) -> Move | None:
    """Return the capture that is worth much more than anything else, if there is one."""
    limit = Limit(depth=depth)
    best = Search(game.ruleset).think(game, limit)
    if not best.move.captures:
        return None
    others = Blunders(overlooks=lambda move: is_like(move, best.move))
    second = Search(game.ruleset).think(game, limit, None, others)
    return best.move if best.worth - second.worth >= MUCH else None


def is_like(move: Move, other: Move) -> bool:
    """Whether two moves go to the same square with the same piece."""
    return (move.origin, move.target) == (other.origin, other.target)


def found(ruleset: Ruleset, first: int = 0) -> Iterator[tuple[Game, Move]]:
    """Yield puzzles, from battles of the player against itself, two of each."""
    for seed in itertools.count(first):
        game, search, few = random_opening(ruleset, 6, f"puzzles {seed}"), Search(ruleset), 0
        while not game.outcome and game.quiet_plies < 30 and len(game.moves) < 150 and few < 2:
            captures = [move for move in game.legal_moves() if move.captures]
            choice = {(move.origin, move.target) for move in captures}
            if len(choice) > 2 and len(game.moves) > 10:
                capture = solution(game, DEPTH)
                greedy = max(len(move.captures) for move in captures)
                if (
                    capture
                    and (len(capture.captures) < greedy or greedy == 1 or seed % 3 == 0)
                    and (sure := solution(game, DEPTH + 2))
                    and is_like(sure, capture)
                ):
                    few += 1
                    yield game, sure
            game = game.play(search.think(game, Limit(nodes=300)).move)


def main(rules: str, count: str, seed: str = "0") -> None:
    """Print some puzzles."""
    for game, move in itertools.islice(found(RULESETS[rules], int(seed)), int(count)):
        print(f"{rules}; {write_position(game.position)}; {move}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:4])
