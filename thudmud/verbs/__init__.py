"""The verbs that players can use, a module for each family, and what each decides.

Pure: decisions change nothing. `thudmud.game.decisions.decide` decides a command.

Attributes:
    VERBS: by the name of a grammar rule, what makes a command of its parts.
"""

from thudmud.game import more
from thudmud.game.command import VERBS
from thudmud.verbs import (
    archive,
    exercises,
    letters,
    matchmaking,
    moves,
    notifications,
    options,
    order,
    people,
    queries,
    resuming,
    rooms,
    seats,
    setup,
    talk,
    tournaments,
)

__all__ = [
    "VERBS", "archive", "exercises", "letters", "matchmaking", "more", "moves", "notifications",
    "options", "order", "people", "queries", "resuming", "rooms", "seats", "setup", "talk",
    "tournaments",
]  # fmt: skip
