"""Hints: a player asks what to play, and is told once the adviser has found it."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from thudmud.errors import Refused
from thudmud.features.hints.model import AdviceLookup, Line
from thudmud.features.playing.queries import Hint
from thudmud.game.archive import Found, Unread
from thudmud.game.decisions import decide
from thudmud.game.hall import Decision
from thudmud.game.refusals import Refusal
from thudmud.service.broadcasting import Broadcaster
from thudmud.service.driving import now
from thudmud.service.interface import Adviser, Base, Result
from thudmud.service.presence import Presence

if TYPE_CHECKING:
    import asyncio

HINT_SECONDS = 0.02
"""Roughly how many seconds of the adviser's work a hint, or a position of an analysis, takes."""

HINT_SLOW = 2.0
"""After how many seconds a player who waits for a hint is told that it will come."""

_log = logging.getLogger(__name__)


class Hints:
    """Gets hints in the background, without delaying the player's other lines.

    Args:
        base: what they stand on.
        adviser: is asked; None if there is none.
        broadcaster: tells the players.
        presence: the locks of the players' names.

    Attributes:
        waiting: by player, the task of the hint they wait for.
    """

    def __init__(
        self, base: Base, adviser: Adviser | None, broadcaster: Broadcaster, presence: Presence
    ) -> None:
        self._hall, self._clock, self._scheduler = base.hall, base.clock, base.scheduler
        self._adviser, self._broadcaster, self._presence = adviser, broadcaster, presence
        self._visits = broadcaster.visits
        self.waiting: dict[str, asyncio.Task[Line | None]] = {}

    def look_for(
        self, name: str, asked: AdviceLookup, found: Found, cause: object
    ) -> Result | None:
        """Ask for a hint; None if it is found at once, as where nothing waits.

        Otherwise it comes in the background, and the player's other lines do not wait for it.
        """
        command = Hint(self._hall.tables.called(asked.board))  # "it" may change meanwhile
        if self._adviser is None:
            return self._broadcaster.refuse(name, command, Refused(Refusal.NO_HINTS), cause)
        if name in self.waiting:
            return self._broadcaster.refuse(name, command, Refused(Refusal.HINT_PENDING), cause)
        advising = now(_advised(self._adviser, asked))
        if advising is None or isinstance(advising, tuple):
            found.take(asked, advising)
            return None
        self.waiting[name] = advising
        self._broadcaster.carry_out(Decision(name, command.on), cause)
        self._scheduler.cancel(("hint", name))  # of an earlier one
        at = self._clock() + HINT_SLOW
        self._scheduler.at(("hint", name), at, lambda: self._put_off(advising, name))
        now(self._await_hint(advising, name, asked, cause))
        return Result(command, done=True, seconds=HINT_SECONDS, is_awaited=True)

    def _put_off(self, advising: asyncio.Task[Line | None], name: str) -> None:
        """Tell a player that a hint will come, if it has not come yet."""
        if self.waiting.get(name) is advising and name in self._visits:
            self._broadcaster.refuse(name, None, Refused(Refusal.HINT_PENDING), None)

    async def _await_hint(
        self, advising: asyncio.Task[Line | None], name: str, asked: AdviceLookup, cause: object
    ) -> None:
        """Tell a player the hint once it is found, if the board has not changed meanwhile."""
        try:
            line = await advising
        finally:
            del self.waiting[name]
        async with self._presence.names.of(name):
            table = self._hall.tables.with_key(asked.board)
            if self._presence.closing or name not in self._visits or table is None:
                return
            game, plies = table.game, asked.game.moves
            if game and len(game.moves) > len(plies) and game.moves[: len(plies)] == plies:
                return  # they have played without it
            found = Found({asked: line})
            try:
                [decision] = decide(self._hall, name, Hint(table.name), self._clock(), found)
            except Refused as refusal:
                self._broadcaster.refuse(name, None, refusal, cause)
            except Unread:
                out_of_date = Refused(Refusal.HINT_OUT_OF_DATE, board=table.name)
                self._broadcaster.refuse(name, None, out_of_date, cause)
            else:
                # "it" stays what it is
                self._broadcaster.carry_out(replace(decision, board=None), cause)

    def close(self) -> None:
        """Cancel all hints."""
        for advising in self.waiting.values():
            advising.cancel()


async def _advised(adviser: Adviser, asked: AdviceLookup) -> Line | None:
    """Return the adviser's line; None if it fails."""
    try:
        return await adviser.advise(asked.board, asked.game)
    except Exception:  # noqa: BLE001  (the player is told that there is no hint)
        _log.exception("a hint was not found")
        return None
