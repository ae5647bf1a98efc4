"""Notifications: what members are told outside the server, by mail or in a browser.

`notices` says which events at a board are news to whom. What a member has chosen is a `Contact`.
The rows of both are in `thudmud.features.notifications.storage`.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Set
from enum import Enum
from functools import reduce
from typing import NamedTuple

from thudmud.errors import InvalidValueError, Refused
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
    """What a notification is about. The value is how it is typed."""

    __hash__ = object.__hash__  # see `thudmud.rules.moves.Side`

    TURN = "turn"
    """It is the member's turn."""
    CLOCK = "clock"
    """Their time runs short."""
    END = "end"
    """A battle of theirs has ended."""
    MESSAGE = "message"
    """Somebody has left them a message."""
    ROUND = "round"
    """A round of their tournament has begun."""


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
    """Why a line is no command. The values are stable, for programs."""

    NO_SUCH_HOURS = "no_such_hours"
    ADDRESS_WRITTEN_OTHERWISE = "address_written_otherwise"
    CODE_HAS_SIX_DIGITS = "code_has_six_digits"


CODE = "code"
"""In the place of a kind: the code that confirms an address. Nobody can turn it off."""

OF_A_TURN = Kind.TURN, Kind.CLOCK
"""What is news no longer once a ply was played."""


class Notification(NamedTuple):
    """Something that a member is to be told.

    Attributes:
        player: their name.
        kind: what it is about.
        subject: the number of the battle that has ended, or of the tournament; 0 for none.
        due: before when it need not be told, in seconds since the epoch.
    """

    player: str
    kind: Kind
    subject: int = 0
    due: float = 0.0


class News(NamedTuple):
    """What is to be told of events at a board, whose key it has. It is stored with them.

    The key is "" for events of the hall. Whatever was to be told of an earlier turn in the same
    battle is told no more.
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
    """Return the news in the events of a decision; None if there is none.

    Args:
        table: the board before.
        decided: the events.
        by: whose command it was, who need not be told; "" for the server.
        notified: the members who want to be told of anything.
        here: the people who are here. They are not told of turns in battles that are played at one
            sitting.
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
    elif after.running and after.match:
        player = after.seats.get(after.match.game.turn)
        if player and (after.by_correspondence or player not in here):
            told = [Notification(player, Kind.TURN)]
            if after.clock and after.by_correspondence:
                short = after.clock.deadline - after.clock.control.short
                told.append(Notification(player, Kind.CLOCK, due=short))
    wanted = (each for each in told if each.player in notified and each.player != by)
    return News(table.key, tuple(wanted))


def round_notices(decided: Iterable[HallEvent], notified: Set[str]) -> News | None:
    """Return the news in events of the hall, that rounds were paired; None if there is none."""
    told = [
        Notification(player, Kind.ROUND, event.number)
        for event in decided
        if isinstance(event, events.RoundPaired)
        for pair in event.pairs
        for player in pair
        if pair[1] and player in notified
    ]
    return News("", tuple(told)) if told else None


# What members choose.

_CLOCK = r"([01]?[0-9]|2[0-3])(?::([0-5][0-9]))?"
_QUIET = re.compile(rf"{_CLOCK} ?(?:-|to) ?{_CLOCK}(?: ?utc ?(?:([+-]){_CLOCK})?)?", re.IGNORECASE)

_MINUTE, _HOUR = 60, 3_600
_MOST_EAST, _MOST_WEST = 14 * 60, -12 * 60


class Quiet(Value):
    """The hours of each day in which a member is told nothing.

    Attributes:
        begins: when they begin, in minutes after midnight.
        ends: when they end, perhaps on the next day.
        east: how many minutes the member's clock is before universal time.

    Raises:
        InvalidValueError: there are no such hours.
    """

    begins: int
    ends: int
    east: int = 0

    def __post_init__(self) -> None:
        if self.begins == self.ends or not all(
            0 <= each < DAY / _MINUTE for each in (self.begins, self.ends)
        ):
            raise InvalidValueError(f"no hours of a day are {self.begins} to {self.ends}")
        if not _MOST_WEST <= self.east <= _MOST_EAST:
            raise InvalidValueError(f"no clock differs by {self.east} minutes")

    @classmethod
    def of(cls, text: str) -> Quiet:
        """Return the hours that are written like ``22 to 7`` or ``22:30-7:00 utc+2``.

        Raises:
            InvalidValueError: there are no such hours.
        """
        if found := _QUIET.fullmatch(text):
            sign, numbers = found[5], [int(found[each] or 0) for each in (1, 2, 3, 4, 6, 7)]
            begins, ends, east = (60 * numbers[each] + numbers[each + 1] for each in (0, 2, 4))
            return cls(begins, ends, -east if sign == "-" else east)
        raise InvalidValueError(f"there are no such hours as {text!r:.50}")

    def __str__(self) -> str:
        """Return it as it is typed: ``22:00 to 7:00 utc+2:00``."""
        hours = f"{_of_day(self.begins)} to {_of_day(self.ends)}"
        return f"{hours} {self.zone}" if self.east else hours

    @property
    def zone(self) -> str:
        """The member's clock: ``utc``, or ``utc+2:00``."""
        if not self.east:
            return "utc"
        return f"utc{'-' if self.east < 0 else '+'}{_of_day(abs(self.east))}"

    def until(self, now: float) -> float:
        """Return when the member can be told something: ``now``, or when the quiet hours end."""
        since = (now + _MINUTE * self.east - _MINUTE * self.begins) % DAY
        lasts = _MINUTE * (self.ends - self.begins) % DAY
        return now + lasts - since if since < lasts else now


