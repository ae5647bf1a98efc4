"""Variations: other moves from a position of a finished battle, their evaluation, and play on."""

from thudmud.features.variations import messages  # noqa: F401  (registers)
from thudmud.features.variations.commands import Evaluate, Retry, ViewVariation
from thudmud.features.variations.reactors import setup
from thudmud.game.feature import Feature

FEATURE = Feature("variations", (ViewVariation, Evaluate, Retry), setup)
