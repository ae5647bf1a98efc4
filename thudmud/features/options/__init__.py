"""Options: how a player wants boards and messages."""

from thudmud.features.options import commands, messages
from thudmud.game.feature import Feature, commands_in

__all__ = ["FEATURE", "commands", "messages"]

FEATURE = Feature("options", commands_in(__name__))
