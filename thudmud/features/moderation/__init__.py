"""Moderation: reports by players, and the operators' commands to mute, kick, ban and shut down."""

from thudmud.features.moderation import commands, messages  # noqa: F401  (registers)
from thudmud.features.moderation.model import configure_reports
from thudmud.features.moderation.reactors import setup
from thudmud.features.moderation.shell import USER_ACTIONS
from thudmud.game.feature import Feature, commands_in

FEATURE = Feature(
    "moderation",
    commands_in(__name__),
    setup,
    user_actions=USER_ACTIONS,
    configure=lambda hall, settings: configure_reports(hall, settings.players.reports),
)
