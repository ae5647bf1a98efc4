"""HTTP/1.1, as far as a few small files need it: requests without a body.

Section numbers are those of RFC 9112, unless another is named. Pure but for the date of answers.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from email.utils import formatdate
from http import HTTPStatus
from types import MappingProxyType
from urllib.parse import parse_qs

from thudmud.values import Value

_LINE = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+) HTTP/1\.([01])", re.ASCII)
_LENGTH = re.compile(r"[0-9]+")
_ABSOLUTE = re.compile(r"https?://([^/?#@]+)([/?].*)?", re.ASCII | re.IGNORECASE)
_TAG = re.compile(r'(?:W/)?("[!#-~\x80-\xff]*")')
_FIELD = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\r\n\0]*)", re.ASCII)

END = b"\r\n\r\n"
"""The end of a request's head."""

SECURITY = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'; object-src 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""The security fields of every response."""


FindText = Callable[[], Awaitable[tuple[int, Mapping[str, str], str]]]
"""Returns a status, header fields, and a text: a sentence, if the fields have no Content-Type."""


class HttpRequest(Value):
    """A request.

    Attributes:
        fields: the header fields, by names in lower case; several of one name are joined by commas.
        keeps: whether the client may send another request on this connection.
    """

    method: str
    path: str
    fields: Mapping[str, str]
    keeps: bool
    has_body: bool
    query: str = ""

    @property
    def asked(self) -> dict[str, str]:
        """What the query says, the last word of each name; nothing if it says far too much."""
        try:
            named = parse_qs(self.query, max_num_fields=16)
        except ValueError:
            return {}
        return {name: words[-1] for name, words in named.items()}

    def has(self, tag: str) -> bool:
        """Return whether the client has what an entity tag stands for.

        Tags are compared weakly (RFC 9110, section 13.1.2); ``*`` is any.
        """
        known = self.fields.get("if-none-match", "")
        return known.strip() == "*" or tag.removeprefix("W/") in _TAG.findall(known)


def read_request(head: bytes) -> HttpRequest | None:
    """Return the request of a head, up to the empty line; None if it is invalid."""
    first, *lines = head.decode("latin-1").split("\r\n")
    found = _LINE.fullmatch(first)
    if found is None:
        return None
    method, target, minor = found.groups()
    values: dict[str, list[str]] = {}
    for line in lines:
        field = _FIELD.fullmatch(line)
        if field is None:
            return None
        # Blanks around the value are stripped here: matched lazily, they would take quadratic time.
        values.setdefault(field[1].lower(), []).append(field[2].strip(" \t"))
    fields = {name: ", ".join(each) for name, each in values.items()}
    if minor == "1" and ("host" not in fields or "," in fields["host"]):  # section 3.2
        return None
    lengths = {each.strip(" \t") for each in fields.get("content-length", "0").split(",")}
    if len(lengths) > 1 or not all(map(_LENGTH.fullmatch, lengths)):  # section 6.3
        return None
    if "content-length" in fields and "transfer-encoding" in fields:  # section 6.1
        return None
    if absolute := _ABSOLUTE.fullmatch(target):  # sections 3.2.2 and 3.3: it counts, not Host
        fields["host"], target = absolute[1], absolute[2] or "/"
        target = target if target.startswith("/") else f"/{target}"
    connection = {each.strip().lower() for each in fields.get("connection", "").split(",")}
    has_body = lengths != {"0"} or "transfer-encoding" in fields
    keeps = minor == "1" and "close" not in connection and not has_body
    path, _, query = target.partition("?")
    return HttpRequest(method, path, fields, keeps, has_body, query)


def normalized_origin(origin: str) -> str:
    """Return an origin as another spelling of it is compared: in lower case, without its own port.

    See RFC 6454, section 4; ports 80 and 443 are those of ``http`` and ``https``. A dot at the end
    of a name says that it is a whole one, as the page's own always is.
    """
    origin = origin.lower()
    origin = origin.removesuffix(":443" if origin.startswith("https:") else ":80")
    host, _, port = origin.rpartition(":")
    return f"{host.removesuffix('.')}:{port}" if port.isdecimal() else origin.removesuffix(".")


def response(
    status: HTTPStatus,
    fields: Mapping[str, str],
    body: bytes = b"",
    *,
    keeps: bool = False,
    is_sent: bool = True,
) -> bytes:
    """Return a response as bytes, with the fields of every response."""
    known = {
        **SECURITY,
        **fields,
        "Date": formatdate(usegmt=True),
        "Content-Length": str(len(body)),
        "Connection": "keep-alive" if keeps else "close",
    }
    if status is HTTPStatus.NOT_MODIFIED:  # it would be that of the whole (RFC 9110, section 8.6)
        del known["Content-Length"]
    head = "".join(f"{name}: {value}\r\n" for name, value in known.items())
    return f"HTTP/1.1 {status.value} {status.phrase}\r\n{head}\r\n".encode("latin-1") + (
        body if is_sent else b""
    )


def plain(
    status: HTTPStatus,
    sentence: str,
    fields: Mapping[str, str] = MappingProxyType({}),
    *,
    keeps: bool = False,
    is_sent: bool = True,
) -> bytes:
    """Return a response with a sentence as plain text, see `response`."""
    known = {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store", **fields}
    return response(status, known, f"{sentence}\n".encode(), keeps=keeps, is_sent=is_sent)


async def text_answer(request: HttpRequest, find: FindText) -> tuple[bytes, bytes]:
    """Return the head and the body of the response with a text that takes a while to find."""
    code, fields, text = await find()
    status, keeps, is_sent = HTTPStatus(code), request.keeps, request.method != "HEAD"
    if "Content-Type" not in fields:
        return plain(status, text, fields, keeps=keeps, is_sent=is_sent), b""
    if (tag := fields.get("ETag")) and request.has(tag):
        return response(HTTPStatus.NOT_MODIFIED, fields, keeps=keeps), b""
    body = text.encode()
    head = response(status, fields, body, keeps=keeps, is_sent=False)
    return head, body if is_sent else b""
