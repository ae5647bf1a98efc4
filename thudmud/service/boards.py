"""Opens, closes and renames boards, by events of the hall's stream.

Any process with the store may do so; running services apply the events.

A board has a key, which identifies its stream and never changes, and a name, which may change. Each
change is appended to the hall's stream at the version that it was decided at, so no two boards ever
have the same name.

Throughout, ``at`` is the time in seconds since the epoch, board names are case-insensitive, and
StoreError is raised if the store cannot be used.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import cast

from thudmud.english import with_article
from thudmud.errors import RefusedError, StartError
from thudmud.game.events import BoardClosed, BoardOpened, BoardRenamed, StoredEvent, TableEvent
from thudmud.game.projections import HALL, realm_of
from thudmud.game.refusals import Refusal
from thudmud.game.table import BoardSpec, Table
from thudmud.game.tables import prepare_closing
from thudmud.language.parsing import board_problem
from thudmud.store import ConflictError, OpenBoard, Store, hall
from thudmud.values import replace


async def load_open_boards(store: Store) -> Sequence[OpenBoard]:
    """Return the open boards of the server's own hall, without those of gateway clients."""
    return [board for board in await store.read(hall.open_boards) if not realm_of(board.key)]


async def load_table(store: Store, board: OpenBoard) -> Table:
    """Return the table of a board, folded from the store."""
    spec = BoardSpec(board.name, board.rules, key=board.key)
    table = replace(Table.set_up(spec), version=board.beginning - 1)
    for entry in await store.read_stream(board.key, board.beginning):
        table = table.apply(cast("TableEvent", entry.event), entry.battle)
    return table


async def update_open_boards(store: Store, tables: Collection[Table], at: float) -> None:
    """Open or rename boards so that each of these is open under its key and name.

    Raises:
        StartError: another open board has the name of one of these.
    """
    while True:
        version = await store.version(HALL)
        changes: dict[str, tuple[int, Sequence[StoredEvent]]] = {}
        events: list[StoredEvent] = []
        for table in tables:
            board = await store.read(hall.open_board, table.key)
            if board is None:
                before = await store.version(table.key)
                changes[table.key] = before, ()
                rules = table.own_rules.name
                events.append(BoardOpened(at, "", table.key, table.name, rules, before))
            elif board.name != table.name:
                events.append(BoardRenamed(at, "", table.key, table.name))
        if not events:
            return
        if not any(realm_of(table.key) for table in tables):  # gateway clients have their own halls
            _require_own_names(tables, await load_open_boards(store))
        with suppress(ConflictError):
            await store.append({**changes, HALL: (version, events)})
            return


def _require_own_names(tables: Collection[Table], up: Sequence[OpenBoard]) -> None:
    """Raise StartError if other open boards have the names of some of these: a line for each."""
    keys = {table.key for table in tables}
    names = {table.name.lower(): table for table in tables}
    problems = [
        f'there is {with_article(board.name)} already, with the key "{board.key}" instead of '
        f'"{table.key}": give the new one that key or another name, or close the other '
        f'one with "thudmud board close {board.name}"'
        for board in up
        if board.key not in keys and (table := names.get(board.name.lower()))
    ]
    if problems:
        raise StartError("\n".join(problems))


async def open_board(store: Store, name: str, rules: str, at: float, player: str = "") -> None:
    """Open a board, listed last.

    Args:
        store: the store.
        name: the board's name.
        rules: the name of the ruleset that it begins with.
        at: the time.
        player: the player who opens it, as the hall is told; "" for nobody.

    Raises:
        RefusedError: the name is invalid, or an open board has it.
    """
    while True:
        version = await store.version(HALL)
        up = await load_open_boards(store)
        _require_name(name, up)
        keys = {board.key for board in up}
        number, key = 1, name
        while key in keys:
            number += 1
            key = f"{name} {number}"
        before = await store.version(key)
        opened = BoardOpened(at, player, key, name, rules, before)
        with suppress(ConflictError):
            await store.append({key: (before, ()), HALL: (version, [opened])})
            return


async def close_board(store: Store, name: str, at: float) -> None:
    """Close a board. Its match is adjourned, and the people there go to the hall.

    Raises:
        RefusedError: there is no such board.
    """
    while True:
        version = await store.version(HALL)
        board = _board(name, await load_open_boards(store))
        table = await load_table(store, board)
        with suppress(ConflictError):
            await close_board_at_version(store, table, version, at)
            return


async def close_board_at_version(store: Store, table: Table, version: int, at: float) -> None:
    """Close a board at its table's version and a version of the hall.

    Raises:
        ConflictError: the board or the hall is at another version by now.
    """
    events = prepare_closing(table, "", at)
    in_hall = {HALL: (version, [BoardClosed(at, "", table.key)])}
    await store.append_to_board(table.key, table.version, events, besides=in_hall)


async def rename_board(store: Store, name: str, new: str, at: float) -> None:
    """Rename a board; its key, seats and match stay.

    Raises:
        RefusedError: there is no such board, or the new name is invalid or another board's.
    """
    while True:
        version = await store.version(HALL)
        up = await load_open_boards(store)
        board = _board(name, up)
        _require_name(new, [each for each in up if each is not board])
        renamed = BoardRenamed(at, "", board.key, new)
        with suppress(ConflictError):
            await store.append({HALL: (version, [renamed])})
            return


def _board(name: str, up: Sequence[OpenBoard]) -> OpenBoard:
    for board in up:
        if board.name.lower() == name.lower():
            return board
    raise RefusedError(Refusal.NO_BOARD_UP, words=name, boards=tuple(board.name for board in up))


def _require_name(name: str, up: Sequence[OpenBoard]) -> None:
    if board_problem(name):
        raise RefusedError(Refusal.BOARD_NAME_UNFIT, words=name)
    for board in up:
        if board.name.lower() == name.lower():
            raise RefusedError(Refusal.BOARD_NAME_TAKEN, board=board.name)
