"""A small MUD with boards in it, and a whole match played there.

    python examples/library/match.py tests/transcripts/discworld-match.thud-script

The class ``Mud`` stands for your MUD, which has its own connections, players and files. The calls
of ``self._house`` are all it needs to offer Thud. The events of each command are saved as lines of
text. At the end, a second MUD restores the boards from these lines, as after a restart, and both
must show the same.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from thudmud import BoardSpec, House, Message, OwnAdviser, Style, Terminal
from thudmud.script import StageError, Transcript, perform

BOARDS = [
    BoardSpec("oak board"),
    BoardSpec("pine board", style=Style.BRIEF),
    BoardSpec("marble board", "classic"),
    BoardSpec("basalt board", "koom valley"),
]


class Mud:
    """A MUD with connected players, their screens, and boards.

    Attributes:
        kept: events at the boards as lines of text, as saved on disk.
    """

    def __init__(self, kept: Sequence[str] = ()) -> None:
        self.kept = list(kept)
        self._house = House(
            BOARDS, events=kept, adviser=OwnAdviser(), opens_boards=True, teaches=True
        )
        self._screens: defaultdict[str, list[str]] = defaultdict(list)

    # Events of connections. A transcript can be performed on any object with these three methods.

    def enter(self, who: str) -> Mapping[str, Sequence[str]]:
        """Handle a new connection; return the new lines on each screen."""
        problem = self._house.name_problem(who)
        if problem:
            raise StageError(problem)
        terminal = Terminal(width=80)  # the client's capabilities, as your MUD knows them
        return self._show(self._house.enter(who, time.time(), terminal))

    def type(self, who: str, line: str) -> Mapping[str, Sequence[str]]:
        """Handle a typed line; return the new lines on each screen."""
        return self._show(self._house.obey(who, line, time.time()))

    def vanish(self, who: str) -> Mapping[str, Sequence[str]]:
        """Handle a lost connection; return the new lines on each screen."""
        screens = self._show(self._house.depart(who, time.time()))
        return {name: screens[name] for name in screens if name != who}

    def look(self) -> Sequence[str]:
        """Return the positions of all boards as text."""
        return [str(self._house.game(board)) for board in self._house.hall.tables]

    # Internals.

    def _show(self, messages: Iterable[Message]) -> Mapping[str, Sequence[str]]:
        self.kept += self._house.events(len(self.kept))  # save before telling anybody
        self._screens.clear()
        for message in messages:
            for name in message.to:
                self._send(name, message.text)
        return self._screens

    def _send(self, name: str, text: str) -> None:
        self._screens[name] += [line.rstrip() for line in text.split("\n") if line.strip()]


def main(files: Sequence[str]) -> int:
    """Play transcripts, each in a new MUD; return 1 if anything deviates."""
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
