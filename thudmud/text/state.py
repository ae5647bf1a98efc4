"""The state of a house as what JSON holds: to be kept anywhere, and to be gone on with.

Owns the form of it, and how the forms of earlier versions are read. Must never change what a state
that was ever kept means, nor take a part of a state for the whole.

A state is an object: what it is, the versions of its form and of the form of events in it, the hall
as `thudmud.play.state` has it, and the terminals of those who are here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from thudmud.codec import SCHEMA, Form, form_of
from thudmud.codec.events import from_array, to_array
from thudmud.errors import ThudmudError
from thudmud.play.events import TableEvent
from thudmud.play.hall import Hall
from thudmud.play.options import WIDTHS, Shade
from thudmud.play.restoring import hall_of
from thudmud.play.saving import state_of
from thudmud.play.state import HallState
from thudmud.text.display import COLOURS, Terminal

VERSION = 1
"""The version of the form that is written. Samples of all that there ever were are in the tests."""

UPGRADES: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""For each version before ``VERSION``: what makes of a state by it the one by the next version."""

KIND = "house"
"""What tells the state of a house from other objects."""

VERSIONS = {"version": VERSION, "events": SCHEMA}
"""What a state says that it was written by, and the latest that is known."""


class StateError(ThudmudError, ValueError):
    """What was to be the state of a house is none; ``str()`` is a sentence for its keeper."""


@dataclass(frozen=True, slots=True)
class _HouseState:
    thudmud: str
    version: int
    events: int
    hall: HallState
    terminals: tuple[tuple[str, Terminal], ...]


def write_state(hall: Hall, terminals: Mapping[str, Terminal]) -> dict[str, Any]:
    """Return the state of a house, of nothing but what JSON holds.

    Raises:
        ValueError: a time in it is not finite.
    """
    here = tuple((name, terminals.get(name, Terminal())) for name in hall.people)
    state = _HouseState(KIND, VERSION, SCHEMA, state_of(hall), here)
    return _form(SCHEMA).write(state)  # type: ignore[no-any-return]  # of a dataclass


def read_state(state: object) -> tuple[Hall, dict[str, Terminal]]:
    """Return the hall of a state, and the terminals of those who are in it.

    Raises:
        StateError: it is not the state of a house, or not one that this version can read.
    """
    if not isinstance(state, dict) or state.get("thudmud") != KIND:
        raise StateError("This is not the state of a house of thudmud.")
    version, schema = (_version(state, key, most) for key, most in VERSIONS.items())
    try:
        for each in range(version, VERSION):
            state = UPGRADES[each](state)
        found: _HouseState = _form(schema).read(state)
        hall = hall_of(found.hall)
        return hall, _terminals(found.terminals, hall)
    except (ValueError, TypeError, LookupError, ArithmeticError) as error:
        raise StateError(f"This state of a house is damaged: {error}.") from error


def _version(state: Mapping[str, Any], key: str, most: int) -> int:
    version = state.get(key)
    if type(version) is not int or version < 1:
        raise StateError(f'This state of a house is damaged: "{key}" is {version!r:.50}.')
    if version > most:
        raise StateError(
            f'A later version of thudmud wrote this state of a house: its "{key}" is {version}, and'
            f" this version knows {most}."
        )
    return version


def _terminals(pairs: Sequence[tuple[str, Terminal]], hall: Hall) -> dict[str, Terminal]:
    terminals = dict(pairs)
    if len(terminals) != len(pairs) or terminals.keys() != hall.people.keys():
        raise ValueError("each player has a terminal, and nobody else")
    for terminal in terminals.values():
        if terminal.width not in WIDTHS or terminal.colours not in COLOURS:
            raise ValueError(f"there is no such terminal: {terminal}")
    return terminals


@cache
def _form(schema: int) -> Form:
    """Return the form of a state whose events were written by a schema."""
    special = {
        TableEvent: Form(to_array, partial(from_array, schema)),
        Shade | None: Form(_write_shade, _read_shade),
    }
    return form_of(_HouseState, special, named=True)


def _write_shade(shade: Shade | None) -> int | list[int] | None:
    return list(shade) if isinstance(shade, tuple) else shade


def _read_shade(value: Any) -> Shade | None:
    """Return a shade; whether there is one of that number is for others to say."""
    if value is None or type(value) is int:
        return value
    if type(value) is not list or len(value) != 3 or any(type(each) is not int for each in value):
        raise ValueError(f"{value!r:.50} is no colour")
    red, green, blue = value
    return red, green, blue
