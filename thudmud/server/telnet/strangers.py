"""Who connects with something else than telnet: a browser, or a client that speaks TLS.

Owns how they are recognised, and what they are told. Pure.
"""

from __future__ import annotations

import re

HTTP = (
    "This is thudmud, a game that is played by telnet, not a web site. A telnet or MUD client gets"
    " you in."
)

_TLS = "This port speaks plain telnet, not TLS."
_OTHER_PORT = "{} TLS is on port {}."

_REQUEST = re.compile(
    r"(GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH|PRI) \S+ HTTP/\d(\.\d)?", re.ASCII
)
_RECORD = b"\x16\x03"  # a handshake of SSL 3 or any TLS (RFC 8446, section 5.1)
_LATEST_MINOR = 4
HELLO = 3
"""Bytes that tell whether somebody says hello in TLS."""


def is_http(line: str) -> bool:
    """Whether that is the first line of an HTTP request."""
    return bool(_REQUEST.fullmatch(line))


def tls_answer(port: int) -> str:
    """Return what to tell who speaks TLS where it is not spoken; ``port`` is where it is, or 0."""
    return _OTHER_PORT.format(_TLS, port) if port else _TLS


def is_tls(opening: bytes) -> bool:
    """Whether these are the first bytes of TLS; no player ever types them."""
    return opening[:2] == _RECORD and len(opening) >= HELLO and opening[2] <= _LATEST_MINOR


def may_be_tls(opening: bytes) -> bool:
    """Whether these are too few to tell, and fit so far."""
    return len(opening) < HELLO and _RECORD.startswith(opening[:2])
