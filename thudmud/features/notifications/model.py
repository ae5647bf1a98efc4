"""The model of notifications, which reach absent members by mail or in a browser.

`notices` decides which events at a board are news, and for whom. A member's choices are a
`Contact`. The rows of both are in `thudmud.features.notifications.storage`.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Set
from enum import Enum
from functools import reduce
from typing import NamedTuple

from thudmud.errors import InvalidValueError, RefusedError
from thudmud.game import events
from thudmud.game.archive import Lookup
from thudmud.game.asides import Aside, StoredAside, aside
from thudmud.game.clocks import DAY
from thudmud.game.command import Command
from thudmud.game.events import HallEvent, TableEvent
from thudmud.game.hall import HallPart
from thudmud.game.table import Table
from thudmud.values import Value


class Kind(Enum):
    """The kinds of notifications. The value is the word that players type."""

    __hash__ = object.__hash__  # see `thudmud.rules.moves.Side`

    TURN = "turn"
    """It is the member's turn."""
    CLOCK = "clock"
    """The member's time is running short."""
    END = "end"
    """A battle of the member's has ended."""
    MESSAGE = "message"
    """Somebody has left the member a message."""
    ROUND = "round"
    """A round of the member's tournament has begun."""


class NotifyRefusal(Enum):
    """Reasons for refusing a command. The values are a stable interface for programs."""

    NOTIFY_FOR_MEMBERS = "notify_for_members"
    NOTIFIES_NOBODY = "notifies_nobody"
    NO_MAILS = "no_mails"
    NO_MAIL_ADDRESS = "no_mail_address"
    MAIL_UNWANTED = "mail_unwanted"
    CODES_TOO_MANY = "codes_too_many"
    CODES_FROM_ADDRESS = "codes_from_address"
    CODES_HELD_BACK = "codes_held_back"
    CODE_AFTER_BATTLE = "code_after_battle"
    CODE_FOR_NEWCOMER = "code_for_newcomer"
    CODE_WRONG = "code_wrong"
    NO_CODE = "no_code"
    NO_BROWSERS = "no_browsers"
    NO_SUCH_SERVICE = "no_such_service"


class NotifyMistake(Enum):
    """Reasons why a line doesn't parse. The values are a stable interface for programs."""

    NO_SUCH_HOURS = "no_such_hours"
    ADDRESS_WRITTEN_OTHERWISE = "address_written_otherwise"
    CODE_HAS_SIX_DIGITS = "code_has_six_digits"


CODE = "code"
"""Stored in place of a kind: the code that confirms an address. It can't be turned off."""

OF_A_TURN = Kind.TURN, Kind.CLOCK
"""The kinds that are out of date after the next move."""


class Notification(NamedTuple):
    """A notification for a member.

    Attributes:
        player: the member's name.
        kind: the kind.
        subject: the number of the battle that has ended, or of the tournament; 0 for none.
        due: the earliest time to send it, in seconds since the epoch.
    """

    player: str
    kind: Kind
    subject: int = 0
    due: float = 0.0


class News(NamedTuple):
    """The notifications of events at a board, stored in the same transaction.

    They replace any that are waiting about an earlier turn of the same battle.

    Attributes:
        board: the key of the board; "" for events of the hall.
        notices: the notifications.
    """

    board: str
    notices: tuple[Notification, ...]


_TURN = events.Moved, events.BattleStarted, events.Resumed, events.TakenBack
_OVER = events.BattleEnded, events.Adjourned, events.Cleared


