"""How long a bot takes for a ply apart from its search, so that people can follow and feel at ease.

Pure: the time is derived from the position, so a battle takes as long when it is played again.
"""

from __future__ import annotations

from thudmud.rules import Position

AT_ONCE_FROM = 5
"""The first level that doesn't hesitate: people who play it know the game."""

LONGEST = 3.0
"""The longest hesitation, as a multiple of the bot's pause."""

SHARE = 1 / 50
"""The largest share of the bot's remaining time that a pause may take."""

LITTLE_TIME = 10.0
"""Seconds of remaining time below which the bot plays at once."""

_STEPS = 1024


def pause_before_ply(
    pause: float,
    position: Position,
    level: int | None,
    seconds_left: float | None = None,
    *,
    plays_person: bool,
) -> float:
    """Return the minimum seconds between the opponent's ply and a bot's.

    A weak level that plays a person hesitates for up to `LONGEST` times its pause. Its answer would
    otherwise come like an echo.

    Args:
        pause: the bot's configured pause in seconds.
        position: the position in which the bot is to move.
        level: the number of the bot's level; None for a program of its own.
        seconds_left: the bot's remaining time; None without a clock.
        plays_person: whether the opponent is a person.
    """
    if plays_person and level is not None and level < AT_ONCE_FROM:
        pause *= 1 + (LONGEST - 1) * (hash(position) % _STEPS) / _STEPS
    if seconds_left is None:
        return pause
    return 0.0 if seconds_left < LITTLE_TIME else min(pause, SHARE * seconds_left)
