"""Attackers: a separate process that floods a server for some seconds, then stops by itself.

The process reads a `Flood` as JSON from its standard input, prints ``begun`` once the attackers
have logged in, and prints a `Sent` as JSON when it stops. It only handles sockets and bytes; their
meaning is up to `benchmarks/attacks.py`.
"""

from __future__ import annotations

import json
import select
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from itertools import cycle

from benchmarks.load.processes import ROOT, letters

CHUNK = 1 << 16
PATIENCE = 10.0  # timeout of logging in and of the TLS handshake, in seconds
TICK = 0.005
AGAIN = 0.25  # seconds before reconnecting
NAME_PROMPT, PROMPT = b"name? ", b"> "


@dataclass(frozen=True)
class Flood:
    """Behaviour of the attackers.

    Attributes:
        seconds: duration.
        count: number of concurrent connections.
        payload: pieces of data that each connection sends in a cycle, as Latin-1; ``{}`` is
            replaced with the number of pieces sent before.
        per_second: pieces a second from each connection.
        at_once: pieces that each connection sends at the start.
        addresses: number of source addresses in the loopback network.
        name: prefix of the names to log in under; empty for no login.
        before: lines that each sends after logging in; ``{}`` is replaced with its number.
        opening: data that each sends once connected, as Latin-1; ``{}`` is replaced with its number
            in letters.
        reads: whether to read the server's output.
        should_hang_up: whether to reconnect after each piece.
        uses_tls: whether to connect by TLS.
        waits: whether to wait for the server's prompts, which an echo lacks.
        has_staggered_starts: whether each connection starts at another piece of the payload.
    """

    seconds: float = 0.0
    count: int = 1
    payload: Sequence[str] = ()
    per_second: float = 20.0
    at_once: int = 1
    addresses: int = 1
    name: str = ""
    before: Sequence[str] = ()
    opening: str = ""
    reads: bool = True
    should_hang_up: bool = False
    uses_tls: bool = False
    waits: bool = True
    has_staggered_starts: bool = False


@dataclass(frozen=True)
class Sent:
    """Totals of an attack.

    Attributes:
        connections: number of connections made.
        ended: number of connections that the server closed.
        bytes: number of bytes sent.
        stopped: end of the attack by `time.perf_counter`, a clock that processes share.
    """

    connections: int = 0
    ended: int = 0
    bytes: int = 0
    stopped: float = 0.0


