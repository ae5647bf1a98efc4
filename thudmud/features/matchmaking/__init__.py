"""Matchmaking: invitations, challenges and seeks."""

from thudmud.features.matchmaking import commands, messages  # noqa: F401  (registers)
from thudmud.features.matchmaking.reactors import Seeking
from thudmud.game.feature import Feature, commands_in

FEATURE = Feature("matchmaking", commands_in(__name__), Seeking)
