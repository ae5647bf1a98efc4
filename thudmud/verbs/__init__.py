"""Imports the commands of features that are not in the list `thudmud.features.NAMES` yet."""

from thudmud.features.moderation import commands as order
from thudmud.features.notifications import commands as notifications

__all__ = [
    "notifications", "order",
]  # fmt: skip
