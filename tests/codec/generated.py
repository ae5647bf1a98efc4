"""Events of every kind, made up from the types of their fields."""

from __future__ import annotations

from typing import get_args

from hypothesis import strategies as st

from thudmud.play.events import Event, Imported, TableEvent
from thudmud.rules import SQUARES, Move, Piece, Score, Verb

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
    verb = draw(st.sampled_from([Verb.MOVE, Verb.SHOVE])) if piece is Piece.TROLL else Verb.MOVE
    return Move(piece, origin, target, tuple(sorted(others)), verb=verb)


st.register_type_strategy(Move, _moves())
st.register_type_strategy(Score, st.builds(Score, _points, _points))
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))

some_events: st.SearchStrategy[Event] = st.sampled_from(KINDS).flatmap(st.from_type)
