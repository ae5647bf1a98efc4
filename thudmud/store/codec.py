"""Events as text and back: as the store keeps them, and as lines that somebody else can keep.

What a text that was ever kept means never changes.

A move is a short word, such as ``dA6-B6`` and ``TG7=F7xE7xE8``: the piece, its origin, a mark for
how it goes, its target, and its captures in their order, by the names that squares have on our
boards. Unlike a game record it keeps the verb, and tells a trample from other captures.

Other values have a form by the types of their fields. What is one of a few is its name, a tuple is
an array, a set is an array in order. What has fields is an array of them.

A line is a JSON array: the schema that it was written by, the stream that the event is of, and the
event. That is an array, too: the name of its kind, then its fields in their order.

What the store keeps is the array of the event alone, with two differences. Who plays is a number,
that of a row of ``player``: so a name can be changed or erased in one row, however many events
speak of it. And the time is not there: it is the store's own, and has a column. (Only a battle that
was brought in has a time of its own, that at which it was played.) Nobody else sees the numbers:
the events that the rest of the program holds have names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import partial
from json import JSONDecoder, JSONEncoder
from math import isfinite
from types import NoneType, UnionType
from typing import Any, NamedTuple, NoReturn, get_args, get_origin, get_type_hints

from thudmud.errors import ThudmudError
from thudmud.play import events
from thudmud.play.events import (
    BoardClosed,
    BoardOpened,
    BoardRenamed,
    Event,
    Imported,
    Interrupted,
    SavedMatch,
    StoredEvent,
)
from thudmud.rules import SQUARES, Move, Piece, Verb
from thudmud.store.interface import Damaged, Unknown

_MARKS = {
    (Verb.MOVE, False): "-",
    (Verb.SHOVE, False): "=",
    (Verb.HURL, False): ">",
    (Verb.MOVE, True): "~",
}
"""By verb, and whether it is a trample."""

_WAYS = {mark: way for way, mark in _MARKS.items()}
_PIECES = {piece.value: piece for piece in Piece}
_SQUARES = {str(square): square for square in SQUARES}
_WORD = re.compile(r"([dTR])([A-O][0-9]{1,2})([-=>~])([A-O][0-9]{1,2})((?:x[A-O][0-9]{1,2})*)")


def write_moves(moves: tuple[Move, ...]) -> str:
    """Return moves as words with blanks between them."""
    return " ".join(map(write_move, moves))


def read_moves(text: str) -> tuple[Move, ...]:
    """Return the moves of such a text.

    Raises:
        ValueError: something of it is not a move.
        KeyError: a square is not on the board.
    """
    return tuple(map(read_move, text.split(" "))) if text else ()


def write_move(move: Move) -> str:
    """Return a move as a word."""
    mark = _MARKS[move.verb, move.trample]
    captures = "".join([f"x{square}" for square in move.captures])
    return f"{move.piece.value}{move.origin}{mark}{move.target}{captures}"


def read_move(word: str) -> Move:
    """Return the move that a word stands for.

    Raises:
        ValueError: it does not stand for a move.
        KeyError: a square is not on the board.
    """
    match = _WORD.fullmatch(word)
    if match is None:
        raise ValueError(f"{word!r} is not a move")
    piece, origin, mark, target, rest = match.groups()
    captures = tuple([_SQUARES[name] for name in rest[1:].split("x")]) if rest else ()
    verb, trample = _WAYS[mark]
    return Move(_PIECES[piece], _SQUARES[origin], _SQUARES[target], captures, trample, verb)


class Form(NamedTuple):
    """How a type's values become what JSON holds, and the other way round.

    What is read may be anything: if it is no such value, ``read`` raises ValueError, TypeError or
    LookupError.
    """

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def form_of(hint: Any) -> Form:
    """Return the form of a type's values, given the type as it stands in an annotation."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    arguments = get_args(hint)
    if isinstance(hint, UnionType):
        (inner,) = (each for each in arguments if each is not NoneType)
        return _optional(form_of(inner))
    if get_origin(hint) is frozenset:
        return _set(form_of(arguments[0]))
    if get_origin(hint) is tuple:
        if arguments[1:] == (...,):
            return _sequence(form_of(arguments[0]))
        return _array(lambda *values: values, [form_of(each) for each in arguments])
    if issubclass(hint, Enum):
        names = {member: member.value for member in hint}
        members = {name: member for member, name in names.items()}
        return Form(names.__getitem__, members.__getitem__)
    return _with_fields(hint)


