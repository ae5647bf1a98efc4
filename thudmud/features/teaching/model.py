"""The aside that explains how to move."""

from __future__ import annotations

from thudmud.game.asides import AtBoard, aside


@aside
class MoveTaught(AtBoard):
    """An explanation of how to move for a newcomer on their turn, or a reminder (``is_reminder``).

    ``with_hints`` says whether they can ask for hints.
    """

    with_hints: bool
    is_reminder: bool = False
