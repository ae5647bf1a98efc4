"""The operator's certificate -> what a TLS port needs.

Owns how the operator is told what is wrong with the files. Must never open a port.
"""

from __future__ import annotations

import ssl
from pathlib import Path

from thudmud.errors import StartError


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
