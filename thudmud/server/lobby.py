"""Who is connected, named or not yet: who may come in, who has to leave, and when all have gone."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Protocol

from thudmud.accounts.throttles import Talk
from thudmud.english import capitalised
from thudmud.language.parsing import options_of, stored, styles_of
from thudmud.play.commands import Command, Password, Register, Style
from thudmud.play.hall import Hall
from thudmud.play.options import Options, SetOption
from thudmud.service import Node, Outbox, Result, Service, Visit, Watcher
from thudmud.store import Account, Store, StoreError
from thudmud.views.rooms import greeting
from thudmud.views.view import Terminal

BARRED = "The operator of this server has ended your visit. Goodbye."

_log = logging.getLogger(__name__)

LONGEST_HOLD = 30.0
"""How many seconds a player's next line waits for an answer at most: programs start slowly."""


class Guest(Outbox, Protocol):
    """What the lobby asks of a session, or of a bot."""

    @property
    def name(self) -> str:
        """Under which name they play, or are coming in; empty if there is none."""

    @property
    def ended(self) -> bool:
        """Whether nothing can be shown any more."""

    def turn_away(self, sentence: str) -> None:
        """Tell them why, see the player out, and leave it to the client to end the connection."""

    def show_out(self, sentence: str) -> None:
        """Tell them a sentence, if there is one, and end the connection."""


class Lobby:
    """Everybody who is connected.

    Args:
        service: what their lines are submitted to.
    """

    def __init__(self, service: Service) -> None:
        self.service, self.store, self.clock = service, service.store, service.clock
        self._hall = service.hall
        self._guests: set[Guest] = set()
        self._coming: list[asyncio.Future[None]] = []
        self._held: dict[str, asyncio.Future[None]] = {}
        self._barred: Collection[str] = ()
        self._farewell = ""
        self._empty = asyncio.Event()
        self._empty.set()

    async def open(self) -> None:
        """Bring the boards to where the store is; who has a seat there is away.

        Raises:
            StoreError: the store cannot be read.
        """
        await self.service.open()
        await self.service.settle()

    # Coming in.

    @property
    def greeting(self) -> str:
        """What everybody sees before they are asked for a name."""
        return greeting(self._hall.bots)

    @property
    def count(self) -> int:
        """How many players there are."""
        return len(self._hall.people.keys() - self._hall.bots)

    def welcome(self, guest: Guest) -> None:
        """Count a new connection in; a closed lobby shows it out again."""
        self._guests.add(guest)
        self._empty.clear()
        if self._farewell:
            guest.show_out(self._farewell)

    def name_problem(self, words: str) -> str | None:
        """Return a sentence that tells why nobody can be called that; None if somebody can."""
        if words.lower() in {each.lower() for each in self._hall.bots}:
            return (
                f"{capitalised(words.lower())} is a bot here, a program. Please take another name."
            )
        return self.service.name_problem(words)

    def expect(self, coming: asyncio.Future[None]) -> None:
        """Let nobody give a name before somebody has come in, or stays outside after all."""
        self._coming.append(coming)

    async def ready(self) -> None:
        """Wait until those are in who were expected."""
        if self._coming:
            await asyncio.wait(self._coming)

    def is_playing(self, name: str) -> bool:
        """Whether somebody of that name, in any case, is here."""
        return name.lower() in self._hall.names

    async def is_needed(self, name: str) -> bool:
        """Whether a seat is kept, or a match put away, for that name, in any case.

        Raises:
            StoreError: that cannot be read.
        """
        return await self.service.needs(name)

    async def admit(
        self,
        guest: Guest,
        name: str,
        terminal: Terminal | None,
        member: Account | None = None,
        choices: Sequence[SetOption] = (),
        *,
        watcher: Watcher | None = None,
    ) -> Visit | None:
        """Let a guest in under a name that is theirs, as it is shown.

        A session that plays under it already is ended, and this one goes on in its place. What was
        chosen at the door changes the options of before.

        Args:
            guest: who comes in.
            name: what they are called.
            terminal: what is known of it; None if they have no screen.
            member: their account, if they have one.
            choices: what they have chosen at the door.
            watcher: what is called with all that happens and concerns them.

        Returns:
            their visit; None if they may not come in any more.

        Raises:
            Elsewhere: they are on another node, which does not let them go.
            StoreError: what is stored of them cannot be read.
        """
        preferences = member.preferences if member else None
        visit = await self.service.join(
            name,
            terminal,
            guest,
            watcher=watcher,
            member=member is not None,
            styles=styles_of(preferences) if preferences is not None else None,
            options=options_of(preferences) if preferences is not None else None,
            choices=choices,
            admit=partial(self._may_enter, guest, name),
        )
        if visit and member and choices:
            try:
                await self._keep_chosen(name)
            except StoreError as error:  # it holds for this visit even so
                _log.error("what was chosen is not kept: %s", error, extra={"player": name})
        return visit

    async def enrol(self, name: str) -> None:
        """Take note that a player has an account now, which keeps what they have chosen as guest.

        Raises:
            StoreError: that cannot be kept.
        """
        if name in self.service:
            self.service.enrol(name)
            await self._keep_chosen(name)

    # Bots that are asked to play.

    def hold(self, name: str) -> asyncio.Future[None]:
        """Let what a player types next wait until they have an answer to what they type just now.

        Returns:
            what whoever answers has to set; it is set anyway after `LONGEST_HOLD` seconds.
        """
        loop = asyncio.get_running_loop()
        answer = self._held[name] = loop.create_future()
        limit = loop.call_later(LONGEST_HOLD, release, answer)
        answer.add_done_callback(lambda _: limit.cancel())
        return answer

    async def submit(self, visit: Visit, line: str | Command) -> Result:
        """Do what a player's line asks for, and wait for the answer if it asks a bot.

        Raises:
            StoreError: it cannot be stored, so it has not happened.
            Unfollowed: it may have happened.
        """
        result = await self.service.submit(visit, line)
        if answer := self._held.pop(visit.name, None):
            await answer
        return result

    # Leaving.

    def keep_out(self, names: Collection[str]) -> None:
        """Show out whoever may be here no longer, and let them in no more.

        Args:
            names: in lower case, of all who may not be here.
        """
        self._barred = names
        for guest in [each for each in self._guests if each.name.lower() in names]:
            guest.turn_away(BARRED)

    async def see_out_removed(self) -> None:
        """Show out who plays as a member and has no account any more.

        Raises:
            StoreError: it is not known who has.
        """
        for guest in [each for each in self._guests if each.name in self._hall.members]:
            name = guest.name
            if await self.store.find(name) is None and guest.name == name:
                guest.turn_away(BARRED)

    def farewell(self, guest: Guest) -> None:
        """Count a connection out that has ended."""
        self._guests.discard(guest)
        if not self._guests:
            self._empty.set()

    def close(self, sentence: str) -> None:
        """Tell everybody that it is over, and end every connection."""
        self._farewell = sentence
        self.service.announce(sentence)
        self.service.stop()
        for guest in list(self._guests):
            guest.show_out("" if guest.name in self.service else sentence)

    async def emptied(self) -> None:
        """Wait until nobody is connected."""
        await self._empty.wait()

    # Within.

    def _may_enter(self, guest: Guest, name: str) -> bool:
        if guest.ended:
            return False
        if name.lower() in self._barred:
            guest.turn_away(BARRED)
            return False
        return True

    async def _keep_chosen(self, name: str) -> None:
        if person := self._hall.people.get(name):
            await keep(self.store, name, person.styles, person.options)


