"""Analysis of finished battles: an evaluation of each position, and the mistakes of both sides."""

from thudmud.features.analysis import messages  # noqa: F401  (registers)
from thudmud.features.analysis.commands import Analyse, CancelAnalysis
from thudmud.features.analysis.model import AnalysisLimits
from thudmud.features.analysis.reactors import setup
from thudmud.game.feature import Feature

FEATURE = Feature(
    "analysis",
    (Analyse, CancelAnalysis),
    setup,
    configure=lambda hall, known: hall.set_limits(
        AnalysisLimits(known.players.analyses_per_address)
    ),
)
