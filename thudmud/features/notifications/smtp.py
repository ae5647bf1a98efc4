"""Mail by an SMTP relay. The only importer of aiosmtplib."""

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

from thudmud.errors import InvalidValueError, StartError, system_reason
from thudmud.features.notifications.messages import Mail
from thudmud.features.notifications.model import is_address
from thudmud.features.notifications.notifier import NeverSentError, NotSentError
from thudmud.features.notifications.settings import MailSettings

TIMEOUT = 30.0
"""Seconds that the relay may take for each reply."""

WHOLE_TIMEOUT = 120.0
"""Seconds that sending a mail may take in all."""

_STATUS = re.compile(r"5\.([0-9]{1,3}\.[0-9]{1,3})(?=\s|$)", re.ASCII)
"""A permanent enhanced status code (RFC 3463, section 2). A basic code such as 550 isn't enough:
relays that refuse us as a sender reply with it, too."""

_NO_MAILBOX = frozenset({"1.1", "1.2", "1.3", "1.4", "1.6", "1.10", "2.1"})
"""Codes for an address that takes no mail: no such mailbox or system, bad syntax, ambiguous, moved
(RFC 3463, section 3.2), a null MX (RFC 7505), a disabled mailbox (section 3.3)."""

_OURS = frozenset({"1.7", "1.8", "2.3", "3.4"})
"""Codes for faults that the operator has to correct: a bad sender address, a mail that is too
long."""

_OUR_SUBJECTS = frozenset({"5", "6", "7"})
"""Subjects of codes that the operator has to correct: protocol, content, and security or policy
(sections 3.6 to 3.8). Other faults, such as a full mailbox or a broken route, may pass."""


class Relay:
    """The SMTP relay; implements `notifying.Mailer`.

    Args:
        settings: the relay, and how to connect to it.
        folder: the folder that relative file names refer to.
        name: the name of the server.

    Raises:
        StartError: a file named by the settings can't be read or used.
    """

    def __init__(self, settings: MailSettings, folder: Path, name: str) -> None:
        self._settings, self._name = settings, name
        self._password = _password(folder / settings.password_file) if settings.user else None
        self._context = _context(folder, settings)

    async def send(self, address: str, mail: Mail, end: str, number: int) -> None:
        """Send a mail, see `notifying.Mailer`."""
        settings = self._settings
        message = self.composed(mail, address, end, number)
        relay = self._client(TIMEOUT)
        is_taken = False
        try:
            async with asyncio.timeout(WHOLE_TIMEOUT), relay:
                await relay.send_message(message, sender=settings.sender, recipients=[address])
                is_taken = True  # don't send it again if QUIT fails
        except aiosmtplib.SMTPRecipientsRefused as error:
            [refused] = error.recipients
            raise rejection(refused.code, refused.message) from error
        except aiosmtplib.SMTPDataError as error:  # there is only one recipient
            raise rejection(error.code, error.message) from error
        except aiosmtplib.SMTPResponseException as error:
            raise rejection(error.code, error.message, of_recipient=False) from error
        except (aiosmtplib.SMTPException, OSError, TimeoutError) as error:
            if not is_taken:
                why = type(error).__name__
                raise NotSentError(f"could not reach the relay: {why}") from error

    async def check(self, patience: float) -> None:
        """Connect to the relay and log in as for a mail, and send none.

        Args:
            patience: seconds that the relay may take in all.

        Raises:
            NotSentError: that isn't possible; ``str()`` says why.
        """
        try:
            async with asyncio.timeout(patience), self._client(patience):
                pass
        except aiosmtplib.SMTPAuthenticationError as error:
            raise NotSentError(f"it rejects mail.user or the password: {error.code}") from error
        except TimeoutError as error:
            raise NotSentError(f"it doesn't answer within {patience:g} seconds") from error
        except (aiosmtplib.SMTPException, OSError) as error:
            raise NotSentError(" ".join(str(error).split()) or type(error).__name__) from error

    def _client(self, timeout: float) -> aiosmtplib.SMTP:
        """Return a client that connects as configured; a reply may take that many seconds."""
        settings = self._settings
        return aiosmtplib.SMTP(
            hostname=settings.relay,
            port=settings.port,
            use_tls=settings.tls == "tls",
            start_tls=settings.tls == "starttls",
            tls_context=self._context,
            username=settings.user or None,
            password=self._password,
            timeout=timeout,
        )

    def composed(self, mail: Mail, address: str, end: str, number: int) -> EmailMessage:
        """Return the message for a mail, with the arguments of `send`.

        Raises:
            InvalidValueError: the address is invalid, or a header would have more than one line.
        """
        if not is_address(address):
            raise InvalidValueError("expected a mail address to send to")
        sender = self._settings.sender
        message = EmailMessage(policy=_POLICY)
        message["From"] = _mailbox(self._name, sender)
        message["To"] = address
        message["Subject"] = _encoded(mail.subject, "Subject")
        message["Date"] = format_datetime(datetime.now(UTC))
        message["Message-ID"] = f"<{number:x}@{sender.rpartition('@')[2]}>"
        message["Auto-Submitted"] = "auto-generated"  # no vacation replies, please
        message["List-Unsubscribe"] = f"<{end}>"
        if end.startswith("https:"):
            message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"  # RFC 8058
        message.set_content(mail.text)
        return message


