"""The login dialogue: from the name prompt to a name that may be played under.

A name has one owner at a time: a member, by password, or a guest, by the resume word that they were
given. Whoever shows that a name is theirs may have it, also while it is being played under.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import reduce

from thudmud.accounts import passwords
from thudmud.accounts.guessing import Console, Guessing
from thudmud.accounts.members import (
    AGAIN_PROMPT,
    NEW_PROMPT,
    OLD_PROMPT,
    PASSWORD_PROMPT,
    Attendance,
    Membership,
    PlayerDirectory,
)
from thudmud.accounts.passwords import Passwords
from thudmud.accounts.throttles import Newcomers
from thudmud.english import capitalised
from thudmud.language.parsing import chosen_by
from thudmud.play.options import Options, SetOption, after
from thudmud.store import Account, KeptName, Store, StoreError
from thudmud.views.options import said

NAME_PROMPT = "What is your name? "
WORD_PROMPT = "Resume word: "
PROMPTS = (NAME_PROMPT, WORD_PROMPT, PASSWORD_PROMPT, OLD_PROMPT, NEW_PROMPT, AGAIN_PROMPT)
"""Everything that a dialogue asks with."""

TOLD_WORD = re.compile(r"Your resume word, to come back as \w+: ([a-z-]+)")
"""The one line, on a screen of 80 columns, that tells a guest their word."""

KEEP_WORD = "Keep it: with it you come back as yourself if your connection is lost."
"""What is said of the word, on a line of its own on such a screen."""

_GOODBYE = "Goodbye!"
_UNAVAILABLE = "The server cannot look after names at the moment. Please try again in a while."

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Entrance:
    """Somebody who may come in.

    Attributes:
        name: their name as it is shown.
        member: their account, if they have one.
        choices: the options that they have chosen at the door.
    """

    name: str
    member: Account | None = None
    choices: tuple[SetOption, ...] = ()


class Desk:
    """Finds out who somebody is, and leads all dialogues about names and passwords.

    Args:
        store: who has which name.
        passwords: makes and compares hashes.
        directory: tells who is in, and whose name is needed.
        guest_grace: seconds for which a guest's name is kept after they were here.
        newcomers: counts the new names; None if there may be any number.
        pause: waits for a number of seconds.
        clock: returns the seconds since the epoch.
    """

    def __init__(
        self,
        store: Store,
        passwords: Passwords,
        directory: PlayerDirectory,
        guest_grace: float,
        *,
        newcomers: Newcomers | None = None,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._directory, self._clock = store, directory, clock
        self._newcomers = newcomers
        self._guessing = Guessing(pause)
        self._members = Membership(store, passwords, self._guessing)
        self._attendance = Attendance(store, directory, guest_grace, clock)

    async def introduce(self, console: Console, address: str) -> Entrance | None:
        """Ask for a name until there is one to come in under; None for who would rather leave."""
        choices: list[SetOption] = []
        while True:
            words = (await console.ask(NAME_PROMPT)).strip()
            if words.lower() == "quit":
                console.say(_GOODBYE)
                return None
            if choice := chosen_by(words):
                choices.append(choice)
                console.say(said(choice, reduce(after, choices, Options())))
                continue
            problem = self._directory.name_problem(words) if words else None
            if problem:
                console.say(problem)
            elif words and (entrance := await self._look_up(console, words, address)):
                self._attendance.came(entrance.name)
                return replace(entrance, choices=tuple(choices))

    async def register(self, console: Console, name: str) -> Account | None:
        """Let a guest who is in keep their name by a password; return the account if they do."""
        try:
            return await self._members.register(console, name)
        except StoreError as error:
            _tell_unavailable(console, error)
            return None

    async def change_password(self, console: Console, name: str, address: str) -> None:
        """Let a member who is in choose another password."""
        try:
            await self._members.change_password(console, name, address)
        except StoreError as error:
            _tell_unavailable(console, error)

    def left(self, name: str, *, gave_up: bool) -> None:
        """Note that a player is gone, and whether it was by ``quit``."""
        self._attendance.left(name, gave_up=gave_up)

    async def close(self) -> None:
        """Wait until everything is written down."""
        await self._attendance.close()

    async def _look_up(self, console: Console, words: str, address: str) -> Entrance | None:
        try:
            await self._directory.ready()
            if account := await self._store.find(words):
                member = await self._members.log_in(console, account.name, address)
                return Entrance(member.name, member) if member else None
            kept = await self._store.find_guest(words)
            if kept and await self._attendance.is_kept(kept):
                return await self._take_back(console, kept.name, address)
            return await self._take(console, capitalised(words), kept, address)
        except StoreError as error:
            _tell_unavailable(console, error)
            return None

    async def _take(
        self, console: Console, name: str, before: KeptName | None, address: str
    ) -> Entrance | None:
        """Give a name that is nobody's to a new guest."""
        if self._directory.is_playing(name) or await self._directory.is_needed(name):
            console.say(f"Somebody called {name} has a game here. Please take another name.")
            return None
        if self._newcomers and (problem := self._newcomers.problem(address, self._clock())):
            console.say(problem)
            return None
        word = passwords.made_up()
        kept = KeptName(name, passwords.stored(word), self._clock())
        if not await self._store.keep_guest(kept, instead_of=before):
            console.say(f"Somebody called {name} has just come in. Please take another name.")
            return None
        console.say(f"Your resume word, to come back as {name}: {word}")
        console.say(KEEP_WORD)
        return Entrance(name)

    async def _take_back(self, console: Console, name: str, address: str) -> Entrance | None:
        """Give a guest's name to who has its word."""
        here = (
            "is here already" if self._directory.is_playing(name) else "was here, and may come back"
        )
        console.say(
            f"Somebody called {name} {here}. If that is you, give the resume word that you were "
            "told; with an empty line you can take another name."
        )
        while word := await console.ask(WORD_PROMPT):

            async def is_right(word: str = word) -> bool:
                kept = await self._store.find_guest(name)
                return kept is not None and passwords.is_same(word, kept.word)

            right = await self._guessing.guess(console, name, address, is_right)
            if await self._store.find(name):
                console.say(
                    f"The name {name} has just been registered, or banned: its word is of no use"
                    " any more."
                )
                return None
            if right is not False:
                return Entrance(name) if right else None
            console.say(f"That is not the resume word of {name}.")
        return None


def _tell_unavailable(console: Console, error: StoreError) -> None:
    _log.error("the accounts cannot be used: %s", error)
    console.say(_UNAVAILABLE)
