"""The tv: it shows a player the best battle under way, and another one when that ends."""

from thudmud.features.tv import messages
from thudmud.features.tv.commands import Tv
from thudmud.features.tv.reactors import react
from thudmud.play.feature import Feature

__all__ = ["FEATURE", "messages"]

FEATURE = Feature("tv", (Tv,), react, synonyms=(("tv", "television telly"),))
