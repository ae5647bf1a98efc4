"""Imports the commands of features that are not in the list `thudmud.features.NAMES` yet."""

from thudmud.features.moderation import commands as order
from thudmud.features.notifications import commands as notifications
from thudmud.features.tournaments import commands as tournaments

__all__ = [
    "notifications", "order", "tournaments",
]  # fmt: skip
