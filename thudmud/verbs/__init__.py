"""Imports the commands of features that are not in the list `thudmud.features.NAMES` yet."""

from thudmud.features.moderation import commands as order

__all__ = [
    "order",
]  # fmt: skip
