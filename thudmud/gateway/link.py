"""A client's connection: splits bytes into lines, runs requests, and sends replies.

A link also enforces the hello, the heartbeat, and the limits on requests in flight and on
unacknowledged replies. One task reads, one sends numbered replies from the session's outbox, and
one sends pings. The link ends when any of them does, or when `Link.drop` is called. At the end of
the input, all requests are answered first.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import StreamReader
from collections.abc import Iterator
from contextlib import suppress
from typing import Protocol

from thudmud.gateway.gateway import Gateway
from thudmud.gateway.requests import (
    FATAL,
    VERSION,
    Ack,
    Bye,
    Code,
    Hello,
    Ping,
    Request,
    RequestError,
    Sent,
    encode_line,
    error_line,
    parse_request,
)
from thudmud.gateway.session import ClientSession

PIECE = 65_536
"""The maximum number of bytes in one read."""

LONGEST_HELLO = 4096
"""The maximum length of the first line in bytes, without its end. Even the longest secret and
session token fit."""

_BATCH = 65_536
"""The number of bytes after which a batch of replies ends, and the link waits for the client."""

_log = logging.getLogger(__name__)


class Writer(Protocol):
    """The output of a link, such as a socket."""

    def write(self, data: bytes) -> None:
        """Send or buffer bytes."""

    async def drain(self) -> None:
        """Wait until the buffer is small enough."""

    def close(self) -> None:
        """Start closing, after the buffered bytes are sent."""

    async def wait_closed(self) -> None:
        """Wait until everything is sent, and the output closed."""

    def abort(self) -> None:
        """Close immediately, and discard the buffered bytes."""


class Link:
    """A connection of a client.

    Args:
        gateway: the gateway.
        reader: the input.
        writer: the output.
        address: the client's address, for rate limits; "" if only this user can connect that way.
        trusted: whether the client needs no secret. It may also begin with blank lines.

    Attributes:
        since: the time of the connection, by the event loop's clock.
    """

    def __init__(
        self,
        gateway: Gateway,
        reader: StreamReader,
        writer: Writer,
        *,
        address: str = "",
        trusted: bool = False,
    ) -> None:
        self.address = address
        self.since = asyncio.get_running_loop().time()
        self._gateway, self._policy = gateway, gateway.policy
        self._reader, self._writer = reader, writer
        self._trusted = trusted
        self._session: ClientSession | None = None
        self._sent = 0
        self._heard = False
        self._ended = asyncio.get_running_loop().create_future()
        self._news = asyncio.Event()
        self._slots = asyncio.Semaphore(self._policy.in_flight)
        self._requests: set[asyncio.Task[None]] = set()

    @property
    def is_stranger(self) -> bool:
        """Whether the link still waits for a valid hello."""
        return self._session is None and not self._ended.done()

    async def run(self) -> None:
        """Serve the link until it ends."""
        reading = asyncio.create_task(self._read())
        others = [asyncio.create_task(each) for each in (self._send(), self._send_heartbeats())]
        try:
            await asyncio.wait({reading, self._ended, *others}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done() and not reading.exception() and not self._ended.done():
                # The input has ended, but the client may still read: send the outstanding answers.
                others.append(asyncio.create_task(self._send_rest()))
                await asyncio.wait({others[-1], self._ended}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (reading, *others):
                task.cancel()
            for result in await asyncio.gather(reading, *others, return_exceptions=True):
                if isinstance(result, Exception) and not isinstance(result, OSError):
                    _log.error("a link failed", exc_info=result)
            if self._session:
                self._gateway.release(self._session, self)
            await self._close()

    def drop(self, fault: RequestError) -> None:
        """Send a fault to the client and end the link. Only the first fault is sent."""
        if not self._ended.done():
            self._writer.write(error_line(fault))
            self._ended.set_result(None)

    def wake(self) -> None:
        """Send new lines of the outbox; end the link if too much is unacknowledged."""
        self._news.set()
        if self._session and self._is_full(self._session):
            self._drop_full()

    async def wait(self, seconds: float) -> None:
        """Delay a client without a session; see `ClientLink.wait`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._reader.read(PIECE)
                raise ConnectionError("the client did not wait")

    # In.

    async def _read(self) -> None:
        lines = LineBuffer(self._policy.max_line)
        data = await self._read_hello()
        while self._session and not self._ended.done():
            for each in lines.feed(data):
                await self._handle_line(each)
            if not (data := await self._reader.read(PIECE)):
                break
            self._heard = True
        for each in lines.end():
            await self._handle_line(each)

    async def _read_hello(self) -> bytes:
        """Read the first line and greet the client; return the bytes received after the line.

        A stranger can't make the gateway do more than search for the end of one short line.
        """
        said, more = b"", b""
        late = asyncio.get_running_loop().call_later(
            self._policy.hello_limit, self._drop_without_hello
        )
        try:
            while b"\n" not in said and len(said) <= LONGEST_HELLO:
                more = await self._reader.read(PIECE)
                if not more:
                    break
                said += more
                if self._trusted:
                    said = said.lstrip()
        finally:
            late.cancel()
        line, _, rest = said.partition(b"\n")
        if not (line or more):
            return b""  # disconnected without sending anything
        try:
            if len(line) > LONGEST_HELLO:
                raise RequestError(Code.HELLO_FIRST, f"Expected at most {LONGEST_HELLO} bytes.")  # noqa: TRY301  (handled like all other faults)
            await self._greet(parse_request(line))
        except RequestError as fault:
            self.drop(fault if fault.code in FATAL else RequestError(Code.HELLO_FIRST, fault.text))
        return rest

    def _drop_without_hello(self) -> None:
        self.drop(RequestError(Code.HELLO_FIRST, "No hello within the time limit."))

    async def _handle_line(self, line: bytes | None) -> None:
        """Handle a line, and report its faults; None stands for a line that was too long."""
        if self._ended.done() or self._session is None:
            return
        try:
            if line is None:
                most = self._policy.max_line
                raise RequestError(Code.TOO_LONG, f"Expected a line of at most {most} bytes.")  # noqa: TRY301  (handled like all other faults)
            if line.strip():
                await self._obey(self._session, parse_request(line))
        except RequestError as fault:
            if fault.code in FATAL:
                self.drop(fault)
            # A malformed request with a new number gets an answer, so that its number is used up.
            elif not (fault.number and await self._begin(self._session, fault.number, fault)):
                await self._send_unnumbered(error_line(fault))

    async def _greet(self, sent: Sent) -> None:
        if not isinstance(sent, Hello):
            raise RequestError(Code.HELLO_FIRST, 'Expected "hello" as the type of the first line.')
        session, resumed = await self._gateway.greet(sent, self, trusted=self._trusted)
        self._session, self._sent = session, session.outbox.seen
        welcome = {
            "type": "welcome",
            "version": VERSION,
            "session": session.token,
            "resumed": resumed,
            "received": session.received,
            "heartbeat": self._policy.heartbeat,
            "max_line": self._policy.max_line,
            "outbox_bytes": self._policy.outbox_bytes,
        }
        await self._send_unnumbered(encode_line(welcome))
        self._news.set()

    async def _obey(self, session: ClientSession, sent: Sent) -> None:
        match sent:
            case Ping():
                await self._send_unnumbered(encode_line({"type": "pong"}))
            case Ack(seen=seen):
                session.outbox.acknowledge(seen)
            case Bye():
                await self._send_rest()
                self._gateway.end(session)
                if not self._ended.done():
                    self._ended.set_result(None)
            case Hello():
                raise RequestError(Code.BAD_REQUEST, "The link already had its hello.")
            case Request(id=number, seen=seen):
                if seen is not None:
                    session.outbox.acknowledge(seen)
                is_new = await self._begin(session, number, sent)
                if not is_new and (answer := session.repeated_answer(number)):
                    await self._send_unnumbered(answer)

    async def _begin(
        self, session: ClientSession, number: int, request: Request | RequestError
    ) -> bool:
        """Start a request, unless it is a repetition; return whether it is new.

        If too much is unacknowledged already, a new request ends the link instead.
        """
        # Acquire before the session records the request. If the link were cut during a later wait,
        # the request would count as received and never be carried out.
        await self._slots.acquire()
        if number > session.received and self._is_full(session):
            self._slots.release()
            await self._send_all()  # so that the client can acknowledge it when it resumes
            self._drop_full()
            return True
        # No await between recording the request and starting its task: nothing can come between.
        if not session.begin(number):
            self._slots.release()
            return False
        task = self._gateway.begin(session, number, request)
        self._requests.add(task)
        task.add_done_callback(self._request_done)
        return True

    def _request_done(self, task: asyncio.Task[None]) -> None:
        self._requests.discard(task)
        self._slots.release()

    # Out.

    async def _send_unnumbered(self, line: bytes) -> None:
        """Send an unnumbered line, and pause reading until the client has caught up."""
        self._writer.write(line)
        await self._writer.drain()

    def _is_full(self, session: ClientSession) -> bool:
        return session.outbox.size > self._policy.outbox_bytes

    def _drop_full(self) -> None:
        text = f"More than {self._policy.outbox_bytes} bytes are waiting to be acknowledged."
        self.drop(RequestError(Code.TOO_SLOW, text))

    async def _send(self) -> None:
        """Send the lines of the outbox in order, at the client's reading pace."""
        while True:
            await self._news.wait()
            self._news.clear()
            await self._send_all()

    async def _send_all(self) -> None:
        while not self._ended.done() and self._session:
            # Join lines, so that the notices of a ply and the answer go out in one write.
            lines, size = [], 0
            while size < _BATCH and (line := self._session.outbox.line(self._sent + 1)):
                self._sent += 1
                lines.append(line)
                size += len(line)
            if not lines:
                return
            self._writer.write(b"".join(lines))
            await self._writer.drain()

    async def _send_rest(self) -> None:
        """Wait until all requests are answered, and send all remaining lines."""
        while self._requests:
            await asyncio.wait(self._requests)
        with suppress(ConnectionError):
            await self._send_all()

    async def _send_heartbeats(self) -> None:
        """Send pings to a silent client, and drop the link if one isn't answered."""
        while True:
            self._heard = False
            await asyncio.sleep(self._policy.heartbeat)
            if not self._heard and self._session:
                self._writer.write(encode_line({"type": "ping"}))
                await asyncio.sleep(self._policy.heartbeat)
                if not self._heard:
                    self.drop(RequestError(Code.SILENT, "No answer to a ping."))
                    return

    async def _close(self) -> None:
        self._writer.close()
        try:
            async with asyncio.timeout(self._policy.close_grace):
                await self._writer.wait_closed()
        except TimeoutError:
            self._writer.abort()
        except OSError:
            pass  # closed by the client; aborting asyncio's pipes again would fail


class LineBuffer:
    """Splits a stream of bytes into lines, and skips lines over a maximum length."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._begun = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """Yield the lines completed by ``data``, without their ends; None for each skipped line."""
        *whole, rest = data.split(b"\n")
        for piece in whole:
            yield from self._take(piece)
            if not self._skipping:
                yield bytes(self._begun).removesuffix(b"\r")
            self._begun.clear()
            self._skipping = False
        yield from self._take(rest)

    def end(self) -> Iterator[bytes]:
        """Yield the unfinished last line at the end of the input, if there is one."""
        if self._begun:
            yield bytes(self._begun).removesuffix(b"\r")

    def _take(self, piece: bytes) -> Iterator[None]:
        if self._skipping:
            return
        self._begun += piece
        if len(self._begun) > self._longest:
            self._begun.clear()
            self._skipping = True
            yield None
