"""What members have published by an address of its own, and the link that ends their mails.

``/calendar/SECRET.ics`` is when a member's time is up, ``/feed/NAME.atom`` are battles of theirs
that have ended, and ``/mail/SECRET`` ends mails: by POST alone, since programs that look through
mails follow every link (RFC 8058).
"""

from __future__ import annotations

import logging
import re
from hashlib import sha256

from thudmud.features.notifications import storage
from thudmud.features.notifications.model import Notified
from thudmud.features.notifications.published import calendar, feed
from thudmud.game.feature import PageAnswer
from thudmud.game.hall import Hall
from thudmud.store import Store, StoreError
from thudmud.values import Value

CALENDAR, FEED, MAIL = "calendar", "feed", "mail"

KINDS = {
    CALENDAR: "text/calendar; charset=utf-8",
    FEED: "application/atom+xml; charset=utf-8",
}

MOST_ENTRIES = 20
"""How many battles are in a feed."""

FRESH = 300
"""Seconds for which programs keep a calendar or a feed without asking again."""

_PATH = re.compile(
    r"/(?:(calendar)/([A-Za-z0-9_-]{16,64})\.ics|(feed)/([A-Za-z]{2,20})\.atom"
    r"|(mail)/([A-Za-z0-9_-]{16,64}))",
    re.ASCII,
)

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>Mails from Thud</title>
<h1>{heading}</h1>
<p>{text}</p>
{more}"""

_BUTTON = '<form method="post"><button>Send no more mails</button></form>\n'


class PublishedRequest(Value):
    """What is asked for.

    Attributes:
        kind: `CALENDAR`, `FEED` or `MAIL`.
        word: the secret word, or the member's name.
        ends: whether mails are to be ended.
    """

    kind: str
    word: str
    ends: bool = False


NOTHING: PageAnswer = 404, {}, "There is nothing here, or not any more."
BROKEN: PageAnswer = 503, {"Retry-After": "60"}, "That cannot be read just now."

_log = logging.getLogger(__name__)


def asked_for(method: str, path: str) -> PublishedRequest | None:
    """Return what a request asks for, if it is for something that is published."""
    found = _PATH.fullmatch(path)
    if found is None:
        return None
    kind, word = [each for each in found.groups() if each]
    is_read = method in {"GET", "HEAD"}
    if not is_read and (kind != MAIL or method != "POST"):
        return None
    return PublishedRequest(kind, word, ends=not is_read)


async def answer(wanted: PublishedRequest, hall: Hall, store: Store) -> PageAnswer:
    """Return the answer to a request for something that is published."""
    try:
        found = await _find(wanted, hall, store)
    except StoreError as error:
        _log.warning("nothing is published: %s", error)
        return BROKEN
    if found is None:
        return NOTHING
    if wanted.kind == MAIL:
        fields = {
            "Content-Type": "text/html; charset=utf-8",
            "Cache-Control": "no-store",
            "Content-Security-Policy": "default-src 'none'; form-action 'self';"
            " base-uri 'none'; frame-ancestors 'none'",
        }
    else:
        scope = "private" if wanted.kind == CALENDAR else "public"
        fields = {
            "Content-Type": KINDS[wanted.kind],
            "Cache-Control": f"{scope}, max-age={FRESH}",
            "ETag": f'"{sha256(found.encode()).hexdigest()[:16]}"',
            "X-Robots-Tag": "noindex",
        }
    return 200, fields, found


async def _find(wanted: PublishedRequest, hall: Hall, store: Store) -> str | None:
    """Return what is asked for; None if there is nothing."""
    if wanted.kind == MAIL:
        look = storage.end_mails if wanted.ends else storage.is_ended_by
        return _page(ended=wanted.ends) if await look(store, wanted.word) else None
    page = hall.part(Notified).ways.page
    if wanted.kind == CALENDAR:
        player = await storage.calendar_of(store, wanted.word)
        if not (player and page):
            return None
        return calendar(player, hall.tables.seats_of(player), page)
    player = await storage.feed_of(store, wanted.word)
    if not (player and page):
        return None
    return feed(player, await store.ended(player, MOST_ENTRIES), page)


def _page(*, ended: bool) -> str:
    if ended:
        told = 'Your address is forgotten. To get mails again, type "notify mail" in the game.'
        return _PAGE.format(heading="You get no more mails", text=told, more="")
    told = "This ends the mails that the server sends to this address, and forgets the address."
    return _PAGE.format(heading="No more mails?", text=told, more=_BUTTON)
