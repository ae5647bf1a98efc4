"""Members: dialogues about their passwords, and when each of them was here last.

All lines of a dialogue about a password are hidden: from the first to the last of one, a client's
echo changes once. When somebody was here last is written down when they come, when they leave, and
now and then while they stay, since a server that is killed has no time for it. Nobody waits for
that.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Coroutine, Iterable
from typing import Protocol

from thudmud.accounts.guessing import Console, Guessing
from thudmud.accounts.passwords import LENGTHS, Passwords, password_problem
from thudmud.store import Account, KeptName, NameTaken, Nobody, Store, StoreError

PASSWORD_PROMPT = "Password: "  # noqa: S105  (a prompt)
OLD_PROMPT = "Old password: "
NEW_PROMPT = "New password: "
AGAIN_PROMPT = "The same again: "

_REGISTERED = (
    "The name {} is registered. If it is yours, give its password; with an empty line you can take "
    "another name."
)
_BANNED = "The operator of this server has banned {}."
_REMOVED = "The name {} is not registered any more."
_ADVICE = f"A password has at least {LENGTHS.start} characters; an empty line gives up."

_log = logging.getLogger(__name__)


class Membership:
    """Who has a password, and the dialogues about it. An empty line gives each of them up.

    Its coroutines raise StoreError if the accounts cannot be read or changed now; nothing has
    changed then.

    Args:
        store: who has which name.
        passwords: makes and compares hashes.
        guessing: slows those down who guess.
    """

    def __init__(self, store: Store, passwords: Passwords, guessing: Guessing) -> None:
        self._store, self._passwords, self._guessing = store, passwords, guessing

    async def log_in(self, console: Console, name: str, address: str) -> Account | None:
        """Ask a member for their password; return their account, or None if they do not get in."""
        proved: bool | None = False
        registered = _REGISTERED.format(name)
        while True:
            account = await self._store.find(name)  # anew: a guess takes its time
            if account is None or account.banned:
                console.say((_BANNED if account else _REMOVED).format(name))
                return None
            if proved:
                return account
            password = await console.ask(PASSWORD_PROMPT, hidden=True, before=registered)
            registered = ""
            if not password:
                return None
            proved = await self._prove(console, name, password, address)
            if proved is None:
                return None
            if not proved:
                console.say(f"That is not the password of {name}. An empty line gives up.")

    async def register(self, console: Console, name: str) -> Account | None:
        """Make a guest a member, by a password of their choice; return the new account."""
        account = await self._store.find(name)
        if account and account.banned:
            console.say(_BANNED.format(name))
            return None
        if account:
            console.say(f'The name {name} is registered already; "password" changes its password.')
            return None
        password = await self._choose(console, name)
        if not password:
            console.say("You are a guest still.")
            return None
        try:
            stored = await self._passwords.hashed(password)
            account = await self._store.enrol(name, stored)
        except NameTaken:
            console.say(f"Somebody has just registered the name {name}.")
            return None
        console.say(f"The name {name} is yours now: from today on it asks for this password.")
        return account

    async def change_password(self, console: Console, name: str, address: str) -> None:
        """Let a member who is in choose another password."""
        if await self._store.find(name) is None:
            console.say('You are a guest; "register" keeps your name, by a password.')
            return
        proved: bool | None = False
        while proved is False and (old := await console.ask(OLD_PROMPT, hidden=True)):
            proved = await self._prove(console, name, old, address)
            if proved is False:
                console.say("That is not your password. An empty line gives up.")
        password = await self._choose(console, name) if proved else None
        if not password:
            console.say("Your password stays as it was.")
            return
        await self._store.set_password(name, await self._passwords.hashed(password))
        console.say("Your password is another one now.")

    async def _choose(self, console: Console, name: str) -> str | None:
        """Ask for a new password, twice; None if they give up."""
        advice = _ADVICE
        while True:
            password = await console.ask(NEW_PROMPT, hidden=True, before=advice)
            advice = ""
            if not password:
                return None
            problem = password_problem(password, name)
            if problem is None and await console.ask(AGAIN_PROMPT, hidden=True) == password:
                return password
            console.say(f"{problem or 'The two differ.'} An empty line gives up.")

    async def _prove(self, console: Console, name: str, password: str, address: str) -> bool | None:
        """Return whether this is a member's password, as `Guessing.guess` does."""

        async def is_right() -> bool:
            account = await self._store.find(name)
            if account is None or not await self._passwords.fits(password, account.password):
                return False
            await self._keep_current(account, password)
            return True

        return await self._guessing.guess(console, name, address, is_right)

    async def _keep_current(self, account: Account, password: str) -> None:
        """Store a password that is right as it would be stored today."""
        if not self._passwords.is_outdated(account.password):
            return
        stored = await self._passwords.hashed(password)
        try:
            await self._store.set_password(account.name, stored, instead_of=account.password)
        except Nobody:
            _log.info("the password has just been changed", extra={"player": account.name})
        except StoreError as error:
            _log.error("failed to store the password of %s anew: %s", account.name, error)


