"""Events of every kind, made up from the types of their fields."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

from hypothesis import strategies as st

from thudmud.play.events import (
    BATTLES,
    LATEST,
    Event,
    Imported,
    Levels,
    Moved,
    SavedMatch,
    TableEvent,
    TakenBack,
)
from thudmud.rules import RULESETS, SQUARES, Move, Piece, Score, Side, Verb

KINDS: tuple[type[Event], ...] = (*get_args(TableEvent), Imported)

_points = st.integers(0, 10**6)
_squares = st.sampled_from(SQUARES)


@st.composite
def _moves(draw: st.DrawFn) -> Move:
    """Return any move that there can be."""
    piece = draw(st.sampled_from([Piece.DWARF, Piece.TROLL, Piece.ROCK]))
    origin, target, *others = draw(st.lists(_squares, min_size=2, max_size=10, unique=True))
    if piece is Piece.ROCK:
        return Move(piece, origin, target)
    if piece is Piece.DWARF and draw(st.booleans()):
        return Move(piece, origin, target, (target,), verb=Verb.HURL)
    if piece is Piece.TROLL and others and draw(st.booleans()):
        end = draw(st.sampled_from([origin, target]))
        return Move(piece, origin, end, tuple(others), trample=True)
    may_be_shoved = piece is Piece.TROLL and others
    verb = draw(st.sampled_from([Verb.MOVE, Verb.SHOVE])) if may_be_shoved else Verb.MOVE
    return Move(piece, origin, target, tuple(sorted(others)), verb=verb)


_names = st.text(
    st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=80
)
_counts = st.integers(0, 10**6)
_level = st.none() | st.integers(0, 10**6)
_levels = st.builds(Levels, _level, _level)
_saved = st.builds(
    SavedMatch,
    battle=st.integers(1, BATTLES),
    rules=st.sampled_from(list(RULESETS)),
    before=st.tuples(_counts, _counts),
    dwarf=_names,
    troll=_names,
    levels=_levels,
)
_FIELDS: dict[str, st.SearchStrategy[object]] = {
    "at": st.floats(0, LATEST),
    "player": _names,
    "dwarf": _names,
    "troll": _names,
    "rules": st.sampled_from(list(RULESETS)),
    "number": st.integers(1, BATTLES),
    "plies": _counts,
    "points": st.none() | st.tuples(_counts, _counts),
    "match": _saved,
    "level": _level,
    "levels": _levels,
}
"""What the fields of that name may be, in whichever event; others are as their types are."""


def _events(kind: type[Event]) -> st.SearchStrategy[Event]:
    if kind is Moved:
        return st.builds(_moved, _FIELDS["at"], _names, _moves(), st.integers(1, 10**6))
    chosen = {each.name: _FIELDS[each.name] for each in fields(kind) if each.name in _FIELDS}
    if kind is TakenBack:
        chosen["moves"] = st.lists(_moves(), min_size=1, max_size=2).map(tuple)
    if kind is Imported:
        chosen |= dict.fromkeys(("player", "dwarf", "troll"), _names | st.just(""))
    return st.builds(kind, **chosen)


def _moved(at: float, player: str, move: Move, ply: int) -> Moved:
    return Moved(at, player, move.piece.side or Side.DWARF, move, ply)


st.register_type_strategy(Move, _moves())
st.register_type_strategy(Score, st.builds(Score, _points, _points))

some_events: st.SearchStrategy[Event] = st.sampled_from(KINDS).flatmap(_events)
