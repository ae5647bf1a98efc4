"""Account dialogues: logging in, registering, changing the password, logging out everywhere.

A name has one owner at a time: a member, who has a password, or a guest, who was given a resume
word. Anybody with the secret may use the name, even while somebody is playing under it: that is how
players take over their own sessions.

All logins of an account can be ended at once, by a new epoch of the account. A session holds the
epoch that it was logged in at. While a dialogue is storing a new epoch it holds both, so that its
own session isn't ended whichever the server reads first.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from thudmud.accounts import passwords
from thudmud.accounts.guesses import Guess, GuessThrottle, Secret
from thudmud.accounts.guest_names import make_up_name
from thudmud.accounts.last_seen import LastSeen, PlayerDirectory
from thudmud.accounts.limiters import RateLimiter, network
from thudmud.accounts.passwords import LENGTHS, Passwords, password_problem
from thudmud.english import capitalised, rounded_duration
from thudmud.features.options.messages import choice_text
from thudmud.game.options import Options, SetOption
from thudmud.language.parsing import parse_option
from thudmud.store import (
    Account,
    KeptName,
    NameTakenError,
    NoSuchAccountError,
    Store,
    StoreError,
    accounts,
    new_epoch,
)
from thudmud.values import Value, replace

NAME_PROMPT = "What is your name? "
WORD_PROMPT = "Comeback words: "
PASSWORD_PROMPT = "Password: "  # noqa: S105  (a prompt)
OLD_PROMPT = "Old password: "
NEW_PROMPT = "New password: "
AGAIN_PROMPT = "And again: "
NEW_PASSWORD_PROMPTS = (NEW_PROMPT, AGAIN_PROMPT)
PROMPTS = (NAME_PROMPT, WORD_PROMPT, PASSWORD_PROMPT, OLD_PROMPT, NEW_PROMPT, AGAIN_PROMPT)
"""All prompts of the dialogues."""

TOLD_WORD = re.compile(r"(?<!\S)([a-z]+(?:-[a-z]+){4})(?!\S)")
"""Matches a line that is a guest's resume word: five words with dashes, below `KEEP_WORD`."""

KEEP_WORD = "Your comeback words, in case you lose your connection:"
"""The line above a new guest's resume word, at 80 columns."""

BACK_WORD = 'These words bring you back to your games; "register" keeps your name for good:'
"""The line above the resume word of a guest who quits and is needed in a match or a tournament, at
80 columns."""

_REGISTERED = (
    "The name {} is registered. If it's yours, give its password. To choose another name, just "
    "press Enter."
)
_REMOVED = "The name {} is no longer registered."
JUST_BANNED = "An operator of this server has just banned {}."
"""Shown in the second before the server has read a new ban, and the reason for it."""

_JUST_CHANGED = "The password of {0} has just been changed, or {0} has logged out everywhere."
_ADVICE = f"Choose a password of at least {LENGTHS.start} characters, or just press Enter to stop."

_CHANGES, _CHANGE_INTERVAL = 10, 30.0
"""The limit on password changes from an address: how many at once, and the seconds to gain another.
Hashing is slow, and delays the logins of others."""

_GUEST = "guest"
"""What is given instead of a name by players who want a made-up one."""

_ENTRY_VERBS = frozenset({"co", "connect", "create", "login", "logon", "signin"})
"""Words of other games before a name, and perhaps a password, at the name prompt."""

_EXITS = frozenset({"bye", "exit", "logoff", "logout", "q", "quit"})
"""What ends the connection at the name prompt."""

_JUST_A_NAME = f'Type just your name, or "{_GUEST}" for one that is made up for you.'

_NAMES_TRIED = 20
"""The number of made-up names that are tried until one is free."""

_TAKEN_AT_ONCE = 32
"""The most new guests that are stored at once: each waits for the store, but never for a player."""

Epochs = set[int | None]
"""The epochs of a name's account at which a session is valid; None stands for no account."""

_log = logging.getLogger(__name__)
_of_strangers = logging.getLogger("thudmud.strangers")


