"""What people do with the rules: commands, seats, turns, matches, and the hall the boards stand in.

Values and their folds. Pure: no clock, no disk, no parser, and no words for players.

Attributes:
    Command: what a line asks for; each kind is a class of its own in `thudmud.verbs`.
    TableEvent: what can happen at a board, one class for each kind of thing.
"""

from thudmud.errors import Refused
from thudmud.play.archive import Found, Unread
from thudmud.play.command import Command
from thudmud.play.events import Parting, TableEvent
from thudmud.play.hall import Decision, Hall
from thudmud.play.options import Options, Style
from thudmud.play.refusals import Refusal
from thudmud.play.table import BoardSpec, Table
from thudmud.play.telling import Telling

__all__ = [
    "BoardSpec",
    "Command",
    "Decision",
    "Found",
    "Hall",
    "Options",
    "Parting",
    "Refusal",
    "Refused",
    "Style",
    "Table",
    "TableEvent",
    "Telling",
    "Unread",
]
