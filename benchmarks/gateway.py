"""Throughput of plies through the gateway, beside bare SQLite commits.

Run it from the checkout: ``python benchmarks/gateway.py``, or ``python -m benchmarks.gateway``. One
client of ``thudmud gateway`` plays over a Unix socket: at one board, with each request sent upon
the answer to the last, and at twenty boards concurrently. The yardstick is the minimum that a ply
costs, one commit: of a row of the same length, in the same folder, measured alternately.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from benchmarks.store import Row, commits
from thudmud.features.playing.moves import Play
from thudmud.rules import DISCWORLD, Side

ROOT = Path(__file__).resolve().parents[1]
PLIES = 200
BOARDS = 20
ROUNDS = 5
PLAYERS = {Side.DWARF: "Anna", Side.TROLL: "Bert"}


def plays(seed: int, plies: int) -> list[tuple[str, str]]:
    """Return the players and lines of a random battle without captures."""
    random, position = Random(seed), DISCWORLD.initial_position
    lines: list[tuple[str, str]] = []
    while len(lines) < plies:
        quiet = [move for move in DISCWORLD.legal_moves(position) if not move.captures]
        move = random.choice(quiet)
        lines.append((PLAYERS[position.turn], str(Play(move.attempt()))))
        position = position.after(move)
    return lines


class Client:
    """A gateway client.

    Args:
        place: path of the gateway's Unix socket, or its address and port.
        name: the client's name.
        secret: the gateway's secret.
        patience: timeout in seconds; None for none.
    """

    def __init__(
        self,
        place: Path | tuple[str, int],
        name: str = "benchmark",
        secret: str = "",
        patience: float | None = None,
    ) -> None:
        self._socket = socket.socket(socket.AF_UNIX if isinstance(place, Path) else socket.AF_INET)
        self._socket.settimeout(patience)
        self._socket.connect(str(place) if isinstance(place, Path) else place)
        self._file = self._socket.makefile("rwb")
        self._last = 0
        self._say({"type": "hello", "version": 1, "client": name, "secret": secret})
        assert self._read_reply()["type"] == "welcome"

    def send(self, **request: object) -> int:
        """Send a request; return its id."""
        self._last += 1
        self._say({"id": self._last, **request})
        return self._last

    def answer(self) -> dict[str, Any]:
        """Read, acknowledge and return the next answer."""
        while (heard := self._read_reply())["type"] != "answer":
            assert heard["type"] in {"tell", "data"}, heard
        assert heard["ok"], heard
        self._say({"type": "ack", "seen": heard["seq"]})
        return heard

    def ask(self, **request: object) -> None:
        """Send a request and wait for its answer."""
        self.send(**request)
        self.answer()

    def set_up(self, board: str) -> None:
        """Open a board and start a battle of Anna and Bert there."""
        self.ask(type="open", board=board, name="oak board")
        for player in PLAYERS.values():
            self.ask(type="enter", board=board, player=player, room="board")
        for player, line in (
            ("Anna", "join as dwarf"),
            ("Bert", "join as troll"),
            ("Anna", "start"),
        ):
            self.ask(type="line", board=board, player=player, line=line)

    def close(self) -> None:
        """Close the connection."""
        self._file.close()
        self._socket.close()

    def _say(self, said: object) -> None:
        self._file.write(json.dumps(said).encode() + b"\n")
        self._file.flush()

    def _read_reply(self) -> dict[str, Any]:
        heard: dict[str, Any] = json.loads(self._file.readline())
        return heard


@contextmanager
def gateway(folder: Path) -> Iterator[Client]:
    """Run a gateway in a folder and yield a connected client."""
    config = folder / "config.toml"
    config.write_text('[gateway]\nsocket = "socket"\n', "utf-8")
    command = [sys.executable, "-m", "thudmud.cli.main", "gateway", "--config", str(config)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(  # noqa: S603  (ours)
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        try:
            assert "ready" in process.stdout.readline()
            client = Client(folder / "socket")
            yield client
            client.close()
        finally:
            process.terminate()


def rate_of(client: Client, boards: list[str], seed: int, plies: int) -> float:
    """Return the plies answered per second, with one request in flight at each board."""
    for board in boards:
        client.set_up(board)
    lines = {board: iter(plays(seed + number, plies)) for number, board in enumerate(boards)}
    waiting: dict[int, str] = {}

    def play(board: str) -> None:
        player, line = next(lines[board], ("", ""))
        if player:
            number = client.send(type="line", board=board, player=player, line=line)
            waiting[number] = board

    begun = perf_counter()
    for board in boards:
        play(board)
    while waiting:
        play(waiting.pop(client.answer()["id"]))
    return plies * len(boards) / (perf_counter() - begun)


def report(rounds: int, plies: int, boards: int) -> list[Row]:
    """Return the rows of the table, from the best and so least disturbed rounds."""
    best = {"commits": 0.0, "one": 0.0, "many": 0.0}
    for number in range(rounds):
        with TemporaryDirectory() as name:
            folder = Path(name)
            best["commits"] = max(best["commits"], commits(folder / "bare", 0.5))
            with gateway(folder) as client:
                best["one"] = max(best["one"], rate_of(client, ["one"], number, plies))
                many = [f"board-{each}" for each in range(boards)]
                best["many"] = max(best["many"], rate_of(client, many, number, plies // 10))
    bare = best["commits"]
    return [
        Row("plies at one board of a gateway, beside commits", best["one"], bare, "a second"),
        Row(f"plies at {boards} boards, beside commits", best["many"], bare, "a second"),
    ]


def main() -> int:
    """Run the benchmark and print the table."""
    for row in report(ROUNDS, PLIES, BOARDS):
        print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
