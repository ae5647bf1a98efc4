"""The state of a player's tv, and the aside that changes it."""

from __future__ import annotations

from enum import Enum

from thudmud.game.asides import Aside, ObserveChosen, aside
from thudmud.game.delivery import Delivery
from thudmud.game.hall import Hall, applies, apply_observe_chosen
from thudmud.game.people import Person, PersonPart


class TvRefusal(Enum):
    """Reasons for refusing a tv command. The values are a stable interface for programs."""

    TV_IS_OFF = "tv_is_off"


class TvState(PersonPart):
    """The state of a player's tv.

    Attributes:
        board: the name of the board on screen; "" if it is on without a battle, None if it is off.
    """

    board: str | None = None

    def board_closed(self, board: str) -> TvState:
        return TvState("") if self.board == board else self

    def board_renamed(self, board: str, name: str) -> TvState:
        return TvState(name) if self.board == board else self

    def adapt_observe_aside(self, chosen: ObserveChosen) -> ObserveChosen:
        if chosen.board != self.board:
            return chosen
        return TvTurned(chosen.player, chosen.board, chosen.observed)


def tv_board(person: Person) -> str | None:
    """Return the board on a player's tv, see `TvState.board`."""
    return person.part(TvState).board


@aside
class TvTurned(ObserveChosen):
    """A player's tv switched to another board, or on or off.

    ``shown`` is the new state, see `TvState.board`. ``board`` is the board concerned: the new one,
    or without a new one the old one.
    """

    shown: str | None = None

    def form_for_other_nodes(self) -> Aside:
        return ObserveChosen(self.player, self.board, self.observed)


@applies(TvTurned)
def _apply_tv_turned(turned: TvTurned, hall: Hall) -> Delivery:
    hall.people[turned.player].keep(TvState(turned.shown))
    return apply_observe_chosen(turned, hall)
