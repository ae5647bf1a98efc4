"""The files of the page, and the answers to requests for them."""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path, PurePosixPath

from thudmud.features import NAMES
from thudmud.pictures.pieces import icon
from thudmud.pictures.pixels import draws_pixels
from thudmud.rules.moves import Piece
from thudmud.values import Value
from thudmud.web.http import HttpRequest, plain, response
from thudmud.web.mpackage import NAME, mpackage
from thudmud.web.sharing import LINK, Find, frame_of, oembed, shared_at, told_in
from thudmud.web.viewer import NAME as VIEWER
from thudmud.web.viewer import bundle

SOCKET = "/ws"
"""The path of the WebSocket."""

_FOLDER = Path(__file__).parent / "page"
_INDEX = "/index.html"
_TOURNAMENT = re.compile("/tournament/[0-9]{1,9}")
_PIECES = b"<!-- pieces.svg -->"
"""Where the page has the pieces."""

_TAKES_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", re.IGNORECASE)

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


class File(Value):
    """A file of the page; its media type and entity tag.

    The tag is the same, packed or not (RFC 9110, section 8.8.3).
    """

    body: bytes
    kind: str
    tag: str

    @property
    def packed(self) -> bytes:
        """The body compressed by gzip; computed on first use and cached."""
        return _packed(self)


@cache
def _packed(file: File) -> bytes:
    return gzip.compress(file.body, mtime=0)


@cache
def files(features: tuple[str, ...] = NAMES) -> Mapping[str, File]:
    """Return the files of the page, and Mudlet's package, by their paths.

    Read on first use, and cached. The page hides the buttons of features that aren't listed.
    """
    bodies = {
        PurePosixPath(path.relative_to(_FOLDER)): path.read_bytes()
        for path in sorted(_FOLDER.rglob("*"))
        if path.suffix in KINDS and path.is_file()
    }
    bodies[PurePosixPath(NAME)] = mpackage()
    bodies[PurePosixPath(VIEWER)] = bundle()
    bodies[PurePosixPath("icon.svg")] = icon(Piece.TROLL).encode()
    page, pieces = PurePosixPath("index.html"), PurePosixPath("pieces.svg")
    bodies[page] = bodies[page].replace(_PIECES, bodies[pieces])
    flags = f' data-features="{" ".join(features)}"' + (" data-pixels" if draws_pixels() else "")
    bodies[page] = bodies[page].replace(b'<html lang="en"', f'<html lang="en"{flags}'.encode())
    return {f"/{path}": _file(body, KINDS[path.suffix]) for path, body in bodies.items()}


def _file(body: bytes, kind: str) -> File:
    return File(body, kind, _tag(body))


def _tag(content: bytes) -> str:
    return f'W/"{sha256(content).hexdigest()[:16]}"'


def answer(
    request: HttpRequest,
    site: Mapping[str, File],
    find: Find = lambda _kind, _name: None,
    base: str = "",
    embed: frozenset[str] = frozenset(),
) -> bytes:
    """Return the response to a request for one of the files, or for a frame.

    ``base`` is where the page is for the client, such as ``https://example.org``.
    """
    keeps, is_sent = request.keeps, request.method != "HEAD"
    if request.method not in {"GET", "HEAD"}:
        sentence, allowed = "This can be read, no more.", {"Allow": "GET, HEAD"}
        return plain(HTTPStatus.METHOD_NOT_ALLOWED, sentence, allowed, keeps=keeps)
    framed = frame_of(request, embed, find) or oembed(request, base, embed, find)
    if framed:
        return framed
    is_link = LINK.fullmatch(request.path)
    is_page = is_link or request.path == "/" or _TOURNAMENT.fullmatch(request.path)
    file = site.get(_INDEX if is_page else request.path)
    shared = shared_at(request.path, find) if file and is_link else None
    if file and shared:
        # There are as many such pages as spellings of Host: none is hashed or compressed.
        tag = _tag(repr((file.tag, base, shared, bool(embed))).encode())
        page = told_in(file.body, shared, base, may_embed=bool(embed))
        file = File(page, file.kind, tag)
    if file is None:
        sentence = "There is nothing here. The game is at /."
        return plain(HTTPStatus.NOT_FOUND, sentence, keeps=keeps, is_sent=is_sent)
    # Browsers revalidate each time: the names stay the same, and old files must not be played with.
    fields = {"Content-Type": file.kind, "Cache-Control": "no-cache", "ETag": file.tag}
    fields["Vary"] = "Accept-Encoding"
    if request.has(file.tag):
        return response(HTTPStatus.NOT_MODIFIED, fields, keeps=keeps)
    body = file.body
    if not shared and _TAKES_GZIP.search(request.fields.get("accept-encoding", "")):
        body, fields["Content-Encoding"] = file.packed, "gzip"
    return response(HTTPStatus.OK, fields, body, keeps=keeps, is_sent=is_sent)
