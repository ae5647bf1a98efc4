"""Notifications in the database: members' choices, and the outbox.

`post` stores a notification in the transaction of its event, one row for each way: mail is one way,
each browser another. The sender reads them by `due`, and reports the result by `delete_sent`,
`put_off` or `refuse`. Addresses that a member gives up are soon erased from the disk, as by
`thudmud.store.accounts.erase`.

All functions take a database, and run within `Store.read` or `Store.write`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from hmac import compare_digest
from secrets import randbelow, randbits, token_urlsafe
from typing import Any, NamedTuple, cast

from thudmud.features.notifications.messages import revoked_secrets_sentence
from thudmud.features.notifications.model import (
    ANOTHER,
    CODE,
    CODE_LASTS,
    GUESSES,
    MOST_BROWSERS,
    OF_A_TURN,
    AskedLookup,
    Browser,
    CodeHistory,
    Contact,
    ContactLookup,
    Kind,
    News,
    Notification,
    Quiet,
    Recipient,
    Waiting,
    mail_domain,
    mailbox,
    refused_code,
)
from thudmud.game.clocks import DAY
from thudmud.store import hooks
from thudmud.store.battles import has_ended_one
from thudmud.store.database import Database
from thudmud.store.lookups import answers
from thudmud.store.rows import add_tables, reading_row

MOST_AT_ONCE = 200
"""The most notifications read at once."""

UNWANTED_LASTS = 365 * DAY
"""Seconds for which no code is sent to a mailbox whose owner has refused them."""

_MAIL = 0
_TICK = 0.001
_SECRET_BYTES = 16

add_tables(
    # Members' choices. ``secret`` is in the unsubscribe link of mails, ``calendar`` in the address
    # of the calendar; ``mailed`` is when the last mail was sent.
    contact="player integer primary key, address text, refused integer, off text, quiet text,"
    " secret text, calendar text, feed integer, mailed real null",
    # Codes sent within a day; only a player's last one is valid.
    confirmation="player integer, at real, address text, code text, secret text,"
    " guesses integer, primary key (player, at)",
    # Codes sent within a day, without a name: they still count after the player is erased. The
    # values that they are counted by are hashes; ``network`` may be ''.
    sent_code="number integer primary key, at real, mailbox text, domain text, network text",
    # Hashes of mailboxes whose owners have refused codes.
    unwanted="hash text primary key, at real",
    # Members' browsers.
    browser="number integer primary key, player integer, endpoint text, key text, auth text,"
    " since real",
    # The outbox. ``way`` is the number of a browser, or 0 for mail; ``due`` is when to send it, or
    # try again; ``failing`` is when sending first failed, or null; ``subject`` is the number of the
    # battle that has ended, or of the tournament, or 0.
    notification="number integer primary key, player integer, way integer, kind text,"
    " board text, subject integer, at real, due real, failing real null, tries integer",
)

_ContactRow = tuple[int, str, int, str, str, str, str, int, float | None]


# Members' choices.


def contact(database: Database, player: str) -> Contact:
    """Return a member's choices."""
    found = database.players.find(player)
    return _contact(database, found[0]) if found else Contact()


def _contact(database: Database, number: int) -> Contact:
    row = _row(database, number)
    _, address, refused, _, _, _, calendar, feed, _ = row
    asked = _codes(database, number)
    return Contact(
        address,
        bool(refused),
        str(asked[-1][2]) if asked and _is_open(database, asked[-1]) else "",
        len(asked),
        len(_browsers(database, number)),
        _kinds_off(row),
        _hours(row),
        calendar,
        bool(feed),
    )


def _kinds_off(row: _ContactRow) -> frozenset[Kind]:
    """Return the kinds that a member has switched off."""
    with reading_row("contact", row):
        return frozenset(map(Kind, row[3].split()))


def _hours(row: _ContactRow) -> Quiet | None:
    """Return a member's quiet hours, if any."""
    with reading_row("contact", row):
        return Quiet.of(row[4]) if row[4] else None


