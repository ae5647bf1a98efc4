"""Who has which name: members by password, guests by a resume word.

Owns what is kept of players, in a file of its own that other processes may change meanwhile. Must
never see a password or a word: only what passwords.py and login.py have made of them.

Names are compared in lower case. A name that was removed stays in the file, retired, so that nobody
else can have the battles that were played under it.
"""

from __future__ import annotations

import asyncio
import json
import math
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from thudmud.server.account_file import AccountFile, AccountsError, Unavailable

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
update members set password = :password
where key = :key and not retired and (:instead_of is null or password = :instead_of)
"""
_SET_PREFERENCES = """
update members set preferences = :preferences where key = :key and not retired
"""
_SET_BANNED = "update members set banned = :banned where key = :key and not retired"
_RETIRE = """
update members set retired = 1, password = '', preferences = '{}' where key = :key and not retired
"""
_T = TypeVar("_T")


class NameTaken(AccountsError):
    """There is an account of that name already."""


class Nobody(AccountsError):
    """There is no account of that name, or it is retired."""


@dataclass(frozen=True, slots=True)
class Account:
    """A member.

    Attributes:
        name: as it is shown.
        password: its argon2id hash.
        preferences: how they want things; values are those of JSON.
        created: when they registered, in seconds since the epoch.
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

    def __init__(self, file: AccountFile, worker: ThreadPoolExecutor) -> None:
        self._file = file
        self._worker = worker
        self._closed = False

    @classmethod
    async def open(cls, path: Path | None) -> Accounts:
        """Open the file at ``path``, made if there is none; None keeps accounts in memory alone.

        Raises:
            AccountsError: it cannot be used.
        """
        worker = ThreadPoolExecutor(1, "accounts")
        try:
            file = await asyncio.get_running_loop().run_in_executor(worker, AccountFile, path)
        except BaseException:
            worker.shutdown(wait=False)
            raise
        return cls(file, worker)

    async def close(self) -> None:
        """Close the file, once all that was asked for is done."""
        if not self._closed:
            closing = self._run(self._file.close)
            self._closed = True
            await closing
            self._worker.shutdown(wait=False)

    # Members

    async def find(self, name: str) -> Account | None:
        """Return the account of a name, which may be banned or retired; None if it has none."""
        found = await self._rows(_FIND, key=name.lower())
        return _account(found[0]) if found else None

    async def all(self) -> list[Account]:
        """Return all accounts, by name."""
        return [_account(row) for row in await self._rows(_FIND, key=None)]

    async def enrol(self, name: str, password: str, now: float) -> Account:
        """Make an account, at ``now`` seconds since the epoch; its name is no guest's any more.

        Raises:
            NameTaken: there is one.
        """
        row = {"key": name.lower(), "name": name, "password": password, "now": now}

        def write(database: sqlite3.Connection) -> None:
            if not database.execute(_ENROL, row).rowcount:
                raise NameTaken(f"there is an account {name} already")
            database.execute("delete from guests where key = :key", row)

        await self._write(write)
        return Account(name, password, {}, now, now)

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

    async def set_banned(self, name: str, *, banned: bool) -> None:
        """Set whether the operator keeps a member out. Nobody if there is no such member."""
        await self._update(_SET_BANNED, name, banned=banned)

    async def retire(self, name: str) -> None:
        """Remove an account, all but its name. Nobody if there is no such member."""
        await self._update(_RETIRE, name)

    async def barred(self, poll: float = POLL) -> AsyncIterator[frozenset[str]]:
        """Yield the names, in lower case, that nobody may play under.

        They are yielded at once, and again whenever another process has changed something, which
        is looked for every ``poll`` seconds. What is not readable just then is looked for later.
        """
        known = None
        while True:
            try:
                version = await self._run(self._file.version)
                if version != known:
                    rows = await self._rows("select key from members where banned or retired")
                    known = version
                    yield frozenset(key for (key,) in rows)
            except Unavailable:
                known = None
            await asyncio.sleep(poll)

    # Guests

    async def find_guest(self, name: str) -> KeptName | None:
        """Return what is kept of a guest's name, if anything is."""
        statement = "select name, word, seen from guests where key = :key"
        found = await self._rows(statement, key=name.lower())
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
            row = (key, kept.name, kept.word, kept.seen)
            database.execute("insert or replace into guests values (?, ?, ?, ?)", row)
            return True

        return await self._write(write)

    async def guests(self, before: float) -> list[str]:
        """Return the names of the guests who were last here before a time, by name."""
        statement = "select name from guests where seen < :before order by key"
        rows = await self._rows(statement, before=before)
        return [name for (name,) in rows]

    async def forget_guests(self, names: Iterable[str], before: float = math.inf) -> None:
        """Keep the names of these guests no longer; of those who were last here before a time."""
        rows = [(name.lower(), before) for name in names]

        def write(database: sqlite3.Connection) -> None:
            database.executemany("delete from guests where key = ? and seen < ?", rows)

        await self._write(write)

    # Both

    async def seen(self, times: Mapping[str, float]) -> None:
        """Note when players, members and guests, were here, in seconds since the epoch."""
        rows = [(time, name.lower()) for name, time in times.items()]

        def write(database: sqlite3.Connection) -> None:
            database.executemany("update members set seen = ? where key = ?", rows)
            database.executemany("update guests set seen = ? where key = ?", rows)

        await self._write(write)

    async def _update(self, statement: str, name: str, **values: object) -> None:
        """Change the row of a member who has to be there."""

        def write(database: sqlite3.Connection) -> None:
            if not database.execute(statement, values | {"key": name.lower()}).rowcount:
                raise Nobody(f"there is no account {name}")

        await self._write(write)

    async def _rows(self, statement: str, **values: object) -> Sequence[tuple[Any, ...]]:
        def read() -> list[tuple[Any, ...]]:
            with self._file.reading() as database:
                return database.execute(statement, values).fetchall()

        return await self._run(read)

    async def _write(self, change: Callable[[sqlite3.Connection], _T]) -> _T:
        def write() -> _T:
            with self._file.writing() as database:
                return change(database)

        return await self._run(write)

    def _run(self, job: Callable[[], _T]) -> asyncio.Future[_T]:
        if self._closed:
            raise Unavailable("the accounts are closed")
        return asyncio.get_running_loop().run_in_executor(self._worker, job)


def _account(row: Sequence[Any]) -> Account:
    name, password, preferences, created, seen, banned, retired = row
    wanted = MappingProxyType(json.loads(preferences))
    return Account(name, password, wanted, created, seen, bool(banned), bool(retired))
