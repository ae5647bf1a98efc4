"""Engine protocol for a stranger: ``python -m benchmarks.strangers checklist``.

Supports a subset of the protocol in docs/engine.md. Limits count CPU seconds, and the same share of
them is used as by ``thudmud engine --cpu``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from benchmarks.strangers import Stranger
from benchmarks.strangers.checklist import Checklist
from benchmarks.strangers.first import First
from benchmarks.strangers.monte_carlo import MonteCarlo
from benchmarks.strangers.naive import Greedy, Random
from thudmud.rules import RULESETS, Game, Ruleset, read_position, write_position

STRANGERS: dict[str, Callable[[Ruleset], Stranger]] = {
    "checklist": Checklist,
    "monte-carlo": MonteCarlo,
    "first": First,
    "greedy": Greedy,
    "random": Random,
}

SHARE = 0.7
"""Share of the allotted time to use; the rest is a reserve for unwinding the search."""


def main(name: str) -> None:
    """Answer each line of standard input with one line, until "quit" or the end of input."""
    game = Game.start(next(iter(RULESETS.values())))
    player = STRANGERS[name](game.ruleset)
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        match word:
            case "name":
                rest = name
            case "capabilities":
                rest = "words=name,capabilities,rules,position,play,go,quit"
            case "rules":
                game = Game.start(RULESETS[rest])
                player = STRANGERS[name](game.ruleset)
            case "position":
                game = Game.start(game.ruleset, read_position(rest, game.ruleset))
                rest = write_position(game.position)
            case "play":
                game = game.push(rest)
            case "go":
                end = time.process_time() + SHARE * float(rest or 1)
                rest = str(player.choose(game, lambda end=end: time.process_time() >= end))  # type: ignore[misc]
            case "quit":
                return
            case _:
                word, rest = "error", f"there is no {word!a}"
        print(f"{word} {rest}".strip(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