def notices(
    table: Table,
    decided: tuple[TableEvent, ...],
    by: str,
    notified: Set[str],
    here: Container[str],
) -> News | None:
    """Return the notifications of a decision's events at a board.

    Args:
        table: the board before the events.
        decided: the events.
        by: the player who gave the command, and isn't notified; "" for the server.
        notified: the members who have a way to be notified.
        here: the people who are here. They aren't notified of turns in battles with a clock.

    Returns:
        The notifications; an empty `News` still ends those of the last turn. None if no turn or
        battle has changed, or no player of the board is to be notified of anything.
    """
    changed = [each for each in decided if isinstance(each, _TURN + _OVER)]
    if not changed:
        return None
    after = reduce(Table.apply, decided, table)
    players = {*table.seats.values(), *after.seats.values()}
    ended = next((each for each in changed if isinstance(each, events.BattleEnded)), None)
    if ended:
        players = {ended.dwarf, ended.troll}
    if len(players) < 2 or notified.isdisjoint(players):
        return None
    told: list[Notification] = []
    if ended and table.match and table.match.number:
        told = [Notification(each, Kind.END, table.match.number) for each in sorted(players)]
    elif after.is_running and after.match:
        player = after.seats.get(after.match.game.turn)
        if player and (after.is_by_correspondence or player not in here):
            told = [Notification(player, Kind.TURN)]
            if after.clock and after.is_by_correspondence:
                short = after.clock.deadline - after.clock.control.short
                told.append(Notification(player, Kind.CLOCK, due=short))
    wanted = (each for each in told if each.player in notified and each.player != by)
    return News(table.key, tuple(wanted))


def round_notices(decided: Iterable[HallEvent], notified: Set[str]) -> News | None:
    """Return the notifications of rounds that were paired; None if there are none."""
    told = [
        Notification(player, Kind.ROUND, event.number)
        for event in decided
        if isinstance(event, events.RoundPaired)
        for pair in event.pairs
        for player in pair
        if pair[1] and player in notified
    ]
    return News("", tuple(told)) if told else None


# Members' choices.

_CLOCK = r"([01]?[0-9]|2[0-3])(?::([0-5][0-9]))?"
_QUIET = re.compile(rf"{_CLOCK} ?(?:-|to) ?{_CLOCK}(?: ?utc ?(?:([+-]){_CLOCK})?)?", re.IGNORECASE)

_MINUTE, _HOUR = 60, 3_600
_MOST_EAST, _MOST_WEST = 14 * 60, -12 * 60


class Quiet(Value):
    """A member's quiet hours, in which nothing is sent.

    Attributes:
        begins: the beginning, in minutes after local midnight.
        ends: the end, in minutes after local midnight; perhaps on the next day.
        east: the offset of the local time from UTC, in minutes, positive to the east.

    Raises:
        InvalidValueError: the times or the offset are out of range, or the hours are empty.
    """

    begins: int
    ends: int
    east: int = 0

    def __post_init__(self) -> None:
        if self.begins == self.ends or not all(
            0 <= each < DAY / _MINUTE for each in (self.begins, self.ends)
        ):
            raise InvalidValueError(f"expected two times of day, got {self.begins} and {self.ends}")
        if not _MOST_WEST <= self.east <= _MOST_EAST:
            raise InvalidValueError(f"expected an offset of a time zone, got {self.east} minutes")

    @classmethod
    def of(cls, text: str) -> Quiet:
        """Parse quiet hours such as ``22 to 7`` or ``22:30-7:00 utc+2``.

        Raises:
            InvalidValueError: the string isn't of that form, or out of range.
        """
        if found := _QUIET.fullmatch(text):
            sign, numbers = found[5], [int(found[each] or 0) for each in (1, 2, 3, 4, 6, 7)]
            begins, ends, east = (60 * numbers[each] + numbers[each + 1] for each in (0, 2, 4))
            return cls(begins, ends, -east if sign == "-" else east)
        raise InvalidValueError(f"expected hours such as 22 to 7, got {text!r:.50}")

    def __str__(self) -> str:
        """Return the hours in the syntax of `Quiet.of`: ``22:00 to 7:00 utc+2:00``."""
        hours = f"{_of_day(self.begins)} to {_of_day(self.ends)}"
        return f"{hours} {self.zone}" if self.east else hours

    @property
    def zone(self) -> str:
        """The local time zone: ``utc``, or ``utc+2:00``."""
        if not self.east:
            return "utc"
        return f"utc{'-' if self.east < 0 else '+'}{_of_day(abs(self.east))}"

    def until(self, now: float) -> float:
        """Return the earliest time to notify the member: ``now``, or the end of the quiet hours."""
        # Seconds since the hours last began, and their length; modulo a day, as they may span
        # midnight.
        since = (now + _MINUTE * self.east - _MINUTE * self.begins) % DAY
        lasts = _MINUTE * (self.ends - self.begins) % DAY
        return now + lasts - since if since < lasts else now


