"""Asides of options and board styles."""

from __future__ import annotations

from thudmud.game.asides import Aside, AtBoard, aside
from thudmud.game.delivery import Delivery
from thudmud.game.hall import Hall, applies
from thudmud.game.options import Options, SetOption, Style


@aside
class StyleChosen(AtBoard):
    """A player chose the drawing style of a board."""

    reaches_other_nodes = True

    style: Style


@applies(StyleChosen)
def _apply_style_chosen(chosen: StyleChosen, hall: Hall) -> Delivery:
    person = hall.people[chosen.player]
    person.styles[chosen.board] = chosen.style
    hall.rooms.update(person)
    return Delivery(chosen, (chosen.player,), hall.visible_table(chosen.player, chosen.board))


@aside
class OptionChosen(Aside):
    """A player set an option. `options` are all their options after it.

    Other nodes don't know `choice`, since nobody there is notified.
    """

    reaches_other_nodes = True

    choice: SetOption
    options: Options


@applies(OptionChosen)
def _apply_option_chosen(chosen: OptionChosen, hall: Hall) -> Delivery:
    person = hall.people[chosen.player]
    person.options = chosen.options
    hall.rooms.update(person)
    return Delivery(chosen, (chosen.player,))
