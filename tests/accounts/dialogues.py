"""Logins with a fake directory of players, and prompters that answer from a list."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable

from argon2 import PasswordHasher

from thudmud.accounts.limiters import RateLimiter
from thudmud.accounts.login import KEEP_WORD, TOLD_WORD, AccountDialogues, Epochs
from thudmud.accounts.passwords import Passwords
from thudmud.store import Store, accounts

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
DAY = 86_400.0


class HungUpError(Exception):
    """Raised when a prompter has run out of answers."""


class Directory:
    """A `PlayerDirectory` with explicit sets of playing, needed and reserved names."""

    def __init__(self) -> None:
        self.playing: set[str] = set()
        self.needed: set[str] = set()
        self.reserved: set[str] = set()

    async def ready(self) -> None:
        pass

    def name_problem(self, words: str) -> str | None:
        if words.lower() in self.reserved:
            return "Reserved."
        return None if words.isalpha() else "Letters, please."

    def ban_reason(self, name: str, address: str) -> str:
        return f"The operator of this server has banned {name or address}."

    def is_online(self, name: str) -> bool:
        return name in self.playing

    async def is_needed(self, name: str) -> bool:
        return name in self.needed


class Answers:
    """A `Prompter` that answers with the next line of a list, and records its output.

    Prompts with hidden input are recorded with ``(hidden)`` appended. Texts before a prompt go
    to ``hints``; resume words sent to the client program go to ``kept``.
    """

    keeps_words = True
    shows_words = False

    def __init__(self, *lines: str) -> None:
        self._lines = list(lines)
        self.shown: list[str] = []
        self.hints: list[str] = []
        self.kept: list[tuple[str, str]] = []

    async def ask(self, prompt: str, *, hidden: bool = False, before: str = "") -> str:
        self.hints += [before] if before else []
        self.shown.append(prompt + ("(hidden)" if hidden else ""))
        if not self._lines:
            raise HungUpError
        await asyncio.sleep(0)
        return self._lines.pop(0)

    def say(self, sentence: str) -> None:
        self.shown.append(sentence)

    hold = say

    def send_resume_word(self, name: str, word: str) -> None:
        self.kept.append((name, word))

    @property
    def told(self) -> list[str]:
        """Lines shown, without prompts and resume words."""
        return [
            each
            for each in self.shown
            if not re.search(r"[?:] (\(hidden\))?$", each)
            and not TOLD_WORD.fullmatch(each)
            and each != KEEP_WORD
        ]

    @property
    def word(self) -> str:
        """The resume word shown to the guest."""
        [word] = [found[1] for each in self.shown if (found := TOLD_WORD.fullmatch(each))]
        return word


class LoginSetup:
    """Logins with their dependencies, on a fake clock."""

    def __init__(self, store: Store, new_names: RateLimiter | None = None) -> None:
        self.store, self.passwords, self.directory = store, Passwords(CHEAP), Directory()
        self.now = 1_000_000.0
        self.logins = self.new_logins(new_names)

    def new_logins(self, new_names: RateLimiter | None = None) -> AccountDialogues:
        """Return logins over the same store, as after a restart."""
        return AccountDialogues(
            self.store,
            self.passwords,
            self.directory,
            DAY,
            new_names=new_names,
            clock=lambda: self.now,
        )

    async def member(self, name: str, password: str = "password") -> None:  # noqa: S107  (nobody's)
        await self.store.write(accounts.enrol, name, await self.passwords.hash_password(password))

    async def epochs(self, name: str) -> Epochs:
        """Return the epochs of a member's account as a session would hold them."""
        return set((await self.store.read(accounts.epochs, [name])).values())

    async def guest(self, name: str) -> str:
        """Log a guest in; return their resume word."""
        answers = Answers(name)
        login = await self.logins.log_in(answers, "192.0.2.1")
        assert login
        self.directory.playing.add(login.name)
        return answers.word

    async def enter(self, lines: Iterable[str], address: str = "192.0.2.1") -> tuple[str, Answers]:
        """Log in by some lines; return the name, "" after a failure, and the answers."""
        answers = Answers(*lines)
        try:
            login = await self.logins.log_in(answers, address)
        except HungUpError:
            login = None
        return login.name if login else "", answers

    async def close(self) -> None:
        await self.logins.last_seen.close()
        self.passwords.close()
        await self.store.close()
