"""Passwords: what may be one, and how they are stored and compared.

Owns argon2id, which takes its time and memory: off the event loop, and not often at once. Must
never know whose password it is, nor keep one.
"""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

LENGTHS = range(8, 129)
"""How many characters a password may have."""

_AT_ONCE = 2
_T = TypeVar("_T")


def password_problem(password: str, name: str) -> str | None:
    """Return why this cannot be the password of a name, as a sentence, or None if it can."""
    length = len(unicodedata.normalize("NFC", password))
    if length < LENGTHS.start:
        return f"A password has at least {LENGTHS.start} characters."
    if length >= LENGTHS.stop:
        return f"A password has at most {LENGTHS.stop - 1} characters."
    if password.strip().lower() == name.lower():
        return "Your name is the first thing that somebody else would try as your password."
    return None


class Passwords:
    """Hashes passwords, and compares them with hashes.

    Args:
        hasher: how; by default what argon2-cffi advises.
    """

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._workers = ThreadPoolExecutor(_AT_ONCE, "passwords")

    async def hashed(self, password: str) -> str:
        """Return what to store of a password."""
        return await self._run(lambda: self._hasher.hash(_prepared(password)))

    async def fits(self, password: str, stored: str) -> bool:
        """Whether ``stored`` was made of this password; never, if it is no hash at all."""

        def compare() -> bool:
            try:
                return self._hasher.verify(stored, _prepared(password))
            except (VerificationError, InvalidHashError):
                return False

        # One that cannot be a password costs nobody's time.
        return len(password) < 4 * LENGTHS.stop and await self._run(compare)

    def is_outdated(self, stored: str) -> bool:
        """Whether the same password would be stored with other parameters today."""
        return self._hasher.check_needs_rehash(stored)

    def close(self) -> None:
        """Begin no more work."""
        self._workers.shutdown(wait=False, cancel_futures=True)

    async def _run(self, job: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._workers, job)


def _prepared(password: str) -> bytes:
    """Return a password so that it is the same from every keyboard (after RFC 8265, OpaqueString).

    The characters of a line have been cleaned already; here those that can be composed are.
    """
    return unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")
