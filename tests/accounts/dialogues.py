"""Logins over a plain stand-in for the sessions, and prompters that answer from a list."""

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
    """The player who is asked has no more answers."""


class Directory:
    """Who is playing, and whose names are needed; a `PlayerDirectory`."""

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

    def ban_told(self, name: str, address: str) -> str:
        return f"The operator of this server has banned {name or address}."

    def is_here(self, name: str) -> bool:
        return name in self.playing

    async def is_needed(self, name: str) -> bool:
        return name in self.needed


class Answers:
    """A `Prompter` that answers with the next line of a list, and keeps all that it shows.

    A question whose answer is hidden is kept with ``(hidden)`` behind it. What is said before
    questions is kept apart, in ``hints``; the words that its program is sent, in ``kept``.
    """

    keeps_words = True

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

    def keep(self, name: str, word: str) -> None:
        self.kept.append((name, word))

    @property
    def told(self) -> list[str]:
        """What was shown, but for prompts and resume words."""
        return [
            each
            for each in self.shown
            if not re.search(r"[?:] (\(hidden\))?$", each)
            and not TOLD_WORD.fullmatch(each)
            and each != KEEP_WORD
        ]

    @property
    def word(self) -> str:
        """The resume word that was told."""
        [word] = [found[1] for each in self.shown if (found := TOLD_WORD.fullmatch(each))]
        return word


class LoginSetup:
    """Logins, all that they need, and a clock that stands still."""

    def __init__(self, store: Store, new_names: RateLimiter | None = None) -> None:
        self.store, self.passwords, self.directory = store, Passwords(CHEAP), Directory()
        self.now = 1_000_000.0
        self.logins = self.new_logins(new_names)

    def new_logins(self, new_names: RateLimiter | None = None) -> AccountDialogues:
        """Return logins as after a restart, which know what is stored."""
        return AccountDialogues(
            self.store,
            self.passwords,
            self.directory,
            DAY,
            new_names=new_names,
            clock=lambda: self.now,
        )

    async def member(self, name: str, password: str = "password") -> None:  # noqa: S107  (nobody's)
        await self.store.write(accounts.enrol, name, await self.passwords.hashed(password))

    async def epochs(self, name: str) -> Epochs:
        """Return the epoch of a member's account, as a session has it."""
        return set((await self.store.read(accounts.epochs, [name])).values())

    async def guest(self, name: str) -> str:
        """Let a guest in; return their resume word."""
        answers = Answers(name)
        login = await self.logins.log_in(answers, "192.0.2.1")
        assert login
        self.directory.playing.add(login.name)
        return answers.word

    async def enter(self, lines: Iterable[str], address: str = "192.0.2.1") -> tuple[str, Answers]:
        """Return the name that somebody who types these lines comes in with, "" if they do not."""
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