def keep_contact(database: Database, player: str, chosen: Contact) -> None:
    """Store a member's choices, except new addresses and browsers.

    If the address, the pending address or the number of browsers is empty, the stored ones are
    removed.

    Raises:
        NoSuchAccountError: there is no such member.
    """
    database.tells_watchers = True
    number = database.players.member(player)
    before = _row(database, number)
    calendar = token_urlsafe(_SECRET_BYTES) if chosen.calendar == ANOTHER else chosen.calendar
    off = " ".join(sorted(each.value for each in chosen.off))
    database.table.put(
        "contact",
        number,
        chosen.address,
        int(chosen.is_refused),
        off,
        str(chosen.quiet or ""),
        before[5] or token_urlsafe(_SECRET_BYTES),
        calendar,
        int(chosen.feed),
        before[8],
    )
    if not chosen.address:
        _forget(database, "player = ? and way = 0 and kind <> ?", number, CODE)
        database.erased |= bool(before[1])
    if not chosen.asked:
        _end_codes(database, number)
    if not chosen.browsers:
        _drop_browsers(database, number)


def code_history(database: Database, address: str, player: str, network: str = "") -> CodeHistory:
    """Return the recent codes that count against another one, see `AskedLookup`."""
    row = database.table.row("unwanted", "where hash = ?", _hashed(mailbox(address)))
    hour = database.now() - CODE_LASTS
    sent = _sent_codes(database)
    box, domain, place = _counted_as(address, network)
    member = database.players.find(player)
    account = member and database.table.row("account", "where player = ?", member[0])
    return CodeHistory(
        mailbox=tuple(at for at, *each in sent if each[0] == box),
        network=tuple(at for at, *each in sent if place and each[2] == place),
        domain=tuple(at for at, *each in sent if at > hour and each[1] == domain),
        everybody=tuple(at for at, *_ in sent if at > hour),
        unwanted=bool(row and cast("float", row[1]) > database.now() - UNWANTED_LASTS),
        registered=cast("float", account[3]) if account else database.now(),
        has_played=bool(member and has_ended_one(database, member[0])),
    )


def ask_code(
    database: Database, player: str, address: str, network: str = "", per_hour: int = 1 << 62
) -> None:
    """Generate a code for a member's address, and post it there.

    The limits are checked again in this transaction: other requests may have come meanwhile, also
    on other nodes.

    Raises:
        NoSuchAccountError: there is no such member.
        RefusedError: too many codes were sent.
    """
    number, now = database.players.member(player), database.now()
    if refusal := refused_code(code_history(database, address, player, network), per_hour, now):
        raise refusal
    database.erased |= database.table.delete("confirmation", "where at < ?", now - DAY) > 0
    database.table.delete("unwanted", "where at < ?", now - UNWANTED_LASTS)
    database.table.delete("sent_code", "where at <= ?", now - DAY)
    database.table.put("sent_code", randbits(62), now, *_counted_as(address, network))
    before = _codes(database, number)
    at = max(now, before[-1][1] + _TICK) if before else now  # (player, at) is the primary key
    code, secret = f"{randbelow(1_000_000):06}", token_urlsafe(_SECRET_BYTES)
    database.table.put("confirmation", number, at, address, code, secret, 0)
    database.table.delete("notification", "where player = ? and kind = ?", number, CODE)
    _put(database, number, _MAIL, CODE)


def confirm(database: Database, player: str, code: str) -> int | None:
    """Check a code that a member has typed, and confirm the address if it is right.

    Returns:
        None if it is right; otherwise how many guesses are left, 0 if no code is pending.

    Raises:
        NoSuchAccountError: there is no such member.
    """
    database.tells_watchers = True
    number = database.players.member(player)
    codes = _codes(database, number)
    if not codes or not _is_open(database, codes[-1]):
        return 0
    _, at, address, right, secret, guesses = codes[-1]
    if not compare_digest(right, code):
        database.table.put("confirmation", number, at, address, right, secret, guesses + 1)
        return GUESSES - 1 - int(guesses)
    # Without its code the row can't be used again, but it still counts as sent.
    database.table.put("confirmation", number, at, address, "", secret, guesses)
    row = _row(database, number)
    is_same = row[1].lower() == address.lower()
    # Unsubscribe links in mails to another address must not end mails to this one.
    secret = row[5] if row[5] and is_same else token_urlsafe(_SECRET_BYTES)
    database.erased |= bool(row[1])
    database.table.put("contact", number, address, 0, *row[3:5], secret, *row[6:])
    return None


