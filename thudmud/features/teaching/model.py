"""The aside that explains how to move."""

from __future__ import annotations

from thudmud.game.asides import AtBoard, aside


@aside
class MoveTaught(AtBoard):
    """A newcomer to move is shown how, or reminded (``again``).

    ``hints`` says whether they can ask for hints.
    """

    hints: bool
    again: bool = False
