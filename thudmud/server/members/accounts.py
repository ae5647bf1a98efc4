"""Who has which name: members by password, guests by a resume word.

Owns what is kept of players, in a file of its own that other processes may change meanwhile. Must
never see a password or a word: only what passwords.py and login.py have made of them.

Names are compared in lower case. A name that was removed stays in the file, retired, so that nobody
else can have the battles that were played under it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import sqlite3
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from thudmud.server.members.account_file import AccountsError
from thudmud.server.members.account_thread import AccountThread

POLL = 0.5
"""Seconds between two looks at whether another process has changed something."""

_FIND = """
select name, password, preferences, created, seen, banned, retired from members
where key = :key or :key is null order by key
"""
_ENROL = """
insert or ignore into members (key, name, password, preferences, created, seen)
values (:key, :name, :password, '{}', :now, :now)
"""
_REPLACE = """
update members set password = :password where key = :key and password <> ''
and (:instead_of is null or password = :instead_of)
"""
_SET_PREFERENCES = """
update members set preferences = :preferences where key = :key and password <> ''
"""
_RETIRE = """
update members set retired = 1, password = '', preferences = '{}'
where key = :key and password <> ''
"""
_BARRED = "select key from members where banned or retired"
_BAN = """
insert into members (key, name, password, preferences, created, seen, banned)
values (:key, :shown, '', '{}', :now, :now, 1)
on conflict do update set banned = 1 where not retired
"""
_UNBAN = "update members set banned = 0 where key = :key and banned and not retired"
_FREE = "delete from members where key = :key and password = '' and not retired"

_log = logging.getLogger(__name__)


class NameTaken(AccountsError):
    """There is an account of that name already."""


class Nobody(AccountsError):
    """There is no account of that name to be changed so."""


@dataclass(frozen=True, slots=True)
class Account:
    """A member, or a name that nobody may have.

    Attributes:
        name: as it is shown.
        password: its argon2id hash; empty if the name is nobody's.
        preferences: how they want things; values are those of JSON.
        created: when they registered, or were banned, in seconds since the epoch.
        seen: when they were here last, likewise.
        banned: the operator does not let them in.
        retired: the operator has removed the account: nobody can have the name again.
    """

    name: str
    password: str = field(repr=False)
    preferences: Mapping[str, Any]
    created: float
    seen: float
    banned: bool = False
    retired: bool = False

    @property
    def is_barred(self) -> bool:
        """Whether nobody may play under the name."""
        return self.banned or self.retired


@dataclass(frozen=True, slots=True)
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


class Accounts:
    """All accounts and kept names. For one event loop, which nothing here blocks.

    Every method raises Unavailable if the file cannot be read or changed now, and Unusable if it
    turns out to be damaged.
    """

    def __init__(self, thread: AccountThread) -> None:
        self._thread = thread

    @classmethod
    async def open(cls, path: Path | None) -> Accounts:
        """Open the file at ``path``, made if there is none; None keeps accounts in memory alone.

        Raises:
            AccountsError: it cannot be used.
        """
        return cls(await AccountThread.open(path))

    async def close(self) -> None:
        """Close the file, once all that was asked for is done."""
        await self._thread.close()

    # Members

    async def find(self, name: str) -> Account | None:
        """Return the account of a name, which may be banned or retired; None if it has none."""
        found = await self._thread.rows(_FIND, key=name.lower())
        return _account(found[0]) if found else None

    async def all(self) -> list[Account]:
        """Return all accounts, by name."""
        return [_account(row) for row in await self._thread.rows(_FIND, key=None)]

    async def enrol(self, name: str, password: str, now: float) -> Account:
        """Make an account, at ``now`` seconds since the epoch; its name is no guest's any more.

        Raises:
            NameTaken: there is one.
        """
        row = {"key": name.lower(), "name": name, "password": password, "now": int(now)}

        def write(database: sqlite3.Connection) -> None:
            if not database.execute(_ENROL, row).rowcount:
                raise NameTaken(f"there is an account {name} already")
            database.execute("delete from guests where key = :key", row)

        await self._thread.write(write)
        return Account(name, password, {}, int(now), int(now))

    async def set_password(self, name: str, password: str, instead_of: str | None = None) -> None:
        """Set the hash of a member's password; only if it is ``instead_of`` now, where given.

        Raises:
            Nobody: there is no such member, or their password is another one by now.
        """
        await self._update(_REPLACE, name, password=password, instead_of=instead_of)

    async def set_preferences(self, name: str, preferences: Mapping[str, Any]) -> None:
        """Set how a member wants things, in values of JSON.

        Raises:
            Nobody: there is no such member.
        """
        await self._update(_SET_PREFERENCES, name, preferences=json.dumps(dict(preferences)))

    async def retire(self, name: str) -> None:
        """Remove an account, all but its name. Nobody if there is no such member."""
        await self._update(_RETIRE, name)

    async def ban(self, name: str, now: float) -> None:
        """Let nobody in under a name, be there an account of it or not.

        Raises:
            Nobody: it is retired, so that nobody can come in under it in any case.
        """
        await self._update(_BAN, name, shown=name, now=int(now))

    async def unban(self, name: str) -> None:
        """Let a member in again; a name without an account is free again. Nobody if not banned."""
        await self._update(_UNBAN, name, and_then=_FREE)

    async def barred(self, poll: float = POLL) -> AsyncIterator[frozenset[str]]:
        """Yield the names, in lower case, that nobody may play under.

        They are yielded at once, and again whenever another process has changed something, which
        is looked for every ``poll`` seconds. What is not readable just then is looked for later.
        """
        known, trouble = None, ""
        while not self._thread.is_closed:
            try:
                version = await self._thread.version()
                if version != known:
                    rows = await self._thread.rows(_BARRED)
                    known, trouble = version, ""
                    yield frozenset(key for (key,) in rows)
            except AccountsError as error:
                if str(error) != trouble:  # once is enough
                    _log.error("who may not come in is not known: %s", error)
                known, trouble = None, str(error)
            await asyncio.sleep(poll)

    # Guests

    async def find_guest(self, name: str) -> KeptName | None:
        """Return what is kept of a guest's name, if anything is."""
        statement = "select name, word, seen from guests where key = :key"
        found = await self._thread.rows(statement, key=name.lower())
        return KeptName(*found[0]) if found else None

    async def keep_guest(self, kept: KeptName, instead_of: KeptName | None = None) -> bool:
        """Keep a name for a guest.

        Args:
            kept: the name, and what shows that it is theirs.
            instead_of: what was found of that name before, if anything.

        Returns:
            Whether it is kept; not if somebody else has got the name since it was looked for.
        """
        key, word = kept.name.lower(), instead_of.word if instead_of else None

        def write(database: sqlite3.Connection) -> bool:
            if database.execute("select 1 from members where key = ?", (key,)).fetchone():
                return False
            found = database.execute("select word from guests where key = ?", (key,)).fetchone()
            if (found[0] if found else None) != word:
                return False
            row = (key, kept.name, kept.word, int(kept.seen))
            database.execute("insert or replace into guests values (?, ?, ?, ?)", row)
            return True

        return await self._thread.write(write)

    async def guests(self, before: float) -> list[str]:
        """Return the names of the guests who were last here before a time, by name."""
        statement = "select name from guests where seen < :before order by key"
        rows = await self._thread.rows(statement, before=before)
        return [name for (name,) in rows]

    async def forget_guests(self, names: Iterable[str], before: float = math.inf) -> None:
        """Keep the names of these guests no longer; of those who were last here before a time."""
        rows = [(name.lower(), before) for name in names]

        def write(database: sqlite3.Connection) -> None:
            database.executemany("delete from guests where key = ? and seen < ?", rows)

        await self._thread.write(write)

    # Both

    async def seen(self, times: Mapping[str, float]) -> None:
        """Note when players, members and guests, were here, in seconds since the epoch."""
        rows = [(int(time), name.lower()) for name, time in times.items()]

        def write(database: sqlite3.Connection) -> None:
            database.executemany("update members set seen = ? where key = ?", rows)
            database.executemany("update guests set seen = ? where key = ?", rows)

        await self._thread.write(write)

    async def _update(
        self, statement: str, name: str, and_then: str = "", **values: object
    ) -> None:
        """Change the row of a name that has to be there."""
        row = values | {"key": name.lower()}

        def write(database: sqlite3.Connection) -> None:
            if not database.execute(statement, row).rowcount:
                raise Nobody(f"there is no account {name}")
            if and_then:
                database.execute(and_then, row)

        await self._thread.write(write)


def _account(row: Sequence[Any]) -> Account:
    name, password, preferences, created, seen, banned, retired = row
    wanted = MappingProxyType(json.loads(preferences))
    return Account(name, password, wanted, created, seen, bool(banned), bool(retired))
