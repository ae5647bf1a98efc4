"""Mails, by a relay. The only importer of aiosmtplib."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, formataddr
from pathlib import Path

import aiosmtplib

from thudmud.errors import StartError
from thudmud.play.notifications import is_address
from thudmud.server.config import MailSettings
from thudmud.server.notifying import NeverSentError, NotSentError
from thudmud.views.notifications import Mail

TIMEOUT = 30.0
"""Seconds that the relay may take for each answer."""

WHOLE_TIMEOUT = 120.0
"""Seconds that a mail may take in all."""

_NO_MAILBOX = "5.1."
"""How a relay's answer to an address begins that does not exist (RFC 3463, section 3.2). A number
such as 550 is not enough: relays that let nobody send from here answer that, too."""


class Relay:
    """The relay; `notifying.Mailer`.

    Args:
        settings: where it is, and how mails get there.
        folder: the folder of files whose names are relative.
        name: what the server is called.

    Raises:
        StartError: a file that the settings name cannot be read or used.
    """

    def __init__(self, settings: MailSettings, folder: Path, name: str) -> None:
        self._settings, self._name = settings, name
        self._password = _password(folder / settings.password_file) if settings.user else None
        self._context = _context(folder, settings)

    async def send(self, address: str, mail: Mail, end: str, number: int) -> None:
        """Send a mail, see `notifying.Mailer`."""
        settings = self._settings
        message = self.composed(mail, address, end, number)
        relay = aiosmtplib.SMTP(
            hostname=settings.relay,
            port=settings.port,
            use_tls=settings.tls == "tls",
            start_tls=settings.tls == "starttls",
            tls_context=self._context,
            username=settings.user or None,
            password=self._password,
            timeout=TIMEOUT,
        )
        is_taken = False
        try:
            async with asyncio.timeout(WHOLE_TIMEOUT), relay:
                await relay.send_message(message, sender=settings.sender, recipients=[address])
                is_taken = True  # and so it is not sent again, whatever comes of the farewell
        except aiosmtplib.SMTPRecipientsRefused as error:
            [refused] = error.recipients
            if refused.message.startswith(_NO_MAILBOX):
                raise NeverSentError(f"no such address: {refused.code}") from error
            raise NotSentError(f"the relay does not take the address: {refused.code}") from error
        except aiosmtplib.SMTPResponseException as error:
            raise NotSentError(f"the relay answers {error.code}") from error
        except (aiosmtplib.SMTPException, OSError, TimeoutError) as error:
            if not is_taken:
                why = type(error).__name__
                raise NotSentError(f"the relay cannot be reached: {why}") from error

    def composed(self, mail: Mail, address: str, end: str, number: int) -> EmailMessage:
        """Return a mail as it is sent, see `send`.

        Raises:
            ValueError: that is no address, or a header would have more than one line.
        """
        if not is_address(address):
            raise ValueError("no mail can be sent there")
        sender = self._settings.sender
        message = EmailMessage(policy=SMTP)
        message["From"] = formataddr((self._name, sender))
        message["To"] = address
        message["Subject"] = mail.subject
        message["Date"] = format_datetime(datetime.now(UTC))
        message["Message-ID"] = f"<{number:x}@{sender.rpartition('@')[2]}>"
        message["Auto-Submitted"] = "auto-generated"  # RFC 3834: nobody's absence is told us
        message["List-Unsubscribe"] = f"<{end}>"
        if end.startswith("https:"):
            message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"  # RFC 8058
        message.set_content(mail.text)
        return message


def _password(path: Path) -> str:
    try:
        first, *_ = path.read_text(encoding="utf-8").splitlines() or [""]
    except (OSError, UnicodeDecodeError) as error:
        raise StartError(f"mail.password_file: {path} cannot be read: {error}") from error
    if not first:
        raise StartError(f"mail.password_file: the first line of {path} is empty")
    return first


def _context(folder: Path, settings: MailSettings) -> ssl.SSLContext | None:
    if settings.tls == "none":
        return None
    path = folder / settings.certificates if settings.certificates else None
    try:
        return ssl.create_default_context(cafile=path)
    except OSError as error:  # failures of TLS are OSErrors
        raise StartError(f"mail.certificates: {path} cannot be used: {error}") from error
