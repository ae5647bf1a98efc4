"""People: the players online, profiles and plans, following and ignoring."""

from thudmud.features.people import commands, messages  # noqa: F401  (registers)
from thudmud.game.feature import Feature, commands_in

FEATURE = Feature("people", commands_in(__name__))
