"""Memory of a server on which 40 people play for an hour: does it level off?

Run it from the checkout: ``python benchmarks/hour.py``, or ``python -m benchmarks.hour``. A run
takes an hour, or ``--minutes N``, and little of the machine. With ``--speed 4`` everybody is four
times as fast, and half an hour is worth two. The table has the server's memory every minute; the
last line compares its growth in the first third of the time with the last third.

The server is a separate process with default settings, enough boards and a durable store. Twenty
pairs play random battles, chat, ask all kinds of questions, walk around and look at old battles.
They lose their connections and return, and now and then one leaves for good and is replaced. Each
person acts every two seconds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Event

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from benchmarks.load.guests import AGAIN, SECRET_PROMPTS, ConnectionLeftError, Guest, Place
from benchmarks.load.players import GAMES, MOVED, NAME_PROMPT, move
from benchmarks.load.processes import KIB, Running, board, letters, thudmud

PAIRS = 20
PAUSE = 1.0  # seconds between actions of a pair: on average two for each player
CHAT_PER_MINUTE = 30  # the default
MINUTE = 60.0
SOON = 0.05  # seconds to drain output caused by others

QUESTIONS = (
    "captures", "moves", "lines", "where dwarfs", "scan", "last", "look at board", "who",
    "boards", "games", "history", "standings", "score", "options", "help", "help move", "syntax",
    "replay 1", "next", "next", "back", "record 1", "mvoe from a6 to b6", "move from a6 to c9",
    "look",
)  # fmt: skip


@dataclass
class Player:
    """A player at a board."""

    number: int
    place: Place
    times: int = 0

    def arrive(self) -> None:
        """Log in under an unused name, and walk to the board."""
        self.name = f"p{letters(self.number)}{letters(self.times)}"
        self.times += 1
        self._connect()
        self.word = self._guest.take(self.name)
        self.say(f"go to {board(self.number // 2)}")

    def come_back(self) -> None:
        """Drop the connection, reconnect and resume."""
        self._guest.cut()
        while True:
            self._connect()
            try:
                self._guest.until(NAME_PROMPT)
                self._guest.send(self.name)
                self._guest.until(*SECRET_PROMPTS)
                self.say(self.word)
                break
            except ConnectionLeftError:  # the server closes connections that resume too often
                time.sleep(AGAIN)
        self.say(f"go to {board(self.number // 2)}")

    def say(self, line: str) -> bytes:
        """Type a line, and return the output up to the next prompt."""
        self._guest.hear(SOON)
        return self._guest.say(line)

    def leave(self) -> None:
        """Resign, give up the seat and drop the connection for good."""
        self.say("resign on it")
        self.say("yes")
        self.say("leave game")
        self._guest.cut()

    def _connect(self) -> None:
        self._guest = Guest(self.place, f"127.0.0.{2 + self.number}")


class Pair:
    """Two players with a board of their own.

    Attributes:
        done: number of actions so far.
        plies: number of plies among these.
    """

    def __init__(self, place: Place, number: int) -> None:
        self.done = self.plies = 0
        self._players = [Player(2 * number + each, place) for each in (0, 1)]
        self._dice = Random(number)
        self._battle = self._count = 0

    def stay(self, speed: float, over: Event) -> None:
        """Act until an event is set, then leave.

        Args:
            speed: factor by which the pauses are shortened.
            over: the event.
        """
        for each in self._players:
            each.arrive()
        self._begin()
        while not over.wait(PAUSE / speed):
            self._do(self._dice.choice(self._players))
            self.done += 1
        for each in self._players:
            each.leave()

    def _do(self, player: Player) -> None:
        chance = self._dice.random()
        if chance < 0.5:
            self._ply()
        elif chance < 0.7:
            player.say(f"say {self._dice.getrandbits(64):x}")
        elif chance < 0.95:
            player.say(self._dice.choice(QUESTIONS))
        elif chance < 0.98:
            player.come_back()
        elif chance < 0.99:
            player.say("go to hall")
            player.say(f"go to {board(player.number // 2)}")
        elif chance > 0.998:
            player.leave()
            player.arrive()
            self._begin()

    def _ply(self) -> None:
        """Play the next ply, with either player; start another battle if there is none."""
        line = move(2 * self._battle, self._count).decode().strip()
        if line and any(MOVED in each.say(line) for each in self._players):
            self._count += 1
            self.plies += 1
        else:
            self._begin()

    def _begin(self) -> None:
        """Resign the current battle, if any, and start another."""
        first, second = self._players
        first.say("resign on it")
        first.say("yes")
        for each in self._players:
            each.say("leave game")
        first.say("join game as dwarf")
        second.say("join game as troll")
        first.say("start")
        self._battle, self._count = self._dice.randrange(GAMES), 0


@dataclass(frozen=True)
class Minute:
    """A sample, taken every minute.

    Attributes:
        memory: resident memory of the server, in KiB.
        done: total number of actions so far.
        plies: number of plies among these.
    """

    memory: float
    done: int
    plies: int


def minutes(
    folder: Path, number: int, speed: float, pairs: int = PAIRS
) -> Generator[Minute, None, None]:
    """Let pairs play; yield a sample at the beginning and after each minute.

    Args:
        folder: the server's working directory.
        number: duration in minutes.
        speed: see the module's documentation.
        pairs: number of pairs.
    """
    over, talk = Event(), int(CHAT_PER_MINUTE * speed)
    sections = {"server": {"port": 0}, "players": {"chat_per_minute": talk}}
    with (
        thudmud(folder, pairs, sections) as running,
        ThreadPoolExecutor(pairs) as pool,
    ):
        everybody = [Pair(running.place, each) for each in range(pairs)]
        staying = [pool.submit(each.stay, speed, over) for each in everybody]
        try:
            for _ in range(number + 1):
                yield _measure_minute(running, everybody)
                end = time.monotonic() + MINUTE
                while time.monotonic() < end and not any(each.done() for each in staying):
                    time.sleep(min(1.0, MINUTE))
                for each in staying:
                    if each.done():
                        each.result()
        finally:
            over.set()


def _measure_minute(running: Running, everybody: Sequence[Pair]) -> Minute:
    return Minute(
        running.memory,
        sum(each.done for each in everybody),
        sum(each.plies for each in everybody),
    )


def growths(found: Sequence[Minute]) -> tuple[float, float]:
    """Return the growth of memory in the first and in the last third of the time, in KiB."""
    third = max(1, (len(found) - 1) // 3)
    return (
        found[third].memory - found[0].memory,
        found[-1].memory - found[-1 - third].memory,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the server and the players, and print a line every minute."""
    parser = argparse.ArgumentParser(description="Let 40 people play for an hour.")
    parser.add_argument("--minutes", type=int, default=60, help="duration; default: 60")
    parser.add_argument(
        "--speed", type=float, default=1.0, help="speed factor of the players; default: 1"
    )
    options = parser.parse_args(arguments)
    found = []
    print(f"{'minute':>6} {'MiB':>8} {'lines':>8} {'plies':>8}")
    with TemporaryDirectory(prefix="thudmud.") as name:
        for number, each in enumerate(minutes(Path(name), options.minutes, options.speed)):
            found.append(each)
            memory = each.memory / KIB
            print(f"{number:>6} {memory:>8.2f} {each.done:>8,} {each.plies:>8,}", flush=True)
    first, last = (each / KIB for each in growths(found))
    print(f"grown by {first:.2f} MiB in the first third of the time, by {last:.2f} MiB in the last")
    return 0


if __name__ == "__main__":
    sys.exit(main())
