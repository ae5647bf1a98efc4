"""Events as text and back: in the store's rows, and in lines for whoever stores a house's events.

The meaning of a stored text never changes.

An event is an array: the name of its kind, then its fields in order. The form of a field goes by
its type: an enum is its value, a tuple is an array, a value with fields is an array of them. A move
is a short word, such as ``dA6-B6`` and ``TG7=F7xE7xE8``: the piece, its origin, a mark for how it
goes, its target, and its captures in order, by the names that squares have on our boards. Unlike a
game record it keeps the verb, and tells a trample from other captures. A position is a text of such
words, each a piece and its square, and of the side to move: ``dA6 dB6 TG7 XH8 troll``.

A line is a JSON array: the schema that it was written by, the event's stream, and the event.

The store keeps only the event's array, with two differences. A player is a number, that of a row of
``player``: so a name can be changed or erased in one row, however many events have it. And the time
is left out: it is the store's, and has a column. (Only an imported battle has a time of its own,
when it was played.) The numbers stay in the store: events in the rest of the program have names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from copy import copy
from enum import Enum
from functools import cached_property, lru_cache, partial
from json import JSONDecoder, JSONEncoder
from math import isfinite
from types import NoneType, UnionType
from typing import Any, NamedTuple, NoReturn, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import fields, force_setattr

from thudmud.errors import ThudmudError
from thudmud.game import events
from thudmud.game.events import (
    BoardClosed,
    BoardOpened,
    BoardRenamed,
    Commented,
    Event,
    Interrupted,
    LessonDone,
    PuzzleTried,
    SavedMatch,
    SeekEnded,
    SeekMade,
    StoredEvent,
)
from thudmud.rules import SQUARES, Move, Piece, Position, Side, Verb
from thudmud.store.interface import Damaged, Unknown

SCHEMA = 4
"""The schema that events are written by. Fields are only ever added at the end, with a default; for
any other change raise this, and read the older form as well. The tests have samples of all schemas.
"""

UPGRADES: dict[int, Callable[[list[Any]], list[Any]]] = dict.fromkeys(
    range(1, SCHEMA), lambda array: array
)
"""For each older schema: what turns an array of it into one of the next. The array has the kind's
name, the time, and the other fields; players are numbers in the store, and names in lines. Schemas
2 to 4 only added kinds and last fields."""

_BOARD_KINDS: Mapping[str, type[Event]] = {
    "joined": events.Joined,
    "left": events.Left,
    "absent": events.Absent,
    "returned": events.Returned,
    "cleared": events.Cleared,
    "rules": events.RulesSet,
    "set up": events.PositionSet,
    "time": events.TimeSet,
    "started": events.BattleStarted,
    "moved": events.Moved,
    "offered": events.Offered,
    "lapsed": events.OfferLapsed,
    "declined": events.Declined,
    "taken back": events.TakenBack,
    "ended": events.BattleEnded,
    "held": events.ClockHeld,
    "warned": events.IdleWarned,
    "adjourned": events.Adjourned,
    "resumed": events.Resumed,
    "imported": events.Imported,
}

KINDS: Mapping[str, type[StoredEvent]] = {
    **_BOARD_KINDS,
    "opened": BoardOpened,
    "closed": BoardClosed,
    "renamed": BoardRenamed,
    "lesson done": LessonDone,
    "puzzle tried": PuzzleTried,
    "interrupted": Interrupted,
    "seek": SeekMade,
    "seek ended": SeekEnded,
    "commented": Commented,
    "tournament": events.TournamentMade,
    "entered": events.TournamentEntered,
    "left tournament": events.TournamentLeft,
    "paired": events.RoundPaired,
    "pairing begun": events.PairingBegun,
    "pairing scored": events.PairingScored,
    "tournament paused": events.TournamentPaused,
    "tournament continued": events.TournamentContinued,
    "tournament ended": events.TournamentEnded,
}
"""The kinds of events by the names that they are stored under."""

_WITH_ITS_OWN_TIME = "imported"
"""The kind whose time the store keeps in the array; for all others a column has it."""

_PLAYERS = {"player", "dwarf", "troll", "seeker", "to", "first", "second", "by"}
"""The fields that hold a player's name, in events and in adjourned matches."""

