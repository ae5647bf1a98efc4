"""Asides of operators, and reports to them.

Sanctions are in `thudmud.game.sanctions`, since they hold without these commands, too. Reports are
rows rather than events, so that they can be deleted for good: see
`thudmud.features.moderation.storage`.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from thudmud.game.archive import Lookup
from thudmud.game.asides import Aside, StoredAside, aside
from thudmud.game.delivery import Delivery
from thudmud.game.hall import Hall, HallPart, applies
from thudmud.game.sanctions import Measure, Sanction
from thudmud.values import replace


class ModerationRefusal(Enum):
    """Codes of refusals in moderation. The values are stable, for programs."""

    NO_OPERATORS = "no_operators"
    SANCTION_SELF = "sanction_self"
    SANCTION_OPERATOR = "sanction_operator"
    SANCTION_BOT = "sanction_bot"
    NOT_MUTED = "not_muted"
    NOT_BANNED = "not_banned"
    NO_SUCH_NETWORK = "no_such_network"
    NETWORK_TOO_WIDE = "network_too_wide"
    NETWORK_LOCAL = "network_local"
    NO_SUCH_REPORT = "no_such_report"
    NO_OPEN_REPORT = "no_open_report"
    NO_REPORTS_OF_PLAYER = "no_reports_of_player"
    NO_SHUTDOWN = "no_shutdown"
    NO_REPORTS = "no_reports"
    REPORT_SELF = "report_self"
    REPORTS_TOO_MANY = "reports_too_many"
    REPORTS_FULL = "reports_full"


WIDEST = {4: 8, 6: 20}
"""The shortest prefix that can be banned, by IP version. A wider network would exclude far more
people than intended."""


class OperatorAction(StoredAside, Aside):
    """An operator's action. It is stored or logged before anybody is notified."""


@aside
class Announced(OperatorAction):
    """An operator broadcast a message to everybody."""

    reaches_other_nodes = True

    text: str


@applies(Announced)
def _apply_announced(announced: Announced, hall: Hall) -> Delivery:
    return Delivery(announced, tuple(hall.people))


class SanctionAction(OperatorAction):
    """A sanction was imposed or lifted. The player concerned and all operators are notified."""

    sanction: Sanction
    reaches_other_nodes = True

    @property
    def involves(self) -> set[str]:
        return {self.player, self.sanction.whom}


@applies(SanctionAction)
def _apply_of_sanction(sanction: SanctionAction, hall: Hall) -> Delivery:
    told_of_it = hall.player_and_operators(sanction.player)
    is_ban = sanction.sanction.measure is Measure.BAN
    if not is_ban and sanction.sanction.whom in hall.people:
        told_of_it = *told_of_it, sanction.sanction.whom
    return Delivery(sanction, tuple(dict.fromkeys(told_of_it)))


@aside
class Sanctioned(SanctionAction):
    """An operator imposed a sanction."""


@aside
class SanctionLifted(SanctionAction):
    """An operator lifted a sanction. `sanction` is the one originally imposed."""


@aside
class ReportClosed(OperatorAction):
    """An operator closed a report. All operators are notified."""

    reaches_other_nodes = True

    number: int


@applies(ReportClosed)
def _apply_report_closed(closed: ReportClosed, hall: Hall) -> Delivery:
    return Delivery(closed, hall.player_and_operators(closed.player))


@aside
class ReportsClosed(OperatorAction):
    """An operator closed all open reports about a player, by a player, or all of them.

    All operators are notified.

    Attributes:
        player: the operator.
        last: the highest number of a report to close; later reports stay open.
        how_many: the number of closed reports.
        about: the subject of the reports; "" for any.
        by: the author of the reports; "" for any.
    """

    reaches_other_nodes = True

    last: int
    how_many: int
    about: str = ""
    by: str = ""


@applies(ReportsClosed)
def _apply_reports_closed(closed: ReportsClosed, hall: Hall) -> Delivery:
    return Delivery(closed, hall.player_and_operators(closed.player))


@aside
class ShutdownAnnounced(OperatorAction):
    """A shutdown of this node is announced or cancelled, to everybody on it or to one player.

    Attributes:
        player: the operator who ordered it.
        at: the time of the shutdown, in seconds since the epoch.
        seconds: the seconds that remain; None if the shutdown is cancelled.
        why: the reason, if one was given.
        to: the only recipient; "" for everybody.
    """

    at: float
    seconds: float | None
    why: str = ""
    to: str = ""


@applies(ShutdownAnnounced)
def _apply_shutdown_told(told: ShutdownAnnounced, hall: Hall) -> Delivery:
    if told.to:
        return Delivery(told, (told.to,))
    hall.part(PlannedShutdown).told = None if told.seconds is None else told
    return Delivery(told, tuple(hall.people))


@aside
class ReportMade(StoredAside, Aside):
    """A player reported another. `said` are the subject's last lines that the reporter received.

    Operators are notified by `ReportsAnnounced`.
    """

    reaches_other_nodes = is_limited = True

    about: str
    text: str
    said: tuple[str, ...] = ()

    def form_for_other_nodes(self) -> Aside:
        return replace(self, said=())  # already stored, and may be long


@aside
class ReportsAnnounced(Aside):
    """The operators on this node are notified of new reports. ``player`` is ""."""

    reports: tuple[ReportMade, ...]


@applies(ReportsAnnounced)
def _apply_reports_told(told: ReportsAnnounced, hall: Hall) -> Delivery:
    return Delivery(told, hall.player_and_operators(told.player))


MOST_REPORTS = 1000
"""The maximum number of open reports in all."""


class Report(NamedTuple):
    """A player's report to the operators.

    Attributes:
        number: its number, from 1.
        at: the time of the report, in seconds since the epoch.
        by: the author; "" if their name has been erased.
        about: the player it is about.
        text: the author's text.
        said: the subject's last lines that the author received, as recorded by the server.
        is_open: whether no operator has closed it yet.
    """

    number: int
    at: float
    by: str
    about: str
    text: str
    said: tuple[str, ...] = ()
    is_open: bool = True


class ReportLimits(NamedTuple):
    """Limits on reports. ``open`` is the maximum of open reports by a player; 0 disables them."""

    open: int = 0


def configure_reports(hall: Hall, most: int) -> None:
    """Set the maximum of open reports by a player, and record speech if reports are enabled."""
    hall.set_limits(ReportLimits(most))
    hall.remember_speech(most > 0)


class Reported(NamedTuple):
    """Data needed to decide on a new report.

    Attributes:
        name: the subject's name as spelt; None if no player has ever had it here.
        open_by: the number of open reports by the reporter.
        open: the number of open reports in all.
        written: the subject's last letters to the reporter, by lines.
    """

    name: str | None
    open_by: int = 0
    open: int = 0
    written: tuple[str, ...] = ()


class ReportsLookup(Lookup[tuple[Report, ...]]):
    """Lookup of all open reports, the latest first."""


class ReportedLookup(Lookup[Reported]):
    """Lookup of a player before a report about them. The name's case doesn't matter."""

    name: str
    by: str


class PlannedShutdown(HallPart):
    """The planned shutdown of this server.

    Attributes:
        told: the latest announcement; None if no shutdown is planned.
    """

    def __init__(self) -> None:
        self.told: ShutdownAnnounced | None = None
