"""The verbs that players can use, a module for each family, and what each decides.

Pure: decisions change nothing. `thudmud.game.decisions.decide` decides a command.

Attributes:
    VERBS: by the name of a grammar rule, what makes a command of its parts.
"""

from thudmud.features.archive import commands as archive
from thudmud.features.matchmaking import commands as matchmaking
from thudmud.features.moderation import commands as order
from thudmud.features.notifications import commands as notifications
from thudmud.features.options import commands as options
from thudmud.features.people import commands as people
from thudmud.features.playing import moves, queries, resuming, seats, setup
from thudmud.features.rooms import commands as rooms
from thudmud.features.talk import commands as talk
from thudmud.features.tournaments import commands as tournaments
from thudmud.game import more
from thudmud.game.command import VERBS

__all__ = [
    "VERBS", "archive", "matchmaking", "more", "moves", "notifications",
    "options", "order", "people", "queries", "resuming", "rooms", "seats", "setup", "talk",
    "tournaments",
]  # fmt: skip
