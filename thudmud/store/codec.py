"""The codec of events: to text and back, for rows of the store and for lines outside of it.

The meaning of a stored text never changes.

An event is a JSON array: the name of its kind, then its fields in order. A field's type determines
its form: an enum is its value, a tuple is an array, a value with fields is an array of them. A move
is a short word, such as ``dA6-B6`` and ``TG7=F7xE7xE8``: the piece, its origin, a mark for the
verb, its target, and its captures in order. Squares have the names of our boards. Unlike the
notation of game records, the word preserves the verb, and distinguishes a trample from other
captures.

A position is a string of words, one for each piece and its square, and one for the side to move, as
in ``dA6 dB6 TG7 XH8 troll``.

A line, for embedders who store a house's events, is a JSON array: the schema of the writer, the
event's stream, and the event.

A row of the store has only the event's array, with two differences. A player is a number, that of a
row of ``player``, so a name can be changed or erased in one row, however many events refer to it.
And the time is left out: the store stamps it, and has a column for it. (Only an imported battle has
a time of its own, when it was played.) The numbers never leave the store: elsewhere events have
names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property, lru_cache
from json import JSONEncoder
from typing import Any, NamedTuple, TypeVar, cast, get_args, get_type_hints

import msgspec
from msgspec import MsgspecError, structs

from thudmud.errors import ThudmudError
from thudmud.game.events import Event, SavedMatch, StoredEvent
from thudmud.rules import SQUARES, Ending, Move, Outcome, Piece, Position, Score, Side, Verb
from thudmud.store.interface import DamagedStoreError, UnknownFormatError

T = TypeVar("T")

SCHEMA = 1
"""The schema that events are written in. Fields are only ever added at the end, with a default. For
any other change, raise it, and read the older form as well. The tests have samples."""

KINDS: Mapping[str, type[StoredEvent]] = {
    str(kind.__struct_config__.tag): kind for kind in get_args(StoredEvent)
}
"""The kinds of events by their tags, the names under which they are stored."""

_WITH_ITS_OWN_TIME = "imported"
"""The name of the kind whose time is stored in the array; all others have it in a column."""

_PLAYERS = {"player", "dwarf", "troll", "seeker", "to", "first", "second", "by"}
"""The fields with a player's name, in events and in adjourned matches."""

_LISTS = {"players", "missing"}
"""The fields with several players' names."""


class MalformedTextError(ThudmudError, ValueError):
    """A stored string is malformed: no version of this program wrote it."""


class NewerSchemaError(ThudmudError, ValueError):
    """A later version of this program wrote the text."""


# Lines, for embedders who store a house's events.


def to_line(stream: str, event: Event) -> str:
    """Encode an event and its stream as one line of ASCII text.

    Raises:
        ValueError: a number in the event is not finite.
    """
    kind = _BY_TYPE[type(event)]
    return to_text([SCHEMA, stream, [kind.name, *kind.write(event)]])


def from_line(line: str) -> tuple[str, Event]:
    """Decode a line of `to_line`, into its stream and its event.

    Raises:
        NewerSchemaError: a later version of this program wrote it.
        MalformedTextError: no version wrote it.
    """
    try:
        schema, stream, array = _parsed(str(line).strip())
        if type(schema) is not int or type(stream) is not str:
            raise TypeError("expected a number and a name at the beginning")
        if schema < SCHEMA:
            raise ValueError(f"unknown schema {schema}")
        event = _from_array(array) if schema == SCHEMA else None
    except _TROUBLES as error:
        raise MalformedTextError(f"Not an event: {line!s:.200} ({error}).") from error
    if event is None:
        raise NewerSchemaError(
            f"An event has schema {schema}, but this version of thudmud only knows schemas up "
            f"to {SCHEMA}."
        )
    return stream, event


def _from_array(array: Any) -> Event:
    name, *values = array
    if name not in _LINES:
        raise ValueError(f"unknown kind {name!r:.50}")
    return cast("Event", _BY_NAME[name].read(values))


# The store's arrays, with numbers for players.


def to_array(event: StoredEvent, number_of: Callable[[str], int]) -> list[Any]:
    """Encode an event as the store's array, with numbers in place of players' names.

    Raises:
        ValueError: a number in it is not finite.
    """
    kind = _BY_TYPE[type(event)]
    values = kind.write(event)
    kind.change_players(values, number_of)
    return [kind.name, *values[kind.first :]]


def players_of(event: StoredEvent) -> list[str]:
    """Return the players' names in an event; some may be empty."""
    kind = _BY_TYPE[type(event)]
    found: list[str] = []
    kind.change_players(kind.write(event), found.append)
    return found


