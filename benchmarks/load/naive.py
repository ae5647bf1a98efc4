"""Two naive players, to play against: ``python -m benchmarks.load.naive greedy`` or ``random``.

The greedy one takes the most that it can, a troll counting four; both else play any legal ply. They
know a few words of the protocol that docs/engine.md describes, and are the same for ever.
"""

from __future__ import annotations

import sys
from random import Random

from thudmud.rules import RULESETS, Move, Position, read_position


def chosen(plies: list[Move], position: Position, kind: str, random: Random) -> Move:
    """Return the ply that a kind of player plays."""
    if kind == "greedy":

        def taken(ply: Move) -> int:
            trolls = (ply.captured_bits & position.trolls).bit_count()
            return len(ply.captures) + 3 * trolls

        most = max(map(taken, plies))
        plies = [ply for ply in plies if taken(ply) == most]
    return random.choice(plies)


def main(kind: str) -> None:
    random = Random(1)
    ruleset = next(iter(RULESETS.values()))
    position = ruleset.opening
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        answer = "error what is that?"
        match word:
            case "name":
                answer = f"name {kind}"
            case "rules":
                ruleset = RULESETS[rest]
                answer = f"rules {rest}"
            case "position":
                position = read_position(rest, ruleset)
                answer = f"position {rest}"
            case "go":
                plies = ruleset.legal_moves(position, 64)
                answer = f"go {chosen(plies, position, kind, random)}"
            case "quit":
                return
        print(answer, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
