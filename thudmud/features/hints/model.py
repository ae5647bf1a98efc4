"""What hints look up, and why they are refused."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from thudmud.game.evaluation import Adviser, AdviserLookup, Variation
from thudmud.rules import Game


class HintRefusal(Enum):
    """Reasons for refusing a hint. The values are a stable interface for programs."""

    NO_HINTS = "no_hints"
    NO_HINTS_RATED = "no_hints_rated"
    HINT_PENDING = "hint_pending"
    HINT_FAILED = "hint_failed"
    HINT_OUT_OF_DATE = "hint_out_of_date"


class AdviceLookup(AdviserLookup[Variation | None]):
    """What to play in a battle at the board with a key; None if nothing was found."""

    board: str
    game: Game

    async def ask(self, adviser: Adviser) -> Mapping[Game, Any]:
        return {self.game: await adviser.advise(self.board, self.game)}
