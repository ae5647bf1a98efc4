"""A look at the certificate in a configured file, without serving with it."""

from __future__ import annotations

from pathlib import Path

from thudmud.telnet import tls

Certificate = tls.Certificate


def load_certificate(certificate: Path, key: Path | None, section: str) -> Certificate | None:
    """Return the certificate that a server would present; see `tls.served_certificate`.

    Args:
        certificate: the file of the certificate.
        key: the file of the key; None if the certificate's file has it.
        section: the section of the settings, for error messages.

    Raises:
        StartError: a file can't be read or used, or the key is another one's.
    """
    return tls.served_certificate(tls.context(certificate, key, section), certificate)
