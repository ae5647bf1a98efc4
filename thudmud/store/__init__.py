"""What has happened, and who has which name, durably: one interface, one file, one thread."""

from thudmud.store.following import Subscription
from thudmud.store.interface import (
    Account,
    Conflict,
    Damage,
    Damaged,
    Entry,
    InUse,
    KeptName,
    NameTaken,
    Nobody,
    NotWritten,
    OpenBoard,
    PlayerClaim,
    PlayerScore,
    Stored,
    StoreError,
    Unknown,
)
from thudmud.store.store import Store

__all__ = [
    "Account",
    "Conflict",
    "Damage",
    "Damaged",
    "Entry",
    "InUse",
    "KeptName",
    "NameTaken",
    "Nobody",
    "NotWritten",
    "OpenBoard",
    "PlayerClaim",
    "PlayerScore",
    "Store",
    "StoreError",
    "Stored",
    "Subscription",
    "Unknown",
]
