"""A battle as it stood after any of its plies.

Owns the way there, which is short from a ply next to it. Must never keep anything.
"""

from __future__ import annotations

from thudmud.engine import Game


def after(game: Game, ply: int, near: Game | None = None) -> Game:
    """Return a battle as it stood after so many of its plies; all of them is as it stands.

    Args:
        game: the battle.
        ply: how many plies.
        near: the same battle as it stood after some others, to go on from.
    """
    if ply == len(game.moves):
        return game
    then = near
    if then is None or abs(len(then.moves) - ply) > ply:
        then = Game.start(game.ruleset, game.opening)
    while len(then.moves) > ply:
        then = then.undo()
    for move in game.moves[len(then.moves) : ply]:
        then = then.play(move)
    return then
