"""What must hold in the world, seen from outside: from what each was told, and what is stored."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.world.clockwork import BEGINNING
from tests.world.players import Player, Told
from thudmud.play.events import BoardOpened, Moved, TakenBack
from thudmud.play.projections import HALL
from thudmud.store import Entry

COMING = 10.0
"""Seconds after which whoever has connected is in, and told of all that happens."""

ANSWER = 30.0
"""Seconds within which a line is answered, whatever goes wrong."""

Stored = Mapping[str, Sequence[Entry]]
"""All events, by the key of their board."""


def wrong_with(players: Iterable[Player], stored: Stored) -> list[str]:
    """Return what was told that is not so."""
    return [
        wrong
        for player in players
        for told in player.told
        for wrong in [*_not_stored(told, stored), *_twice(told), *_not_told(told, stored)]
    ]


def _not_stored(told: Told, stored: Stored) -> Iterable[str]:
    """Yield the plies that somebody was told of and which are not stored, in that place."""
    keys = _keys(stored)
    for fact in told.facts:
        if fact["type"] != "move":
            continue
        entries = stored.get(keys.get(fact["board"], ""), ())
        version = fact["version"]
        event = entries[version - 1].event if 0 < version <= len(entries) else None
        if not _is(fact, event):
            yield f"{told.player} at {told.server} was told {fact}, and {event} is stored"


def _not_told(told: Told, stored: Stored) -> Iterable[str]:
    """Yield the plies that are stored, and of which whoever made them was told otherwise.

    That is so if they were there all the while, and not told that it is not known.
    """
    heard = {
        (fact["board"], fact["version"])
        for fact in told.facts
        if fact["type"] in ("move", "board", "table")
    }
    for board, key in _keys(stored).items():
        for entry in stored.get(key, ()):
            event = entry.event
            if not isinstance(event, Moved) or event.player != told.player:
                continue
            at = event.at - BEGINNING
            was_there = told.begun + COMING < at and at + ANSWER < told.ended
            if not was_there or (board, entry.version) in heard:
                continue
            if not any(at < doubt < at + ANSWER for doubt in told.doubts):
                yield f"{told.player} at {told.server} was not told that this is stored: {entry}"


def _keys(stored: Stored) -> dict[str, str]:
    """Return what the events of each board are stored under, by its name."""
    events = [each.event for each in stored.get(HALL, ())]
    return {each.name: each.key for each in events if isinstance(each, BoardOpened)}


def _is(fact: Mapping[str, Any], event: object) -> bool:
    match event:
        case Moved(player=player, move=move):
            same = fact["player"] == player and fact["to"] == str(move.target).upper()
            return same and not fact["taken_back"]
        case TakenBack():
            return bool(fact["taken_back"])
    return False


def _twice(told: Told) -> Iterable[str]:
    """Yield what one connection was told out of order, or more than once."""
    last: defaultdict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for fact in told.facts:
        if fact["type"] != "move":
            continue
        # An event that takes back several plies is told by a fact for each, the last one first.
        place = fact["version"], -fact["ply"] if fact["taken_back"] else 0
        if place <= last[fact["board"]]:
            yield f"{told.player} at {told.server} was told this again, or late: {fact}"
        last[fact["board"]] = place


def counted(stored: Stored) -> Counter[str]:
    """Return how many events there are of each kind."""
    return Counter(type(each.event).__name__ for entries in stored.values() for each in entries)
