"""What sessions are to the lobby, and what a line comes to for them.

Owns nothing but these names, which both sides know. Must never know a connection.
"""

from __future__ import annotations

from enum import Enum
from typing import Protocol


class Done(Enum):
    """What a line comes to for the session that it was typed in."""

    STAYS = "stays"
    LEAVES = "leaves"
    REGISTERS = "registers"
    CHANGES_PASSWORD = "changes password"  # noqa: S105  (no password, but the command)


class Guest(Protocol):
    """What the lobby asks of a session."""

    def show(self, lines: bytes) -> None:
        """Show whole encoded lines."""

    def data(self, package: str, text: str) -> None:
        """Send a GMCP package, its data as JSON, to a client that has asked for it."""

    def end(self, *, linger: bool) -> None:
        """Send what is waiting and end the connection, or wait for the client to do so."""

    def dismiss(self) -> None:
        """The same for a session whose player goes on elsewhere, or may not go on."""

    @property
    def ended(self) -> bool:
        """Whether nothing can be shown any more."""
