"""Folding a table from any complete event gives the same table as folding all events."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import get_args

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.game.annals import Annals
from tests.game.conftest import GRACE
from thudmud.errors import RefusedError
from thudmud.features.matchmaking.commands import No
from thudmud.features.playing.moves import Adjourn, Claim, End, Play, Resign, Start, Undo
from thudmud.features.playing.seats import Join, Leave, Practice
from thudmud.features.playing.setup import SetClock, SetRules, SetUpLess, SetUpMore
from thudmud.game.clocks import TimeControl
from thudmud.game.events import (
    Adjourned,
    BattleId,
    BattleStarted,
    Joined,
    Offered,
    Parting,
    Resumed,
    SavedMatch,
    TableEvent,
    is_complete,
)
from thudmud.game.hall import Hall
from thudmud.game.match import Match, fold_game
from thudmud.game.table import BoardSpec, Table, require_applicable
from thudmud.game.tables import (
    Context,
    TableCommand,
    come_back,
    decide,
    leave_server,
    overdue_events,
    resume,
    stop_clock_for_outage,
)
from thudmud.rules import Game, Side, Square
from thudmud.values import replace

SPEC = BoardSpec("oak board")
NEW = Table.set_up(SPEC, 3, GRACE, GRACE)
PLAYERS = ("Anna", "Bert", "Carla")
MEMBERS = frozenset({"Anna", "Bert"})
COMMANDS: tuple[TableCommand, ...] = (
    Join(Side.DWARF),
    Join(Side.TROLL),
    Leave(),
    Start(),
    Start(),
    End(),
    Resign(),
    Undo(),
    Undo(),
    No(),
    Claim(),
    Adjourn(),
    SetRules("classic"),
    SetRules("koom valley"),
    SetClock(TimeControl(1, 2)),
    SetClock(TimeControl(days=1)),
    SetClock(None),
    SetUpMore(turn=Side.TROLL),
    SetUpLess((Square.parse("A6"),)),
    Practice(),
    Practice("classic"),
)

Deed = Callable[[Table, float, list[SavedMatch]], tuple[TableEvent, ...]]


def does(player: str, command: TableCommand, members: frozenset[str]) -> Deed:
    return lambda table, now, _: decide(table, player, command, Context(now, members))


def plays(number: int) -> Deed:
    """Return a deed in which the player to move plays a legal ply."""

    def deed(table: Table, now: float, _: list[SavedMatch]) -> tuple[TableEvent, ...]:
        if not (table.is_running and table.game):
            return ()
        player = table.seats.get(table.game.position.turn)
        if player is None:
            return ()
        legal = table.game.legal_moves()
        command = Play(legal[number % len(legal)].attempt())
        return decide(table, player, command, Context(now))

    return deed


def agreed(command: TableCommand, *, declined: bool) -> Deed:
    """Return a deed in which Anna makes an offer and Bert answers it."""

    def deed(table: Table, now: float, _: list[SavedMatch]) -> tuple[TableEvent, ...]:
        offered = decide(table, "Anna", command, Context(now, MEMBERS))
        if not isinstance(offered[-1], Offered):
            return offered  # no answer is needed
        answer = No() if declined else command
        agreed = decide(after(table, offered), "Bert", answer, Context(now, MEMBERS))
        return (*offered, *agreed)

    return deed


def time_passes(table: Table, now: float, _: list[SavedMatch]) -> tuple[TableEvent, ...]:
    return overdue_events(table, now)


def server_was_gone(table: Table, now: float, _: list[SavedMatch]) -> tuple[TableEvent, ...]:
    return stop_clock_for_outage(table, [(now - 1.0, now)], now)


def goes_away(player: str, parting: Parting) -> Deed:
    def deed(table: Table, now: float, _: list[SavedMatch]) -> tuple[TableEvent, ...]:
        return leave_server(table, player, parting, now)

    return deed


def all_leave(table: Table, now: float, _: list[SavedMatch]) -> tuple[TableEvent, ...]:
    events: tuple[TableEvent, ...] = ()
    for player in table.seats.values():
        events += decide(after(table, events), player, Leave(), Context(now))
    return events


def comes_back(player: str) -> Deed:
    return lambda table, now, _: come_back(table, player, now)


def goes_on(number: int) -> Deed:
    def deed(table: Table, now: float, saved: list[SavedMatch]) -> tuple[TableEvent, ...]:
        if not saved:
            return ()
        match = saved[number % len(saved)]
        return resume(table, match.dwarf, match, Context(now))

    return deed


def after(table: Table, events: Iterable[TableEvent]) -> Table:
    for event in events:
        table = table.apply(event)
    return table


PLAYER = st.sampled_from(PLAYERS)
DEEDS = st.one_of(
    st.builds(does, PLAYER, st.sampled_from(COMMANDS), st.just(MEMBERS)),
    st.builds(plays, st.integers(0, 200)),
    st.builds(plays, st.integers(0, 200)),
    st.builds(agreed, st.sampled_from([Undo(), Adjourn(), End(), Start()]), declined=st.booleans()),
    st.builds(goes_away, PLAYER, st.sampled_from(Parting)),
    st.builds(comes_back, PLAYER),
    st.just(all_leave),
    st.just(time_passes),
    st.just(server_was_gone),
    st.builds(goes_on, st.integers(0, 5)),
)
ALONE: list[tuple[Deed, float]] = [(does("Anna", Practice(), MEMBERS), 0.0)]
"""One player at both seats, which random histories seldom reach."""
CHOSEN: list[tuple[Deed, float]] = [
    (does("Anna", SetRules("classic"), MEMBERS), 0.0),
    (does("Anna", SetUpMore(turn=Side.TROLL), MEMBERS), 0.0),
    (does("Anna", SetClock(TimeControl(1, 2)), MEMBERS), 0.0),
    (does("Anna", Join(Side.DWARF), MEMBERS), 0.0),
    (does("Bert", Join(Side.TROLL), MEMBERS), 0.0),
    (does("Anna", Start(), MEMBERS), 0.0),
]
BEGUN: list[tuple[Deed, float]] = [
    (does("Anna", Join(Side.DWARF), MEMBERS), 0.0),
    (does("Bert", Join(Side.TROLL), MEMBERS), 0.0),
    (does("Anna", Start(), MEMBERS), 0.0),
]
WAITS = st.sampled_from([0.0, 0.0, 0.0, 1.0, GRACE])
HISTORIES = st.builds(
    operator.add,
    st.sampled_from([BEGUN, BEGUN, CHOSEN, ALONE]),
    st.lists(st.tuples(DEEDS, WAITS), min_size=10, max_size=60),
)


def happen(deeds: list[tuple[Deed, float]]) -> list[TableEvent]:
    """Return the events of some deeds, skipping refused ones."""
    table, now, events = NEW, 0.0, []
    saved: list[SavedMatch] = []
    for deed, wait in deeds:
        now += wait
        try:
            new = deed(table, now, saved)
        except RefusedError:
            continue
        for event in new:
            table = table.apply(event)
            events.append(event)
            if isinstance(event, Adjourned):
                saved.append(event.match)
            elif isinstance(event, Resumed):
                saved.remove(event.match)
    return events


def folded(events: Iterable[TableEvent], version: int = 0) -> Table:
    """Return the table folded from events that follow ``version``."""
    return after(replace(NEW, version=version), events)


ALONE_AFTER_A_CLOCK_WAS_SET: list[tuple[Deed, float]] = [
    *ALONE,
    (plays(0), 0.0),
    (does("Anna", Adjourn(), MEMBERS), 0.0),
    (does("Anna", SetClock(TimeControl(1, 2)), MEMBERS), 0.0),
    (goes_on(0), 0.0),
]


@given(HISTORIES)
@example(ALONE_AFTER_A_CLOCK_WAS_SET)
def test_fold_from_any_complete_event_equals_the_full_fold(deeds: list[tuple[Deed, float]]) -> None:
    events = happen(deeds)
    whole = folded(events)
    assert whole.version == len(events)
    complete = [at for at, event in enumerate(events) if is_complete(event)]
    assert complete
    for at in complete:
        assert folded(events[at:], at) == whole


@given(HISTORIES)
def test_hall_is_restored_from_the_last_complete_event(deeds: list[tuple[Deed, float]]) -> None:
    events = happen(deeds)
    at = max(at for at, event in enumerate(events) if is_complete(event))
    hall = Hall([SPEC], 3, GRACE, idle_limit=GRACE)
    hall.restore(SPEC.name, at, [(event, None) for event in events[at:]])
    assert hall.tables[SPEC.name] == folded(events)


@given(HISTORIES)
def test_saved_match_is_restored_unchanged(deeds: list[tuple[Deed, float]]) -> None:
    table = NEW
    for event in happen(deeds):
        table = table.apply(event)
        if table.match:
            clock = table.match.clock
            at = clock.at if clock else 0.0
            there = replace(table.match, clock=clock and clock.resumed(at))
            assert Match.restored(table.match.saved(at), table.match.number, at) == there


@given(HISTORIES)
def test_decided_events_fit_their_table(deeds: list[tuple[Deed, float]]) -> None:
    table = NEW
    for event in happen(deeds):
        require_applicable(table, event)
        table = table.apply(event)


@given(HISTORIES)
def test_battle_source_locates_all_plies_of_the_battle(deeds: list[tuple[Deed, float]]) -> None:
    """The events from a battle's source fold to the game at the board."""
    annals, table = Annals(), NEW
    games: dict[BattleId, Game] = {}
    events = happen(deeds)
    for event in events:
        table = table.apply(event)
        annals.happen(SPEC.key, event)
        if table.match and not isinstance(event, Joined):
            games[table.match.battle_id] = table.match.game
    assert [battle.id for battle in annals.battles] == list(dict.fromkeys(begun(events)))
    for battle in annals.battles:
        start = battle.source.version - 1
        assert fold_game(events[start:]) == games[battle.id]
        assert fold_game(events[start : battle.until]) == games[battle.id]


def begun(events: Iterable[TableEvent]) -> Iterator[BattleId]:
    """Yield the id of each battle started."""
    for version, event in enumerate(events, 1):
        if isinstance(event, BattleStarted):
            yield BattleId(SPEC.name, version)


def test_histories_cover_every_event_type() -> None:
    """Guards the properties above against histories that miss an event type."""
    seen: set[type] = set()

    @settings(max_examples=200, derandomize=True, database=None)
    @given(HISTORIES)
    def note(deeds: list[tuple[Deed, float]]) -> None:
        seen.update(type(event) for event in happen(deeds))

    note()
    assert set(get_args(TableEvent)) - seen == set()
