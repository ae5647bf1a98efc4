"""Commands about notifications for absent members."""

from __future__ import annotations

from enum import Enum

from thudmud.errors import RefusedError
from thudmud.features.notifications.model import (
    ANOTHER,
    CODES_A_DAY,
    NEWCOMER,
    AskedLookup,
    Browser,
    BrowserAdded,
    CodeAsked,
    CodeHistory,
    CodeTyped,
    Contact,
    ContactLookup,
    Kind,
    NotificationSettings,
    NotifyChosen,
    NotifyMistake,
    NotifyRefusal,
    Quiet,
    Ways,
    is_address,
    is_served,
    refused_code,
)
from thudmud.game.command import TERMINALS, Command, CommandContext, ValueTerminal, verb
from thudmud.game.hall import Decision
from thudmud.game.options import Switch
from thudmud.game.sanctions import is_loopback

TERMINALS.update(
    HOURS=ValueTerminal(Quiet.of, NotifyMistake.NO_SUCH_HOURS),
    ADDRESS=ValueTerminal(mistake=NotifyMistake.ADDRESS_WRITTEN_OTHERWISE),
    CODE=ValueTerminal(mistake=NotifyMistake.CODE_HAS_SIX_DIGITS),
    ENDPOINT=ValueTerminal(),
    KEY=ValueTerminal(),
)


def _ways(context: CommandContext) -> Ways:
    """Return the ways in which this server can notify members."""
    return context.hall.part(NotificationSettings).ways


def _contact(context: CommandContext, *, ends: bool = False) -> Contact:
    """Return a player's choices.

    Args:
        context: the command's context.
        ends: whether the command ends notifications, which works even on a server without any.

    Raises:
        RefusedError: the player isn't a member, or this server sends no notifications.
        LookupNeededError: the choices have to be looked up first.
    """
    if _ways(context).are_none and not (context.person.is_member and ends):
        raise RefusedError(NotifyRefusal.NOTIFIES_NOBODY)
    if not context.person.is_member:
        raise RefusedError(NotifyRefusal.NOTIFY_FOR_MEMBERS)
    return context.found[ContactLookup(context.me)]


@verb("notify")
class Notify(Command):
    """Show one's notification settings."""

    is_question = True

    def decide(self, context: CommandContext) -> Decision:
        if (
            _ways(context).are_none and context.person.is_member
        ):  # not refused: the web page sends "notify" by itself
            return context.decide_answer(self, answer=Contact())
        return context.decide_answer(self, answer=_contact(context))


class NotifyChoice(Command):
    """Base class of commands that change a member's choices."""

    ends = False

    def decide(self, context: CommandContext) -> Decision:
        contact = _contact(context, ends=self.ends)
        return context.decide_asides(NotifyChosen(context.me, self, self.apply_to(contact)))

    def apply_to(self, contact: Contact) -> Contact:
        """Return the player's choices after the command."""
        raise NotImplementedError


@verb("notify_mail")
class NotifyMail(Command):
    """Ask for notifications by mail. A code is sent to the address, see `NotifyCode`."""

    address: str
    words = "notify mail"

    def decide(self, context: CommandContext) -> Decision:
        contact, address = _contact(context), self.address
        if not _ways(context).has_mail:
            raise RefusedError(NotifyRefusal.NO_MAILS)
        if not is_address(address):
            raise RefusedError(NotifyRefusal.NO_MAIL_ADDRESS)
        origin = context.hall.origins.get(context.me, "")
        network = "" if is_loopback(origin) else origin
        asked = context.found[AskedLookup(address, context.me, network)]
        notified = context.hall.part(NotificationSettings)
        if asked.unwanted:
            raise RefusedError(NotifyRefusal.MAIL_UNWANTED)
        if notified.established_only and not context.hall.is_operator(context.me):
            _require_established(asked, context.now)
        if contact.asked_today >= CODES_A_DAY:
            raise RefusedError(NotifyRefusal.CODES_TOO_MANY, most=CODES_A_DAY)
        if refusal := refused_code(asked, notified.codes_per_hour, context.now):
            raise refusal
        return context.decide_asides(CodeAsked(context.me, address, network))


