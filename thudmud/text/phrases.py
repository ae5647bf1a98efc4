"""What several sentences have in common: whose turn it is, what comes next, how a ply reads.

Owns those phrases. Must never know which event they are told for.
"""

from __future__ import annotations

from thudmud.play.commands import Start
from thudmud.play.match import Match
from thudmud.play.meaning import listed
from thudmud.play.table import Table
from thudmud.rules import Ending, Game, Move, Outcome, Piece, Side, Verb
from thudmud.rules.board import Direction
from thudmud.rules.english import counted, does
from thudmud.views.refusals import free_seat, who_sits

ENDINGS = {
    Ending.AGREEMENT: "Both players agree to end the battle.",
    Ending.QUIET: "Nothing was captured for {plies}.",
    Ending.DESERTION: "There is nobody to play on against.",
    Ending.ROCK_ESCAPED: "The Rock is home.",
    Ending.ROCK_CAPTURED: "Three trolls stand next to the Rock.",
}

COMPASS = {
    "north": Direction(0, -1),
    "northeast": Direction(1, -1),
    "east": Direction(1, 0),
    "southeast": Direction(1, 1),
    "south": Direction(0, 1),
    "southwest": Direction(-1, 1),
    "west": Direction(-1, 0),
    "northwest": Direction(-1, -1),
}
"""The directions by name, clockwise; north is towards row 1, whichever way a board is drawn."""


def game_at(table: Table) -> Game:
    """Return the battle on the board; before the first, one as it would begin."""
    return table.game or Game.start(table.ruleset)


def turn(table: Table, me: str | None) -> str:
    """Return whose turn it is; nothing when no battle is being played."""
    if not table.running or table.game is None:
        return ""
    side = table.game.position.turn
    player = table.seats.get(side)
    if player is None:
        return f"It is the {side.plural}' turn; their seat is free."
    if player == me:
        return "It is your turn."
    away = f"; {player} is away" if side in table.away else ""
    return f"It is {player}'s turn ({side.plural}){away}."


def waiting(table: Table, me: str | None) -> str:
    """Return what could be done at a table where no battle is being played."""
    sits = who_sits(table.name, table.seating, me)
    return f"{sits} {next_step(table)}" if table.full else sits


def next_step(table: Table) -> str:
    """Return how to go on when a battle is over or none has begun."""
    if not table.full:
        return free_seat(table.name, table.seating)
    battle = "battle"
    if table.match:
        battle = "second battle, with the seats swapped" if table.half_played else "next match"
    begins = f'"{Start(table.name)}" begins the {battle}.'
    away = [table.seats[side] for side in table.away]
    if not away:
        return begins
    return f"When {listed(away)} {'is' if len(away) == 1 else 'are'} back, {begins}"


def points(table: Table, match: Match, me: str | None) -> str:
    """Return the points of the match so far by name, such as "you 31, Bert 24"."""
    return ", ".join(f"{named(table, side, me)} {match.points(side)}" for side in Side)


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


def last_ply(table: Table, me: str | None) -> str:
    """Return the last ply of the battle on the board, with its number, as a sentence."""
    match = table.match
    if match is None:
        return "No battle has begun."
    moves = match.game.moves
    if not moves:
        return "No ply has been played yet."
    who = match.troll if match.game.position.turn is Side.DWARF else match.dwarf
    return f"Ply {len(moves)}: {played(moves[-1], who, me)}"


def named(table: Table, side: Side, me: str | None) -> str:
    """Return who plays ``side``, as within a sentence."""
    player = table.seats.get(side, "the free seat")
    return "you" if player == me else player


def quiet_for(game: Game) -> str:
    """Return for how long nothing has been captured."""
    return counted(game.quiet_plies, "ply")


def reached(outcome: Outcome, game: Game) -> str:
    """Return how the battle ``game`` came to its ``outcome``; not for one that was resigned."""
    if outcome.ending is Ending.NO_MOVE:
        return f"The {game.position.turn.plural} have no move."
    return ENDINGS[outcome.ending].format(plies=quiet_for(game))
