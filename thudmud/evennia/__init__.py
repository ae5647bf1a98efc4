"""Thud boards for MUDs that are made with Evennia.

A builder makes one by ``create/drop oak board:thudmud.evennia.ThudBoard``; docs/evennia.md tells
the rest. No other part of thudmud imports Evennia.
"""

from thudmud.evennia.board import ThudBoard, connect
from thudmud.evennia.commands import BoardCmdSet

__all__ = ["BoardCmdSet", "ThudBoard"]

connect()
