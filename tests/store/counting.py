"""Counts again what was played from which positions, from the events alone."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from thudmud.features.explorer.storage import ExploredRows
from thudmud.store.backend import Backend
from thudmud.store.files import Sqlite
from thudmud.store.projected import ProjectedRows, project_all
from thudmud.store.rows import PROJECTIONS, SqlTable, definitions


def counted_otherwise(backend: Backend) -> str | None:
    """Return what is stored otherwise than it is counted now, if anything is."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        table = SqlTable(connection)
        for statement in definitions(PROJECTIONS):
            table.execute(statement)
        projected = ProjectedRows(table, durable=SqlTable(backend.connection))
        project_all(backend, projected)
        explored = ExploredRows(Sqlite(connection), table, projected)
        explored.begin_anew()
        while explored.go_on():
            pass
        for name in ("played", "reached"):
            kept, made = (
                {tuple(row) for row in each.execute(f"select * from {name}")}  # noqa: S608  (ours)
                for each in (backend.connection, connection)
            )
            if kept != made:
                return f"{name} has {kept - made}, and should have {made - kept}"
    return None
