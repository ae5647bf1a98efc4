"""Events and accounts, stored durably in memory, in a file or in PostgreSQL."""

from thudmud.store.backend import Holder, Lock
from thudmud.store.interface import (
    Account,
    Conflict,
    Damaged,
    Entry,
    Forgotten,
    InUse,
    KeptName,
    NameTaken,
    Nobody,
    NotesMissed,
    NotWritten,
    OpenBoard,
    OtherSettings,
    PlayerClaim,
    Stored,
    StoreError,
    TooLong,
    Uncertain,
    Unknown,
    new_epoch,
)
from thudmud.store.nodes import LEASE
from thudmud.store.running import Subscription
from thudmud.store.store import Store, at_once

__all__ = [
    "LEASE",
    "Account",
    "Conflict",
    "Damaged",
    "Entry",
    "Forgotten",
    "Holder",
    "InUse",
    "KeptName",
    "Lock",
    "NameTaken",
    "Nobody",
    "NotWritten",
    "NotesMissed",
    "OpenBoard",
    "OtherSettings",
    "PlayerClaim",
    "Store",
    "StoreError",
    "Stored",
    "Subscription",
    "TooLong",
    "Uncertain",
    "Unknown",
    "at_once",
    "new_epoch",
]
