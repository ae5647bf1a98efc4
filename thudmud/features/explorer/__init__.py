"""The explorer: what has been played from a position in all battles."""

from thudmud.features.explorer import messages
from thudmud.features.explorer.commands import Explore
from thudmud.features.explorer.reactors import setup
from thudmud.game.feature import Feature

__all__ = ["FEATURE", "messages"]

FEATURE = Feature("explorer", (Explore,), setup)
