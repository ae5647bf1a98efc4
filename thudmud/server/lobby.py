"""Who is connected, and the house they have come to play in.

Owns which session goes by which name, and hands the house's messages to the sessions they are for,
each encoded once. Must never know telnet, nor what any message says.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from thudmud.server.screen import encode


class Message(Protocol):
    """Text for some players: lines joined by line feeds, wrapped for those who read it."""

    @property
    def to(self) -> Sequence[str]:
        """The names of those who are told."""

    @property
    def text(self) -> str:
        """What they are told."""


class House(Protocol):
    """What the server asks of the game: `thudmud.text.House`."""

    @property
    def greeting(self) -> str:
        """What everybody sees before they are asked for a name."""

    def name_problem(self, name: str) -> str | None:
        """Return a sentence that tells why nobody can be called that now; None if they can."""

    def canonical(self, name: str) -> str:
        """Return a name as it is shown."""

    def enter(self, name: str, width: int) -> Sequence[Message]:
        """Let a player in, who reads ``width`` columns."""

    def depart(self, name: str, now: float) -> Sequence[Message]:
        """See out a player whose connection was lost at ``now`` seconds since the epoch."""

    def obey(self, name: str, line: str, now: float) -> Sequence[Message]:
        """Do what a player typed, at ``now`` seconds since the epoch."""

    def resize(self, name: str, width: int) -> None:
        """Note that a player's terminal has another width, in columns."""

    def close(self, sentence: str) -> Sequence[Message]:
        """Tell every player that the house closes."""

    def __contains__(self, name: object) -> bool:
        """Whether a player of that name is in."""


class Guest(Protocol):
    """What the lobby asks of a session."""

    def show(self, lines: bytes) -> None:
        """Show whole encoded lines."""

    def end(self, *, linger: bool) -> None:
        """Send what is waiting and end the connection, or wait for the client to do so."""


class Lobby:
    """Everybody who is connected, named or not yet.

    Args:
        house: The game they play.
        clock: Returns the seconds since the epoch.
    """

    def __init__(self, house: House, clock: Callable[[], float] = time.time) -> None:
        self._house = house
        self._clock = clock
        self._guests: set[Guest] = set()
        self._by_name: dict[str, Guest] = {}
        self._farewell: bytes | None = None
        self._empty = asyncio.Event()
        self._empty.set()

    @property
    def greeting(self) -> str:
        """What everybody sees before they are asked for a name."""
        return self._house.greeting

    def welcome(self, guest: Guest) -> None:
        """Count a new connection in; a closed lobby shows it out again."""
        self._guests.add(guest)
        self._empty.clear()
        if self._farewell is not None:
            self._show_out(guest, self._farewell)

    def name_problem(self, words: str) -> str | None:
        """Return a sentence that tells why nobody can be called that now; None if they can."""
        return self._house.name_problem(words)

    def admit(self, guest: Guest, words: str, width: int) -> str:
        """Let a guest in under a name without a problem; return the name as it is shown."""
        name = self._house.canonical(words)
        messages = self._house.enter(name, width)
        self._by_name[name] = guest
        self._deliver(messages)
        return name

    def obey(self, name: str, line: str) -> bool:
        """Do what a player typed, and tell whom it concerns; return whether they are still in."""
        self._deliver(self._house.obey(name, line, self._clock()))
        return name in self._house

    def resize(self, name: str, width: int) -> None:
        """Note that a player's terminal has another width, in columns."""
        self._house.resize(name, width)

    def part(self, name: str) -> None:
        """Free a player's name; the house sees them out if they have not said ``quit``."""
        del self._by_name[name]
        if name in self._house and self._farewell is None:
            self._deliver(self._house.depart(name, self._clock()))

    def farewell(self, guest: Guest) -> None:
        """Count a connection out that has ended."""
        self._guests.discard(guest)
        if not self._guests:
            self._empty.set()

    def close(self, sentence: str) -> None:
        """Tell everybody that it is over, and end every connection."""
        self._farewell = encode(sentence)
        self._deliver(self._house.close(sentence))
        named = set(self._by_name.values())
        for guest in self._guests:
            self._show_out(guest, b"" if guest in named else self._farewell)

    async def emptied(self) -> None:
        """Wait until nobody is connected."""
        await self._empty.wait()

    def _deliver(self, messages: Iterable[Message]) -> None:
        for message in messages:
            lines = encode(message.text)
            for name in message.to:
                if name in self._by_name:
                    self._by_name[name].show(lines)

    @staticmethod
    def _show_out(guest: Guest, farewell: bytes) -> None:
        if farewell:
            guest.show(farewell)
        guest.end(linger=False)
