"""Fake mail relays with configurable replies, based on aiosmtpd in the test's event loop."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any, cast

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

TAKEN = "250 OK"


class Handler:
    """The behaviour of a relay, and a record of its mails.

    Attributes:
        mails: the accepted mails.
        to: the recipient of each mail.
        recipient: the reply to RCPT.
        answer: the reply to a mail.
        tried: the number of mails received, accepted or not.
        hold: an event to wait for before accepting a mail, if any.
        late: an event to wait for between accepting a mail and replying, if any.
        drops: where to hang up: at "data", before accepting a mail, or at "quit", after it.
        came: set when a mail is received.
        has_taken: set when a mail is accepted.
        login: the required user name and password, or None.
        secure: whether each mail was sent over TLS.
    """

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.to: list[str] = []
        self.recipient = self.answer = TAKEN
        self.tried = 0
        self.hold: asyncio.Event | None = None
        self.late: asyncio.Event | None = None
        self.came = asyncio.Event()
        self.has_taken = asyncio.Event()
        self.drops = ""
        self.login: tuple[str, str] | None = None
        self.secure: list[bool] = []

    async def handle_RCPT(  # noqa: N802  (aiosmtpd's name)
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.recipient == TAKEN:
            envelope.rcpt_tos.append(address)
        return self.recipient

    async def handle_DATA(  # noqa: N802  (the same)
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        self.tried += 1
        self.came.set()
        if self.hold:
            await self.hold.wait()
        if self.drops == "data":
            _hang_up(server)
        elif self.answer == TAKEN:
            content = cast("bytes", envelope.content)
            self.mails.append(message_from_bytes(content, policy=default))
            self.to += envelope.rcpt_tos
            self.secure.append(session.ssl is not None)
            self.has_taken.set()
            if self.late:
                await self.late.wait()
        return self.answer

    async def handle_QUIT(  # noqa: N802  (the same)
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        if self.drops == "quit":
            _hang_up(server)
        return "221 Bye"

    def logs_in(self, *words: Any) -> AuthResult:
        """Whether the user name and password are correct."""
        known = words[-1]
        assert isinstance(known, LoginPassword)
        told = known.login.decode(), known.password.decode()
        return AuthResult(success=told == self.login, handled=False)


def _hang_up(server: SMTP) -> None:
    cast("asyncio.Transport", server.transport).abort()


@asynccontextmanager
async def relaying(handler: Handler, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Run a relay on a free port; yield the port.

    Args:
        handler: its behaviour.
        context: a TLS context; if given, STARTTLS is required.
    """

    def protocol() -> SMTP:
        return SMTP(
            handler,
            hostname="relay.example.org",
            tls_context=context,
            require_starttls=context is not None,
            auth_required=handler.login is not None,
            authenticator=handler.logs_in,
            loop=asyncio.get_running_loop(),
        )

    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@asynccontextmanager
async def replying(
    replies: Mapping[str, bytes], context: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[int, list[bytes]]]:
    """Run a relay with fixed replies, sent byte by byte; yield its port and the lines received.

    Args:
        replies: the replies by verb, "." for the end of a mail; other verbs get the usual ones.
        context: the TLS context used after STARTTLS.
    """
    came: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 relay.example.org\r\n")
        is_mail = False
        while (line := await reader.readline()) not in {b"", b"QUIT\r\n"}:
            came.append(line)
            if is_mail and line != b".\r\n":
                continue
            verb = line.split()[0].decode().upper()
            reply = replies.get(verb, b"354 Go\r\n" if verb == "DATA" else b"250 OK\r\n")
            is_mail = verb == "DATA"
            writer.write(reply)
            await writer.drain()
            if verb == "STARTTLS" and context:
                await writer.start_tls(context)
        writer.write(b"221 Bye\r\n")
        writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.CancelledError):
            await answer(reader, writer)
        done.set()

    done = asyncio.Event()
    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], came
        await done.wait()
    finally:
        server.close()