_LISTS = {"players", "missing"}
"""The fields that hold several."""


class Misread(ThudmudError, ValueError):
    """A text is not of the form that was expected: no version wrote it."""


class TooNew(ThudmudError, ValueError):
    """A later version of this program wrote the text."""


# Lines, for callers who store a house's events.


def to_line(stream: str, event: Event) -> str:
    """Return an event and its stream as one line of text, in ASCII.

    Raises:
        ValueError: a number in the event is not finite.
    """
    kind = _BY_TYPE[type(event)]
    return to_text([SCHEMA, stream, [kind.name, *kind.form.write(event)]])


def from_line(line: str) -> tuple[str, Event]:
    """Return the stream and the event of a line that `to_line` made.

    Raises:
        TooNew: a later version of this program wrote it.
        Misread: no version wrote it.
    """
    try:
        schema, stream, array = _parsed(str(line).strip())
        if type(schema) is not int or type(stream) is not str:
            raise TypeError("it should begin with a number and a name")
        event = _from_schema(schema, array) if schema <= SCHEMA else None
    except _TROUBLES as error:
        raise Misread(f"This is not an event: {line!s:.200} ({error}).") from error
    if event is None:
        raise TooNew(f"An event has schema {schema}; this version of thudmud knows {SCHEMA}.")
    return stream, event


def _upgraded(schema: int, array: list[Any]) -> list[Any]:
    """Return an array of an older schema in the form of today's."""
    for each in range(schema, SCHEMA):
        array = UPGRADES[each](array)
    return array


def _from_schema(schema: int, array: Any) -> Event:
    name, *values = _upgraded(schema, array)
    if name not in _BOARD_KINDS:
        raise ValueError(f"there is no kind {name!r:.50}")
    return _BY_NAME[name].form.read(values)  # type: ignore[no-any-return]  # of an event's kind


# What the store keeps, with numbers for players.


def to_array(event: StoredEvent, number_of: Callable[[str], int]) -> list[Any]:
    """Return the array that is stored of an event, with numbers in place of players' names.

    Raises:
        ValueError: a number in it is not finite.
    """
    kind = _BY_TYPE[type(event)]
    values: list[Any] = kind.form.write(event)
    kind.change_players(values, number_of)
    return [kind.name, *values[kind.first :]]


def players_of(event: StoredEvent) -> list[str]:
    """Return the players' names in an event; some may be empty."""
    kind = _BY_TYPE[type(event)]
    found: list[str] = []
    kind.change_players(kind.form.write(event), found.append)
    return found


def from_array(array: list[Any], at: float, name_of: Callable[[int], str]) -> StoredEvent:
    """Return the event of such an array, with its time.

    Raises:
        ValueError, TypeError or LookupError: it is no event.
    """
    kind = _BY_NAME[array[0]]
    values = [at, *array[1:]] if kind.first else array[1:]
    kind.change_players(values, name_of)
    return kind.form.read(values)  # type: ignore[no-any-return]  # of an event's kind


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
        array = _parsed(text)
        if schema < SCHEMA:
            kept = 1 if array[0] == _WITH_ITS_OWN_TIME else 2
            whole = _upgraded(schema, array if kept == 1 else [array[0], at, *array[1:]])
            array = [whole[0], *whole[kept:]]
        return from_array(array, at, name_of)
    except _TROUBLES as error:
        raise Damaged(f"This is not an event: {text:.200} ({error}).") from error


_TROUBLES = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError)
"""The exceptions of reading a text that is no event."""


def _parsed(text: str) -> Any:
    """Return the value of a JSON text without blanks around it; `JSONDecoder.decode` is slower."""
    value, end = _FROM_JSON(text)
    if end != len(text):
        raise ValueError(f"there is more behind character {end}")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


to_text: Callable[[object], str] = JSONEncoder(separators=(",", ":"), allow_nan=False).encode
"""Returns values of JSON as they are stored, in ASCII; ValueError if a number is not finite."""

_FROM_JSON = JSONDecoder(parse_constant=_no_constant).raw_decode


# Moves.

