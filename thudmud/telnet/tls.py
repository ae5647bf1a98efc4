"""The certificate of a TLS port, and clients that send TLS or HTTP to the telnet port."""

from __future__ import annotations

import re
import ssl
from asyncio.sslproto import SSLProtocol
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from thudmud.errors import StartError, system_reason

HTTP = (
    "This is thudmud, and this port is for telnet: use a telnet or MUD client. The web page is "
    "on another port."
)

_REQUEST = re.compile(
    r"(GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH|PRI) \S+ HTTP/\d(\.\d)?", re.ASCII
)
_BUFFER = 16 * 1024
"""The size of asyncio's read buffer for each TLS connection, in bytes: the longest TLS record.

asyncio's default is 256 KiB.
"""

_RECORD = b"\x16\x03"  # a handshake record of SSL 3 or any TLS (RFC 8446, section 5.1)
HEAD = 5
"""The length of a TLS record's header; its last two bytes are the record's length (RFC 8446,
section 5.1)."""
_LATEST_MINOR = 4  # the highest minor version, the byte after those two


def is_http(line: str) -> bool:
    """Return whether a line is the first one of an HTTP request."""
    return bool(_REQUEST.fullmatch(line))


def tls_answer(port: int) -> str:
    """Return the sentence for a client that sends TLS; ``port`` is the TLS port, 0 for none."""
    other = f" TLS is on port {port}." if port else ""
    return f"This port speaks plain telnet, not TLS.{other}"


def is_tls(opening: bytes) -> bool | None:
    """Return whether a connection's first bytes are TLS, None if there are too few to tell."""
    if len(opening) <= len(_RECORD):
        return None if _RECORD.startswith(opening) else False
    return opening.startswith(_RECORD) and opening[len(_RECORD)] <= _LATEST_MINOR


def context(certificate: Path, key: Path | None, section: str = "server") -> ssl.SSLContext:
    """Create the TLS context of a port.

    Args:
        certificate: a PEM file with the certificate, followed by the chain of its issuers.
        key: a PEM file with the key; None if the certificate's file has it.
        section: the section of the settings, for error messages.

    Raises:
        StartError: a file cannot be read or used.
    """
    for setting, path in (("tls_certificate", certificate), ("tls_key", key or certificate)):
        try:
            with path.open("rb"):
                pass
        except OSError as error:
            problem = f"{section}.{setting}: cannot read {path}: {system_reason(error)}"
            raise StartError(problem) from error
    SSLProtocol.max_size = _BUFFER
    made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        # Without a password callback OpenSSL would prompt at the terminal; the empty password of
        # `str()` makes an encrypted key fail instead.
        made.load_cert_chain(certificate, key, password=str)
    except ssl.SSLError as error:
        raise StartError(f"{section}.{_problem(error, certificate, key)}") from error
    return made


_NO_CHECK_TIME = 0x200000
"""OpenSSL's X509_V_FLAG_NO_CHECK_TIME, which Python has no name for."""


class Certificate(NamedTuple):
    """A certificate, as clients get it.

    Attributes:
        begin: the first moment at which it is valid, in seconds since the epoch.
        end: the last one.
        names: the host names and addresses that it is for; a name may begin with ``*.``.
    """

    begin: float
    end: float
    names: tuple[str, ...]


def served_certificate(context: ssl.SSLContext, certificate: Path) -> Certificate | None:
    """Return the certificate that a TLS context presents, also if it has expired.

    The standard library decodes only certificates that it has verified. So a handshake in memory
    verifies this one against its own file.

    Args:
        context: the context, see `context`.
        certificate: the file that the context was created from.

    Returns:
        The certificate; None if the file has another one by now, or one for clients.
    """
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN | _NO_CHECK_TIME
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        client.load_verify_locations(certificate)
        asking = client.wrap_bio(to_client, to_server)
        serving = context.wrap_bio(to_server, to_client, server_side=True)
        for side in (asking, serving, asking):
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
        facts: Any = asking.getpeercert()
    except (OSError, ValueError):  # ValueError: the handshake isn't over
        return None
    return Certificate(
        ssl.cert_time_to_seconds(facts["notBefore"]),
        ssl.cert_time_to_seconds(facts["notAfter"]),
        tuple(str(value) for _, value in facts.get("subjectAltName", ())),
    )


def _problem(error: ssl.SSLError, certificate: Path, key: Path | None) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return f"tls_key: {key or certificate} does not match that certificate"
    try:
        ssl.create_default_context(cafile=certificate)
    except ssl.SSLError:
        return f"tls_certificate: {certificate} contains no certificate in PEM format"
    return f"tls_key: {key or certificate} contains no key in PEM format without a password"
