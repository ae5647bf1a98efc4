"""A small MUD with boards in it, and a whole match played there.

    python examples/library/match.py tests/transcripts/discworld-match.thud-script

Everything of the MUD is in the class ``Mud``: yours has its own connections, players and files in
its place. What it takes to have Thud in it are the calls of ``self._house``. After each command
what has happened is kept as lines of text; at the end the boards are made again of these lines, as
after a restart of the MUD, and have to stand as they stood.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from thudmud import BoardSpec, House, Message, Style, Terminal
from thudmud.bots.adviser import OwnAdviser
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
        kept: what has happened at the boards, line by line, as it is kept on disk.
    """

    def __init__(self, kept: Sequence[str] = ()) -> None:
        self.kept = list(kept)
        self._house = House(
            BOARDS, events=kept, adviser=OwnAdviser(), opens_boards=True, teaches=True
        )
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

    def look(self) -> Sequence[str]:
        """Return what each board looks like."""
        return [str(self._house.game(board)) for board in self._house.hall.tables]

    # How the MUD does that.

    def _show(self, messages: Iterable[Message]) -> Mapping[str, Sequence[str]]:
        self.kept += self._house.events(len(self.kept))  # first keep it, then tell it
        self._screens.clear()
        for message in messages:
            for name in message.to:
                self._send(name, message.text)
        return self._screens

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
        again = Mud(mud.kept)
        same = again.look() == mud.look()
        print(f"{steps} steps, {len(mismatches)} of them amiss; {len(mud.kept)} events kept")
        print("Made again of these, the boards are", "the same." if same else "others!")
        failed = failed or bool(mismatches) or not same
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
