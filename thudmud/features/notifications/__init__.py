"""Notifications for absent members: mail, web push, feeds and calendars."""

from thudmud.features.notifications import messages  # noqa: F401  (registers)
from thudmud.features.notifications.reactors import setup
from thudmud.game.feature import Feature, commands_in

FEATURE = Feature("notifications", commands_in(__name__), setup)
