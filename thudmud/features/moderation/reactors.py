"""Handlers that store and log operators' actions, announce reports and count down a shutdown."""

from __future__ import annotations

import logging
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, cast

from thudmud.features.moderation import storage
from thudmud.features.moderation.model import (
    Announced,
    OperatorAction,
    PlannedShutdown,
    ReportClosed,
    ReportMade,
    ReportsAnnounced,
    ReportsClosed,
    Sanctioned,
    SanctionLifted,
    ShutdownAnnounced,
)
from thudmud.game.asides import Entered, TookOver
from thudmud.game.feature import AppliedEvent, FeatureContext
from thudmud.game.sanctions import Measure
from thudmud.store import NoSuchAccountError, accounts
from thudmud.values import replace
from thudmud.views.words import minute

if TYPE_CHECKING:
    from thudmud.store import Store

TOLD_EVERY = 60.0
"""The minimum interval between two announcements of reports, in seconds."""

MARKS = (600, 300, 120, 60, 30, 10)
"""The remaining seconds at which a shutdown is announced again."""

_REPORTS = ("moderation", "reports")
_Arrival = Entered | TookOver

_log = logging.getLogger(__name__)


def setup(service: FeatureContext) -> None:
    """Register the handlers of moderation with a service."""
    store: Store = service.store

    async def note(aside: OperatorAction) -> None:
        await _note(store, aside)

    def sanctioned(applied: AppliedEvent) -> None:
        """Disconnect a player who was kicked."""
        sanction = cast("Sanctioned", applied.event).sanction
        if sanction.measure is Measure.KICK:
            service.disconnect(sanction.whom)

    for kind in (Announced, Sanctioned, SanctionLifted, ReportClosed, ReportsClosed):
        service.register_aside_store(kind, note)
    service.bus.subscribe(Sanctioned, sanctioned)
    ReportNews(service)
    Countdown(service)


async def _note(store: Store, aside: OperatorAction) -> None:
    """Store an operator's action, and log its operator, target, duration and reason.

    Raises:
        StoreError: it can't be stored.
    """
    extra: dict[str, object] = {"operator": aside.player}
    match aside:
        case Announced():
            _log.info("broadcast", extra=extra)  # the log has no typed text apart from reasons
        case Sanctioned(_, sanction) | SanctionLifted(_, sanction):
            what = sanction.measure.value
            extra |= {"whom": sanction.whom}
            if isinstance(aside, SanctionLifted):
                with suppress(NoSuchAccountError):  # already lifted by another operator
                    await store.write(accounts.lift_sanction, sanction)
                _log.warning("un%s", what, extra=extra)
                return
            if sanction.measure is not Measure.KICK:
                await store.write(accounts.impose_sanction, sanction)
            end = {"until": minute(sanction.until)} if sanction.until else {}
            _log.warning("%s", what, extra=extra | end | {"why": sanction.why})
        case ReportClosed(_, number):
            await store.write(partial(storage.close_report, number=number))
            _log.warning("closed a report", extra=extra | {"number": number})
        case ReportsClosed(_, last, _, about, by):
            work = partial(storage.close_reports, last=last, about=about, by=by)
            closed = await store.write(work)
            of = {"about": about} if about else {"by": by} if by else {}
            _log.warning("closed reports", extra=extra | of | {"how_many": closed})


class ReportNews:
    """Stores reports, and announces them to operators in at most one sentence a minute.

    The first report is announced at once; later ones are batched until the interval is over. Each
    node announces the reports of all nodes to its own operators.
    """

    def __init__(self, service: FeatureContext) -> None:
        self._service = service
        self._waiting: list[ReportMade] = []
        service.register_aside_store(ReportMade, self._store)
        service.bus.subscribe(ReportMade, self._on_report_made)

    async def _store(self, made: ReportMade) -> None:
        work = partial(
            storage.report, by=made.player, about=made.about, text=made.text, said=made.said
        )
        number = await self._service.store.write(work)
        who = {"number": number, "player": made.player, "about": made.about}
        _log.warning("a player was reported", extra=who)

    def _on_report_made(self, applied: AppliedEvent) -> None:
        """Announce a report at once, or in the next batch."""
        self._waiting.append(cast("ReportMade", applied.event))
        if _REPORTS not in self._service.scheduler:
            self._tell_all()

    def _tell_all(self) -> None:
        """Announce the waiting reports, and start the next interval if there were any."""
        reports, self._waiting = self._waiting, []
        if reports:
            again = self._service.clock() + TOLD_EVERY
            self._service.scheduler.schedule(_REPORTS, again, self._tell_all)
            self._service.tell(ReportsAnnounced("", tuple(reports)))


class Countdown:
    """Announces a shutdown to everybody on this node at intervals, and then stops the node.

    Players on other nodes aren't notified and play on.
    """

    def __init__(self, service: FeatureContext) -> None:
        self._service = service
        service.register_aside_store(ShutdownAnnounced, self._begin)
        service.bus.subscribe((Entered, TookOver), self._came)

    async def _begin(self, told: ShutdownAnnounced) -> None:
        """Start a countdown, replacing an earlier one, or cancel the current one."""
        extra: dict[str, object] = {"operator": told.player}
        scheduler = self._service.scheduler
        for mark in (*MARKS, 0):
            scheduler.cancel(_key(mark))
        if told.seconds is None:
            _log.warning("cancelled the shutdown", extra=extra)
            return
        extra |= {"seconds": told.seconds, "why": told.why}
        _log.warning("scheduled a shutdown", extra=extra)
        for mark in MARKS:
            if mark < told.seconds:
                tell = partial(self._service.tell, replace(told, seconds=mark))
                scheduler.schedule(_key(mark), told.at - mark, tell)
        stop = partial(self._service.stop_server, "an operator")
        scheduler.schedule(_key(0), told.at, stop)

    def _came(self, applied: AppliedEvent) -> None:
        """Announce a planned shutdown to a player who enters this node."""
        name = cast("_Arrival", applied.event).player
        planned = self._service.hall.part(PlannedShutdown).told
        if planned and applied.is_ours and name in self._service.local_players():
            left = max(0.0, planned.at - self._service.clock())
            self._service.tell(replace(planned, seconds=left, to=name))


def _key(mark: int) -> tuple[str, ...]:
    return "moderation", "shutdown", str(mark)
