"""Commands of operators, and the command that reports a player to them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from thudmud.english import capitalised, typed_duration
from thudmud.errors import RefusedError
from thudmud.features.moderation.model import (
    MOST_REPORTS,
    WIDEST,
    Announced,
    ModerationRefusal,
    PlannedShutdown,
    ReportClosed,
    ReportedLookup,
    ReportLimits,
    ReportMade,
    ReportsClosed,
    ReportsLookup,
    Sanctioned,
    SanctionLifted,
    ShutdownAnnounced,
)
from thudmud.game.archive import MemberLookup
from thudmud.game.command import Command, CommandContext, verb
from thudmud.game.events import LONGEST_NAME
from thudmud.game.hall import Decision, Hall
from thudmud.game.refusals import Refusal
from thudmud.game.resolution import match_one_by_prefix, resolve_player
from thudmud.game.sanctions import (
    Measure,
    Network,
    Order,
    Sanction,
    is_loopback,
    network_of,
    network_text,
)


class OperatorCommand(Command):
    """Base class of commands for operators only."""

    def decide(self, context: CommandContext) -> Decision:
        if context.hall.order is None:
            raise RefusedError(ModerationRefusal.NO_OPERATORS)
        if not context.hall.is_operator(context.me):
            raise RefusedError(Refusal.OPERATORS_ONLY)
        return self.decide_as_operator(context, context.hall.order)

    def decide_as_operator(self, context: CommandContext, sanctions: Order) -> Decision:
        """Return the decision for an operator; raises like `decide`."""
        return context.decide_answer(self)


@verb("broadcast")
class Broadcast(OperatorCommand):
    """Send a message to everybody."""

    text: str

    def decide_as_operator(self, context: CommandContext, sanctions: Order) -> Decision:
        return context.decide_asides(Announced(context.me, self.text))


@verb("mute")
class Mute(OperatorCommand):
    """Mute a player for a number of seconds, or permanently."""

    player: str
    seconds: int | None = None
    why: str = ""

    def decide_as_operator(self, context: CommandContext, sanctions: Order) -> Decision:
        whom = _player(context, self.player)
        _require_fair(context, sanctions, whom)
        return _impose(context, Measure.MUTE, whom, self.seconds, self.why)


@verb("unmute")
class Unmute(OperatorCommand):
    """Lift the mute of a player."""

    player: str

    def decide_as_operator(self, context: CommandContext, sanctions: Order) -> Decision:
        mute = _one(sanctions.all_mutes(context.now), self.player)
        if mute is None:
            raise RefusedError(ModerationRefusal.NOT_MUTED, words=_as_shown(context, self.player))
        return context.decide_asides(SanctionLifted(context.me, mute))


@verb("mutes")
class Mutes(OperatorCommand):
    """List the mutes."""


@verb("kick")
class Kick(OperatorCommand):
    """Disconnect a player, who may come back."""

    player: str
    why: str = ""

    def decide_as_operator(self, context: CommandContext, sanctions: Order) -> Decision:
        whom = resolve_player(context.hall, self.player)
        _require_fair(context, sanctions, whom)
        return _impose(context, Measure.KICK, whom, None, self.why)


@verb("ban")
class Ban(OperatorCommand):
    """Ban a player, an address or a network for a number of seconds, or permanently."""

    whom: str
    seconds: int | None = None
    why: str = ""

    def decide_as_operator(self, context: CommandContext, sanctions: Order) -> Decision:
        whom = _banned(context, sanctions, self.whom)
        return _impose(context, Measure.BAN, whom, self.seconds, self.why)


@verb("unban")
class Unban(OperatorCommand):
    """Lift the ban of a player, an address or a network."""

    whom: str

    def decide_as_operator(self, context: CommandContext, sanctions: Order) -> Decision:
        network = network_of(self.whom)
        ban = _one(sanctions.all_bans(context.now), network_text(network) if network else self.whom)
        if ban is None:
            raise RefusedError(ModerationRefusal.NOT_BANNED, words=_as_shown(context, self.whom))
        return context.decide_asides(SanctionLifted(context.me, ban))


@verb("bans")
class Bans(OperatorCommand):
    """List the bans, page by page."""

    page: int = 1


@verb("reports")
class Reports(OperatorCommand):
    """List the open reports, page by page."""

    page: int = 1

    def decide_as_operator(self, context: CommandContext, sanctions: Order) -> Decision:
        return context.decide_answer(self, answer=context.found[ReportsLookup()])


@verb("close_report")
class CloseReport(OperatorCommand):
    """Close a report."""

    number: int

    def decide_as_operator(self, context: CommandContext, sanctions: Order) -> Decision:
        if all(each.number != self.number for each in context.found[ReportsLookup()]):
            raise RefusedError(ModerationRefusal.NO_SUCH_REPORT, number=self.number)
        return context.decide_asides(ReportClosed(context.me, self.number))


@verb(close_reports_about="of_subject", close_reports_from="of_author", close_all_reports="all")
class CloseReports(OperatorCommand):
    """Close all open reports about a player, or by a player, or all of them."""

    about: str | None = None
    by: str | None = None
    words = "close reports"

    @classmethod
    def of_subject(cls, player: str) -> CloseReports:
        return cls(about=player)

    @classmethod
    def of_author(cls, player: str) -> CloseReports:
        return cls(by=player)

    @classmethod
    def all(cls, *_: str) -> CloseReports:
        return cls()

    def __str__(self) -> str:
        if self.about is not None:
            return f"close reports about {self.about}"
        return "close all reports" if self.by is None else f"close reports from {self.by}"

    def decide_as_operator(self, context: CommandContext, sanctions: Order) -> Decision:
        found = context.found[ReportsLookup()]
        if not found:
            raise RefusedError(ModerationRefusal.NO_OPEN_REPORT)
        about = by = ""
        if self.about is not None:
            about = match_one_by_prefix(
                self.about, _names(each.about for each in found), _NO_REPORTS
            )
        elif self.by is not None:
            by = match_one_by_prefix(self.by, _names(each.by for each in found), _NO_REPORTS)
        chosen = [each for each in found if about in {"", each.about} and by in {"", each.by}]
        last = max(each.number for each in chosen)
        return context.decide_asides(ReportsClosed(context.me, last, len(chosen), about, by))


_NO_REPORTS = ModerationRefusal.NO_REPORTS_OF_PLAYER


def _names(names: Iterable[str]) -> Iterable[str]:
    """Return the distinct names in order, without erased ones, which are ""."""
    return dict.fromkeys(filter(None, names))


@verb("shutdown", shutdown_now="now")
class StopServer(OperatorCommand):
    """Shut the server down after a number of seconds, or at once."""

    seconds: int
    why: str = ""

    @classmethod
    def now(cls, why: str | None) -> StopServer:
        return cls(0, why or "")

    def __str__(self) -> str:
        when = f"in {typed_duration(self.seconds)}" if self.seconds else "now"
        return f"shutdown {when}{self._typed('why')}"

    def decide_as_operator(self, context: CommandContext, sanctions: Order) -> Decision:
        at = context.now + self.seconds
        return context.decide_asides(ShutdownAnnounced(context.me, at, self.seconds, self.why))


@verb("cancel_shutdown")
class CancelShutdown(OperatorCommand):
    """Cancel a planned shutdown."""

    def decide_as_operator(self, context: CommandContext, sanctions: Order) -> Decision:
        if context.hall.part(PlannedShutdown).told is None:
            raise RefusedError(ModerationRefusal.NO_SHUTDOWN)
        return context.decide_asides(ShutdownAnnounced(context.me, context.now, None))


def _impose(
    context: CommandContext, measure: Measure, whom: str, seconds: int | None, why: str
) -> Decision:
    until = None if seconds is None else context.now + seconds
    sanction = Sanction(measure, whom, context.me, context.now, until, why)
    return context.decide_asides(Sanctioned(context.me, sanction))


def _require_fair(context: CommandContext, sanctions: Order, whom: str) -> None:
    """Refuse a sanction against the operator themselves, another operator, or a bot."""
    if whom.lower() == context.me.lower():
        raise RefusedError(ModerationRefusal.SANCTION_SELF)
    if whom.lower() in sanctions.operators:
        raise RefusedError(ModerationRefusal.SANCTION_OPERATOR, player=whom)
    if whom.lower() in map(str.lower, context.hall.bots):
        raise RefusedError(ModerationRefusal.SANCTION_BOT, player=whom)


def _player(context: CommandContext, words: str) -> str:
    """Resolve words to the name of a player who is online or has an account.

    Raises:
        RefusedError: there is no such player, or the words are ambiguous.
        LookupNeededError: the account has to be looked up first.
    """
    try:
        return resolve_player(context.hall, words)
    except RefusedError as refusal:
        if refusal.code is not Refusal.NO_SUCH_PLAYER:
            raise
        known = context.found[MemberLookup(words)]
        if known is None:
            raise
        return known.name


def _as_shown(context: CommandContext, words: str) -> str:
    """Return a known player's name in its usual spelling, or else the words as typed."""
    names = context.hall.people.names
    if words.lower() in names or not words.isalpha():
        return names.get(words.lower(), words)
    known = context.found[MemberLookup(words)]
    return known.name if known else words


