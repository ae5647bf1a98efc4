"""Asides that teach newcomers."""

from __future__ import annotations

from thudmud.game.asides import AtBoard, aside
from thudmud.rules import Square


@aside
class MoveTaught(AtBoard):
    """An explanation of how to move for a newcomer on their turn, or a reminder (``is_reminder``).

    ``with_hints`` says whether they can ask for hints.
    """

    with_hints: bool
    is_reminder: bool = False


@aside
class CaptureMissed(AtBoard):
    """A newcomer's move captured nothing, although the same move could have.

    Attributes:
        origin: the square that the piece left.
        target: the square where it stopped.
        captures: the squares of the pieces that it could have captured.
        has_all: whether these are all that could be captured from there.
    """

    origin: Square
    target: Square
    captures: tuple[Square, ...]
    has_all: bool
