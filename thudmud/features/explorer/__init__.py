"""The opening explorer: statistics of the plies played from a position in all battles."""

from thudmud.features.explorer import messages  # noqa: F401  (registers)
from thudmud.features.explorer.commands import Explore
from thudmud.features.explorer.reactors import setup
from thudmud.game.feature import Feature

FEATURE = Feature("explorer", (Explore,), setup)
