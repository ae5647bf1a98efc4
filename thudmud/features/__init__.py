"""The features, each a package of its own.

The rest of the program knows features only by this list. Delete a package and its entry here, and
the program works without the feature: its lines in ``grammar/thud.lark`` are skipped.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

import thudmud.game  # noqa: F401  (first, as long as tests/ties.txt has lines of it)

if TYPE_CHECKING:
    from thudmud.game.feature import Feature

NAMES: tuple[str, ...] = (
    "analysis",
    "exercises",
    "explorer",
    "hints",
    "letters",
    "teaching",
    "tv",
)
"""The names of the packages, in the order in which they are set up."""


@cache
def load() -> tuple[Feature, ...]:
    """Import all features, which registers their commands and messages; return them in order."""
    return tuple(import_module(f"thudmud.features.{name}").FEATURE for name in NAMES)


@cache
def load_storage() -> None:
    """Import the ``storage`` modules of features, which registers them with the store."""
    for name in NAMES:
        if find_spec(module := f"thudmud.features.{name}.storage"):
            import_module(module)
