"""Static files of the page, and the responses that serve them."""

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
from thudmud.pictures.pixels import can_draw_pixels
from thudmud.rules.moves import Piece
from thudmud.values import Value, replace
from thudmud.web.http import HttpRequest, HttpResponse
from thudmud.web.mpackage import NAME, mpackage
from thudmud.web.pictures import PreviewUnavailableError, Site
from thudmud.web.sharing import base_of, find_linked, with_open_graph_tags
from thudmud.web.styles import with_plain_colours
from thudmud.web.viewer import NAME as VIEWER
from thudmud.web.viewer import bundle

_FOLDER = Path(__file__).parent / "page"
INDEX, MISSING = "/index.html", "/missing.html"
_SENTENCE = "There's nothing at this address."
"""Sentence in ``missing.html``, which says more where more is known."""

_MISSING = {
    "board": "There's no such board. It may have been closed: the hall lists those that are open.",
    "game": "There's no such battle. The hall lists the latest ones.",
    "lesson": "There's no such lesson. The list of lessons has them all.",
    "puzzle": "There's no such puzzle. The list of lessons and puzzles has them all.",
    "tournament": "There's no such tournament. The hall lists those that are coming or under way.",
}
_PIECES = b"<!-- pieces.svg -->"
"""Placeholder in ``index.html`` for the drawings of the pieces."""

_LOADED = re.compile(rb'(?<=href="|.src=")/(?=[\w-]+\.(?:css|js|svg|png|ico)")')
_IMPORTED = re.compile(rb'^(?:import|export)\b[^;]*?"\./([\w-]+\.js)"', re.MULTILINE)
_SCRIPT = b'<script type="module"'

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
    """A static file with its media type and entity tag.

    The tag is weak, so that it holds for the compressed body too (RFC 9110, section 8.8.3).

    Attributes:
        is_immutable: whether the file never changes, because its path contains a hash.
    """

    body: bytes
    kind: str
    tag: str
    is_immutable: bool = False

    @property
    def packed(self) -> bytes:
        """The body compressed by gzip; computed on first use and cached."""
        return _packed(self)


@cache
def _packed(file: File) -> bytes:
    return gzip.compress(file.body, mtime=0)


@cache
def files(features: tuple[str, ...] = NAMES) -> Mapping[str, File]:
    """Return the static files by path, including Mudlet's package and the viewer.

    The result is computed on first use and cached. The page hides the buttons of features that
    aren't listed. Every style sheet, script and picture has a second path, with a hash of all files
    in it. Browsers cache those without revalidation, and never mix the files of two versions.
    """
    bodies = {
        path.relative_to(_FOLDER).as_posix(): path.read_bytes()
        for path in sorted(_FOLDER.rglob("*"))
        if path.suffix in KINDS and path.is_file()
    }
    bodies |= {
        name: with_plain_colours(body.decode()).encode()
        for name, body in bodies.items()
        if name.endswith(".css")
    }
    bodies |= {NAME: mpackage(), VIEWER: bundle(), "icon.svg": icon(Piece.TROLL).encode()}
    version = sha256(repr(bodies).encode()).hexdigest()[:12]
    page = bodies["index.html"].replace(_PIECES, bodies["pieces.svg"])
    flags = f' data-features="{" ".join(features)}"' + (" data-pixels" if can_draw_pixels() else "")
    page = page.replace(b'<html lang="en"', f'<html lang="en"{flags}'.encode())
    preloads = "".join(
        f'<link rel="modulepreload" href="/{name}">\n' for name in _modules("main.js", bodies)[1:]
    )
    page = page.replace(_SCRIPT, preloads.encode() + _SCRIPT, 1)
    bodies["index.html"] = _LOADED.sub(f"/{version}/".encode(), page)
    bodies["missing.html"] = _LOADED.sub(f"/{version}/".encode(), bodies["missing.html"])
    found = {f"/{path}": _file(path, body) for path, body in bodies.items()}
    return found | {
        f"/{version}{path}": replace(file, is_immutable=True)
        for path, file in found.items()
        if path.endswith((".css", ".js", ".svg", ".png", ".ico"))
    }


def _modules(first: str, bodies: Mapping[str, bytes]) -> list[str]:
    """Return a module and its direct and indirect imports, breadth first."""
    order = [first]
    for name in order:  # the list grows during the iteration
        found = (each.decode() for each in _IMPORTED.findall(bodies[name]))
        order += [each for each in dict.fromkeys(found) if each not in order]
    return order


def _file(path: str, body: bytes) -> File:
    return File(body, KINDS[PurePosixPath(path).suffix], _tag(body))


def _tag(content: bytes) -> str:
    return f'W/"{sha256(content).hexdigest()[:16]}"'


def file_response(_: HttpRequest, file: File) -> HttpResponse:
    """Respond to a request for a static file."""
    cached = "public, max-age=31536000, immutable" if file.is_immutable else "no-cache"
    fields = {"Content-Type": file.kind, "Cache-Control": cached, "ETag": file.tag}
    return HttpResponse(HTTPStatus.OK, fields, file.body, packed=lambda: file.packed)


def missing_response(page: File, where: str = "") -> HttpResponse:
    """Respond to a request for a page that doesn't exist.

    Args:
        page: the file ``missing.html``.
        where: the first part of a link such as ``/game/3``, else "".
    """
    fields = {"Content-Type": page.kind, "Cache-Control": "no-store"}
    words = _MISSING.get(where, _SENTENCE)
    body = page.body.replace(_SENTENCE.encode(), words.encode())
    return HttpResponse(HTTPStatus.NOT_FOUND, fields, body)


async def link_response(
    request: HttpRequest, where: str, name: str, *, site: Site, page: File, missing: File
) -> HttpResponse:
    """Respond to a link to a board, battle and so on: the page, with a preview in its head."""
    try:
        shared = await find_linked(where, name, site)
    except PreviewUnavailableError:
        return file_response(request, page)  # which says more once it is connected
    if shared is None:
        return missing_response(missing, where)
    # The client chooses Host, so these pages can't be cached here; hence neither is the body
    # hashed for the tag, nor is it compressed.
    base = base_of(request, site)
    fields = {
        "Content-Type": page.kind,
        "Cache-Control": "no-cache",
        "ETag": _tag(repr((page.tag, base, shared, bool(site.embed))).encode()),
        "Vary": "Accept-Encoding",
    }
    body = with_open_graph_tags(page.body, shared, base, may_embed=bool(site.embed))
    return HttpResponse(HTTPStatus.OK, fields, body)
