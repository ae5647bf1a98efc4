"""The values that a store returns, and its exceptions."""

from __future__ import annotations

from collections.abc import Mapping
from secrets import randbits
from typing import Any, NamedTuple

from thudmud.errors import ThudmudError
from thudmud.game.archive import RatingChange
from thudmud.game.events import StoredEvent
from thudmud.values import Value


class StoreError(ThudmudError):
    """The store cannot be used, now or at all; ``str()`` is a sentence for its operator."""


class Conflict(StoreError):
    """Another writer has appended to the stream first: decide again, on the newer state."""

    def __init__(self, stream: str, expected: int, found: int) -> None:
        super().__init__(stream, expected, found)
        self.stream, self.expected, self.found = stream, expected, found

    def __str__(self) -> str:
        return f"{self.stream!r} stands at version {self.found}, not {self.expected}"


class NotWritten(StoreError):
    """Nothing was stored, and nothing has changed; another try may succeed."""


class Uncertain(StoreError):
    """It is not known whether the write was stored: the database cannot be asked just now."""


class TooLong(StoreError):
    """A note is longer than other nodes can be sent at once."""


class Damaged(StoreError):
    """What is stored is not what was written."""


class Forgotten(StoreError):
    """Events that this process has seen in the store are gone from it."""


class Unknown(StoreError):
    """The data was written by a later version of this program, or by another program."""


class InUse(StoreError):
    """Another running server serves boards from this store."""


class OtherSettings(StoreError):
    """Running nodes have other values for settings that all nodes must share.

    Attributes:
        differences: by setting, its value there and its value here; None where it is missing.
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
    """The name belongs to another player."""


class Nobody(StoreError):
    """There is no account, or sanction, of that name to change."""


class NotesMissed(Value):
    """The store's own note: notes of other processes were missed for a while."""


class Entry(NamedTuple):
    """An event, and where it is stored.

    Attributes:
        position: its place in the common order of all events.
        stream: the key of its stream, such as a board's.
        version: its number in the stream, from 1.
        event: the event, with the store's time.
        battle: the number of the battle that it begins or resumes, if any.
        mark: the mark that `Store.append` was given, if it was appended through this store.
        changes: the rating changes by the match, or the battle with a bot, that it ends, if any.
    """

    position: int
    stream: str
    version: int
    event: StoredEvent
    battle: int | None = None
    mark: object = None
    changes: tuple[RatingChange, ...] = ()


class Stored(NamedTuple):
    """The position and version of the last event that an append has stored in a stream."""

    position: int
    version: int


class OpenBoard(NamedTuple):
    """An open board.

    Attributes:
        beginning: the first version that is needed to fold its state.
        rules: the name of the ruleset that it begins with.
    """

    key: str
    name: str
    version: int
    beginning: int
    rules: str


class PlayerClaim(NamedTuple):
    """A node's claim on a player: for which session, and the room that the player is in.

    ``seen`` is when the node renewed its lease last, if the claim was just taken from it since it
    is dead.
    """

    realm: str
    name: str
    node: str
    session: str
    room: str
    seen: float | None = None


class Account(Value):
    """A member's account, or a banned name that has none.

    Attributes:
        password: the argon2id hash of the password; empty if only the name is banned.
        preferences: options, ignored players and the like, as values of JSON.
        created: when the member registered, or the name was banned, in seconds since the epoch.
        seen: when the member was last here, in seconds since the epoch.
        banned: whether nobody is let in under the name.
        epoch: a random number, which is another one once all logins of before have ended, and for
            whoever registers the name anew; 0 without a password.
    """

    SECRETS = frozenset({"password", "epoch"})

    name: str
    password: str
    preferences: Mapping[str, Any]
    created: float
    seen: float
    banned: bool = False
    operator: bool = False
    epoch: int = 0


def new_epoch() -> int:
    """Return the epoch of an account whose earlier logins end, see `Account`."""
    return randbits(62) + 1


class KeptName(Value):
    """A guest's name, kept for when they come back.

    Attributes:
        word: the SHA-256 hash of the resume word, which proves that the name is theirs.
        seen: when the guest was last here, in seconds since the epoch.
    """

    SECRETS = frozenset({"word"})

    name: str
    word: bytes
    seen: float
