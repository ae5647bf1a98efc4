"""Deferred plies: a table is brought up to date when somebody reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from random import Random

import pytest

from thudmud.errors import InvalidValueError
from thudmud.game.boards import MOST_DEFERRED, TableRegister
from thudmud.game.clocks import TimeControl
from thudmud.game.events import (
    BattleStarted,
    IdleWarned,
    Joined,
    Moved,
    Offer,
    Offered,
    TableEvent,
)
from thudmud.game.table import BoardSpec, Table, TimedMove
from thudmud.rules import RULESETS, Side

BOARD, OTHER = "oak board", "elm board"
BEGUN = 5.0


def battle(time: TimeControl | None, rules: str = "discworld") -> Table:
    """Return a table with a battle that has begun, and an offer and a warning."""
    begun = BattleStarted(
        BEGUN, "Anna", 1, rules, "Anna", "Bert", rated=False, time=time, first_move=3.0
    )
    events: tuple[TableEvent, ...] = (
        Joined(1.0, "Anna", Side.DWARF),
        Joined(2.0, "Bert", Side.TROLL),
        begun,
        Offered(6.0, "Anna", Offer.END),
        IdleWarned(7.0, "Anna", Side.DWARF),
    )
    return reduce(Table.apply, events, Table.set_up(BoardSpec(BOARD, rules)))


def plies(table: Table, seed: int, count: int) -> list[Moved]:
    """Return random plies that can follow at a table."""
    dice, at, played = Random(seed), 8.0, []  # noqa: S311  (no secret)
    for _ in range(count):
        game = table.game
        assert game
        at += dice.choice((0.5, 2.0, 11.0))
        move = dice.choice(game.ruleset.legal_moves(game.position))
        player = table.seats[game.turn]
        played.append(Moved(at, player, game.turn, move, len(game.moves) + 1))
        table = table.apply(played[-1])
    return played


def timed(played: Iterable[Moved]) -> list[TimedMove]:
    return [TimedMove(each.at, each.move) for each in played]


@pytest.mark.parametrize("rules", RULESETS)
@pytest.mark.parametrize("time", [None, TimeControl(3, 2), TimeControl(days=1)])
@pytest.mark.parametrize("count", [1, 2, 17])
def test_plies_applied_together_equal_plies_applied_singly(
    rules: str, time: TimeControl | None, count: int
) -> None:
    table = battle(time, rules)
    played = plies(table, count, count)
    assert table.apply_plies(timed(played)) == reduce(Table.apply, played, table)


@pytest.fixture
def register() -> TableRegister:
    """Return a register with a battle and another board."""
    register = TableRegister(200, 300.0, 600.0)
    register.open([BoardSpec(BOARD), BoardSpec(OTHER)])
    register.put(BOARD, battle(TimeControl(3)))
    return register


def defer(register: TableRegister, count: int) -> Table:
    """Defer some plies and return the table as it is after them."""
    before = register.without_deferred(BOARD)
    played = plies(before, 0, count)
    for each in timed(played):
        register.defer(BOARD, each)
    return reduce(Table.apply, played, before)


READS: dict[str, Callable[[TableRegister], Table | None]] = {
    "[]": lambda register: register[BOARD],
    "get": lambda register: register.get(BOARD),
    "with_key": lambda register: register.with_key(BOARD),
    "values": lambda register: next(iter(register.values())),
    "items": lambda register: dict(register.items())[BOARD],
    "seats_of": lambda register: register.seats_of("Anna")[0],
    "dict": lambda register: dict(register)[BOARD],
    "**": lambda register: {**register}[BOARD],
}


@pytest.mark.parametrize("read", READS)
def test_every_read_of_a_table_includes_deferred_plies(register: TableRegister, read: str) -> None:
    after = defer(register, 3)
    assert register.without_deferred(BOARD) != after
    assert READS[read](register) == after
    assert register.without_deferred(BOARD) == after


def test_comparison_of_registers_includes_deferred_plies(
    register: TableRegister,
) -> None:
    other = TableRegister(200, 300.0, 600.0)
    other.open([BoardSpec(BOARD), BoardSpec(OTHER)])
    other.put(BOARD, register[BOARD])
    defer(register, 2)
    assert register != other
    defer(other, 2)
    assert register == other


def test_read_of_another_table_applies_nothing(register: TableRegister) -> None:
    before = register.without_deferred(BOARD)
    defer(register, 2)
    assert register[OTHER].game is None
    assert BOARD in register
    assert [*register] == [BOARD, OTHER]
    register.open([BoardSpec("pine board")])
    assert register.without_deferred(BOARD) is before


def test_version_counts_deferred_plies(register: TableRegister) -> None:
    version = register[BOARD].version
    defer(register, 3)
    assert register.version_of(BOARD) == version + 3
    assert register[BOARD].version == version + 3
    assert register.version_of("no such key") is None


def test_number_of_deferred_plies_is_limited(register: TableRegister) -> None:
    after = defer(register, MOST_DEFERRED)
    assert register.without_deferred(BOARD) == after


def test_first_ply_after_a_read_is_reported(register: TableRegister) -> None:
    one, two, three = timed(plies(register[BOARD], 0, 3))
    assert register.defer(BOARD, one)
    assert not register.defer(BOARD, two)
    assert register[BOARD].version
    assert register.defer(BOARD, three)


def test_renamed_board_keeps_its_deferred_plies(register: TableRegister) -> None:
    after = defer(register, 2)
    register.rename(BOARD, "ash board")
    assert register["ash board"].game == after.game
    assert register.version_of(BOARD) == after.version  # the key stays


def test_closed_board_leaves_no_deferred_plies(register: TableRegister) -> None:
    defer(register, 2)
    register.close(BOARD)
    register.open([BoardSpec(BOARD)])
    assert register[BOARD] == Table.set_up(BoardSpec(BOARD), 200, 300.0, 600.0)


def test_ply_that_does_not_fit_is_a_failure_and_no_refusal(register: TableRegister) -> None:
    failures: list[Exception] = []
    register.failed = failures.append
    ply = plies(register[BOARD], 3, 1)[0]
    register.defer(OTHER, TimedMove(ply.at, ply.move))  # where there is no battle
    with pytest.raises(InvalidValueError, match="the stored plies of the elm board"):
        register.get(OTHER)
    assert len(failures) == 1
