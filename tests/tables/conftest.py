from __future__ import annotations

from collections.abc import Callable

import pytest

from thudmud.commands.model import End, Join, Play, Resign, Start
from thudmud.engine import Attempt, Side, Square, Verb
from thudmud.tables import BoardSpec, Table, TableEvent
from thudmud.tables.table_decisions import TableCommand, decide

Do = Callable[..., Table]


def ply(origin: str, target: str, verb: Verb = Verb.MOVE) -> Play:
    return Play(Attempt(verb, Square.parse(origin), Square.parse(target)))


def after(table: Table, *deeds: tuple[str, TableCommand]) -> Table:
    """Return the table after these players' commands, each decided and applied."""
    for player, command in deeds:
        for event in decide(table, player, command, 7.0):
            table = table.apply(event)
    return table


def events(table: Table, player: str, command: TableCommand) -> list[TableEvent]:
    return list(decide(table, player, command, 7.0))


SEATED: list[tuple[str, TableCommand]] = [
    ("Anna", Join(Side.DWARF)),
    ("Bert", Join(Side.TROLL)),
]
STARTED = [*SEATED, ("Anna", Start())]
FIRST_OVER = [*STARTED, ("Anna", End()), ("Bert", End())]
MATCH_OVER = [*FIRST_OVER, ("Bert", Start()), ("Anna", Resign())]


@pytest.fixture
def empty() -> Table:
    return Table.set_up(BoardSpec("oak board"), 200)


@pytest.fixture
def seated(empty: Table) -> Table:
    return after(empty, *SEATED)


@pytest.fixture
def started(empty: Table) -> Table:
    return after(empty, *STARTED)


@pytest.fixture
def first_over(empty: Table) -> Table:
    return after(empty, *FIRST_OVER)


@pytest.fixture
def match_over(empty: Table) -> Table:
    return after(empty, *MATCH_OVER)
