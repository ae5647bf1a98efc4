"""One link of a client's: bytes -> lines, and lines out, until either side has had enough.

The first words of a link and its last, its heartbeat, and the limits on what either side makes the
other keep.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import StreamReader
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Protocol

from thudmud.gateway import requests
from thudmud.gateway.gateway import Gateway
from thudmud.gateway.requests import FATAL, VERSION, Code, Fault, error, line
from thudmud.gateway.session import ClientSession


class LineBuffer:
    """Puts lines together from pieces. A line that is too long is told of once, and not kept.

    Args:
        longest: the most bytes that a line may have, without its end.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._begun = bytearray()
        self._skips = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """Yield the lines that end in ``data``, without their ends; None for one too long."""
        *whole, rest = data.split(b"\n")
        for piece in whole:
            yield from self._take(piece)
            if not self._skips:
                yield bytes(self._begun).removesuffix(b"\r")
            self._begun.clear()
            self._skips = False
        yield from self._take(rest)

    def end(self) -> Iterator[bytes]:
        """Yield what has come after the last end of a line, if anything has."""
        if self._begun:
            yield bytes(self._begun)

    def _take(self, piece: bytes) -> Iterator[None]:
        if self._skips:
            return
        self._begun += piece
        if len(self._begun) > self._longest:
            self._begun.clear()
            self._skips = True
            yield None


PIECE = 65_536
"""How many bytes are read at once."""

_AT_ONCE = 65_536
"""Bytes after which it is waited until the client has read."""

_log = logging.getLogger(__name__)


class Writer(Protocol):
    """What a link writes to; asyncio's streams are such."""

    def write(self, data: bytes) -> None:
        """Send bytes, or keep them to be sent."""

    async def drain(self) -> None:
        """Wait until not too much is kept to be sent."""

    def close(self) -> None:
        """Send what is kept, and end."""

    async def wait_closed(self) -> None:
        """Wait until all is sent."""

    def abort(self) -> None:
        """End at once."""


