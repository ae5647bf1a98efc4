"""One client, however often its link drops: which requests have come, and what it has been told.

A session outlasts its links. No request is carried out twice in it, and nothing of what is told is
lost or comes twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from thudmud.gateway.requests import (
    Answer,
    Code,
    Fault,
    Notice,
    Reply,
    written,
)


@dataclass(frozen=True, slots=True)
class GatewayPolicy:
    """What a gateway's client may do, and for how long things are kept for it.

    Attributes:
        secret: what a client has to know; "" where nobody is asked for it.
        max_line: the most bytes of a line that a client sends.
        outbox_bytes: how many bytes may wait to be acknowledged before a link is dropped.
        in_flight: how many requests of a client are carried out at once.
        links: how many clients may be connected.
        boards: how many boards may be open.
        players: how many players may be at one board.
        heartbeat: after how many seconds without a word a client is asked for one.
        hello_limit: how many seconds a client has to say who it is.
        resume_grace: how many seconds a session is kept whose link has dropped.
        close_grace: how many seconds a link may take to send its last words.
        quiet_plies: after how many plies without a capture one player may end a battle.
        seat_grace: how many seconds a player may be away before the other need not wait.
    """

    secret: str = ""
    max_line: int = 8192
    outbox_bytes: int = 1_048_576
    in_flight: int = 64
    links: int = 16
    boards: int = 1000
    players: int = 200
    heartbeat: float = 30.0
    hello_limit: float = 10.0
    resume_grace: float = 600.0
    close_grace: float = 3.0
    quiet_plies: int = 200
    seat_grace: float = 300.0


REMEMBERED = 1000
"""How many answers are kept for requests that are repeated."""


class ClientOutbox:
    """Numbered lines, each kept until it is acknowledged.

    Attributes:
        last: the number of the newest; they count from 1.
        seen: up to which number they are acknowledged.
        size: how many bytes are kept.
    """

    def __init__(self) -> None:
        self.last = self.seen = self.size = 0
        self._lines: dict[int, bytes] = {}

    def add(self, reply: Reply) -> bytes:
        """Keep a reply as the next line, and return that."""
        self.last += 1
        line = self._lines[self.last] = written(reply, self.last)
        self.size += len(line)
        return line

    def line(self, number: int) -> bytes | None:
        """Return a line that is kept; None if there is none of that number, or no longer."""
        return self._lines.get(number)

    def acknowledge(self, seen: int) -> bool:
        """Forget the lines up to a number; return whether there can be such an acknowledgement."""
        if not self.seen <= seen <= self.last:
            return False
        for number in range(self.seen + 1, seen + 1):
            self.size -= len(self._lines.pop(number))
        self.seen = seen
        return True


class ClientSession:
    """What is kept for a client between its links.

    Args:
        client: its name.
        token: what it shows to go on with the session.

    Attributes:
        outbox: what it is told.
        received: the number of its last request.
        news: called when there is more to be sent; whoever has the link sets it.
        over: whether it has ended, and nothing is to be begun for it any more.
    """

    def __init__(self, client: str, token: str) -> None:
        self.client, self.token = client, token
        self.outbox = ClientOutbox()
        self.received = 0
        self.news: Callable[[], None] | None = None
        self.over = False
        self._begun: set[int] = set()
        self._answers: dict[int, tuple[int, bytes]] = {}

    @property
    def busy(self) -> bool:
        """Whether there are requests that are not answered yet."""
        return bool(self._begun)

    def begin(self, number: int) -> bool:
        """Return whether a request is new, and to be carried out now."""
        if number <= self.received:
            return False
        self.received = number
        self._begun.add(number)
        return True

    def repeated(self, number: int) -> bytes | None:
        """Return the line that has answered a request; None if it is on its way, in its turn.

        Raises:
            Fault: it is not known any more what came of it.
        """
        if number in self._begun:
            return None
        if number in self._answers:
            seq, line = self._answers[number]
            return line if seq <= self.outbox.seen else None
        text = f"Request {number} came before; each has a higher number than the last."
        raise Fault(Code.REPEATED, text, number)

    def tell(self, happened: Notice) -> None:
        """Tell a client what has happened at one of its boards."""
        self.outbox.add(happened)
        if self.news:
            self.news()

    def answer(self, answer: Answer) -> None:
        """Tell a client what has come of a request, behind all that has happened by it."""
        self._begun.discard(answer.number)
        line = self.outbox.add(answer)
        self._answers[answer.number] = self.outbox.last, line
        if len(self._answers) > REMEMBERED:
            del self._answers[next(iter(self._answers))]
        if self.news:
            self.news()

    def acknowledge(self, seen: int) -> None:
        """Forget what a client says that it has.

        Raises:
            Fault: it cannot have that, or has said already that it has more.
        """
        if not self.outbox.acknowledge(seen):
            text = f'"seen" should be from {self.outbox.seen} to {self.outbox.last}, not {seen}.'
            raise Fault(Code.BAD_SEEN, text)
