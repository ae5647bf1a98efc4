"""The boards that are up: opened, closed and renamed, by events of the hall's own.

Any process that has the store may do that. Services that run follow it, see `thudmud.service`.

A board has a key, under which its events are stored and which never changes, and a name, which may.
The hall's stream is at a version that is required: so no two boards come to have one name.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import cast

from thudmud.errors import Refused, StartError
from thudmud.language.parsing import board_problem
from thudmud.play import table_decisions
from thudmud.play.events import BoardClosed, BoardOpened, BoardRenamed, StoredEvent, TableEvent
from thudmud.play.projections import HALL, realm_of
from thudmud.play.refusals import Refusal
from thudmud.play.table import BoardSpec, Table
from thudmud.store import Conflict, OpenBoard, Store


async def put_up(store: Store, tables: Collection[Table], at: float) -> None:
    """Have some boards up, each by its key and under its name; most of them are.

    Args:
        store: where that is stored.
        tables: the boards, as they are set up.
        at: the time, in seconds since the epoch.

    Raises:
        StartError: another board that is up has the name of one of them.
        StoreError: the store cannot be used.
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
        await _require_own_names(store, tables)
        with suppress(Conflict):
            await store.append({**changes, HALL: (version, events)})
            return


async def open_board(store: Store, name: str, rules: str, at: float, player: str = "") -> None:
    """Open a board, behind all others.

    Args:
        store: where that is stored.
        name: what it is called, its noun last.
        rules: the name of the ruleset that it begins with.
        at: the time, in seconds since the epoch.
        player: whose doing it is; "" for the operator.

    Raises:
        Refused: nothing can be called that, or a board that is up is.
        StoreError: the store cannot be used.
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


async def close_board(store: Store, name: str, at: float, player: str = "") -> None:
    """Close a board. A match under way there is put away; whoever is there goes to the hall.

    Args:
        store: where that is stored.
        name: what it is called, in any case.
        at: the time, in seconds since the epoch.
        player: whose doing it is; "" for the operator.

    Raises:
        Refused: there is no such board.
        StoreError: the store cannot be used.
    """
    while True:
        version = await store.version(HALL)
        board = _board(name, await boards_up(store))
        table = await table_of(store, board)
        events = table_decisions.closed(table, player, at)
        closed = {HALL: (version, [BoardClosed(at, player, board.key)])}
        with suppress(Conflict):
            await store.append_to_board(board.key, table.version, events, besides=closed)
            return


async def rename_board(store: Store, name: str, new: str, at: float, player: str = "") -> None:
    """Call a board something else; all else of it stays.

    Args:
        store: where that is stored.
        name: what it is called now, in any case.
        new: what it is to be called.
        at: the time, in seconds since the epoch.
        player: whose doing it is; "" for the operator.

    Raises:
        Refused: there is no such board; or nothing can be called that, or another board is.
        StoreError: the store cannot be used.
    """
    while True:
        version = await store.version(HALL)
        up = await boards_up(store)
        board = _board(name, up)
        _require_name(new, [each for each in up if each is not board])
        renamed = BoardRenamed(at, player, board.key, new)
        with suppress(Conflict):
            await store.append({HALL: (version, [renamed])})
            return


async def boards_up(store: Store) -> Sequence[OpenBoard]:
    """Return the boards in the hall of a server; those of a gateway's clients are in realms.

    Raises:
        StoreError: the store cannot be used.
    """
    return [board for board in await store.open_boards() if not realm_of(board.key)]


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


async def _require_own_names(store: Store, tables: Collection[Table]) -> None:
    """Raise StartError if a board has the name of another that is up, and is not to be renamed."""
    keys = {table.key: table for table in tables}
    realm = next((realm_of(key) for key in keys), "")
    if realm:
        return  # each board of a gateway is a hall by itself
    names = {table.name.lower(): table for table in keys.values()}
    for board in await boards_up(store):
        table = names.get(board.name.lower())
        if table and board.key not in keys:
            raise StartError(
                f'there is a {board.name} already, which has the key "{board.key}" and not'
                f' "{table.key}": give the new one that key or another name, or close the other'
                f' one with "thudmud board close {board.name}"'
            )


async def table_of(store: Store, board: OpenBoard) -> Table:
    """Return a board as it stands.

    Raises:
        StoreError: the store cannot be used.
    """
    spec = BoardSpec(board.name, board.rules, key=board.key)
    table = replace(Table.set_up(spec), version=board.beginning - 1)
    for entry in await store.read(board.key, board.beginning):
        table = table.apply(cast("TableEvent", entry.event), entry.battle)
    return table