class Prompter(Protocol):
    """The login dialogue with a connection's player: asks for lines, and shows sentences."""

    async def ask(self, prompt: str, *, hidden: bool = False, before: str = "") -> str:
        """Ask for a line, and return it as typed.

        Args:
            prompt: the prompt, with a blank at its end.
            hidden: whether typing is hidden.
            before: a sentence to show first, unless the next line has come in already.
        """

    def say(self, sentence: str) -> None:
        """Show a sentence."""

    @property
    def keeps_words(self) -> bool:
        """Whether the client's program can store a resume word."""

    @property
    def shows_words(self) -> bool:
        """Whether the client's program shows the resume word in its settings, as the page does."""

    def send_resume_word(self, name: str, word: str) -> None:
        """Send a resume word to the client's program, if that can store one."""

    def hold(self, sentence: str) -> None:
        """Show an estimate of how long the answer waits until it is checked.

        If the player has left meanwhile, the connection may end without the check.
        """


class Login(Value):
    """A successful login: a member with an account, or a guest with a resume word.

    Attributes:
        name: the player's name.
        member: the member's account; None for a guest.
        choices: the options chosen at the name prompt.
        word: the guest's resume word; "" for a member.
    """

    SECRETS = frozenset({"word"})

    name: str
    member: Account | None = None
    choices: tuple[SetOption, ...] = ()
    word: str = ""


