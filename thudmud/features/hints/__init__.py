"""Hints: a move that a player might play, and why."""

from thudmud.features.hints import messages
from thudmud.features.hints.commands import Hint
from thudmud.features.hints.reactors import setup
from thudmud.game.feature import Feature

__all__ = ["FEATURE", "messages"]

FEATURE = Feature("hints", (Hint,), setup)
