"""Hints: a suggested move, with reasons."""

from thudmud.features.hints import messages  # noqa: F401  (registers)
from thudmud.features.hints.commands import Hint
from thudmud.features.hints.reactors import setup
from thudmud.game.feature import Feature

FEATURE = Feature("hints", (Hint,), setup)
