"""In the place of the real one: what it is given is left as it is."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def typechecked(checked: T) -> T:
    return checked