LOOK_EVERY = 600.0
"""Seconds between two looks at who is here, and at names that need not be kept any more."""

_AT_ONCE = 20  # names that are looked at before it is the players' turn again


class PlayerDirectory(Protocol):
    """What is known of players by their names."""

    async def ready(self) -> None:
        """Wait until it is known which names are needed."""

    def name_problem(self, words: str) -> str | None:
        """Return a sentence that tells why nobody can be called that; None if somebody could."""

    def is_playing(self, name: str) -> bool:
        """Whether somebody is in under that name."""

    async def is_needed(self, name: str) -> bool:
        """Whether an unfinished battle, running or adjourned, depends on the name.

        Raises:
            StoreError: that cannot be read.
        """


class Attendance:
    """Who was here when.

    Args:
        store: where it is written down.
        directory: tells who is in, and whose name is needed.
        guest_grace: seconds for which a guest's name is kept after they were here.
        clock: returns the seconds since the epoch.
    """

    def __init__(
        self,
        store: Store,
        directory: PlayerDirectory,
        guest_grace: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._directory = store, directory
        self._guest_grace = guest_grace
        self._clock = clock
        self._look_later: asyncio.TimerHandle | None = None
        self._here: set[str] = set()
        self._seen: dict[str, float] = {}
        self._writing = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def is_kept(self, kept: KeptName) -> bool:
        """Whether nobody but its owner can have a guest's name; StoreError if that is unknown."""
        since = self._clock() - kept.seen
        return since < self._guest_grace or await self._is_in_use(kept.name)

    def came(self, name: str) -> None:
        """Note that a player is here, now and then until they leave."""
        self._here.add(name)
        self._note(name)
        if self._look_later is None:
            self._look()

    def left(self, name: str, *, gave_up: bool) -> None:
        """Note that a player is gone.

        Args:
            name: who.
            gave_up: whether they said so themselves; then a guest's name is free for anybody,
                unless an unfinished battle depends on it.
        """
        self._here.discard(name)
        if gave_up:
            self._begin(self._forget([name]))
        self._note(name)

    async def close(self) -> None:
        """Wait until everything is written down."""
        if self._look_later is not None:
            self._look_later.cancel()
            self._look_later = None
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _is_in_use(self, name: str) -> bool:
        return self._directory.is_playing(name) or await self._directory.is_needed(name)

    async def _forget(self, names: Iterable[str], before: float = math.inf) -> None:
        """Keep those of some guests' names no longer that nothing depends on."""
        unneeded = [name for name in names if not await self._directory.is_needed(name)]
        unused = [name for name in unneeded if not self._directory.is_playing(name)]
        await self._store.forget_guests(unused, before)

    def _note(self, name: str) -> None:
        self._seen[name] = self._clock()
        if not self._writing:
            self._writing = True
            self._begin(self._write())

    async def _write(self) -> None:
        # Whatever is noted while one batch is being written makes the next one.
        try:
            while self._seen:
                noted, self._seen = self._seen, {}
                await self._store.seen(noted)
        finally:
            self._writing = False

    def _look(self) -> None:
        self._look_later = asyncio.get_running_loop().call_later(LOOK_EVERY, self._look)
        for name in self._here:
            self._note(name)
        self._begin(self._purge(self._clock() - self._guest_grace))

    async def _purge(self, before: float) -> None:
        """Forget the names of guests that need not be kept any more."""
        names = await self._store.guests(before)
        for start in range(0, len(names), _AT_ONCE):
            await self._forget(names[start : start + _AT_ONCE], before)

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _logged(work: Coroutine[None, None, None]) -> None:
    try:
        await work
    except StoreError as error:
        _log.error("failed to note who was here: %s", error)
