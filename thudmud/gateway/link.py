"""One link of a client: bytes -> lines -> requests, and lines out, until either side ends it.

Also the hello, the heartbeat, and the limits on what either side makes the other keep.
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
    Fault,
    Hello,
    Ping,
    Request,
    Sent,
    encoded,
    error_line,
    read,
)
from thudmud.gateway.session import ClientSession

PIECE = 65_536
"""How many bytes are read at once."""

LONGEST_HELLO = 4096
"""Bytes of the first line, without its end. Even the longest secret and session fit in."""

_BATCH = 65_536
"""After how many bytes the link waits until the client has read."""

_log = logging.getLogger(__name__)


class Writer(Protocol):
    """What a link writes to."""

    def write(self, data: bytes) -> None:
        """Send bytes, now or later."""

    async def drain(self) -> None:
        """Wait until not too much is left to be sent."""

    def close(self) -> None:
        """Send what is left, and end."""

    async def wait_closed(self) -> None:
        """Wait until all is sent."""

    def abort(self) -> None:
        """End at once."""


class Link:
    """A connection of a client.

    A client that is trusted need not know the secret, and may begin with blank lines.
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
        """Whether there has been no hello yet, and may still be."""
        return self._session is None and not self._ended.done()

    async def run(self) -> None:
        """Serve the link until it ends."""
        reading = asyncio.create_task(self._read())
        others = [asyncio.create_task(each) for each in (self._send(), self._beat())]
        try:
            await asyncio.wait({reading, self._ended, *others}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done() and not reading.exception() and not self._ended.done():
                others.append(asyncio.create_task(self._send_rest()))
                await asyncio.wait({others[-1], self._ended}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (reading, *others):
                task.cancel()
            for result in await asyncio.gather(reading, *others, return_exceptions=True):
                if isinstance(result, Exception) and not isinstance(result, OSError):
                    _log.error("a link has failed", exc_info=result)
            if self._session:
                self._gateway.release(self._session, self)
            await self._close()

    def drop(self, fault: Fault) -> None:
        """Tell the client why, and end the link. Only the first reason is told."""
        if not self._ended.done():
            self._writer.write(error_line(fault))
            self._ended.set_result(None)

    def wake(self) -> None:
        """Send what the session has been told besides; end the link if too much waits."""
        self._news.set()
        if self._session and self._is_full(self._session):
            self._drop_full()

    async def wait(self, seconds: float) -> None:
        """Let a client wait that has no session yet, as `ClientLink.wait` does."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._reader.read(PIECE)
                raise ConnectionError("the client does not wait")

    # In.

    async def _read(self) -> None:
        lines = LineBuffer(self._policy.max_line)
        data = await self._read_hello()
        while self._session and not self._ended.done():
            for each in lines.feed(data):
                await self._take(each)
            if not (data := await self._reader.read(PIECE)):
                break
            self._heard = True
        for each in lines.end():
            await self._take(each)

    async def _read_hello(self) -> bytes:
        """Read the first line, and begin if it is a hello; return what has come behind it.

        This is all that a stranger can make the gateway do: look for the end of one short line.
        """
        said, more = b"", b""
        late = asyncio.get_running_loop().call_later(self._policy.hello_limit, self._late)
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
            return b""  # it has gone without a word
        try:
            if len(line) > LONGEST_HELLO:
                raise Fault(Code.HELLO_FIRST, f"A hello has at most {LONGEST_HELLO} bytes.")  # noqa: TRY301  (told as all others are)
            await self._greet(read(line))
        except Fault as fault:
            self.drop(fault if fault.code in FATAL else Fault(Code.HELLO_FIRST, fault.text))
        return rest

    def _late(self) -> None:
        self.drop(Fault(Code.HELLO_FIRST, "There has been no hello in time."))

    async def _take(self, line: bytes | None) -> None:
        """Do what a line asks for, or tell what is wrong with it; None is a line too long."""
        if self._ended.done() or self._session is None:
            return
        try:
            if line is None:
                most = self._policy.max_line
                raise Fault(Code.TOO_LONG, f"A line should have at most {most} bytes.")  # noqa: TRY301  (told as all others are)
            if line.strip():
                await self._obey(self._session, read(line))
        except Fault as fault:
            if fault.code in FATAL:
                self.drop(fault)
            elif not (fault.number and await self._begin(self._session, fault.number, fault)):
                await self._say(error_line(fault))

    async def _greet(self, sent: Sent) -> None:
        if not isinstance(sent, Hello):
            raise Fault(Code.HELLO_FIRST, 'The first line should be of type "hello".')
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
        await self._say(encoded(welcome))
        self._news.set()

    async def _obey(self, session: ClientSession, sent: Sent) -> None:
        match sent:
            case Ping():
                await self._say(encoded({"type": "pong"}))
            case Ack(seen=seen):
                session.outbox.acknowledge(seen)
            case Bye():
                await self._send_rest()
                self._gateway.end(session)
                if not self._ended.done():
                    self._ended.set_result(None)
            case Hello():
                raise Fault(Code.BAD_REQUEST, "There has been a hello already.")
            case Request(id=number, seen=seen):
                if seen is not None:
                    session.outbox.acknowledge(seen)
                is_new = await self._begin(session, number, sent)
                if not is_new and (answer := session.repeated(number)):
                    await self._say(answer)

    async def _begin(self, session: ClientSession, number: int, request: Request | Fault) -> bool:
        """Begin a request, unless it came before; return whether it is a new one.

        If too much waits to be acknowledged already, a new one ends the link instead.
        """
        await self._slots.acquire()  # before the request has begun: the link may be cut meanwhile
        if number > session.received and self._is_full(session):
            self._slots.release()
            await self._send_all()  # so that there is less of it when the client comes back
            self._drop_full()
            return True
        if not session.begin(number):
            self._slots.release()
            return False
        task = self._gateway.begin(session, number, request)
        self._requests.add(task)
        task.add_done_callback(self._done)
        return True

    def _done(self, task: asyncio.Task[None]) -> None:
        self._requests.discard(task)
        self._slots.release()

    # Out.

    async def _say(self, line: bytes) -> None:
        """Send a line without a number, and do not read on until there is room for more."""
        self._writer.write(line)
        await self._writer.drain()

    def _is_full(self, session: ClientSession) -> bool:
        return session.outbox.size > self._policy.outbox_bytes

    def _drop_full(self) -> None:
        text = f"More than {self._policy.outbox_bytes} bytes wait to be acknowledged."
        self.drop(Fault(Code.TOO_SLOW, text))

    async def _send(self) -> None:
        """Send what the client is told, in order, as fast as it is read."""
        while True:
            await self._news.wait()
            self._news.clear()
            await self._send_all()

    async def _send_all(self) -> None:
        while not self._ended.done() and self._session:
            # What a ply tells, and its answer, are one write.
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
        """Wait until all requests are answered, and send all of it."""
        while self._requests:
            await asyncio.wait(self._requests)
        with suppress(ConnectionError):
            await self._send_all()

    async def _beat(self) -> None:
        """Send a ping to a client that is silent; drop it if it does not answer."""
        while True:
            self._heard = False
            await asyncio.sleep(self._policy.heartbeat)
            if not self._heard and self._session:
                self._writer.write(encoded({"type": "ping"}))
                await asyncio.sleep(self._policy.heartbeat)
                if not self._heard:
                    self.drop(Fault(Code.SILENT, "There has been no answer to a ping."))
                    return

    async def _close(self) -> None:
        self._writer.close()
        try:
            async with asyncio.timeout(self._policy.close_grace):
                await self._writer.wait_closed()
        except TimeoutError:
            self._writer.abort()
        except OSError:
            pass  # it has gone by itself; asyncio's pipes cannot be ended once more


class LineBuffer:
    """Puts lines together from the pieces in which they come, and drops longer ones."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._begun = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """Yield the lines that end in ``data``, without their ends; None for one too long."""
        *whole, rest = data.split(b"\n")
        for piece in whole:
            yield from self._take(piece)
            if not self._skipping:
                yield bytes(self._begun).removesuffix(b"\r")
            self._begun.clear()
            self._skipping = False
        yield from self._take(rest)

    def end(self) -> Iterator[bytes]:
        """Yield what has come after the last end of a line, if anything has."""
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
