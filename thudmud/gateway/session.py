"""The session of one client, which outlasts its links: what has been asked, and what was answered.

In a session no request is carried out twice, and nothing that the client is told is lost or comes
twice. The limits of a gateway are here, too.
"""

from __future__ import annotations

from typing import Protocol

from thudmud.gateway.requests import Answer, Code, Fault, Reply, reply_line
from thudmud.values import Value


class GatewayPolicy(Value):
    """The limits of a gateway, and what holds at all its boards. Times are in seconds.

    Attributes:
        secret: what a client has to know; "" if nothing.
        max_line: the longest line that a client may send, in bytes.
        outbox_bytes: how much may wait to be acknowledged before the link is dropped.
        in_flight: how many requests of a client are carried out at once.
        links: how many clients may be connected.
        boards: how many boards may be open.
        players: how many players may be at one board.
        heartbeat: how long a client may be silent before it is sent a ping.
        hello_limit: how long a client may take to say hello.
        resume_grace: how long a session is kept after its link has dropped.
        close_grace: how long a link that ends may take to send what is left.
        quiet_plies: after how many plies without a capture one player may end a battle.
        seat_grace: how long a player may be away before the other need not wait.
        idle_limit: after how long without a ply a battle without a clock may be claimed.
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


REMEMBERED = 1000
"""How many answers are kept for requests that come again."""


class ClientOutbox:
    """Lines with numbers, from 1, each kept until the client acknowledges it.

    Attributes:
        last: the number of the newest line.
        seen: the number up to which all are acknowledged.
        size: how many bytes are kept.
    """

    def __init__(self) -> None:
        self.last = self.seen = self.size = 0
        self._lines: dict[int, bytes] = {}

    def add(self, reply: Reply) -> bytes:
        """Keep a reply as the next line, and return that."""
        self.last += 1
        line = self._lines[self.last] = reply_line(reply, self.last)
        self.size += len(line)
        return line

    def line(self, number: int) -> bytes | None:
        """Return the line of a number; None if it is acknowledged, or not there yet."""
        return self._lines.get(number)

    def acknowledge(self, seen: int) -> None:
        """Forget the lines up to a number.

        Raises:
            Fault: there is no line of that number, or the client has said before that it has more.
        """
        if not self.seen <= seen <= self.last:
            text = f'"seen" should be from {self.seen} to {self.last}, not {seen}.'
            raise Fault(Code.BAD_SEEN, text)
        for number in range(self.seen + 1, seen + 1):
            self.size -= len(self._lines.pop(number))
        self.seen = seen


class ClientLink(Protocol):
    """A connection of a client, as its session sees it.

    Attributes:
        address: where it comes from; "" if nobody else can come that way.
    """

    address: str

    def drop(self, fault: Fault) -> None:
        """Tell the client why, and end the link."""

    def wake(self) -> None:
        """Send what the session has been told besides."""

    async def wait(self, seconds: float) -> None:
        """Let a client wait that has no session yet.

        Raises:
            ConnectionError: it has gone, or sends more instead.
        """


class ClientSession:
    """What is kept for a client between its links. The token, when shown, resumes the session.

    Attributes:
        received: the number of its last request.
        over: whether the session has ended: nothing is begun for it any more.
    """

    def __init__(self, client: str, token: str) -> None:
        self.client, self.token = client, token
        self.outbox = ClientOutbox()
        self.received = 0
        self.link: ClientLink | None = None
        self.over = False
        self._begun: set[int] = set()
        self._answers: dict[int, tuple[int, bytes]] = {}

    def begin(self, number: int) -> bool:
        """Take note of a request; return False if it came before, and is not to be done again."""
        if number <= self.received:
            return False
        self.received = number
        self._begun.add(number)
        return True

    def repeated(self, number: int) -> bytes | None:
        """Return the line that answered a request; None if the client gets it anyway, in its turn.

        Raises:
            Fault: the answer is forgotten.
        """
        if number in self._begun:
            return None
        if number in self._answers:
            seq, line = self._answers[number]
            return line if seq <= self.outbox.seen else None
        text = f"Request {number} came before; each has a higher number than the last."
        raise Fault(Code.REPEATED, text, number)

    def tell(self, reply: Reply) -> bytes:
        """Tell the client something; return it as the line that it is sent."""
        line = self.outbox.add(reply)
        if self.link:
            self.link.wake()
        return line

    def answer(self, answer: Answer) -> None:
        """Answer a request, after all that it has brought about."""
        self._begun.discard(answer.number)
        line = self.tell(answer)
        self._answers[answer.number] = self.outbox.last, line
        if len(self._answers) > REMEMBERED:
            del self._answers[next(iter(self._answers))]
