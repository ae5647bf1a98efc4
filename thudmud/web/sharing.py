"""Link previews and embedding: Open Graph, oEmbed, and frames with the viewer.

The page behind a link has Open Graph tags for messengers (``og:image``), and a link to its oEmbed
description. That describes a frame, ``/embed/game/12`` or ``/embed/board/oak``, which only shows
the board: it has no chat, no cookies and no way to play.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from urllib.parse import quote, unquote, urlsplit

from thudmud.pictures import SCHEMES
from thudmud.pictures.pixels import SIZE, can_draw_pixels
from thudmud.values import Value
from thudmud.web.http import HttpRequest, HttpResponse, plain
from thudmud.web.pictures import (
    Preview,
    PreviewUnavailableError,
    Site,
    battle_number,
    cors_fields,
)

_LINK = re.compile(r"/(board|game)/([^/]+)")

WIDTH, HEIGHT = 480, 680
"""Default size of a frame in pixels."""

_UNAVAILABLE = "The server can't read its storage just now. Please try again in a while."
_PREVIEW = re.compile(rb'(?<=<meta property="og:)(title|description)" content="[^"]*"')
_BEHIND = b'<meta name="color-scheme"'
_PLY = re.compile(r"ply=([0-9]{1,6})", re.ASCII)


class Linked(Value):
    """The board, battle, tournament or challenge behind a link, with its canonical path."""

    path: str
    preview: Preview

    @property
    def has_board(self) -> bool:
        """Whether it has pictures, and can be embedded."""
        return bool(_LINK.fullmatch(self.path))


def base_of(request: HttpRequest, site: Site) -> str:
    """Return the base URL of the page, such as ``https://example.org``; "" if unknown.

    Without a configured public URL, the request's ``Host`` is used.
    """
    return site.public_url or (f"{request.scheme}://{request.host}" if request.host else "")


async def find_linked(kind: str, name: str, site: Site) -> Linked | None:
    """Look up the board, battle or tournament behind a link; None if it doesn't exist.

    Raises:
        PreviewUnavailableError: the store can't be read.
    """
    if kind in {"game", "tournament"}:
        number = battle_number(name)
        if number is None:
            return None
        name = str(number)
    preview = await site.find(kind, name)
    return Linked(f"/{kind}/{quote(name, safe='')}", preview) if preview else None


@cache
def _parts(page: bytes) -> list[bytes]:
    """Split the page at its preview tags; odd items of the result are the names of these tags."""
    return _PREVIEW.split(page)


def with_open_graph_tags(page: bytes, shared: Linked, base: str, *, may_embed: bool) -> bytes:
    """Insert the preview of a link into the page's head, escaped.

    Args:
        page: HTML of the page.
        shared: the board, battle or tournament behind the link.
        base: base URL of the page; "" if unknown, which leaves out tags that need absolute URLs.
        may_embed: whether to add the discovery link for oEmbed.
    """
    words = {
        b"title": f"{shared.preview.title} \N{EN DASH} Thud",
        b"description": shared.preview.description,
    }
    parts = list(_parts(page))
    for place in range(1, len(parts), 2):
        tag = parts[place]
        parts[place] = b'%s" content="%s"' % (tag, html.escape(words[tag]).encode())
    tags = []
    if base:
        link = f"{base}{shared.path}"
        tags.append(f'<meta property="og:url" content="{html.escape(link)}">')
        if shared.has_board and can_draw_pixels():
            tags += [
                f'<meta property="og:image" content="{html.escape(link)}.png">',
                f'<meta property="og:image:width" content="{SIZE}">',
                f'<meta property="og:image:height" content="{SIZE}">',
                '<meta name="twitter:card" content="summary_large_image">',
            ]
        if shared.has_board and may_embed:
            asked = html.escape(f"{base}/oembed?url={quote(link, safe='')}")
            tags.append(f'<link rel="alternate" type="application/json+oembed" href="{asked}">')
    added = "".join(f"{each}\n" for each in tags).encode()
    return b"".join(parts).replace(_BEHIND, added + _BEHIND, 1)


async def frame_response(
    request: HttpRequest, where: str, name: str, *, site: Site
) -> HttpResponse:
    """Respond to a request for a frame, such as ``/embed/game/12``."""
    try:
        shared = await find_linked(where, name, site) if site.embed else None
    except PreviewUnavailableError:
        return plain(HTTPStatus.SERVICE_UNAVAILABLE, _UNAVAILABLE)
    if shared is None:
        return plain(HTTPStatus.NOT_FOUND, "There is nothing to embed here.")
    fields = {
        "Content-Type": "text/html; charset=utf-8",
        "Cache-Control": "no-cache",
        "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none';"
        f" frame-ancestors {' '.join(sorted(site.embed))}; object-src 'none'",
        "Cross-Origin-Resource-Policy": "cross-origin",
    }
    return HttpResponse(HTTPStatus.OK, fields, _frame_page(shared, request).encode())


def _frame_page(shared: Linked, request: HttpRequest) -> str:
    chosen = request.args
    known = {"record": f"{shared.path}.thud", "link": shared.path, "live": "5"}
    if battle := _PLY.fullmatch(f"ply={chosen.get('ply', '')}"):
        known["ply"] = battle[1]
    for name, values in (("side", ("north",)), ("theme", ("light", "dark")), ("scheme", SCHEMES)):
        if chosen.get(name) in values:
            known[name] = chosen[name]
    attributes = " ".join(f'{name}="{html.escape(text)}"' for name, text in known.items())
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="robots" content="noindex">\n'
        f"<title>{html.escape(shared.preview.title)} \N{EN DASH} Thud</title>\n"
        '<link rel="icon" href="/icon.svg" type="image/svg+xml">\n'
        '<link rel="stylesheet" href="/embed.css">\n'
        '<script type="module" src="/thud-game.js"></script>\n'
        f"</head>\n<body>\n<thud-game {attributes}></thud-game>\n</body>\n</html>\n"
    )


async def oembed_response(request: HttpRequest, *, site: Site) -> HttpResponse:
    """Respond to an oEmbed consumer request (https://oembed.com)."""
    asked, base = request.args, base_of(request, site)
    try:
        link = urlsplit(asked.get("url", ""))
    except ValueError:
        return plain(HTTPStatus.BAD_REQUEST, "Expected an address.")
    if asked.get("format", "json") != "json":
        return plain(HTTPStatus.NOT_IMPLEMENTED, "Only JSON is available.")
    hosts = {urlsplit(base).netloc.lower(), request.fields.get("host", "").lower()} - {""}
    found = _LINK.fullmatch(link.path) if link.netloc.lower() in hosts and site.embed else None
    try:
        shared = await find_linked(found[1], unquote(found[2]), site) if found else None
    except PreviewUnavailableError:
        return plain(HTTPStatus.SERVICE_UNAVAILABLE, _UNAVAILABLE)
    if shared is None:
        return plain(HTTPStatus.NOT_FOUND, "There is no such board or battle.")
    told = _oembed_data(
        shared, base, link.fragment, _max_size(asked, "maxwidth"), _max_size(asked, "maxheight")
    )
    fields = {
        "Content-Type": "application/json",
        "Cache-Control": "no-cache",
        **cors_fields(site.embed, request),
    }
    return HttpResponse(HTTPStatus.OK, fields, json.dumps(told).encode())


def _max_size(asked: Mapping[str, str], name: str) -> int:
    said = asked.get(name, "")
    return int(said) if re.fullmatch("[1-9][0-9]{0,4}", said, re.ASCII) else 10_000


def _oembed_data(
    shared: Linked, base: str, fragment: str, max_width: int, max_height: int
) -> dict[str, object]:
    width, height = min(WIDTH, max_width), min(HEIGHT, max_height)
    title = f"{shared.preview.title} \N{EN DASH} Thud"
    told: dict[str, object] = {
        "version": "1.0",
        "type": "rich",
        "provider_name": "Thud",
        "provider_url": f"{base}/",
        "title": title,
        "width": width,
        "height": height,
        "html": snippet(f"{base}/embed{shared.path}", fragment, title, width, height),
    }
    # The maximum size holds for the thumbnail as well (oEmbed, section 2.3.4).
    if can_draw_pixels() and max_width >= SIZE <= max_height:
        picture = {"url": f"{base}{shared.path}.png", "width": SIZE, "height": SIZE}
        told |= {f"thumbnail_{key}": each for key, each in picture.items()}
    return told


def snippet(address: str, fragment: str, title: str, width: int, height: int) -> str:
    """Return the HTML that embeds a frame in another page.

    Args:
        address: URL of the frame.
        fragment: fragment of the shared link; ``ply=17`` selects a position.
        title: title of the frame.
        width: width in pixels.
        height: height in pixels.
    """
    if ply := _PLY.fullmatch(fragment):
        address += f"?ply={ply[1]}"
    return (
        f'<iframe src="{html.escape(address)}" title="{html.escape(title)}" width="{width}"'
        f' height="{height}" style="border:0;max-width:100%" loading="lazy"></iframe>'
    )
