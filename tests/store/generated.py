"""Events of every kind, generated from the types of their fields."""

from __future__ import annotations

from functools import partial
from typing import Any, get_args

from hypothesis import strategies as st
from msgspec.structs import fields

from thudmud.game.clocks import Clock, TimeControl
from thudmud.game.events import (
    BATTLES,
    LATEST,
    BattleId,
    BattleStarted,
    Event,
    Imported,
    Levels,
    Moved,
    PositionSet,
    SavedMatch,
    TableEvent,
    TakenBack,
)
from thudmud.rules import RULESETS, SQUARES, Move, Outcome, Piece, Position, Score, Side, Verb
from thudmud.values import replace

KINDS: tuple[type[Event], ...] = (*get_args(TableEvent), Imported)

_points = st.integers(0, 10**6)
_squares = st.sampled_from(SQUARES)


@st.composite
def _moves(draw: st.DrawFn) -> Move:
    """Return a strategy for all possible moves."""
    piece = draw(st.sampled_from([Piece.DWARF, Piece.TROLL, Piece.ROCK]))
    origin, target, *others = draw(st.lists(_squares, min_size=2, max_size=10, unique=True))
    if piece is Piece.ROCK:
        return Move(piece, origin, target)
    if piece is Piece.DWARF and draw(st.booleans()):
        return Move(piece, origin, target, (target,), verb=Verb.HURL)
    if piece is Piece.TROLL and others and draw(st.booleans()):
        end = draw(st.sampled_from([origin, target]))
        return Move(piece, origin, end, tuple(others), is_trample=True)
    may_be_shoved = piece is Piece.TROLL and others
    verb = draw(st.sampled_from([Verb.MOVE, Verb.SHOVE])) if may_be_shoved else Verb.MOVE
    return Move(piece, origin, target, tuple(sorted(others)), verb=verb)


_names = st.text(
    st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=80
)
_counts = st.integers(0, 10**6)
_level = st.none() | st.integers(0, 10**6)
_levels = st.builds(Levels, _level, _level)


@st.composite
def _rules_and_openings(draw: st.DrawFn) -> tuple[str, Position | None]:
    """Return the name of a ruleset and a custom initial position for it, or None."""
    rules = draw(st.sampled_from(list(RULESETS.values())))
    taken = rules.initial_position.squares(Piece.STONE) + rules.initial_position.squares(Piece.ROCK)
    free = [square for square in SQUARES if square not in taken]
    squares = draw(st.lists(st.sampled_from(free), max_size=12, unique=True))
    kinds = st.sampled_from([Piece.DWARF, Piece.TROLL])
    pieces = {square: draw(kinds) for square in squares}
    position = replace(
        Position.of(pieces, draw(st.sampled_from(Side))),
        stone=rules.initial_position.stone,
        rock=rules.initial_position.rock,
    )
    try:
        PositionSet(0.0, "Anna", rules.name, position)
    except ValueError:
        return rules.name, None
    return rules.name, position


_times = st.builds(TimeControl, st.integers(1, 180), st.integers(0, 180)) | st.builds(
    TimeControl, days=st.integers(1, 14)
)
_seconds = st.floats(0, LATEST)
_clocks = st.builds(
    Clock,
    _times,
    _seconds,
    st.sampled_from(Side),
    st.lists(_seconds, max_size=5).map(tuple),
    _seconds,
    _seconds,
    st.booleans(),
)
_saved = st.builds(
    lambda rules, **values: SavedMatch(rules=rules[0], opening=rules[1], **values),
    rules=_rules_and_openings(),
    battle_id=st.from_type(BattleId),
    battle=st.integers(1, BATTLES),
    earlier_points=st.tuples(_counts, _counts),
    dwarf=_names,
    troll=_names,
    rated=st.booleans(),
    moves=st.lists(_moves()).map(tuple),
    outcome=st.none() | st.deferred(lambda: st.from_type(Outcome)),
    levels=_levels,
    clock=st.none() | _clocks,
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
    "time": st.none() | _times,
    "seconds": _seconds,
}
"""Strategies by field name, for all events; other fields follow from their types."""


def _events(kind: type[Event]) -> st.SearchStrategy[Event]:
    if kind is Moved:
        return st.builds(_moved, _FIELDS["at"], _names, _moves(), st.integers(1, 10**6))
    chosen = {each.name: _FIELDS[each.name] for each in fields(kind) if each.name in _FIELDS}
    if kind is TakenBack:
        chosen["moves"] = st.lists(_moves(), min_size=1, max_size=2).map(tuple)
    if kind in {PositionSet, BattleStarted}:
        chosen["rules_and_opening"] = _rules_and_openings()
        return st.builds(partial(_set_up, kind), **chosen)
    if kind is Imported:
        chosen |= dict.fromkeys(("player", "dwarf", "troll"), _names | st.just(""))
    return st.builds(kind, **chosen)


def _set_up(
    kind: type[Event], rules_and_opening: tuple[str, Position | None], **values: Any
) -> Event:
    values["rules"], values["opening"] = rules_and_opening
    return kind(**values)


def _moved(at: float, player: str, move: Move, ply: int) -> Moved:
    return Moved(at, player, move.piece.side or Side.DWARF, move, ply)


st.register_type_strategy(Move, _moves())
st.register_type_strategy(Score, st.builds(Score, _points, _points))

some_events: st.SearchStrategy[Event] = st.sampled_from(KINDS).flatmap(_events)
