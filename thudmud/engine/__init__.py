"""The rules of Thud. Pure: no I/O, no clock, no global random; imports nothing of ours."""

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
