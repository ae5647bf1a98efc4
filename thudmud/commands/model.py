"""The commands: frozen values that a line of text parses into.

Owns what can be asked for, and how each command is written in its canonical form: ``str(command)``
parses back to an equal command. Must never know how a line is read, nor what a command does.

``on`` is the player's own words for a board (``"oak board"``, ``"2nd board"``, ``"it"``), or
None where they were left out; only the hall knows which board they mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from thudmud.commands.archive import ArchiveCommand
from thudmud.commands.options import OptionCommand
from thudmud.commands.queries import Query
from thudmud.commands.rooms import (
    Boards,
    Emote,
    Go,
    Help,
    Invite,
    Look,
    Password,
    Quit,
    Register,
    RoomCommand,
    Say,
    Syntax,
    Tell,
    Who,
)
from thudmud.rules import EVERY, Attempt, Side, Square

__all__ = [
    "Adjourn",
    "ArchiveCommand",
    "Boards",
    "Claim",
    "Command",
    "Emote",
    "End",
    "GameCommand",
    "Go",
    "Help",
    "Invite",
    "Join",
    "Leave",
    "Look",
    "No",
    "Password",
    "Play",
    "Quit",
    "Register",
    "Resign",
    "Resume",
    "RoomCommand",
    "Say",
    "SetBoard",
    "SetRules",
    "Start",
    "Style",
    "Syntax",
    "Tell",
    "Undo",
    "ViewGame",
    "ViewPossible",
    "Who",
]


class Style(Enum):
    """How a board is shown after a move: drawn whole, or told in one status line."""

    FULL = "full"
    BRIEF = "brief"


def _on(words: str | None) -> str:
    return "" if words is None else f" on {words}"


@dataclass(frozen=True, slots=True)
class Join:
    """Take a free seat at a board."""

    side: Side
    on: str | None = None

    def __str__(self) -> str:
        return f"join game as {self.side.value}{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class Leave:
    """Give the seat up."""

    on: str | None = None

    def __str__(self) -> str:
        return f"leave game{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class End:
    """Offer to end the battle, or agree to the other player's offer (``end``, ``finish``)."""

    on: str | None = None

    def __str__(self) -> str:
        return f"end game{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class Start:
    """Begin the next battle, or ask for (or agree to) a new match in the middle of one."""

    on: str | None = None

    def __str__(self) -> str:
        return f"start game{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class Resign:
    """Give the battle up."""

    on: str | None = None

    def __str__(self) -> str:
        return f"resign game{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class Undo:
    """Ask for one's last ply back, or agree that the other takes theirs back."""

    on: str | None = None

    def __str__(self) -> str:
        return f"undo{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class No:
    """Decline what the other player has offered, or take back what one has offered oneself."""

    on: str | None = None

    def __str__(self) -> str:
        return f"no{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class Claim:
    """Win the battle, since the other player has been away for too long."""

    on: str | None = None

    def __str__(self) -> str:
        return f"claim game{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class Adjourn:
    """Offer to put the match away for another day, or agree to it."""

    on: str | None = None

    def __str__(self) -> str:
        return f"adjourn game{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on with a match that was put away: the one of battle ``number``, or the only one."""

    number: int | None = None
    on: str | None = None

    def __str__(self) -> str:
        number = "" if self.number is None else f" {self.number}"
        return f"resume game{number}{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class SetBoard:
    """Choose one's own style for a board."""

    style: Style
    on: str | None = None

    def __str__(self) -> str:
        return f"set board {self.style.value}{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class SetRules:
    """Choose the ruleset of a board, by the ruleset's name."""

    rules: str
    on: str | None = None

    def __str__(self) -> str:
        return f"set rules {self.rules}{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class Play:
    """Ask for a ply: ``move``, ``shove`` or ``hurl``."""

    attempt: Attempt
    on: str | None = None

    def __str__(self) -> str:
        asked = self.attempt
        line = f"{asked.verb.value} from {asked.origin} to {asked.target}{_on(self.on)}"
        if asked.captures is None:
            return line
        if asked.captures is EVERY:
            return f"{line} capturing all"
        return f"{line} capturing {', '.join(map(str, asked.captures)) or 'none'}"


@dataclass(frozen=True, slots=True)
class ViewGame:
    """See a board drawn whole."""

    on: str | None = None

    def __str__(self) -> str:
        return f"view game{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class ViewPossible:
    """List the legal moves, or those of the piece on one square."""

    origin: Square | None = None
    on: str | None = None

    def __str__(self) -> str:
        start = "" if self.origin is None else f" from {self.origin}"
        return f"view possible{start}{_on(self.on)}"


GameCommand = (
    Join
    | Leave
    | End
    | Start
    | Resign
    | Undo
    | No
    | Claim
    | Adjourn
    | Resume
    | SetBoard
    | SetRules
    | Play
    | ViewGame
    | ViewPossible
)
Command = GameCommand | RoomCommand | ArchiveCommand | OptionCommand | Query
