"""Tournaments: entering, pairing, standings, and the director, which lets them go on."""

from thudmud.features.tournaments import messages
from thudmud.features.tournaments.commands import COMMANDS
from thudmud.features.tournaments.model import TournamentLimits
from thudmud.features.tournaments.reactors import setup
from thudmud.game.feature import Feature

__all__ = ["FEATURE", "messages"]

FEATURE = Feature(
    "tournaments",
    COMMANDS,
    setup,
    configure=lambda hall, known: hall.limit(TournamentLimits(**dict(known.tournaments))),
)
