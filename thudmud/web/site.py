"""The files of the page, and the answers to requests for them."""

from __future__ import annotations

import gzip
import hashlib
import html
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from thudmud.pictures.pieces import icon
from thudmud.rules.moves import Piece
from thudmud.values import value
from thudmud.web.http import HttpRequest, plain, response
from thudmud.web.mpackage import NAME, mpackage

SOCKET = "/ws"
"""The path of the WebSocket."""

_DIGITS = 12
"""More digits than a battle's number has."""

_FOLDER = Path(__file__).parent / "page"
_INDEX = "/index.html"
_PIECES = b"<!-- pieces.svg -->"
"""Where the page has the pieces."""

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
    """The preview of a link, as messengers show it."""

    title: str
    description: str

    def put_into(self, page: bytes) -> bytes:
        """Return the page with this in its head, escaped."""
        words = {b"title": f"{self.title} \N{EN DASH} Thud", b"description": self.description}

        def filled(tag: re.Match[bytes]) -> bytes:
            return b'%s" content="%s"' % (tag[1], html.escape(words[tag[1]]).encode())

        return _PREVIEW.sub(filled, page)


def board_linked(path: str) -> str:
    """Return the words for a board that a link has, if it leads to one; else nothing."""
    link = _LINKS.fullmatch(path)
    return unquote(link[2]) if link and link[1] == "board" else ""


def battle_linked(path: str) -> int | None:
    """Return the number of the battle that a link leads to, if it does."""
    link = _LINKS.fullmatch(path)
    if not (link and link[1] == "game"):
        return None
    name = link[2]
    return int(name) if name.isascii() and name.isdecimal() and len(name) < _DIGITS else None


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
    bodies[PurePosixPath("icon.svg")] = icon(Piece.TROLL).encode()
    page, pieces = PurePosixPath("index.html"), PurePosixPath("pieces.svg")
    bodies[page] = bodies[page].replace(_PIECES, bodies[pieces])
    return {f"/{path}": _file(body, KINDS[path.suffix]) for path, body in bodies.items()}


@lru_cache(maxsize=64)  # a link that is sent to many is packed once
def _file(body: bytes, kind: str) -> File:
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:16]}"'
    return File(body, gzip.compress(body, mtime=0), kind, tag)


def answer(request: HttpRequest, site: Mapping[str, File], preview: Preview | None = None) -> bytes:
    """Return the response to a request for one of the files.

    Args:
        request: the request.
        site: the files.
        preview: the preview of the board or battle that a link leads to, if there is one.
    """
    keeps, is_sent = request.keeps, request.method != "HEAD"
    if request.method not in {"GET", "HEAD"}:
        sentence, allowed = "This can be read, no more.", {"Allow": "GET, HEAD"}
        return plain(HTTPStatus.METHOD_NOT_ALLOWED, sentence, allowed, keeps=keeps)
    is_page = request.path == "/" or _LINKS.fullmatch(request.path)
    file = site.get(_INDEX if is_page else request.path)
    if file and preview:
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