class AccountDialogues:
    """Conducts the account dialogues of all connections. In each, an empty line gives up.

    All lines of a dialogue about a password are hidden, so that a client's echo changes only at its
    beginning and its end. If the store fails, the dialogue ends with a sentence about it, and
    nothing has changed.

    Args:
        store: the store.
        passwords: the password hasher.
        directory: knows which names are in use.
        guest_grace: the seconds for which a guest's name is reserved after they were last here.
        new_names: limits the new names from each network; None for no limit.
        failures: counts the wrong passwords and resume words.
        clock: returns the seconds since the epoch.

    Attributes:
        last_seen: records when players come and leave.
        new_names: the limiter; the server may replace it.
    """

    def __init__(
        self,
        store: Store,
        passwords: Passwords,
        directory: PlayerDirectory,
        guest_grace: float,
        *,
        new_names: RateLimiter | None = None,
        failures: Counter[Secret] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._passwords, self._directory = store, passwords, directory
        self.new_names, self._clock = new_names, clock
        self._failures = Counter[Secret]() if failures is None else failures
        self._changes = RateLimiter(1 / _CHANGE_INTERVAL, _CHANGES)
        self._throttle = GuessThrottle()
        self._taking = asyncio.Semaphore(_TAKEN_AT_ONCE)
        self.last_seen = LastSeen(store, directory, guest_grace, clock)

    async def log_in(self, prompter: Prompter, address: str) -> Login | None:
        """Ask for names until the player may use one; return None if the player quits.

        Options can be chosen at the same prompt.
        """
        choices: dict[object, SetOption] = {}
        """The last choice of each option, by its subject."""
        while True:
            words = (await prompter.ask(NAME_PROMPT)).strip()
            if words.lower() in _EXITS:
                prompter.say("Goodbye!")
                return None
            if choice := parse_option(words):
                choices.pop(choice.subject, None)  # keeps the choices in order
                choices[choice.subject] = choice
                prompter.say(choice_text(choice, Options().with_choices(choices.values())))
            elif not words:
                continue
            elif not (named := _without_entry_verb(words)):
                prompter.say(_JUST_A_NAME)
            else:
                with _report_store_errors(prompter):
                    if login := await self._claim_name(prompter, named, address):
                        self.last_seen.record_arrival(login.name, network(address))
                        return replace(login, choices=tuple(choices.values()))

    def record_departure(self, name: str, *, gave_up: bool) -> None:
        """Record a player's departure, see `LastSeen.record_departure`."""
        self.last_seen.record_departure(name, gave_up=gave_up)

    def end_logins(self, name: str) -> None:
        """End all logins of a member, in the background.

        The server calls this when a login from elsewhere interrupts a change of the password.
        Otherwise the thief of a resume word could prevent every change.
        """
        self.last_seen.end_logins(name)

    async def register(self, prompter: Prompter, name: str, epochs: Epochs) -> bool:
        """Conduct the dialogue that makes a guest a member, by choosing a password.

        Args:
            prompter: the guest.
            name: the guest's name.
            epochs: the epochs at which the session is valid; updated.

        Returns:
            Whether the name was registered.
        """
        with _report_store_errors(prompter):
            if account := await self._store.read(accounts.find, name):
                prompter.say(
                    self._ban_reason(name)
                    if account.banned
                    else f'The name {name} is already registered. "password" changes its password.'
                )
                return False
            password = await self._choose_password(prompter, name)
            if not password:
                prompter.say("You are still a guest.")
                return False
            hashed, epoch = await self._passwords.hash_password(password), _next_epoch(epochs)
            try:
                account = await self._store.write(accounts.enrol, name, hashed, epoch=epoch)
            except NameTakenError:
                epochs.discard(epoch)
                prompter.say(f"Somebody has just registered the name {name}.")
                return False
            epochs.intersection_update({epoch})
            prompter.say(
                f"The name {name} is yours now. You'll be asked for this password when you next "
                "log in."
            )
            await self._give_resume_word(prompter, account)  # the guest's word has become invalid
            return True
        return False

    async def change_password(
        self, prompter: Prompter, name: str, address: str, epochs: Epochs
    ) -> None:
        """Conduct the dialogue that changes a member's password, and ends all other logins.

        Args:
            prompter: the member.
            name: the member's name.
            address: the member's address.
            epochs: the epochs at which the session is valid; updated.
        """
        with _report_store_errors(prompter):
            if await self._store.read(accounts.find, name) is None:
                prompter.say(
                    'You\'re a guest, so you have no password. "register" chooses one, and '
                    "keeps your name for you."
                )
                return
            if wait := self._changes.bucket_for(network(address)).take(self._clock()):
                prompter.say(
                    "Many passwords have just been changed from your address. You can change "
                    f"yours in {rounded_duration(wait)}."
                )
                return
            account = None
            while not account and (old := await prompter.ask(OLD_PROMPT, hidden=True)):
                account = await self._authenticate(prompter, name, old, address)
                if not account:
                    prompter.say(
                        "That isn't your password. Try again, or just press Enter to stop."
                    )
            password = await self._choose_password(prompter, name) if account else None
            if not (account and password):
                prompter.say("Your password stays as it was.")
                return
            stored, epoch = await self._passwords.hash_password(password), _next_epoch(epochs)
            try:
                ended = await self._store.write(
                    accounts.set_password, name, stored, since=account.epoch, epoch=epoch
                )
            except NoSuchAccountError:
                prompter.say(_JUST_CHANGED.format(name))
                return
            epochs.intersection_update({epoch})
            prompter.say("Your password has been changed.")
            for sentences in ended:
                prompter.say(sentences)
            await self._give_resume_word(prompter, replace(account, epoch=epoch))

    async def log_out_everywhere(self, prompter: Prompter, name: str, epochs: Epochs) -> None:
        """End all logins of a member except the current session's.

        Args:
            prompter: the member.
            name: the member's name.
            epochs: the epochs at which the session is valid; updated.
        """
        with _report_store_errors(prompter):
            account = await self._store.read(accounts.find, name)
            if account is None:
                prompter.say(
                    'You\'re a guest. "quit" ends your comeback words, and "register" '
                    "keeps your name."
                )
                return
            if account.epoch not in epochs:  # the server is about to end this session
                prompter.say(_JUST_CHANGED.format(name))
                return
            epoch = _next_epoch(epochs)
            try:
                ended = await self._store.write(
                    accounts.end_logins, name, since=account.epoch, epoch=epoch
                )
            except NoSuchAccountError:
                prompter.say(_JUST_CHANGED.format(name))
                return
            epochs.intersection_update({epoch})
            prompter.say(
                "You're logged out everywhere but here. All other programs and browsers will "
                "need your password again."
            )
            for sentences in ended:
                prompter.say(sentences)
            await self._give_resume_word(prompter, replace(account, epoch=epoch))

    # Names.

    async def _claim_name(self, prompter: Prompter, words: str, address: str) -> Login | None:
        """Log in under a name, with its owner's secret or as a new guest.

        The secret may follow the name in the same line.
        """
        await self._directory.ready()
        name, _, secret = words.partition(" ")
        if account := await self._store.read(accounts.find, name):
            return await self._claim_as_member(prompter, account.name, address, secret.strip())
        kept = await self._store.read(accounts.find_guest, name)
        if kept and await self.last_seen.is_kept(kept):
            return await self._claim_as_guest(prompter, kept.name, address, secret.strip())
        if words.lower() == _GUEST and (made_up := await self._find_free_name()):
            login = await self._register_guest(prompter, made_up, None, address)
            if login:
                prompter.say(f"You are {login.name}.")
            return login
        # Only for new names: an owner keeps a name that has become invalid, such as a new command.
        if problem := self._directory.name_problem(words):
            prompter.say(problem)
            return None
        return await self._register_guest(prompter, capitalised(words), kept, address)

    async def _find_free_name(self) -> str | None:
        """Make up a name that nobody has or had; None if all attempts fail."""
        for _ in range(_NAMES_TRIED):
            name = make_up_name()
            if self._directory.name_problem(name) or self._directory.is_online(name):
                continue
            account = await self._store.read(accounts.find, name)
            kept = await self._store.read(accounts.find_guest, name)
            if account is None and kept is None:
                return name
        return None

    async def _claim_as_member(
        self, prompter: Prompter, name: str, address: str, given: str
    ) -> Login | None:
        """Log in under a registered name; ``given`` is the password typed with the name, if any."""
        proved: Account | None = None
        password, registered = "", _REGISTERED.format(name)
        while True:
            # Read anew in each round: the guess before may have waited for long.
            account = await self._store.read(accounts.find, name)
            if account is None or account.banned:
                prompter.say(self._ban_reason(name) if account else _REMOVED.format(name))
                return None
            if proved:
                # During the check all logins may have been ended, or the name given to another.
                is_same = account.epoch == proved.epoch
                if is_same and await self._give_resume_word(prompter, account, instead_of=password):
                    return Login(account.name, account)
                prompter.say(_JUST_CHANGED.format(name))
            password = given or await prompter.ask(PASSWORD_PROMPT, hidden=True, before=registered)
            registered = given = ""
            if not password:
                return None
            proved = await self._authenticate(prompter, name, password, address, by_word=True)
            if not proved:
                prompter.say(
                    f"That isn't the password of {name}. Try again, or just press Enter to stop."
                )

    async def _claim_as_guest(
        self, prompter: Prompter, name: str, address: str, given: str
    ) -> Login | None:
        """Log in under a guest's name; ``given`` are the comeback words typed with the name."""
        playing = self._directory.is_online(name)
        here = "is already here" if playing else "was here, and may come back"
        needed = (
            f"Somebody called {name} {here}. If that's you, give your comeback words. To choose "
            "another name, just press Enter."
        )
        while word := given or await prompter.ask(WORD_PROMPT, before=needed):
            needed = given = ""

            async def is_right(word: str = word) -> bool:
                kept = await self._store.read(accounts.find_guest, name)
                return kept is not None and passwords.is_same_word(word, kept.word)

            guess = await self._guess_at(name, Secret.WORD, address)
            right = await self._is_right(prompter, guess, is_right)
            if account := await self._store.read(accounts.find, name):
                prompter.say(
                    self._ban_reason(name)
                    if account.banned
                    else f"The name {name} has just been registered, so its comeback words no "
                    "longer work."
                )
                return None
            if right:
                return Login(name, word=passwords.normalize_word(word))
            prompter.say(f"Those aren't the comeback words of {name}.")
        return None

    def _ban_reason(self, name: str) -> str:
        """Return why a name is banned, as a sentence; a general one if that isn't known yet."""
        return self._directory.ban_reason(name, "") or JUST_BANNED.format(name)

    async def _register_guest(
        self, prompter: Prompter, name: str, before: KeptName | None, address: str
    ) -> Login | None:
        """Give a free name to a new guest, once one of a limited number of slots is free."""
        async with self._taking:
            return await self._register_guest_now(prompter, name, before, address)

    async def _register_guest_now(
        self, prompter: Prompter, name: str, before: KeptName | None, address: str
    ) -> Login | None:
        if self._directory.is_online(name) or await self._directory.is_needed(name):
            prompter.say(f"Somebody called {name} has a game here. Please choose another name.")
            return None
        if self.new_names and (
            wait := self.new_names.bucket_for(network(address)).take(self._clock())
        ):
            prompter.say(
                "Your address has used many new names. You can have another one in "
                f"{rounded_duration(wait)}, or come back under one of yours at any time."
            )
            return None
        word = passwords.new_word()
        kept = KeptName(name, passwords.word_hash(word), self.last_seen.initial_last_seen())
        if not await self._store.write(accounts.reserve_guest_name, kept, instead_of=before):
            prompter.say(f"Somebody called {name} has just come in. Please choose another name.")
            return None
        if not prompter.shows_words:
            prompter.say(KEEP_WORD)
            prompter.say(word)
        prompter.send_resume_word(name, word)
        return Login(name, word=word)

    async def _give_resume_word(
        self, prompter: Prompter, account: Account, *, instead_of: str = ""
    ) -> bool:
        """Give a member's program a resume word, which is accepted in place of the password.

        Args:
            prompter: the member.
            account: the member's account at the time of the check of the secret.
            instead_of: the secret that was checked, perhaps an earlier resume word.

        Returns:
            False if all logins of the account have been ended since; that isn't checked if the
            program stores no resume words, or if the store fails.
        """
        if not prompter.keeps_words:
            return True
        word = passwords.new_word()
        hashed = passwords.word_hash(word)
        try:
            holds = await self._store.write(
                accounts.store_resume_word,
                account.name,
                hashed,
                account.epoch,
                passwords.word_hash(instead_of),
            )
        except StoreError as error:  # the next login needs the password
            _log.error("could not store a resume word of %s: %s", account.name, error)
            return True
        if holds:
            prompter.send_resume_word(account.name, word)
        return holds

    # Passwords.

    async def _choose_password(self, prompter: Prompter, name: str) -> str | None:
        """Ask for a new password twice; return None if the player gives up."""
        advice = _ADVICE
        while password := await prompter.ask(NEW_PROMPT, hidden=True, before=advice):
            advice = ""
            problem = password_problem(password, name)
            if problem is None:
                again = await prompter.ask(AGAIN_PROMPT, hidden=True)
                if not again:
                    return None
                if again == password:
                    return password
            prompter.say(
                f"{problem or 'The two are different.'} Try again, or just press Enter to stop."
            )
        return None

    async def _authenticate(
        self, prompter: Prompter, name: str, secret: str, address: str, *, by_word: bool = False
    ) -> Account | None:
        """Check a member's secret, throttled as a guess.

        Args:
            prompter: the client.
            name: the member's name.
            secret: the password, as typed.
            address: the client's address.
            by_word: whether a resume word is accepted as well.

        Returns:
            The account at the time of the check; None if the secret is wrong.
        """
        guess = await self._guess_at(name, Secret.PASSWORD, address)
        proved: Account | None = None

        async def is_right() -> bool:
            nonlocal proved
            account = await self._store.read(accounts.find, name)
            if account is None:
                return False
            hashed = passwords.word_hash(secret)
            if not (by_word and await self._store.read(accounts.has_resume_word, name, hashed)):
                if not await self._passwords.is_correct(
                    secret, account.password, first=guess.is_known
                ):
                    return False
                if self._passwords.is_outdated(account.password):
                    await self._rehash(account, secret)
            proved = account
            return True

        return proved if await self._is_right(prompter, guess, is_right) else None

    async def _rehash(self, account: Account, password: str) -> None:
        """Replace the hash of a correct password by one with the hasher's present parameters."""
        stored = await self._passwords.hash_password(password)
        try:
            await self._store.write(accounts.rehash, account.name, stored, account.password)
        except NoSuchAccountError:
            _log.info(
                "not rehashed: the password has just been changed", extra={"player": account.name}
            )
        except StoreError as error:
            _log.error("could not store the new hash of %s's password: %s", account.name, error)

    async def _guess_at(self, name: str, secret: Secret, address: str) -> Guess:
        where = network(address)
        is_known = where in await self._store.read(accounts.addresses, name)
        return Guess(secret, name, where, is_known)

    async def _is_right(
        self, prompter: Prompter, guess: Guess, check: Callable[[], Awaitable[bool]]
    ) -> bool:
        right = await self._throttle.is_right(guess, check, prompter.hold)
        if not right:
            self._failures[guess.secret] += 1
            extra = {"player": guess.name, "address": guess.network}
            _of_strangers.info("wrong password or resume word", extra=extra)
        return right


def _without_entry_verb(words: str) -> str:
    """Return a name and what follows it without a verb such as "connect"; "" if no name is left."""
    verb, _, rest = words.partition(" ")
    return rest.strip() if verb.lower() in _ENTRY_VERBS else words


def _next_epoch(epochs: Epochs) -> int:
    """Return a new epoch for an account, and add it to those at which the session is valid."""
    epoch = new_epoch()
    epochs.add(epoch)
    return epoch


@contextmanager
def _report_store_errors(prompter: Prompter) -> Iterator[None]:
    """End a dialogue with a sentence for the player if the store fails."""
    try:
        yield
    except StoreError as error:
        _log.error("could not access the accounts: %s", error)
        prompter.say("The server can't reach its accounts just now. Please try again in a while.")
