"""Events as text: what a journal stores of them.

Owns the one form that events are stored in, and how the forms of earlier versions are read. Must
never change what a text that was ever stored means.

An event is a JSON array: the name of its kind, then its fields in their order. A value inside is an
array of its fields, moves are words (see `thudmud.journal.notation`), and what is one of a few is
its name. With each text is stored the schema that it was written by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from json import JSONDecoder, JSONEncoder
from math import isfinite
from types import NoneType, UnionType
from typing import Any, NamedTuple, NoReturn, get_args, get_origin, get_type_hints

from thudmud.engine import Move
from thudmud.journal.interface import Damaged, Unknown
from thudmud.journal.notation import read_move, read_moves, write_move, write_moves
from thudmud.tables import events
from thudmud.tables.events import Event

SCHEMA = 1
"""The schema that `encode` writes by. Samples of all that there ever were are in the tests."""

UPGRADES: Mapping[int, Callable[[list[Any]], list[Any]]] = {}
"""For each schema before ``SCHEMA``: what makes of an array by it the one by the next schema."""

KINDS: Mapping[str, type[Event]] = {
    "joined": events.Joined,
    "left": events.Left,
    "absent": events.Absent,
    "returned": events.Returned,
    "cleared": events.Cleared,
    "rules": events.RulesSet,
    "started": events.BattleStarted,
    "moved": events.Moved,
    "offered": events.Offered,
    "lapsed": events.OfferLapsed,
    "declined": events.Declined,
    "taken back": events.TakenBack,
    "ended": events.BattleEnded,
    "adjourned": events.Adjourned,
    "resumed": events.Resumed,
    "imported": events.Imported,
}
"""The kinds of events by the names they are stored under."""


def encode(event: Event) -> str:
    """Return an event as text, in ASCII.

    Raises:
        ValueError: a number in it is not finite.
    """
    kind, write = _WRITERS[type(event)]
    return _TO_JSON([kind, *write(event)])


def decode(schema: int, text: str) -> Event:
    """Return the event that a text stands for.

    Args:
        schema: what it was written by.
        text: what `encode` made of the event.

    Raises:
        Unknown: a later version of this program wrote it.
        Damaged: no version wrote it.
    """
    if schema > SCHEMA:
        raise Unknown(f"An event has schema {schema}; this version of thudmud knows {SCHEMA}.")
    try:
        array = _parsed(text)
        for each in range(schema, SCHEMA):
            array = UPGRADES[each](array)
        kind, *values = array
        return _READERS[kind](values)  # type: ignore[no-any-return]  # of an event's kind
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
        raise Damaged(f"This is not an event: {text:.200} ({error}).") from error


def _parsed(text: str) -> Any:
    """Return what a text of JSON says, with no blanks around it; `decode` of a decoder is slow."""
    value, end = _FROM_JSON(text)
    if end != len(text):
        raise ValueError(f"there is more behind character {end}")
    return value


class _Form(NamedTuple):
    """How a type's values become what JSON holds, and the other way round."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _form(hint: Any) -> _Form:
    """Return the form of a field's values, by its type."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    arguments = get_args(hint)
    if isinstance(hint, UnionType):
        (inner,) = (each for each in arguments if each is not NoneType)
        return _optional(_form(inner))
    if get_origin(hint) is tuple:
        return _array(tuple, [_form(each) for each in arguments])
    if issubclass(hint, Enum):
        names = {member: member.value for member in hint}
        return _Form(
            names.__getitem__, {name: member for member, name in names.items()}.__getitem__
        )
    return _value(hint)


def _value(kind: type) -> _Form:
    """Return the form of a dataclass or a named tuple: an array of its fields."""
    hints = get_type_hints(kind)
    names = [each.name for each in fields(kind)] if is_dataclass(kind) else list(hints)
    forms = [_form(hints[name]) for name in names]
    writers = [(name, form.write) for name, form in zip(names, forms, strict=True)]

    def write(value: Any) -> list[Any]:
        return [each(getattr(value, name)) for name, each in writers]

    return _Form(write, _array(lambda values: kind(*values), forms).read)


def _array(make: Callable[[list[Any]], Any], forms: list[_Form]) -> _Form:
    """Return the form of an array with as many values as there are forms."""
    readers = [form.read for form in forms]

    def write(values: Any) -> list[Any]:
        return [form.write(each) for form, each in zip(forms, values, strict=True)]

    def read(values: Any) -> Any:
        _exactly(list, values)
        return make([each(value) for each, value in zip(readers, values, strict=True)])

    return _Form(write, read)


def _optional(form: _Form) -> _Form:
    """Return a form that is also for None."""
    return _Form(
        lambda value: None if value is None else form.write(value),
        lambda value: None if value is None else form.read(value),
    )


def _exactly(kind: type, value: Any) -> Any:
    """Return a value of exactly this type; TypeError if it is of another."""
    if type(value) is not kind:
        raise TypeError(f"{value!r:.50} should be {kind.__name__}")
    return value


def _number(value: Any) -> float:
    if type(value) is not float and type(value) is not int:
        raise TypeError(f"{value!r:.50} should be a number")
    if not isfinite(value):
        raise ValueError(f"{value} should be finite")
    return float(value)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


_PLAIN = {
    float: _Form(_number, _number),
    int: _Form(int, partial(_exactly, int)),
    bool: _Form(bool, partial(_exactly, bool)),
    str: _Form(str, partial(_exactly, str)),
    Move: _Form(write_move, read_move),
    tuple[Move, ...]: _Form(write_moves, lambda value: read_moves(_exactly(str, value))),
}
_TO_JSON = JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_FROM_JSON = JSONDecoder(parse_constant=_no_constant).raw_decode
_FORMS = {name: _value(kind) for name, kind in KINDS.items()}
_WRITERS = {KINDS[name]: (name, form.write) for name, form in _FORMS.items()}
_READERS = {name: form.read for name, form in _FORMS.items()}
