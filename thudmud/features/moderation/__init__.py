"""Moderation: reports, and what operators do: mute, kick, ban, broadcast, shut down."""

from thudmud.features.moderation import commands, messages
from thudmud.features.moderation.model import take_reports
from thudmud.features.moderation.reactors import setup
from thudmud.features.moderation.shell import USER_ACTIONS
from thudmud.game.feature import Feature

__all__ = ["FEATURE", "messages"]

FEATURE = Feature(
    "moderation",
    (
        commands.FileReport,
        commands.Broadcast,
        commands.Mute,
        commands.Unmute,
        commands.Mutes,
        commands.Kick,
        commands.Ban,
        commands.Unban,
        commands.Bans,
        commands.Reports,
        commands.CloseReport,
        commands.CloseReports,
        commands.StopServer,
        commands.CancelShutdown,
    ),
    setup,
    user_actions=USER_ACTIONS,
    configure=lambda hall, settings: take_reports(hall, settings.players.reports),
)
