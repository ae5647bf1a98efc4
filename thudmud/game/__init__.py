"""The game server's domain model: commands, events, seats, matches, boards and people.

The package consists of values and the functions that fold events into state. It has no clock, I/O
or parser, and no text for players.

Attributes:
    Command: a player's parsed line. The concrete command classes are in features.
    TableEvent: the base class of all events at a board.
"""

from thudmud.errors import RefusedError
from thudmud.game.archive import LookupNeededError, LookupResults
from thudmud.game.command import Command
from thudmud.game.delivery import Delivery
from thudmud.game.events import Parting, TableEvent
from thudmud.game.hall import Decision, Hall
from thudmud.game.options import Options, Style
from thudmud.game.refusals import Refusal
from thudmud.game.table import BoardSpec, Table

__all__ = [
    "BoardSpec",
    "Command",
    "Decision",
    "Delivery",
    "Hall",
    "LookupNeededError",
    "LookupResults",
    "Options",
    "Parting",
    "Refusal",
    "RefusedError",
    "Style",
    "Table",
    "TableEvent",
]
