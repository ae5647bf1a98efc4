"""Seats, turns, agreements, matches, and the hall the boards stand in. Pure.

Attributes:
    TableEvent: something that happened at a board, any of those in ``thudmud.tables.events``.
"""

from thudmud.tables.events import Parting, TableEvent
from thudmud.tables.hall import Hall, Unread
from thudmud.tables.hall_decisions import decide
from thudmud.tables.outcome import Decision, Telling
from thudmud.tables.presence import arrive, part
from thudmud.tables.refusals import Refusal, Refused
from thudmud.tables.table import BoardSpec, Table

__all__ = [
    "BoardSpec",
    "Decision",
    "Hall",
    "Parting",
    "Refusal",
    "Refused",
    "Table",
    "TableEvent",
    "Telling",
    "Unread",
    "arrive",
    "decide",
    "part",
]
