"""Turns tvs to another board when a battle ends, or begins while they show none."""

from __future__ import annotations

import logging

from thudmud.features.tv.commands import Retune
from thudmud.features.tv.model import shown_to
from thudmud.play import events
from thudmud.play.feature import Happening, Reach
from thudmud.store import StoreError

RETRY = 5.0
"""Seconds before it is tried again to turn a tv, if it could not be read which battle is best."""

_log = logging.getLogger(__name__)


def react(service: Reach) -> None:
    """Turn the tvs of those who are on this node as battles begin and end."""

    def battle_changed(happening: Happening) -> None:
        """Turn the tvs that show the board of a battle that ended; if one goes on, the others."""
        table = happening.table
        retune(table.name if table and not table.running else "")

    def board_closed(_: Happening) -> None:
        retune("")

    def retune(shown: str) -> None:
        """Turn the tvs that show a board, or those that show none."""
        for name in tuple(service.names_here()):
            person = service.hall.people.get(name)
            if person and shown_to(person) == shown:
                service.start(turn(name))

    async def turn(name: str) -> None:
        try:
            await service.act(name, Retune())
        except StoreError as error:
            _log.error("a tv was not turned: %s", error, extra={"player": name})
            again = service.clock() + RETRY
            service.scheduler.at(("tv", name), again, lambda: service.start(turn(name)))

    # What begins or ends a battle, or stops it, or lets it go on as somebody takes a free seat.
    service.bus.on(
        (
            events.BattleStarted,
            events.BattleEnded,
            events.Resumed,
            events.Adjourned,
            events.Cleared,
            events.Left,
            events.Joined,
        ),
        battle_changed,
    )
    service.bus.on(events.BoardClosed, board_closed)
