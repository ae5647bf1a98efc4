"""The thread that a file of accounts is read and written in, for an event loop that never waits.

Owns that thread. Must never know what is read or written.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from thudmud.server.members.account_file import AccountFile, Unavailable

_T = TypeVar("_T")


class AccountThread:
    """An open file of accounts, and the thread that has it open.

    Every method raises AccountsError if the file cannot be read or changed.
    """

    def __init__(self, file: AccountFile, worker: ThreadPoolExecutor) -> None:
        self._file = file
        self._worker = worker
        self.is_closed = False

    @classmethod
    async def open(cls, path: Path | None) -> AccountThread:
        """Open the file at ``path``, made if there is none; None for one in memory.

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
        if not self.is_closed:
            closing = self._run(self._file.close)
            self.is_closed = True
            await closing
            self._worker.shutdown(wait=False)

    async def rows(self, statement: str, **values: object) -> Sequence[tuple[Any, ...]]:
        """Return what a statement finds."""

        def read() -> list[tuple[Any, ...]]:
            with self._file.reading() as database:
                return database.execute(statement, values).fetchall()

        return await self._run(read)

    async def write(self, change: Callable[[sqlite3.Connection], _T]) -> _T:
        """Change something, all of it or nothing; return what ``change`` returns."""

        def write() -> _T:
            with self._file.writing() as database:
                return change(database)

        return await self._run(write)

    async def version(self) -> int:
        """Return a number that is another one after another process has changed something."""
        return await self._run(self._file.version)

    def _run(self, job: Callable[[], _T]) -> asyncio.Future[_T]:
        if self.is_closed:
            raise Unavailable("the accounts are closed")
        return asyncio.get_running_loop().run_in_executor(self._worker, job)
