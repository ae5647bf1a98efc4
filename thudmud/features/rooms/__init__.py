"""Rooms: looking round, going about, and observing."""

from thudmud.features.rooms import commands, messages
from thudmud.game.feature import Feature, commands_in

__all__ = ["FEATURE", "commands", "messages"]

FEATURE = Feature("rooms", commands_in(__name__))
