"""Events of every kind, made up from the types of their fields."""

from __future__ import annotations

from typing import get_args

from hypothesis import strategies as st

from thudmud.engine import SQUARES, Move, Piece, Verb
from thudmud.tables.events import Event, Imported, TableEvent

KINDS: tuple[type[Event], ...] = (*get_args(TableEvent), Imported)

_squares = st.sampled_from(SQUARES)


@st.composite
def _moves(draw: st.DrawFn) -> Move:
    trample = draw(st.booleans())
    verb = Verb.MOVE if trample else draw(st.sampled_from(Verb))
    piece = draw(st.sampled_from([Piece.DWARF, Piece.TROLL, Piece.ROCK]))
    captures = tuple(draw(st.lists(_squares, max_size=8)))
    return Move(piece, draw(_squares), draw(_squares), captures, trample, verb)


st.register_type_strategy(Move, _moves())
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))

some_events: st.SearchStrategy[Event] = st.sampled_from(KINDS).flatmap(st.from_type)