def from_array(array: list[Any], at: float, name_of: Callable[[int], str]) -> StoredEvent:
    """Decode the store's array of an event.

    Args:
        array: the array.
        at: the time of the event, in seconds since the epoch.
        name_of: returns the name of the player with the given number.

    Raises:
        ValueError, TypeError or LookupError: the array is malformed.
    """
    kind = _BY_NAME[array[0]]
    values = [at, *array[1:]] if kind.first else array[1:]
    kind.change_players(values, name_of)
    return cast("StoredEvent", kind.read(values))


def from_text(schema: int, text: str, at: float, name_of: Callable[[int], str]) -> StoredEvent:
    """Decode the stored text of an event.

    Args:
        schema: the schema that it was written in.
        text: the store's array, as JSON.
        at: the time of the event, in seconds since the epoch.
        name_of: returns the name of the player with the given number.

    Raises:
        UnknownFormatError: a later version of this program wrote it.
        DamagedStoreError: no version wrote it.
    """
    try:
        if schema > SCHEMA:
            raise UnknownFormatError(
                f"An event was written by a later version of thudmud: it has schema {schema}, and "
                f"this version knows schemas up to {SCHEMA}."
            )
        return from_array(_parsed(text), at, name_of)
    except _TROUBLES as error:
        raise DamagedStoreError(f"Not an event: {text!s:.200} ({error}).") from error


_PLY = '["moved",'
"""The beginning of the text of a ply."""


def is_ply(text: str) -> bool:
    """Return whether the stored text of an event is that of a ply."""
    return text.startswith(_PLY)


def ply_from_text(schema: int, text: str) -> tuple[Side, Move, int] | None:
    """Decode the stored text of a ply without its player, in a third of the time of `from_text`.

    Returns:
        The side that moved, the move, and the ply's number; None for any other text, including a
        ply that `from_text` refuses.
    """
    if schema != SCHEMA or not is_ply(text):
        return None
    try:
        _, player, side, word, number = _parsed(text)
        turn, move = _SIDES[side], _read_move(word)
    except _TROUBLES:
        return None
    is_whole = type(player) is int and type(number) is int and number > 0
    return (turn, move, number) if is_whole and (move.piece.side or Side.DWARF) is turn else None


_TROUBLES = (MsgspecError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError)
"""The exceptions of decoding a malformed string."""


_parsed = msgspec.json.decode

to_text: Callable[[object], str] = JSONEncoder(separators=(",", ":"), allow_nan=False).encode
"""Encodes JSON values as stored text, in ASCII; ValueError if a number is not finite."""


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
    """Encode a move as a word."""
    mark = _MARKS[move.verb, move.is_trample]
    captures = "".join([f"x{square}" for square in move.captures]) if move.captures else ""
    return f"{_LETTERS[move.piece]}{move.origin}{mark}{move.target}{captures}"


@lru_cache(maxsize=1 << 14)  # the same moves recur in many battles
def _read_move(word: str) -> Move:
    """Decode a move's word; ValueError or KeyError if it is malformed."""
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
    """Encode a position as a string."""
    words = [f"{piece.value}{square}" for piece in Piece for square in position.squares(piece)]
    return " ".join([*words, position.turn.value])


def _read_position(text: str) -> Position:
    """Decode a position; ValueError or KeyError if the string is malformed."""
    *words, turn = str.split(text, " ")
    pieces = {_SQUARES[word[1:]]: _PIECES[word[:1]] for word in words}
    if len(pieces) != len(words):
        raise ValueError("two pieces stand on one square")
    return Position.of(pieces, _SIDES[turn])


# Outcomes.


def _write_outcome(outcome: Outcome | None) -> list[Any] | None:
    """Encode an outcome: its ending, its winner, and the points of dwarfs and trolls."""
    if outcome is None:
        return None
    return [outcome.ending, outcome.winner, [outcome.score.dwarf, outcome.score.troll]]


def _read_outcome(array: Any) -> Outcome | None:
    if array is None:
        return None
    ending, winner, points = msgspec.convert(array, tuple[Ending, Side | None, tuple[int, int]])
    return Outcome(ending, winner, Score(*points))


# Other values.


def _plain(value: object) -> object:
    """Encode a value of a subclass of a built-in type, such as a host's names, as the latter's."""
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    raise NotImplementedError


class Form(NamedTuple):
    """The codec of values of one type, as texts.

    Attributes:
        kind: the type, as `msgspec` takes it.
        opaque: by class, its only value, for classes whose values cannot be encoded.
    """

    kind: Any
    opaque: Mapping[type, object] = {}

    def to_text(self, value: object) -> str:
        """Encode a value as ASCII text."""

        def plain(found: object) -> object:
            return [] if isinstance(found, tuple(self.opaque)) else _plain(found)

        return to_text(msgspec.to_builtins(value, enc_hook=plain))

    def from_text(self, text: str) -> Any:
        """Decode a value; MalformedTextError if the string is malformed."""

        def build(found: object) -> object:
            return msgspec.convert(found, self.kind, dec_hook=lambda kind, _: self.opaque[kind])

        return from_json(text, build)


