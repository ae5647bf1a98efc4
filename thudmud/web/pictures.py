"""Pictures and records over HTTP: request parsing and responses.

``/game/12.svg`` (or ``.png``, ``.gif``, ``.thud``) is a battle by its number, and
``/board/oak.svg`` (likewise) the current position of a board. The query
``?ply=17&side=north&colours=safe&theme=dark`` selects the position and the appearance.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Protocol

from thudmud.errors import ThudmudError
from thudmud.pictures import SCHEMES
from thudmud.values import Value
from thudmud.web.http import HttpRequest, HttpResponse, plain

RECORD, GIF = "thud", "gif"
KINDS = {
    "svg": "image/svg+xml",
    "png": "image/png",
    GIF: "image/gif",
    RECORD: "text/plain; charset=utf-8",
}
COSTS = {"svg": 4, RECORD: 4, "png": 8, GIF: 40}
"""Additional charge by kind, in requests, because a picture may have to be drawn."""

KEPT = 86_400
"""Seconds that browsers may cache the picture of a finished battle without revalidation."""

DIGITS = 12
"""Number of digits from which a battle number is rejected."""

EVERYBODY = "*"
"""Wildcard in a set of origins: all pages."""

_PATH = re.compile(r"/(board|game)/([^/]+)\.(svg|png|gif|thud)")
_PLY = re.compile(r"[0-9]{1,6}", re.ASCII)


class PictureRequest(Value):
    """A request for a picture or a record.

    Attributes:
        battle: battle number; None for a board.
        board: name of a board; "" for a battle.
        kind: key of `KINDS`.
        ply: number of plies played in the position; None for the latest position.
        side: the side at the bottom of the picture, "south" or "north".
        colours: key of `thudmud.pictures.SCHEMES`.
    """

    battle: int | None
    board: str
    kind: str
    ply: int | None = None
    side: str = "south"
    colours: str = "plain"


class Picture(Value):
    """A picture or a record.

    Attributes:
        kind: key of `KINDS`.
        tag: entity tag.
        is_immutable: whether it never changes, so that clients may cache it.
        body: the content; None if the client already has the version of this tag.
    """

    kind: str
    tag: str
    is_immutable: bool
    body: bytes | None


class Absence(Value):
    """Reason why a picture is not available.

    Attributes:
        status: HTTP status.
        sentence: explanation for the client.
        retry_after: seconds after which to try again; 0 if that wouldn't help.
    """

    status: HTTPStatus
    sentence: str
    retry_after: int = 0

    def response(self, cost: int = 0) -> HttpResponse:
        """Return the error response; 429 costs nothing extra, because nothing was drawn."""
        fields = {"Retry-After": str(self.retry_after)} if self.retry_after else {}
        cost = 0 if self.status is HTTPStatus.TOO_MANY_REQUESTS else cost
        return plain(self.status, self.sentence, fields, cost=cost)


class Pictures(Protocol):
    """Source of pictures and records."""

    async def find(self, wanted: PictureRequest, request: HttpRequest) -> Picture | Absence:
        """Return the requested picture, without its body if the client's copy is current."""


class Preview(Value):
    """Link preview, shown by messengers before anybody opens a link: title and sentence."""

    title: str
    description: str


class PreviewUnavailableError(ThudmudError):
    """The store can't be read, so whether a link leads anywhere is unknown."""


FindPreview = Callable[[str, str], Awaitable[Preview | None]]
"""Returns the preview of a "board" by name, or of a "game", "lesson" and so on by number.

It returns None if there is none, and raises `PreviewUnavailableError` if that is unknown.
"""


class Site(Value):
    """Content and settings of a server's web page.

    Attributes:
        find: finds the preview of a link.
        pictures: source of pictures of boards and battles.
        features: names of the enabled features, and of parts of them that depend on settings.
        public_url: base URL of the page for players; "" if unknown.
        embed: origins of pages that may show boards and battles in a frame; "*" allows all.
    """

    find: FindPreview
    pictures: Pictures
    features: tuple[str, ...]
    public_url: str = ""
    embed: frozenset[str] = frozenset()


def read_picture_request(
    where: str, name: str, kind: str, chosen: Mapping[str, str]
) -> PictureRequest | Absence:
    """Parse the path and the query of a picture request.

    Args:
        where: "board" or "game".
        name: name of the board, or number of the battle.
        kind: key of `KINDS`.
        chosen: parameters of the query.

    Returns:
        The parsed request, or an `Absence` if it is invalid.
    """
    ply, side = chosen.get("ply", ""), chosen.get("side", "south")
    colours = chosen.get("colours", "plain")
    colours += " dark" * (chosen.get("theme") == "dark")
    if (ply and not _PLY.fullmatch(ply)) or side not in {"south", "north"}:
        return Absence(
            HTTPStatus.NOT_FOUND,
            'Expected a ply of the battle, and "south" or "north" as orientation.',
        )
    if colours not in SCHEMES:
        return Absence(
            HTTPStatus.NOT_FOUND, f"Expected one of the colour schemes {', '.join(SCHEMES)}."
        )
    how = kind, int(ply) if ply else None, side, colours
    if where == "board":
        return PictureRequest(None, name, *how)
    battle = battle_number(name)
    return PictureRequest(battle, "", *how) if battle else NO_BATTLE


def cors_fields(embed: frozenset[str], request: HttpRequest) -> dict[str, str]:
    """Return CORS fields that let scripts of embedding pages read a response.

    That is safe for any origin, because the server never looks at cookies.
    """
    if EVERYBODY in embed:
        return {"Access-Control-Allow-Origin": EVERYBODY}
    origin = request.fields.get("origin", "")
    allowed = {"Access-Control-Allow-Origin": origin} if origin in embed else {}
    return {"Vary": "Origin", **allowed}


NO_BATTLE = Absence(HTTPStatus.NOT_FOUND, "There is no such battle.")


def battle_number(name: str) -> int | None:
    """Parse a battle number in a path; None if it isn't one."""
    return int(name) if name.isascii() and name.isdecimal() and len(name) < DIGITS else None


async def picture_response(
    request: HttpRequest,
    where: str,
    name: str,
    kind: str,
    *,
    site: Site,
) -> HttpResponse:
    """Respond to a request for a picture or a record."""
    wanted = read_picture_request(where, name, kind, request.args)
    if isinstance(wanted, Absence):
        return wanted.response()
    found = await site.pictures.find(wanted, request)
    if isinstance(found, Absence):
        return found.response(COSTS[kind])
    fields = {
        "Content-Type": KINDS[found.kind],
        "Cache-Control": f"public, max-age={KEPT}" if found.is_immutable else "no-cache",
        "ETag": found.tag,
        **cors_fields(site.embed, request),
    }
    return HttpResponse(HTTPStatus.OK, fields, found.body or b"", cost=COSTS[kind])