def rejection(
    code: int, message: str, *, of_recipient: bool = True
) -> NotSentError | NeverSentError:
    """Return the error for a relay's reply: permanent, temporary, or the operator's to correct.

    Args:
        code: the reply code.
        message: the text, which may begin with an enhanced status code.
        of_recipient: whether the reply is to the recipient or the content, not the sender or login.
    """
    found = _STATUS.match(message) if 500 <= code <= 599 else None
    status = found[1] if found else ""
    told = f"{code} 5.{status}" if status else f"{code}"
    if of_recipient and status in _NO_MAILBOX:
        return NeverSentError(f"no such address: {told}")
    is_ours = status in _OURS or status.partition(".")[0] in _OUR_SUBJECTS
    if is_ours or (code >= 500 and not of_recipient):
        why = f"the relay rejected this server: {told}: check mail.sender, mail.user and its log"
        return NotSentError(why, is_ours=True)
    return NotSentError(f"the relay refused the mail: {told}")


class _ReadyHeader(UnstructuredHeader):
    """A header written verbatim, folded between encoded words and nowhere else.

    A link must not become encoded words (RFC 2047). Also, Python would decode existing encoded
    words and encode them again, losing quotes and blanks between them (python/cpython#121284): a
    comma in a name became a second sender.
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
    _HEADERS.map_to_type(_name, _ReadyHeader)  # type: ignore[arg-type]  # a mixin
_POLICY = SMTP.clone(header_factory=_HEADERS)


def _mailbox(name: str, address: str) -> str:
    """Format a mailbox with a display name for a header."""
    if (words := _encoded(name, "From")) == name:
        return formataddr((name, address))  # quoted if necessary
    return f"{words} <{address}>"


def _encoded(text: str, header: str) -> str:
    """Encode a string for a header: as encoded words (RFC 2047) unless it is ASCII.

    Raises:
        InvalidValueError: the string has more than one line.
    """
    if len(text.splitlines()) > 1:
        raise InvalidValueError("expected a header of one line")
    if text.isascii() and "=?" not in text:
        return text
    return Header(text, "utf-8", header_name=header).encode(linesep="")


def _password(path: Path) -> str:
    try:
        first, *_ = path.read_text(encoding="utf-8-sig").splitlines() or [""]
    except (OSError, UnicodeDecodeError) as error:
        why = system_reason(error) if isinstance(error, OSError) else "it is not UTF-8 text"
        raise StartError(f"mail.password_file: cannot read {path}: {why}") from error
    if not first:
        raise StartError(f"mail.password_file: expected a password in the first line of {path}")
    return first


def _context(folder: Path, settings: MailSettings) -> ssl.SSLContext | None:
    if settings.tls == "none":
        return None
    path = folder / settings.certificates if settings.certificates else None
    try:
        return ssl.create_default_context(cafile=path)
    except OSError as error:  # ssl.SSLError is an OSError
        raise StartError(f"mail.certificates: could not load {path}: {error}") from error
