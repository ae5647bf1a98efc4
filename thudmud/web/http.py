"""HTTP request and response objects, and the server's own rules for both.

h11 parses and serializes messages (RFC 9112); werkzeug does the same for header fields (RFC 9110).
`read_request` validates a request that h11 has parsed, and `finish` completes each response before
h11 serializes it. Section numbers refer to RFC 9110 unless another source is named. Everything here
is pure, apart from the ``Date`` field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Mapping
from http import HTTPMethod, HTTPStatus
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote

import h11
from werkzeug.datastructures import Headers
from werkzeug.exceptions import (
    BadRequest,
    HTTPException,
    HTTPVersionNotSupported,
    MethodNotAllowed,
)
from werkzeug.exceptions import NotImplemented as MethodUnknownError
from werkzeug.http import http_date
from werkzeug.sansio.http import is_resource_modified
from werkzeug.sansio.request import Request
from werkzeug.sansio.response import Response

NO_FIELDS: Mapping[str, str] = MappingProxyType({})

SECURITY = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'; object-src 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Security header fields, added to every response that doesn't set its own."""

_METHODS = set(HTTPMethod) - {HTTPMethod.CONNECT}
_TARGET = re.compile(r"(?:(https?)://([^/?#@]+))?((?:/[^?]*)?)(?:\?(.*))?", re.IGNORECASE)
_HOST = re.compile(r"(?:[\w.~!$&'()*+;=%-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?", re.ASCII)

_NOT_STRICT = re.compile(rb"[\0\v\f]|\r(?!\n|\Z)|(?<!\r)\n|\n[ \t]")

_SENTENCES = {
    HTTPStatus.BAD_REQUEST: "Expected an HTTP/1.1 request.",
    HTTPStatus.NOT_FOUND: "Page not found. The game is at /.",
    HTTPStatus.METHOD_NOT_ALLOWED: "This can only be read: use GET or HEAD.",
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: "That request is too long for this server.",
    HTTPStatus.NOT_IMPLEMENTED: "This server doesn't support that method.",
    HTTPStatus.HTTP_VERSION_NOT_SUPPORTED: "This server speaks HTTP/1.1.",
}


class HttpRequest(Request):
    """An HTTP request without its body.

    Args:
        fields: header fields by lower-case name; fields of the same name are joined by commas.
        path: percent-decoded path.
        query: query string, still encoded.
        is_gone: returns whether the client has hung up.

    Attributes:
        has_body: whether the message has a body, which the server ignores.
    """

    def __init__(
        self,
        method: str,
        path: str,
        fields: Mapping[str, str] = NO_FIELDS,
        *,
        query: str = "",
        version: str = "1.1",
        is_gone: Callable[[], bool] = lambda: False,
    ) -> None:
        headers, self.fields = Headers(fields), fields
        super().__init__(method, "http", None, "", path, query.encode(), headers, None)
        self.version, self.is_gone = version, is_gone
        length = fields.get("content-length", "0")
        self.has_body = "transfer-encoding" in fields or length.strip("0") != ""

    @property
    def address(self) -> str:
        """Client address of the request; "" before it is known."""
        return self.remote_addr or ""


class HttpResponse(Response):
    """An HTTP response with its cost.

    Attributes:
        packed: returns the gzip-compressed body; None if the body isn't worth compressing.
        cost: additional charge to the client's budget, in requests, apart from the bytes.
    """

    def __init__(
        self,
        status: int,
        fields: Mapping[str, str] = NO_FIELDS,
        body: bytes = b"",
        *,
        packed: Callable[[], bytes] | None = None,
        cost: int = 0,
    ) -> None:
        super().__init__(status, fields)
        self.body, self.packed, self.cost = body, packed, cost


Answer = HttpResponse | Coroutine[Any, Any, HttpResponse]
"""A response, or a coroutine that computes a slow one."""


