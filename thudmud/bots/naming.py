"""Registration of the configured bots and their levels with a hall."""

from __future__ import annotations

from collections.abc import Mapping

from thudmud.game.hall import Hall
from thudmud.game.people import BotLevel
from thudmud.search.levels import LEVELS, find_level


def name_bots(hall: Hall, bots: Mapping[str, str | None]) -> None:
    """Register the bots of a hall.

    Args:
        hall: the hall.
        bots: names of levels by the names of bots; None for a bot with a program of its own.

    Raises:
        InvalidValueError: there is no level of that name.
    """
    levels = tuple(BotLevel(each.number, each.name, each.sentence) for each in LEVELS)
    known = {
        name: None if level is None else levels[find_level(level).number - 1]
        for name, level in bots.items()
    }
    hall.use_bots(levels, known)
