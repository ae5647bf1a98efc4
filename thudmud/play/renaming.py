"""A hall in which a board is called something else: a new hall, the old one stays as it is."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from thudmud.play.hall import Hall
from thudmud.play.restoring import hall_of
from thudmud.play.saving import state_of
from thudmud.play.table import BoardSpec

_FIELDS = {"board", "room", "used"}
"""The fields of states and events that hold the name of a board."""

_PAIRS = {"boards", "styles"}
"""Those that hold pairs, of which the first is the name of a board."""


def renamed(hall: Hall, old: str, new: str) -> Hall:
    """Return a hall that is the same, but that a board has a new name.

    Raises:
        ValueError: another board has that name, or none the old one.
    """
    if old not in hall.tables or (new in hall.tables and new != old):
        raise ValueError(f"the {old} cannot be called {new}")
    return hall_of(_Renaming(old, new).of(state_of(hall)))


class _Renaming:
    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = old, new

    def of(self, value: Any, field: str = "") -> Any:
        """Return a value with the new name wherever the old one stood for the board."""
        if isinstance(value, str):
            return self._name(value) if field in _FIELDS else value
        if isinstance(value, BoardSpec):
            return replace(value, name=self._name(value.name))
        if is_dataclass(value) and not isinstance(value, type):
            names = [each.name for each in fields(value) if each.init]
            return replace(value, **{name: self.of(getattr(value, name), name) for name in names})
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self.of, value, value._fields))
        if type(value) is tuple:
            if field in _PAIRS and value and isinstance(value[0], str):
                return (self._name(value[0]), *value[1:])
            return tuple(self.of(each, field) for each in value)
        return value

    def _name(self, name: str) -> str:
        return self._new if name == self._old else name
