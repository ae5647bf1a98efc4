"""Accounts, and the names of guests: what is written of them. Each function is one transaction.

Both belong to a player, by number, of the realm ``""``. Who has a name is found by its key, which
is the name in lower case; so a name is changed or erased in one row, and whatever was played under
it follows. A name that was given up leaves its player without a key: who has it next is another.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from thudmud.store.database import Database
from thudmud.store.interface import Account, KeptName, NameTaken, Nobody

ADDRESSES_KEPT = 8
"""How many addresses of a name are remembered: those that it came from last."""

_Row = tuple[int, str, str, float, float, int]


def find(database: Database, name: str) -> Account | None:
    """Return the account of a name, which may be banned; None if it has none."""
    row = _row(database, name)
    return _account(database, row) if row else None


def everybody(database: Database) -> Sequence[Account]:
    """Return all accounts, by name."""
    rows = cast("list[_Row]", list(database.table.rows("account")))
    found = [_account(database, row) for row in rows]
    return sorted(found, key=lambda account: account.name.lower())


def enrol(database: Database, name: str, password: str) -> Account:
    """Make an account with the hash of a password; who played under its name has it now.

    Raises:
        NameTaken: there is one.
    """
    if _row(database, name):
        raise NameTaken(f"There is an account {name} already.")
    now, number = database.now(), database.number_of(name)
    database.table.put("account", number, password, "{}", now, now, 0)
    database.table.delete("guest", "where player = ?", number)
    return Account(name, password, MappingProxyType({}), now, now)


def set_password(
    database: Database, name: str, password: str, instead_of: str | None = None
) -> None:
    """Set the hash of a member's password; only if it is ``instead_of`` now, where given.

    Raises:
        Nobody: there is no such member, or their password is another one by now.
    """
    number, before, *rest = _member(database, name)
    if instead_of not in (None, before):
        raise Nobody(f"The password of {name} is another one by now.")
    database.table.put("account", number, password, *rest)


def set_preferences(database: Database, name: str, preferences: Mapping[str, Any]) -> None:
    """Set how a member wants things, in values of JSON. Nobody if there is no such member."""
    number, password, _, *rest = _member(database, name)
    database.table.put("account", number, password, json.dumps(dict(preferences)), *rest)


def rename(database: Database, name: str, new: str) -> None:
    """Call a member something else; all they have played is theirs still.

    Raises:
        Nobody: there is no such member.
        NameTaken: somebody else is called that.
    """
    number, *_ = _member(database, name)
    other = database.player(new)
    if other and other[0] != number:
        where = "where player = ?"
        for table in ("account", "guest", "claim"):
            if database.table.row(table, where, other[0]):
                raise NameTaken(f"Somebody is called {new} already.")
        _free(database, *other)
    database.put_player(number, "", new.lower(), new)


def erase(database: Database, name: str) -> None:
    """Remove an account, its name and its addresses, from the disk as well.

    Nobody if there is none. What was played stays, as somebody's; what was commented on it goes. A
    ban stays, since it is the operator's, and is of a name.
    """
    number, *_, banned = _member(database, name)
    for table in ("account", "address"):
        database.table.delete(table, "where player = ?", number)
    database.forget_comments(number)
    database.put_player(number, "", None, f"(erased {number})")
    if banned:
        ban(database, name)
    database.erased = True


def ban(database: Database, name: str) -> None:
    """Let nobody in under a name, be there an account of it or not."""
    now = database.now()
    number, password, preferences, created, seen, _ = _row(database, name) or (
        database.number_of(name), "", "{}", now, now, 0,
    )  # fmt: skip
    database.table.put("account", number, password, preferences, created, seen, 1)


def unban(database: Database, name: str) -> None:
    """Let a member in again; a name without an account is free again. Nobody if not banned."""
    row = _row(database, name)
    if not row or not row[5]:
        raise Nobody(f"{name} is not banned.")
    if row[1]:
        database.table.put("account", *row[:5], 0)
    else:
        database.table.delete("account", "where player = ?", row[0])


def barred(database: Database) -> frozenset[str]:
    """Return the names, in lower case, that nobody may play under."""
    rows = database.table.rows("account", "where banned = 1")
    return frozenset(database.name_of(cast("int", row[0])).lower() for row in rows)


def find_guest(database: Database, name: str) -> KeptName | None:
    """Return what is kept of a guest's name, if anything is."""
    found = database.player(name)
    row = found and database.table.row("guest", "where player = ?", found[0])
    return KeptName(found[1], *cast("tuple[bytes, float]", row[1:])) if found and row else None


