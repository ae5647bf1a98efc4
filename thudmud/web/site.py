"""The files of the page, and the answers to requests for them."""

from __future__ import annotations

import gzip
import hashlib
import html
import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from thudmud.values import value
from thudmud.web.http import HttpRequest, plain, response
from thudmud.web.mpackage import NAME, mpackage

SOCKET = "/ws"
"""The path of the WebSocket."""

_DIGITS = 12
"""More digits than a battle's number has."""

_FOLDER = Path(__file__).parent / "page"
_INDEX = "/index.html"

_TAKES_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", re.IGNORECASE)

_LINKS = re.compile(r"/(board|game)/([^/]+)")
"""Links that players share: the page opens at a board, or at a past battle."""

_PREVIEW = re.compile(rb'(?<=<meta property="og:)(title|description)" content="[^"]*"')
"""The tags that messengers show of a link."""

KINDS = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mp3": "audio/mpeg",
    ".mpackage": "application/zip",
    ".ogg": "audio/ogg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wav": "audio/wav",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}


@value
class File:
    """A file of the page.

    Attributes:
        body: its contents.
        packed: the contents compressed by gzip.
        kind: its media type.
        tag: its entity tag, packed or not (RFC 9110, section 8.8.3).
    """

    body: bytes
    packed: bytes
    kind: str
    tag: str


@value
class Preview:
    """The preview of a link, as messengers show it.

    Attributes:
        title: the title.
        description: a sentence.
    """

    title: str
    description: str

    def put_into(self, page: bytes) -> bytes:
        """Return the page with this in its head, escaped."""
        words = {b"title": f"{self.title} \N{EN DASH} Thud", b"description": self.description}

        def filled(tag: re.Match[bytes]) -> bytes:
            return b'%s" content="%s"' % (tag[1], html.escape(words[tag[1]]).encode())

        return _PREVIEW.sub(filled, page)


def _preview(kind: str, name: str, find_board: Callable[[str], Preview | None]) -> Preview | None:
    """Return the preview of a link, if there is something at it."""
    if kind == "board":
        return find_board(unquote(name))
    if not (name.isascii() and name.isdecimal() and len(name) < _DIGITS):
        return None
    battle = f"Battle {int(name)}"
    return Preview(battle, f"{battle} of Thud, dwarfs against trolls: step through it, ply by ply.")


@cache
def files() -> Mapping[str, File]:
    """Return the files of the page, and Mudlet's package, by their paths.

    The files are read once.
    """
    bodies = {
        PurePosixPath(path.relative_to(_FOLDER)): path.read_bytes()
        for path in sorted(_FOLDER.rglob("*"))
        if path.suffix in KINDS and path.is_file()
    }
    bodies[PurePosixPath(NAME)] = mpackage()
    return {f"/{path}": _file(body, KINDS[path.suffix]) for path, body in bodies.items()}


@lru_cache(maxsize=64)  # a link that is sent to many is packed once
def _file(body: bytes, kind: str) -> File:
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:16]}"'
    return File(body, gzip.compress(body, mtime=0), kind, tag)


def _nowhere(_: str) -> None:
    return None


def answer(
    request: HttpRequest,
    site: Mapping[str, File],
    find_board: Callable[[str], Preview | None] = _nowhere,
) -> bytes:
    """Return the response to a request for one of the files.

    Args:
        request: the request.
        site: the files.
        find_board: returns the preview of a board, by its name, if there is one.
    """
    keeps, is_sent = request.keeps, request.method != "HEAD"
    if request.method not in {"GET", "HEAD"}:
        sentence, allowed = "This can be read, no more.", {"Allow": "GET, HEAD"}
        return plain(HTTPStatus.METHOD_NOT_ALLOWED, sentence, allowed, keeps=keeps)
    link = _LINKS.fullmatch(request.path)
    file = site.get(_INDEX if link or request.path == "/" else request.path)
    if file and link and (preview := _preview(link[1], link[2], find_board)):
        file = _file(preview.put_into(file.body), file.kind)
    if file is None:
        sentence = "There is nothing here. The game is at /."
        return plain(HTTPStatus.NOT_FOUND, sentence, keeps=keeps, is_sent=is_sent)
    # Browsers revalidate each time: the names stay the same, and old files must not be played with.
    fields = {"Content-Type": file.kind, "Cache-Control": "no-cache", "ETag": file.tag}
    if file.tag in request.fields.get("if-none-match", ""):
        return response(HTTPStatus.NOT_MODIFIED, fields, keeps=keeps)
    body, fields["Vary"] = file.body, "Accept-Encoding"
    if _TAKES_GZIP.search(request.fields.get("accept-encoding", "")):
        body, fields["Content-Encoding"] = file.packed, "gzip"
    return response(HTTPStatus.OK, fields, body, keeps=keeps, is_sent=is_sent)
