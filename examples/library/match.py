"""A small MUD with boards in it, and a whole match played there.

    python examples/library/match.py tests/transcripts/discworld-match.thud-script

Everything of the MUD is in the class ``Mud``: yours has its own connections, players and files in
its place. What it takes to have Thud in it are the calls of ``self._house``. After each command the
house is stored as text, and goes on from what was stored, as after a restart of the MUD.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from thudmud import BoardSpec, House, Message, Style, Terminal
from thudmud.script import StageError, Transcript, perform

BOARDS = [
    BoardSpec("oak board"),
    BoardSpec("pine board", style=Style.BRIEF),
    BoardSpec("marble board", "classic"),
    BoardSpec("basalt board", "koom valley"),
]


class Mud:
    """A MUD: who is connected, what their screens show, and the boards.

    Attributes:
        stored: the boards and those who are there, as they are kept on disk.
        times: how often that was done.
    """

    def __init__(self) -> None:
        self.stored = ""
        self.times = 0
        self._house = House(BOARDS)
        self._screens: defaultdict[str, list[str]] = defaultdict(list)

    # What happens to connections. A transcript is played on whatever has these three methods.

    def enter(self, who: str) -> Mapping[str, Sequence[str]]:
        """Somebody connects. Return what each screen shows of it."""
        problem = self._house.name_problem(who)
        if problem:
            raise StageError(problem)
        terminal = Terminal(width=80)  # what your MUD knows of the client
        return self._show(self._house.enter(who, time.time(), terminal))

    def type(self, who: str, line: str) -> Mapping[str, Sequence[str]]:
        """Somebody types a line. Return what each screen shows of it."""
        return self._show(self._house.obey(who, line, time.time()))

    def vanish(self, who: str) -> Mapping[str, Sequence[str]]:
        """Somebody's connection is lost. Return what each screen shows of it."""
        screens = self._show(self._house.depart(who, time.time()))
        return {name: screens[name] for name in screens if name != who}

    # How the MUD does that.

    def _show(self, messages: Iterable[Message]) -> Mapping[str, Sequence[str]]:
        self._keep()
        self._screens.clear()
        for message in messages:
            for name in message.to:
                self._send(name, message.text)
        return self._screens

    def _keep(self) -> None:
        self.stored = json.dumps(self._house.state())
        self.times += 1
        self._house = House.from_state(json.loads(self.stored))

    def _send(self, name: str, text: str) -> None:
        self._screens[name] += [line.rstrip() for line in text.split("\n") if line.strip()]


def main(files: Sequence[str]) -> int:
    """Play transcripts, each in a MUD of its own; return 1 if anything is not as they say."""
    failed = False
    for file in files:
        transcript = Transcript.parse(Path(file).read_text("utf-8"))
        mud = Mud()
        mismatches, _ = perform(transcript, mud)
        for mismatch in mismatches:
            print(mismatch)
        steps = len(transcript.steps)
        print(f"{steps} steps, {len(mismatches)} of them amiss; stored {mud.times} times")
        failed = failed or bool(mismatches)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
