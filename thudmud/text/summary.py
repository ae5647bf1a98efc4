"""A battle by itself, away from any table, drawn with its score.

Owns what `thudmud replay` prints. Must never read a file.
"""

from __future__ import annotations

from thudmud.rules import Ending, Game, Outcome, Side
from thudmud.rules.english import capitalised, counted
from thudmud.text.display import Display
from thudmud.text.grid import GridLayout, grid
from thudmud.text.phrases import reached


def summary(game: Game) -> list[str]:
    """Return the board of ``game``, the score, and how it ended or whose turn it is."""
    last = game.moves[-1] if game.moves else None
    plies = counted(len(game.moves), "ply")
    score = game.score
    return [
        *(row.rstrip() for row in grid(game.position, last, Display(), GridLayout.SPACED)),
        f"{capitalised(game.ruleset.name)} rules, {plies}",
        f"Score: dwarfs {score.dwarf}, trolls {score.troll}; {_lead(game)}.",
        _end(game),
    ]


def _lead(game: Game) -> str:
    difference = game.score.dwarf - game.score.troll
    if difference == 0:
        return "even"
    side = Side.DWARF if difference > 0 else Side.TROLL
    return f"the {side.plural} {'win' if game.outcome else 'lead'} by {abs(difference)}"


def _end(game: Game) -> str:
    if game.outcome is None:
        return f"The {game.position.turn.plural} are to move."
    return f"{_reached(game.outcome, game)} The battle is over."


def _reached(outcome: Outcome, game: Game) -> str:
    if outcome.winner:
        winner, loser = outcome.winner.plural, outcome.winner.other.plural
        if outcome.ending is Ending.RESIGNATION:
            return f"The {loser} have resigned."
        if outcome.ending is Ending.CLAIM:
            return f"The {winner} have claimed it, the {loser} being away."
    return reached(outcome, game)
