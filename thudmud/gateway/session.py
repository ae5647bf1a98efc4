"""Client sessions, which survive lost connections, and the limits of a gateway.

Within a session, each request is carried out at most once, and no reply is lost or duplicated. For
this, requests and replies have increasing numbers. Replies are kept in an outbox until the client
acknowledges them, and the answers to recent requests even longer.
"""

from __future__ import annotations

from typing import Protocol

from thudmud.gateway.requests import Answer, Code, Reply, RequestError, reply_line
from thudmud.values import Value


class GatewayPolicy(Value):
    """The limits of a gateway, and the settings of its boards. Times are in seconds.

    Attributes:
        secret: the secret that clients must send; "" for none.
        max_line: the maximum length of a client's line, in bytes.
        outbox_bytes: the maximum size of unacknowledged replies before the link is dropped.
        in_flight: the maximum number of a client's concurrent requests.
        links: the maximum number of clients, including those whose sessions may be resumed.
        boards: the maximum number of open boards.
        players: the maximum number of players at one board.
        heartbeat: the time without input after which the client is sent a ping.
        hello_limit: the time limit for a client's hello.
        resume_grace: the time for which a session can be resumed after its link was lost.
        close_grace: the time limit for sending the rest when a link ends.
        quiet_plies: the number of plies without a capture after which one player may end a battle.
        seat_grace: the absence after which a player's opponent need not wait any longer.
        idle_limit: the time without a ply after which a battle without a clock may be claimed.
        first_move: the time for the first move of each side before its clock starts.
    """

    secret: str = ""
    max_line: int = 8192
    outbox_bytes: int = 1_048_576
    in_flight: int = 64
    links: int = 16
    boards: int = 1000
    players: int = 200
    heartbeat: float = 30.0
    hello_limit: float = 5.0
    resume_grace: float = 600.0
    close_grace: float = 3.0
    quiet_plies: int = 200
    seat_grace: float = 300.0
    idle_limit: float = 600.0
    first_move: float = 0.0


REMEMBERED = 1000
"""The number of answers that are kept for repeated requests."""


class ClientOutbox:
    """The unacknowledged lines of a session, numbered from 1.

    Attributes:
        last: the number of the newest line.
        seen: the number of the last acknowledged line.
        size: the total size of the unacknowledged lines, in bytes.
    """

    def __init__(self) -> None:
        self.last = self.seen = self.size = 0
        self._lines: dict[int, bytes] = {}

    def add(self, reply: Reply) -> bytes:
        """Append a reply as the next line; return the line."""
        self.last += 1
        line = self._lines[self.last] = reply_line(reply, self.last)
        self.size += len(line)
        return line

    def line(self, number: int) -> bytes | None:
        """Return the line with the given number; None if acknowledged or not there yet."""
        return self._lines.get(number)

    def acknowledge(self, seen: int) -> None:
        """Discard the lines up to ``seen``.

        Raises:
            RequestError: no line with that number was added, or a later one was acknowledged.
        """
        if not self.seen <= seen <= self.last:
            text = f'"seen": expected {self.seen} to {self.last}, got {seen}.'
            raise RequestError(Code.BAD_SEEN, text)
        for number in range(self.seen + 1, seen + 1):
            self.size -= len(self._lines.pop(number))
        self.seen = seen


class ClientLink(Protocol):
    """The session's view of a client's connection.

    Attributes:
        address: the client's address, for rate limits; "" if only this user can connect that way.
    """

    address: str

    def drop(self, fault: RequestError) -> None:
        """Send a fault to the client, and end the link."""

    def wake(self) -> None:
        """Send new lines of the session's outbox."""

    async def wait(self, seconds: float) -> None:
        """Delay a client that has no session yet.

        Raises:
            ConnectionError: the client disconnected, or sent something, before the time was up.
        """


class ClientSession:
    """The state of a client between links.

    Attributes:
        client: the name of the client.
        token: the secret with which the client resumes the session.
        outbox: the unacknowledged replies.
        received: the number of the last request.
        link: the current connection; None while the client is disconnected.
        is_over: whether the session has ended, so that no more requests are started.
    """

    def __init__(self, client: str, token: str) -> None:
        self.client, self.token = client, token
        self.outbox = ClientOutbox()
        self.received = 0
        self.link: ClientLink | None = None
        self.is_over = False
        self._begun: set[int] = set()
        self._answers: dict[int, tuple[int, bytes]] = {}

    def begin(self, number: int) -> bool:
        """Record a request; return False for a repetition, which must not be carried out again."""
        if number <= self.received:
            return False
        self.received = number
        self._begun.add(number)
        return True

    def repeated_answer(self, number: int) -> bytes | None:
        """Return the answer to a repeated request, as the line that was sent.

        None if the line will be sent anyway: the request is still running, or its answer is
        unacknowledged, and so still in the outbox.

        Raises:
            RequestError: the answer is no longer kept.
        """
        if number in self._begun:
            return None
        if number in self._answers:
            seq, line = self._answers[number]
            return line if seq <= self.outbox.seen else None
        text = f"Expected a request number higher than the last, got {number}."
        raise RequestError(Code.REPEATED, text, number)

    def tell(self, reply: Reply) -> bytes:
        """Queue a reply for the client; return it as a line."""
        line = self.outbox.add(reply)
        if self.link:
            self.link.wake()
        return line

    def answer(self, answer: Answer) -> None:
        """Queue the answer to a request, after all notices that the request caused."""
        self._begun.discard(answer.number)
        line = self.tell(answer)
        self._answers[answer.number] = self.outbox.last, line
        if len(self._answers) > REMEMBERED:
            del self._answers[next(iter(self._answers))]
