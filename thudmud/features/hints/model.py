"""The lookup of hints, the notice to the opponent, and the refusals."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from thudmud.game.asides import ToAnother, aside
from thudmud.game.delivery import Delivery
from thudmud.game.evaluation import Adviser, AdviserLookup, Variation
from thudmud.game.hall import Hall, applies
from thudmud.rules import Game


class HintRefusal(Enum):
    """Codes of refusals of a hint. The values are a stable interface for programs."""

    NO_HINTS = "no_hints"
    NO_HINTS_RATED = "no_hints_rated"
    NO_HINTS_CLOCK = "no_hints_clock"
    HINT_PENDING = "hint_pending"
    HINT_FAILED = "hint_failed"
    HINT_OUT_OF_DATE = "hint_out_of_date"


@aside
class HintGiven(ToAnother):
    """A player asked for a hint and got it; the opponent ``to`` hears of it.

    ``board`` is the name of the board.
    """

    board: str


@applies(HintGiven)
def _apply_hint_given(given: HintGiven, hall: Hall) -> Delivery:
    """Deliver the notice to the opponent, even to one who ignores the player."""
    recipients = (given.to,) if given.to in hall.people else ()
    return Delivery(given, recipients, hall.tables.get(given.board))


class AdviceLookup(AdviserLookup[Variation | None]):
    """Lookup of the adviser's line; None if it finds none. `board` is the key of the board."""

    board: str
    game: Game

    async def ask(self, adviser: Adviser) -> Mapping[Game, Any]:
        return {self.game: await adviser.advise(self.board, self.game)}
