"""How one reader sees what happened: who they are to it, where they stand, what their screen shows.

Owns what two readers must have in common to be told the same. Must never make a word of text.
"""

from __future__ import annotations

from dataclasses import dataclass

from thudmud.commands import Style
from thudmud.tables.asides import Aside, Invited, Told
from thudmud.tables.events import Adjourned, Resumed, TableEvent
from thudmud.tables.hall import Hall, Telling
from thudmud.text.display import Display


@dataclass(frozen=True, slots=True)
class View:
    """How something is seen. Readers whose views are equal read the same text.

    Attributes:
        me: the reader's name if what happened names them or they sit at the table, else None.
        style: how they want the board shown; full where there is no board.
        display: how their screen shows everything.
        away: whether they are somewhere else than the board.
    """

    me: str | None
    style: Style
    display: Display
    away: bool = False

    @property
    def width(self) -> int:
        """The columns of their screen."""
        return self.display.width

    @classmethod
    def of(cls, hall: Hall, telling: Telling, name: str, display: Display) -> View:
        """Return how ``name`` sees what ``telling`` tells."""
        table, event = telling.table, telling.event
        seated = table is not None and table.side_of(name) is not None
        named = name in _named(event)
        me = name if seated or named else None
        if table is None:
            return cls(me, Style.FULL, display)
        person = hall.people.get(name)
        room = person.room if person else table.name
        style = hall.style(name, table.name) if person else Style.BRIEF
        return cls(me, style, display, room != table.name)


def _named(event: TableEvent | Aside) -> set[str]:
    """Return whom something names, though they may have no seat when it has happened."""
    match event:
        case Told(player, to) | Invited(player, to):
            return {player, to}
        case Adjourned(player=player, match=saved) | Resumed(player=player, match=saved):
            return {player, saved.dwarf, saved.troll}
    return {event.player}
