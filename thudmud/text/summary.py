"""A battle by itself, away from any table, drawn with its score.

Owns what `thudmud replay` prints. Must never read a file.
"""

from __future__ import annotations

from thudmud.engine import Game, Side
from thudmud.engine.english import counted
from thudmud.text.board import grid


def summary(game: Game) -> list[str]:
    """Return the board of ``game``, the score, and how it ended or whose turn it is."""
    last = game.moves[-1] if game.moves else None
    plies = counted(len(game.moves), "ply")
    score = game.score
    return [
        *grid(game.position, last),
        f"{game.ruleset.title} rules, {plies}",
        f"Score: dwarfs {score.dwarf}, trolls {score.troll}; {_lead(score.dwarf - score.troll)}.",
        _end(game),
    ]


def _lead(difference: int) -> str:
    if difference == 0:
        return "even"
    side = Side.DWARF if difference > 0 else Side.TROLL
    return f"the {side.plural} lead by {abs(difference)}"


def _end(game: Game) -> str:
    if game.outcome is None:
        return f"The {game.position.turn.plural} are to move."
    winner = game.outcome.winner
    result = f"the {winner.plural} have won" if winner else "it is a draw"
    return f"The battle is over ({game.outcome.ending.value}): {result}."
