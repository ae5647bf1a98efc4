"""Options: players' preferences for the display of boards and messages."""

from thudmud.features.options import commands, messages  # noqa: F401  (registers)
from thudmud.game.feature import Feature, commands_in

FEATURE = Feature("options", commands_in(__name__))
