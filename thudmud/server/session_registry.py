"""Session registry: logins into the shared service, bans and forced logouts."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from thudmud.accounts.limiters import StorageQuota, TalkLimiter, is_local, network, parsed_address
from thudmud.accounts.login import JUST_BANNED, Epochs
from thudmud.bots.session import Bot, HeldLines
from thudmud.english import capitalised
from thudmud.errors import RefusedError
from thudmud.features.archive.messages import entry, players
from thudmud.features.options.preferences import preferences_of_person, profile_of
from thudmud.features.rooms.messages import greeting
from thudmud.game.command import Command
from thudmud.game.feature import Figure, PageRoute
from thudmud.game.hall import Hall
from thudmud.game.more import LogoutEverywhere, Password, Register
from thudmud.game.options import UNKNOWN, SetOption
from thudmud.game.people import Person
from thudmud.game.refusals import Refusal
from thudmud.game.resolution import resolve_hall_board
from thudmud.game.sanctions import Order
from thudmud.language.parsing import parse
from thudmud.language.vocabulary import Vocabulary
from thudmud.server.places import Places
from thudmud.service import (
    Adviser,
    JoinRequest,
    Node,
    Outbox,
    Policy,
    Result,
    Service,
    Visit,
    Watcher,
)
from thudmud.store import Account, LastPlace, Store, StoreError, accounts, battles
from thudmud.telnet.screen import CloseReason
from thudmud.views.help import pages_of
from thudmud.views.sanctions import barred
from thudmud.views.standing import board_line
from thudmud.views.view import Terminal

NEW_OPERATOR = 'You are an operator now. "help operators" explains what you can do.'
NEW_OPERATOR_ALONE = "You are an operator now."
"""Variant of `NEW_OPERATOR` for halls without a help page for operators."""

REMOVED = "An operator of this server has ended your visit. Goodbye."
LOGGED_OUT = (
    "You've been logged out: your password was changed, or you asked to log out everywhere. "
    "Please log in again."
)

REGISTERED = (
    "Your name has just been registered from another connection, and needs a password now. "
    "Please come back in with that, or under another name."
)

_log = logging.getLogger(__name__)


class Session(Outbox, Protocol):
    """Protocol of sessions: those of connections, and of bots."""

    @property
    def name(self) -> str:
        """The player's name, also during login; empty if there is none yet."""

    @property
    def address(self) -> str:
        """The player's network address; empty for a bot."""

    @property
    def has_ended(self) -> bool:
        """Whether the session has ended, and shows nothing more."""

    def end(self, sentence: str, why: CloseReason = CloseReason.STOPPED) -> None:
        """Show a sentence, if any, remove the player, and end the connection."""


