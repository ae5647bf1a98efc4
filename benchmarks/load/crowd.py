"""Load generation: many connections driven by one epoll loop.

It only handles sockets and bytes, since it has to be much faster than the servers under test, as
the bare echo shows. Must never know what any line means.
"""

from __future__ import annotations

import select
import socket
import time
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from benchmarks.load.processes import Running

PATIENCE = 60.0
"""Timeout of a server that has stopped answering, in seconds."""

MOST_TIMES = 10
"""Maximum wall time of a measurement, as a multiple of the CPU time that the server is to work:
other processes may hold it up, and a server that mostly waits leaves little to wait for."""

SHORTLY = 0.002
"""Seconds before a line is due in which the loop polls without sleeping: wake-ups are late."""

CHUNK = 1 << 16

Line = Callable[[int, int], bytes]
"""Returns the line to send, by the member's number and the count before; empty at the end."""


@dataclass(frozen=True)
class Rate:
    """Speed of a server.

    Attributes:
        wall: lines answered per second.
        cpu: lines answered per CPU second of the server, which is less affected by other load.
    """

    wall: float
    cpu: float


class _Watch:
    """A stopwatch of wall time and of a server's CPU time."""

    def __init__(self, server: Running, awaited: bytes) -> None:
        self._server, self._awaited = server, awaited
        self._cpu, self._begun = server.cpu, time.perf_counter()

    def should_continue(self, seconds: float, count: int) -> bool:
        """Return whether the server has worked for less than some CPU time, or answered nothing.

        Args:
            seconds: the CPU time.
            count: number of answers so far.

        Raises:
            TimeoutError: the server has stopped answering.
        """
        taken = time.perf_counter() - self._begun
        if not count and taken > seconds + PATIENCE:
            raise TimeoutError(f"{self._awaited!r} is not answered any more")
        worked = self._server.cpu - self._cpu
        return max(worked, taken / MOST_TIMES) < seconds or not count

    def rate(self, count: int) -> Rate:
        """Return the rate since the start, for a number of answered lines."""
        taken, cpu = time.perf_counter() - self._begun, self._server.cpu - self._cpu
        return Rate(count / taken, count / cpu)


