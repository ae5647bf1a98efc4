"""Events and accounts, stored durably in memory, in a file or in PostgreSQL."""

from thudmud.store.backend import Holder, Lock
from thudmud.store.files import last_backup
from thudmud.store.interface import (
    Account,
    ConflictError,
    DamagedStoreError,
    Entry,
    HistoryLostError,
    KeptName,
    LastPlace,
    NameTakenError,
    NoSuchAccountError,
    NotesMissed,
    NoteTooLongError,
    NotWrittenError,
    OpenBoard,
    OtherSettingsError,
    PlayerClaim,
    Stored,
    StoreError,
    StoreInUseError,
    UncertainError,
    UnknownFormatError,
    new_epoch,
)
from thudmud.store.nodes import LEASE
from thudmud.store.running import Subscription
from thudmud.store.store import Store, run_synchronously

__all__ = [
    "LEASE",
    "Account",
    "ConflictError",
    "DamagedStoreError",
    "Entry",
    "HistoryLostError",
    "Holder",
    "KeptName",
    "LastPlace",
    "Lock",
    "NameTakenError",
    "NoSuchAccountError",
    "NotWrittenError",
    "NoteTooLongError",
    "NotesMissed",
    "OpenBoard",
    "OtherSettingsError",
    "PlayerClaim",
    "Store",
    "StoreError",
    "StoreInUseError",
    "Stored",
    "Subscription",
    "UncertainError",
    "UnknownFormatError",
    "last_backup",
    "new_epoch",
    "run_synchronously",
]