def plain(
    status: int, sentence: str, fields: Mapping[str, str] = NO_FIELDS, *, cost: int = 0
) -> HttpResponse:
    """Return a plain-text response with one sentence, not to be cached unless `fields` say so."""
    known = {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store", **fields}
    return HttpResponse(status, known, f"{sentence}\n".encode(), cost=cost)


def refusal(error: HTTPException | h11.RemoteProtocolError) -> HttpResponse:
    """Return the error response for a rejected request."""
    if isinstance(error, h11.RemoteProtocolError):
        status = HTTPStatus(error.error_status_hint)
    else:
        status = HTTPStatus(error.code or HTTPStatus.INTERNAL_SERVER_ERROR)
    response = plain(status, _SENTENCES.get(status, f"{status.phrase}."))
    if isinstance(error, MethodNotAllowed):
        response.headers["Allow"] = ", ".join(sorted(error.valid_methods or ()))
    return response


def require_strict_head(received: bytes) -> None:
    """Reject invalid bytes of a request head that are tolerated by h11.

    h11 accepts a bare LF and folded lines. A server in front of this one may parse them otherwise,
    which would allow request smuggling (RFC 9112, sections 2.2 and 5.2). In addition, blanks before
    a NUL take h11 quadratic time.

    Args:
        received: part of a head, preceded by up to three bytes of the part before it, without a
            leading LF. Bytes after the end of the head are not checked.

    Raises:
        BadRequest: a control character, a bare CR or LF, or a folded line.
    """
    if _NOT_STRICT.search(received.partition(b"\r\n\r\n")[0]):
        raise BadRequest


def read_request(event: h11.Request, is_gone: Callable[[], bool]) -> HttpRequest:
    """Validate a request head parsed by h11.

    Args:
        event: the head as parsed by h11.
        is_gone: returns whether the client has hung up.

    Raises:
        HTTPException: the version, method, framing, target or host is not accepted.
    """
    fields: dict[str, str] = {}
    for raw_name, raw_value in event.headers:
        name, value = raw_name.decode(), raw_value.decode("latin-1")
        fields[name] = f"{fields[name]}, {value}" if name in fields else value
    method, version = event.method.decode(), event.http_version.decode()
    if not version.startswith("1."):
        raise HTTPVersionNotSupported
    if method not in _METHODS:
        raise MethodUnknownError
    if "content-length" in fields and "transfer-encoding" in fields:  # RFC 9112, section 6.1
        raise BadRequest
    target = event.target.decode()
    found = _TARGET.fullmatch(target)
    if found is None or not (found[1] or found[3]):
        if (method, target) != ("OPTIONS", "*"):  # RFC 9112, section 3.2
            raise BadRequest
        return HttpRequest(method, target, fields, version=version, is_gone=is_gone)
    scheme, host, path, query = found.groups("")
    if scheme:
        fields["host"] = host  # an absolute target overrides Host: RFC 9112, section 3.2.2
    if not _HOST.fullmatch(fields.get("host", "")):
        raise BadRequest
    path = unquote(path) or "/"
    return HttpRequest(method, path, fields, query=query, version=version, is_gone=is_gone)


def compress(request: HttpRequest, response: HttpResponse) -> None:
    """Compress a compressible body if the client accepts gzip (section 12.5.3)."""
    if response.packed:
        response.vary.add("Accept-Encoding")
        if request.accept_encodings.quality("gzip"):
            response.body = response.packed()
            response.headers["Content-Encoding"] = "gzip"


def revalidate(request: HttpRequest, response: HttpResponse) -> None:
    """Answer 304, without the body and its fields, if the client's copy is current (13.1.2)."""
    if response.status_code == HTTPStatus.OK and has_current(request, response.headers.get("ETag")):
        response.status_code, response.body = HTTPStatus.NOT_MODIFIED, b""
        for name in ("Content-Type", "Content-Encoding"):
            response.headers.pop(name, None)


def has_current(request: HttpRequest, tag: str | None) -> bool:
    """Return whether an entity tag matches the client's ``If-None-Match``."""
    known = request.fields.get("if-none-match")
    return bool(tag and known) and not is_resource_modified(http_if_none_match=known, etag=tag)


FINISHERS = (compress, revalidate)
"""Steps applied to each response to a valid request, in this order."""


def finish(response: HttpResponse, request: HttpRequest | None) -> None:
    """Complete a response in place: content coding, revalidation and security fields.

    Args:
        response: the response to complete.
        request: None if the request was invalid; then only the security fields are added.
    """
    if request:
        for step in FINISHERS:
            step(request, response)
    own = set(response.headers.keys(lower=True))
    fields = [each for each in SECURITY.items() if each[0].lower() not in own]
    response.headers.extend(fields)  # faster than one `setdefault` per field


def serialize(response: HttpResponse, *, keep_alive: bool) -> h11.Response:
    """Convert the head of a response to an h11 event."""
    status = HTTPStatus(response.status_code)
    if status is HTTPStatus.NO_CONTENT:
        response.headers.pop("Content-Type", None)  # werkzeug always sets one
    fields = [*response.headers, ("Date", http_date())]
    # A 304 would need the length of the full body; a 204 must not have one (section 8.6).
    if status not in {HTTPStatus.NOT_MODIFIED, HTTPStatus.NO_CONTENT}:
        fields.append(("Content-Length", str(len(response.body))))
    if "Connection" not in response.headers:
        fields.append(("Connection", "keep-alive" if keep_alive else "close"))
    return h11.Response(status_code=status, reason=status.phrase, headers=fields)


def normalized_origin(origin: str) -> str:
    """Normalize an origin for comparison: lower case, without the scheme's default port.

    See RFC 6454, section 4; the default ports are 80 for ``http`` and 443 for ``https``. A trailing
    dot of the host is removed: it only marks a fully qualified name, as the page's own always is.
    """
    origin = origin.lower()
    origin = origin.removesuffix(":443" if origin.startswith("https:") else ":80")
    host, _, port = origin.rpartition(":")
    return f"{host.removesuffix('.')}:{port}" if port.isdecimal() else origin.removesuffix(".")
