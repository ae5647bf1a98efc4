"""Teaching: an explanation of how to move, for newcomers on their first turn."""

from thudmud.features.teaching import messages  # noqa: F401  (registers)
from thudmud.features.teaching.reactors import setup
from thudmud.game.feature import Feature

FEATURE = Feature("teaching", (), setup)