def _of_day(minutes: int) -> str:
    return f"{minutes // 60}:{minutes % 60:02}"


class Contact(NamedTuple):
    """How a member is told, and of what.

    Attributes:
        address: the confirmed address that mails go to; "" for none.
        is_refused: whether the address has turned out to take none.
        asked: the address that waits for its code; "" for none.
        asked_today: how many codes the member has asked for within a day.
        browsers: in how many browsers they are told.
        off: what they do not want to be told of.
        quiet: when they are told nothing.
        calendar: the secret word in the address of their calendar; "" for none.
        feed: whether there is a feed of their battles that have ended.
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
"""In the place of a secret word: the store makes another one."""


class Browser(NamedTuple):
    """Where a browser is told something, as Web Push has it (RFC 8030).

    Attributes:
        endpoint: the URL at the push service.
        key: the browser's public key, in base64url.
        auth: the secret that it shares with us, in base64url.
    """

    endpoint: str
    key: str
    auth: str


class AskedAddress(NamedTuple):
    """What is known of an address, and of the member who asks, before a code is sent there.

    Attributes:
        mailbox: when codes were sent to its mailbox within a day, whoever asked. All of these are
            in seconds since the epoch, the oldest first.
        network: the same for codes that were asked for from the member's network.
        domain: when codes were sent to any address of its domain within an hour.
        everybody: when codes were sent to anybody within an hour.
        unwanted: whether its owner wants none.
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
    """A notification that is still to be sent.

    Attributes:
        number: a random number that tells it from all others.
        player: the member's name.
        kind: what it is about; None for the code of an address.
        board: the key of the board that it is about; "" for none.
        subject: the number of the battle that has ended, or of the tournament; 0 for none.
        at: when it happened, in seconds since the epoch.
        failing: since when it was tried in vain; None if it was not.
        tries: how often that was.
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
    """A member who is to be told something in one way, and what.

    Attributes:
        player: their name.
        waiting: what they are to be told, the oldest first.
        address: where mails go; "" for a browser.
        code: the code that confirms the address, if that is what they are told.
        secret: the secret word in the link that ends these mails.
        browser: the browser; None for mail.
        way: its number; 0 for mail.
        quiet: when they are told nothing.
        mailed: when the last mail was sent to them; None if none was.
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
    """How this server tells members something.

    Attributes:
        mail: whether by mail.
        push: the public key by which browsers know it, in base64url; "" if it tells none.
        services: the hosts of push services that it uses, or their ends: ``.example.org``.
        page: where its page is, such as ``https://example.org``; "" if that is not known.
    """

    mail: bool = False
    push: str = ""
    services: tuple[str, ...] = ()
    page: str = ""

    @property
    def are_none(self) -> bool:
        """Whether it tells nobody anything."""
        return not (self.mail or self.push or self.page)


NO_WAYS = Ways()


class Notified(HallPart):
    """Who is notified, and how.

    Attributes:
        ways: how this server tells members something.
        members: the names of the members who are told of anything.
        codes_per_hour: the most codes that confirm addresses, for everybody within an hour.
        established_only: whether such codes are only for members who have finished a battle, and
            registered an hour ago.
    """

    def __init__(self) -> None:
        self.ways = NO_WAYS
        self.members: frozenset[str] = frozenset()
        self.codes_per_hour = 33
        self.established_only = False

    def configure(self, ways: Ways, mails_per_hour: int, *, established_only: bool) -> None:
        """Set how this server notifies members, and how many mails it sends within an hour."""
        self.ways, self.established_only = ways, established_only
        self.codes_per_hour = share_of_codes(mails_per_hour)

    def follow(self, members: frozenset[str]) -> None:
        """Replace the members who are told of anything."""
        self.members = members


CODES_A_DAY = 3
"""How many codes a member may ask for within a day, and how many are sent to one mailbox."""
CODES_FROM_NETWORK = 6
"""How many codes may be asked for from one network within a day."""
NEWCOMER = 3_600.0
"""Seconds for which a member is a newcomer after they have registered."""
GUESSES = 5
"""How often a member may type a wrong code."""
CODE_LASTS = 3_600.0
"""Seconds for which a code can be typed."""
MOST_BROWSERS = 5
"""In how many browsers a member can be told something."""

_LONGEST_ADDRESS, _LONGEST_LOCAL = 254, 64
_ADDRESS = re.compile(
    r"([a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*)"
    r"@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?",
    re.ASCII | re.IGNORECASE,
)


