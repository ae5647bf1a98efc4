"""All sessions, and the service that they share: who may come in, and operators' measures."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from enum import Enum
from functools import partial
from typing import Protocol
from weakref import WeakKeyDictionary

from thudmud.accounts.limiters import StorageQuota, TalkLimiter, is_local, network, parsed_address
from thudmud.accounts.login import JUST_BANNED, Epochs
from thudmud.english import capitalised
from thudmud.errors import Refused
from thudmud.features.archive.messages import entry, players
from thudmud.features.options.preferences import preferences_of, profile_of
from thudmud.features.rooms.messages import greeting
from thudmud.game.command import Command
from thudmud.game.feature import PageRoute
from thudmud.game.hall import Hall
from thudmud.game.meaning import hall_board_meant
from thudmud.game.more import LogoutEverywhere, Password, Register
from thudmud.game.options import UNKNOWN, SetOption
from thudmud.game.people import Person
from thudmud.game.refusals import Refusal
from thudmud.game.sanctions import Order
from thudmud.language.parsing import parse
from thudmud.language.vocabulary import Vocabulary
from thudmud.service import Adviser, Arrival, Node, Outbox, Policy, Result, Service, Visit, Watcher
from thudmud.store import Account, Store, StoreError, accounts, battles
from thudmud.telnet.screen import Goodbye
from thudmud.views.help import pages_of
from thudmud.views.sanctions import barred
from thudmud.views.standing import board_line
from thudmud.views.view import Terminal

NEW_OPERATOR = 'You keep order here from now on: "help operators" tells how.'
NEW_OPERATOR_ALONE = "You keep order here from now on."
"""The same where operators have no commands for that."""

REMOVED = "The operator of this server has ended your visit. Goodbye."
LOGGED_OUT = (
    "You have been logged out: your password was changed, or you asked to log out everywhere."
    " Please come in again."
)

REGISTERED = (
    "Your name has just been registered from another connection, so it asks for a password now."
    " Please come in again with that, or under another name."
)

MAX_HOLD = 30.0
"""Seconds for which a player's next line waits for a bot's answer at most: programs start slowly.
"""

_log = logging.getLogger(__name__)


class Session(Outbox, Protocol):
    """A connection's session, or a bot's."""

    @property
    def name(self) -> str:
        """The name that they play under, or are coming in under; empty if there is none."""

    @property
    def address(self) -> str:
        """The address that they come from; empty for a bot."""

    @property
    def ended(self) -> bool:
        """Whether the session has ended, so that nothing can be shown any more."""

    def end(self, sentence: str, why: Goodbye = Goodbye.STOPPED) -> None:
        """Show a sentence, if there is one, let the player leave, and end the connection."""


class Sessions:
    """All sessions of a server; an `accounts.last_seen.PlayerDirectory`.

    Attributes:
        refused: the number of refused lines since the start, by code.
        talk: limits how much each player can tell others; None for no limit.
        shouts: limits how often each player can shout, besides.
        reports: limits how often players from one address can report others.
        quota: limits how much is stored for players from one address.
        contact: the address that banned players can write to; empty if there is none.
    """

    def __init__(self, service: Service, contact: str = "") -> None:
        self.contact = contact
        self.service, self.store, self.clock = service, service.store, service.clock
        self._hall = service.hall
        self.all: set[Session] = set()
        self.refused: Counter[Enum] = Counter()
        self._expected: list[asyncio.Future[None]] = []
        self._held: dict[str, asyncio.Future[None]] = {}
        self.pages: Callable[[], Sequence[PageRoute]] = tuple
        self.talk: TalkLimiter | None = None
        self.shouts: TalkLimiter | None = None
        self.reports: TalkLimiter | None = None
        self.quota: StorageQuota | None = None
        self._farewell = ""
        self._epochs: WeakKeyDictionary[Session, Epochs] = WeakKeyDictionary()
        """By session, the epochs of the name's account at which it holds: one, or while it changes
        that itself, two. That of a guest is None; bots have none."""
        self._empty = asyncio.Event()
        self._empty.set()

    @property
    def greeting(self) -> str:
        """The text that is shown before the name prompt."""
        return greeting(self._hall.bots_here(), self.player_count)

    @property
    def player_count(self) -> int:
        """The number of players who are here, without bots."""
        return len(self._hall.people.keys() - self._hall.bots)

    def told_of_board(self, words: str) -> tuple[str, str] | None:
        """Return the name of the board that words mean, and a line about it; None for no board."""
        try:
            table = hall_board_meant(self._hall, Person(""), words)  # as shown to a visitor
        except Refused:
            return None
        return capitalised(table.name), capitalised(f"{board_line(self._hall, table)}.")

    async def told_of_battle(self, number: int) -> tuple[str, str] | None:
        """Return who played a battle, and a line of it, if there is one of that number.

        Raises:
            StoreError: it cannot be read.
        """
        battle = await self.store.read(battles.battle, number)
        if battle is None:
            return None
        return capitalised(players(battle)), f"Battle {number}, {entry(battle)}."

    # Connections.

    def add(self, session: Session) -> None:
        """Add a new session. If the server is stopping, it ends at once."""
        self.all.add(session)
        self._empty.clear()
        if self._farewell:
            session.end(self._farewell)

    def remove(self, session: Session) -> None:
        """Remove a session whose connection is gone."""
        self.all.discard(session)
        if not self.all:
            self._empty.set()

    def close(self, sentence: str) -> None:
        """Tell everybody a sentence, and end all sessions."""
        self._farewell = sentence
        self.service.announce(sentence)
        self.service.stop()
        for session in list(self.all):
            session.end("" if session.name in self.service else sentence)

    async def wait_closed(self) -> None:
        """Wait until nobody is connected."""
        await self._empty.wait()

    # Names.

    def ban_told(self, name: str, address: str) -> str:
        """Return why a name or an address is banned, as a sentence; nothing if neither is."""
        order, now = self._hall.order or Order(), self.clock()
        ban = order.ban(name, now)
        if order.networks:  # else the address need not be parsed, for each who is here
            ban = order.ban_from(parsed_address(address), now) or ban
        return barred(ban, self.contact) if ban else ""

    def name_problem(self, words: str) -> str | None:
        """Return a sentence that says why a name cannot be taken; None if it can."""
        if words.lower() in {each.lower() for each in self._hall.bots}:
            return f"{capitalised(words.lower())} is a bot, a program. Please take another name."
        return self.service.name_problem(words)

    def expect(self, coming: asyncio.Future[None]) -> None:
        """Give nobody a name until this is done: a bot is coming in."""
        self._expected.append(coming)
        coming.add_done_callback(self._expected.remove)

    async def ready(self) -> None:
        """Wait until all expected bots are in, or have failed to come in."""
        while self._expected:
            await asyncio.wait(self._expected)

    def is_here(self, name: str) -> bool:
        """Return whether a player of that name, in any case, is here."""
        return name.lower() in self._hall.people.names

    def is_needed(self, name: str) -> Awaitable[bool]:
        """Return whether a seat, a match or a place in a tournament waits for a name, in any case.

        Raises:
            StoreError: that cannot be read.
        """
        return self.service.needs(name)

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
        """Let a session's player in under a name that is theirs, spelled as it is shown.

        Another session under that name ends, and this one takes its place. The options chosen at
        the name prompt change those of before. A program has a watcher instead of a terminal.

        Returns:
            The visit; None if the player may not come in any more.

        Raises:
            Elsewhere: the player is on another node, which does not let go.
            Refused: the player, or others from the same address, came and went too often.
            StoreError: the player's data cannot be read.
        """
        preferences, address = member.preferences if member else None, session.address
        arrival = Arrival(
            name,
            terminal,
            session,
            watcher,
            member=member is not None,
            profile=UNKNOWN if preferences is None else profile_of(preferences),
            choices=choices,
            origin=address if is_local(address) else network(address),
            admit=partial(self._may_come_in, session, name),
        )
        if name not in self._hall.bots:
            self._epochs[session] = {member.epoch if member else None}
        visit = await self.service.join(arrival)
        if visit and session in self._epochs:  # it has taken a while
            try:
                await self._end_logged_out([session])
            except StoreError as error:
                _log.error("a login cannot be looked at: %s", error, extra={"player": name})
        if visit and member and choices and not session.ended:
            try:
                await self._keep_preferences(name)
            except StoreError as error:  # they still hold for this visit
                _log.error("chosen options could not be stored: %s", error, extra={"player": name})
        return visit

    async def enrol(self, name: str) -> None:
        """Make a guest who has just registered a member, who keeps their options.

        Raises:
            StoreError: the options cannot be kept.
        """
        if name in self.service:
            self.service.enrol(name)
            await self._keep_preferences(name)

    async def submit(self, visit: Visit, line: str | Command) -> Result:
        """Submit a player's line; if it asks a bot, wait for the answer.

        Raises:
            StoreError: it could not be stored, so it has not happened.
            Unfollowed: it may have happened.
        """
        result = await self.service.submit(visit, line)
        if result.refusal:
            self.refused[result.refusal.code] += 1
        if answer := self._held.pop(visit.name, None):
            await answer
        return result

    def hold(self, name: str) -> asyncio.Future[None]:
        """Hold a player's next line until a bot has answered the current one.

        Returns:
            The future that the bot sets when it has answered; after `MAX_HOLD` seconds it is set
            anyway. Nothing is held if the player is on another server.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[None] = loop.create_future()
        if self.service.visit(name):
            self._held[name] = answer
        limit = loop.call_later(MAX_HOLD, release, answer)
        answer.add_done_callback(lambda _: limit.cancel())
        return answer

    def keep_order(self, order: Order) -> None:
        """Take over new operators and sanctions, and end the sessions of banned players."""
        before = self._hall.order or order
        self._hall.use_order(order)
        was, now = before.banned, order.banned
        for event, names in (("banned", now - was), ("let in again", was - now)):
            for name in sorted(names):
                _log.info(event, extra={"whom": name})
        for session in list(self.all):
            if why := self.ban_told(session.name, session.address):
                session.end(why, Goodbye.BANNED)
        for name in [each for each in self._hall.people if self._hall.is_operator(each)]:
            if name.lower() not in before.operators and name in self._hall.people.members:
                has_help = "operators" in pages_of(self._hall)
                self.service.say(name, NEW_OPERATOR if has_help else NEW_OPERATOR_ALONE)

    def epochs(self, session: Session) -> Epochs:
        """Return the epochs of a name's account at which a session holds.

        Whoever changes the account's in that session adds the new one before, and removes the old
        one after that.
        """
        return self._epochs.setdefault(session, set())

    async def end_logged_out(self) -> None:
        """End the sessions of members who were removed, or whose logins of then have ended.

        Likewise those of guests whose names others have registered.

        What is over and names somebody who was erased, such as tournaments, is forgotten.

        Raises:
            StoreError: the accounts cannot be read.
        """
        await self._end_logged_out([each for each in self.all if each in self._epochs])
        for part in list(self._hall.parts.values()):  # others may be made meanwhile
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
                session.end(REMOVED, Goodbye.BANNED)
            elif (account := await self.store.read(accounts.find, name)) and account.banned:
                banned = self.ban_told(name, session.address) or JUST_BANNED.format(name)
                session.end(banned, Goodbye.BANNED)
            else:
                session.end(REGISTERED if None in epochs else LOGGED_OUT, Goodbye.LOGGED_OUT)

    def _may_come_in(self, session: Session, name: str) -> bool:
        if session.ended:
            return False
        if why := self.ban_told(name, session.address):
            session.end(why, Goodbye.BANNED)
            return False
        return True

    async def _keep_preferences(self, name: str) -> None:
        if person := self._hall.people.get(name):
            await keep_preferences(self.store, person)


