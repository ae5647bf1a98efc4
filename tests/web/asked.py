"""Responses of the page's routes, without a server."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from thudmud.features import NAMES
from thudmud.service.coroutines import run_eagerly
from thudmud.web.http import NO_FIELDS, HttpRequest, HttpResponse, finish
from thudmud.web.pictures import NO_BATTLE, Absence, FindPreview, PictureRequest, Preview, Site
from thudmud.web.routes import Routes, site_routes

ANY = frozenset({"*"})


class NoPictures:
    """A gallery without any battles."""

    async def find(self, wanted: PictureRequest, request: HttpRequest) -> Absence:
        return NO_BATTLE


async def nothing(kind: str, name: str) -> Preview | None:
    """Find no preview for any link."""
    return None


@cache
def routes(find: FindPreview = nothing, embed: frozenset[str] = ANY, url: str = "") -> Routes:
    """Return the routes of a page."""
    return site_routes(Site(find, NoPictures(), NAMES, url, embed))


def ask(
    path: str,
    table: Routes | None = None,
    *,
    query: str = "",
    fields: Mapping[str, str] = NO_FIELDS,
) -> HttpResponse:
    """Return the response to a request."""
    request = HttpRequest("GET", path, fields, query=query)
    answer = (table or routes()).respond(request)
    assert answer is not None, "expected a path without WebSockets"
    response = answer if isinstance(answer, HttpResponse) else run_eagerly(answer)
    assert isinstance(response, HttpResponse), "expected nothing that waits"
    finish(response, request)
    return response