def add_browser(database: Database, player: str, browser: Browser) -> None:
    """Subscribe a browser for a member; drop the oldest ones above `MOST_BROWSERS`.

    A browser subscribed by another member moves to this one.

    Raises:
        NoSuchAccountError: there is no such member.
    """
    database.tells_watchers = True
    number = database.players.member(player)
    for row in list(database.table.rows("browser", "where endpoint = ?", browser.endpoint)):
        _drop_browser(database, cast("int", row[0]))
    for row in _browsers(database, number)[: -(MOST_BROWSERS - 1)]:
        _drop_browser(database, row[0])
    database.table.put("browser", randbits(62) + 1, number, *browser, database.now())


def notified(database: Database) -> frozenset[str]:
    """Return the names of the members who have a way to be notified."""
    contacts, browsers = database.table.several(
        database.backend,
        ("contact", "where address <> '' and refused = 0", ()),
        ("browser", "", ()),
    )
    numbers = {row[0] for row in contacts} | {row[1] for row in browsers}
    return frozenset(database.players.name_of(cast("int", each)) for each in numbers)


# The outbox.


def post_news(database: Database, news: News) -> None:
    """Store the notifications of events at a board, in the transaction that stores the events."""
    kinds = [each.value for each in OF_A_TURN]
    database.table.delete("notification", "where board = ? and kind in (?, ?)", news.board, *kinds)
    told: dict[str, list[Notification]] = {}
    for each in news.notices:
        told.setdefault(each.player, []).append(each)
    for player, notices in told.items():
        if found := database.players.find(player):
            post(database, found[0], *notices, board=news.board)


def post(database: Database, player: int, *notices: Notification, board: str = "") -> None:
    """Store notifications for a player, one for each of the player's channels."""
    row = _row(database, player)
    off = row[3].split()
    ways = [_MAIL] if row[1] and not row[2] else []
    ways += [each[0] for each in _browsers(database, player)]
    for each in notices:
        for way in ways if each.kind.value not in off else ():
            _put(database, player, way, each.kind.value, (board, each.subject, each.due))


def _put(
    database: Database,
    player: int,
    way: int,
    kind: str,
    about: tuple[str, int, float] = ("", 0, 0.0),
) -> None:
    board, subject, due = about
    now = database.now()
    rest = player, way, kind, board, subject, now, max(now, float(due)), None, 0
    database.table.put("notification", randbits(62), *rest)


def due(database: Database, *, mails: bool) -> Sequence[Recipient]:
    """Return the notifications that are due, by recipient.

    Args:
        database: the database.
        mails: whether to return those by mail, or those to browsers.
    """
    which = f"where due <= ? and way {'=' if mails else '<>'} 0 order by at limit ?"
    rows = list(database.table.rows("notification", which, database.now(), MOST_AT_ONCE))
    told: dict[tuple[int, int, bool], list[Waiting]] = {}
    for number, player, way, kind, board, subject, at, _, failing, tries in cast("Any", rows):
        name = database.players.name_of(player)
        with reading_row("notification", (number,)):
            what = None if kind == CODE else Kind(kind)
        waiting = Waiting(number, name, what, board, subject, at, failing, tries)
        told.setdefault((player, way, what is None), []).append(waiting)
    return [
        _recipient(database, number, way, tuple(waiting))
        for (number, way, _), waiting in told.items()
    ]


def _recipient(
    database: Database, number: int, way: int, waiting: tuple[Waiting, ...]
) -> Recipient:
    """Return the recipient of some notifications, with the current destination.

    The destination is empty if the address or browser is gone, or the code is no longer valid.
    """
    contact_row = _row(database, number)
    _, address, refused, _, _, secret, _, _, mailed = contact_row
    recipient = Recipient(waiting[0].player, waiting, way=way)
    if waiting[0].kind is None:
        codes = _codes(database, number)
        if not codes or not _is_open(database, codes[-1]):
            return recipient
        return recipient._replace(address=codes[-1][2], code=codes[-1][3], secret=codes[-1][4])
    hours = _hours(contact_row)
    if not way:
        known = "" if refused else address
        return recipient._replace(address=known, secret=secret, quiet=hours, mailed=mailed)
    row = database.table.row("browser", "where number = ?", way)
    browser = Browser(*cast("tuple[str, str, str]", row[2:5])) if row else None
    return recipient._replace(browser=browser, quiet=hours)


class OutboxCount(NamedTuple):
    """The number of notifications in the outbox, and of those whose sending has failed so far."""

    waiting: int = 0
    failing: int = 0