def is_address(text: str) -> bool:
    """Whether a text can be an address of e-mail. Quoted and international ones are left out."""
    found = _ADDRESS.fullmatch(text)
    return bool(found and len(text) <= _LONGEST_ADDRESS and len(found[1]) <= _LONGEST_LOCAL)


def share_of_codes(per_hour: int) -> int:
    """Return how many of all mails within an hour may be codes: a third."""
    return max(1, per_hour // 3)


_ONE_PROVIDER = {
    "googlemail.com": "gmail.com",
    "protonmail.com": "proton.me",
    "pm.me": "proton.me",
}
"""Domains in which a mailbox has the same name as in another one."""

_IGNORED = {"gmail.com": ".", "proton.me": "._-"}
"""The characters that a provider ignores in the name of a mailbox. Google says so of dots, and
Proton's own client takes out all three."""


def mailbox(address: str) -> str:
    """Return what an address is counted as: one text for all spellings that reach one mailbox.

    A ``+tag`` is cut off everywhere: where it should be part of the name, two mailboxes count as
    one, which is the lesser harm.
    """
    local, _, domain = address.lower().rpartition("@")
    domain = _ONE_PROVIDER.get(domain, domain)
    name = local.partition("+")[0] or local
    kept = "".join(each for each in name if each not in _IGNORED.get(domain, ""))
    return f"{kept or name}@{domain}"


_LONGEST_SECOND_LEVEL = 3
"""Letters of what comes before a country in domains such as ``co.uk``, at most."""


def mail_domain(address: str) -> str:
    """Return the domain that somebody owns with all in it: ``example.org`` of ``a@b.example.org``.

    The owner of a domain can have mail for any name in it go to one mailbox. Without the list of
    public suffixes this is an estimate: of a country's domain, a short second label counts as the
    country's.
    """
    labels = mailbox(address).rpartition("@")[2].split(".")
    is_of_a_country = len(labels[-1]) == 2 and len(labels[-2]) <= _LONGEST_SECOND_LEVEL
    return ".".join(labels[-3:] if is_of_a_country else labels[-2:])


def refused_code(asked: AskedAddress, per_hour: int, now: float) -> Refused | None:
    """Return why no code may be sent now since too many were; None if one may be.

    So nobody can have this server write to a mailbox again and again, by however many names. A
    domain has half of what is sent within an hour, so that codes for others go out even then.
    """
    if len(asked.mailbox) >= CODES_A_DAY:
        return Refused(NotifyRefusal.CODES_TOO_MANY, most=CODES_A_DAY)
    hour = CODE_LASTS
    limits = (
        (asked.network, CODES_FROM_NETWORK, DAY, NotifyRefusal.CODES_FROM_ADDRESS),
        (asked.domain, max(1, per_hour // 2), hour, NotifyRefusal.CODES_HELD_BACK),
        (asked.everybody, per_hour, hour, NotifyRefusal.CODES_HELD_BACK),
    )
    for sent, most, within, code in limits:
        if len(sent) >= most:
            return Refused(code, most=most, seconds=sent[-most] + within - now)
    return None


def masked(address: str) -> str:
    """Return an address as its owner knows it again, and nobody else: ``an...@example.org``."""
    local, _, domain = address.rpartition("@")
    return f"{local[:2]}...@{domain}"


_ENDPOINT = re.compile(r"https://([a-z0-9.-]+(?::[0-9]+)?)/[!-~]*", re.ASCII | re.IGNORECASE)


def is_served(endpoint: str, services: tuple[str, ...]) -> bool:
    """Whether a URL is at a push service with one of these hosts, or ends of hosts."""
    found = _ENDPOINT.fullmatch(endpoint)
    host = found[1].lower().removesuffix(":443") if found else ""
    return any(host == each or (each[0] == "." and host.endswith(each)) for each in services)


class ContactLookup(Lookup[Contact]):
    """How a member, named in any case, is told, and of what."""

    player: str


class AskedLookup(Lookup[AskedAddress]):
    """What is known of an address before a code is sent there, and of the member who asks.

    ``network`` is the member's, "" if it does not count.
    """

    address: str
    player: str
    network: str = ""


@aside
class CodeAsked(StoredAside, Aside):
    """A player wants mails at an address, which gets a code.

    ``network`` is theirs, for counting; "" if it does not count.
    """

    is_limited = True

    SECRETS = frozenset({"address", "network"})

    address: str
    network: str = ""


@aside
class CodeTyped(StoredAside, Aside):
    """A player typed the right code."""

    SECRETS = frozenset({"code"})

    code: str


@aside
class BrowserAdded(StoredAside, Aside):
    """A player wants to be notified in a browser."""

    SECRETS = frozenset({"browser"})

    browser: Browser


@aside
class NotifyChosen(StoredAside, Aside):
    """A player chose how they are notified, and of what."""

    SECRETS = frozenset({"contact"})

    choice: Command
    contact: Contact
