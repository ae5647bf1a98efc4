"""Many connections at once, driven by one loop: the load.

Owns sockets and bytes, and nothing but those: it has to be much faster than what it drives, which
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
"""Seconds after which a server that does not answer is given up."""

MOST_TIMES = 10
"""How many times as long a measurement may take as the server is to work: others may keep it from
that, and where it waits more than it works there is little to wait for."""

SHORTLY = 0.002
"""Seconds before a line is due in which nobody sleeps, since waking may take as long."""

CHUNK = 1 << 16

Line = Callable[[int, int], bytes]
"""Returns what a member of the crowd sends, by the member's number and the line's; nothing if that
is all."""


@dataclass(frozen=True)
class Rate:
    """How fast a server was.

    Attributes:
        wall: lines answered in a second.
        cpu: lines answered in a second of its processor's work; what else the machine does at the
            same time matters less to this.
    """

    wall: float
    cpu: float


class _Watch:
    """Takes the time, and that which a server's processor works."""

    def __init__(self, server: Running, awaited: bytes) -> None:
        self._server, self._awaited = server, awaited
        self._cpu, self._begun = server.cpu, time.perf_counter()

    def should_continue(self, seconds: float, count: int) -> bool:
        """Return whether it has not worked for so long yet, or nothing has been answered."""
        taken = time.perf_counter() - self._begun
        if not count and taken > seconds + PATIENCE:
            raise TimeoutError(f"{self._awaited!r} is not answered any more")
        worked = self._server.cpu - self._cpu
        return max(worked, taken / MOST_TIMES) < seconds or not count

    def rate(self, count: int) -> Rate:
        """Return the rate at which so many lines were answered since then."""
        taken, cpu = time.perf_counter() - self._begun, self._server.cpu - self._cpu
        return Rate(count / taken, count / cpu)


class Crowd:
    """Connections to one server, numbered from 0.

    Args:
        server: which.
        size: how many there are to be.
        hello: how the server's first words end, which are waited for.

    Attributes:
        server: the same.
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
        """Connect so many more, all at once."""
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
        """Where they connect."""
        return self.server.place

    def connected(self, number: int) -> None:
        """Begin a connection, where that takes more than to wait."""

    def send(self, number: int, data: bytes) -> None:
        """Send bytes; there is always room for them, since few are on their way."""
        if data and self.sockets[number].send(data) < len(data):
            raise BufferError("too much is on its way")

    def receive_any(self, timeout: float = 0.05) -> Iterator[tuple[int, bytes]]:
        """Yield what has come, each with the number of the member it has come to."""
        for handle, _ in self._poll.poll(timeout):
            number = self._numbers[handle]
            data = self.sockets[number].recv(CHUNK)
            if not data:
                raise ConnectionError(f"the server has left member {number}")
            yield number, data

    def wait_for(self, members: Iterable[int], words: bytes, times: int = 1) -> None:
        """Wait until all of these members have been sent some words, so many times."""
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
        """Let these members send a line each, and wait until all have been answered."""
        for number in members:
            self.send(number, line(number))
        self.wait_for(members, answer)

    def quiet(self, seconds: float = 0.2) -> None:
        """Take what is still on its way, until nothing has come for some time."""
        while list(self.receive_any(seconds)):
            pass

    def rate(
        self, talkers: Sequence[int], line: Line, answer: bytes, seconds: float, window: int
    ) -> Rate:
        """Return how many lines a second are answered.

        It begins to count once as many have been answered as are on their way at once, and counts
        as many at least: a server may answer them all in one burst.

        Args:
            talkers: the members that send.
            line: what they send.
            answer: what is found once in the answer to each line of one's own.
            seconds: how long the server works for it.
            window: how many lines of each are on their way: 1 is ping-pong.
        """
        sent, owed = dict.fromkeys(talkers, window), dict.fromkeys(talkers, 0)
        batch, burst = max(1, window // 2), len(talkers) * window

        def passed_on() -> int:
            """Let those who are answered send more; return how many answers that were."""
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
        """Yield how many lines of which of them are answered now."""
        for number, data in self.receive_any():
            if (found := self._count(number, data, answer)) and number in talkers:
                yield number, found

    def turns(self, pairs: Sequence[int], line: Line, told: bytes, seconds: float) -> Rate:
        """Return how many lines a second are told to pairs whose members take turns.

        Args:
            pairs: the numbers of their first members; the second ones come next.
            line: what is sent, by the member's number and how many lines the pair has sent.
            told: what is found once in what both are told of each line.
            seconds: how long the server works for it, at most: it ends when every pair has sent
                all.
        """
        seen = {number: 0 for first in pairs for number in (first, first + 1)}
        going, answered = len(pairs), 0
        for first in pairs:
            self.send(first, line(first, 0))
        watch = _Watch(self.server, told)
        while going and watch.should_continue(seconds, answered):
            for number, data in self.receive_any():
                if (found := self._count(number, data, told)) and number in seen:
                    seen[number] += found  # both sides' lines may come in one read
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
        """Return the seconds from when each line should be sent to its answer, in order of length.

        Args:
            talkers: the members that send, in turn.
            line: what they send.
            answer: what is found once in the answer to each line.
            seconds: how long it goes on.
            pace: how many lines a second are sent, however long their answers take.
            hearer: who is answered: the talker, or who comes so many behind.
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
            # Where lines are rare it sleeps until shortly before the next: the server wants it all.
            due = begun + count / pace if count < total else now + PATIENCE
            for number, data in self.receive_any(max(0.0, min(due - now - SHORTLY, 0.05))):
                times = self._count(number, data, answer) if number in waiting else 0
                now = time.perf_counter()
                found += [now - waiting[number].popleft() for _ in range(times)]
        return sorted(found)

    def _count(self, number: int, data: bytes, words: bytes) -> int:
        """Return how often words end in what has just come, wherever it was cut."""
        data = self._tails[number] + data
        self._tails[number] = data[1 - len(words) :] if len(words) > 1 else b""
        return data.count(words)