def _banned(context: CommandContext, sanctions: Order, words: str) -> str:
    """Resolve the target of a ban: a network, or a name, which need not exist yet.

    Raises:
        RefusedError: the words can't be a target, or the target may not be banned.
        LookupNeededError: the account has to be looked up first.
    """
    if network := network_of(words):
        _require_sensible(context.hall, context.me, network)
        return network_text(network)
    if not words.isalpha():
        raise RefusedError(ModerationRefusal.NO_SUCH_NETWORK, words=words)
    try:
        whom = _player(context, words)
    except RefusedError as refusal:
        if refusal.code is not Refusal.NO_SUCH_PLAYER or len(words) > LONGEST_NAME:
            raise
        whom = capitalised(words.lower())
    _require_fair(context, sanctions, whom)
    return whom


def _require_sensible(hall: Hall, me: str, network: Network) -> None:
    """Refuse a ban of a very wide network, of this machine, or of an operator's network."""
    if network.prefixlen < WIDEST[network.version]:
        widest = f"/{WIDEST[network.version]}"
        raise RefusedError(ModerationRefusal.NETWORK_TOO_WIDE, network=str(network), widest=widest)
    if network.is_unspecified or is_loopback(str(network)):
        raise RefusedError(ModerationRefusal.NETWORK_LOCAL, network=network_text(network))
    for name, origin in hall.origins.items():
        where = network_of(origin) if hall.is_operator(name) else None
        if where and where.version == network.version and where.overlaps(network):
            if name == me:
                raise RefusedError(ModerationRefusal.SANCTION_SELF)
            raise RefusedError(ModerationRefusal.SANCTION_OPERATOR, player=name)


