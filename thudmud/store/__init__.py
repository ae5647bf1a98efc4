"""What has happened, and who has which name, durably: one interface, one file, one thread."""

from thudmud.store.following import Subscription
from thudmud.store.interface import (
    Account,
    Claim,
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
    Score,
    Stored,
    StoreError,
    Unknown,
)
from thudmud.store.store import Store

__all__ = [
    "Account",
    "Claim",
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
    "Score",
    "Store",
    "StoreError",
    "Stored",
    "Subscription",
    "Unknown",
]