_MARKS = {
    (Verb.MOVE, False): "-",
    (Verb.SHOVE, False): "=",
    (Verb.HURL, False): ">",
    (Verb.MOVE, True): "~",
}
"""The mark of a move, by its verb and whether it is a trample."""

_WAYS = {mark: way for way, mark in _MARKS.items()}
_PIECES = {piece.value: piece for piece in Piece}
_LETTERS = {piece: letter for letter, piece in _PIECES.items()}
_SQUARES = {str(square): square for square in SQUARES}
_WORD = re.compile(r"([dTR])([A-O][0-9]{1,2})([-=>~])([A-O][0-9]{1,2})((?:x[A-O][0-9]{1,2})*)")


def _write_move(move: Move) -> str:
    """Return a move as a word."""
    mark = _MARKS[move.verb, move.trample]
    captures = "".join([f"x{square}" for square in move.captures]) if move.captures else ""
    return f"{_LETTERS[move.piece]}{move.origin}{mark}{move.target}{captures}"


@lru_cache(maxsize=1 << 14)  # most moves are made in many battles, and in some again and again
def _read_move(word: str) -> Move:
    """Return the move of a word; ValueError or KeyError if it is none."""
    match = _WORD.fullmatch(word)
    if match is None:
        raise ValueError(f"{word!r} is not a move")
    piece, origin, mark, target, rest = match.groups()
    captures = tuple([_SQUARES[name] for name in rest[1:].split("x")]) if rest else ()
    verb, trample = _WAYS[mark]
    return Move(_PIECES[piece], _SQUARES[origin], _SQUARES[target], captures, trample, verb)


# Positions.

_SIDES = {side.value: side for side in Side}


def _write_position(position: Position) -> str:
    """Return a position as a text."""
    words = [f"{piece.value}{square}" for piece in Piece for square in position.squares(piece)]
    return " ".join([*words, position.turn.value])


def _read_position(text: str) -> Position:
    """Return the position of a text; ValueError or KeyError if it is none."""
    *words, turn = _exactly(str, text).split(" ")
    pieces = {_SQUARES[word[1:]]: _PIECES[word[:1]] for word in words}
    if len(pieces) != len(words):
        raise ValueError("two pieces stand on one square")
    return Position.of(pieces, _SIDES[turn])


# Forms of values, by their types.


class Form(NamedTuple):
    """How the values of a type are written as JSON values, and read back.

    ``read`` takes anything: for what is no such value it raises ValueError, TypeError or
    LookupError.
    """

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]

    def to_text(self, value: object) -> str:
        """Return a value as a text, in ASCII."""
        return to_text(self.write(value))

    def from_text(self, text: str) -> Any:
        """Return the value of a text; Misread if the text is not of this form."""
        try:
            return self.read(_parsed(text))
        except _TROUBLES as error:
            raise Misread(f"This is not of that form: {text:.200} ({error}).") from error


def form_of(hint: Any) -> Form:
    """Return the form of the values of an annotation."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    arguments = get_args(hint)
    if isinstance(hint, UnionType):
        kinds = [each for each in arguments if each is not NoneType]
        form = form_of(kinds[0]) if len(kinds) == 1 else _one_of(kinds)
        if len(kinds) == len(arguments):
            return form
        return Form(
            lambda value: None if value is None else form.write(value),
            lambda value: None if value is None else form.read(value),
        )
    if get_origin(hint) is tuple and arguments[1:] == (...,):
        return _any_number(form_of(arguments[0]))
    if get_origin(hint) is tuple:
        return _array(lambda *values: values, [form_of(each) for each in arguments])
    if get_origin(hint) is frozenset:
        each = _any_number(form_of(arguments[0]))
        return Form(each.write, lambda values: frozenset(each.read(values)))
    if "crossing" in vars(hint):
        return _one_of(hint.crossing())
    if issubclass(hint, Enum):
        names = {member: member.value for member in hint}
        members = {name: member for member, name in names.items()}
        return Form(names.__getitem__, members.__getitem__)
    return _with_fields(hint)


def _one_of(kinds: list[Any]) -> Form:
    """Return the form of a union: the name of the value's type, and the value."""
    forms = {kind: form_of(kind) for kind in kinds}
    by_name = {kind.__name__: form for kind, form in forms.items()}

    def write(value: Any) -> list[Any]:
        return [type(value).__name__, forms[type(value)].write(value)]

    def read(found: Any) -> Any:
        name, value = _exactly(list, found)
        return by_name[name].read(value)

    return Form(write, read)


