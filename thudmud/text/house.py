"""The whole of thudmud without a socket: named players type lines, readers are told text.

Owns the way of a line, from the words that were typed to the words that everybody is told, each
distinct text made once. Must never know a socket, a clock or a disk: servers, scripts, tests and
other people's MUDs drive this very code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from thudmud.commands import KEYWORDS, Command, Go, Look, ParseError, parse
from thudmud.engine import IllegalMove
from thudmud.tables import BoardSpec, Decision, Hall, Parting, Refused, Telling, decide, part
from thudmud.tables.objects import RESERVED
from thudmud.text.mistakes import explain
from thudmud.text.telling import View, tell
from thudmud.text.words import wrapped

NAME_LENGTHS = range(2, 21)
TAKEN_WORDS = KEYWORDS | RESERVED | {"you", "nobody", "somebody", "everybody"}
"""Lower-case words that would be misread as the name of a player."""
DEFAULT_WIDTH = 80


@dataclass(frozen=True, slots=True)
class Message:
    """A text, lines joined by line feeds, and the names of those who are told just that."""

    to: tuple[str, ...]
    text: str


class House:
    """A hall of boards, and the people in it, in text.

    Args:
        boards: the boards, in the order in which they are listed.
        quiet_plies: after how many plies without a capture one player may end a battle alone;
            0 for never.
    """

    greeting = (
        "Welcome to thudmud, where people\n"
        "play Thud, the board game of dwarfs\n"
        "and trolls. Come in with a name of\n"
        'your own; then "help" tells the rest.'
    )
    """What is shown before anything is known of a screen: it fits 40 columns."""

    def __init__(self, boards: Sequence[BoardSpec], quiet_plies: int = 200) -> None:
        self.hall = Hall(boards, quiet_plies)
        board_words = {word for spec in boards for word in spec.name.lower().split()}
        self._taken_words = TAKEN_WORDS | board_words
        self._widths: dict[str, int] = {}

    def __contains__(self, name: object) -> bool:
        """Whether a player of that name is here."""
        return name in self.hall.people

    def canonical(self, name: str) -> str:
        """Return a name as it is shown."""
        return name[:1].upper() + name[1:]

    def name_problem(self, name: str) -> str | None:
        """Return why a name cannot be had, as a sentence, or None if it can."""
        if name.lower() == "help":
            return 'First come in with any name of 2 to 20 letters; then "help" tells the rest.'
        if not (name.isascii() and name.isalpha() and len(name) in NAME_LENGTHS):
            return "A name is 2 to 20 letters from A to Z, without blanks."
        if name.lower() in self._taken_words:
            return f'"{name}" has a meaning here already, so it cannot be a name.'
        if name.lower() in self.hall.names:
            return f"Somebody called {self.hall.names[name.lower()]} is here already."
        return None

    def enter(self, name: str, width: int = DEFAULT_WIDTH) -> list[Message]:
        """Let in a player whose name has no problem, on a screen of ``width`` columns."""
        self._widths[name] = width
        return self._tell(self.hall.enter(name))

    def resize(self, name: str, width: int) -> None:
        """Take note of the width of a player's screen, in columns."""
        self._widths[name] = width

    def depart(self, name: str, now: float) -> list[Message]:
        """See out a player whose connection is lost."""
        return self._commit(part(self.hall, name, Parting.LOST, now))

    def close(self, sentence: str) -> list[Message]:
        """Tell everybody the same."""
        return [Message(tuple(self.hall.people), sentence)] if self.hall.people else []

    def obey(self, name: str, line: str, now: float) -> list[Message]:
        """Do what a player's line asks for, and return what everybody is told.

        Args:
            name: a player who is here. After ``quit`` they are so no longer.
            line: what they typed. No text raises; a blank line does nothing.
            now: the time, in seconds since the epoch.
        """
        if not line.strip():
            return []
        try:
            command = parse(line)
        except ParseError as error:
            return [Message((name,), "\n".join(explain(error, self._widths[name])))]
        try:
            decided = decide(self.hall, name, command, now)
        except (Refused, IllegalMove) as refusal:
            self.hall.remember(name, _named(command))
            return [Message((name,), "\n".join(wrapped(str(refusal), self._widths[name])))]
        return self._commit(decided)

    def _commit(self, decided: Iterable[Decision]) -> list[Message]:
        tellings = [telling for decision in decided for telling in self.hall.commit(decision)]
        messages = self._tell(tellings)
        for name in [name for name in self._widths if name not in self.hall.people]:
            del self._widths[name]
        return messages

    def _tell(self, tellings: Iterable[Telling]) -> list[Message]:
        """Return the text of each telling, made once for all who share a view of it."""
        messages = []
        for telling in tellings:
            readers: dict[View, list[str]] = {}
            for name in telling.audience:
                view = View.of(self.hall, telling, name, self._widths.get(name, DEFAULT_WIDTH))
                readers.setdefault(view, []).append(name)
            for view, names in readers.items():
                text = "\n".join(tell(self.hall, telling, view))
                messages.append(Message(tuple(names), text))
        return messages


def _named(command: Command) -> str | None:
    """Return the words for a board that a command holds, if any."""
    match command:
        case Look(words) | Go(words):
            return words
    return getattr(command, "on", None)
