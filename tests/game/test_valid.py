"""Validation of events, matches, decisions, options and clocks on construction."""

from __future__ import annotations

import pickle
from typing import Any, cast

import pytest

from tests.cases import cases
from thudmud.errors import InvalidValueError
from thudmud.game.clocks import Clock, TimeControl
from thudmud.game.events import (
    BattleEnded,
    BattleId,
    BattleStarted,
    Commented,
    Event,
    Imported,
    Joined,
    Moved,
    PositionSet,
    RulesSet,
    SavedMatch,
    TakenBack,
)
from thudmud.game.hall import Decision
from thudmud.game.match import Match
from thudmud.game.options import Colour, Element, Options
from thudmud.rules import (
    CLASSIC,
    KOOM_VALLEY,
    Ending,
    Game,
    Move,
    Outcome,
    Piece,
    Score,
    Side,
    Square,
    read_position,
)
from thudmud.values import replace

SET_UP = read_position("dA6,TG7,RH8 troll", CLASSIC)
ROCKY = read_position("dA6,TG7,RH9 troll", KOOM_VALLEY)
STUCK = read_position("TG7,RH8 dwarf", CLASSIC)
STEP = Move(Piece.DWARF, Square.parse("A6"), Square.parse("B6"))
ROLL = Move(Piece.ROCK, Square.parse("H8"), Square.parse("H7"))
SAVED = SavedMatch(
    battle_id=BattleId("oak board", 3),
    battle=1,
    rules="classic",
    earlier_points=(0, 0),
    dwarf="Anna",
    troll="Bert",
    rated=False,
    moves=(),
    outcome=None,
)
EVENTS: dict[type[Event], Event] = {
    type(event): event
    for event in (
        Joined(0.0, "Anna", Side.DWARF),
        RulesSet(0.0, "Anna", "classic"),
        PositionSet(0.0, "Anna", "classic", SET_UP),
        BattleStarted(0.0, "Anna", 1, "classic", "Anna", "Bert"),
        Moved(0.0, "Anna", Side.DWARF, STEP, 1),
        TakenBack(0.0, "Anna", Side.DWARF, (STEP,)),
        BattleEnded(0.0, "A", Outcome(Ending.CLAIM, None, Score(0, 0)), 9, "A", "B"),
        Imported(-1.0, "", "classic", "", "", "", 0, None),
    )
}


def changed(value: Any, field: str, other: object) -> object:
    return replace(value, **{field: other})


@cases(
    ("kind", "field", "value", "problem"),
    [
        *(
            (kind, "at", float(at), "expected a time")
            for kind in EVENTS
            for at in ("nan", "inf", "1e12")
        ),
        (Joined, "at", -1e12, "expected a time"),
        *((kind, "player", " Anna", "expected a name") for kind in EVENTS),
        *((Joined, "player", name, "expected a name") for name in ("", "a\nb", "a\x1b", "a" * 81)),
        *((kind, "rules", "chess", "unknown rules: 'chess'") for kind in (RulesSet, BattleStarted)),
        *(
            (kind, "opening", position, problem)
            for kind in (PositionSet, BattleStarted)
            for position, problem in [
                (ROCKY, "expected the Thudstone at RH8"),
                (STUCK, "expected a set-up position"),
                (CLASSIC.initial_position, "expected a set-up position"),
            ]
        ),
        (Imported, "rules", "chess", "unknown rules: 'chess'"),
        (Imported, "plies", -1, "expected a non-negative number of plies"),
        *((BattleStarted, "number", number, "expected a battle from 1 to 2") for number in (0, 3)),
        *((BattleStarted, side, "", "expected a name") for side in ("dwarf", "troll")),
        *((BattleEnded, side, "", "expected a name") for side in ("dwarf", "troll")),
        (BattleEnded, "plies", -1, "expected non-negative plies"),
        (BattleEnded, "points", (1, -1), "plies and points"),
        (Moved, "ply", 0, "at least 1"),
        (Moved, "side", Side.TROLL, "expected a move of the trolls, got dA6-B6"),
        (TakenBack, "moves", (), "expected at least one move"),
    ],
)
def test_event_with_an_invalid_field_is_rejected(
    kind: type[Event], field: str, value: object, problem: str
) -> None:
    with pytest.raises(InvalidValueError, match=problem):
        changed(EVENTS[kind], field, value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("key", ""),
        ("version", 0),
        ("ply", -1),
        ("text", "a" * 301),
        ("text", " a"),
        ("text", "a\nb"),
        ("text", "a\x1bb"),
    ],
)
def test_comment_with_an_invalid_field_is_rejected(field: str, value: object) -> None:
    said = Commented(0.0, "Anna", "oak board", 3, 0, "Te\u200dxt")
    with pytest.raises(InvalidValueError):
        changed(said, field, value)


