"""The features: what players can do, each in a folder of its own.

This list is all that the rest of the program knows of them. A folder and its line can be taken out,
and then nothing is left of the feature: what belongs to it in ``grammar/thud.lark`` is dropped as
that is read.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thudmud.play.feature import Feature

NAMES: tuple[str, ...] = ("tv",)
"""The names of their folders, in the order in which they come to know what has happened."""


@cache
def load() -> tuple[Feature, ...]:
    """Import all features, which registers what belongs to them, and return them in order."""
    return tuple(import_module(f"thudmud.features.{name}").FEATURE for name in NAMES)
