"""A relay that takes mails, or does not, as tests want it: aiosmtpd in the loop of the test."""

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
    """What a relay does with mails.

    Attributes:
        mails: those that it has taken.
        to: the address that each was for.
        recipient: what it answers to an address.
        answer: what it answers to a mail.
        tried: how many mails have come, taken or not.
        hold: if it is set, a mail waits for that before it is answered.
        late: if it is set, it waits for that once it has taken a mail, before it says so.
        drops: when it hangs up: at "data" before it has taken a mail, at "quit" after that.
        came: set when a mail has come.
        has_taken: set when one was taken.
        login: the name and the password that it wants; None for none.
        secure: whether each mail came by TLS.
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
        """Whether a name and a password are the right ones."""
        known = words[-1]
        assert isinstance(known, LoginPassword)
        told = known.login.decode(), known.password.decode()
        return AuthResult(success=told == self.login)


def _hang_up(server: SMTP) -> None:
    cast("asyncio.Transport", server.transport).abort()


@asynccontextmanager
async def relaying(handler: Handler, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Run a relay on a free port, which it yields.

    Args:
        handler: what it does.
        context: with it, it wants TLS by STARTTLS.
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
    """Run a relay that replies byte by byte as it is told, by verb; yield its port and what came.

    Args:
        replies: what it replies; "." is the end of a mail. Others are as they should be.
        context: what TLS is begun with after STARTTLS.
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