def _with_fields(kind: type) -> Form:
    """Return the form of a dataclass or a named tuple: an array of the values of its fields.

    Last fields of a dataclass that have defaults may be missing: an earlier version did not have
    them.
    """
    hints = get_type_hints(kind)
    least = len(hints)
    if issubclass(kind, Struct):
        hints = {each.name: hints[each.name] for each in fields(kind)}
        least = sum(each.required for each in fields(kind))
    forms = {name: form_of(hint) for name, hint in hints.items()}
    writers = [(name, form.write) for name, form in forms.items()]

    def write(value: Any) -> list[Any]:
        return [each(getattr(value, name)) for name, each in writers]

    return Form(write, _array(kind, list(forms.values()), least).read)


def _array(make: Callable[..., Any], forms: list[Form], least: int | None = None) -> Form:
    """Return the form of an array with one value for each form; ``least`` values will do."""
    readers = [form.read for form in forms]
    least = len(readers) if least is None else least

    def write(values: Any) -> list[Any]:
        return [form.write(each) for form, each in zip(forms, values, strict=True)]

    def read(values: Any) -> Any:
        if not least <= len(_exactly(list, values)) <= len(readers):
            raise ValueError(f"{len(values)} values should be {len(readers)}")
        return make(*[each(value) for each, value in zip(readers, values, strict=False)])

    return Form(write, read)


def _exactly(kind: type, value: Any) -> Any:
    """Return a value of exactly this type; TypeError for any other."""
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
    Move: Form(_write_move, _read_move),
    Position: Form(_write_position, _read_position),
    tuple[Move, ...]: Form(
        lambda moves: " ".join(map(_write_move, moves)),
        lambda text: tuple(map(_read_move, text.split(" "))) if _exactly(str, text) else (),
    ),
}


def _any_number(form: Form) -> Form:
    """Return the form of a tuple of any length."""
    return Form(
        lambda values: list(map(form.write, values)),
        lambda values: tuple(map(form.read, _exactly(list, values))),
    )


# Kinds of events.


class _Kind:
    """How events of one kind are written and read.

    Attributes:
        first: the index of the first field that the store keeps. The time comes before that, and is
            left out unless it is the event's own.
    """

    def __init__(self, name: str, kind: type[StoredEvent]) -> None:
        self.name, self._kind = name, kind
        self.first = 0 if name == _WITH_ITS_OWN_TIME else 1
        self._players = _player_fields(kind)
        self._lists = _player_fields(kind, _LISTS)
        self._matches = [place for place, each in enumerate(fields(kind)) if each.name == "match"]

    @cached_property
    def form(self) -> Form:
        """The form of its fields, made when the first event of the kind comes: few ever do."""
        return _with_fields(self._kind)

    def change_players(self, values: list[Any], change: Callable[[Any], Any]) -> None:
        """Replace each player, in the values of all fields. An earlier version had fewer."""
        known = len(values)
        for place in self._players:
            if place < known:
                values[place] = change(values[place])
        for place in self._lists:
            if place < known:
                values[place] = [change(each) for each in values[place]]
        for place in self._matches:
            match = values[place] = list(values[place])
            for inner in _OF_MATCH:
                match[inner] = change(match[inner])


def _player_fields(kind: type, names: Collection[str] = _PLAYERS) -> list[int]:
    return [place for place, each in enumerate(fields(kind)) if each.name in names]


_OF_MATCH = _player_fields(SavedMatch)
_BY_NAME = {name: _Kind(name, kind) for name, kind in KINDS.items()}
_BY_TYPE = {kind: _BY_NAME[name] for name, kind in KINDS.items()}


def stamped(event: StoredEvent, at: float) -> StoredEvent:
    """Return an event with another time.

    `msgspec.structs.replace` would check it again, which takes as long as storing it.
    """
    stamped = copy(event)
    force_setattr(stamped, "at", at)  # nobody has seen it yet
    return stamped