class Link:
    """A connection, whatever it is made of.

    Args:
        gateway: where requests are carried out.
        reader: where lines come from.
        writer: where lines go.
        trusted: whether the client need not know the secret.
    """

    def __init__(
        self, gateway: Gateway, reader: StreamReader, writer: Writer, *, trusted: bool = False
    ) -> None:
        self._gateway, self._policy = gateway, gateway.policy
        self._reader, self._writer = reader, writer
        self._trusted = trusted
        self._session: ClientSession | None = None
        self._sent = 0
        self._heard = False
        self._ended = asyncio.get_running_loop().create_future()
        self._news = asyncio.Event()
        self._free = asyncio.Semaphore(self._policy.in_flight)
        self._work: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serve the link until it ends."""
        reading = asyncio.create_task(self._read())
        others = [asyncio.create_task(each) for each in (self._send(), self._beat())]
        try:
            await asyncio.wait({reading, self._ended, *others}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done() and not reading.exception() and not self._ended.done():
                others.append(asyncio.create_task(self._finish()))
                await asyncio.wait({others[-1], self._ended}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (reading, *others):
                task.cancel()
            for result in await asyncio.gather(reading, *others, return_exceptions=True):
                _log_mistake(result)
            if self._session:
                self._gateway.release(self._session, self)
            await self._close()

    def drop(self, fault: Fault) -> None:
        """Tell the client why, and end the link."""
        if not self._ended.done():
            self._writer.write(error(fault))
            self._ended.set_result(None)

    # In.

    async def _read(self) -> None:
        lines = LineBuffer(self._policy.max_line)
        greeting = asyncio.get_running_loop().call_later(self._policy.hello_limit, self._late)
        try:
            while data := await self._reader.read(PIECE):
                self._heard = True
                for each in lines.feed(data):
                    await self._take(each)
            for each in lines.end():
                await self._take(each)
        finally:
            greeting.cancel()

    async def _take(self, given: bytes | None) -> None:
        if self._ended.done():
            return
        try:
            if given is None:
                most = self._policy.max_line
                raise Fault(Code.TOO_LONG, f"A line should have at most {most} bytes.")  # noqa: TRY301  (told as all others are)
            if given.strip():
                await self._heed(requests.read(given))
        except Fault as fault:
            if self._session is None or fault.code in FATAL:
                self._refuse(fault)
            elif fault.number is None or not await self._refuse_request(fault.number, fault):
                await self._say(error(fault))

    def _refuse(self, fault: Fault) -> None:
        """End a link that has begun badly, or cannot go on."""
        self.drop(fault if fault.code in FATAL else Fault(Code.HELLO_FIRST, fault.text))

    async def _heed(self, sent: requests.Sent) -> None:
        """Do what a client asks for.

        Raises:
            Fault: it is not done.
        """
        session = self._session
        if session is None:
            await self._greet(sent)
            return
        match sent:
            case requests.Ping():
                await self._say(line({"type": "pong"}))
            case requests.Ack(seen=seen):
                session.acknowledge(seen)
            case requests.Bye():
                await self._finish()
                self._gateway.end(session)
                if not self._ended.done():
                    self._ended.set_result(None)
            case requests.Hello():
                raise Fault(Code.BAD_REQUEST, "There has been a hello already.")
            case requests.Request():
                await self._ask(session, sent)

    async def _greet(self, sent: requests.Sent) -> None:
        if not isinstance(sent, requests.Hello):
            raise Fault(Code.HELLO_FIRST, 'The first line should be of type "hello".')
        session, resumed = self._gateway.greet(sent, self, trusted=self._trusted)
        self._session, self._sent = session, session.outbox.seen
        await self._say(
            line(
                {
                    "type": "welcome",
                    "version": VERSION,
                    "session": session.token,
                    "resumed": resumed,
                    "received": session.received,
                    "heartbeat": self._policy.heartbeat,
                    "max_line": self._policy.max_line,
                    "outbox_bytes": self._policy.outbox_bytes,
                }
            )
        )
        session.news = self._told
        self._news.set()

    async def _ask(self, session: ClientSession, request: requests.Request) -> None:
        if request.seen is not None:
            session.acknowledge(request.seen)
        if await self._begin(session, request.id, partial(self._gateway.begin, session, request)):
            return
        if answer := session.repeated(request.id):
            await self._say(answer)

    async def _refuse_request(self, number: int, fault: Fault) -> bool:
        """Answer a request that cannot be read; return whether it is a new one."""
        session = self._session
        if session is None:
            return False
        return await self._begin(
            session, number, partial(self._gateway.refuse, session, number, fault)
        )

    async def _begin(
        self, session: ClientSession, number: int, begin: Callable[[], asyncio.Task[None]]
    ) -> bool:
        """Begin a request, unless it came before; return whether it is a new one.

        A new one ends the link instead, if too much waits to be acknowledged already.
        """
        await self._free.acquire()  # before the request has begun: the link may be cut meanwhile
        if number > session.received and self._is_full(session):
            self._free.release()
            await self._send_all()  # so that there is less of it when the client comes back
            self._drop_full()
            return True
        if not session.begin(number):
            self._free.release()
            return False
        task = begin()
        self._work.add(task)
        task.add_done_callback(self._done)
        return True

    def _done(self, task: asyncio.Task[None]) -> None:
        self._work.discard(task)
        self._free.release()

    # Out.

    async def _say(self, words: bytes) -> None:
        """Send a line without a number, and do not listen until there is room for more."""
        self._writer.write(words)
        await self._writer.drain()

    def _told(self) -> None:
        """Take note that there is more to be sent; but if too much waits, that is the end."""
        self._news.set()
        if self._session and self._is_full(self._session):
            self._drop_full()

    def _is_full(self, session: ClientSession) -> bool:
        return session.outbox.size > self._policy.outbox_bytes

    def _drop_full(self) -> None:
        text = f"More than {self._policy.outbox_bytes} bytes wait to be acknowledged."
        self.drop(Fault(Code.TOO_SLOW, text))

    async def _send(self) -> None:
        """Send what is told, in order, as fast as it is read."""
        while True:
            await self._news.wait()
            self._news.clear()
            await self._send_all()

    async def _send_all(self) -> None:
        while not self._ended.done() and self._session:
            # What a ply tells, and its answer, are one write.
            lines, size = [], 0
            while size < _AT_ONCE and (told := self._session.outbox.line(self._sent + 1)):
                self._sent += 1
                lines.append(told)
                size += len(told)
            if not lines:
                return
            self._writer.write(b"".join(lines))
            await self._writer.drain()

    async def _finish(self) -> None:
        """Answer what has been asked for, and send all of it."""
        while self._work:
            await asyncio.wait(self._work)
        with suppress(ConnectionError):
            await self._send_all()

    # Time.

    def _late(self) -> None:
        if self._session is None:
            self.drop(Fault(Code.HELLO_FIRST, "There has been no hello in time."))

    async def _beat(self) -> None:
        """Ask a client that says nothing for a word; drop it if that does not come."""
        while True:
            self._heard = False
            await asyncio.sleep(self._policy.heartbeat)
            if not self._heard and self._session:
                self._writer.write(line({"type": "ping"}))
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


def _log_mistake(result: object) -> None:
    """Log what a link ended with, unless that was the client's doing, or is as it should be."""
    if isinstance(result, Exception) and not isinstance(result, OSError):
        _log.error("a link has failed", exc_info=result)
