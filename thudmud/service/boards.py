"""The boards that are up: they are opened, closed and renamed by events of the hall's stream.

Any process that has the store may do that; services that run follow it, see `thudmud.service`.

A board has a key, under which its events are stored and which never changes, and a name, which may.
Each change is appended to the hall's stream at the version that it was decided at, so no two boards
ever have one name.

Throughout, ``at`` is the time in seconds since the epoch; a board is found by its name in any case;
and StoreError is raised if the store cannot be used.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import cast

from thudmud.errors import Refused, StartError
from thudmud.language.parsing import board_problem
from thudmud.play.events import BoardClosed, BoardOpened, BoardRenamed, StoredEvent, TableEvent
from thudmud.play.projections import HALL, realm_of
from thudmud.play.refusals import Refusal
from thudmud.play.table import BoardSpec, Table
from thudmud.store import Conflict, OpenBoard, Store
from thudmud.verbs.tables import closed


async def boards_up(store: Store) -> Sequence[OpenBoard]:
    """Return the boards in the hall of a server, without those of a gateway's clients."""
    return [board for board in await store.open_boards() if not realm_of(board.key)]


async def table_of(store: Store, board: OpenBoard) -> Table:
    """Return a board as it stands."""
    spec = BoardSpec(board.name, board.rules, key=board.key)
    table = replace(Table.set_up(spec), version=board.beginning - 1)
    for entry in await store.read(board.key, board.beginning):
        table = table.apply(cast("TableEvent", entry.event), entry.battle)
    return table


async def put_up(store: Store, tables: Collection[Table], at: float) -> None:
    """See to it that these boards are up, each by its key and under its name; most of them are.

    Raises:
        StartError: another board that is up has the name of one of them.
    """
    while True:
        version = await store.version(HALL)
        changes: dict[str, tuple[int, Sequence[StoredEvent]]] = {}
        events: list[StoredEvent] = []
        for table in tables:
            board = await store.board(table.key)
            if board is None:
                before = await store.version(table.key)
                changes[table.key] = before, ()
                rules = table.own_rules.name
                events.append(BoardOpened(at, "", table.key, table.name, rules, before))
            elif board.name != table.name:
                events.append(BoardRenamed(at, "", table.key, table.name))
        if not events:
            return
        if not any(realm_of(table.key) for table in tables):  # a gateway's are each a hall alone
            _require_own_names(tables, await boards_up(store))
        with suppress(Conflict):
            await store.append({**changes, HALL: (version, events)})
            return


def _require_own_names(tables: Collection[Table], up: Sequence[OpenBoard]) -> None:
    """Raise StartError if a board has the name of another that is up, and is not to be renamed."""
    keys = {table.key for table in tables}
    names = {table.name.lower(): table for table in tables}
    for board in up:
        table = names.get(board.name.lower())
        if table and board.key not in keys:
            raise StartError(
                f'there is a {board.name} already, which has the key "{board.key}" and not'
                f' "{table.key}": give the new one that key or another name, or close the other'
                f' one with "thudmud board close {board.name}"'
            )


async def open_board(store: Store, name: str, rules: str, at: float, player: str = "") -> None:
    """Open a board, which is listed behind all others, with a ruleset to begin with.

    A player may have opened it, which is told.

    Raises:
        Refused: nothing can be called that, or a board that is up is.
    """
    while True:
        version = await store.version(HALL)
        up = await boards_up(store)
        _require_name(name, up)
        keys = {board.key for board in up}
        number, key = 1, name
        while key in keys:
            number += 1
            key = f"{name} {number}"
        before = await store.version(key)
        opened = BoardOpened(at, player, key, name, rules, before)
        with suppress(Conflict):
            await store.append({key: (before, ()), HALL: (version, [opened])})
            return


async def close_board(store: Store, name: str, at: float) -> None:
    """Close a board. A match under way there is put away; whoever is there goes to the hall.

    Raises:
        Refused: there is no such board.
    """
    while True:
        version = await store.version(HALL)
        board = _board(name, await boards_up(store))
        table = await table_of(store, board)
        with suppress(Conflict):
            await close_at(store, table, version, at)
            return


async def close_at(store: Store, table: Table, version: int, at: float) -> None:
    """Close a board as it stands, if the hall stands at a version.

    Raises:
        Conflict: something has happened there, or in the hall, meanwhile.
    """
    events = closed(table, "", at)
    in_hall = {HALL: (version, [BoardClosed(at, "", table.key)])}
    await store.append_to_board(table.key, table.version, events, besides=in_hall)


async def rename_board(store: Store, name: str, new: str, at: float) -> None:
    """Call a board something else; all else of it stays.

    Raises:
        Refused: there is no such board; or nothing can be called that, or another board is.
    """
    while True:
        version = await store.version(HALL)
        up = await boards_up(store)
        board = _board(name, up)
        _require_name(new, [each for each in up if each is not board])
        renamed = BoardRenamed(at, "", board.key, new)
        with suppress(Conflict):
            await store.append({HALL: (version, [renamed])})
            return


def _board(name: str, up: Sequence[OpenBoard]) -> OpenBoard:
    for board in up:
        if board.name.lower() == name.lower():
            return board
    raise Refused(Refusal.NO_BOARD_UP, words=name, boards=tuple(board.name for board in up))


def _require_name(name: str, up: Sequence[OpenBoard]) -> None:
    if board_problem(name):
        raise Refused(Refusal.BOARD_NAME_UNFIT, words=name)
    for board in up:
        if board.name.lower() == name.lower():
            raise Refused(Refusal.BOARD_NAME_TAKEN, board=board.name)
