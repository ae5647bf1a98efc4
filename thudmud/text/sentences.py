"""What happened at a board, in a sentence for one reader.

Owns the words of every table event. Must never draw a board, and never look at anything but the
event and the table as it stood right after.
"""

from __future__ import annotations

from functools import singledispatch

from thudmud.commands.model import End, Join, Start
from thudmud.engine import Ending, Game, Move, Outcome, Piece, Side, Verb
from thudmud.engine.english import capitalised, counted, does
from thudmud.tables.events import (
    BattleEnded,
    BattleStarted,
    Cleared,
    Joined,
    Left,
    Moved,
    Offer,
    Offered,
    OfferLapsed,
    Parting,
    RulesSet,
    TableEvent,
)
from thudmud.tables.match import Match
from thudmud.tables.objects import listed
from thudmud.tables.table import Table
from thudmud.tables.table_decisions import OFFER_WORDS, free_seat, who_sits

ENDINGS = {
    Ending.AGREEMENT: "Both players agree to end the battle.",
    Ending.QUIET: "Nothing was captured for {plies}.",
    Ending.DESERTION: "There is nobody to play on against.",
    Ending.ROCK_ESCAPED: "The Rock is home.",
    Ending.ROCK_CAPTURED: "Three trolls stand next to the Rock.",
}


def sentence(event: TableEvent, table: Table, me: str | None) -> str:
    """Return what ``event`` reads like to ``me``. What it offers to type names the board.

    Args:
        event: what happened.
        table: the table right after it.
        me: the reader's name if the event or a seat is theirs, else None.
    """
    return capitalised(_sentence(event, table, me))


def turn(table: Table, me: str | None) -> str:
    """Return whose turn it is; nothing when no battle is being played."""
    if not table.running or table.game is None:
        return ""
    side = table.game.position.turn
    player = table.seats.get(side)
    if player is None:
        return f"It is the {side.plural}' turn; their seat is free."
    return "It is your turn." if player == me else f"It is {player}'s turn ({side.plural})."


def waiting(table: Table, me: str | None) -> str:
    """Return what could be done at a table where no battle is being played."""
    if not table.full:
        return who_sits(table, me)
    return f"{who_sits(table, me)} {_next(table)}"


def _next(table: Table) -> str:
    """Return how to go on when a battle is over or none has begun."""
    if not table.full:
        return free_seat(table)
    battle = "battle"
    if table.match:
        battle = "second battle, with the seats swapped" if table.half_played else "next match"
    return f'"{Start(table.name)}" begins the {battle}.'


def points(table: Table, match: Match, me: str | None) -> str:
    """Return the points of the match so far by name, such as "you 31, Bert 24"."""
    return ", ".join(f"{_named(table, side, me)} {match.points(side)}" for side in Side)


def played(move: Move, who: str, me: str | None) -> str:
    """Return the ply ``move`` of the player ``who``, as "You hurl the dwarf from F1 to F6, ..."."""
    verb, way = does(who, me, move.verb.value), f"from {move.origin} to {move.target}"
    if move.trample:
        victims = _victims(move, Piece.DWARF)
        return f"{does(who, me, 'send')} the troll {way}, trampling {victims}."
    start = f"{verb} the {move.piece.noun} {way}"
    if move.verb is Verb.HURL:
        return f"{start}, felling the troll."
    if not move.captures:
        return f"{start}."
    prey = Piece.TROLL if move.piece is Piece.DWARF else Piece.DWARF
    return f"{start}, capturing {_victims(move, prey)}."


def _victims(move: Move, prey: Piece) -> str:
    noun = prey.noun + ("s" if len(move.captures) > 1 else "")
    return f"the {noun} at {listed(move.captures)}"


def _named(table: Table, side: Side, me: str | None) -> str:
    """Return who plays ``side``, as within a sentence."""
    player = table.seats.get(side, "the free seat")
    return "you" if player == me else player


def _quiet(game: Game) -> str:
    return counted(game.quiet_plies, "ply")


def reached(outcome: Outcome, game: Game) -> str:
    """Return how the battle ``game`` came to its ``outcome``; not for one that was resigned."""
    if outcome.ending is Ending.NO_MOVE:
        return f"The {game.position.turn.plural} have no move."
    return ENDINGS[outcome.ending].format(plies=_quiet(game))


@singledispatch
def _sentence(event: object, table: Table, me: str | None) -> str:  # noqa: ARG001 (the signature that the cases share)
    raise TypeError(f"no words for {type(event).__name__}")


