"""Variables in a line of a transcript: `${NAME}` for a value, `${NAME=*}` to take what is seen.

Owns how they are written. Must never know who sees a line, or where values come from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from thudmud.errors import ThudmudError

NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")

_MARK = re.compile(rf"\$\$\{{|\$\{{(?P<name>{NAME.pattern})(?P<takes>=\*)?\}}|(?P<bad>\$\{{)")


class VariableError(ThudmudError, ValueError):
    """A variable that is not written as they are, or that has no value."""


@dataclass(frozen=True, slots=True)
class Use:
    """A place where a variable's value stands."""

    name: str


@dataclass(frozen=True, slots=True)
class Capture:
    """A wildcard from which a variable takes its value."""

    name: str


def pieces(text: str) -> Iterator[str | Use | Capture]:
    """Yield what a text is made of.

    Raises:
        VariableError: a variable is not written as they are.
    """
    at = 0
    for mark in _MARK.finditer(text):
        if mark["bad"]:
            right = "should be ${NAME}, or ${NAME=*} to take what is seen; $${ stands for itself"
            raise VariableError(f'"{text[mark.start() :]}" {right}')
        yield text[at : mark.start()]
        at = mark.end()
        if mark["name"] is None:
            yield "${"
        else:
            yield Capture(mark["name"]) if mark["takes"] else Use(mark["name"])
    yield text[at:]


def filled(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with the values of its variables; wildcards that take one stay as they are.

    Raises:
        VariableError: a variable has no value.
    """
    return "".join(_written(each, variables) for each in pieces(text))


def value(name: str, variables: Mapping[str, str]) -> str:
    """Return a variable's value.

    Raises:
        VariableError: it has none.
    """
    if name not in variables:
        raise VariableError(f"${{{name}}} has no value")
    return variables[name]


def escaped(text: str) -> str:
    """Return what is written where a text itself is meant."""
    return text.replace("${", "$${")


def _written(piece: str | Use | Capture, variables: Mapping[str, str]) -> str:
    match piece:
        case Use(name):
            return value(name, variables)
        case Capture(name):
            return f"${{{name}=*}}"
        case str():
            return piece
