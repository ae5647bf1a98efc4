"""How one reader sees what happened: who they are to it, where they stand, what their screen shows.

Owns what two readers must have in common to be told the same. Must never make a word of text.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from thudmud.play.asides import Aside, Invited, Told
from thudmud.play.commands import Style
from thudmud.play.events import Adjourned, Resumed, TableEvent
from thudmud.play.hall import DEFAULTS, Hall, Telling
from thudmud.play.table import Table
from thudmud.text.display import Display, Screens

_MOST_KEPT = 4
"""For how many sets of those who are involved it is kept how a company is told."""


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


def views(hall: Hall, telling: Telling, screens: Screens) -> Mapping[View, tuple[str, ...]]:
    """Return who sees in which way what ``telling`` tells; who has no screen sees nothing.

    A company is in the same groups, event after event, as long as these involve the same of them.
    """
    table, company = telling.table, telling.company
    involved = _named(telling.event)
    if table:
        involved.update(table.seats.values())
    if company is None:
        return _grouped(hall, table, telling.audience, involved, screens)
    known = screens.kept.setdefault(company, {})
    here = company.members & involved
    found = known.get(here)
    if found is None:
        if len(known) == _MOST_KEPT:
            known.clear()
        found = known[here] = _grouped(hall, table, company.names, here, screens)
    elsewhere = telling.audience[len(company.names) :]
    if not elsewhere:
        return found
    told = dict(found)
    for view, names in _grouped(hall, table, elsewhere, involved, screens).items():
        told[view] = (*told.get(view, ()), *names)
    return told


def _grouped(
    hall: Hall,
    table: Table | None,
    names: Iterable[str],
    involved: Container[str],
    screens: Screens,
) -> dict[View, tuple[str, ...]]:
    """Return who sees in which way something that happened and involves some of them."""
    groups: dict[tuple[str | None, Style, bool, int], tuple[Display, list[str]]] = {}
    for name in names:
        if name not in screens:
            continue
        person = hall.people.get(name)
        display = screens.display(name, person.options if person else DEFAULTS)
        me = name if name in involved else None
        style, away = Style.FULL, False
        if table:
            style = hall.style(name, table.name) if person else Style.BRIEF
            away = person is not None and person.room != table.name
        # Equal displays are nearly always one and the same, which is far quicker to see.
        group = groups.setdefault((me, style, away, id(display)), (display, []))
        group[1].append(name)
    found: dict[View, list[str]] = {}
    for (me, style, away, _), (display, readers) in groups.items():
        found.setdefault(View(me, style, display, away), []).extend(readers)
    return {view: tuple(readers) for view, readers in found.items()}


def _named(event: TableEvent | Aside) -> set[str]:
    """Return whom something names, though they may have no seat when it has happened."""
    match event:
        case Told(player, to) | Invited(player, to):
            return {player, to}
        case Adjourned(player=player, match=saved) | Resumed(player=player, match=saved):
            return {player, saved.dwarf, saved.troll}
    return {event.player}
