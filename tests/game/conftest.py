from __future__ import annotations

from collections.abc import Collection

import pytest

from thudmud.errors import RefusedError
from thudmud.features.playing.moves import End, Play, Resign, Start
from thudmud.features.playing.seats import Join
from thudmud.game.events import Parting, TableEvent
from thudmud.game.refusals import Refusal
from thudmud.game.table import BoardSpec, Table
from thudmud.game.tables import Context, TableCommand, decide, leave_server
from thudmud.rules import Attempt, Side, Square, Verb

NOW = 7.0
PLAYERS = frozenset({"Anna", "Bert", "Carla"})
GRACE = 300.0
LATER = NOW + GRACE
"""The end of the seat grace of a player who left at ``NOW``."""


def ply(origin: str, target: str, verb: Verb = Verb.MOVE) -> Play:
    return Play(Attempt(verb, Square.parse(origin), Square.parse(target)))


def events(
    table: Table,
    player: str,
    command: TableCommand,
    now: float = NOW,
    members: Collection[str] = (),
) -> list[TableEvent]:
    return list(decide(table, player, command, Context(now, members, PLAYERS)))


def after(
    table: Table,
    *deeds: tuple[str, TableCommand],
    now: float = NOW,
    members: Collection[str] = (),
) -> Table:
    """Return the table after deciding and applying each player's command in turn."""
    for player, command in deeds:
        for event in events(table, player, command, now, members):
            table = table.apply(event)
    return table


def without(
    table: Table, *players: str, now: float = NOW, parting: Parting = Parting.LOST
) -> Table:
    """Return the table after the departure of some players."""
    for player in players:
        for event in leave_server(table, player, parting, now):
            table = table.apply(event)
    return table


def refusal(table: Table, player: str, command: TableCommand, now: float = NOW) -> Refusal:
    with pytest.raises(RefusedError) as refused:
        events(table, player, command, now)
    assert isinstance(refused.value.code, Refusal)
    return refused.value.code


SEATED: list[tuple[str, TableCommand]] = [
    ("Anna", Join(Side.DWARF)),
    ("Bert", Join(Side.TROLL)),
]
STARTED = [*SEATED, ("Anna", Start())]
FIRST_OVER = [*STARTED, ("Anna", End()), ("Bert", End())]
GO_ON = [("Bert", Start()), ("Anna", Start())]
"""By which two people begin the second battle of their match."""
MATCH_OVER = [*FIRST_OVER, *GO_ON, ("Anna", Resign())]


@pytest.fixture
def empty() -> Table:
    return Table.set_up(BoardSpec("oak board"), 200, GRACE)


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