def release(answer: asyncio.Future[None]) -> None:
    """Release a held line, unless it has been released."""
    if not answer.done():
        answer.set_result(None)


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
) -> Service:
    """Return a service for players with accounts.

    Without a limiter nobody is limited, and without an adviser there are no hints. The pause is
    that between the plies of a replayed battle. ``without`` names the features to leave out.
    """
    vocabulary = Vocabulary(without=without) if without else None
    hall.use_verbs({}, vocabulary.without if vocabulary else frozenset())

    def allow(visit: Visit, limiter: TalkLimiter | None, code: Refusal) -> None:
        # A bot only does what players ask for, who are limited themselves.
        if limiter is None or visit.name in hall.bots:
            return
        wait, is_shared = limiter.take(visit.name, visit.origin, clock())
        if wait:
            raise Refused(code, seconds=wait, is_shared=is_shared)

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
        ),
        adviser=adviser,
        replay_pause=replay_pause,
        without=without,
    )


async def keep_preferences(store: Store, person: Person) -> None:
    """Store a member's preferences: options, ignored and followed players, and so on."""
    account = await store.read(accounts.find, person.name)
    if account is not None:
        chosen = preferences_of(
            person.styles,
            person.options,
            person.ignored,
            person.news,
            followed=person.followed,
            plan=person.plan,
        )
        await store.write(accounts.set_preferences, person.name, {**account.preferences, **chosen})
