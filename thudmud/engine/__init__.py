"""The rules of Thud. Pure: no I/O, no clock, no global random; imports nothing of ours."""

from thudmud.engine.attempt import EVERY, Attempt, Every, Verb
from thudmud.engine.move import Move
from thudmud.engine.outcome import Ending, Outcome, Score
from thudmud.engine.pieces import Piece, Side
from thudmud.engine.position import Position
from thudmud.engine.reasons import IllegalMove, Reason
from thudmud.engine.squares import CENTRE, SQUARES, Square

__all__ = [
    "CENTRE",
    "EVERY",
    "SQUARES",
    "Attempt",
    "Ending",
    "Every",
    "IllegalMove",
    "Move",
    "Outcome",
    "Piece",
    "Position",
    "Reason",
    "Score",
    "Side",
    "Square",
    "Verb",
]
