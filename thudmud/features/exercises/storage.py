"""The lookup of a player's results in exercises."""

from __future__ import annotations

from typing import cast

from thudmud.features.exercises.model import StudiesLookup, StudyRecord
from thudmud.game.archive import Rating
from thudmud.game.projections import ALL_PUZZLES, PUZZLES, Strength
from thudmud.store.database import Database
from thudmud.store.lookups import answers


@answers(StudiesLookup)
def _studies(database: Database, lookup: StudiesLookup, realm: str) -> StudyRecord:
    number, _ = database.players.find(lookup.player, realm) or (0, "")
    done = database.table.rows("lesson", "where player = ?", number)
    lessons = frozenset(cast("int", row[1]) for row in done)
    tried: dict[int, bool] = {}
    for row in database.table.rows("puzzle_try", "where player = ?", number):
        _, puzzle, solved = cast("tuple[int, int, int]", row)
        tried[puzzle] = bool(solved)
    known = database.projected.strength(str(number), PUZZLES, ALL_PUZZLES)
    hard: dict[int, Rating] = {}
    for row in database.table.rows("puzzle"):
        number, *strength = cast("tuple[int, float, float, int]", row)
        hard[number] = Strength(*cast("tuple[float, float, int]", strength)).rating
    return StudyRecord(lessons, tried, known and known.rating, hard)