def keep_guest(database: Database, kept: KeptName, instead_of: KeptName | None = None) -> bool:
    """Keep a name for a guest.

    Args:
        database: where.
        kept: the name, and what shows that it is theirs. With another word than before it is
            another guest's, who has nothing to do with what was played under it.
        instead_of: what was found of that name before, if anything.

    Returns:
        Whether it is kept; not if somebody else has got the name since it was looked for.
    """
    if _row(database, kept.name):
        return False
    before = find_guest(database, kept.name)
    if (before and before.word) != (instead_of and instead_of.word):
        return False
    if before and before.word != kept.word:
        _free(database, *cast("tuple[int, str]", database.player(kept.name)))
    number = database.number_of(kept.name)
    database.table.put("guest", number, kept.word, float(kept.seen))
    return True


def guests(database: Database, before: float = math.inf) -> Sequence[str]:
    """Return the names of the guests who were last here before a time, by name."""
    rows = database.table.rows("guest", "where seen < ?", before)
    return sorted((database.name_of(cast("int", row[0])) for row in rows), key=str.lower)


def forget_guests(database: Database, names: Sequence[str], before: float = math.inf) -> None:
    """Keep the names of these guests no longer; of those who were last here before a time.

    Who has such a name next is another player.
    """
    for name in names:
        kept = find_guest(database, name)
        if kept and kept.seen < before:
            _free(database, *cast("tuple[int, str]", database.player(name)))


def seen(
    database: Database,
    times: Mapping[str, float],
    addresses: Iterable[tuple[str, str]] = (),
) -> None:
    """Note when players, members and guests, were here, and from which addresses they came.

    Args:
        database: where.
        times: by name, when they were here, in seconds since the epoch.
        addresses: names, each with an address that it came from by right, in the order of that.
    """
    for name, time in times.items():
        if row := _row(database, name):
            database.table.put("account", *row[:4], float(time), row[5])
        elif kept := find_guest(database, name):
            number = database.number_of(kept.name)
            database.table.put("guest", number, kept.word, float(time))
    for name, address in addresses:
        found = database.player(name)
        if found and (_row(database, name) or find_guest(database, name)):
            _came_from(database, found[0], address)


def addresses(database: Database, name: str) -> Sequence[str]:
    """Return the addresses that a member or a guest came from last, the latest first."""
    found = database.player(name)
    return [cast("str", row[1]) for row in _addresses(database, found[0])] if found else []


def _addresses(database: Database, number: int) -> Sequence[Sequence[object]]:
    return list(database.table.rows("address", "where player = ? order by coming desc", number))


def _came_from(database: Database, number: int, address: str) -> None:
    known = _addresses(database, number)
    coming = cast("int", known[0][2]) + 1 if known else 1
    if known and known[0][1] == address:
        return
    database.table.put("address", number, address, coming)
    for _, old, _ in [row for row in known if row[1] != address][ADDRESSES_KEPT - 1 :]:
        database.table.delete("address", "where player = ? and address = ?", number, old)


def _free(database: Database, number: int, name: str) -> None:
    """Let a guest's name go."""
    for table in ("guest", "address"):
        database.table.delete(table, "where player = ?", number)
    database.put_player(number, "", None, name)


def _row(database: Database, name: str) -> _Row | None:
    found = database.player(name)
    row = found and database.table.row("account", "where player = ?", found[0])
    return cast("_Row", tuple(row)) if row else None


def _member(database: Database, name: str) -> _Row:
    row = _row(database, name)
    if row is None or not row[1]:
        raise Nobody(f"There is no account {name}.")
    return row


def _account(database: Database, row: _Row) -> Account:
    number, password, preferences, created, seen_at, banned = row
    wanted = MappingProxyType(json.loads(preferences))
    name = database.name_of(number)
    return Account(name, password, wanted, created, seen_at, bool(banned))
