"""A table as a drawn board, and as one status line.

Owns what goes where for each width of a screen. Must never tell who reads it: the same lines go to
every reader of the same display.
"""

from __future__ import annotations

from itertools import zip_longest

from thudmud.play.table import Table
from thudmud.rules import Piece, Side
from thudmud.rules.english import capitalised
from thudmud.text import panel
from thudmud.text.display import Display
from thudmud.text.grid import GridLayout, grid

GAP = "   "
PANEL_WIDTH = 30
"""The least room beside the board that the panel needs; with less it stands below."""


def full(table: Table, display: Display) -> list[str]:
    """Return ``table`` drawn whole: the grid, and beside or below it what else there is to know.

    A screen of fewer than 18 columns cannot hold the grid.
    """
    return list(_last.drawn(table, display))


def status(table: Table) -> str:
    """Return one line with what the board holds, who sits where, and the score."""
    position = panel.position(table)
    sides = ", ".join(
        f"{side.plural} {position.count(Piece.of(side))} ({panel.holder(table, side)})"
        for side in Side
    )
    rock = "".join(f"; Rock on {square}" for square in position.squares(Piece.ROCK))
    now = panel.score(table)
    return f"{capitalised(table.name)}: {sides}{rock}; score {now.dwarf} to {now.troll}."


class _Last:
    """The drawing that was made last: both players and all who look on are shown the same.

    It is kept with what it is of in one value, so that threads never see the one without the other.
    """

    def __init__(self) -> None:
        self._made: tuple[Table, Display, tuple[str, ...]] | None = None

    def drawn(self, table: Table, display: Display) -> tuple[str, ...]:
        # Neither ever changes, so that what is drawn of the very same two is the same.
        made = self._made
        if made is None or made[0] is not table or (made[1] is not display and made[1] != display):
            made = self._made = (table, display, tuple(_drawn(table, display)))
        return made[2]


_last = _Last()


def _drawn(table: Table, display: Display) -> list[str]:
    layout = _layout(display)
    rows = grid(panel.position(table), panel.last_move(table), display, layout)
    room = _room(layout, display)
    if room < PANEL_WIDTH:
        facts = panel.below(table, display, marked=layout is not GridLayout.TIGHT)
        return [*(row.rstrip() for row in rows), *facts]
    both = zip_longest(rows, panel.beside(table, room, display), fillvalue="")
    return [f"{row or ' ' * layout.value}{GAP}{fact}".rstrip() for row, fact in both]


def _layout(display: Display) -> GridLayout:
    """Return how the grid is drawn.

    The frame is two lines high: where the facts stand below, a screen of 24 lines has no room for
    it.
    """
    if display.utf8 and _room(GridLayout.FRAMED, display) >= PANEL_WIDTH:
        return GridLayout.FRAMED
    return GridLayout.SPACED if display.width > GridLayout.SPACED.value else GridLayout.TIGHT


def _room(layout: GridLayout, display: Display) -> int:
    """Return how many columns are left beside a grid."""
    return display.width - 1 - layout.value - len(GAP)
