"""Playing: boards, seats, moves, offers, questions about a battle, and resuming it."""

from thudmud.features.playing import messages
from thudmud.game.feature import Feature, commands_in

__all__ = ["FEATURE", "messages"]

FEATURE = Feature("playing", commands_in(__name__))
