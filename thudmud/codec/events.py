"""Events as lines of text: what somebody else can keep of them.

Owns the one form of these lines, and how the forms of earlier versions are read. Must never change
what a line that was ever kept means.

A line is a JSON array: the schema that it was written by, the stream that the event is of, and the
event. That is an array, too: the name of its kind, then its fields in their order, as
`thudmud.codec.forms` has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from json import JSONDecoder, JSONEncoder
from typing import Any, NoReturn

from thudmud.codec.forms import form_of
from thudmud.errors import ThudmudError
from thudmud.play import events
from thudmud.play.events import Event

SCHEMA = 1
"""The schema that `to_line` writes by. Samples of all that there ever were are in the tests."""

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
"""The kinds of events by the names they are kept under."""


class Misread(ThudmudError, ValueError):
    """What was to be an event is none that any version wrote."""


class TooNew(ThudmudError, ValueError):
    """A later version of this program wrote it."""


def to_line(stream: str, event: Event) -> str:
    """Return an event and the stream that it is of as one line of text, in ASCII.

    Raises:
        ValueError: a number in it is not finite.
    """
    kind, write = _WRITERS[type(event)]
    return _TO_JSON([SCHEMA, stream, [kind, *write(event)]])


def from_line(line: str) -> tuple[str, Event]:
    """Return the stream and the event that `to_line` made a line of.

    Raises:
        TooNew: a later version of this program wrote it.
        Misread: no version wrote it.
    """
    try:
        schema, stream, array = _parsed(str(line).strip())
        _require(schema, stream)
        return stream, _read(schema, array)
    except TooNew:
        raise
    except _TROUBLES as error:
        raise Misread(f"This is not an event: {line!s:.200} ({error}).") from error


def _require(schema: object, stream: object) -> None:
    if type(schema) is not int or type(stream) is not str:
        raise TypeError("it should begin with a number and a name")
    if schema > SCHEMA:
        raise TooNew(f"An event has schema {schema}; this version of thudmud knows {SCHEMA}.")


def _read(schema: int, array: Any) -> Event:
    for each in range(schema, SCHEMA):
        array = UPGRADES[each](array)
    kind, *values = array
    return _READERS[kind](values)  # type: ignore[no-any-return]  # of an event's kind


def _parsed(text: str) -> Any:
    """Return what a text of JSON says, with no blanks around it; `decode` of a decoder is slow."""
    value, end = _FROM_JSON(text)
    if end != len(text):
        raise ValueError(f"there is more behind character {end}")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


_TROUBLES = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError)
_TO_JSON = JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_FROM_JSON = JSONDecoder(parse_constant=_no_constant).raw_decode
_FORMS = {name: form_of(kind) for name, kind in KINDS.items()}
_WRITERS = {KINDS[name]: (name, form.write) for name, form in _FORMS.items()}
_READERS = {name: form.read for name, form in _FORMS.items()}
