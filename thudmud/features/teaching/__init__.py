"""Teaching: explains to newcomers how to move, when it is their turn for the first time."""

from thudmud.features.teaching import messages
from thudmud.features.teaching.reactors import setup
from thudmud.game.feature import Feature

__all__ = ["FEATURE", "messages"]

FEATURE = Feature("teaching", (), setup)