def count_waiting(database: Database) -> Mapping[str, OutboxCount]:
    """Return the size of the outbox by way: "mail" and "browser"."""
    counts = {}
    for way, sign in (("mail", "="), ("browser", "<>")):
        query = f"select count(*), count(failing) from notification where way {sign} 0"  # noqa: S608  (ours)
        counts[way] = OutboxCount(*map(int, database.table.execute(query).fetchone()))
    return counts


def delete_sent(database: Database, recipient: Recipient, *, mailed: bool = False) -> None:
    """Delete notifications that were sent, or need not be.

    Args:
        database: the database.
        recipient: the member, with the notifications.
        mailed: whether they were sent by mail, just now.
    """
    _forget_these(database, recipient)
    found = database.players.find(recipient.player)
    if mailed and found:
        row = _row(database, found[0])
        if row[1]:
            database.table.put("contact", *row[:8], database.now())


def put_off(
    database: Database, recipient: Recipient, until: float, *, failed: bool = False
) -> None:
    """Postpone notifications.

    Args:
        database: the database.
        recipient: the member, with the notifications.
        until: when to try again, in seconds since the epoch.
        failed: whether sending has failed.
    """
    for each in recipient.waiting:
        row = database.table.row("notification", "where number = ?", each.number)
        if row:
            *start, _, failing, tries = cast("Any", tuple(row))
            if failed:
                failing, tries = failing or database.now(), tries + 1
            database.table.put("notification", *start, float(until), failing, tries)


def refuse(database: Database, recipient: Recipient) -> None:
    """Mark an address as refused, or drop a browser, after a permanent failure.

    All waiting notifications for the address or browser are dropped.
    """
    database.tells_watchers = True
    _forget_these(database, recipient)
    found = database.players.find(recipient.player)
    if not found:
        return
    if recipient.way:
        _drop_browser(database, recipient.way)
    elif not recipient.code:
        row = _row(database, found[0])
        if row[1] == recipient.address:
            database.table.put("contact", *row[:2], 1, *row[3:])
            _forget(database, "player = ? and way = 0 and kind <> ?", found[0], CODE)


def came(database: Database, player: str, until: float = math.inf) -> None:
    """Drop the notifications that a player has seen by now.

    Codes are kept, and warnings about the clock, which may run short later.

    Args:
        database: the database.
        player: the player's name.
        until: when the player last looked, in seconds since the epoch.
    """
    if found := database.players.find(player):
        rest = "player = ? and at < ? and kind not in (?, ?)"
        seen = min(until, database.now() + 1)  # databases don't take inf
        _forget(database, rest, found[0], seen, CODE, Kind.CLOCK.value)


def _forget_these(database: Database, recipient: Recipient) -> None:
    for each in recipient.waiting:
        _forget(database, "number = ?", each.number)


def _forget(database: Database, rest: str, *values: object) -> None:
    database.table.delete("notification", f"where {rest}", *values)


# Secrets in links and addresses.


def end_mails(database: Database, secret: str) -> bool:
    """Unsubscribe the address whose mails contain ``secret``; return whether there is one.

    The secret from a verification mail blocks further codes to that mailbox instead.
    """
    database.tells_watchers = True
    if not secret:
        return False
    if row := database.table.row("contact", "where secret = ?", secret):
        kept = _contact(database, cast("int", row[0]))
        name = database.players.name_of(cast("int", row[0]))
        keep_contact(database, name, kept._replace(address="", is_refused=False))
        return True
    if row := database.table.row("confirmation", "where secret = ?", secret):
        number, at, address, *_ = row
        unwanted = _hashed(mailbox(cast("str", address)))
        database.table.put("unwanted", unwanted, database.now())
        database.table.put("confirmation", number, at, address, "", secret, GUESSES)
        database.table.delete("notification", "where player = ? and kind = ?", number, CODE)
        return True
    return False


def is_ended_by(database: Database, secret: str) -> bool:
    """Return whether `end_mails` would accept ``secret``."""
    where = "where secret = ?"
    return bool(secret) and any(
        database.table.row(table, where, secret) for table in ("contact", "confirmation")
    )


