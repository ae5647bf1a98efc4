"""Hints computed in the background, so that they don't delay the player's next lines."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from thudmud.errors import RefusedError
from thudmud.features.hints.commands import Hint
from thudmud.features.hints.model import AdviceLookup, HintRefusal
from thudmud.game.archive import LookupResults
from thudmud.game.evaluation import Adviser, Variation
from thudmud.game.feature import FeatureContext, LookupRequest, Postponed
from thudmud.game.hall import Decision
from thudmud.store import StoreError

if TYPE_CHECKING:
    import asyncio

HINT_SECONDS = 0.02
"""A rough estimate of the adviser's time for a hint, in seconds."""

HINT_SLOW = 2.0
"""Seconds after which a waiting player is informed that the hint takes a while."""

_log = logging.getLogger(__name__)


def setup(service: FeatureContext) -> None:
    """Register the handler of hints with a service."""
    hints = Hints(service)
    service.register_lookup(AdviceLookup, hints.look_up)
    service.on_stop(hints.close)


class Hints:
    """Hints under way.

    Attributes:
        waiting: the adviser's task of each waiting player, by name.
    """

    def __init__(self, service: FeatureContext) -> None:
        self._service = service
        self.waiting: dict[str, asyncio.Task[Variation | None]] = {}

    def look_up(self, request: LookupRequest, asked: AdviceLookup) -> Variation | Postponed | None:
        """Ask the adviser for a hint; the answer if it comes at once, else `Postponed`.

        Raises:
            RefusedError: there is no adviser, the player already waits for a hint, or the position
                has changed since they asked.
        """
        service, name = self._service, request.player
        board = service.hall.tables.name_for_key(asked.board)
        if request.is_late:
            raise RefusedError(HintRefusal.HINT_OUT_OF_DATE, board=board)
        if service.adviser is None:
            raise RefusedError(HintRefusal.NO_HINTS)
        if name in self.waiting:
            raise RefusedError(HintRefusal.HINT_PENDING)
        advising = service.spawn(_advised(service.adviser, asked))
        if advising is None or isinstance(advising, tuple):
            return advising
        self.waiting[name] = advising
        service.scheduler.cancel(("hint", name))  # a leftover of the last hint
        at = service.clock() + HINT_SLOW
        service.scheduler.schedule(("hint", name), at, lambda: self._put_off(advising, name))
        service.spawn(self._await_hint(advising, asked, request))
        return Postponed(Decision(name, board), HINT_SECONDS, is_awaited=True)

    def _put_off(self, advising: asyncio.Task[Variation | None], name: str) -> None:
        """Inform a player that the hint takes a while, unless it has come."""
        if self.waiting.get(name) is advising and name in self._service.local_players():
            self._service.refuse(name, RefusedError(HintRefusal.HINT_PENDING))

    async def _await_hint(
        self,
        advising: asyncio.Task[Variation | None],
        asked: AdviceLookup,
        request: LookupRequest,
    ) -> None:
        """Wait for the adviser, then give the hint unless the battle has moved on."""
        name = request.player
        try:
            line = await advising
        finally:
            del self.waiting[name]
        table = self._service.hall.tables.with_key(asked.board)
        if table is None:
            return
        # By name, since "it" may have changed meanwhile.
        command, found = Hint(table.name), LookupResults({asked: line})
        played = partial(self._have_played, asked)
        try:
            await self._service.run_command(name, command, found, request.cause, unless=played)
        except StoreError as error:
            _log.error("could not give a hint: %s", error, extra={"player": name})

    def _have_played(self, asked: AdviceLookup) -> bool:
        """Whether the battle has moved on from the position, or the board is gone."""
        table, plies = self._service.hall.tables.with_key(asked.board), asked.game.moves
        if table is None:
            return True
        moves = table.game.moves if table.game else ()
        return len(moves) > len(plies) and moves[: len(plies)] == plies

    def close(self) -> None:
        """Cancel all hints."""
        for advising in self.waiting.values():
            advising.cancel()


async def _advised(adviser: Adviser, asked: AdviceLookup) -> Variation | None:
    """Return the adviser's line; None if it fails."""
    try:
        return await adviser.advise(asked.board, asked.game)
    except Exception:  # noqa: BLE001  (the player is told that there is no hint)
        _log.exception("could not find a hint")
        return None