class Sessions:
    """All sessions of a server: an `accounts.last_seen.PlayerDirectory`.

    Attributes:
        refused: refused lines since the start, counted by code.
        pages: returns the web pages of features.
        measure: returns the figures of features for monitoring systems, or raises StoreError; None
            if there are no features with any.
        talk: the rate limit of messages to others; None for no limit.
        shouts: an additional rate limit for shouts.
        reports: the rate limit of reports about other players, by address.
        quota: the storage quota, by address.
        contact: the address that banned players can write to; empty if there is none.
    """

    def __init__(self, service: Service, contact: str = "") -> None:
        self.contact = contact
        self.service, self.store, self.clock = service, service.store, service.clock
        self._hall = service.hall
        self.all: set[Session] = set()
        self.refused: Counter[Enum] = Counter()
        self._expected: list[asyncio.Future[None]] = []
        self._held = HeldLines(service)
        self.pages: Callable[[], Sequence[PageRoute]] = tuple
        self.measure: Callable[[], Awaitable[Sequence[Figure]]] | None = None
        self.talk: TalkLimiter | None = None
        self.shouts: TalkLimiter | None = None
        self.reports: TalkLimiter | None = None
        self.quota: StorageQuota | None = None
        self._farewell = ""
        self.places = Places(service)
        self._epochs: WeakKeyDictionary[Session, Epochs] = WeakKeyDictionary()
        """The account epochs at which each session is valid: one, or two while the session itself
        changes the epoch. A guest's epoch is None; bots have no entry."""
        self._empty = asyncio.Event()
        self._empty.set()

    @property
    def greeting(self) -> str:
        """The text above the name prompt."""
        return greeting(self._hall.bots_here(), self.player_count)

    @property
    def player_count(self) -> int:
        """The number of players who are online, without bots."""
        return len(self._hall.people.keys() - self._hall.bots)

    def board_preview(self, words: str) -> tuple[str, str] | None:
        """Find a board by name, and return its name and a summary; None if there is none."""
        try:
            table = resolve_hall_board(self._hall, Person(""), words)  # resolved as for a visitor
        except RefusedError:
            return None
        return capitalised(table.name), capitalised(f"{board_line(self._hall, table)}.")

    async def battle_preview(self, number: int) -> tuple[str, str] | None:
        """Return a battle's players and a summary; None if the number is unknown.

        Raises:
            StoreError: the battle can't be read.
        """
        battle = await self.store.read(battles.battle, number)
        if battle is None:
            return None
        return capitalised(players(battle)), f"Battle {number}, {entry(battle)}."

    # Connections.

    def add(self, session: Session) -> None:
        """Register a new session; end it at once if the server is stopping."""
        self.all.add(session)
        self._empty.clear()
        if self._farewell:
            session.end(self._farewell)

    def remove(self, session: Session) -> None:
        """Unregister a session whose connection is gone."""
        self.all.discard(session)
        if not self.all:
            self._empty.set()

    def close(self, sentence: str) -> None:
        """Announce a sentence to everybody, and end all sessions."""
        self._farewell = sentence
        self.service.announce(sentence)
        self.places.stop()
        self.service.stop()
        for session in list(self.all):
            session.end("" if session.name in self.service else sentence)

    async def wait_closed(self) -> None:
        """Wait until all sessions are gone."""
        await self._empty.wait()

    # Names.

    def ban_reason(self, name: str, address: str) -> str:
        """Return why a name or address is banned, as a sentence; empty if neither is."""
        order, now = self._hall.order or Order(), self.clock()
        ban = order.ban(name, now)
        if order.networks:  # parse the address only if needed: `apply_order` checks every session
            ban = order.ban_from(parsed_address(address), now) or ban
        return barred(ban, self.contact) if ban else ""

    def name_problem(self, words: str) -> str | None:
        """Return why a name isn't available, as a sentence; None if it is."""
        if words.lower() in {each.lower() for each in self._hall.bots}:
            return f"{capitalised(words.lower())} is a bot. Please choose another name."
        return self.service.name_problem(words)

    def delay_logins_until(self, coming: asyncio.Future[None]) -> None:
        """Delay logins until a future is done, for a bot that is about to join."""
        self._expected.append(coming)
        coming.add_done_callback(self._expected.remove)

    async def ready(self) -> None:
        """Wait until all expected bots have joined, or failed to."""
        while self._expected:
            await asyncio.wait(self._expected)

    def is_online(self, name: str) -> bool:
        """Return whether a player is online; the name is case-insensitive."""
        return name.lower() in self._hall.people.names

    def is_needed(self, name: str) -> Awaitable[bool]:
        """Return whether a seat, match or tournament entry waits for a name, ignoring case.

        Raises:
            StoreError: the store can't be read.
        """
        return self.service.is_name_needed(name)

    # Players.

    async def admit(
        self,
        session: Session,
        name: str,
        terminal: Terminal | None,
        member: Account | None = None,
        choices: Sequence[SetOption] = (),
        *,
        watcher: Watcher | None = None,
    ) -> Visit | None:
        """Join the service under a name that the player has authenticated for.

        The session replaces another one under the same name, which ends.

        Args:
            session: the player's session.
            name: the name, in its display spelling.
            terminal: the player's terminal; None for a program.
            member: the account; None for guests and bots.
            choices: options chosen at the name prompt, which override stored ones.
            watcher: receives events in place of a terminal, for programs.

        Returns:
            The visit; None if the session has ended or the player was banned meanwhile.

        Raises:
            PlaysElsewhereError: the player is on another node, which doesn't release them.
            RefusedError: the player, or others from the same address, came and went too often.
            StoreError: the player's data can't be read.
        """
        address = session.address
        preferences, place = await self._recall(name, member)
        arrival = JoinRequest(
            name,
            terminal,
            session,
            watcher,
            is_member=member is not None,
            profile=UNKNOWN if preferences is None else profile_of(preferences),
            choices=choices,
            origin=address if is_local(address) else network(address),
            admit=partial(self._may_come_in, session, name),
        )
        # Recorded before joining, so that a logout during the join isn't missed.
        if name not in self._hall.bots:
            self._epochs[session] = {member.epoch if member else None}
        visit = await self.service.join(arrival)
        if visit and session in self._epochs:  # the account may have changed during the join
            try:
                await self._end_logged_out([session])
            except StoreError as error:
                _log.error("could not check a login: %s", error, extra={"player": name})
        if visit and place and not session.has_ended:
            await self.places.restore(visit, place)
        if visit and member and choices and not session.has_ended:
            try:
                await self._keep_preferences(name)
            except StoreError as error:  # they still apply to this visit
                _log.error("could not store the chosen options: %s", error, extra={"player": name})
        return visit

    async def _recall(
        self, name: str, member: Account | None
    ) -> tuple[Mapping[str, Any] | None, LastPlace | None]:
        """Return a player's stored preferences, and where they were when the server stopped.

        Raises:
            StoreError: the player's data can't be read.
        """
        preferences = member.preferences if member else None
        if name in self._hall.bots:
            return preferences, None
        place = await self.places.recall(name)
        if member is None:
            preferences = await self.store.read(accounts.guest_preferences, name)
        return preferences, place

    async def enrol(self, name: str) -> None:
        """Turn a guest who has just registered into a member, and store their options.

        Raises:
            StoreError: the options can't be stored.
        """
        if name in self.service:
            self.service.enrol(name)
            await self._keep_preferences(name)

    async def submit(self, visit: Visit, line: str | Command) -> Result:
        """Submit a player's line; if it invites a bot, wait for the bot's answer.

        Raises:
            StoreError: the line couldn't be stored, so it has no effect.
            OutcomeUnknownError: the line may have taken effect.
        """
        result = await self.service.submit(visit, line)
        if result.refusal:
            self.refused[result.refusal.code] += 1
        if answer := self._held.answers.get(visit.name):
            await answer
        return result

    def hold(self, name: str) -> asyncio.Future[None]:
        """Delay a player's next line until a bot has answered, see `HeldLines.hold`."""
        return self._held.hold(name)

    async def admit_bot(self, bot: Bot, watcher: Watcher) -> Visit | None:
        """Let a bot in under its name, see `admit`."""
        return await self.admit(bot, bot.name, None, watcher=watcher)

    def apply_order(self, order: Order) -> None:
        """Apply new operators and sanctions, and end the sessions of banned players."""
        before = self._hall.order or order
        self._hall.use_order(order)
        was, now = before.banned, order.banned
        for event, names in (("banned", now - was), ("unbanned", was - now)):
            for name in sorted(names):
                _log.info(event, extra={"whom": name})
        for session in list(self.all):
            if why := self.ban_reason(session.name, session.address):
                session.end(why, CloseReason.BANNED)
        for name in [each for each in self._hall.people if self._hall.is_operator(each)]:
            if name.lower() not in before.operators and name in self._hall.people.members:
                has_help = "operators" in pages_of(self._hall)
                self.service.say(name, NEW_OPERATOR if has_help else NEW_OPERATOR_ALONE)

    def epochs(self, session: Session) -> Epochs:
        """Return the account epochs at which a session is valid.

        To change the account's epoch from within the session, add the new epoch first, and remove
        the old one after the change.
        """
        return self._epochs.setdefault(session, set())

    async def end_logged_out(self) -> None:
        """End sessions whose accounts were removed, banned or logged out everywhere.

        Sessions of guests end as well if somebody else has registered the name. Past records that
        name erased players, such as finished tournaments, are forgotten.

        Raises:
            StoreError: the accounts can't be read.
        """
        await self._end_logged_out([each for each in self.all if each in self._epochs])
        for part in list(self._hall.parts.values()):  # a copy: parts may be added meanwhile
            for name in part.past_players():
                if not await self.store.read(accounts.is_taken, name):
                    part.forget(name)

    async def _end_logged_out(self, sessions: Iterable[Session]) -> None:
        names = {session: session.name for session in sessions if session.name}
        if not names:
            return
        current = await self.store.read(accounts.epochs, names.values())
        for session, name in names.items():
            epochs = self._epochs.get(session)
            epoch = current.get(name)
            if session.name != name or not epochs or epoch in epochs:
                continue
            if epoch is None:
                session.end(REMOVED, CloseReason.BANNED)
            elif (account := await self.store.read(accounts.find, name)) and account.banned:
                banned = self.ban_reason(name, session.address) or JUST_BANNED.format(name)
                session.end(banned, CloseReason.BANNED)
            else:
                session.end(REGISTERED if None in epochs else LOGGED_OUT, CloseReason.LOGGED_OUT)

    def _may_come_in(self, session: Session, name: str) -> bool:
        if session.has_ended:
            return False
        if why := self.ban_reason(name, session.address):
            session.end(why, CloseReason.BANNED)
            return False
        return True

    async def _keep_preferences(self, name: str) -> None:
        if person := self._hall.people.get(name):
            await keep_preferences(self.store, person)


