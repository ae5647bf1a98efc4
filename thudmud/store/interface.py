"""What a store gives out, and the tree of what it raises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, NamedTuple

from thudmud.errors import ThudmudError
from thudmud.play.archive import RatingChange
from thudmud.play.events import StoredEvent
from thudmud.values import value


class StoreError(ThudmudError):
    """The store cannot be used, now or at all; ``str()`` is a sentence for its operator."""


class Conflict(StoreError):
    """Somebody else has appended first: decide again, on the newer state."""

    def __init__(self, stream: str, expected: int, found: int) -> None:
        super().__init__(stream, expected, found)
        self.stream, self.expected, self.found = stream, expected, found

    def __str__(self) -> str:
        return f"{self.stream!r} stands at version {self.found}, not {self.expected}"


class NotWritten(StoreError):
    """What was to be stored was not, and nothing has changed; the next try may succeed."""


class Uncertain(StoreError):
    """What was to be stored was or was not: whoever could tell cannot be asked for now."""


class TooLong(StoreError):
    """This is longer than what other nodes can be told at once."""


class Damaged(StoreError):
    """What is stored is not what was written."""


class Forgotten(StoreError):
    """What was seen in the store is there no longer."""


class Unknown(StoreError):
    """What is stored was written by a later version of this program, or by another one."""


class InUse(StoreError):
    """Another server keeps its boards here, and it lives."""


class OtherSettings(StoreError):
    """Nodes that live go by other settings than this one, of those that all have to share.

    Attributes:
        differences: by the names of settings, what holds there and what here; None for nothing.
    """

    def __init__(self, differences: Mapping[str, tuple[str | None, str | None]]) -> None:
        super().__init__(differences)
        self.differences = differences

    def __str__(self) -> str:
        told = [
            f"{name} is {there or 'missing'} there, and {here or 'missing'} here"
            for name, (there, here) in self.differences.items()
        ]
        return f"servers that serve from this database have other settings: {'; '.join(told)}"


class NameTaken(StoreError):
    """Somebody has that name already."""


class Nobody(StoreError):
    """There is no account of that name to be changed so."""


@value
class NotesMissed:
    """A note of the store's own: what other processes have told for a while was not heard."""


class Entry(NamedTuple):
    """An event where it is stored.

    Attributes:
        position: its place in the common order of all events.
        stream: the key of whose event it is, such as a board's.
        version: its number in the stream, from 1.
        event: the event; its time is the store's.
        battle: the number of the battle that it begins or takes up again, if it does.
        mark: what `Store.append` was given to know it by, if it was appended through this store.
        changes: how ratings were changed by the match that it ends, if it does.
    """

    position: int
    stream: str
    version: int
    event: StoredEvent
    battle: int | None = None
    mark: object = None
    changes: tuple[RatingChange, ...] = ()


class Stored(NamedTuple):
    """Where the last event of an append stands in a stream, and in all."""

    position: int
    version: int


class OpenBoard(NamedTuple):
    """A board that is up.

    Attributes:
        key: what its events are stored under.
        name: what it is called now.
        version: that of its last event.
        beginning: the version from which on its events have to be read for its state.
        rules: the name of the ruleset that it begins with.
    """

    key: str
    name: str
    version: int
    beginning: int
    rules: str


class PlayerClaim(NamedTuple):
    """Who has a player: a node, there a session, and the room that the player is in."""

    realm: str
    name: str
    node: str
    session: str
    room: str


@value
class Account:
    """A member, or a name that nobody may have.

    Attributes:
        name: as it is shown.
        password: its argon2id hash; empty if the name is nobody's.
        preferences: how they want things; values are those of JSON.
        created: when they registered, or were banned, in seconds since the epoch.
        seen: when they were here last, likewise.
        banned: the operator does not let them in.
        operator: whether they keep order.
    """

    name: str
    password: str = field(repr=False)
    preferences: Mapping[str, Any]
    created: float
    seen: float
    banned: bool = False
    operator: bool = False


@value
class KeptName:
    """A guest's name.

    Attributes:
        name: as it is shown.
        word: the sha256 of what shows that the name is theirs.
        seen: when they were here last, in seconds since the epoch.
    """

    name: str
    word: bytes = field(repr=False)
    seen: float


class Damage(NamedTuple):
    """What the check of everything has found, in words for the operator."""

    what: str
