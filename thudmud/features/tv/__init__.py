"""The tv: shows the best battle in progress, and switches to the next one when it ends."""

from thudmud.features.tv import messages  # noqa: F401  (registers)
from thudmud.features.tv.commands import Tv
from thudmud.features.tv.reactors import setup
from thudmud.game.feature import Feature

FEATURE = Feature("tv", (Tv,), setup, synonyms=(("tv", "television telly"),))