def _of_day(minutes: int) -> str:
    return f"{minutes // 60}:{minutes % 60:02}"


class Contact(NamedTuple):
    """A member's choices: the ways of notification, and its kinds.

    Attributes:
        address: the confirmed mail address; "" for none.
        is_refused: whether the relay has rejected the address for good.
        asked: the address that waits for its code; "" for none.
        asked_today: the number of codes that the member has requested within a day.
        browsers: the number of subscribed browsers.
        off: the kinds that are switched off.
        quiet: the quiet hours, if any.
        calendar: the secret word in the address of the calendar; "" for none.
        feed: whether the member publishes a feed of ended battles.
    """

    address: str = ""
    is_refused: bool = False
    asked: str = ""
    asked_today: int = 0
    browsers: int = 0
    off: frozenset[Kind] = frozenset()
    quiet: Quiet | None = None
    calendar: str = ""
    feed: bool = False


ANOTHER = "new"
"""Stands for a secret word that the store is to generate."""


class Browser(NamedTuple):
    """A browser's push subscription, as in Web Push (RFC 8030).

    Attributes:
        endpoint: the URL at the push service.
        key: the browser's public key, in base64url.
        auth: the authentication secret shared with the browser, in base64url.
    """

    endpoint: str
    key: str
    auth: str


class CodeHistory(NamedTuple):
    """The recent codes that count against a request for another, and the member's standing.

    All times are in seconds since the epoch, oldest first.

    Attributes:
        mailbox: the codes sent to the same mailbox within a day, whoever requested them.
        network: the codes requested from the member's network within a day.
        domain: the codes sent to any address of the same domain within an hour.
        everybody: all codes sent within an hour.
        unwanted: whether the owner of the mailbox has refused codes.
        registered: when the member registered.
        has_played: whether the member has finished a battle with somebody.
    """

    mailbox: tuple[float, ...] = ()
    network: tuple[float, ...] = ()
    domain: tuple[float, ...] = ()
    everybody: tuple[float, ...] = ()
    unwanted: bool = False
    registered: float = 0.0
    has_played: bool = False


class Waiting(NamedTuple):
    """A notification that waits to be sent in one way.

    Attributes:
        number: the identifier, a random number.
        player: the member's name.
        kind: the kind; None for the code that confirms an address.
        board: the key of the board; "" for none.
        subject: the number of the battle that has ended, or of the tournament; 0 for none.
        at: when the event happened, in seconds since the epoch.
        failing: when sending first failed; None if it hasn't.
        tries: the number of failures so far.
    """

    number: int
    player: str
    kind: Kind | None
    board: str
    subject: int
    at: float
    failing: float | None = None
    tries: int = 0


class Recipient(NamedTuple):
    """The notifications to send to a member in one way: by mail, or to one browser.

    Attributes:
        player: the member's name.
        waiting: the notifications, oldest first.
        address: the mail address; "" for a browser.
        code: the code that confirms the address, if this is for a code.
        secret: the secret word in the unsubscribe link of these mails.
        browser: the browser; None for mail.
        way: the number of the browser; 0 for mail.
        quiet: the quiet hours, if any.
        mailed: when the last mail was sent to the member; None if none was.
    """

    player: str
    waiting: tuple[Waiting, ...]
    address: str = ""
    code: str = ""
    secret: str = ""
    browser: Browser | None = None
    way: int = 0
    quiet: Quiet | None = None
    mailed: float | None = None


