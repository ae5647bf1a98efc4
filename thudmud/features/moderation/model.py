"""What operators do, and reports to them.

Sanctions themselves are in `thudmud.game.sanctions`: they hold without these commands, too. Reports
are no events but rows, which are deleted for good: see `thudmud.features.moderation.storage`.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from thudmud.game.archive import Lookup
from thudmud.game.asides import Aside, StoredAside, aside
from thudmud.game.hall import Hall, HallPart, applies
from thudmud.game.sanctions import Measure, Sanction
from thudmud.game.telling import Telling
from thudmud.values import replace


class ModerationRefusal(Enum):
    """Reasons for refusing a command of operators, or a report. The values are stable."""

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
"""The shortest prefixes, by version of IP, of networks that can be banned. Wider ones would keep
out far more than the people meant."""


class OfOperators(StoredAside, Aside):
    """Something an operator did. It is stored or logged before it is told."""


@aside
class Announced(OfOperators):
    """An operator told everybody something."""

    crosses = True

    text: str


@applies(Announced)
def _apply_announced(announced: Announced, hall: Hall) -> Telling:
    return Telling(announced, tuple(hall.people))


class OfSanction(OfOperators):
    """A sanction is imposed or lifted. Told to the player concerned and to all operators."""

    sanction: Sanction
    crosses = True

    @property
    def involves(self) -> set[str]:
        return {self.player, self.sanction.whom}


@applies(OfSanction)
def _apply_of_sanction(sanction: OfSanction, hall: Hall) -> Telling:
    told_of_it = hall.operators_and(sanction.player)
    is_ban = sanction.sanction.measure is Measure.BAN
    if not is_ban and sanction.sanction.whom in hall.people:
        told_of_it = *told_of_it, sanction.sanction.whom
    return Telling(sanction, tuple(dict.fromkeys(told_of_it)))


@aside
class Sanctioned(OfSanction):
    """An operator imposed a sanction."""


@aside
class Lifted(OfSanction):
    """An operator lifted a sanction, which is told as it was imposed."""


@aside
class ReportClosed(OfOperators):
    """An operator closed a report. Told to all operators."""

    crosses = True

    number: int


@applies(ReportClosed)
def _apply_report_closed(closed: ReportClosed, hall: Hall) -> Telling:
    return Telling(closed, hall.operators_and(closed.player))


@aside
class ReportsClosed(OfOperators):
    """An operator closed all reports of a kind that were open by then. Told to all operators.

    Attributes:
        player: the operator.
        last: the number of the last one that may be among them.
        how_many: how many there were.
        about: the player that they are about; "" for any.
        by: the player who made them; "" for any.
    """

    crosses = True

    last: int
    how_many: int
    about: str = ""
    by: str = ""


@applies(ReportsClosed)
def _apply_reports_closed(closed: ReportsClosed, hall: Hall) -> Telling:
    return Telling(closed, hall.operators_and(closed.player))


@aside
class ShutdownTold(OfOperators):
    """Everybody on this node, or one player, is told that the server will shut down.

    Attributes:
        player: the operator who asked for it.
        at: when it stops, in seconds since the epoch.
        seconds: how many seconds remain; None if the shutdown is cancelled.
        why: the reason, if one was given.
        to: the only player who is told; "" for everybody.
    """

    at: float
    seconds: float | None
    why: str = ""
    to: str = ""


@applies(ShutdownTold)
def _apply_shutdown_told(told: ShutdownTold, hall: Hall) -> Telling:
    if told.to:
        return Telling(told, (told.to,))
    hall.part(PlannedShutdown).told = None if told.seconds is None else told
    return Telling(told, tuple(hall.people))


@aside
class ReportMade(StoredAside, Aside):
    """A player reported another. ``said`` is what they last heard from that player.

    Operators are told by `ReportsTold`.
    """

    crosses = is_limited = True

    about: str
    text: str
    said: tuple[str, ...] = ()

    def abroad(self) -> Aside:
        return replace(self, said=())  # it is stored, and may be long


@aside
class ReportsTold(Aside):
    """The operators here are told of reports that were made. ``player`` is ""."""

    reports: tuple[ReportMade, ...]


@applies(ReportsTold)
def _apply_reports_told(told: ReportsTold, hall: Hall) -> Telling:
    return Telling(told, hall.operators_and(told.player))


MOST_REPORTS = 1000
"""How many reports may be open in all."""


class Report(NamedTuple):
    """A report of a player to the operators.

    Attributes:
        number: its number, from 1.
        at: when it was made, in seconds since the epoch.
        by: who made it; "" if their name has been erased.
        about: the player it is about.
        text: what it says.
        said: what the reporter last heard from that player, as the server recorded it.
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
    """``open`` is how many open reports a player may have; with 0 none are taken."""

    open: int = 0


def take_reports(hall: Hall, most: int) -> None:
    """Set how many open reports a player may have. What players say is kept for these."""
    hall.limit(ReportLimits(most))
    hall.remember_speech(most > 0)


class Reported(NamedTuple):
    """What is known of a player before a report about them.

    Attributes:
        name: their name; None if no player has ever had it here.
        open_by: how many reports by the reporter are open.
        open: how many are open in all.
        written: the last lines that the reporter has been written by them.
    """

    name: str | None
    open_by: int = 0
    open: int = 0
    written: tuple[str, ...] = ()


class ReportsLookup(Lookup[tuple[Report, ...]]):
    """All open reports, the latest first."""


class ReportedLookup(Lookup[Reported]):
    """The player with a name, in any case, before a report about them."""

    name: str
    by: str


class PlannedShutdown(HallPart):
    """The shutdown of this server that is planned.

    Attributes:
        told: what was told of it last; None if none is planned.
    """

    def __init__(self) -> None:
        self.told: ShutdownTold | None = None
