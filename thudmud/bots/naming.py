"""Which bots a hall has, and at which levels they play."""

from __future__ import annotations

from collections.abc import Mapping

from thudmud.game.hall import Hall
from thudmud.game.people import BotLevel
from thudmud.search.levels import LEVELS, level_called


def name_bots(hall: Hall, bots: Mapping[str, str | None]) -> None:
    """Let a hall know the names of its bots, each with its level; None for a program of its own.

    Raises:
        InvalidValueError: there is no such level.
    """
    levels = tuple(BotLevel(each.number, each.name, each.sentence) for each in LEVELS)
    known = {
        name: None if level is None else levels[level_called(level).number - 1]
        for name, level in bots.items()
    }
    hall.use_bots(levels, known)
