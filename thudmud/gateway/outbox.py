"""What a client has been sent, or is to be sent, until it says that it has it.

Owns the numbers of answers and events. Must never know who reads them.
"""

from __future__ import annotations

from thudmud.gateway.replies import Reply, written


class Outbox:
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
