"""Tournaments: entry, pairing, standings, and the director that runs them."""

from thudmud.features.tournaments import messages  # noqa: F401  (registers)
from thudmud.features.tournaments.model import TournamentLimits
from thudmud.features.tournaments.reactors import setup
from thudmud.game.feature import Feature, commands_in

FEATURE = Feature(
    "tournaments",
    commands_in(__name__),
    setup,
    configure=lambda hall, known: hall.set_limits(TournamentLimits(**dict(known.tournaments))),
)
