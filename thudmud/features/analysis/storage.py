"""The table of analyses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import msgspec
from msgspec import structs

from thudmud.features.analysis.model import Analysis, KeptAnalysisLookup
from thudmud.game.events import BattleId
from thudmud.store import hooks
from thudmud.store.codec import from_json, read_moves, to_text, write_moves
from thudmud.store.database import Database
from thudmud.store.lookups import answers
from thudmud.store.rows import add_tables, reading_row

add_tables(
    # Analyses, by the battle's id. A lost row can be made again.
    analysis="stream integer, version integer, nodes integer, body text,"
    " primary key (stream, version)",
)

_LINES = Analysis.__struct_fields__.index("lines")
"""The index of the only field that is stored as game records."""


@answers(KeptAnalysisLookup)
def _answer_kept_analysis_lookup(
    database: Database, lookup: KeptAnalysisLookup, _realm: str
) -> Analysis | None:
    found = analysis_of(database, lookup.battle)
    return found if found and lookup.plies == len(found.lost) else None


def analysis_of(database: Database, began: BattleId) -> Analysis | None:
    """Return the stored analysis of a battle, or None."""
    stream = database.streams.find(began.board)
    where = "where stream = ? and version = ?"
    row = stream and database.table.row("analysis", where, stream.id, began.version)
    return _read(row) if row else None


def _read(row: Sequence[object]) -> Analysis:
    with reading_row("analysis", row):
        return from_json(cast("str", row[3]), _from_array)


def _from_array(values: list[Any]) -> Analysis:
    values[_LINES] = tuple(map(read_moves, values[_LINES]))
    return msgspec.convert(values, Analysis)


def keep_analysis(database: Database, began: BattleId, analysis: Analysis) -> None:
    """Store a battle's analysis, replacing an earlier one."""
    values = list(structs.astuple(analysis))
    values[_LINES] = [write_moves(each) for each in analysis.lines]
    body, stream = to_text(values), database.streams.find_or_create(began.board)
    database.table.put("analysis", stream.id, began.version, analysis.nodes, body)


def _check(database: Database) -> None:
    for row in database.table.rows("analysis"):
        _read(row)


hooks.checks.append(_check)
