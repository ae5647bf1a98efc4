"""A desk in front of a plain stand-in for the rooms, and terminals that answer from a list."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable

from argon2 import PasswordHasher

from thudmud.accounts.login import KEEP_WORD, TOLD_WORD, Desk
from thudmud.accounts.passwords import Passwords
from thudmud.store import Store

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
DAY = 86_400.0


class HungUp(Exception):
    """The one who is asked has nothing more to say."""


class Rooms:
    """Who is in, and whose names are needed."""

    def __init__(self) -> None:
        self.playing: set[str] = set()
        self.needed: set[str] = set()

    async def ready(self) -> None:
        pass

    def name_problem(self, words: str) -> str | None:
        return None if words.isalpha() else "Letters, please."

    def is_playing(self, name: str) -> bool:
        return name in self.playing

    async def is_needed(self, name: str) -> bool:
        return name in self.needed


class Answers:
    """A terminal that answers with the next line of a list, and takes down all that it shows.

    What it is asked is taken down with ``(hidden)`` behind it where it is; what is said before the
    questions is a list of its own, ``hints``.
    """

    def __init__(self, *lines: str) -> None:
        self._lines = list(lines)
        self.shown: list[str] = []
        self.hints: list[str] = []

    async def ask(self, prompt: str, *, hidden: bool = False, before: str = "") -> str:
        self.hints += [before] if before else []
        self.shown.append(prompt + ("(hidden)" if hidden else ""))
        if not self._lines:
            raise HungUp
        await asyncio.sleep(0)
        return self._lines.pop(0)

    def say(self, sentence: str) -> None:
        self.shown.append(sentence)

    @property
    def told(self) -> list[str]:
        """What was shown but for prompts and words."""
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


class Office:
    """A desk, and all that belongs to it."""

    def __init__(self, store: Store) -> None:
        self.store, self.passwords, self.rooms = store, Passwords(CHEAP), Rooms()
        self.now = 1_000_000.0
        self.pauses: list[float] = []
        self.is_patient = True
        self.desk = Desk(
            store, self.passwords, self.rooms, DAY, pause=self._pause, clock=lambda: self.now
        )
        self.desk._guessing._clock = lambda: self.now

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds * self.is_patient

    async def member(self, name: str, password: str = "password") -> None:  # noqa: S107  (nobody's)
        await self.store.enrol(name, await self.passwords.hashed(password))

    async def guest(self, name: str) -> str:
        """Let a guest in; return their resume word."""
        answers = Answers(name)
        entrance = await self.desk.introduce(answers, "192.0.2.1")
        assert entrance
        self.rooms.playing.add(entrance.name)
        return answers.word

    async def enter(self, lines: Iterable[str], address: str = "192.0.2.1") -> tuple[str, Answers]:
        """Return the name that somebody who types these lines comes in with, "" if they do not."""
        answers = Answers(*lines)
        try:
            entrance = await self.desk.introduce(answers, address)
        except HungUp:
            entrance = None
        return entrance.name if entrance else "", answers

    async def close(self) -> None:
        await self.desk.close()
        self.passwords.close()
        await self.store.close()
