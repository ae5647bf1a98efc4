"""The operator's certificate, for a TLS port; and clients that speak TLS or HTTP by mistake."""

from __future__ import annotations

import re
import ssl
from pathlib import Path

from thudmud.errors import StartError

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


def context(certificate: Path, key: Path | None) -> ssl.SSLContext:
    """Return what a TLS port needs.

    Args:
        certificate: the file with the certificate, and those of who vouches for it behind it.
        key: the file with its key; None if that is in the same file.

    Raises:
        StartError: that cannot be used.
    """
    _look_at("tls_certificate", certificate)
    if key:
        _look_at("tls_key", key)
    made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        # An empty password fails, where none would ask at the operator's terminal.
        made.load_cert_chain(certificate, key, password=str)
    except ssl.SSLError as error:
        raise StartError(_told(error, certificate, key)) from error
    return made


def _look_at(setting: str, path: Path) -> None:
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise StartError(f"server.{setting}: {path} cannot be read: {error.strerror}") from error


def _told(error: ssl.SSLError, certificate: Path, key: Path | None) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return f"server.tls_key: {key or certificate} is not the key of that certificate"
    try:
        ssl.create_default_context(cafile=certificate)
    except ssl.SSLError:
        return f"server.tls_certificate: {certificate} holds no certificate in PEM form"
    return (
        f"server.tls_key: {key or certificate} holds no key in PEM form that can be used without a"
        " password"
    )
