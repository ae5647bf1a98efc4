"""The rules of Thud. Pure: no I/O, clock or global randomness, and no other package of thudmud.

A `Game` is a battle. `Game.start` begins one under a `Ruleset`, and `Game.push` plays a ply in the
notation of game records. `Game.resolve` turns a player's `Attempt` into a `Move` or explains the
refusal; `Game.play` returns the battle after a move. All values are frozen and valid from
construction on; they hash, pickle and print.

Squares have two names. Boards and commands have columns A to O; game records skip the letter I (A
to H, then J to P). ``Square.parse("J7")`` and ``str(square)`` use the names on boards.
``game.push("dK7-K8")``, ``str(move)``, ``print(position)`` and everything named record, setup or
ply use those of records.

Attributes:
    DISCWORLD: the rules as played on the Discworld MUD.
    CLASSIC: the rules of the board game.
    KOOM_VALLEY: the rules of the Koom Valley variant.
    DEFAULT_RULES: the rules of a board without rules of its own.
    RULESETS: the rulesets by name, the default first: ``RULESETS["koom valley"]``.
    SQUARES: the 165 squares of the board, row by row.
    MOST_PLIES: the maximum number of plies; a longer battle ends there with the current position.
    CENTRE: the square in the middle, H8.
    EVERY: stands for all possible captures, in place of a list.
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
from thudmud.rules.records import (
    Comment,
    Record,
    RecordError,
    read_record,
    read_records,
    write_record,
)
from thudmud.rules.refusals import IllegalMoveError, Reason
from thudmud.rules.rulesets import (
    CLASSIC,
    DEFAULT_RULES,
    DISCWORLD,
    KOOM_VALLEY,
    RULESETS,
    Ruleset,
    divide,
    find_ruleset,
    perft,
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
    "IllegalMoveError",
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
    "find_ruleset",
    "perft",
    "read_ply",
    "read_position",
    "read_record",
    "read_records",
    "read_setup",
    "require_possible",
    "write_position",
    "write_record",
    "write_setup",
]
