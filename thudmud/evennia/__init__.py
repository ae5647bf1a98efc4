"""Thud boards for MUDs built with Evennia.

A builder creates one by ``create/drop oak board:thudmud.evennia.ThudBoard``; see docs/evennia.md.
No other package of thudmud imports Evennia. This one imports its own modules lazily, because a
MUD's settings import `thudmud.evennia.webclient` before Evennia can be imported.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thudmud.evennia.board import ThudBoard
    from thudmud.evennia.commands import BoardCmdSet

__all__ = ["BoardCmdSet", "ThudBoard"]

_HOMES = {"ThudBoard": "board", "BoardCmdSet": "commands"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
