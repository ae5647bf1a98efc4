"""The values that a store returns, and the exceptions that it raises."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from secrets import randbits
from typing import Any, NamedTuple

from thudmud.errors import ThudmudError
from thudmud.game.archive import RatingChange
from thudmud.game.events import StoredEvent
from thudmud.rules import Move, Side
from thudmud.values import Value


class StoreError(ThudmudError):
    """The store cannot be used, now or at all; ``str()`` is a sentence for the operator."""


class Schema(NamedTuple):
    """The version of a store's form, printed as ``1.7``.

    Attributes:
        format: the version of the tables.
        projection: the version of the rows that are computed from events. An earlier version of the
            program can compute its own again, whichever is there.
    """

    format: int
    projection: int

    def __str__(self) -> str:
        """Return both numbers with a dot."""
        return f"{self.format}.{self.projection}"


class OutdatedStoreError(StoreError):
    """Another version of this program has written the store; a server upgrades it at its start.

    Args:
        name: the store, as the beginning of a sentence.
        found: its schema.
        wanted: this version's schema.
    """

    def __init__(self, name: str, found: Schema, wanted: Schema) -> None:
        super().__init__(
            f'{name} has schema {found}, and this version of thudmud uses {wanted}: "thudmud '
            'serve" will upgrade it.'
        )


class ConflictError(StoreError):
    """Another writer has appended to a stream first; decide again on its newer state.

    Attributes:
        stream: the key of the stream.
        expected: the version that the append required.
        found: the version that the stream has.
    """

    def __init__(self, stream: str, expected: int, found: int) -> None:
        super().__init__(stream, expected, found)
        self.stream, self.expected, self.found = stream, expected, found

    def __str__(self) -> str:
        return f"expected version {self.expected} of {self.stream!r}, got {self.found}"


class NotWrittenError(StoreError):
    """A write was refused: nothing was stored, and a later attempt may succeed."""


class UncertainError(StoreError):
    """A write may or may not have been stored, and the database cannot be asked now."""


class NoteTooLongError(StoreError):
    """A note exceeds the longest message that other nodes can be sent."""


class DamagedStoreError(StoreError):
    """Stored data is missing, or differs from the data that was written."""


class HistoryLostError(StoreError):
    """Events that this process has seen in the store are gone from the database."""


class UnknownFormatError(StoreError):
    """A later version of this program, or another program, wrote the data."""


class StoreInUseError(StoreError):
    """Another running server serves boards from this store."""


class OtherSettingsError(StoreError):
    """Live nodes have different values for settings that all nodes must share.

    Attributes:
        differences: by setting, the live nodes' value and ours; None where it is missing.
    """

    def __init__(self, differences: Mapping[str, tuple[str | None, str | None]]) -> None:
        super().__init__(differences)
        self.differences = differences

    def __str__(self) -> str:
        told = [
            f"{name} is {there or 'missing'} there, but {here or 'missing'} here"
            for name, (there, here) in self.differences.items()
        ]
        return f"other servers on this database have different settings: {'; '.join(told)}"


class NameTakenError(StoreError):
    """The name belongs to another player."""


class NoSuchAccountError(StoreError):
    """There is no account, or no sanction, of the name to change."""


class Upgrade:
    """The permission to bring a store of another version into this version's form.

    It is done in one transaction: if the process is killed, the store is as before. Here nothing is
    reported, and no copy kept; subclasses may do both.
    """

    def begin(self, found: Schema, wanted: Schema) -> None:
        """Called once, before anything is changed."""

    def keep_file(self, path: Path, found: Schema) -> None:
        """Copy a store's file before it is changed.

        Args:
            path: the file, locked by this process.
            found: its schema.

        Raises:
            DamagedStoreError: it is damaged.
        """

    def advance(self, done: int, in_all: int) -> None:
        """Called after each batch of events; may raise StoreError to stop.

        Args:
            done: the number of events that are done.
            in_all: the number of all.
        """

    def end(self) -> None:
        """Called once the upgrade is committed."""


class NotesMissed(Value):
    """A note from the store itself: notes of other processes were missed for a while."""


class Entry(NamedTuple):
    """An event and its place in the store.

    Attributes:
        position: its number in the common order of all events.
        stream: the key of its stream, such as a board's.
        version: its number in the stream, from 1.
        event: the event, with the store's time.
        battle: the number of the battle that it begins or resumes, if any.
        mark: the mark given to `Store.append`, for events appended through this store; else None.
        changes: the rating changes caused by the match, or battle with a bot, that it ends.
    """

    position: int
    stream: str
    version: int
    event: StoredEvent
    battle: int | None = None
    mark: object = None
    changes: tuple[RatingChange, ...] = ()


class StoredPly(NamedTuple):
    """A ply that another process appended, decoded without a look at its player.

    Most events are plies, and most of another process's plies concern nobody here. Whoever has a
    seat at the version before made the ply.

    Attributes:
        position: as in `Entry`.
        stream: as in `Entry`.
        version: as in `Entry`.
        at: the time, in seconds since the epoch.
        side: the side that moved.
        move: the move.
        number: its number in the battle, from 1.
    """

    position: int
    stream: str
    version: int
    at: float
    side: Side
    move: Move
    number: int


FeedEntry = Entry | StoredPly
"""An entry as it comes to a subscriber who takes plies without their players."""


class Stored(NamedTuple):
    """The position and version of the last event that an append stored in a stream."""

    position: int
    version: int


class OpenBoard(NamedTuple):
    """An open board.

    Attributes:
        key: the key of its stream, which never changes.
        name: its current name.
        version: the version of its stream.
        beginning: the first version needed to fold its state.
        rules: the name of its first ruleset.
    """

    key: str
    name: str
    version: int
    beginning: int
    rules: str


class PlayerClaim(NamedTuple):
    """A node's claim on a player.

    Attributes:
        realm: the player's realm.
        name: the player's name.
        node: the name of the node.
        session: the player's session on that node.
        room: the room that the player is in.
        seen: if the claim was just taken from a dead node, that node's last heartbeat in seconds
            since the epoch; else None.
    """

    realm: str
    name: str
    node: str
    session: str
    room: str
    seen: float | None = None


class Account(Value):
    """A member's account, or a banned name without an account.

    Attributes:
        name: the name as last spelled.
        password: the argon2id hash of the password; empty if the name is only banned.
        preferences: options, ignored players and the like, as JSON values.
        created: when the member registered or the name was banned, in seconds since the epoch.
        seen: when the member was last online, in seconds since the epoch.
        banned: whether nobody may log in under the name.
        is_operator: whether the member is an operator.
        epoch: a random number that changes whenever all earlier logins end, and when the name is
            registered anew; 0 without a password.
    """

    SECRETS = frozenset({"password", "epoch"})

    name: str
    password: str
    preferences: Mapping[str, Any]
    created: float
    seen: float
    banned: bool = False
    is_operator: bool = False
    epoch: int = 0


def new_epoch() -> int:
    """Return a random epoch for an account, see `Account`; it is never 0."""
    return randbits(62) + 1


class LastPlace(Value):
    """Where a player was who watched a board.

    Attributes:
        room: the key of the board where the player was; "" for the hall, or a board with a seat.
        observed: the keys of the observed boards.
    """

    room: str = ""
    observed: tuple[str, ...] = ()


class KeptName(Value):
    """A guest's name, reserved until the guest returns.

    Attributes:
        name: the name as last spelled.
        word: the SHA-256 hash of the resume word, which proves that a guest owns the name.
        seen: when the guest was last online, in seconds since the epoch.
    """

    SECRETS = frozenset({"word"})

    name: str
    word: bytes
    seen: float