def _with_fields(kind: type) -> Form:
    """Return the form of a dataclass or a named tuple."""
    hints = get_type_hints(kind)
    names = [each.name for each in fields(kind)] if is_dataclass(kind) else list(hints)
    forms = {name: form_of(hints[name]) for name in names}
    writers = [(name, form.write) for name, form in forms.items()]

    def write(value: Any) -> list[Any]:
        return [each(getattr(value, name)) for name, each in writers]

    return Form(write, _array(kind, list(forms.values()), _least(kind)).read)


def _least(kind: type) -> int | None:
    """Return how many values of a kind have to be there: who wrote it may not know the last."""
    if not is_dataclass(kind):
        return None
    return sum(each.default is MISSING and each.default_factory is MISSING for each in fields(kind))


def _array(make: Callable[..., Any], forms: list[Form], least: int | None = None) -> Form:
    """Return the form of an array with as many values as there are forms, or at least so many."""
    readers = [form.read for form in forms]
    least = len(readers) if least is None else least

    def write(values: Any) -> list[Any]:
        return [form.write(each) for form, each in zip(forms, values, strict=True)]

    def read(values: Any) -> Any:
        if not least <= len(_exactly(list, values)) <= len(readers):
            raise ValueError(f"{len(values)} values should be {len(readers)}")
        return make(*[each(value) for each, value in zip(readers, values, strict=False)])

    return Form(write, read)


def _sequence(form: Form) -> Form:
    """Return the form of an array of any length."""
    return Form(
        lambda values: [form.write(each) for each in values],
        lambda values: tuple([form.read(each) for each in _exactly(list, values)]),
    )


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


SCHEMA = 1
"""The schema that `to_line` writes by. Samples of all that there ever were are in the tests."""

UPGRADES: Mapping[int, Callable[[list[Any]], list[Any]]] = {}
"""For each schema before ``SCHEMA``: what makes of an array by it the one by the next schema."""

BOARD_KINDS: Mapping[str, type[Event]] = {
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
    kind, write = _LINE_WRITERS[type(event)]
    return _TO_JSON([SCHEMA, stream, [kind, *write(event)]])


def from_line(line: str) -> tuple[str, Event]:
    """Return the stream and the event that `to_line` made a line of.

    Raises:
        TooNew: a later version of this program wrote it.
        Misread: no version wrote it.
    """
    try:
        schema, stream, array = _parsed(str(line).strip())
        if type(schema) is not int or type(stream) is not str:
            raise TypeError("it should begin with a number and a name")
        event = _read(schema, array) if schema <= SCHEMA else None
    except _TROUBLES as error:
        raise Misread(f"This is not an event: {line!s:.200} ({error}).") from error
    if event is None:
        raise TooNew(f"An event has schema {schema}; this version of thudmud knows {SCHEMA}.")
    return stream, event


def _read(schema: int, array: Any) -> Event:
    for each in range(schema, SCHEMA):
        array = UPGRADES[each](array)
    kind, *values = array
    return _LINE_READERS[kind](values)  # type: ignore[no-any-return]  # of an event's kind


def _parsed(text: str) -> Any:
    """Return what a text of JSON says, with no blanks around it; `decode` of a decoder is slow."""
    value, end = _PARSE_LINE(text)
    if end != len(text):
        raise ValueError(f"there is more behind character {end}")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


_TROUBLES = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError)
_TO_JSON = JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_PARSE_LINE = JSONDecoder(parse_constant=_no_constant).raw_decode
_BOARD_FORMS = {name: form_of(kind) for name, kind in BOARD_KINDS.items()}
_LINE_WRITERS = {BOARD_KINDS[name]: (name, form.write) for name, form in _BOARD_FORMS.items()}
_LINE_READERS = {name: form.read for name, form in _BOARD_FORMS.items()}


"""The schema that events are written by. Fields are only ever added at the end, with a default; for
anything else raise this, and read the older form as well."""

KINDS: Mapping[str, type[StoredEvent]] = {
    **BOARD_KINDS,
    "opened": BoardOpened,
    "closed": BoardClosed,
    "renamed": BoardRenamed,
    "interrupted": Interrupted,
}
_PLAYERS = {"player", "dwarf", "troll"}
"""The fields that hold the name of a player, in events and in matches that were put away."""


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
