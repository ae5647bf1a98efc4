"""The benchmark's crowd counts lines regardless of packet boundaries."""

from __future__ import annotations

import os
import socket
from threading import Thread

from benchmarks.load.crowd import Crowd
from benchmarks.load.processes import Running

TOLD = b"told."


def serve(listening: socket.socket) -> None:
    """Serve three turns of a pair; the first receives both lines of a turn in one read."""
    (first, _), (second, _) = listening.accept(), listening.accept()
    with first, second:
        assert first.recv(100) == b"0"
        second.sendall(TOLD)
        assert second.recv(100) == b"1"
        second.sendall(TOLD)
        first.sendall(TOLD + TOLD)
        assert first.recv(100) == b"2"
        first.sendall(TOLD)
        second.sendall(TOLD)
        assert not second.recv(100)


def test_pair_continues_after_two_lines_in_one_read() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = Thread(target=serve, args=(listening,))
        serving.start()
        server = Running(os.getpid(), listening.getsockname(), 0.0)
        with Crowd(server, 2) as crowd:
            said: list[tuple[int, int]] = []

            def line(number: int, sent: int) -> bytes:
                said.append((number, sent))
                return b"%d" % sent if sent < 3 else b""

            crowd.turns([0], line, TOLD, seconds=10.0)
        serving.join()
    assert said == [(0, 0), (1, 1), (0, 2), (1, 3)]
