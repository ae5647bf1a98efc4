"""The game itself: boards, seats, moves, offers, questions about a battle, and resuming."""

from thudmud.features.playing import messages, unfinished  # noqa: F401  (register)
from thudmud.game.feature import Feature, commands_in

FEATURE = Feature("playing", commands_in(__name__))
