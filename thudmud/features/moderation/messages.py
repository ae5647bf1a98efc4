"""Moderation as text and as facts: announcements, sanctions, reports and shutdowns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil

from thudmud.english import conjugate, join_words, pluralize, rounded_duration, typed_duration
from thudmud.features.moderation.commands import Bans, CloseReport, CloseReports, Mutes, Reports
from thudmud.features.moderation.model import (
    Announced,
    ModerationRefusal,
    Report,
    ReportClosed,
    ReportMade,
    ReportsAnnounced,
    ReportsClosed,
    Sanctioned,
    SanctionLifted,
    ShutdownAnnounced,
)
from thudmud.features.talk.messages import in_own_words
from thudmud.game.people import Person
from thudmud.game.refusals import Refusal
from thudmud.game.sanctions import Measure, Sanction
from thudmud.views.data import Fact
from thudmud.views.refusals import add_refusal_texts
from thudmud.views.registry import RenderContext, add_lines_to, facts, words
from thudmud.views.sanctions import until
from thudmud.views.view import View
from thudmud.views.words import because, minute, wrap, wrap_each

PAGE, REPORTS_PAGE = 20, 10
"""The number of bans, and of reports, on a page."""

NAMED = 2
"""The maximum number of reports' authors, or subjects, to name."""

add_refusal_texts(
    {
        ModerationRefusal.NO_OPERATORS: (
            "There are no operators here. The people who run this server keep order."
        ),
        ModerationRefusal.SANCTION_SELF: "You can't do that to yourself.",
        ModerationRefusal.SANCTION_OPERATOR: (
            "{player} is an operator, too. You can't do that to them."
        ),
        ModerationRefusal.SANCTION_BOT: (
            "{player} is one of this server's bots, and does what its settings say."
        ),
        ModerationRefusal.NOT_MUTED: '"{words}" is not muted; "mutes" lists who is.',
        ModerationRefusal.NOT_BANNED: '"{words}" is not banned; "bans" lists who is.',
        ModerationRefusal.NO_SUCH_NETWORK: (
            '"{words}" isn\'t a name, an address such as 203.0.113.7, or a network such as'
            " 203.0.113.0/24 or 2001:db8::/32."
        ),
        ModerationRefusal.NETWORK_TOO_WIDE: (
            "{network} is too wide; the widest network that can be banned is a {widest}."
        ),
        ModerationRefusal.NETWORK_LOCAL: (
            "{network} is this machine itself, and anybody may come from there."
        ),
        ModerationRefusal.NO_SUCH_REPORT: (
            'There is no open report {number}; "reports" lists the open ones.'
        ),
        ModerationRefusal.NO_OPEN_REPORT: "There are no open reports.",
        ModerationRefusal.NO_REPORTS_OF_PLAYER: (
            'There is no such open report with the name "{words}". "reports" lists the open ones.'
        ),
        ModerationRefusal.NO_SHUTDOWN: "No shutdown is planned, so there's nothing to cancel.",
        ModerationRefusal.NO_REPORTS: (
            "Nobody reads reports here. Please contact the people who run this server instead."
        ),
        ModerationRefusal.REPORT_SELF: "That's you. A report is about somebody else.",
        ModerationRefusal.REPORTS_TOO_MANY: (
            "You have {most} open reports, which is the limit. The operators will get to them."
        ),
        ModerationRefusal.REPORTS_FULL: (
            "The operators have more reports than they can read. Try again later."
        ),
        Refusal.OPERATORS_ONLY: (
            'Only operators can do that. "report" tells them about a player; "ignore" hides what a'
            " player says."
        ),
    }
)


@words.register
def _announced(told: Announced, context: RenderContext, view: View) -> list[str]:
    who = "You tell" if told.player == view.me else f"{told.player}, an operator, tells"
    return in_own_words(f"{who} everybody: {told.text}", context, view)


@facts.register
def _announced_facts(told: Announced, _: RenderContext) -> Iterator[Fact]:
    yield Fact("Thud.Broadcast", {"player": told.player, "text": told.text})


@words.register
def _sanctioned(told: Sanctioned, _: RenderContext, view: View) -> list[str]:
    player, sanction = told.player, told.sanction
    if sanction.whom == view.me:
        return wrap(_to_whom(player, sanction), view.width)
    done = f"{conjugate(player, view.me, sanction.measure.value)} {sanction.whom}"
    return wrap(f"{done}{_length(sanction)}{because(sanction.why)}.", view.width)


@words.register
def _lifted(told: SanctionLifted, _: RenderContext, view: View) -> list[str]:
    player, sanction = told.player, told.sanction
    if sanction.whom == view.me:
        return wrap(f"{player} has unmuted you: others can hear you again.", view.width)
    done = conjugate(player, view.me, f"un{sanction.measure.value}")
    return wrap(f"{done} {sanction.whom}.", view.width)


@words.register
def _reports_told(told: ReportsAnnounced, _: RenderContext, view: View) -> list[str]:
    lists, reports = f'("{Reports()}" lists the open ones.)', told.reports
    first = reports[0]
    if len(reports) == 1:
        told_one = f'{first.player} reports {first.about}: "{first.text}" {lists}'
        return wrap(told_one, view.width, private=True)
    by, about = (each.player for each in reports), (each.about for each in reports)
    many = pluralize(len(reports), "more report")
    return wrap(f"{many}: {_some(by)} about {_some(about)}. {lists}", view.width)


