"""Notifications: mail, web push, feeds and calendars for members while they are not here."""

from thudmud.features.notifications import messages
from thudmud.features.notifications.reactors import setup
from thudmud.game.feature import Feature, commands_in

__all__ = ["FEATURE", "messages"]

FEATURE = Feature("notifications", commands_in(__name__), setup)
