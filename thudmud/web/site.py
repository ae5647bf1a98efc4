"""The files of the page, and the answers to requests for them."""

from __future__ import annotations

import gzip
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
from thudmud.web.http import HttpRequest, HttpResponse
from thudmud.web.mpackage import NAME, mpackage
from thudmud.web.pictures import Site
from thudmud.web.sharing import base_of, linked, told_in
from thudmud.web.viewer import NAME as VIEWER
from thudmud.web.viewer import bundle

_FOLDER = Path(__file__).parent / "page"
INDEX = "/index.html"
_PIECES = b"<!-- pieces.svg -->"
"""Where the page has the pieces."""


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
        path.relative_to(_FOLDER).as_posix(): path.read_bytes()
        for path in sorted(_FOLDER.rglob("*"))
        if path.suffix in KINDS and path.is_file()
    }
    bodies |= {NAME: mpackage(), VIEWER: bundle(), "icon.svg": icon(Piece.TROLL).encode()}
    page = bodies["index.html"].replace(_PIECES, bodies["pieces.svg"])
    flags = f' data-features="{" ".join(features)}"' + (" data-pixels" if draws_pixels() else "")
    page = page.replace(b'<html lang="en"', f'<html lang="en"{flags}'.encode())
    bodies["index.html"] = page
    return {f"/{path}": _file(path, body) for path, body in bodies.items()}


def _file(path: str, body: bytes) -> File:
    return File(body, KINDS[PurePosixPath(path).suffix], _tag(body))


def _tag(content: bytes) -> str:
    return f'W/"{sha256(content).hexdigest()[:16]}"'


def file_response(_: HttpRequest, file: File) -> HttpResponse:
    """Return the response to a request for a file."""
    # Browsers revalidate each time: the names stay the same, and old files must not be played with.
    fields = {"Content-Type": file.kind, "Cache-Control": "no-cache", "ETag": file.tag}
    return HttpResponse(HTTPStatus.OK, fields, file.body, packed=lambda: file.packed)


async def link_response(
    request: HttpRequest, where: str, name: str, *, site: Site, page: File
) -> HttpResponse:
    """Return the response to a link: the page, which says what it leads to."""
    shared = await linked(where, name, site)
    if shared is None:
        return file_response(request, page)
    # There are as many such pages as spellings of Host: none is hashed or compressed.
    base = base_of(request, site)
    fields = {
        "Content-Type": page.kind,
        "Cache-Control": "no-cache",
        "ETag": _tag(repr((page.tag, base, shared, bool(site.embed))).encode()),
        "Vary": "Accept-Encoding",
    }
    body = told_in(page.body, shared, base, may_embed=bool(site.embed))
    return HttpResponse(HTTPStatus.OK, fields, body)
