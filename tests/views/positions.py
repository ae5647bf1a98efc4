"""Boards to ask about, written down briefly."""

from __future__ import annotations

from random import Random
from types import MappingProxyType

from thudmud.game.events import BattleId
from thudmud.game.match import Match
from thudmud.game.table import BoardSpec, Table
from thudmud.rules import Game, Piece, Position, Ruleset, Side, Square
from thudmud.values import replace

KINDS = {piece.value: piece for piece in Piece}


def game_of(ruleset: Ruleset, turn: Side, pieces: str) -> Game:
    """Return a battle that stands like "dA6 TB7": letters of pieces, and their squares."""
    placed = {Square.parse(each[1:]): KINDS[each[0]] for each in pieces.split()}
    return Game.start(ruleset, Position.of(placed, turn))


def table_with(game: Game) -> Table:
    """Return a board at which Anna, the dwarfs, and Bert play a battle."""
    match = Match(game, BattleId("oak board", 1), "Anna", "Bert")
    seats = MappingProxyType({Side.DWARF: "Anna", Side.TROLL: "Bert"})
    set_up = Table.set_up(BoardSpec("oak board", game.ruleset.name), 0)
    return replace(set_up, match=match, seats=seats)


def played_at_random(ruleset: Ruleset, random: Random, plies: int) -> Game:
    """Return a battle after so many plies, or fewer if it ends; captures are preferred."""
    game = Game.start(ruleset)
    for _ in range(plies):
        moves = game.legal_moves()
        if not moves:
            break
        captures = [move for move in moves if move.captures]
        game = game.play(random.choice(captures if captures and random.random() < 0.3 else moves))
    return game
