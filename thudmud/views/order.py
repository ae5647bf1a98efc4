"""Order in words: what operators say and do, and who is muted or banned."""

from __future__ import annotations

from collections.abc import Sequence

from thudmud.english import counted, does, lasting, length
from thudmud.play.asides import (
    Announced,
    Lifted,
    ReportClosed,
    Sanctioned,
    ShutdownTold,
)
from thudmud.play.hall import Hall
from thudmud.play.letters import Report
from thudmud.play.order import Measure, Sanction
from thudmud.verbs.order import Bans, CloseReport, Reports
from thudmud.views.words import because, minute, wrapped, wrapped_each

PAGE, REPORTS_PAGE = 20, 10
"""How many bans, and reports, a page of them has."""


def told(
    aside: Announced | Sanctioned | Lifted | ReportClosed | ShutdownTold, me: str | None
) -> str:
    """Return what an operator has brought about, in a sentence."""
    match aside:
        case Announced(player, text):
            who = "You tell" if player == me else f"{player}, an operator, tells"
            return f"{who} everybody: {text}"
        case Sanctioned(player, sanction) if sanction.whom == me:
            return _to_whom(player, sanction)
        case Sanctioned(player, sanction):
            done = f"{does(player, me, sanction.measure.value)} {sanction.whom}"
            return f"{done}{_length(sanction)}{because(sanction.why)}."
        case Lifted(player, sanction) if sanction.whom == me:
            return f"{player} lets you be heard again."
        case Lifted(player, sanction):
            return f"{does(player, me, f'un{sanction.measure.value}')} {sanction.whom}."
        case ReportClosed(player, number):
            return f"{does(player, me, 'close')} report {number}."
        case ShutdownTold(seconds=None):
            return "The server does not shut down after all."
        case ShutdownTold(seconds=seconds, why=why):
            when = f"in {lasting(seconds)}" if seconds else "now"
            kept = "All seats and matches are kept."
            return f"The server shuts down {when}{because(why)}. {kept}"


def _to_whom(player: str, sanction: Sanction) -> str:
    """Return what an operator has done about somebody, to themselves."""
    why = because(sanction.why)
    if sanction.measure is Measure.MUTE:
        what = "Nobody hears what you say; you can play on."
        return f"{player} has muted you{_length(sanction)}{why}. {what}"
    return f"{player} ends your visit{why}. You may come back."


def _length(sanction: Sanction) -> str:
    if sanction.until is None:
        return ""
    return f" for {length(round(sanction.until - sanction.since))}"


def until(sanction: Sanction) -> str:
    """Return when a measure ends, as it stands behind what it is; nothing if it does not."""
    return "" if sanction.until is None else f" until {minute(sanction.until)}"


def barred(ban: Sanction, contact: str = "") -> str:
    """Return why somebody is not let in, and whom to ask.

    Args:
        ban: of their name, or of where they come from.
        contact: where the operator can be written to, if that is known.
    """
    where = "" if ban.whom.isalpha() else " (where you come from)"
    ask = f"write to {contact}" if contact else "ask the operator"
    ended = f"{until(ban)}{because(ban.why)}"
    return (
        f"The operator of this server has banned {ban.whom}{where}{ended}. If that is wrong, {ask}."
    )


def known_of(hall: Hall, name: str, now: float) -> str:
    """Return what operators are told besides of somebody; nothing if nothing is known."""
    origin, mute = hall.origins.get(name), hall.order and hall.order.mute(name, now)
    known = [f"They come from {origin}."] if origin else []
    known += [f"They are muted{until(mute)}{because(mute.why)}."] if mute else []
    return " ".join(known)


def mutes(hall: Hall, now: float, width: int) -> list[str]:
    """Return who is muted, a row each, the latest first."""
    found = hall.order.all_mutes(now) if hall.order else []
    heading = f"{counted(len(found), 'player')} cannot be heard:" if found else "Nobody is muted."
    return [*wrapped(heading, width), *wrapped_each(map(_row, found), width, "    ")]


def bans(hall: Hall, asked: Bans, now: float, width: int) -> list[str]:
    """Return a page of who is kept out, a row each, the latest first."""
    found = hall.order.all_bans(now) if hall.order else []
    first = (asked.page - 1) * PAGE
    rows = found[first : first + PAGE]
    if not rows:
        none = "Nobody is banned." if not found else f"There is no page {asked.page} of bans."
        return wrapped(none, width)
    lines = wrapped(f"{counted(len(found), 'ban')}:", width)
    lines += wrapped_each(map(_row, rows), width, "    ")
    if len(found) > first + PAGE:
        lines += wrapped(f'"{Bans(asked.page + 1)}" shows more.', width)
    return lines


def reports(found: Sequence[Report], asked: Reports, width: int) -> list[str]:
    """Return a page of what players have reported, the last one first, and what they had heard."""
    lines = []
    for report in found[(asked.page - 1) * REPORTS_PAGE : asked.page * REPORTS_PAGE]:
        by = report.by or "somebody"
        head = f"  {report.number}. {minute(report.at)}, {by} about {report.about}: {report.text}"
        said = (f"    {report.about} was heard: {each}" for each in report.said)
        lines += wrapped_each([head, *said], width, "      ")
    if not lines:
        none = f"There is no page {asked.page} of reports." if found else "No report is open."
        return wrapped(none, width)
    close = f'"{CloseReport(found[0].number)}", say, closes one that has been seen to.'
    more = f'"{Reports(asked.page + 1)}" shows more.'
    has_more = len(found) > asked.page * REPORTS_PAGE
    return [
        *wrapped(f"{counted(len(found), 'report')}:", width),
        *lines,
        *wrapped(f"{more} {close}" if has_more else close, width),
    ]


def _row(sanction: Sanction) -> str:
    by = f", by {sanction.by}" if sanction.by else ""
    return f"  {sanction.whom}{until(sanction)}{by}{because(sanction.why)}."