class Ways(NamedTuple):
    """The ways in which this server can notify members.

    Attributes:
        has_mail: whether it sends mails.
        push: the server's public key for Web Push, in base64url; "" if it doesn't push.
        services: the accepted push services: host names, or suffixes such as ``.example.org``.
        page: the origin of the web page, such as ``https://example.org``; "" if unknown.
    """

    has_mail: bool = False
    push: str = ""
    services: tuple[str, ...] = ()
    page: str = ""

    @property
    def are_none(self) -> bool:
        """Whether the server can notify nobody, in any way."""
        return not (self.has_mail or self.push or self.page)


NO_WAYS = Ways()


class NotificationSettings(HallPart):
    """The settings of notifications, and the members who get any.

    Attributes:
        ways: the ways in which this server can notify members.
        members: the members who have a way to be notified.
        codes_per_hour: the most codes sent within an hour, to all members together.
        established_only: whether only established members get codes: those who have finished a
            battle and registered more than an hour ago.
    """

    def __init__(self) -> None:
        self.ways = NO_WAYS
        self.members: frozenset[str] = frozenset()
        self.codes_per_hour = 33
        self.established_only = False

    def configure(self, ways: Ways, mails_per_hour: int, *, established_only: bool) -> None:
        """Set the ways of notification and the limits.

        Args:
            ways: the ways in which this server can notify members.
            mails_per_hour: the most mails sent within an hour; a share of it is for codes.
            established_only: whether codes are only for established members.
        """
        self.ways, self.established_only = ways, established_only
        self.codes_per_hour = share_of_codes(mails_per_hour)

    def follow(self, members: frozenset[str]) -> None:
        """Replace the members who have a way to be notified."""
        self.members = members


CODES_A_DAY = 3
"""The most codes a day that a member may request, and that are sent to one mailbox."""
CODES_FROM_NETWORK = 6
"""The most codes a day requested from one network."""
NEWCOMER = 3_600.0
"""Seconds after registration for which a member is a newcomer."""
GUESSES = 5
"""The most wrong guesses at a code."""
CODE_LASTS = 3_600.0
"""Seconds for which a code is valid."""
MOST_BROWSERS = 5
"""The most browsers of a member."""

_LONGEST_ADDRESS, _LONGEST_LOCAL = 254, 64
_ADDRESS = re.compile(
    r"([a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*)"
    r"@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?",
    re.ASCII | re.IGNORECASE,
)


def is_address(text: str) -> bool:
    """Whether a string is a mail address. Quoted and internationalised ones aren't supported."""
    found = _ADDRESS.fullmatch(text)
    return bool(found and len(text) <= _LONGEST_ADDRESS and len(found[1]) <= _LONGEST_LOCAL)


