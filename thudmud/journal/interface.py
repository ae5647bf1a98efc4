"""The journal: what has happened, durably, in order.

Owns the one interface that every backend has, and its errors. Must never know how any of them
stores events.

A journal is streams of events, one for each table. A stream's events are numbered from 1; the
number of its last event is its version. Who appends says which version they decided at, so two can
never decide on the same state. All events of all streams also have one common order.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from thudmud.errors import ThudmudError
from thudmud.play.events import Event


@dataclass(frozen=True, slots=True)
class Entry:
    """An event where it stands in the journal.

    Attributes:
        position: its place in the common order of all events. Later events have higher ones; there
            may be gaps.
        stream: whose event it is, such as a table's name.
        version: its number in the stream, from 1.
        event: the event.
    """

    position: int
    stream: str
    version: int
    event: Event


class JournalError(ThudmudError):
    """The journal cannot be used, now or at all; ``str()`` is a sentence for its operator."""


class Conflict(JournalError):
    """Somebody else has appended first: decide again, on the newer state."""

    def __init__(self, stream: str, expected: int, found: int) -> None:
        super().__init__(stream, expected, found)
        self.stream, self.expected, self.found = stream, expected, found

    def __str__(self) -> str:
        return f"{self.stream!r} stands at version {self.found}, not {self.expected}"


class NotWritten(JournalError):
    """The events were not stored, and nothing has changed; the next try may succeed."""


class Damaged(JournalError):
    """What is stored is not what was written: none of it can be trusted."""


class Unknown(JournalError):
    """What is stored was written by a later version of this program, or by another one."""


class Journal(Protocol):
    """What has happened at all tables, wherever it is stored.

    All methods are for one event loop. Nothing of them blocks it.
    """

    async def append(self, stream: str, expected: int, events: Sequence[Event]) -> None:
        """Store events, all or none, durably, as those after version ``expected`` of a stream.

        Once it returns they are stored, and every follower has been or will be handed them.

        Raises:
            Conflict: the stream stands at another version.
            NotWritten: they could not be stored.
        """

    async def read(self, stream: str, first: int = 1, most: int | None = None) -> Sequence[Entry]:
        """Return the events of a stream from version ``first`` on, in order; none if it has none.

        If ``most`` is given, not more than so many: what a busy table has had may be much.

        Raises:
            JournalError: they cannot be read.
        """

    async def list(self) -> Mapping[str, int]:
        """Return the streams that have events, and the version of each."""

    async def beginning(self, stream: str) -> int:
        """Return the version from which on a table's events have to be read for its state.

        That of the last event of a stream for which `thudmud.play.events.is_complete` holds; 1 if
        there is none.
        """

    async def landmarks(self) -> Sequence[Entry]:
        """Return all events of the kinds in `thudmud.play.events.LANDMARKS`, in their order."""

    def follow(self, after: int = 0) -> AsyncIterator[Sequence[Entry]]:
        """Yield all events after a position, in order and without a gap, as they are stored.

        Whoever appended them. The events of one append come together, maybe with those of others.
        The iterator has no end until the journal is closed; a step raises JournalError if what it
        should yield cannot be read. Following begins with this call, not with the first step.
        """

    async def position(self) -> int:
        """Return the position of the last event; 0 if there is none."""

    async def close(self) -> None:
        """Store what is waiting to be stored, and end all following."""
