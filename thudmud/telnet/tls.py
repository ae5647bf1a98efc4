"""The certificate of a TLS port, and clients that speak TLS or HTTP on the plain one by mistake."""

from __future__ import annotations

import re
import ssl
from asyncio.sslproto import SSLProtocol
from pathlib import Path

from thudmud.errors import StartError

HTTP = (
    "This is thudmud, and this port is for telnet: a telnet or MUD client gets you in. The web page"
    " is on another port."
)

_REQUEST = re.compile(
    r"(GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH|PRI) \S+ HTTP/\d(\.\d)?", re.ASCII
)
_BUFFER = 16 * 1024
"""Bytes that asyncio's own loop reads at once of a connection with TLS: as long as its records get.

It has a buffer of that size for each connection, by default one of 256 KiB.
"""

_RECORD = b"\x16\x03"  # a handshake of SSL 3 or any TLS (RFC 8446, section 5.1)
HEAD = 5
"""Bytes before a record of TLS; the last two tell its length (RFC 8446, section 5.1)."""
_LATEST_MINOR = 4  # the byte after those two


def is_http(line: str) -> bool:
    """Whether that is the first line of an HTTP request."""
    return bool(_REQUEST.fullmatch(line))


def tls_answer(port: int) -> str:
    """Return what to tell a client that speaks TLS; ``port`` is where it should, or 0."""
    other = f" TLS is on port {port}." if port else ""
    return f"This port speaks plain telnet, not TLS.{other}"


def is_tls(opening: bytes) -> bool | None:
    """Whether these first bytes begin with TLS, as no player does; None if they are too few."""
    if len(opening) <= len(_RECORD):
        return None if _RECORD.startswith(opening) else False
    return opening.startswith(_RECORD) and opening[len(_RECORD)] <= _LATEST_MINOR


def context(certificate: Path, key: Path | None, section: str = "server") -> ssl.SSLContext:
    """Return the context of a TLS port.

    Args:
        certificate: the file with the certificate, and the certificates that vouch for it after it.
        key: the file with its key; None if that is in the same file.
        section: of the settings, which names them.

    Raises:
        StartError: a file cannot be read or used.
    """
    for setting, path in (("tls_certificate", certificate), ("tls_key", key or certificate)):
        try:
            with path.open("rb"):
                pass
        except OSError as error:
            problem = f"{section}.{setting}: {path} cannot be read: {error.strerror}"
            raise StartError(problem) from error
    SSLProtocol.max_size = _BUFFER
    made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        # Without a password OpenSSL would ask for one at the terminal; an empty one fails.
        made.load_cert_chain(certificate, key, password=str)
    except ssl.SSLError as error:
        raise StartError(f"{section}.{_problem(error, certificate, key)}") from error
    return made


def _problem(error: ssl.SSLError, certificate: Path, key: Path | None) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return f"tls_key: {key or certificate} is not the key of that certificate"
    try:
        ssl.create_default_context(cafile=certificate)
    except ssl.SSLError:
        return f"tls_certificate: {certificate} holds no certificate in PEM form"
    return (
        f"tls_key: {key or certificate} holds no key in PEM form that can be used without a"
        " password"
    )
