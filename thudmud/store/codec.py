"""Events as the text that is stored of them, and back.

A text is a JSON array: the name of the event's kind, then its fields in their order, as
`thudmud.codec.forms` has them, but with two differences. Who plays is a number, that of a row of
``player``: so a name can be changed or erased in one row, however many events speak of it. And the
time is not there: it is the store's own, and has a column. (Only a battle that was brought in has
a time of its own, that at which it was played.)

Nobody else sees the numbers: the events that the rest of the program holds have names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from json import JSONDecoder, JSONEncoder
from typing import Any

from thudmud.codec.events import KINDS as OF_BOARDS
from thudmud.codec.forms import form_of
from thudmud.play.events import (
    BoardClosed,
    BoardOpened,
    BoardRenamed,
    Imported,
    Interrupted,
    SavedMatch,
    StoredEvent,
)
from thudmud.store.interface import Damaged, Unknown

SCHEMA = 1
"""The schema that events are written by. Fields are only ever added at the end, with a default; for
anything else raise this, and read the older form as well."""

KINDS: Mapping[str, type[StoredEvent]] = {
    **OF_BOARDS,
    "opened": BoardOpened,
    "closed": BoardClosed,
    "renamed": BoardRenamed,
    "interrupted": Interrupted,
}
_PLAYERS = {"player", "dwarf", "troll"}
"""The fields that hold the name of a player, in events and in matches that were put away."""

_TROUBLES = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError)
_TO_JSON = JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_FROM_JSON = JSONDecoder().raw_decode

Mapper = Callable[[Any], Any]


def _places(kind: type) -> list[int]:
    return [number for number, each in enumerate(fields(kind)) if each.name in _PLAYERS]


class _Form:
    """How events of one kind are written and read."""

    def __init__(self, name: str, kind: type[StoredEvent]) -> None:
        self._name, self._form = name, form_of(kind)
        self._places = _places(kind)
        nested = [number for number, each in enumerate(fields(kind)) if each.name == "match"]
        self._nested = [(number, place) for number in nested for place in _places(SavedMatch)]
        self._first = 0 if kind is Imported else 1
        """From which field on they are written: not the time, but where it is the event's own."""

    def write(self, event: StoredEvent, number_of: Mapper) -> list[Any]:
        values: list[Any] = self._form.write(event)
        self._map(values, number_of)
        return [self._name, *values[self._first :]]

    def read(self, array: list[Any], at: float, name_of: Mapper) -> StoredEvent:
        values = array[1:] if self._first == 0 else [at, *array[1:]]
        self._map(values, name_of)
        event: StoredEvent = self._form.read(values)
        return event

    def _map(self, values: list[Any], change: Mapper) -> None:
        for place in self._places:
            values[place] = change(values[place])
        for outer, place in self._nested:
            inner = values[outer] = list(values[outer])
            inner[place] = change(inner[place])


_FORMS = {name: _Form(name, kind) for name, kind in KINDS.items()}
_WRITERS = {kind: _FORMS[name].write for name, kind in KINDS.items()}


def to_array(event: StoredEvent, number_of: Callable[[str], int]) -> list[Any]:
    """Return an event as the array that is stored of it, with each player's number.

    Raises:
        ValueError: a number in it is not finite.
    """
    return _WRITERS[type(event)](event, number_of)


def from_array(array: list[Any], at: float, name_of: Callable[[int], str]) -> StoredEvent:
    """Return the event that such an array stands for.

    Raises:
        ValueError: it is no event, or TypeError, or LookupError.
    """
    return _FORMS[array[0]].read(array, at, name_of)


def to_text(array: list[Any]) -> str:
    """Return an array as it is stored, in ASCII."""
    return _TO_JSON(array)


def from_text(schema: int, text: str, at: float, name_of: Callable[[int], str]) -> StoredEvent:
    """Return the event that was stored as a text.

    Raises:
        Unknown: a later version of this program wrote it.
        Damaged: no version wrote it.
    """
    if schema > SCHEMA:
        raise Unknown(
            f"An event was written by a later version of thudmud: it has schema {schema}, and this"
            f" version knows {SCHEMA}."
        )
    try:
        array, end = _FROM_JSON(text)
        if end != len(text):
            raise ValueError(f"there is more behind character {end}")
        return from_array(array, at, name_of)
    except _TROUBLES as error:
        raise Damaged(f"This is not an event: {text:.200} ({error}).") from error
