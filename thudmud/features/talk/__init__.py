"""Talk: to a room, to one player, and about a battle."""

from thudmud.features.talk import commands, messages  # noqa: F401  (registers)
from thudmud.game.feature import Feature, commands_in

FEATURE = Feature("talk", commands_in(__name__))
