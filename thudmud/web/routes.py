"""Routing table of the web port: paths, methods and handlers.

Features add routes by `thudmud.game.feature.PageRoute`. HEAD is allowed wherever GET is; any other
method gets a 405 response that lists the allowed ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from http import HTTPStatus
from pathlib import PurePosixPath
from urllib.parse import quote

from werkzeug.exceptions import HTTPException, NotFound
from werkzeug.routing import BaseConverter, Map, Rule

from thudmud.values import Value
from thudmud.web.http import Answer, HttpRequest, HttpResponse, refusal
from thudmud.web.pictures import Site, picture_response
from thudmud.web.sharing import frame_response, oembed_response
from thudmud.web.site import (
    INDEX,
    MISSING,
    START,
    file_response,
    files,
    link_response,
    missing_response,
)

_VIEWS = {"/lessons": "exercises", "/tv": "tv"}
"""Paths of further views of the page, with the features that they need."""

_MOVED = {"/puzzles": "/lessons", "/tournaments": "/"}
"""Paths that people try, with those of the views that list what they look for."""

Handler = Callable[..., Answer | None]
"""Request handler; called with the request, and with the path's variables as keyword arguments."""


class Route(Value):
    """A path in werkzeug's rule syntax, with its handler and methods."""

    path: str
    handler: Handler
    methods: tuple[str, ...] = ("GET",)


class Matching(BaseConverter):
    """Path converter that matches a regular expression."""

    def __init__(self, map: Map, regex: str) -> None:  # noqa: A002  (werkzeug's name)
        super().__init__(map)
        self.regex = regex


class Routes:
    """Request dispatcher.

    Args:
        routes: the routes.
        missing: returns the response to a request for a page that doesn't exist; by default, it is
            plain text. A path with a suffix, such as ``.png``, isn't a page.
    """

    def __init__(
        self, routes: Iterable[Route], missing: Callable[[], HttpResponse] | None = None
    ) -> None:
        self._missing = missing
        rules = [Rule(each.path, endpoint=each.handler, methods=each.methods) for each in routes]
        table = Map(rules, converters={"matching": Matching}, merge_slashes=False)
        self._table = table.bind("")

    def respond(self, request: HttpRequest) -> Answer | None:
        """Return the response to a request; None if it should be upgraded to a WebSocket."""
        try:
            handler, variables = self._table.match(request.path, request.method)
        except NotFound as error:
            if self._is_served(request.path.removesuffix("/") or request.path):
                return _without_slash(request)
            if self._missing is None or PurePosixPath(request.path).suffix:
                return refusal(error)
            return self._missing()
        except HTTPException as error:
            return refusal(error)
        answer: Answer | None = handler(request, **variables)
        return answer

    def _is_served(self, path: str) -> bool:
        """Return whether a path can be read."""
        try:
            self._table.match(path, "GET")
        except HTTPException:
            return False
        return True


def _without_slash(request: HttpRequest) -> HttpResponse:
    """Redirect to the path without the slash at its end."""
    query = request.query_string.decode()
    target = quote(request.path.removesuffix("/")) + (f"?{query}" if query else "")
    return _redirect(request, target)


def _redirect(_: HttpRequest, target: str) -> HttpResponse:
    return HttpResponse(HTTPStatus.PERMANENT_REDIRECT, {"Location": target})


def routes_of(site: Site, pages: Iterable[Route] = ()) -> list[Route]:
    """Return all routes of a site, including the features' pages."""
    known = files(site.features)
    page = partial(file_response, file=known[START])
    board_or_game = "<any(board, game):where>/<name>"
    link = partial(link_response, site=site, page=known[INDEX], missing=known[MISSING])
    return [
        Route("/", page),
        Route("/ws", lambda _: None),
        Route("/*", lambda _: HttpResponse(HTTPStatus.NO_CONTENT), ("OPTIONS",)),
        Route(f"/{board_or_game}", link),
        Route("/<any(tournament, challenge, player, lesson, puzzle):where>/<name>", link),
        *(Route(path, page) for path, feature in _VIEWS.items() if feature in site.features),
        *(Route(path, partial(_redirect, target=target)) for path, target in _MOVED.items()),
        Route(
            f"/{board_or_game}.<any(svg, png, gif, thud):kind>",
            partial(picture_response, site=site),
        ),
        Route(f"/embed/{board_or_game}", partial(frame_response, site=site)),
        Route("/oembed", partial(oembed_response, site=site)),
        *pages,
        *(Route(path, partial(file_response, file=file)) for path, file in known.items()),
    ]


def site_routes(site: Site, pages: Iterable[Route] = ()) -> Routes:
    """Return the dispatcher of a site, including the features' pages."""
    missing = partial(missing_response, files(site.features)[MISSING])
    return Routes(routes_of(site, pages), missing)