def _one(sanctions: list[Sanction], whom: str) -> Sanction | None:
    """Return the sanction against a player or network, ignoring case; None if there is none."""
    return next((each for each in sanctions if each.whom.lower() == whom.lower()), None)


_REASON = re.compile("because (?!of(?![^ ,]))", re.ASCII | re.IGNORECASE)
"""The start of a reason in a sentence; removed from the stored reason."""


@verb(report="of_words")
class FileReport(Command):
    """Report a player to the operators. The player need not be online."""

    player: str
    text: str
    rate_limit = "reports"

    @classmethod
    def of_words(cls, player: str, text: str) -> FileReport:
        return cls(player, _REASON.sub("", text))

    def decide(self, context: CommandContext) -> Decision:
        hall, me, words = context.hall, context.me, self.player
        if not (most := hall.limits(ReportLimits).open):
            raise RefusedError(ModerationRefusal.NO_REPORTS)
        about = hall.people.names.get(words.lower())
        reported = context.found[ReportedLookup(about or words, me)]
        about = about or reported.name
        if about is None:
            about = resolve_player(hall, words)
            reported = context.found[ReportedLookup(about, me)]
        if about == me:
            raise RefusedError(ModerationRefusal.REPORT_SELF)
        if reported.open_by >= most:
            raise RefusedError(ModerationRefusal.REPORTS_TOO_MANY, most=most)
        if reported.open >= MOST_REPORTS:
            raise RefusedError(ModerationRefusal.REPORTS_FULL)
        said = hall.recent_lines_heard(me, about)
        if context.person.is_member:  # letters count too: a member may have read them by mail
            said += reported.written
        return context.decide_asides(ReportMade(me, about, self.text, said))
