"""Pictures and records over HTTP: what is asked for by which path, and what is answered.

``/game/12.svg``, ``.png``, ``.gif`` and ``.thud`` are a battle that was played; ``/board/oak.svg``
and so on are what stands on a board. ``?ply=17&side=north&colours=safe&theme=dark`` chooses what is
drawn of it, and how.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Protocol

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
"""What a picture counts for, in requests, besides its bytes: it has to be drawn, perhaps."""

KEPT = 86_400
"""Seconds for which browsers keep a picture of a battle that is over without asking again."""

DIGITS = 12
"""More than the number of a battle has."""

EVERYBODY = "*"
"""Said in the place of origins: every page."""

_PATH = re.compile(r"/(board|game)/([^/]+)\.(svg|png|gif|thud)")
_PLY = re.compile(r"[0-9]{1,6}", re.ASCII)


class PictureRequest(Value):
    """What is asked for.

    Attributes:
        battle: the number of a battle; None for a board.
        board: what a board is called; "" for a battle.
        ply: after which ply; None as it stands.
        side: which side of the board is at the bottom, "south" or "north".
    """

    battle: int | None
    board: str
    kind: str
    ply: int | None = None
    side: str = "south"
    colours: str = "plain"


class Picture(Value):
    """A picture, or a record.

    Attributes:
        tag: tells it from another one of the same path.
        body: what is in it; None if whoever asks has it already.
    """

    kind: str
    tag: str
    lasting: bool
    body: bytes | None


class Absence(Value):
    """Why there is nothing where something was asked for.

    Attributes:
        status: what HTTP calls that.
        sentence: what whoever asks is told.
        later: after how many seconds to ask again; 0 if that is of no use.
    """

    status: HTTPStatus
    sentence: str
    later: int = 0

    def response(self, cost: int = 0) -> HttpResponse:
        """Return the response that says so; nothing is drawn for one that comes too often."""
        fields = {"Retry-After": str(self.later)} if self.later else {}
        cost = 0 if self.status is HTTPStatus.TOO_MANY_REQUESTS else cost
        return plain(self.status, self.sentence, fields, cost=cost)


class Pictures(Protocol):
    """Who has them."""

    async def find(self, wanted: PictureRequest, request: HttpRequest) -> Picture | Absence:
        """Return what a request asks for; without its body if the client has that of its tag."""


class Preview(Value):
    """How a link to the page is told of, before anybody opens it: title, and a sentence."""

    title: str
    description: str


FindPreview = Callable[[str, str], Awaitable[Preview | None]]
"""Returns the preview of a "board" by its name, or of a "game" by its number, if there is one."""


class Site(Value):
    """What the page of a server has to show.

    Attributes:
        find: returns the previews of links.
        pictures: returns pictures of boards and battles.
        features: the names of the features that players have.
        public_url: where the page is for players; "" if that is not known.
        embed: the origins of pages that may show boards and battles in a frame; "*" is all.
    """

    find: FindPreview
    pictures: Pictures
    features: tuple[str, ...]
    public_url: str = ""
    embed: frozenset[str] = frozenset()


def read_picture_request(
    where: str, name: str, kind: str, chosen: Mapping[str, str]
) -> PictureRequest | Absence:
    """Return what a path asks for, and what is chosen in the query; or why that is nothing."""
    ply, side = chosen.get("ply", ""), chosen.get("side", "south")
    colours = chosen.get("colours", "plain")
    colours += " dark" * (chosen.get("theme") == "dark")
    if (ply and not _PLY.fullmatch(ply)) or side not in {"south", "north"}:
        return Absence(HTTPStatus.NOT_FOUND, "A picture is of a ply, and from south or north.")
    if colours not in SCHEMES:
        return Absence(HTTPStatus.NOT_FOUND, f"The colours are {', '.join(SCHEMES)}.")
    how = kind, int(ply) if ply else None, side, colours
    if where == "board":
        return PictureRequest(None, name, *how)
    battle = battle_number(name)
    return PictureRequest(battle, "", *how) if battle else NO_BATTLE


def readable_by(embed: frozenset[str], request: HttpRequest) -> dict[str, str]:
    """Return what lets programs of these pages read an answer; no cookie is ever looked at."""
    if EVERYBODY in embed:
        return {"Access-Control-Allow-Origin": EVERYBODY}
    origin = request.fields.get("origin", "")
    allowed = {"Access-Control-Allow-Origin": origin} if origin in embed else {}
    return {"Vary": "Origin", **allowed}


NO_BATTLE = Absence(HTTPStatus.NOT_FOUND, "There is no battle of that number.")


def battle_number(name: str) -> int | None:
    """Return the number that a path has; None if it is none."""
    return int(name) if name.isascii() and name.isdecimal() and len(name) < DIGITS else None


async def picture_response(
    request: HttpRequest,
    where: str,
    name: str,
    kind: str,
    *,
    site: Site,
) -> HttpResponse:
    """Return the response to a request for a picture."""
    wanted = read_picture_request(where, name, kind, request.args)
    if isinstance(wanted, Absence):
        return wanted.response()
    found = await site.pictures.find(wanted, request)
    if isinstance(found, Absence):
        return found.response(COSTS[kind])
    fields = {
        "Content-Type": KINDS[found.kind],
        "Cache-Control": f"public, max-age={KEPT}" if found.lasting else "no-cache",
        "ETag": found.tag,
        **readable_by(site.embed, request),
    }
    return HttpResponse(HTTPStatus.OK, fields, found.body or b"", cost=COSTS[kind])
