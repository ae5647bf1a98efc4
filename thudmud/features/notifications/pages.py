"""Published calendars and feeds, and the unsubscribe page.

``/calendar/SECRET.ics`` is a member's calendar of deadlines, ``/feed/NAME.atom`` a feed of ended
battles, and ``/mail/SECRET`` unsubscribes from mails. Only POST does, since programs that scan
mails follow every link (RFC 8058).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from functools import partial
from hashlib import sha256

from thudmud.features.notifications import storage
from thudmud.features.notifications.model import NotificationSettings
from thudmud.features.notifications.published import calendar, feed
from thudmud.game.feature import PageAnswer, PageRoute
from thudmud.game.hall import Hall
from thudmud.store import Store, StoreError, battles

MOST_ENTRIES = 20
"""The most battles in a feed."""

FRESH = 300
"""Seconds for which clients may cache a calendar or a feed."""

_WORD = '<matching("[A-Za-z0-9_-]{16,64}"):word>'

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>Email from Thud</title>
<h1>{heading}</h1>
<p>{text}</p>
{more}"""

_BUTTON = '<form method="post"><button>Stop these emails</button></form>\n'


NOTHING: PageAnswer = 404, {}, "This link is not valid, or no longer valid."
BROKEN: PageAnswer = 503, {"Retry-After": "60"}, "That cannot be read just now."

_log = logging.getLogger(__name__)

_Answerer = Callable[[Hall, Store, str], Coroutine[None, None, PageAnswer | None]]


def routes(hall: Hall, store: Store) -> tuple[PageRoute, ...]:
    """Return the routes of these pages."""

    def route(path: str, answer: _Answerer, method: str = "GET") -> PageRoute:
        return PageRoute(path, partial(_answer, partial(answer, hall, store)), (method,))

    return (
        route(f"/calendar/{_WORD}.ics", _calendar),
        route('/feed/<matching("[A-Za-z]{2,20}"):word>.atom', _feed),
        route(f"/mail/{_WORD}", _ask),
        route(f"/mail/{_WORD}", _end, "POST"),
    )


async def _answer(
    find: Callable[[str], Coroutine[None, None, PageAnswer | None]], word: str
) -> PageAnswer:
    """Return the page found by a secret or a member's name, 404 or 503."""
    try:
        return await find(word) or NOTHING
    except StoreError as error:
        _log.warning("could not read a calendar, a feed or a mail subscription: %s", error)
        return BROKEN


async def _calendar(hall: Hall, store: Store, word: str) -> PageAnswer | None:
    page = hall.part(NotificationSettings).ways.page
    player = await store.read(storage.calendar_of, word)
    if not (player and page):
        return None
    text = calendar(player, hall.tables.seats_of(player), page)
    return _publication(text, "text/calendar", "private")


async def _feed(hall: Hall, store: Store, word: str) -> PageAnswer | None:
    page = hall.part(NotificationSettings).ways.page
    player = await store.read(storage.feed_of, word)
    if not (player and page):
        return None
    text = feed(player, await store.read(battles.finished_battles, player, MOST_ENTRIES), page)
    return _publication(text, "application/atom+xml", "public")


async def _ask(_: Hall, store: Store, word: str) -> PageAnswer | None:
    return _page(ended=False) if await store.read(storage.is_ended_by, word) else None


async def _end(_: Hall, store: Store, word: str) -> PageAnswer | None:
    return _page(ended=True) if await store.write(storage.end_mails, word) else None


def _publication(text: str, kind: str, scope: str) -> PageAnswer:
    fields = {
        "Content-Type": f"{kind}; charset=utf-8",
        "Cache-Control": f"{scope}, max-age={FRESH}",
        "ETag": f'"{sha256(text.encode()).hexdigest()[:16]}"',
        "X-Robots-Tag": "noindex",
    }
    return 200, fields, text


def _page(*, ended: bool) -> PageAnswer:
    if ended:
        heading, more = "No more emails", ""
        text = 'Your address is forgotten. To get email again, type "notify mail" in the game.'
    else:
        heading, more = "Stop these emails?", _BUTTON
        text = "The server will stop sending email to this address, and forget it."
    fields = {
        "Content-Type": "text/html; charset=utf-8",
        "Cache-Control": "no-store",
        "Content-Security-Policy": "default-src 'none'; form-action 'self';"
        " base-uri 'none'; frame-ancestors 'none'",
    }
    return 200, fields, _PAGE.format(heading=heading, text=text, more=more)
