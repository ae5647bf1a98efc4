"""Talk: to a room, to one player, and about a battle."""

from thudmud.features.talk import commands, messages
from thudmud.game.feature import Feature, commands_in

__all__ = ["FEATURE", "commands", "messages"]

FEATURE = Feature("talk", commands_in(__name__))
