"""Speed of the search, and its ratio to another version in the same run.

Run it from the checkout: ``python benchmarks/thinking.py``, or with the folder of another checkout
for the ratio: ``python benchmarks/thinking.py ../before``. Positions of random battles are searched
by both in turn, several times. The least processor time of each position counts, as the least
disturbed one. The exit status is 1 if their moves, scores or numbers of positions differ.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from time import process_time

HERE = Path(__file__).resolve().parents[1]
NAMES = ("discworld", "classic", "koom valley")
PLIES = range(4, 76, 6)
"""The plies before each position, played by chance with a liking for captures."""

DEPTH = 3
ROUNDS = 9


def serve() -> None:
    """Answer each line, a ruleset and a number of plies, with a result and its seconds."""
    from thudmud.rules import RULESETS, Game  # noqa: PLC0415  (of the checkout in PYTHONPATH)
    from thudmud.search.search import Limit, Search  # noqa: PLC0415

    for line in sys.stdin:
        name, plies = json.loads(line)
        random, game = Random(plies), Game.start(RULESETS[name])
        while len(game.moves) < plies and not game.outcome:
            moves = game.legal_moves()
            captures = [move for move in moves if move.captures]
            game = game.play(random.choice(captures if captures and plies % 5 else moves))
        start = process_time()
        found = None if game.outcome else Search(game.ruleset).think(game, Limit(depth=DEPTH))
        seconds = process_time() - start
        result = [str(found.move), found.score, found.nodes] if found else ["", 0, 0]
        print(json.dumps([result, seconds]), flush=True)


class Version:
    """A process that searches with the code of a checkout."""

    def __init__(self, checkout: Path) -> None:
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", __file__, "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(checkout)},
        )

    def search(self, name: str, plies: int) -> tuple[list[object], float]:
        """Return the move, score and number of positions, and the seconds."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([name, plies]) + "\n")
        self._process.stdin.flush()
        result, seconds = json.loads(self._process.stdout.readline())
        return result, seconds

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def compare(name: str, versions: list[Version]) -> tuple[list[float], bool]:
    """Return the positions a second of each version, and whether all results are the same."""
    seconds, nodes, same = [0.0 for _ in versions], 0, True
    for plies in PLIES:
        times: list[list[float]] = [[] for _ in versions]
        results = []
        for _ in range(ROUNDS):
            for version, taken in zip(versions, times, strict=True):
                result, second = version.search(name, plies)
                taken.append(second)
                results.append(result)
        nodes += int(str(results[0][2]))
        same = same and all(result == results[0] for result in results)
        seconds = [total + min(taken) for total, taken in zip(seconds, times, strict=True)]
    return [nodes / total for total in seconds], same


def main(checkouts: list[Path]) -> int:
    """Print a line for each ruleset; return 1 if results differ."""
    versions, is_same = [Version(checkout) for checkout in (HERE, *checkouts)], True
    for name in NAMES:
        rates, same = compare(name, versions)
        ratios = "".join(f", {rates[0] / rate:.2f} times the other's" for rate in rates[1:])
        print(f"{name:12} {rates[0]:9,.0f} positions a second{ratios}", flush=True)
        is_same = is_same and same
    for version in versions:
        version.close()
    if not is_same:
        print("The versions find different moves, scores or numbers of positions.")
    return int(not is_same)


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        sys.exit(main([Path(each).resolve() for each in sys.argv[1:]]))
