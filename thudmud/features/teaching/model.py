"""The aside that explains how to move."""

from __future__ import annotations

from thudmud.play.asides import AtBoard, aside


@aside
class MoveTaught(AtBoard):
    """A newcomer whose turn it is is told how to move, or reminded (``again``).

    ``hints`` says whether they can ask for hints.
    """

    hints: bool
    again: bool = False
