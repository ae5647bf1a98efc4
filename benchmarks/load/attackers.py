"""Attackers: a process of its own that floods a server for some seconds, then stops by itself.

It is told what to do as JSON on its standard input, prints ``begun`` once those who log in have
done so, and what it has sent when it stops. It knows sockets and bytes; what they mean is said in
`benchmarks/attacks.py`.
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
PATIENCE = 10.0  # seconds that a server may take to let an attacker in, or to say hello in TLS
TICK = 0.005
AGAIN = 0.25  # seconds after which a connection that was cut, or not accepted, is tried again
NAME_PROMPT, PROMPT = b"name? ", b"> "


@dataclass(frozen=True)
class Flood:
    """What attackers do.

    Attributes:
        seconds: how long.
        count: how many connections there are at once.
        payload: what each sends, one after the other, again and again; as Latin-1. Of ``{}`` it
            makes how many it has sent.
        per_second: how many of those each connection sends in a second.
        at_once: how many it sends at first.
        addresses: from how many addresses of the loopback network they come.
        name: with what the names begin under which they log in; with none they do not.
        before: lines that each sends once it is in; of ``{}`` it makes its number.
        opening: what each sends as soon as it is connected, as Latin-1; of ``{}`` it makes its
            number in letters.
        reads: whether they read what they are sent.
        should_hang_up: whether each connection ends after what it has sent, for another one.
        uses_tls: whether they speak TLS.
        waits: whether the server asks for names, as an echo does not.
        has_staggered_starts: whether each connection begins at another place of the payload.
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
    """What attackers have sent.

    Attributes:
        connections: how many were made.
        ended: how many of those the server ended.
        bytes: how many bytes went out.
        stopped: when they stopped, by `time.perf_counter`, which all processes share.
    """

    connections: int = 0
    ended: int = 0
    bytes: int = 0
    stopped: float = 0.0


class Attacker:
    """One connection, made again when it was cut."""

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
        """Connect, and log in if that is what they do."""
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
        """Send what is due; connect again if there is no connection any more."""
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
            # What the server does not take is not sent later, in one go.
            self._count = max(self._count, int(due))
        except OSError:
            self.is_cut()

    def hear(self) -> None:
        """Drop what the server has sent."""
        assert self.socket
        try:
            if not self.socket.recv(CHUNK):
                self.is_cut()
        except (BlockingIOError, ssl.SSLWantReadError):
            pass
        except OSError:
            self.is_cut()

    def is_cut(self) -> None:
        """Note that the server has ended the connection."""
        assert self.socket
        self.socket.close()
        self.socket, self._rest = None, b""
        self._next = time.perf_counter() + AGAIN
        self.sent = replace(self.sent, ended=self.sent.ended + 1)


def attack(place: tuple[str, int], flood: Flood) -> Sent:
    """Attack for as long as the flood takes; say when it begins."""
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
    """The process of attackers, while it runs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    @property
    def is_running(self) -> bool:
        """Whether they have not stopped yet."""
        return self._process.poll() is None

    @property
    def totals_sent(self) -> Sent:
        """What they have sent, once they have stopped."""
        assert self._process.stdout
        return Sent(**json.loads(self._process.stdout.read()))


@contextmanager
def attacking(place: tuple[str, int], flood: Flood) -> Iterator[Attacking]:
    """Let attackers begin; in the end they are stopped if they have not stopped."""
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