def test_rated_battle_from_a_setup_is_rejected() -> None:
    started = replace(cast("BattleStarted", EVENTS[BattleStarted]), opening=SET_UP)
    with pytest.raises(InvalidValueError, match="can't be rated"):
        replace(started, rated=True)


def test_rock_ply_belongs_to_the_dwarfs() -> None:
    assert Moved(0.0, "Anna", Side.DWARF, ROLL, 1).move is ROLL
    with pytest.raises(InvalidValueError, match="expected a move of the trolls, got RH8-H7"):
        Moved(0.0, "Anna", Side.TROLL, ROLL, 1)


@pytest.mark.parametrize("event", [*EVENTS.values(), SAVED], ids=lambda event: type(event).__name__)
def test_events_hash_and_pickle(event: Event) -> None:
    again = pickle.loads(pickle.dumps(event))  # noqa: S301  (our own bytes)
    assert again == event
    assert hash(again) == hash(event)


@pytest.mark.parametrize(
    ("field", "value"), [("battle", 7), ("battle", 0), ("earlier_points", (-1, 0))]
)
def test_match_with_an_invalid_field_is_rejected(field: str, value: object) -> None:
    match = Match(Game.start(CLASSIC), BattleId("oak board", 3), "Anna", "Bert")
    with pytest.raises(InvalidValueError):
        changed(match, field, value)
    with pytest.raises(InvalidValueError):
        changed(SAVED, field, value)


@pytest.mark.parametrize(("field", "value"), [("rules", "chess"), ("dwarf", ""), ("troll", "")])
def test_saved_match_with_an_invalid_field_is_rejected(field: str, value: str) -> None:
    with pytest.raises(InvalidValueError):
        changed(SAVED, field, value)


def test_decision_without_a_board_or_version_is_rejected() -> None:
    joined = EVENTS[Joined]
    with pytest.raises(InvalidValueError, match="needs a board"):
        Decision("Anna", events=(joined,))  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match="expected a non-negative version"):
        Decision("Anna", "oak board", -1)


@pytest.mark.parametrize("width", [0, 19, 501])
def test_screen_width_out_of_range_is_rejected(width: int) -> None:
    with pytest.raises(InvalidValueError, match="20 to 500 columns"):
        Options(width=width)


@pytest.mark.parametrize("shade", [-1, 256, (0, 0, 256), (-1, 0, 0), (1, 2)])
def test_colour_out_of_range_is_rejected(shade: int | tuple[int, ...]) -> None:
    for ground in ("foreground", "background"):
        with pytest.raises(InvalidValueError, match="invalid colour"):
            changed(Colour(), ground, shade)


def test_element_with_two_colours_is_rejected() -> None:
    with pytest.raises(InvalidValueError, match="expected one colour"):
        Options(elements=((Element.ROCK, Colour(1)), (Element.ROCK, Colour(2))))


@pytest.mark.parametrize(
    "wrong",
    [{"spent": (3.0, -1.0)}, {"used": -1.0}, {"stood": -1.0}, {"excused": (0.0, -1.0)}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_clock_with_negative_times_is_rejected(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError, match="expected non-negative times"):
        Clock(TimeControl(1), 0.0, Side.DWARF, **wrong)


def test_saved_clock_with_a_negative_ply_time_is_rejected() -> None:
    clock = Clock(TimeControl(1), 0.0, Side.DWARF, spent=(3.0, 0.0, 2.0))
    assert replace(SAVED, clock=clock).clock == clock
    with pytest.raises(InvalidValueError, match="expected non-negative times"):
        replace(SAVED, clock=replace(clock, spent=(3.0, -0.1, 2.0)))