def share_of_codes(per_hour: int) -> int:
    """Return the most codes among an hour's mails: a third, at least one."""
    return max(1, per_hour // 3)


_ONE_PROVIDER = {
    "googlemail.com": "gmail.com",
    "protonmail.com": "proton.me",
    "pm.me": "proton.me",
}
"""Alias domains, whose mailboxes are those of another domain."""

_IGNORED = {"gmail.com": ".", "proton.me": "._-"}
"""The characters that a provider ignores in the name of a mailbox. Google documents it for dots;
Proton's own client removes all three."""


def mailbox(address: str) -> str:
    """Return the canonical form of an address: the same string for all spellings of one mailbox.

    A ``+tag`` is cut off everywhere. Where it is part of the name, two mailboxes count as one,
    which is the lesser harm.
    """
    local, _, domain = address.lower().rpartition("@")
    domain = _ONE_PROVIDER.get(domain, domain)
    name = local.partition("+")[0] or local
    kept = "".join(each for each in name if each not in _IGNORED.get(domain, ""))
    return f"{kept or name}@{domain}"


_LONGEST_SECOND_LEVEL = 3
"""The longest second-level label of a country's registry, in letters, as in ``co.uk``."""


def mail_domain(address: str) -> str:
    """Return the registrable domain of an address: ``example.org`` for ``a@b.example.org``.

    The owner of a domain can have mail for any name in it delivered to one mailbox. Without the
    public suffix list this is an estimate: under a country's domain, a short second-level label
    counts as the registry's.
    """
    labels = mailbox(address).rpartition("@")[2].split(".")
    is_of_a_country = len(labels[-1]) == 2 and len(labels[-2]) <= _LONGEST_SECOND_LEVEL
    return ".".join(labels[-3:] if is_of_a_country else labels[-2:])


def refused_code(asked: CodeHistory, per_hour: int, now: float) -> RefusedError | None:
    """Return why no further code may be sent now; None if one may.

    The limits keep anybody from flooding a mailbox through this server, under however many names.
    One domain gets at most half of the codes within an hour, so that others still get theirs.

    Args:
        asked: the recent codes, see `CodeHistory`.
        per_hour: the most codes within an hour.
        now: the current time.
    """
    if len(asked.mailbox) >= CODES_A_DAY:
        return RefusedError(NotifyRefusal.CODES_TOO_MANY, most=CODES_A_DAY)
    hour = CODE_LASTS
    limits = (
        (asked.network, CODES_FROM_NETWORK, DAY, NotifyRefusal.CODES_FROM_ADDRESS),
        (asked.domain, max(1, per_hour // 2), hour, NotifyRefusal.CODES_HELD_BACK),
        (asked.everybody, per_hour, hour, NotifyRefusal.CODES_HELD_BACK),
    )
    for sent, most, within, code in limits:
        if len(sent) >= most:
            return RefusedError(code, most=most, seconds=sent[-most] + within - now)
    return None


def masked(address: str) -> str:
    """Return an address that only its owner can recognise: ``an...@example.org``."""
    local, _, domain = address.rpartition("@")
    return f"{local[:2]}...@{domain}"


_ENDPOINT = re.compile(r"https://([a-z0-9.-]+(?::[0-9]+)?)/[!-~]*", re.ASCII | re.IGNORECASE)


def is_served(endpoint: str, services: tuple[str, ...]) -> bool:
    """Whether a URL belongs to one of these push services, given as hosts or suffixes."""
    found = _ENDPOINT.fullmatch(endpoint)
    host = found[1].lower().removesuffix(":443") if found else ""
    return any(host == each or (each[0] == "." and host.endswith(each)) for each in services)


class ContactLookup(Lookup[Contact]):
    """Look up the choices of a member, whose name is case-insensitive."""

    player: str


class AskedLookup(Lookup[CodeHistory]):
    """Look up the recent codes before another is sent, see `CodeHistory`.

    Attributes:
        address: the mail address.
        player: the member who requests the code.
        network: the network that the member comes from; "" if it doesn't count.
    """

    address: str
    player: str
    network: str = ""


@aside
class CodeAsked(StoredAside, Aside):
    """A player requests a code for a mail address.

    Attributes:
        address: the mail address.
        network: the player's network, to count by; "" if it doesn't count.
    """

    is_limited = True

    SECRETS = frozenset({"address", "network"})

    address: str
    network: str = ""


@aside
class CodeTyped(StoredAside, Aside):
    """A player types the code."""

    SECRETS = frozenset({"code"})

    code: str


@aside
class BrowserAdded(StoredAside, Aside):
    """A player subscribes a browser."""

    SECRETS = frozenset({"browser"})

    browser: Browser


@aside
class NotifyChosen(StoredAside, Aside):
    """A player changes their notification settings."""

    SECRETS = frozenset({"contact"})

    choice: Command
    contact: Contact
