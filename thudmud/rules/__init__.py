"""The rules of Thud. Pure: no I/O, no clock, no global random; imports nothing of ours but errors.

A `Game` is a battle: `Game.start` begins one by a `Ruleset`, `Game.push` plays a ply in the
notation of game records, `Game.resolve` makes a `Move` of what a player asks for, or says why not,
and `Game.play` returns the battle after it. All values are frozen, and valid from the moment they
are made; they hash, pickle and print.

Squares have two names. Boards and commands have columns A to O; game records skip the letter I (A
to H, then J to P). ``Square.parse("J7")`` and ``str(square)`` use the boards' names;
``game.push("dK7-K8")``, ``str(move)``, ``print(position)`` and everything named record, setup or
ply use the records'.

Attributes:
    DISCWORLD: the rules as they are played on the Discworld MUD.
    CLASSIC: the rules of the board game.
    KOOM_VALLEY: the rules of the Koom Valley variant.
    DEFAULT_RULES: the rules of a board for which no rules are set.
    RULESETS: the rulesets by name, the default first: ``RULESETS["koom valley"]``.
    SQUARES: the 165 squares of the board, row by row.
    MOST_PLIES: the most plies of a battle, which then ends as it stands.
    CENTRE: the square in the middle, H8.
    EVERY: in place of a list of captures: everything that can be captured.
"""

from thudmud.rules.board import CENTRE, SQUARES, Square
from thudmud.rules.game import MOST_PLIES, Game
from thudmud.rules.moves import EVERY, Attempt, Capturing, Every, Move, Piece, Side, Verb
from thudmud.rules.notation import (
    read_ply,
    read_position,
    read_setup,
    require_possible,
    write_position,
    write_setup,
)
from thudmud.rules.position import Position
from thudmud.rules.records import Comment, Record, RecordError, read_record, write_record
from thudmud.rules.refusals import IllegalMove, Reason
from thudmud.rules.rulesets import (
    CLASSIC,
    DEFAULT_RULES,
    DISCWORLD,
    KOOM_VALLEY,
    RULESETS,
    Ruleset,
    divide,
    perft,
    ruleset_called,
)
from thudmud.rules.scoring import Ending, Outcome, Score

__all__ = [
    "CENTRE",
    "CLASSIC",
    "DEFAULT_RULES",
    "DISCWORLD",
    "EVERY",
    "KOOM_VALLEY",
    "MOST_PLIES",
    "RULESETS",
    "SQUARES",
    "Attempt",
    "Capturing",
    "Comment",
    "Ending",
    "Every",
    "Game",
    "IllegalMove",
    "Move",
    "Outcome",
    "Piece",
    "Position",
    "Reason",
    "Record",
    "RecordError",
    "Ruleset",
    "Score",
    "Side",
    "Square",
    "Verb",
    "divide",
    "perft",
    "read_ply",
    "read_position",
    "read_record",
    "read_setup",
    "require_possible",
    "ruleset_called",
    "write_position",
    "write_record",
    "write_setup",
]
