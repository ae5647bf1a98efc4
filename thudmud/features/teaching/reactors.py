"""The teacher of newcomers, who are players without a finished battle.

The explanation follows the first board on which it is their turn. It is repeated once if they
haven't moved after a minute, and never given again after their first move. They are told once of a
move that captured nothing although it could have.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import cast

from thudmud.features.teaching.model import CaptureMissed, MoveTaught
from thudmud.game.advice import MOST_TRAMPLES
from thudmud.game.archive import PlayerScore, ScoreLookup
from thudmud.game.asides import Entered, Gone, TookOver
from thudmud.game.command import has_verb
from thudmud.game.events import Moved
from thudmud.game.feature import AppliedEvent, FeatureContext
from thudmud.game.table import Table
from thudmud.rules import Game, Move, Square
from thudmud.store import StoreError
from thudmud.views.sentences import TURNED

REMINDER_DELAY = 60.0
"""Seconds until a newcomer on their turn is reminded."""

_log = logging.getLogger(__name__)


def setup(service: FeatureContext) -> None:
    """Register the handlers of teaching with a service."""
    Teacher(service)


class Teacher:
    """Explains to newcomers how to move.

    Attributes:
        newcomers: newcomers online who haven't moved yet, and whether they got the explanation.
        uninformed: newcomers online who weren't told of a missed capture.
    """

    def __init__(self, service: FeatureContext) -> None:
        self._service = service
        self.newcomers: dict[str, bool] = {}
        self.uninformed: set[str] = set()
        service.bus.subscribe(Entered, self._entered)
        service.bus.subscribe(TookOver, self._took_over)
        service.bus.subscribe(Gone, self._on_player_gone)
        service.bus.subscribe(Moved, self._moved)
        service.bus.subscribe(TURNED, self._on_turn_changed)

    def _entered(self, applied: AppliedEvent) -> None:
        player = cast("Entered", applied.event).player
        if applied.is_ours and self._service.has_screen(player):
            self._service.spawn(self._recognise(player))

    async def _recognise(self, player: str) -> None:
        """Look up whether an arriving player is a newcomer, and teach them if it is their turn."""
        try:
            score: PlayerScore | None = await self._service.look_up(ScoreLookup(player))
        except StoreError as error:
            if player in self._service.local_players():
                _log.error("could not read a player's results: %s", error, extra={"player": player})
            return
        await self._service.wait_for_line(player)  # the board comes first
        if player not in self._service.local_players():
            return
        tables = self._service.hall.tables.seats_of(player)
        is_new = score is None or score == PlayerScore(score.name, puzzles=score.puzzles)
        if is_new:
            self.uninformed.add(player)
        if is_new and not any(_has_moved(table, player) for table in tables):
            self.newcomers[player] = False
            for table in tables:
                self._teach_if_due(table)

    def _took_over(self, applied: AppliedEvent) -> None:
        """Forget a newcomer who returns from another node after moving there."""
        player = cast("TookOver", applied.event).player
        tables = self._service.hall.tables.seats_of(player)
        if any(_has_moved(table, player) for table in tables):
            self._forget(player)

    def _on_player_gone(self, applied: AppliedEvent) -> None:
        player = cast("Gone", applied.event).player
        self._forget(player)
        self.uninformed.discard(player)

    def _moved(self, applied: AppliedEvent) -> None:
        moved = cast("Moved", applied.event)
        self._forget(moved.player)
        if moved.player not in self.uninformed or moved.move.captures or applied.before is None:
            return
        game = applied.before.game
        table = self._service.hall.tables.with_key(applied.before.key)
        captures = _missed_captures(game, moved.move) if game else []
        if table and table.is_running and captures:
            self.uninformed.remove(moved.player)
            best = max(captures, key=len)
            has_all = best == tuple(sorted({square for each in captures for square in each}))
            squares = moved.move.origin, moved.move.target
            told = CaptureMissed(moved.player, table.name, *squares, best, has_all)
            self._service.tell(told)

    def _forget(self, player: str) -> None:
        if self.newcomers.pop(player, None) is not None:
            self._service.scheduler.cancel(("teaching", player))

    def _on_turn_changed(self, applied: AppliedEvent) -> None:
        key = applied.table.key if self.newcomers and applied.table else ""
        if table := self._service.hall.tables.with_key(key):
            self._teach_if_due(table)

    def _teach_if_due(self, table: Table) -> None:
        """Explain how to move if it is a newcomer's turn and they haven't got the explanation."""
        player = self._newcomer_to_move(table)
        if player is not None and not self.newcomers[player]:
            self.newcomers[player] = True
            self._teach(player, table, again=False)
            at = self._service.clock() + REMINDER_DELAY
            remind = partial(self._remind, player, table.key)
            self._service.scheduler.schedule(("teaching", player), at, remind)

    def _remind(self, player: str, key: str) -> None:
        table = self._service.hall.tables.with_key(key)
        if table and self._newcomer_to_move(table) == player:
            self._teach(player, table, again=True)

    def _newcomer_to_move(self, table: Table) -> str | None:
        """Return the newcomer on move, if any, unless a private board covers the battle."""
        player = table.seats.get(table.game.turn) if table.game and table.is_running else None
        if player not in self.newcomers or player not in self._service.local_players():
            return None
        person = self._service.hall.people.get(player)
        return None if person is None or person.private else player

    def _teach(self, player: str, table: Table, *, again: bool) -> None:
        hall = self._service.hall
        can_ask = self._service.adviser is not None and has_verb(hall, "hint")
        hints = can_ask and hall.board_of_rated_battle(player) is None
        self._service.tell(MoveTaught(player, table.name, hints, again))


def _missed_captures(game: Game, played: Move) -> list[tuple[Square, ...]]:
    """Return what a move could have captured, besides nothing."""
    return [
        move.captures
        for move in game.ruleset.moves_from(game.position, played.origin, MOST_TRAMPLES)
        if move.target == played.target and move.captures and not move.is_trample
    ]


def _has_moved(table: Table, player: str) -> bool:
    """Whether a seated player has moved in the current battle."""
    if table.game is None:
        return False
    first, plies = table.game.initial_position.turn, len(table.game.moves)
    return any(plies > (side is not first) for side in table.sides_of(player))
