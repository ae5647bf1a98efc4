"""The file that accounts are kept in: opened, read and written, and what goes wrong with it.

Owns what the operator is told of a file that cannot be used. Must never know what is in it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from thudmud.errors import ThudmudError
from thudmud.server.members import account_layout as layout
from thudmud.storage.files import has_log, identity
from thudmud.storage.reasons import TROUBLES, is_busy, is_damage, reason


class AccountsError(ThudmudError):
    """The accounts cannot be used, now or at all; ``str()`` is a sentence for the operator."""


class Unusable(AccountsError):
    """The file is no file of accounts that can be used, and will not become one by itself."""


class Unavailable(AccountsError):
    """The accounts could not be read or changed now. Nothing has changed; later it may work."""


class AccountFile:
    """An open file of accounts, or none on any disk. For one thread alone.

    Args:
        path: where it is, made if there is none; None for one in memory.

    Raises:
        Unusable: it cannot be opened, or is damaged, or is something else.
        Unavailable: another process keeps it busy.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        with self._told(opening=True):
            if path:
                _check(path)
            self._database = layout.connect(path)
        try:
            with self._told(opening=True):
                self._prepare()
        except AccountsError:
            self._database.close()
            raise
        self._identity = path and identity(path)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the database to read from.

        Raises:
            Unavailable: it cannot be read.
        """
        with self._told():
            yield self._database

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the database to change: all that is done is stored at the end, or nothing.

        Raises:
            Unavailable: it cannot be changed, or the file is not at its place any more.
        """
        with self._told():
            # SQLite would go on writing to a file that nobody can open any more.
            if (self._path and identity(self._path)) != self._identity:
                raise Unavailable(f"{self._path}: the file was removed or replaced")
            self._database.execute("begin immediate")
            try:
                yield self._database
                self._database.execute("commit")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("rollback")
                raise

    def version(self) -> int:
        """Return a number that is another one after another process has changed something."""
        with self.reading() as database:
            return int(layout.one(database, "pragma data_version"))

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _prepare(self) -> None:
        if self._path is None:
            layout.fill(self._database)
        self._database.execute("pragma journal_mode = wal")
        self._database.execute("pragma synchronous = full")
        # So that it is told now if nothing can be written.
        self._database.execute(f"pragma user_version = {layout.SCHEMA}")

    @contextmanager
    def _told(self, *, opening: bool = False) -> Iterator[None]:
        """Turn what SQLite and the system raise into errors of ours."""
        try:
            yield
        except TROUBLES as error:
            if is_damage(error):
                raise Unusable(f"{self._path}: {layout.DAMAGED}") from error
            lasts = opening and not is_busy(error)
            problem = f"{self._path or 'the accounts'}: {reason(self._path, error)}"
            raise (Unusable if lasts else Unavailable)(problem) from error


def _check(path: Path) -> None:
    """Refuse a file that cannot be used as it is; make one if there is none."""
    if not path.exists() and not has_log(path):
        layout.create(path)
    if problem := layout.problem(path):
        raise Unusable(f"{path}: {problem}")
