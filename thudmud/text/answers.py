"""What somebody is answered who asks for something.

Owns which page, list or board answers a question. Must never change anything.
"""

from __future__ import annotations

from thudmud.play.asides import Asked
from thudmud.play.commands import (
    Boards,
    Games,
    Help,
    History,
    Look,
    Query,
    Syntax,
    ViewGame,
    ViewPossible,
    ViewRecord,
    ViewScore,
    ViewStandings,
    Who,
)
from thudmud.play.hall import Hall
from thudmud.play.lookups import AdjournedMatches, FoundBattle, HistoryPage, Ranking
from thudmud.play.options import ShowOptions, ShowScheme
from thudmud.play.standings import PlayerScore
from thudmud.play.table import Table
from thudmud.text import archive, legal, options, rooms
from thudmud.text.help import page, syntax
from thudmud.text.queries import answered
from thudmud.text.shown import drawn, standing
from thudmud.text.view import View


def answer(hall: Hall, asked: Asked, table: Table | None, view: View) -> list[str]:
    """Return what answers a question, as lines."""
    if table and isinstance(asked.question, Query):
        return answered(table, asked.question, asked.player, view.display)
    match asked.question:
        case Boards():
            return rooms.boards(hall, view.width)
        case Who():
            return rooms.who(hall, asked.player, view.width)
        case Games() | History() | ViewRecord() | ViewStandings() | ViewScore():
            return _looked_up(hall, asked, view.width)
        case ShowOptions():
            return options.listed(hall.people[asked.player].options, view.display)
        case ShowScheme():
            return options.scheme(hall.people[asked.player].options, view.display)
        case Help(topic):
            return page(topic, view.width, next(iter(rooms.bots(hall)), None))
        case Syntax(verb):
            return syntax(verb, view.width)
        case ViewPossible(origin) if table and table.game:
            return legal.possible(table.game, origin, view.width, legal.to(view.display))
        case Look(at) if at in hall.people:
            return rooms.person(hall, str(at), asked.player, view.width)
        case Look(None) if table:
            here = rooms.people_here(hall, asked.player, table.name, view.width)
            return drawn(table, view) + standing(table, view) + here
        case Look() | ViewGame() if table:
            return drawn(table, view) + standing(table, view)
    return rooms.hall_seen(hall, asked.player, view.width)


def _looked_up(hall: Hall, asked: Asked, width: int) -> list[str]:
    """Return what was looked up for a question."""
    me = asked.player
    match asked.question, asked.answer:
        case ViewRecord(), FoundBattle() as found:
            return archive.record(found, width)
        case History() as history, HistoryPage() as page_found:
            return archive.history(page_found, history, me, width)
        case ViewStandings(), Ranking() as ranking:
            return archive.standings(ranking, width)
        case ViewScore(player), (PlayerScore() | None) as score:
            return archive.score(score, player or me, me, width)
        case Games(), AdjournedMatches(matches):
            return archive.games(hall.tables.values(), matches, me, width)
    raise ValueError(f"{asked.answer} does not answer {asked.question}")
