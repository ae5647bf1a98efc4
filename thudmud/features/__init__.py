"""The features: one package for each thing that players can do.

Every server needs those of `NEEDED`. The rest of the program knows the others only by the list
`NAMES`. If a package and its entry there are deleted, the program works without the feature: the
lines of ``grammar/thud.lark`` that bear its name are skipped.
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
"""Features that every server needs. A feature may import those before it."""

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
    "variations",
)
"""Optional features, in the order in which they are set up."""


@cache
def load() -> tuple[Feature, ...]:
    """Import all features, in order; the import registers their commands and messages."""
    names = (*NEEDED, *NAMES)
    return tuple(import_module(f"thudmud.features.{name}").FEATURE for name in names)


def left_out(without: Collection[str]) -> tuple[Feature, ...]:
    """Return the optional features among the names given; names of verbs are ignored."""
    return tuple(each for each in load() if each.name in NAMES and each.name in without)


def modules(name: str, without: Collection[str] = ()) -> Iterator[Any]:
    """Import and yield the modules of one name from the optional features, in order.

    Args:
        name: the module's name: ``storage`` registers functions with the store, ``settings`` has
            the ``SECTIONS`` of the configuration, ``serving`` has what only a server does, such as
            pages, and ``diagnosis`` checks what that needs.
        without: names of features to skip.
    """
    for feature in NAMES:
        if feature not in without and find_spec(module := f"thudmud.features.{feature}.{name}"):
            yield import_module(module)


@cache
def load_storage() -> None:
    """Import the ``storage`` modules of features, which register themselves with the store."""
    for _ in modules("storage"):
        pass