class Attacker:
    """A connection that reconnects when it is cut."""

    def __init__(self, place: tuple[str, int], number: int, flood: Flood) -> None:
        self.socket: socket.socket | None = None
        self._place, self._number, self._flood = place, number, flood
        self._address = f"127.0.0.{2 + number % flood.addresses}"
        begins = number * flood.has_staggered_starts % max(1, len(flood.payload))
        self._payload = cycle([*flood.payload[begins:], *flood.payload[:begins]])
        self._rest = b""
        self._count = 0
        self._next = 0.0
        self.sent = Sent()

    def come_in(self) -> None:
        """Connect, and log in if the flood says so."""
        self.socket = None
        self._next = time.perf_counter() + AGAIN
        raw = socket.socket()
        try:
            raw.settimeout(PATIENCE)
            raw.bind((self._address, 0))
            raw.connect(self._place)
            made = _in_tls(raw) if self._flood.uses_tls and self._flood.waits else raw
            self.sent = replace(self.sent, connections=self.sent.connections + 1)
            if self._flood.name:
                self._log_in(made)
            opening = self._flood.opening.replace("{}", letters(self._number))
            made.sendall(opening.encode("latin-1"))
            made.setblocking(False)  # noqa: FBT003  (the standard library's signature)
            self.socket = made
        except OSError:
            raw.close()

    def _log_in(self, made: socket.socket) -> None:
        name = f"{self._flood.name}{letters(self._number)}\r\n".encode()
        lines = "".join(f"{line}\r\n" for line in self._flood.before)
        for words, said in (
            (NAME_PROMPT, name),
            (PROMPT, lines.replace("{}", str(self._number)).encode()),
        ):
            seen = b""
            while self._flood.waits and words not in seen:
                data = made.recv(CHUNK)
                if not data:
                    raise ConnectionError("the server does not let us in")
                seen += data
            made.sendall(said)
        made.setblocking(False)  # noqa: FBT003
        while self._flood.before and self._flood.waits and select.select([made], [], [], 0.3)[0]:
            if not made.recv(CHUNK):
                raise ConnectionError("the server does not let us in")

    def go_on(self, begun: float) -> None:
        """Send the data that is due, or reconnect."""
        now = time.perf_counter()
        if self.socket is None:
            if now >= self._next:
                self.come_in()
            return
        due = self._flood.at_once + (now - begun) * self._flood.per_second
        try:
            while (self._rest or self._count < due) and self._flood.payload:
                if not self._rest:
                    self._rest = (
                        next(self._payload).replace("{}", str(self._count)).encode("latin-1")
                    )
                    self._count += 1
                size = self.socket.send(self._rest)
                self.sent = replace(self.sent, bytes=self.sent.bytes + size)
                self._rest = self._rest[size:]
                if self._flood.should_hang_up and not self._rest:
                    self.socket.close()
                    self.come_in()
                    return
        except BlockingIOError:
            # Skip pieces that the server doesn't accept in time, or they would follow in one burst.
            self._count = max(self._count, int(due))
        except OSError:
            self.is_cut()

    def hear(self) -> None:
        """Read and discard output of the server."""
        assert self.socket
        try:
            if not self.socket.recv(CHUNK):
                self.is_cut()
        except (BlockingIOError, ssl.SSLWantReadError):
            pass
        except OSError:
            self.is_cut()

    def is_cut(self) -> None:
        """Clean up after the server has closed the connection."""
        assert self.socket
        self.socket.close()
        self.socket, self._rest = None, b""
        self._next = time.perf_counter() + AGAIN
        self.sent = replace(self.sent, ended=self.sent.ended + 1)


def attack(place: tuple[str, int], flood: Flood) -> Sent:
    """Attack for the duration of the flood, and print ``begun`` at the start."""
    attackers = [Attacker(place, number, flood) for number in range(flood.count)]
    if flood.name:
        for each in attackers:
            each.come_in()
    print("begun", flush=True)
    begun = time.perf_counter()
    while time.perf_counter() < begun + flood.seconds:
        for each in attackers:
            if time.perf_counter() < begun + flood.seconds:
                each.go_on(begun)
        if flood.reads:
            open_ = {each.socket: each for each in attackers if each.socket is not None}
            for found in select.select(list(open_), [], [], 0)[0]:
                open_[found].hear()
        time.sleep(TICK)
    for each in attackers:
        if each.socket is not None:
            each.socket.close()
    every = [each.sent for each in attackers]
    return Sent(
        sum(each.connections for each in every),
        sum(each.ended for each in every),
        sum(each.bytes for each in every),
        time.perf_counter(),
    )


def _in_tls(raw: socket.socket) -> ssl.SSLSocket:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(raw)


class Attacking:
    """A running process of attackers."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    @property
    def is_running(self) -> bool:
        """Whether the attack is still going on."""
        return self._process.poll() is None

    @property
    def totals_sent(self) -> Sent:
        """Totals of the attack; blocks until its end."""
        assert self._process.stdout
        return Sent(**json.loads(self._process.stdout.read()))


@contextmanager
def attacking(place: tuple[str, int], flood: Flood) -> Iterator[Attacking]:
    """Run attackers in a separate process, and kill it on exit."""
    with subprocess.Popen(  # noqa: S603  (ours)
        [sys.executable, "-m", "benchmarks.load.attackers", *map(str, place)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdin
            assert process.stdout
            json.dump(asdict(flood), process.stdin)
            process.stdin.close()
            assert process.stdout.readline() == "begun\n", "there are no attackers"
            yield Attacking(process)
        finally:
            process.kill()


def main(host: str, port: str) -> None:
    sent = attack((host, int(port)), Flood(**json.load(sys.stdin)))
    with suppress(BrokenPipeError):
        print(json.dumps(asdict(sent)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
