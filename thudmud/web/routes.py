"""Routing table of the web port: paths, methods and handlers.

Features add routes by `thudmud.game.feature.PageRoute`. HEAD is allowed wherever GET is; any other
method gets a 405 response that lists the allowed ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from http import HTTPStatus

from werkzeug.exceptions import HTTPException
from werkzeug.routing import BaseConverter, Map, Rule

from thudmud.values import Value
from thudmud.web.http import Answer, HttpRequest, HttpResponse, refusal
from thudmud.web.pictures import Site, picture_response
from thudmud.web.sharing import frame_response, oembed_response
from thudmud.web.site import INDEX, file_response, files, link_response

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
    """Request dispatcher."""

    def __init__(self, routes: Iterable[Route]) -> None:
        rules = [Rule(each.path, endpoint=each.handler, methods=each.methods) for each in routes]
        table = Map(rules, converters={"matching": Matching}, merge_slashes=False)
        self._table = table.bind("")

    def respond(self, request: HttpRequest) -> Answer | None:
        """Return the response to a request; None if it should be upgraded to a WebSocket."""
        try:
            handler, variables = self._table.match(request.path, request.method)
        except HTTPException as error:
            return refusal(error)
        answer: Answer | None = handler(request, **variables)
        return answer


def routes_of(site: Site, pages: Iterable[Route] = ()) -> list[Route]:
    """Return all routes of a site, including the features' pages."""
    known = files(site.features)
    page = partial(file_response, file=known[INDEX])
    board_or_game = "<any(board, game):where>/<name>"
    return [
        Route("/", page),
        Route("/ws", lambda _: None),
        Route("/*", lambda _: HttpResponse(HTTPStatus.NO_CONTENT), ("OPTIONS",)),
        Route('/tournament/<matching("[0-9]{1,9}"):number>', lambda request, **_: page(request)),
        Route(f"/{board_or_game}", partial(link_response, site=site, page=known[INDEX])),
        Route(
            f"/{board_or_game}.<any(svg, png, gif, thud):kind>",
            partial(picture_response, site=site),
        ),
        Route(f"/embed/{board_or_game}", partial(frame_response, site=site)),
        Route("/oembed", partial(oembed_response, site=site)),
        *pages,
        *(Route(path, partial(file_response, file=file)) for path, file in known.items()),
    ]
