"""Static files of the page, and the responses that serve them."""

from __future__ import annotations

import gzip
import re
from base64 import b64encode
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
from thudmud.web.bundler import bundle_modules, bundle_styles, without_comments
from thudmud.web.http import SECURITY, HttpRequest, HttpResponse
from thudmud.web.mpackage import NAME, mpackage
from thudmud.web.pictures import PreviewUnavailableError, Site
from thudmud.web.sharing import base_of, find_linked, with_open_graph_tags
from thudmud.web.styles import with_plain_colours
from thudmud.web.viewer import NAME as VIEWER
from thudmud.web.viewer import bundle

_FOLDER = Path(__file__).parent / "page"
INDEX, MISSING = "/index.html", "/missing.html"
_SENTENCE = "There\u2019s nothing at this address."
"""Sentence in ``missing.html``, which says more where more is known."""

_MISSING = {
    "board": "There\u2019s no such board. It may have been closed: <a href='/'>the hall</a> "
    "lists those that are open.",
    "game": "There\u2019s no such battle. <a href='/'>The hall</a> lists the latest ones.",
    "player": "There\u2019s no such player, or they haven\u2019t finished a battle yet.",
    "challenge": "This challenge has been accepted or withdrawn. Ask for another link.",
    "lesson": "There\u2019s no such lesson. The list of lessons has them all.",
    "puzzle": "There\u2019s no such puzzle. The list of lessons and puzzles has them all.",
    "tournament": "There\u2019s no such tournament. <a href='/'>The hall</a> lists those that are "
    "coming or under way.",
}
_TITLE = "Page not found"
"""Title of ``missing.html``, unless there was a page."""

_MISSING_TITLES = {"challenge": "Challenge no longer open"}
_PIECES = b"<!-- pieces.svg -->"
"""Placeholder in ``index.html`` for the drawings of the pieces."""

_LOADED = re.compile(rb'(?<=href="|.src=")/(?=[\w-]+\.(?:css|js|svg|png|ico)")')
_STYLES = re.compile(rb'<link rel="stylesheet" href="/([\w-]+\.css)">\n')
_ELEMENT = re.compile(
    rb'<link rel="stylesheet" href="/[0-9a-f]+/(?P<style>[\w-]+\.css)">\n'
    rb'|<script(?P<type> type="module")? src="/[0-9a-f]+/(?P<script>[\w-]+\.js)"></script>\n'
)
"""An element that loads a style sheet or a script."""
_MAIN, _SCRIPT, _STYLE, _EARLY = "main.js", "thud.js", "thud.css", "early.js"
"""The page's first module, the bundles of its modules and style sheets, and its first script."""
START = "/start.html"
"""The start page with its script and styles inside, so that a first visit needs one request."""

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
        policy: Content-Security-Policy, if it isn't the usual one.
    """

    body: bytes
    kind: str
    tag: str
    is_immutable: bool = False
    policy: str = ""

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
    bodies |= _bundles(bodies)
    version = sha256(repr(bodies).encode()).hexdigest()[:12]
    page = bodies["index.html"].replace(_PIECES, bodies["pieces.svg"])
    flags = f' data-features="{" ".join(features)}"' + (" data-pixels" if can_draw_pixels() else "")
    page = page.replace(b'<html lang="en"', f'<html lang="en"{flags}'.encode())
    for name, body in (("index.html", page), ("missing.html", bodies["missing.html"])):
        bodies[name] = _LOADED.sub(f"/{version}/".encode(), _with_bundles(body))
    found = {f"/{path}": _file(path, body) for path, body in bodies.items()}
    early = without_comments(bodies[_EARLY].decode()).encode()
    found[START] = _start_page(bodies["index.html"], early, bodies, version)
    found[INDEX] = _inlined(bodies["index.html"], {_EARLY: early})
    return found | {
        f"/{version}{path}": replace(file, is_immutable=True)
        for path, file in found.items()
        if path.endswith((".css", ".js", ".svg", ".png", ".ico"))
    }


def _bundles(bodies: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the page's modules in one script, and its style sheets in one."""
    script = bundle_modules(_MAIN, lambda name: bodies[name].decode())
    sheets = _STYLES.findall(bodies["index.html"])
    style = bundle_styles(bodies[name.decode()].decode() for name in sheets)
    return {_SCRIPT: script.encode(), _STYLE: style.encode()}


