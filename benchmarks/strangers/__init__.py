"""Opponents that the search's weights were never fitted against, for ``benchmarks/bots.py``.

They only share the rules with the project, not ``thudmud/search``, so that their strength stays the
same when the search changes, without checking out old versions:

- `checklist`: alpha-beta with an independent evaluation, based on a list of another program's
  features. It is the measure, so nothing may ever be fitted against it.
- `monte_carlo`: Monte Carlo tree search, for all rulesets.
- `first`: the first version of the search, with its weights.
- `naive`: greedy and random plies, for all rulesets.

``python -m benchmarks.strangers NAME`` speaks the engine protocol of docs/engine.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from thudmud.rules import Game, Move

IsLate = Callable[[], bool]
"""Returns whether the time for the current ply is up."""


class Stranger(Protocol):
    """A player for one ruleset, and one battle at a time."""

    def choose(self, game: Game, is_late: IsLate) -> Move:
        """Return a legal ply of a running battle, soon after `is_late` becomes true."""
