"""The game server's domain model: commands, events, seats, matches, boards and people.

The package consists of values and the functions that fold events into state. It has no clock, I/O
or parser, and no text for players.

Attributes:
    Command: a player's parsed line. The concrete command classes are in features.
    TableEvent: the base class of all events at a board.
"""

from thudmud.errors import RefusedError
from thudmud.game.archive import (
    AdjournedLookup,
    BattleLookup,
    HistoryLookup,
    LetterCountLookup,
    Lookup,
    LookupNeededError,
    LookupResults,
    MemberLookup,
    ScoreLookup,
    ScoresLookup,
    StandingsLookup,
)
from thudmud.game.asides import Aside, ToAnother, aside
from thudmud.game.command import Command, CommandContext
from thudmud.game.delivery import Delivery
from thudmud.game.events import Parting, TableEvent
from thudmud.game.hall import Decision, Hall, applies
from thudmud.game.options import Options, Style
from thudmud.game.refusals import Refusal
from thudmud.game.resolution import resolve_board, resolve_player
from thudmud.game.table import BoardSpec, Table

__all__ = [
    "AdjournedLookup",
    "Aside",
    "BattleLookup",
    "BoardSpec",
    "Command",
    "CommandContext",
    "Decision",
    "Delivery",
    "Hall",
    "HistoryLookup",
    "LetterCountLookup",
    "Lookup",
    "LookupNeededError",
    "LookupResults",
    "MemberLookup",
    "Options",
    "Parting",
    "Refusal",
    "RefusedError",
    "ScoreLookup",
    "ScoresLookup",
    "StandingsLookup",
    "Style",
    "Table",
    "TableEvent",
    "ToAnother",
    "applies",
    "aside",
    "resolve_board",
    "resolve_player",
]
