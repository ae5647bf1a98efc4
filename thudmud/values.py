"""Base classes for immutable values, built on msgspec structures.

A value is compared, hashed and printed by its fields. It is a structure because a dataclass takes
500 µs to define, a structure 10, and the program has hundreds (see ``docs/libraries.md``). Boards,
matches and moves stay dataclasses: they compute fields that aren't compared, which structures
can't.

What a structure checks, and when:

- The constructor doesn't check types. Only ``__post_init__`` rejects values, by raising
  `InvalidValueError`.
- ``__post_init__`` also runs in `replace`, `copy.deepcopy`, unpickling and `msgspec.convert`. It
  doesn't run in `copy.copy`, on which `thudmud.store.codec.stamped` relies.
- `msgspec.convert` checks types as well. It turns an `InvalidValueError` into a
  `msgspec.ValidationError`, with the original as ``__cause__``.

Values are equal only if their classes are the same: a subclass with equal fields isn't equal. They
have no order and no ``__dict__``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cache
from itertools import repeat
from typing import Any, ClassVar, TypeVar, dataclass_transform

from msgspec import Struct, field, structs

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Value(Struct, frozen=True):
    """Base class of immutable values.

    Annotations in the body of a subclass declare its fields, after the inherited ones. The
    constructor accepts fields by position or by name.

    Attributes:
        SECRETS: names of fields that ``repr`` omits, so that they don't end up in logs.
    """

    SECRETS: ClassVar[frozenset[str]] = frozenset()

    def __repr__(self) -> str:
        shown = [each for each in self.__struct_fields__ if each not in self.SECRETS]
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{type(self).__qualname__}({told})"


class ArrayValue(Value, array_like=True, forbid_unknown_fields=True):
    """Base class of values that are serialised as arrays of their fields, in order.

    Trailing fields with defaults may be missing from the input: an earlier version of the class may
    have written it.
    """


@cache
def defaults_of(kind: type[Value]) -> Mapping[str, Any]:
    """Return the default values of a class's optional fields, by field name."""
    return {each.name: each.default for each in structs.fields(kind) if not each.required}


def replace(value: T, **changes: Any) -> T:
    """Return a copy of a value or dataclass with changed fields, like Python 3.13's `copy.replace`.

    Raises:
        InvalidValueError: ``__post_init__`` rejects the new fields.
        TypeError: the class has no field of that name.
    """
    if isinstance(value, Struct):
        return structs.replace(value, **changes)
    # As `dataclasses.replace` does, which looks at each field in Python: a table has two dozen.
    names = _arguments_of(type(value))  # type: ignore[arg-type]  # classes are hashable
    fields = dict(zip(names, map(getattr, repeat(value), names), strict=False))
    return type(value)(**{**fields, **changes})


@cache
def _arguments_of(kind: type) -> tuple[str, ...]:
    """Return the names of a dataclass's fields that its constructor accepts."""
    return tuple(each.name for each in dataclasses.fields(kind) if each.init)