def release(answer: asyncio.Future[None]) -> None:
    """Let go on whoever waits for an answer, if they still do."""
    if not answer.done():
        answer.set_result(None)


def service_on(
    store: Store,
    hall: Hall,
    *,
    node: Node | None = None,
    replay_pause: float = 2.0,
    clock: Callable[[], float] = time.time,
    talk: Talk | None = None,
) -> Service:
    """Return a service for players with accounts.

    Args:
        store: where what happens is stored, and who has which name.
        hall: the boards that they play at.
        node: what the service lives on.
        replay_pause: how many seconds there are between the plies of a battle that is shown again.
        clock: returns the seconds since the epoch.
        talk: counts what players say; None if they may say any number of things.
    """
    return Service(
        hall,
        store,
        clock=clock,
        node=node,
        later=lambda delay, call: asyncio.get_running_loop().call_later(delay, call),
        keep=partial(keep, store),
        allow=partial(_allowed, talk, clock) if talk else None,
        leaves=(Register, Password),
        pause=replay_pause,
    )


def _allowed(talk: Talk, clock: Callable[[], float], name: str, command: Command) -> str | None:
    return talk.problem(name, command, clock())


async def keep(store: Store, name: str, styles: Mapping[str, Style], options: Options) -> None:
    """Keep how a member wants to see things."""
    account = await store.find(name)
    if account is not None:
        kept = {**account.preferences, **stored(styles, options)}
        await store.set_preferences(name, kept)
