"""HTTP requests and responses: what neither h11 nor werkzeug decides, as rules of this server.

h11 reads and writes messages (RFC 9112), and werkzeug header fields (RFC 9110). A request is
checked here as it comes from h11, and each response is finished by `finish` before h11 writes it.
Section numbers are those of RFC 9110, unless another is named. Pure, but for the date.
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
"""The security fields of every response."""

_METHODS = set(HTTPMethod) - {HTTPMethod.CONNECT}
_TARGET = re.compile(r"(?:(https?)://([^/?#@]+))?((?:/[^?]*)?)(?:\?(.*))?", re.IGNORECASE)
_HOST = re.compile(r"(?:[\w.~!$&'()*+;=%-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?", re.ASCII)

_NOT_STRICT = re.compile(rb"[\0\v\f]|\r(?!\n|\Z)|(?<!\r)\n|\n[ \t]")

_SENTENCES = {
    HTTPStatus.BAD_REQUEST: "That is no request of HTTP/1.1.",
    HTTPStatus.NOT_FOUND: "There is nothing here. The game is at /.",
    HTTPStatus.METHOD_NOT_ALLOWED: "This can be read, no more.",
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: "That request is longer than this server reads.",
    HTTPStatus.NOT_IMPLEMENTED: "This server has no such method.",
    HTTPStatus.HTTP_VERSION_NOT_SUPPORTED: "This server speaks HTTP/1.1.",
}


class HttpRequest(Request):
    """A request.

    Args:
        fields: the header fields, by names in lower case; several of one name are joined by commas.
        path: decoded, unlike the query.
        is_gone: returns whether the client has hung up.

    Attributes:
        has_body: whether a body belongs to it. It means nothing to us.
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
        """The address that it comes from; "" before it is known."""
        return self.remote_addr or ""


class HttpResponse(Response):
    """A response, and what it counts for, in requests, besides its bytes.

    Attributes:
        packed: returns the body compressed by gzip; None if it isn't worth that.
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
"""A response, or one that takes a while."""


def plain(
    status: int, sentence: str, fields: Mapping[str, str] = NO_FIELDS, *, cost: int = 0
) -> HttpResponse:
    """Return a response with a sentence as plain text."""
    known = {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store", **fields}
    return HttpResponse(status, known, f"{sentence}\n".encode(), cost=cost)


def refusal(error: HTTPException | h11.RemoteProtocolError) -> HttpResponse:
    """Return the response that says what is wrong with a request."""
    if isinstance(error, h11.RemoteProtocolError):
        status = HTTPStatus(error.error_status_hint)
    else:
        status = HTTPStatus(error.code or HTTPStatus.INTERNAL_SERVER_ERROR)
    response = plain(status, _SENTENCES.get(status, f"{status.phrase}."))
    if isinstance(error, MethodNotAllowed):
        response.headers["Allow"] = ", ".join(sorted(error.valid_methods or ()))
    return response


def require_strict_head(received: bytes) -> None:
    """Check bytes of the head of a request, as far as they belong to it.

    A part of a head is checked together with the last three bytes before it, without a leading LF.

    h11 would read a bare LF and a folded line, which another server in front of us may read
    otherwise (RFC 9112, sections 2.2 and 5.2); and for blanks before a NUL it takes quadratic time.

    Raises:
        BadRequest: there is something in it that no head has.
    """
    if _NOT_STRICT.search(received.partition(b"\r\n\r\n")[0]):
        raise BadRequest


def read_request(event: h11.Request, is_gone: Callable[[], bool]) -> HttpRequest:
    """Return the request of a message, which h11 has found well-formed.

    Raises:
        HTTPException: it is none that this server answers.
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
        fields["host"] = host  # it counts, not Host: RFC 9112, section 3.2.2
    if not _HOST.fullmatch(fields.get("host", "")):
        raise BadRequest
    path = unquote(path) or "/"
    return HttpRequest(method, path, fields, query=query, version=version, is_gone=is_gone)


def compress(request: HttpRequest, response: HttpResponse) -> None:
    """Compress a body for which that is worth it, if the client takes gzip (section 12.5.3)."""
    if response.packed:
        response.vary.add("Accept-Encoding")
        if request.accept_encodings.quality("gzip"):
            response.body = response.packed()
            response.headers["Content-Encoding"] = "gzip"


def revalidate(request: HttpRequest, response: HttpResponse) -> None:
    """Leave out what the client has already (section 13.1.2), and what only that is about."""
    if response.status_code == HTTPStatus.OK and has_current(request, response.headers.get("ETag")):
        response.status_code, response.body = HTTPStatus.NOT_MODIFIED, b""
        for name in ("Content-Type", "Content-Encoding"):
            response.headers.pop(name, None)


def has_current(request: HttpRequest, tag: str | None) -> bool:
    """Return whether the client has what an entity tag stands for."""
    known = request.fields.get("if-none-match")
    return bool(tag and known) and not is_resource_modified(http_if_none_match=known, etag=tag)


FINISHERS = (compress, revalidate)
"""What is done with each response to a request, in this order."""


def finish(response: HttpResponse, request: HttpRequest | None) -> None:
    """Finish a response; None stands for what was no request."""
    if request:
        for step in FINISHERS:
            step(request, response)
    own = set(response.headers.keys(lower=True))
    fields = [each for each in SECURITY.items() if each[0].lower() not in own]
    response.headers.extend(fields)  # faster than `setdefault` of each


def serialize(response: HttpResponse, *, keeps: bool) -> h11.Response:
    """Return the head of a response as h11 takes it."""
    status = HTTPStatus(response.status_code)
    if status is HTTPStatus.NO_CONTENT:
        response.headers.pop("Content-Type", None)  # werkzeug sets one
    fields = [*response.headers, ("Date", http_date())]
    # Of 304 it would be that of the whole; of 204 it is forbidden (section 8.6).
    if status not in {HTTPStatus.NOT_MODIFIED, HTTPStatus.NO_CONTENT}:
        fields.append(("Content-Length", str(len(response.body))))
    if "Connection" not in response.headers:
        fields.append(("Connection", "keep-alive" if keeps else "close"))
    return h11.Response(status_code=status, reason=status.phrase, headers=fields)


def normalized_origin(origin: str) -> str:
    """Return an origin as another spelling of it is compared: in lower case, without its own port.

    See RFC 6454, section 4; ports 80 and 443 are those of ``http`` and ``https``. A dot at the end
    of a name says that it is a whole one, as the page's own always is.
    """
    origin = origin.lower()
    origin = origin.removesuffix(":443" if origin.startswith("https:") else ":80")
    host, _, port = origin.rpartition(":")
    return f"{host.removesuffix('.')}:{port}" if port.isdecimal() else origin.removesuffix(".")
