"""A decorator for frozen dataclasses with slots. Imports nothing of ours, like `thudmud.errors`."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import NoReturn, TypeVar

ClassT = TypeVar("ClassT")


def immutable(cls: type[ClassT]) -> type[ClassT]:
    """Make a frozen dataclass with slots refuse every assignment with FrozenInstanceError.

    Python's own ``__setattr__`` of such classes calls ``super()`` with the class as it was before
    ``slots=True`` replaced it. So on CPython 3.11 to 3.13, names that aren't fields, such as those
    of properties, raise "TypeError: super(type, obj): obj must be an instance or subtype of type".
    """

    def refuse_setting(self: object, name: str, _value: object) -> NoReturn:
        raise FrozenInstanceError(f"{type(self).__name__} is immutable: can't set {name}")

    def refuse_deleting(self: object, name: str) -> NoReturn:
        raise FrozenInstanceError(f"{type(self).__name__} is immutable: can't delete {name}")

    cls.__setattr__ = refuse_setting  # type: ignore[method-assign]
    cls.__delattr__ = refuse_deleting  # type: ignore[method-assign]
    return cls