def from_json(text: str, build: Callable[[Any], T]) -> T:
    """Build a value from a JSON string; MalformedTextError if ``build`` or the parser fails."""
    try:
        return build(_parsed(text))
    except _TROUBLES as error:
        raise MalformedTextError(f"Malformed: {text:.200} ({error}).") from error


# Kinds of events.


class _Word(NamedTuple):
    """A compact form for fields of one type, instead of `msgspec`'s."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def write_moves(moves: tuple[Move, ...]) -> str:
    """Encode moves as words."""
    return " ".join(map(_write_move, moves))


def read_moves(text: str) -> tuple[Move, ...]:
    """Decode the words of moves; ValueError, TypeError or KeyError if they are malformed."""
    words = str.split(text, " ")
    return tuple(map(_read_move, words)) if text else ()


class _Kind:
    """The codec of events of one kind, or of adjourned matches.

    Attributes:
        name: the name of the kind.
        first: the index of the first field in the store's array. The time comes before that, and is
            left out unless it is the event's own.
    """

    def __init__(self, kind: type[StoredEvent | SavedMatch]) -> None:
        self.name, self._kind = str(kind.__struct_config__.tag), kind
        self.first = 0 if self.name == _WITH_ITS_OWN_TIME else 1
        names = kind.__struct_fields__
        self._players = [place for place, name in enumerate(names) if name in _PLAYERS]
        self._lists = [place for place, name in enumerate(names) if name in _LISTS]
        self._matches = [place for place, name in enumerate(names) if name == "match"]

    @cached_property
    def _words(self) -> list[tuple[int, _Word]]:
        """The fields with a compact form; computed on first use, since few kinds ever occur."""
        hints = get_type_hints(self._kind)
        names = enumerate(self._kind.__struct_fields__)
        return [(place, _WORDS[hints[name]]) for place, name in names if hints[name] in _WORDS]

    @cached_property
    def _scalars(self) -> list[tuple[int, type]]:
        """The fields of type bool or int, which are distinct types for a reader of JSON."""
        return [
            (place, exact)
            for place, field in enumerate(structs.fields(self._kind))
            for exact in (bool, int)
            if field.type in (exact, exact | None)
        ]

    def write(self, value: StoredEvent | SavedMatch) -> list[Any]:
        """Encode the values of all fields as JSON values."""
        values = list(structs.astuple(value))
        for place, word in self._words:
            values[place] = word.write(values[place])
        for place, exact in self._scalars:
            if type(values[place]) is not exact and values[place] is not None:
                values[place] = exact(values[place])
        array: list[Any] = msgspec.to_builtins(values, enc_hook=_plain)
        return array

    def read(self, values: Sequence[Any]) -> Any:
        """Decode the values of the fields, of which an earlier version had fewer.

        Raises:
            MsgspecError, ValueError, TypeError or LookupError: they are malformed.
        """
        return msgspec.convert([self.name, *self.read_words(values)], self._kind)

    def read_words(self, values: Sequence[Any]) -> list[Any]:
        """Decode those values that have a compact form."""
        found = [*values]
        for place, word in self._words:
            if place < len(found):
                found[place] = word.read(found[place])
        return found

    def change_players(self, values: list[Any], change: Callable[[Any], Any]) -> None:
        """Replace each player in the values of the fields; an earlier version had fewer."""
        known = len(values)
        for place in self._players:
            if place < known:
                values[place] = change(values[place])
        for place in self._lists:
            if place < known:
                values[place] = [change(each) for each in values[place]]
        for place in self._matches:
            match = values[place] = list(values[place])
            _MATCH.change_players(match, change)


_MATCH = _Kind(SavedMatch)
_BY_NAME = {name: _Kind(kind) for name, kind in KINDS.items()}
_BY_TYPE = {kind: _BY_NAME[name] for name, kind in KINDS.items()}
_LINES = {str(kind.__struct_config__.tag) for kind in get_args(Event)}
"""The names of the kinds that lines can have: events of boards, and imported battles."""

_WORDS: Mapping[Any, _Word] = {
    Move: _Word(_write_move, _read_move),
    tuple[Move, ...]: _Word(write_moves, read_moves),
    Position | None: _Word(
        lambda position: position and _write_position(position),
        lambda text: None if text is None else _read_position(text),
    ),
    **dict.fromkeys((Outcome, Outcome | None), _Word(_write_outcome, _read_outcome)),
    SavedMatch: _Word(_MATCH.write, _MATCH.read_words),
}


def stamped(event: StoredEvent, at: float) -> StoredEvent:
    """Return an event with another time.

    `msgspec.structs.replace` would validate it again, which takes as long as storing it.
    """
    stamped = copy(event)
    structs.force_setattr(stamped, "at", at)  # safe: the copy is not shared yet
    return stamped
