"""The lookup of hints, and their refusals."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from thudmud.game.evaluation import Adviser, AdviserLookup, Variation
from thudmud.rules import Game


class HintRefusal(Enum):
    """Codes of refusals of a hint. The values are a stable interface for programs."""

    NO_HINTS = "no_hints"
    NO_HINTS_RATED = "no_hints_rated"
    HINT_PENDING = "hint_pending"
    HINT_FAILED = "hint_failed"
    HINT_OUT_OF_DATE = "hint_out_of_date"


class AdviceLookup(AdviserLookup[Variation | None]):
    """Lookup of the adviser's line; None if it finds none. `board` is the key of the board."""

    board: str
    game: Game

    async def ask(self, adviser: Adviser) -> Mapping[Game, Any]:
        return {self.game: await adviser.advise(self.board, self.game)}
