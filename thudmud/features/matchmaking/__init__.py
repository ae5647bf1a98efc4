"""Matchmaking: invitations, challenges and seeks."""

from thudmud.features.matchmaking import commands, messages
from thudmud.features.matchmaking.reactors import Seeking
from thudmud.game.feature import Feature, commands_in

__all__ = ["FEATURE", "commands", "messages"]

FEATURE = Feature("matchmaking", commands_in(__name__), Seeking)
