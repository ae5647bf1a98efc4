"""Mails, by a relay. The only importer of aiosmtplib."""

from __future__ import annotations

import asyncio
import re
import ssl
from datetime import UTC, datetime
from email.header import Header
from email.headerregistry import HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from email.policy import SMTP, Policy
from email.utils import format_datetime, formataddr
from pathlib import Path
from typing import Any

import aiosmtplib

from thudmud.errors import StartError
from thudmud.features.notifications.messages import Mail
from thudmud.features.notifications.model import is_address
from thudmud.features.notifications.notifying import NeverSentError, NotSentError
from thudmud.features.notifications.settings import MailSettings

TIMEOUT = 30.0
"""Seconds that the relay may take for each answer."""

WHOLE_TIMEOUT = 120.0
"""Seconds that a mail may take in all."""

_STATUS = re.compile(r"5\.([0-9]{1,3}\.[0-9]{1,3})(?=\s|$)", re.ASCII)
"""An enhanced status code (RFC 3463, section 2). A number such as 550 is not enough: relays that
let nobody send from here answer that, too."""

_NO_MAILBOX = frozenset({"1.1", "1.2", "1.3", "1.4", "1.6", "1.10", "2.1"})
"""The codes of an address that takes no mail: no such mailbox or system, a bad syntax, ambiguous,
moved (RFC 3463, section 3.2), a null MX (RFC 7505), a mailbox that is disabled (section 3.3)."""

_OURS = frozenset({"1.7", "1.8", "2.3", "3.4"})
"""Codes of what the operator has to mend: a bad address of the sender, a mail that is too long."""

_OUR_SUBJECTS = frozenset({"5", "6", "7"})
"""The same of all codes about the protocol, the content, and security or policy (sections 3.6 to
3.8). Others, such as a full mailbox or a broken route, may pass."""


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
            raise rejection(refused.code, refused.message) from error
        except aiosmtplib.SMTPDataError as error:  # there is one recipient, so it is about that
            raise rejection(error.code, error.message) from error
        except aiosmtplib.SMTPResponseException as error:
            raise rejection(error.code, error.message, of_recipient=False) from error
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
        message = EmailMessage(policy=_POLICY)
        message["From"] = _mailbox(self._name, sender)
        message["To"] = address
        message["Subject"] = _encoded(mail.subject, "Subject")
        message["Date"] = format_datetime(datetime.now(UTC))
        message["Message-ID"] = f"<{number:x}@{sender.rpartition('@')[2]}>"
        message["Auto-Submitted"] = "auto-generated"  # RFC 3834: nobody's absence is told us
        message["List-Unsubscribe"] = f"<{end}>"
        if end.startswith("https:"):
            message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"  # RFC 8058
        message.set_content(mail.text)
        return message


def rejection(
    code: int, message: str, *, of_recipient: bool = True
) -> NotSentError | NeverSentError:
    """Return the error for a relay's reply: whose fault it is, and so whether to try again.

    Args:
        code: the reply's number.
        message: its text, which begins with an enhanced status code, if it has one.
        of_recipient: whether it answers the recipient or the mail, not the sender or the login.
    """
    found = _STATUS.match(message) if 500 <= code <= 599 else None
    status = found[1] if found else ""
    told = f"{code} 5.{status}" if status else f"{code}"
    if of_recipient and status in _NO_MAILBOX:
        return NeverSentError(f"no such address: {told}")
    is_ours = status in _OURS or status.partition(".")[0] in _OUR_SUBJECTS
    if is_ours or (code >= 500 and not of_recipient):
        why = f"the relay rejects this server: {told}: see mail.sender, mail.user and its own log"
        return NotSentError(why, is_ours=True)
    return NotSentError(f"the relay does not take the mail: {told}")


class _ReadyHeader(UnstructuredHeader):
    """A header whose value is written as it is, folded between encoded words and nowhere else.

    A link would not be found in encoded words (RFC 2047). Words that are encoded already would be
    decoded and encoded anew by Python, which loses quotes and blanks between them
    (python/cpython#121284): a comma in a name became a second sender.
    """

    @classmethod
    def parse(cls, value: str, kwds: dict[str, Any]) -> None:
        super().parse(value, kwds)
        kwds["decoded"] = value

    def fold(self, *, policy: Policy) -> str:
        value = str(self).replace("?= ", f"?={policy.linesep} ")
        return f"{self.name}: {value}{policy.linesep}"  # type: ignore[attr-defined]


_HEADERS = HeaderRegistry()
for _name in ("From", "Subject", "List-Unsubscribe"):
    _HEADERS.map_to_type(_name, _ReadyHeader)  # type: ignore[arg-type]  # it is mixed in
_POLICY = SMTP.clone(header_factory=_HEADERS)


def _mailbox(name: str, address: str) -> str:
    """Return a mailbox with a name as it is written in a header."""
    if (words := _encoded(name, "From")) == name:
        return formataddr((name, address))  # in quotes, if it has to be
    return f"{words} <{address}>"


def _encoded(text: str, header: str) -> str:
    """Return a text as it is written in a header: one of more than ASCII as encoded words.

    Raises:
        ValueError: it has more than one line.
    """
    if len(text.splitlines()) > 1:
        raise ValueError("a header has one line")
    if text.isascii() and "=?" not in text:
        return text
    return Header(text, "utf-8", header_name=header).encode(linesep="")


def _password(path: Path) -> str:
    try:
        first, *_ = path.read_text(encoding="utf-8-sig").splitlines() or [""]
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
