"""Values: frozen dataclasses, whose classes are made in half the time.

There are hundreds, and `dataclass` compiles six methods for each, which takes most of the time of
loading thudmud. Three of them are the same for all classes, apart from the names of fields.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(kind: type[T]) -> type[T]:
    """Decorate a class as ``@dataclass(frozen=True, slots=True)`` does."""
    made = dataclass(frozen=True, slots=True, eq=False, repr=False)(kind)
    own = vars(kind)
    shown = tuple(each.name for each in fields(made) if each.repr)  # type: ignore[arg-type]
    compared = tuple(each.name for each in fields(made) if each.compare)  # type: ignore[arg-type]
    key = _key(compared)
    if "__eq__" not in own:
        made.__eq__ = _equal(key)  # type: ignore[method-assign]
    if own.get("__hash__") is None:
        made.__hash__ = _hashed(key)  # type: ignore[method-assign, assignment]
    if "__repr__" not in own:
        made.__repr__ = _represented(shown)  # type: ignore[method-assign]
    return made


def _key(names: tuple[str, ...]) -> Callable[[Any], object]:
    return attrgetter(*names) if names else type


def _equal(key: Callable[[Any], object]) -> Callable[[Any, object], bool]:
    def equal(self: Any, other: object) -> bool:
        return key(self) == key(other) if type(other) is type(self) else NotImplemented

    return equal


def _hashed(key: Callable[[Any], object]) -> Callable[[Any], int]:
    def hashed(self: Any) -> int:
        return hash(key(self))

    return hashed


def _represented(names: tuple[str, ...]) -> Callable[[Any], str]:
    def represented(self: Any) -> str:
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({told})"

    return represented