# The service.


def make_service(
    store: Store,
    hall: Hall,
    *,
    node: Node | None = None,
    replay_pause: float = 2.0,
    clock: Callable[[], float] = time.time,
    talk: TalkLimiter | None = None,
    shouts: TalkLimiter | None = None,
    reports: TalkLimiter | None = None,
    quota: StorageQuota | None = None,
    adviser: Adviser | None = None,
    without: Collection[str] = (),
    return_within: float = 0.0,
) -> Service:
    """Create the service for players with accounts.

    Args:
        store: the store.
        hall: the hall with its boards.
        node: this server's node on the store.
        replay_pause: seconds between the plies of a replayed battle.
        clock: returns the current time in seconds.
        talk: the rate limit of messages; None for no limit, as with the other limiters.
        shouts: the additional rate limit of shouts.
        reports: the rate limit of reports.
        quota: the storage quota.
        adviser: computes hints; None for no hints.
        without: the names of features to leave out.
        return_within: seconds for which nobody is told about a lost connection.
    """
    # Long: mostly one argument a line, passed on to the parts.
    vocabulary = Vocabulary(without=without) if without else None
    hall.use_verbs({}, vocabulary.without if vocabulary else frozenset())

    def allow(visit: Visit, limiter: TalkLimiter | None, code: Refusal) -> None:
        # Bots only react to players, whose own messages are limited.
        if limiter is None or visit.name in hall.bots:
            return
        wait, is_shared = limiter.take(visit.name, visit.origin, clock())
        if wait:
            raise RefusedError(code, seconds=wait, is_shared=is_shared)

    return Service(
        hall,
        store,
        clock=clock,
        node=node,
        later=lambda delay, call: asyncio.get_running_loop().call_later(delay, call),
        policy=Policy(
            read=vocabulary.parse if vocabulary else parse,
            check_available=vocabulary.check_available if vocabulary else None,
            leaves=(Register, Password, LogoutEverywhere),
            keep=partial(keep_preferences, store),
            allow=partial(allow, limiter=talk, code=Refusal.TALK_TOO_FAST),
            limits={
                "shouts": partial(allow, limiter=shouts, code=Refusal.SHOUTS_TOO_FAST),
                "reports": partial(allow, limiter=reports, code=Refusal.REPORTS_TOO_FAST),
            },
            quota=quota,
            return_within=return_within,
        ),
        adviser=adviser,
        replay_pause=replay_pause,
        without=without,
    )


async def keep_preferences(store: Store, person: Person) -> None:
    """Store a player's preferences, such as options, ignored and followed players."""
    chosen = preferences_of_person(person)
    account = await store.read(accounts.find, person.name)
    if account is None:
        await store.write(accounts.set_guest_preferences, person.name, chosen)
    else:
        await store.write(accounts.set_preferences, person.name, {**account.preferences, **chosen})
