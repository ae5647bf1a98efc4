"""Values: frozen structures that compare, hash and print by their fields."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, TypeVar, dataclass_transform

from msgspec import Struct, field, structs

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Value(Struct, frozen=True):
    """The base of values.

    Annotations in the body of a derived class are its fields, behind those of its bases; they are
    given by position or by name.

    Attributes:
        SECRETS: the fields that ``repr`` leaves out, so that no log has them.
    """

    SECRETS: ClassVar[frozenset[str]] = frozenset()

    def __repr__(self) -> str:
        shown = [each for each in self.__struct_fields__ if each not in self.SECRETS]
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{type(self).__qualname__}({told})"


class ArrayValue(Value, array_like=True, forbid_unknown_fields=True):
    """The base of values that are written as arrays of their fields, in order.

    Last fields that have defaults may be missing in what is read: an earlier version of a class did
    not have them.
    """


@cache
def defaults_of(kind: type[Value]) -> Mapping[str, Any]:
    """Return the defaults of the fields that have one, by name."""
    return {each.name: each.default for each in structs.fields(kind) if not each.required}


def replace(value: T, **changes: Any) -> T:
    """Return a value, or a dataclass, with other fields, as `copy.replace` does from Python 3.13.

    Raises:
        InvalidValueError: there is no such value.
        TypeError: it has no such field.
    """
    if isinstance(value, Struct):
        return structs.replace(value, **changes)
    return dataclasses.replace(value, **changes)  # type: ignore[type-var]  # it has to be one
