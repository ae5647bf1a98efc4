"""Opponents that the player's weights were never fitted against, for ``benchmarks/bots.py``.

They share nothing with ``thudmud/search`` but the rules, so that they stay what they are when it
changes, and they need no history of the repository:

- `checklist`: alpha-beta with an evaluation of its own, written from a list of what another program
  counts. Nothing may ever be fitted against it: it is the measure.
- `monte_carlo`: a tree of playouts, by any rules.
- `first`: the first version of the player's search, with the weights that it had.
- `naive`: greedy and random plies, by any rules.

``python -m benchmarks.strangers NAME`` answers the engine protocol of docs/engine.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from thudmud.rules import Game, Move

IsLate = Callable[[], bool]
"""Returns whether it is time to answer."""


class Stranger(Protocol):
    """A player of one ruleset, and of one battle at a time."""

    def choose(self, game: Game, is_late: IsLate) -> Move:
        """Return a ply of a running battle, soon after it is late."""