class Crowd:
    """Connections to one server, numbered from 0.

    Args:
        server: the server.
        size: number of connections to open.
        hello: end of the server's greeting, which each connection waits for.

    Attributes:
        server: the server.
        sockets: the connections.
    """

    def __init__(self, server: Running, size: int, hello: bytes = b"") -> None:
        self._poll = select.epoll()
        self.server = server
        self.sockets: list[socket.socket] = []
        self._numbers: dict[int, int] = {}
        self._tails: list[bytes] = []
        try:
            self.grow(size, hello)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self.sockets)

    def close(self) -> None:
        """Close all connections."""
        for each in self.sockets:
            each.close()
        self._poll.close()

    def grow(self, more: int, hello: bytes = b"") -> None:
        """Open further connections, all at once, and wait for the greeting."""
        first = len(self)
        for number in range(first, first + more):
            each = socket.socket()
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            each.setblocking(False)  # noqa: FBT003  (the standard library's signature)
            each.connect_ex(self.place)
            self._poll.register(each, select.EPOLLIN)
            self.sockets.append(each)
            self._numbers[each.fileno()] = number
            self._tails.append(b"")
            self.connected(number)
        self.wait_for(range(first, first + more), hello)

    @property
    def place(self) -> tuple[str, int]:
        """Address and port to connect to."""
        return self.server.place

    def connected(self, number: int) -> None:
        """Set a new connection up; a hook for subclasses."""

    def send(self, number: int, data: bytes) -> None:
        """Send bytes, which always fit into the socket's buffer: few are in flight."""
        if data and self.sockets[number].send(data) < len(data):
            raise BufferError("too much is on its way")

    def receive_any(self, timeout: float = 0.05) -> Iterator[tuple[int, bytes]]:
        """Yield received data with the number of its member."""
        for handle, _ in self._poll.poll(timeout):
            number = self._numbers[handle]
            data = self.sockets[number].recv(CHUNK)
            if not data:
                raise ConnectionError(f"the server has left member {number}")
            yield number, data

    def wait_for(self, members: Iterable[int], words: bytes, times: int = 1) -> None:
        """Wait until each member has received some words a number of times.

        Raises:
            TimeoutError: some members did not receive the words.
        """
        missing = dict.fromkeys(members, times)
        if not words:
            return
        end = time.perf_counter() + PATIENCE
        while missing:
            for number, data in self.receive_any():
                if found := self._count(number, data, words):
                    missing[number] = missing.get(number, 0) - found
                    if missing[number] <= 0:
                        del missing[number]
            if time.perf_counter() > end:
                some = sorted(missing)[:5]
                last = self._tails[some[0]]
                raise TimeoutError(f"no {words!r} for {len(missing)}, such as {some}: {last!r}")

    def say(self, members: Sequence[int], line: Callable[[int], bytes], answer: bytes) -> None:
        """Let each member send a line, and wait until all have been answered."""
        for number in members:
            self.send(number, line(number))
        self.wait_for(members, answer)

    def quiet(self, seconds: float = 0.2) -> None:
        """Discard data until nothing arrives for some seconds."""
        while list(self.receive_any(seconds)):
            pass

    def rate(
        self, talkers: Sequence[int], line: Line, answer: bytes, seconds: float, window: int
    ) -> Rate:
        """Measure the rate of answered lines.

        Counting starts after as many answers as lines can be in flight, and goes on for at least as
        many: a server may answer them all in one burst.

        Args:
            talkers: the members that send.
            line: the lines to send.
            answer: found once in the answer to each line, for its sender.
            seconds: CPU seconds that the server is to work.
            window: lines in flight for each member; 1 is ping-pong.
        """
        sent, owed = dict.fromkeys(talkers, window), dict.fromkeys(talkers, 0)
        batch, burst = max(1, window // 2), len(talkers) * window

        def passed_on() -> int:
            """Send more lines for those answered; return the number of answers."""
            answered = 0
            for number, found in self._answers(answer, sent):
                answered += found
                owed[number] += found
                if owed[number] >= batch:
                    first, more = sent[number], owed[number]
                    lines = [line(number, each) for each in range(first, first + more)]
                    self.send(number, b"".join(lines))
                    sent[number] += more
                    owed[number] = 0
            return answered

        for number in talkers:
            self.send(number, b"".join(line(number, each) for each in range(window)))
        watch, before, answered = _Watch(self.server, answer), 0, 0
        while before < burst and watch.should_continue(seconds, 0):
            before += passed_on()
        watch = _Watch(self.server, answer)
        while watch.should_continue(seconds, max(0, answered - burst)):
            answered += passed_on()
        rate = watch.rate(answered)
        missing = sum(sent.values()) - before - answered
        while missing and watch.should_continue(seconds, 0):
            missing -= sum(found for _, found in self._answers(answer, sent))
        self.quiet()
        return rate

    def _answers(self, answer: bytes, talkers: Container[int]) -> Iterator[tuple[int, int]]:
        """Yield members among the talkers with the number of answers just received."""
        for number, data in self.receive_any():
            if (found := self._count(number, data, answer)) and number in talkers:
                yield number, found

    def turns(self, pairs: Sequence[int], line: Line, told: bytes, seconds: float) -> Rate:
        """Measure the rate of lines broadcast to pairs whose members take turns.

        Args:
            pairs: numbers of the first members; the second members follow them.
            line: the lines to send, by the member's number and the number of lines the pair has
                sent.
            told: found once in the output to each member of the pair, for each line.
            seconds: maximum CPU seconds of the server; the end is earlier when all pairs run out of
                lines.
        """
        seen = {number: 0 for first in pairs for number in (first, first + 1)}
        going, answered = len(pairs), 0
        for first in pairs:
            self.send(first, line(first, 0))
        watch = _Watch(self.server, told)
        while going and watch.should_continue(seconds, answered):
            for number, data in self.receive_any():
                if (found := self._count(number, data, told)) and number in seen:
                    seen[number] += found  # one read may contain lines of both sides
                    if seen[number] % 2 == number % 2:
                        answered += 1
                        next_line = line(number, seen[number])
                        going -= not next_line
                        self.send(number, next_line)
        rate = watch.rate(answered)
        self.quiet()
        return rate

    def delays(
        self,
        talkers: Sequence[int],
        line: Line,
        answer: bytes,
        seconds: float,
        pace: float,
        *,
        hearer: int = 0,
    ) -> list[float]:
        """Return the sorted delays in seconds, from when each line is due until its answer.

        Counting from the due time, not from the sending, avoids coordinated omission.

        Args:
            talkers: the members that send, in turn.
            line: the lines to send.
            answer: found once in the answer to each line.
            seconds: duration.
            pace: lines a second, regardless of the answers.
            hearer: which member receives the answer, as an offset to the sender's number.
        """
        waiting: dict[int, deque[float]] = {number + hearer: deque() for number in talkers}
        found: list[float] = []
        total = int(seconds * pace)
        begun, count = time.perf_counter(), 0
        while len(found) < total:
            now = time.perf_counter()
            if now > begun + seconds + PATIENCE:
                raise TimeoutError(f"{total - len(found)} of {total} lines were not answered")
            while count < total and begun + count / pace <= now:
                number = talkers[count % len(talkers)]
                self.send(number, line(number, count))
                waiting[number + hearer].append(begun + count / pace)
                count += 1
            # Sleep until shortly before the next line is due, to leave the CPU to the server.
            due = begun + count / pace if count < total else now + PATIENCE
            for number, data in self.receive_any(max(0.0, min(due - now - SHORTLY, 0.05))):
                times = self._count(number, data, answer) if number in waiting else 0
                now = time.perf_counter()
                found += [now - waiting[number].popleft() for _ in range(times)]
        return sorted(found)

    def _count(self, number: int, data: bytes, words: bytes) -> int:
        """Count the ends of words in new data, including words that were split between reads."""
        data = self._tails[number] + data
        self._tails[number] = data[1 - len(words) :] if len(words) > 1 else b""
        return data.count(words)