@_sentence.register
def _(event: Joined, table: Table, me: str | None) -> str:
    said = (
        f"{does(event.player, me, 'sit')} down at the {table.name} to play the {event.side.plural}."
    )
    if table.match and not table.match.over and table.match.points(event.side):
        said += f" The seat comes with {counted(table.match.points(event.side), 'point')}."
    if table.running:
        return f"{said} {turn(table, me)}"
    if table.full:
        return f"{said} Both seats are taken: {_next(table)}"
    return f"{said} {free_seat(table)}"


@_sentence.register
def _(event: Left, table: Table, me: str | None) -> str:
    seat = f"the {event.side.value} seat at the {table.name}"
    if event.parting is Parting.LOST:
        said = f"{event.player} has lost the connection and {seat}."
    elif event.parting is Parting.QUIT:
        leave = "leave" if event.player == me else "leaves"
        said = f"{does(event.player, me, 'quit')} and {leave} {seat}."
    else:
        said = f"{does(event.player, me, 'leave')} {seat}."
    if not (table.running and table.seats):
        return said
    said += f' The battle waits for somebody to "{Join(event.side, table.name)}".'
    alone = me in table.seats.values()
    return f'{said} You may also "{End(table.name)}" alone.' if alone else said


@_sentence.register
def _(_event: Cleared, table: Table, _me: str | None) -> str:
    rules = table.ruleset.name
    return f"Nobody is left at the {table.name}, so it is set up anew, by the {rules} rules."


@_sentence.register
def _(event: RulesSet, table: Table, me: str | None) -> str:
    return f"{does(event.player, me, 'set')} the rules of the {table.name} to {event.rules}."


@_sentence.register
def _(event: BattleStarted, table: Table, me: str | None) -> str:
    which = "The first battle of a match" if event.number == 1 else "The second battle"
    swapped = "" if event.number == 1 else ", with the seats swapped"
    return (
        f"{which} begins at the {table.name} by the {event.rules} rules{swapped}: "
        f"{does(event.dwarf, me, 'play')} the dwarfs, "
        f"{does(event.troll, me, 'play')} the trolls. {turn(table, me)}"
    )


@_sentence.register
def _(event: Moved, table: Table, me: str | None) -> str:
    said = played(event.move, event.player, me)
    game = table.game
    if game and table.quiet and game.quiet_plies == table.quiet_limit:
        may = f'either player may now say "{End(table.name)}" alone'
        said += f" Nothing was captured for {_quiet(game)}: {may}."
    over = game is not None and game.outcome is not None
    return said if over else f"{said} {turn(table, me)}"


@_sentence.register
def _(event: Offered, table: Table, me: str | None) -> str:
    what = "end the battle" if event.offer is Offer.END else "start over with a new match"
    said = f"{does(event.player, me, 'offer')} to {what}."
    words = OFFER_WORDS[event.offer](table.name)
    if event.player == me:
        side = table.side_of(event.player)
        other = table.seats.get(side.other, "nobody") if side else "nobody"
        return f'{said} {other} agrees by saying "{words}" too; the next move takes it back.'
    return f'{said} To agree, say "{words}"; the next move takes the offer back.' if me else said


@_sentence.register
def _(event: OfferLapsed, _table: Table, _me: str | None) -> str:
    what = "end the battle" if event.offer is Offer.END else "start over"
    return f"The offer to {what} no longer stands."


@_sentence.register
def _(event: BattleEnded, table: Table, me: str | None) -> str:
    match = table.match
    if match is None:
        return "The battle is over."
    if event.outcome.ending is Ending.RESIGNATION:
        why = f"{does(event.player, me, 'resign')} the battle."
    else:
        why = reached(event.outcome, match.game)
    return f"{why} {_result(event.outcome, table, me)} {_match_so_far(table, match, me)}"


def _result(outcome: Outcome, table: Table, me: str | None) -> str:
    score = outcome.score
    sides = ", ".join(
        f"{side.plural} ({_named(table, side, me) if side in table.seats else 'seat free'}) "
        f"{score.of(side)}"
        for side in Side
    )
    if outcome.winner is None:
        return f"The battle is over: {sides}. It is a draw."
    lead = abs(score.dwarf - score.troll)
    return f"The battle is over: {sides}. The {outcome.winner.plural} win by {lead}."


def _match_so_far(table: Table, match: Match, me: str | None) -> str:
    if not match.over:
        return f"The match so far: {points(table, match, me)}. {_next(table)}"
    lead = match.points(Side.DWARF) - match.points(Side.TROLL)
    said = f"The match is over: {points(table, match, me)}."
    if lead == 0:
        return f"{said} It is a draw. {_next(table)}"
    side = Side.DWARF if lead > 0 else Side.TROLL
    player = table.seats.get(side)
    wins = does(player, me, "win") if player else f"the {side.plural} win"
    return f"{said} {capitalised(wins)} the match by {abs(lead)}. {_next(table)}"