def end_secrets(database: Database, player: int) -> str:
    """Revoke a member's secrets: codes, the address of the calendar, browsers.

    Returns:
        A sentence about the revoked secrets for the member; "" if there were none.
    """
    _end_codes(database, player)
    row = _row(database, player)
    if row[6]:
        calendar = token_urlsafe(_SECRET_BYTES)
        database.table.put("contact", *row[:6], calendar, *row[7:])
    return revoked_secrets_sentence(
        calendar=bool(row[6]), browsers=_drop_browsers(database, player) > 0
    )


def calendar_of(database: Database, secret: str) -> str | None:
    """Return the owner of the calendar with a secret in its address; None if there is none."""
    row = database.table.row("contact", "where calendar = ?", secret) if secret else None
    return database.players.name_of(cast("int", row[0])) if row else None


def feed_of(database: Database, player: str) -> str | None:
    """Return the exact name of ``player``, ignoring case, if they have a feed; else None."""
    found = database.players.find(player)
    return found[1] if found and _row(database, found[0])[7] else None


def erase(database: Database, player: int) -> None:
    """Delete a player's choices, codes, browsers and outbox."""
    for table in ("contact", "confirmation", "browser", "notification"):
        database.table.delete(table, "where player = ?", player)


def _row(database: Database, number: int) -> _ContactRow:
    """Return a player's row of ``contact``, or an empty one."""
    row = database.table.row("contact", "where player = ?", number)
    return cast("_ContactRow", tuple(row)) if row else (number, "", 0, "", "", "", "", 0, None)


def _browsers(database: Database, number: int) -> list[tuple[int, ...]]:
    rows = database.table.rows("browser", "where player = ? order by since, number", number)
    return [cast("tuple[int, ...]", row) for row in rows]


def _drop_browser(database: Database, number: int) -> None:
    database.table.delete("browser", "where number = ?", number)
    _forget(database, "way = ?", number)
    database.erased = True


def _drop_browsers(database: Database, player: int) -> int:
    """Delete a player's browsers; return how many there were."""
    dropped = database.table.delete("browser", "where player = ?", player)
    if dropped:
        _forget(database, "player = ? and way <> 0", player)
        database.erased = True
    return dropped


def _end_codes(database: Database, player: int) -> None:
    """Invalidate a player's codes. They still count as sent."""
    database.table.delete("notification", "where player = ? and kind = ?", player, CODE)
    for row in _codes(database, player):
        database.table.put("confirmation", *row[:3], "", *row[4:])


def _codes(database: Database, number: int) -> list[tuple[Any, ...]]:
    """Return a player's codes of the last day, latest last."""
    where, since = "where player = ? and at > ? order by at", database.now() - DAY
    return [tuple(row) for row in database.table.rows("confirmation", where, number, since)]


def _sent_codes(database: Database) -> list[tuple[float, str, str, str]]:
    """Return the codes sent within a day, oldest first: the time, and the hashes to count by."""
    rows = database.table.rows("sent_code", "where at > ? order by at", database.now() - DAY)
    return [cast("tuple[float, str, str, str]", tuple(row)[1:]) for row in rows]


def _counted_as(address: str, network: str) -> tuple[str, str, str]:
    """Return the hashes that a code is counted by: of the mailbox, the domain, and the network."""
    place = _hashed(network) if network else ""
    return _hashed(mailbox(address)), _hashed(mail_domain(address)), place


def _is_open(database: Database, row: Sequence[Any]) -> bool:
    """Return whether a code is still valid."""
    _, at, _, code, _, guesses = row
    return bool(code) and guesses < GUESSES and at > database.now() - CODE_LASTS


def _hashed(words: str) -> str:
    return sha256(words.encode()).hexdigest()


def _post_letter(database: Database, player: int) -> None:
    post(database, player, Notification(database.players.name_of(player), Kind.MESSAGE))


@answers(ContactLookup)
def _contact_found(database: Database, lookup: ContactLookup, _: str) -> Contact:
    return contact(database, lookup.player)


@answers(AskedLookup)
def _asked_found(database: Database, lookup: AskedLookup, _: str) -> CodeHistory:
    return code_history(database, lookup.address, lookup.player, lookup.network)


def _check(database: Database) -> None:
    for row in cast("Iterator[_ContactRow]", database.table.rows("contact")):
        _kinds_off(row)
        _hours(row)


hooks.checks.append(_check)
hooks.erased.append(erase)
hooks.letter_posted.append(_post_letter)
hooks.logins_ended.append(end_secrets)
