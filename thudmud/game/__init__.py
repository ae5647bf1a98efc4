"""Playing: commands, events, seats, matches, and the hall with its boards and people.

Values and their folds. Pure: no clock, disk or parser, and no words for players.

Attributes:
    Command: what a line asks for. The classes of commands are in features.
    TableEvent: anything that can happen at a board.
"""

from thudmud.errors import Refused
from thudmud.game.archive import Found, Unread
from thudmud.game.command import Command
from thudmud.game.events import Parting, TableEvent
from thudmud.game.hall import Decision, Hall
from thudmud.game.options import Options, Style
from thudmud.game.refusals import Refusal
from thudmud.game.table import BoardSpec, Table
from thudmud.game.telling import Telling

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
