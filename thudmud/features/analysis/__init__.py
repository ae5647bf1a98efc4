"""Analyses of battles: what each ply was worth, and what would have been better."""

from thudmud.features.analysis import messages
from thudmud.features.analysis.commands import Analyse, CancelAnalysis
from thudmud.features.analysis.model import AnalysisLimits
from thudmud.features.analysis.reactors import setup
from thudmud.game.feature import Feature

__all__ = ["FEATURE", "messages"]

FEATURE = Feature(
    "analysis",
    (Analyse, CancelAnalysis),
    setup,
    configure=lambda hall, known: hall.limit(AnalysisLimits(known.players.analyses_per_address)),
)