def _some(names: Iterable[str]) -> str:
    """List the first distinct names, and the number of the others."""
    each = list(dict.fromkeys(names))
    others = len(each) - NAMED
    if others > 1:
        each[NAMED:] = [f"{others} others"]
    return join_words(each)


@words.register
def _reports_closed(told: ReportsClosed, _: RenderContext, view: View) -> list[str]:
    of = f" about {told.about}" if told.about else f" from {told.by}" if told.by else ""
    closes = f"{conjugate(told.player, view.me, 'close')} {pluralize(told.how_many, 'report')}{of}"
    return wrap(f"{closes}.", view.width)


@words.register
def _report_closed(told: ReportClosed, _: RenderContext, view: View) -> list[str]:
    closes = conjugate(told.player, view.me, "close")
    return wrap(f"{closes} report {told.number}.", view.width)


@words.register
def _shutdown(told: ShutdownAnnounced, _: RenderContext, view: View) -> list[str]:
    if told.seconds is None:
        return wrap("Shutdown cancelled.", view.width)
    when = f"in {rounded_duration(told.seconds)}" if told.seconds else "now"
    kept = "All seats and matches are kept."
    return wrap(f"The server is shutting down {when}{because(told.why)}. {kept}", view.width)


@facts.register
def _shutdown_facts(told: ShutdownAnnounced, _: RenderContext) -> Iterator[Fact]:
    left = None if told.seconds is None else ceil(told.seconds)
    yield Fact("Thud.Shutdown", {"seconds": left, "why": told.why or None})


def _to_whom(player: str, sanction: Sanction) -> str:
    """Return the sentence for the player a sanction is against."""
    why = because(sanction.why)
    if sanction.measure is Measure.MUTE:
        what = "Nobody can hear you, but you can play on."
        return f"{player} has muted you{_length(sanction)}{why}. {what}"
    return f"{player} has ended your connection{why}. You can come back."


def _length(sanction: Sanction) -> str:
    if sanction.until is None:
        return ""
    return f" for {typed_duration(round(sanction.until - sanction.since))}"


@add_lines_to(Person)
def _known_of(name: str, context: RenderContext, view: View) -> list[str]:
    """Add details to a player's profile that only operators see: address and mute."""
    hall = context.hall
    if not hall.is_operator(context.player):
        return []
    origin, mute = hall.origins.get(name), hall.order and hall.order.mute(name, context.at)
    known = [f"They come from {origin}."] if origin else []
    known += [f"They are muted{until(mute)}{because(mute.why)}."] if mute else []
    return wrap(" ".join(known), view.width)


@words.register
def _mutes(_: Mutes, context: RenderContext, view: View) -> list[str]:
    """Render the mutes, the latest first."""
    hall, now, width = context.hall, context.at, view.width
    found = hall.order.all_mutes(now) if hall.order else []
    heading = f"{pluralize(len(found), 'muted player')}:" if found else "Nobody is muted."
    return [*wrap(heading, width), *wrap_each(map(_row, found), width, "    ")]


@words.register
def _bans(asked: Bans, context: RenderContext, view: View) -> list[str]:
    """Render a page of the bans, the latest first."""
    hall, now, width = context.hall, context.at, view.width
    found = hall.order.all_bans(now) if hall.order else []
    first = (asked.page - 1) * PAGE
    rows = found[first : first + PAGE]
    if not rows:
        none = "Nobody is banned." if not found else f"There is no page {asked.page} of bans."
        return wrap(none, width)
    lines = wrap(f"{pluralize(len(found), 'ban')}:", width)
    lines += wrap_each(map(_row, rows), width, "    ")
    if len(found) > first + PAGE:
        lines += wrap(f'"{Bans(asked.page + 1)}" shows more.', width)
    return lines


@words.register
def _reports(asked: Reports, context: RenderContext, view: View) -> list[str]:
    """Render a page of the reports, the latest first, with the quoted lines."""
    found: tuple[Report, ...] = context.answer
    lines, width = [], view.width
    for report in found[(asked.page - 1) * REPORTS_PAGE : asked.page * REPORTS_PAGE]:
        by = report.by or "somebody"
        head = f"  {report.number}. {minute(report.at)}, {by} about {report.about}: {report.text}"
        said = (f"    heard from {report.about}: {each}" for each in report.said)
        for each in (head, *said):
            lines += wrap(each, width, "      ", private=True)
    if not lines:
        none = (
            f"There is no page {asked.page} of reports." if found else "There are no open reports."
        )
        return wrap(none, width)
    first = found[0]
    close = f'"{CloseReport(first.number)}" closes the first once you\'ve dealt with it'
    if len(found) > REPORTS_PAGE and first.by:
        close += f', "{CloseReports(by=first.by.lower())}" all by {first.by}'
    close += "."
    more = f'"{Reports(asked.page + 1)}" shows more.'
    has_more = len(found) > asked.page * REPORTS_PAGE
    return [
        *wrap(f"{pluralize(len(found), 'report')}:", width),
        *lines,
        *wrap(f"{more} {close}" if has_more else close, width),
    ]


def _row(sanction: Sanction) -> str:
    by = f", by {sanction.by}" if sanction.by else ""
    return f"  {sanction.whom}{until(sanction)}{by}{because(sanction.why)}."


@words.register
def _report_made(made: ReportMade, _: RenderContext, view: View) -> list[str]:
    last = "line" if len(made.said) == 1 else f"{len(made.said)} lines"
    lines = f", with the last {last} you heard from them" if made.said else ""
    return wrap(f"The operators will see your report about {made.about}{lines}.", view.width)
