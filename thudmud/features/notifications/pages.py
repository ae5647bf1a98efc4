"""What members have published by an address of its own, and the link that ends their mails.

``/calendar/SECRET.ics`` is when a member's time is up, ``/feed/NAME.atom`` are battles of theirs
that have ended, and ``/mail/SECRET`` ends mails: by POST alone, since programs that look through
mails follow every link (RFC 8058).
"""

from __future__ import annotations

import re
from hashlib import sha256
from http import HTTPStatus
from typing import Protocol

from thudmud.values import value
from thudmud.web.http import HttpRequest, response
from thudmud.web.pictures import Absence

CALENDAR, FEED, MAIL = "calendar", "feed", "mail"

KINDS = {
    CALENDAR: "text/calendar; charset=utf-8",
    FEED: "application/atom+xml; charset=utf-8",
}

COST = 8
"""What a request for one counts for, in requests: it is looked up."""

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


@value
class PublishedRequest:
    """What is asked for.

    Attributes:
        kind: `CALENDAR`, `FEED` or `MAIL`.
        word: the secret word, or the member's name.
        ends: whether mails are to be ended.
    """

    kind: str
    word: str
    ends: bool = False


NOTHING = Absence(HTTPStatus.NOT_FOUND, "There is nothing here, or not any more.")


class Publications(Protocol):
    """Who has it."""

    async def find(self, wanted: PublishedRequest, address: str) -> str | Absence:
        """Return a calendar or a feed, or whether mails can be ended or are: "" then.

        Args:
            wanted: what is asked for.
            address: the address of whoever asks.
        """


def published_by(request: HttpRequest) -> PublishedRequest | None:
    """Return what a request asks for, if it is for something that is published."""
    found = _PATH.fullmatch(request.path)
    if found is None:
        return None
    kind, word = [each for each in found.groups() if each]
    is_read = request.method in {"GET", "HEAD"}
    if not is_read and (kind != MAIL or request.method != "POST"):
        return None
    return PublishedRequest(kind, word, ends=not is_read)


async def answered(
    wanted: PublishedRequest, request: HttpRequest, published: Publications, address: str
) -> tuple[bytes, bytes]:
    """Return the answer to a request for something that is published: its head, and its body."""
    keeps, is_sent = request.keeps, request.method != "HEAD"
    found = await published.find(wanted, address)
    if isinstance(found, Absence):
        return found.answer(keeps=keeps, is_sent=is_sent), b""
    if wanted.kind == MAIL:
        body = _page(ended=wanted.ends).encode()
        fields = {
            "Content-Type": "text/html; charset=utf-8",
            "Cache-Control": "no-store",
            "Content-Security-Policy": "default-src 'none'; form-action 'self';"
            " base-uri 'none'; frame-ancestors 'none'",
        }
    else:
        body = found.encode()
        tag = f'"{sha256(body).hexdigest()[:16]}"'
        scope = "private" if wanted.kind == CALENDAR else "public"
        fields = {
            "Content-Type": KINDS[wanted.kind],
            "Cache-Control": f"{scope}, max-age={FRESH}",
            "ETag": tag,
            "X-Robots-Tag": "noindex",
        }
        if request.has(tag):
            return response(HTTPStatus.NOT_MODIFIED, fields, keeps=keeps), b""
    head = response(HTTPStatus.OK, fields, body, keeps=keeps, is_sent=False)
    return head, body if is_sent else b""


def _page(*, ended: bool) -> str:
    if ended:
        told = 'Your address is forgotten. To get mails again, type "notify mail" in the game.'
        return _PAGE.format(heading="You get no more mails", text=told, more="")
    told = "This ends the mails that the server sends to this address, and forgets the address."
    return _PAGE.format(heading="No more mails?", text=told, more=_BUTTON)
