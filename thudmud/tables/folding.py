"""A battle, folded from its events.

Owns that fold alone. Must never know a table, nor where events are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from thudmud.rules import RULESETS, Game, read_record
from thudmud.tables.events import (
    Adjourned,
    BattleEnded,
    BattleStarted,
    Cleared,
    Event,
    Imported,
    Moved,
    Resumed,
    TakenBack,
)
from thudmud.tables.match import Match


def game_of(events: Iterable[Event]) -> Game:
    """Return a battle, folded from its events.

    Args:
        events: those of the stream of its ``source``, from there on. What follows the battle's end
            is not looked at, nor what else happens at a board meanwhile.

    Raises:
        ValueError: it begins with none of the events that a battle's plies can be read from.
    """
    following = iter(events)
    game = _opened(next(following, None))
    for event in following:
        match event:
            case Moved(move=move):
                game = game.play(move)
            case TakenBack(moves=moves):
                for _ in moves:
                    game = game.undo()
            case BattleEnded(outcome=outcome):
                return replace(game, outcome=outcome)
            case BattleStarted() | Adjourned() | Resumed() | Cleared() | Imported():
                break
    return game


def _opened(event: Event | None) -> Game:
    match event:
        case BattleStarted(rules=rules):
            return Game.start(RULESETS[rules])
        case Imported(rules=rules, record=record, outcome=outcome):
            return replace(read_record(record, RULESETS[rules]).game, outcome=outcome)
        case Resumed(match=saved):
            return Match.restored(saved).game
    raise ValueError("the events of a battle begin with its start")
