"""The tv: shows a player the best battle in progress, and the next one when it ends."""

from thudmud.features.tv import messages
from thudmud.features.tv.commands import Tv
from thudmud.features.tv.reactors import setup
from thudmud.game.feature import Feature

__all__ = ["FEATURE", "messages"]

FEATURE = Feature("tv", (Tv,), setup, synonyms=(("tv", "television telly"),))
