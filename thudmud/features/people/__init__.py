"""People: who is here, what is known about them, and following and ignoring them."""

from thudmud.features.people import commands, messages
from thudmud.game.feature import Feature, commands_in

__all__ = ["FEATURE", "commands", "messages"]

FEATURE = Feature("people", commands_in(__name__))
