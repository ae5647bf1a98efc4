"""The features, each a package of its own.

Every server needs some of them. The rest of the program knows the others only by the list `NAMES`.
Delete a package and its entry there, and the program works without the feature: its lines in
``grammar/thud.lark`` are skipped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thudmud.game.feature import Feature

NEEDED: tuple[str, ...] = (
    "talk",
    "options",
    "playing",
    "archive",
    "matchmaking",
    "people",
    "rooms",
)
"""The names of the features that every server needs. Each may import those before it."""

NAMES: tuple[str, ...] = (
    "analysis",
    "exercises",
    "explorer",
    "hints",
    "letters",
    "moderation",
    "notifications",
    "teaching",
    "tournaments",
    "tv",
)
"""The names of the features that may be left out, in the order in which they are set up."""


@cache
def load() -> tuple[Feature, ...]:
    """Import all features, which registers their commands and messages; return them in order."""
    names = (*NEEDED, *NAMES)
    return tuple(import_module(f"thudmud.features.{name}").FEATURE for name in names)


def left_out(without: Collection[str]) -> tuple[Feature, ...]:
    """Return the features that are left out by some names, which may be those of verbs as well."""
    return tuple(each for each in load() if each.name in NAMES and each.name in without)


def modules(name: str, without: Collection[str] = ()) -> Iterator[Any]:
    """Import and yield the modules of a name that features have, in order.

    Args:
        name: the module's name: ``storage`` registers functions with the store, ``settings`` has
            the ``SECTIONS`` of a configuration, ``serving`` what a server does besides.
        without: the names of features that are left out.
    """
    for feature in NAMES:
        if feature not in without and find_spec(module := f"thudmud.features.{feature}.{name}"):
            yield import_module(module)


@cache
def load_storage() -> None:
    """Import the ``storage`` modules of features, which registers them with the store."""
    for _ in modules("storage"):
        pass
