"""Values as what JSON holds, by the types of their fields.

Owns how a type becomes a form, which writes its values and reads them again, checked. Must never
know what is stored by it, nor where.

What is one of a few is its name, moves are words (see `thudmud.codec.notation`), a tuple is an
array, a set is an array in order. What has fields is an array of them; or, where that is asked for,
an object, if it is a dataclass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from math import isfinite
from types import NoneType, UnionType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from thudmud.codec.notation import read_move, read_moves, write_move, write_moves
from thudmud.errors import ThudmudError
from thudmud.rules import Move


class FormError(ThudmudError, ValueError):
    """What was read does not have the form of a value; ``str()`` says where, and what is wrong."""


class Form(NamedTuple):
    """How a type's values become what JSON holds, and the other way round.

    What is read may be anything: if it is no such value, ``read`` raises ValueError, TypeError or
    LookupError.
    """

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


Special = Mapping[Any, Form]
"""The forms of types that are not to have the one that their fields would make."""


def form_of(hint: Any, special: Special | None = None, *, named: bool = False) -> Form:
    """Return the form of a type's values.

    Args:
        hint: the type, as it stands in an annotation.
        special: forms of types, the type itself or any inside.
        named: whether dataclasses become objects; FormError then tells the place of an error.
    """
    return _Forms(_PLAIN | dict(special or {}), named).of(hint)


class _Forms:
    """Makes forms of types."""

    def __init__(self, known: Special, named: bool) -> None:  # noqa: FBT001 (private, by position)
        self._known, self._named = known, named

    def of(self, hint: Any) -> Form:
        if hint in self._known:
            return self._known[hint]
        arguments = get_args(hint)
        if isinstance(hint, UnionType):
            (inner,) = (each for each in arguments if each is not NoneType)
            return _optional(self.of(inner))
        if get_origin(hint) is frozenset:
            return _set(self.of(arguments[0]))
        if get_origin(hint) is tuple:
            if arguments[1:] == (...,):
                return _sequence(self.of(arguments[0]), placed=self._named)
            return _array(tuple, [self.of(each) for each in arguments])
        if issubclass(hint, Enum):
            names = {member: member.value for member in hint}
            members = {name: member for member, name in names.items()}
            return Form(names.__getitem__, members.__getitem__)
        return self._with_fields(hint)

    def _with_fields(self, kind: type) -> Form:
        """Return the form of a dataclass or a named tuple."""
        hints = get_type_hints(kind)
        names = [each.name for each in fields(kind)] if is_dataclass(kind) else list(hints)
        forms = {name: self.of(hints[name]) for name in names}
        if self._named and is_dataclass(kind):
            return _object(kind, forms)
        writers = [(name, form.write) for name, form in forms.items()]

        def write(value: Any) -> list[Any]:
            return [each(getattr(value, name)) for name, each in writers]

        return Form(write, _array(lambda values: kind(*values), list(forms.values())).read)


def _array(make: Callable[[list[Any]], Any], forms: list[Form]) -> Form:
    """Return the form of an array with as many values as there are forms."""
    readers = [form.read for form in forms]

    def write(values: Any) -> list[Any]:
        return [form.write(each) for form, each in zip(forms, values, strict=True)]

    def read(values: Any) -> Any:
        _exactly(list, values)
        return make([each(value) for each, value in zip(readers, values, strict=True)])

    return Form(write, read)


def _object(kind: Callable[..., Any], forms: Mapping[str, Form]) -> Form:
    """Return the form of an object with just these fields."""

    def write(value: Any) -> dict[str, Any]:
        return {name: form.write(getattr(value, name)) for name, form in forms.items()}

    def read(value: Any) -> Any:
        _exactly(dict, value)
        for name in [*forms, *value]:
            if name not in value or name not in forms:
                raise FormError(f"{name!r:.50} {'is too much' if name in value else 'is missing'}")
        return kind(**{name: _at(name, form, value[name]) for name, form in forms.items()})

    return Form(write, read)


def _sequence(form: Form, *, placed: bool) -> Form:
    """Return the form of an array of any length."""

    def read(values: Any) -> Any:
        _exactly(list, values)
        if not placed:
            return tuple([form.read(each) for each in values])
        return tuple([_at(number, form, each) for number, each in enumerate(values)])

    return Form(lambda values: [form.write(each) for each in values], read)


def _at(place: str | int, form: Form, value: Any) -> Any:
    """Read a value; what is wrong with it is said with the place where it stands."""
    try:
        return form.read(value)
    except FormError as error:
        raise FormError(f"{place}, {error}") from error
    except KeyError as error:
        raise FormError(f"{place}: {value!r:.50} is none of those there are") from error
    except (ValueError, TypeError, LookupError, ArithmeticError) as error:
        raise FormError(f"{place}: {error}") from error


def _set(form: Form) -> Form:
    """Return the form of a set, written in order."""

    def read(values: Any) -> Any:
        found = frozenset([form.read(each) for each in _exactly(list, values)])
        if len(found) != len(values):
            raise ValueError("something is there twice")
        return found

    return Form(lambda values: sorted(map(form.write, values)), read)


def _optional(form: Form) -> Form:
    """Return a form that is also for None."""
    return Form(
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


_PLAIN = {
    float: Form(_number, _number),
    int: Form(int, partial(_exactly, int)),
    bool: Form(bool, partial(_exactly, bool)),
    str: Form(str, partial(_exactly, str)),
    Move: Form(write_move, read_move),
    tuple[Move, ...]: Form(write_moves, lambda value: read_moves(_exactly(str, value))),
}