def _require_established(asked: CodeHistory, now: float) -> None:
    """Refuse a code to a newcomer, or to a member who hasn't finished a battle.

    Accounts are free: somebody with many of them could have this server write to any address.
    """
    if not asked.has_played:
        raise RefusedError(NotifyRefusal.CODE_AFTER_BATTLE)
    if (left := asked.registered + NEWCOMER - now) > 0:
        raise RefusedError(NotifyRefusal.CODE_FOR_NEWCOMER, seconds=left)


@verb("notify_code")
class NotifyCode(Command):
    """Confirm a mail address by the code sent there."""

    code: str
    words = "notify code"

    def decide(self, context: CommandContext) -> Decision:
        if not _contact(context).asked:
            raise RefusedError(NotifyRefusal.NO_CODE)
        return context.decide_asides(CodeTyped(context.me, self.code))


@verb("notify_browser")
class NotifyBrowser(Command):
    """Subscribe a browser to notifications; the web page sends this command."""

    endpoint: str
    key: str
    auth: str
    words = "notify browser"

    def decide(self, context: CommandContext) -> Decision:
        _contact(context)
        ways = _ways(context)
        if not ways.push:
            raise RefusedError(NotifyRefusal.NO_BROWSERS)
        if not is_served(self.endpoint, ways.services):
            raise RefusedError(NotifyRefusal.NO_SUCH_SERVICE)
        browser = Browser(self.endpoint, self.key, self.auth)
        return context.decide_asides(BrowserAdded(context.me, browser))


class NotifyWay(Enum):
    """The ways of notification that can be switched off."""

    MAIL = "mail"
    BROWSERS = "browsers"


@verb(notify_off="of")
class NotifyOff(NotifyChoice):
    """Switch off one way of notification, or all if None; delete its addresses and browsers."""

    way: NotifyWay | None = None
    ends = True

    @classmethod
    def of(cls, way: NotifyWay | None, _: str) -> NotifyOff:
        return cls(way)

    def __str__(self) -> str:
        return f"notify {self.way.value} off" if self.way else "notify off"

    def apply_to(self, contact: Contact) -> Contact:
        if self.way is not NotifyWay.BROWSERS:
            contact = contact._replace(address="", is_refused=False, asked="")
        return contact if self.way is NotifyWay.MAIL else contact._replace(browsers=0)


@verb(notify_of="of")
class NotifyOf(NotifyChoice):
    """Switch a kind of notification on or off."""

    kind: Kind
    is_on: bool

    @classmethod
    def of(cls, kind: Kind, value: Switch) -> NotifyOf:
        return cls(kind, value is Switch.ON)

    def __str__(self) -> str:
        return f"notify {self.kind.value} {'on' if self.is_on else 'off'}"

    def apply_to(self, contact: Contact) -> Contact:
        others = contact.off - {self.kind}
        return contact._replace(off=others if self.is_on else others | {self.kind})


@verb("notify_quiet", notify_quiet_off="never")
class NotifyQuiet(NotifyChoice):
    """Set the quiet hours, in which nothing is sent; None for none."""

    hours: Quiet | None

    @classmethod
    def never(cls, *_: str) -> NotifyQuiet:
        return cls(None)

    def __str__(self) -> str:
        return f"notify quiet {self.hours or 'off'}"

    def apply_to(self, contact: Contact) -> Contact:
        return contact._replace(quiet=self.hours)


class Published(Enum):
    """Texts that a member can publish for other programs."""

    CALENDAR = "calendar"
    FEED = "feed"


@verb(notify_published="of", notify_new="anew")
class NotifyPublished(NotifyChoice):
    """Switch the calendar or the feed on or off; or give the calendar a new address."""

    which: Published
    is_on: bool
    with_new_address: bool = False

    @classmethod
    def of(cls, which: Published, value: Switch) -> NotifyPublished:
        return cls(which, value is Switch.ON)

    @classmethod
    def anew(cls) -> NotifyPublished:
        return cls(Published.CALENDAR, is_on=True, with_new_address=True)

    def __str__(self) -> str:
        word = "new" if self.with_new_address else "on" if self.is_on else "off"
        return f"notify {self.which.value} {word}"

    def apply_to(self, contact: Contact) -> Contact:
        if self.which is Published.FEED:
            return contact._replace(feed=self.is_on)
        known = "" if self.with_new_address else contact.calendar
        return contact._replace(calendar=(known or ANOTHER) if self.is_on else "")
