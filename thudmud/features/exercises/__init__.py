"""Exercises: the tutorial's lessons, and puzzles."""

from thudmud.features.exercises import messages  # noqa: F401  (registers)
from thudmud.features.exercises.commands import Lessons, TryPuzzle, Tutorial
from thudmud.features.exercises.reactors import setup
from thudmud.game.feature import Feature

FEATURE = Feature("exercises", (Tutorial, Lessons, TryPuzzle), setup)
