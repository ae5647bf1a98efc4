"""What one reader is told of one thing that happened.

Owns which sentence, board and status line go together, for a board style and a place to stand.
Must never send anything: it returns lines.
"""

from __future__ import annotations

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
from thudmud.play.commands import Replay
from thudmud.play.events import (
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
from thudmud.play.hall import Hall, Telling
from thudmud.play.table import Table
from thudmud.text import archive, reader, rooms, sentences
from thudmud.text.answers import answer
from thudmud.text.replaying import replayed
from thudmud.text.shown import lines as in_lines
from thudmud.text.shown import shown, standing, standing_facts
from thudmud.text.view import View
from thudmud.text.words import wrapped

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
    return in_lines(facts, view)


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
    return in_lines(_named([*facts, *again], table, view), view)


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
        for line in in_lines(_since(event, after, view), view)
    ]
    if missed:
        missed = [
            *wrapped(f"What has happened at the {table.name} meanwhile:", view.width),
            *missed,
        ]
    if view.away:
        return missed + in_lines(_named(standing_facts(table, view), table, view), view)
    here = rooms.people_here(hall, aside.player, table.name, view.width)
    return missed + shown(table, view) + standing(table, view) + here


def _since(event: TableEvent, after: Table, view: View) -> list[str]:
    """Return what an event was that is past: not what could be typed right after it."""
    if view.display.reader:
        return sentences.without_commands(reader.happened(event, after, view.me))
    return [" ".join(sentences.without_commands(sentences.facts(event, after, view.me)))]
