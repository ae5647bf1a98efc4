"""What one reader is told of one thing that happened, or is answered, as lines.

Which sentence, board and status line go together, for a board style and a place to stand.
"""

from __future__ import annotations

from collections.abc import Iterable

from thudmud.play.archive import AdjournedMatches, FoundBattle, HistoryPage, PlayerScore, Ranking
from thudmud.play.asides import (
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
from thudmud.play.commands import (
    Boards,
    Games,
    Help,
    History,
    Look,
    Query,
    Replay,
    Style,
    Syntax,
    ViewGame,
    ViewPossible,
    ViewRecord,
    ViewScore,
    ViewStandings,
    Who,
)
from thudmud.play.events import (
    BattleEnded,
    BattleStarted,
    HallEvent,
    Joined,
    Moved,
    Offered,
    Resumed,
    RulesSet,
    TableEvent,
    TakenBack,
)
from thudmud.play.hall import Hall, Telling
from thudmud.play.options import ShowOptions, ShowScheme
from thudmud.play.table import Table
from thudmud.views import archive, boards, legal, options, reader, rooms, sentences
from thudmud.views.archive import replayed
from thudmud.views.help import page, syntax
from thudmud.views.reader import answered
from thudmud.views.sentences import turn, waiting
from thudmud.views.view import View
from thudmud.views.words import wrapped


def drawn(table: Table, view: View) -> list[str]:
    """Return all there is to see on a board, whatever style the reader has chosen."""
    if view.display.reader:
        return lines(reader.position(table, view.me), view)
    return boards.full(table, view.display)


def shown(table: Table, view: View) -> list[str]:
    """Return the board in the reader's style."""
    if view.display.reader:
        return lines(reader.stands(table, view.me, view.style), view)
    if view.style is Style.FULL:
        return boards.full(table, view.display)
    return wrapped(boards.status(table), view.width)


def standing(table: Table, view: View) -> list[str]:
    """Return what could be done at a board where nothing goes on, or else the reader's turn."""
    return lines(standing_facts(table, view), view)


def standing_facts(table: Table, view: View) -> list[str]:
    """Return the same, a sentence or two for each fact."""
    facts = [waiting(table, view.me)]
    if table.running:
        facts = reader.turn(table, view.me) if view.display.reader else [turn(table, view.me)]
    for offer, side in table.offers.items():
        offered = sentences.facts(Offered(0, table.seats[side], offer), table, view.me)
        facts += offered if view.display.reader else [" ".join(offered)]
    return facts


def lines(facts: Iterable[str], view: View) -> list[str]:
    """Return facts as lines that fit the screen, each beginning one of its own."""
    return [line for fact in facts for line in wrapped(fact, view.width)]


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


SPEECH = Spoke | Emoted | Told
"""What is in a player's own words."""

DRAWN = (BattleStarted, Moved, Resumed, RulesSet, TakenBack)
"""The events after which there is another position to see, for those who stay to see it."""


def tell(hall: Hall, telling: Telling, view: View) -> list[str]:
    """Return the lines that a reader with ``view`` is told."""
    event, table = telling.event, telling.table
    if isinstance(event, Asked):
        return answer(hall, event, table, view)
    if isinstance(event, Happening):
        return _aside(hall, event, table, view)
    if isinstance(event, HallEvent):
        return wrapped(rooms.changed(event, table, view.me), view.width)
    if table is None:
        raise ValueError(f"{event} happened at no table")
    lines = _said(hall, event, table, view)
    if view.display.reader:
        return lines + _left_by(event, table, view)
    sits = isinstance(event, Joined) and event.player == view.me
    return lines + shown(table, view) if sits or isinstance(event, DRAWN) else lines


def _left_by(event: TableEvent, table: Table, view: View) -> list[str]:
    """Return, for a screen reader, how a board stands after an event, and whose turn it is."""
    facts = []
    if isinstance(event, Joined) and event.player == view.me:
        facts = reader.stands(table, view.me, view.style)
    elif isinstance(event, DRAWN):
        facts = reader.left_by(event, table, view.me, view.style)
    if isinstance(event, sentences.TURNED):
        facts += reader.turn(table, view.me)
    return lines(facts, view)


def _said(hall: Hall, event: TableEvent, table: Table, view: View) -> list[str]:
    """Return what happened at a table, without the board."""
    again = []
    if isinstance(event, BattleEnded) and table.match:
        number = table.match.number
        again = [f'"{Replay(number)}" shows this battle again.'] if number else []
    is_alone = isinstance(event, Joined) and not table.full and not table.running
    if is_alone and event.player == view.me:
        again = rooms.seat_for_a_bot(hall)
    if view.display.reader:
        facts = reader.happened(event, table, view.me)
    else:
        facts = [sentences.sentence(event, table, view.me)]
    return lines(_named([*facts, *again], table, view), view)


def _named(facts: list[str], table: Table, view: View) -> list[str]:
    """Return facts about a table as they are told, with its name to those who are elsewhere."""
    if view.display.reader:
        return [f"At the {table.name}:", *facts] if view.away else facts
    said = " ".join(facts)
    return [f"[{table.name}] {said}" if view.away else said]


def _aside(hall: Hall, aside: Happening, table: Table | None, view: View) -> list[str]:
    said = rooms.told(aside, view.me)
    if isinstance(aside, SPEECH):
        if table and view.away:
            said = f"[{table.name}] {said}"
        return wrapped(said, view.width, glued=False)
    lines = wrapped(said, view.width)
    match aside:
        case Entered(player, None, adjourned=adjourned) if player == view.me:
            put_away = archive.put_away(view.width) if adjourned else []
            return lines + rooms.hall_seen(hall, player, view.width) + put_away
        case CameIn(player, None) if player == view.me:
            return lines + rooms.hall_seen(hall, player, view.width)
        case TookOver(player, None):
            return lines + rooms.hall_seen(hall, player, view.width)
        case TookOver(player, room) if table:
            here = rooms.people_here(hall, player, room, view.width)
            return lines + shown(table, view) + standing(table, view) + here
        case CaughtUp() if table:
            return _caught_up(hall, aside, table, view)
        case Replayed(player, battle, game, ply, then=then):
            then = then or game.after(ply)
            style = hall.style(player, hall.called(battle.id.board))
            return replayed(battle, game, then, style=style, me=player, display=view.display)
        case CameIn(player, room, sits) if player == view.me and table:
            here = rooms.people_here(hall, player, room, view.width)
            # Who comes to sit is shown the board with the seat taken, a moment later.
            drawn = [] if sits else shown(table, view) + standing(table, view)
            return lines + drawn + here
    return lines


def _caught_up(hall: Hall, aside: CaughtUp, table: Table, view: View) -> list[str]:
    """Return what somebody has missed at a table, and how it stands."""
    # An offer that still stands is told below, with how things stand.
    told_below = {
        event.offer: event
        for event, _ in aside.missed
        if isinstance(event, Offered) and event.offer in table.offers
    }
    missed = [
        line
        for event, after in aside.missed
        if event not in told_below.values()
        for line in lines(_since(event, after, view), view)
    ]
    if missed:
        missed = [
            *wrapped(f"What has happened at the {table.name} meanwhile:", view.width),
            *missed,
        ]
    if view.away:
        return missed + lines(_named(standing_facts(table, view), table, view), view)
    here = rooms.people_here(hall, aside.player, table.name, view.width)
    return missed + shown(table, view) + standing(table, view) + here


def _since(event: TableEvent, after: Table, view: View) -> list[str]:
    """Return what an event was that is past: not what could be typed right after it."""
    if view.display.reader:
        return sentences.without_commands(reader.happened(event, after, view.me))
    return [" ".join(sentences.without_commands(sentences.facts(event, after, view.me)))]
