"""The rules of Thud. Pure: no I/O, no clock, no global random; imports nothing of ours.

A `Game` is a battle: `Game.start` begins one by a `Ruleset`, `Game.resolve` makes a `Move` of what
a player asks for, or says why not, and `Game.play` returns the battle after it. All values are
frozen.

Attributes:
    DISCWORLD: the rules as they are played on the Discworld MUD.
    CLASSIC: the rules of the board game.
    KOOM_VALLEY: the rules of the Koom Valley variant.
    RULESETS: the rulesets by name, the default first.
    SQUARES: the 165 squares of the board, row by row.
    CENTRE: the square in the middle, H8.
    EVERY: said in place of a list of captures: everything that can be captured.
"""

from thudmud.engine.attempt import EVERY, Attempt, Every, Verb
from thudmud.engine.game import Game
from thudmud.engine.move import Move
from thudmud.engine.outcome import Ending, Outcome, Score
from thudmud.engine.perft import divide, perft
from thudmud.engine.pieces import Piece, Side
from thudmud.engine.position import Position
from thudmud.engine.reasons import IllegalMove, Reason
from thudmud.engine.record import (
    RecordError,
    read_ply,
    read_record,
    read_setup,
    write_ply,
    write_record,
    write_setup,
)
from thudmud.engine.rulesets import CLASSIC, DISCWORLD, KOOM_VALLEY, RULESETS, Ruleset
from thudmud.engine.squares import CENTRE, SQUARES, Square

__all__ = [
    "CENTRE",
    "CLASSIC",
    "DISCWORLD",
    "EVERY",
    "KOOM_VALLEY",
    "RULESETS",
    "SQUARES",
    "Attempt",
    "Ending",
    "Every",
    "Game",
    "IllegalMove",
    "Move",
    "Outcome",
    "Piece",
    "Position",
    "Reason",
    "RecordError",
    "Ruleset",
    "Score",
    "Side",
    "Square",
    "Verb",
    "divide",
    "perft",
    "read_ply",
    "read_record",
    "read_setup",
    "write_ply",
    "write_record",
    "write_setup",
]
