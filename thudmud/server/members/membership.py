"""Members at the door: their passwords, asked for, chosen and changed.

Owns the dialogues about passwords, all hidden: from the first to the last line of one, a client's
echo changes once. Must never store a password, only what passwords.py makes of it.
"""

from __future__ import annotations

import logging

from thudmud.server.members.guessing import Console, Guessing
from thudmud.server.members.passwords import LENGTHS, Passwords, password_problem
from thudmud.store import Account, NameTaken, Nobody, Store, StoreError

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
