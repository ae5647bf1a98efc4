"""What is kept of a player's tv, and what changes it."""

from __future__ import annotations

from enum import Enum

from thudmud.play.asides import Aside, ObserveChosen, aside
from thudmud.play.hall import Hall
from thudmud.play.people import Person, PersonPart
from thudmud.play.telling import Telling
from thudmud.values import value


class TvRefusal(Enum):
    """Why a command about the tv is refused. The values are stable, for programs."""

    TV_IS_OFF = "tv_is_off"


@value
class TvSet(PersonPart):
    """A player's tv.

    Attributes:
        board: the board that it shows; "" while it shows none, None if it is off.
    """

    board: str | None = None

    def board_closed(self, board: str) -> TvSet:
        return TvSet("") if self.board == board else self

    def board_renamed(self, board: str, name: str) -> TvSet:
        return TvSet(name) if self.board == board else self

    def unobserved(self, chosen: ObserveChosen) -> ObserveChosen:
        if chosen.board != self.board:
            return chosen
        return TvTurned(chosen.player, chosen.board, chosen.observed)


def shown_to(person: Person) -> str | None:
    """Return the board on a player's tv, as in `TvSet`."""
    return person.part(TvSet).board


@aside
class TvTurned(ObserveChosen):
    """A player's tv was turned to a board, or off.

    ``shown`` is the board that it shows, "" while nothing is played, or None if it is off.
    ``board`` is the same, or the board that it showed until now.
    """

    shown: str | None = None

    def happen(self, hall: Hall) -> Telling:
        hall.people[self.player].keep(TvSet(self.shown))
        return ObserveChosen.happen(self, hall)

    def abroad(self) -> Aside:
        return ObserveChosen(self.player, self.board, self.observed)
