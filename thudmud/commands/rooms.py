"""The commands about the rooms and those who are in them, and about oneself.

Owns the same as `thudmud.commands.model`, for those. Must never know how a line is read, nor what
a command does.
"""

from __future__ import annotations

from dataclasses import dataclass

from thudmud.rules import Side


@dataclass(frozen=True, slots=True)
class Look:
    """Look round, or at a board."""

    at: str | None = None

    def __str__(self) -> str:
        return "look" if self.at is None else f"look at {self.at}"


@dataclass(frozen=True, slots=True)
class Go:
    """Walk to a board, or back to the hall (``to`` is None)."""

    to: str | None = None

    def __str__(self) -> str:
        return "go hall" if self.to is None else f"go to {self.to}"


@dataclass(frozen=True, slots=True)
class Boards:
    """List the boards."""

    def __str__(self) -> str:
        return "boards"


@dataclass(frozen=True, slots=True)
class Who:
    """List the players."""

    def __str__(self) -> str:
        return "who"


@dataclass(frozen=True, slots=True)
class Register:
    """Keep one's name, by a password."""

    def __str__(self) -> str:
        return "register"


@dataclass(frozen=True, slots=True)
class Password:
    """Change one's password."""

    def __str__(self) -> str:
        return "password"


@dataclass(frozen=True, slots=True)
class Say:
    """Speak to everybody in the room."""

    text: str

    def __str__(self) -> str:
        return f"say {self.text}"


@dataclass(frozen=True, slots=True)
class Emote:
    """Do something that everybody in the room sees: the text follows one's name."""

    text: str

    def __str__(self) -> str:
        return f"emote {self.text}"


@dataclass(frozen=True, slots=True)
class Tell:
    """Speak to one player, wherever they are."""

    player: str
    text: str

    def __str__(self) -> str:
        return f"tell {self.player} {self.text}"


@dataclass(frozen=True, slots=True)
class Invite:
    """Ask a player to a seat at a board, by default a free one."""

    player: str
    side: Side | None = None
    on: str | None = None

    def __str__(self) -> str:
        side = "" if self.side is None else f" as {self.side.value}"
        on = "" if self.on is None else f" on {self.on}"
        return f"invite {self.player}{side}{on}"


@dataclass(frozen=True, slots=True)
class Help:
    """Read a help page; the contents if ``topic`` is None."""

    topic: str | None = None

    def __str__(self) -> str:
        return "help" if self.topic is None else f"help {self.topic}"


@dataclass(frozen=True, slots=True)
class Syntax:
    """See the patterns of a command; of all of them if ``verb`` is None."""

    verb: str | None = None

    def __str__(self) -> str:
        return "syntax" if self.verb is None else f"syntax {self.verb}"


@dataclass(frozen=True, slots=True)
class Quit:
    """Leave the server."""

    def __str__(self) -> str:
        return "quit"


RoomCommand = (
    Look
    | Go
    | Boards
    | Who
    | Say
    | Emote
    | Tell
    | Invite
    | Help
    | Syntax
    | Register
    | Password
    | Quit
)
