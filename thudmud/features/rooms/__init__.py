"""Rooms: looking around, walking, and observing boards."""

from thudmud.features.rooms import commands, messages  # noqa: F401  (registers)
from thudmud.game.feature import Feature, commands_in

FEATURE = Feature("rooms", commands_in(__name__))
