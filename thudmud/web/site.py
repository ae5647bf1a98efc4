"""The files of the page, and what is answered to who asks for one."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from pathlib import Path, PurePosixPath

from thudmud.values import value
from thudmud.web.http import HttpRequest, plain, response
from thudmud.web.mpackage import NAME, mpackage

SOCKET = "/ws"
"""Where the WebSocket is."""

_FOLDER = Path(__file__).parent / "page"
_INDEX = "/index.html"

_TAKES_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", re.IGNORECASE)

_LINKS = re.compile(r"/(?:board|game)/[^/]+")
"""What players share: the page opens there at a board, or at a battle that was played."""

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
        body: what is in it.
        packed: the same by gzip.
        kind: its media type.
        tag: tells one version of it from another, packed or not (RFC 9110, section 8.8.3).
    """

    body: bytes
    packed: bytes
    kind: str
    tag: str


@cache
def files() -> Mapping[str, File]:
    """Return the files of the page, and Mudlet's package, by the paths that they are asked for by.

    Those of the page are read once.
    """
    bodies = {
        PurePosixPath(path.relative_to(_FOLDER)): path.read_bytes()
        for path in sorted(_FOLDER.rglob("*"))
        if path.suffix in KINDS and path.is_file()
    }
    bodies[PurePosixPath(NAME)] = mpackage()
    return {f"/{path}": _file(body, KINDS[path.suffix]) for path, body in bodies.items()}


def _file(body: bytes, kind: str) -> File:
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:16]}"'
    return File(body, gzip.compress(body, mtime=0), kind, tag)


def answer(request: HttpRequest, site: Mapping[str, File]) -> bytes:
    """Return the response to a request for one of the files."""
    keeps, is_sent = request.keeps, request.method != "HEAD"
    if request.method not in {"GET", "HEAD"}:
        sentence, allowed = "This can be read, no more.", {"Allow": "GET, HEAD"}
        return plain(HTTPStatus.METHOD_NOT_ALLOWED, sentence, allowed, keeps=keeps)
    is_index = request.path == "/" or _LINKS.fullmatch(request.path)
    file = site.get(_INDEX if is_index else request.path)
    if file is None:
        sentence = "There is nothing here. The game is at /."
        return plain(HTTPStatus.NOT_FOUND, sentence, keeps=keeps, is_sent=is_sent)
    # A browser asks each time whether it has changed: names stay, and nobody plays by old files.
    fields = {"Content-Type": file.kind, "Cache-Control": "no-cache", "ETag": file.tag}
    if file.tag in request.fields.get("if-none-match", ""):
        return response(HTTPStatus.NOT_MODIFIED, fields, keeps=keeps)
    body, fields["Vary"] = file.body, "Accept-Encoding"
    if _TAKES_GZIP.search(request.fields.get("accept-encoding", "")):
        body, fields["Content-Encoding"] = file.packed, "gzip"
    return response(HTTPStatus.OK, fields, body, keeps=keeps, is_sent=is_sent)
