"""What one reader is told of one thing that happened.

Owns which sentence, board and status line go together, for a board style and a place to stand.
Must never send anything: it returns lines.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from thudmud.commands import (
    Boards,
    Games,
    Help,
    History,
    Look,
    Record,
    Replay,
    Standings,
    Style,
    Syntax,
    ViewGame,
    ViewPossible,
    ViewScore,
    Who,
)
from thudmud.tables.asides import (
    Aside,
    Asked,
    CameIn,
    CaughtUp,
    Emoted,
    Entered,
    Happening,
    Replayed,
    Spoke,
    Told,
    TookOver,
)
from thudmud.tables.events import (
    Adjourned,
    BattleEnded,
    BattleStarted,
    Joined,
    Moved,
    Offered,
    Resumed,
    RulesSet,
    TableEvent,
    TakenBack,
)
from thudmud.tables.hall import Hall, Telling
from thudmud.tables.table import Table
from thudmud.text import archive, board, legal, rooms, sentences
from thudmud.text.display import Display
from thudmud.text.help import page, syntax
from thudmud.text.phrases import turn, waiting
from thudmud.text.replaying import replayed
from thudmud.text.words import wrapped

SPEECH = Spoke | Emoted | Told
"""What is in a player's own words."""

DRAWN = (BattleStarted, Moved, Resumed, RulesSet, TakenBack)
"""The events after which there is another position to see, for those who stay to see it."""


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
        case Told(player, to):
            return {player, to}
        case Adjourned(player=player, match=saved) | Resumed(player=player, match=saved):
            return {player, saved.dwarf, saved.troll}
    return {event.player}


def tell(hall: Hall, telling: Telling, view: View) -> list[str]:
    """Return the lines that a reader with ``view`` is told."""
    event, table = telling.event, telling.table
    if isinstance(event, Asked):
        return _answer(hall, event, table, view)
    if isinstance(event, Happening):
        return _aside(hall, event, table, view)
    if table is None:
        raise ValueError(f"{event} happened at no table")
    lines = _said(hall, event, table, view)
    sits = isinstance(event, Joined) and event.player == view.me
    return lines + _shown(table, view) if sits or isinstance(event, DRAWN) else lines


def _said(hall: Hall, event: TableEvent, table: Table, view: View) -> list[str]:
    """Return what happened at a table, without the board."""
    said = sentences.sentence(event, table, view.me)
    if isinstance(event, BattleEnded) and table.match:
        number = hall.archive.number_of(table.match.began)
        said += f' "{Replay(number)}" shows this battle again.' if number else ""
    return wrapped(f"[{table.name}] {said}" if view.away else said, view.width)


def _shown(table: Table, view: View) -> list[str]:
    """Return the board in the reader's style."""
    if view.style is Style.FULL:
        return board.full(table, view.display)
    return wrapped(board.status(table), view.width)


def _aside(hall: Hall, aside: Happening, table: Table | None, view: View) -> list[str]:
    said = rooms.told(aside, view.me)
    if table and view.away and isinstance(aside, Spoke | Emoted):
        said = f"[{table.name}] {said}"
    lines = wrapped(said, view.width, glued=not isinstance(aside, SPEECH))
    match aside:
        case Entered(player, None) if player == view.me:
            seen = rooms.hall_seen(hall, player, view.width)
            return lines + seen + archive.put_away(hall.archive, player, view.width)
        case CameIn(player, None) if player == view.me:
            return lines + rooms.hall_seen(hall, player, view.width)
        case TookOver(player, None):
            return lines + rooms.hall_seen(hall, player, view.width)
        case TookOver(player, room) if table:
            here = rooms.people_here(hall, player, room, view.width)
            return lines + _shown(table, view) + _standing(table, view) + here
        case CaughtUp() if table:
            return _caught_up(hall, aside, table, view)
        case Replayed(player, number, game, ply):
            battle = hall.archive.battles[number - 1]
            style = hall.style(player, battle.id.board)
            return replayed(battle, game, ply, style=style, me=player, display=view.display)
        case CameIn(player, room, sits) if player == view.me and table:
            here = rooms.people_here(hall, player, room, view.width)
            # Who comes to sit is shown the board with the seat taken, a moment later.
            drawn = [] if sits else _shown(table, view) + _standing(table, view)
            return lines + drawn + here
    return lines


def _caught_up(hall: Hall, aside: CaughtUp, table: Table, view: View) -> list[str]:
    """Return what somebody has missed at a table, and how it stands."""
    missed = [
        line
        for event, after in aside.missed
        for line in _said(hall, event, after, replace(view, me=aside.player))
    ]
    if missed:
        missed = [
            *wrapped(f"What has happened at the {table.name} meanwhile:", view.width),
            *missed,
        ]
    if view.away:
        return missed
    here = rooms.people_here(hall, aside.player, table.name, view.width)
    return missed + _shown(table, view) + _standing(table, view) + here


def _standing(table: Table, view: View) -> list[str]:
    """Return what could be done at a board where nothing goes on, or else the reader's turn."""
    said = [turn(table, view.me) if table.running else waiting(table, view.me)]
    for offer, side in table.offers.items():
        offered = Offered(0, table.seats[side], offer)
        said.append(sentences.sentence(offered, table, view.me))
    return [line for each in said for line in wrapped(each, view.width)]


def _answer(hall: Hall, asked: Asked, table: Table | None, view: View) -> list[str]:
    match asked.question:
        case Boards():
            return rooms.boards(hall, view.width)
        case Who():
            return rooms.who(hall, asked.player, view.width)
        case Games() | History() | Record() | Standings() | ViewScore():
            return _from_the_archive(hall, asked, view.width)
        case Help(topic):
            return page(topic, view.width)
        case Syntax(verb):
            return syntax(verb, view.width)
        case ViewPossible(origin) if table and table.game:
            return legal.possible(table.game, origin, view.width)
        case Look(at) if at in hall.people:
            return rooms.person(hall, str(at), asked.player, view.width)
        case Look(None) if table:
            here = rooms.people_here(hall, asked.player, table.name, view.width)
            return board.full(table, view.display) + _standing(table, view) + here
        case Look() | ViewGame() if table:
            return board.full(table, view.display) + _standing(table, view)
    return rooms.hall_seen(hall, asked.player, view.width)


def _from_the_archive(hall: Hall, asked: Asked, width: int) -> list[str]:
    me = asked.player
    match asked.question:
        case Games():
            return archive.games(hall.tables.values(), hall.archive, me, width)
        case History() as history:
            return archive.history(hall.archive, history, me, width)
        case Record(number) if asked.game:
            return archive.record(hall.archive.battles[number - 1], asked.game, width)
        case ViewScore(player):
            return archive.score(hall.standings, player or me, me, width)
    return archive.standings(hall.standings, me, width)
