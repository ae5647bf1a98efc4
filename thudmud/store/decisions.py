"""Decisions as they have been stored: what whoever follows a store makes so in a hall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from thudmud.play.events import TableEvent
from thudmud.play.hall import Decision
from thudmud.store.interface import Entry


def as_stored(decision: Decision, entries: Sequence[Entry]) -> Decision:
    """Return a decision with its events as they are stored: their times, and the battle's number.

    Args:
        decision: the decision.
        entries: its events, or the first of them.
    """
    events = tuple(cast("TableEvent", entry.event) for entry in entries)
    battle = next((entry.battle for entry in entries if entry.battle), None)
    return replace(decision, events=events, battle=battle)


def decided_elsewhere(entry: Entry, board: str) -> Decision:
    """Return what an entry brings about at a board, of which nothing else is known here."""
    event = cast("TableEvent", entry.event)
    return Decision(event.player, board, entry.version - 1, (event,), battle=entry.battle)
