"""Switches tvs when the battle on screen ends or is left, or one begins while no other is on."""

from __future__ import annotations

import logging

from thudmud.features.tv.commands import Retune, needs_retuning
from thudmud.features.tv.model import TvTurned, tv_board
from thudmud.game import events
from thudmud.game.asides import CameIn, Gone, WentOut
from thudmud.game.feature import AppliedEvent, FeatureContext
from thudmud.store import StoreError

RETRY = 5.0
"""Seconds before a failed switch is retried."""

_log = logging.getLogger(__name__)


def setup(service: FeatureContext) -> None:
    """Subscribe to the events that begin or end battles, for the tvs of this node's players."""
    # Long: short handlers that share the state of the registration.
    due = set[str]()
    """Players whose tvs are to be switched: once, however many events ask for it."""
    watchers = set[str]()
    """Players whose tvs are on, and some who have left: nobody else has to be looked at."""

    def tv_turned(applied: AppliedEvent) -> None:
        match applied.event:
            case TvTurned(player=player, shown=shown):
                (watchers.discard if shown is None else watchers.add)(player)

    def battle_changed(applied: AppliedEvent) -> None:
        """Switch the tvs whose battle ended or was left, and the idle ones if one has begun."""
        table = applied.table
        ended = table.name if table and not table.is_running else ""
        retune(ended)

    def person_moved(applied: AppliedEvent) -> None:
        """Switch the tvs whose battle was left; only who has a seat can leave one."""
        match applied.event:
            case CameIn(player=player) | WentOut(player=player) | Gone(player=player):
                if service.hall.tables.has_seat(player):
                    retune(None)

    def retune(shown: str | None) -> None:
        """Switch all tvs that show the given board, or nothing (""), or a board that was left."""
        if not watchers:
            return
        if not due:
            service.bus.defer(switch_due)
        here = service.local_players()
        watchers.difference_update([name for name in watchers if name not in here])
        for name in watchers:
            person = service.hall.people.get(name)
            if person is None:
                continue
            board = tv_board(person)
            if board == shown or (board and needs_retuning(service.hall, person)):
                due.add(name)

    def switch_due() -> None:
        names = sorted(due)
        due.clear()
        for name in names:
            service.spawn(turn(name))

    async def turn(name: str) -> None:
        try:
            await service.run_command(name, Retune())
        except StoreError as error:
            _log.error("could not switch a tv: %s", error, extra={"player": name})
            again = service.clock() + RETRY
            service.scheduler.schedule(("tv", name), again, lambda: service.spawn(turn(name)))

    # A battle also pauses when a player leaves their seat, and continues when somebody takes it.
    service.bus.subscribe(
        (
            events.BattleStarted,
            events.BattleEnded,
            events.Resumed,
            events.Adjourned,
            events.Cleared,
            events.Left,
            events.Joined,
            events.Absent,
            events.Returned,
        ),
        battle_changed,
    )
    service.bus.subscribe(events.BoardClosed, lambda _: retune(""))
    service.bus.subscribe((Gone, WentOut, CameIn), person_moved)
    service.bus.subscribe(TvTurned, tv_turned)
