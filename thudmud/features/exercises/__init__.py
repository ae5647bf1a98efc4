"""Exercises: the lessons of the tutorial, and puzzles."""

from thudmud.features.exercises import messages
from thudmud.features.exercises.commands import Lessons, TryPuzzle, Tutorial
from thudmud.game.feature import Feature

__all__ = ["FEATURE", "messages"]

FEATURE = Feature("exercises", (Tutorial, Lessons, TryPuzzle))