def _with_bundles(page: bytes) -> bytes:
    """Return HTML that loads the bundles in place of single modules and style sheets."""
    before, *_, after = _STYLES.split(page)
    link = f'<link rel="stylesheet" href="/{_STYLE}">\n'.encode()
    return (before + link + after).replace(f'"/{_MAIN}"'.encode(), f'"/{_SCRIPT}"'.encode())


def _start_page(page: bytes, early: bytes, bodies: Mapping[str, bytes], version: str) -> File:
    """Return the page with all that it needs inside, and its bundles loaded later for others."""
    later = "".join(
        f'<link rel="prefetch" href="/{version}/{name}">\n' for name in (_SCRIPT, _STYLE)
    )
    # At the end, the script doesn't delay what is seen without it.
    script = _element(page, _SCRIPT)
    tag = script[0] if script else b""
    page = page.replace(tag, later.encode(), 1).replace(b"</body>", tag + b"</body>", 1)
    return _inlined(page, {_EARLY: early, _STYLE: bodies[_STYLE], _SCRIPT: bodies[_SCRIPT]})


def _element(page: bytes, name: str) -> re.Match[bytes] | None:
    """Return the element that loads a script or style sheet, if the page has it."""
    elements = _ELEMENT.finditer(page)
    return next((each for each in elements if name.encode() in each.groups()), None)


def _inlined(page: bytes, texts: Mapping[str, bytes]) -> File:
    """Return a page with scripts and style sheets in place of the elements that load them.

    The policy of the page allows just these, by their hashes (CSP Level 3, section 6.7.3.3).

    Raises:
        ValueError: a text has the end tag of its element.
    """
    hashes: dict[str, list[str]] = {"script": [], "style": []}
    for name, text in texts.items():
        kind = "style" if name.endswith(".css") else "script"
        if f"</{kind}".encode() in text.lower() or b"<!--" in text:
            raise ValueError(f"{name} can't be part of the page: it has an end tag or a comment")
        found = _element(page, name)
        if found:
            words = (kind.encode(), found["type"] or b"", text, kind.encode())
            page = page.replace(found[0], b"<%b%b>%b</%b>\n" % words)
        hashes[kind].append(f"'sha256-{b64encode(sha256(text).digest()).decode()}'")
    sources = "".join(
        f"; {kind}-src 'self' {' '.join(each)}" for kind, each in hashes.items() if each
    )
    policy = SECURITY["Content-Security-Policy"] + sources
    return replace(_file("index.html", page), policy=policy)


def _file(path: str, body: bytes) -> File:
    return File(body, KINDS[PurePosixPath(path).suffix], _tag(body))


def _tag(content: bytes) -> str:
    return f'W/"{sha256(content).hexdigest()[:16]}"'


def file_response(_: HttpRequest, file: File) -> HttpResponse:
    """Respond to a request for a static file."""
    cached = "public, max-age=31536000, immutable" if file.is_immutable else "no-cache"
    fields = {"Content-Type": file.kind, "Cache-Control": cached, "ETag": file.tag}
    fields |= {"Content-Security-Policy": file.policy} if file.policy else {}
    return HttpResponse(HTTPStatus.OK, fields, file.body, packed=lambda: file.packed)


def missing_response(page: File, where: str = "") -> HttpResponse:
    """Respond to a request for a page that doesn't exist.

    Args:
        page: the file ``missing.html``.
        where: the first part of a link such as ``/game/3``, else "".
    """
    fields = {"Content-Type": page.kind, "Cache-Control": "no-store"}
    words, title = _MISSING.get(where, _SENTENCE), _MISSING_TITLES.get(where, _TITLE)
    body = page.body.replace(_SENTENCE.encode(), words.encode())
    body = body.replace(_TITLE.encode(), title.encode())
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
        "Content-Security-Policy": page.policy,
    }
    body = with_open_graph_tags(page.body, shared, base, may_embed=bool(site.embed))
    return HttpResponse(HTTPStatus.OK, fields, body)
