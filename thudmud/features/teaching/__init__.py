"""Teaching: explains to newcomers how to move, when it is their turn for the first time."""

from thudmud.features.teaching import messages  # noqa: F401  (registers)
from thudmud.features.teaching.reactors import setup
from thudmud.game.feature import Feature

FEATURE = Feature("teaching", (), setup)
