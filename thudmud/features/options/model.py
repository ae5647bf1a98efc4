"""Asides of players who choose how they want boards and messages."""

from __future__ import annotations

from dataclasses import replace

from thudmud.game.asides import Aside, AtBoard, aside
from thudmud.game.hall import Hall
from thudmud.game.options import Options, SetOption, Style
from thudmud.game.people import Person
from thudmud.game.telling import Telling


@aside
class StyleChosen(AtBoard):
    """A player chose the style in which they see a board."""

    crosses = True

    style: Style

    def chosen(self, hall: Hall, person: Person) -> Person:
        return replace(person, styles={**person.styles, self.board: self.style})

    def happen(self, hall: Hall) -> Telling:
        person = hall.people[self.player]
        person.styles[self.board] = self.style
        hall.rooms.changed(person)
        return Telling(self, (self.player,), hall.board_seen(self.player, self.board))


@aside
class OptionChosen(Aside):
    """A player chose an option. ``options`` are all their options after that."""

    crosses = True

    choice: SetOption
    options: Options

    def chosen(self, hall: Hall, person: Person) -> Person:
        return replace(person, options=self.options)

    def happen(self, hall: Hall) -> Telling:
        person = hall.people[self.player]
        person.options = self.options
        hall.rooms.changed(person)
        return Telling(self, (self.player,))
