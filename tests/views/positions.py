"""Positions and tables for tests, from a compact notation."""

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
    """Return a battle at a position such as "dA6 TB7", written as piece letters and squares."""
    placed = {Square.parse(each[1:]): KINDS[each[0]] for each in pieces.split()}
    return Game.start(ruleset, Position.of(placed, turn))


def table_with(game: Game) -> Table:
    """Return a board at which Anna plays the dwarfs and Bert the trolls."""
    match = Match(game, BattleId("oak board", 1), "Anna", "Bert")
    seats = MappingProxyType({Side.DWARF: "Anna", Side.TROLL: "Bert"})
    set_up = Table.set_up(BoardSpec("oak board", game.ruleset.name), 0)
    return replace(set_up, match=match, seats=seats)


def played_at_random(ruleset: Ruleset, random: Random, plies: int) -> Game:
    """Return a random battle of `plies` plies, or fewer if it ends; it prefers captures."""
    game = Game.start(ruleset)
    for _ in range(plies):
        moves = game.legal_moves()
        if not moves:
            break
        captures = [move for move in moves if move.captures]
        game = game.play(random.choice(captures if captures and random.random() < 0.3 else moves))
    return game
