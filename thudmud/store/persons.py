"""Export of all data stored about a player, as JSON values, for players who request it.

Rows are found by their columns: a row is about a player if one of the columns in `THEIRS` has the
player's number. So tables that are added later are included.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

from thudmud.game.archive import Battle
from thudmud.game.events import SeekMade
from thudmud.rules import Side
from thudmud.store.battles import history
from thudmud.store.database import Database
from thudmud.store.hall import seeks_of
from thudmud.store.interface import NoSuchAccountError
from thudmud.store.rows import DURABLE, PROJECTIONS, columns_of

THEIRS = ("player", "receiver", "sender", "reporter")
"""Columns with the number of the player whom a row belongs to. A report belongs to its author, not
to its subject."""

_PLAYERS = {*THEIRS, "opponent", "about"}
"""Columns with the number of any player."""

_SECRET = {
    *("password", "word", "epoch", "node", "session", "operator"),
    *("secret", "calendar", "code", "key", "auth"),
}
"""Columns that are left out: secrets, and data about somebody else."""

_TOLD_OTHERWISE = {"player_battle", "comment"}

_JSON = {"preferences", "said"}
_TIMES = {"at", "created", "seen", "since", "until", "coming", "mailed", "due", "failing"}


def personal_data(database: Database, name: str) -> dict[str, Any]:
    """Return all data stored about a name's current player, as JSON values.

    Raises:
        NoSuchAccountError: no player has that name.
    """
    found = database.players.find(name)
    if found is None:
        raise NoSuchAccountError(f"There is no player called {name}.")
    number, name = found
    tables = {
        table: rows
        for table in (DURABLE | PROJECTIONS).keys() - _TOLD_OTHERWISE
        if (rows := _rows_about(database, table, number))
    }
    return {
        "name": name,
        "time": _time(database.now()),
        **dict(sorted(tables.items())),
        "battle": [_battle(each, name) for each in history(database, name, most=1 << 62)][::-1],
        "comment": _comments(database, number),
        "seek": [_seek(each) for each in seeks_of(database, number)],
    }


def _rows_about(database: Database, table: str, number: int) -> list[dict[str, Any]]:
    columns = columns_of(table)
    theirs = [each for each in THEIRS if each in columns]
    if not theirs:
        return []
    where = " or ".join(f"{each} = ?" for each in theirs)
    rows = database.table.rows(table, f"where {where}", *[number] * len(theirs))
    return [_row_as_dict(database, columns, row) for row in rows]


def _row_as_dict(
    database: Database, columns: Sequence[str], row: Sequence[object]
) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for column, value in zip(columns, row, strict=True):
        if column in _SECRET or column == "player":
            continue
        if column in _PLAYERS:
            told[column] = database.players.name_of(cast("int", value))
        elif column in _JSON:
            told[column] = json.loads(cast("str", value))
        elif column in _TIMES and value is not None:
            told[column] = _time(cast("float", value))
        else:
            told[column] = value
    return told


def _battle(battle: Battle, name: str) -> dict[str, Any]:
    sides = [side for side in Side if battle.player(side) == name]
    others = [battle.player(side.other) for side in sides if not battle.is_practice]
    outcome = battle.outcome
    return {
        "number": battle.number,
        "began": _time(battle.at),
        "rules": battle.rules,
        "time": battle.time and str(battle.time),
        "sides": [side.value for side in sides],
        "opponent": others[0] if others else "",
        "state": battle.state.value,
        "plies": battle.plies,
        "ending": outcome and outcome.ending.value,
        "winner": outcome and outcome.winner and outcome.winner.value,
        "rated": battle.rated,
    }


def _comments(database: Database, number: int) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []
    for row in database.table.rows("comment", "where player = ?", number):
        battle, ply, _, position, text = row
        event = database.table.row("event", "where position = ?", position)
        at = _time(cast("float", event[4])) if event else None
        told.append({"at": at, "battle": battle, "ply": ply, "text": text})
    return told


def _seek(event: SeekMade) -> dict[str, Any]:
    return {
        "at": _time(event.at),
        "number": event.number,
        "rules": event.rules,
        "side": event.side and event.side.value,
        "rated": event.rated,
        "to": event.to,
        "time": event.time and str(event.time),
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
