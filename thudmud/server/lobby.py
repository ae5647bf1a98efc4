"""Who is connected, and the house they have come to play in.

Owns which session goes by which name, and hands what people are told to the sessions it is for,
each text encoded once. Must never know telnet, nor what any message says.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

from thudmud.language.preferences import options_of, stored, styles_of
from thudmud.play.commands import Command, Password, Quit, Register, Replay, Step, Style
from thudmud.play.events import Parting
from thudmud.play.options import Options, SetOption
from thudmud.rules.english import capitalised
from thudmud.server.guests import Done, Guest
from thudmud.server.limits.talk import Talk
from thudmud.server.replays import Replays
from thudmud.server.scribe import Scribe
from thudmud.server.telnet.screen import encode
from thudmud.store import Account, Store
from thudmud.text import Message
from thudmud.text.display import Terminal
from thudmud.text.premises import Premises

ELSEWHERE = "You have come in from elsewhere. This connection ends."
BARRED = "The operator of this server has ended your visit. Goodbye."


LONGEST_HOLD = 30.0
"""How many seconds a player's next line waits for an answer at most: programs start slowly."""

_SHOWN_AGAIN = Replay | Step
_DIALOGUES = {Register: Done.REGISTERS, Password: Done.CHANGES_PASSWORD}


class Lobby:
    """Everybody who is connected, named or not yet.

    Args:
        house: The game they play.
        store: Where what happens is stored, and who has which name.
        replay_pause: How many seconds there are between the plies of a battle that is played again.
        clock: Returns the seconds since the epoch.
        talk: Counts what players say; None if they may say any number of things.
    """

    def __init__(
        self,
        house: Premises,
        store: Store,
        *,
        replay_pause: float = 2.0,
        clock: Callable[[], float] = time.time,
        talk: Talk | None = None,
    ) -> None:
        self.store = store
        self.clock = clock
        self.scribe = Scribe(house, store, clock, self._deliver, self._keep, talk=talk)
        self._house = house
        self._replays = Replays(house, self._deliver, replay_pause)
        self._guests: set[Guest] = set()
        self._by_name: dict[str, Guest] = {}
        self._shows: dict[str, Callable[[bytes], None]] = {}  # what `_by_name` has, a step nearer
        self._playing: Counter[str] = Counter()
        self._coming: list[asyncio.Future[None]] = []
        self._held: dict[str, asyncio.Future[None]] = {}
        self._barred: Collection[str] = ()
        self._farewell: bytes | None = None
        self._empty = asyncio.Event()
        self._empty.set()

    # Coming in.

    @property
    def greeting(self) -> str:
        """What everybody sees before they are asked for a name."""
        return self._house.greeting

    @property
    def count(self) -> int:
        """How many players there are."""
        return len(self._by_name.keys() - self._bots)

    def welcome(self, guest: Guest) -> None:
        """Count a new connection in; a closed lobby shows it out again."""
        self._guests.add(guest)
        self._empty.clear()
        if self._farewell is not None:
            self._show_out(guest, self._farewell)

    def name_problem(self, words: str) -> str | None:
        """Return a sentence that tells why nobody can be called that; None if somebody can."""
        if words.lower() in {each.lower() for each in self._bots}:
            return (
                f"{capitalised(words.lower())} is a bot here, a program. Please take another name."
            )
        return self._house.name_problem(words)

    def expect(self, coming: asyncio.Future[None]) -> None:
        """Let nobody give a name before somebody has come in, or stays outside after all."""
        self._coming.append(coming)

    async def ready(self) -> None:
        """Wait until it is known which names are needed, and those are in who were expected.

        Raises:
            StoreError: that cannot be read.
        """
        await self.scribe.ready()
        if self._coming:
            await asyncio.wait(self._coming)

    def is_playing(self, name: str) -> bool:
        """Whether somebody of that name, in any case, is connected."""
        return self._playing[name.lower()] > 0

    async def is_needed(self, name: str) -> bool:
        """Whether a seat is kept, or a match put away, for that name, in any case.

        Raises:
            StoreError: that cannot be read.
        """
        away = await self.store.adjourned(name)
        return self._house.is_claimed(name, [each.match for each in away])

    async def admit(
        self,
        guest: Guest,
        name: str,
        terminal: Terminal,
        member: Account | None = None,
        choices: Sequence[SetOption] = (),
    ) -> None:
        """Let a guest in under a name that is theirs, as it is shown.

        A session that plays under it already is ended, and this one goes on in its place. What was
        chosen at the door changes the options of before.
        """
        await self.scribe.arrive(
            name,
            terminal=terminal,
            member=member is not None,
            styles=styles_of(member.preferences) if member else {},
            options=options_of(member.preferences) if member else None,
            choices=choices,
            admit=partial(self._take, name, guest),
        )
        if member and choices and (person := self._house.hall.people.get(name)):
            await self._keep(name, person.styles, person.options)

    async def enrol(self, name: str) -> None:
        """Take note that a player has an account now, which keeps what they have chosen as guest.

        Raises:
            StoreError: that cannot be kept.
        """
        if name in self._house:
            self._house.enrol(name)
            person = self._house.hall.people[name]
            await self._keep(name, person.styles, person.options)

    # Playing.

    def obey(self, name: str, line: str) -> Done | asyncio.Future[Done]:
        """Do what a player typed, and tell whom it concerns; return what comes of it.

        What asks a guest who answers in a moment, see `hold`, is done with the answer.
        """
        if not line.strip():
            self._replays.stop(name)
        done = self.scribe.obey(name, line)
        if not isinstance(done, asyncio.Task) and name not in self._held:
            return self._done(name, done)
        obeyed: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
        if isinstance(done, asyncio.Task):
            done.add_done_callback(partial(self._obeyed, name, obeyed))
        else:
            self._answered(name, obeyed, done)
        return obeyed

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

    def fit(self, name: str, terminal: Terminal, before: Terminal) -> None:
        """Note what a player's terminal can show; tell a program that has just come how all is."""
        self._house.fit(name, terminal)
        if terminal.packages - before.packages:
            self._deliver(self._house.brief(name))

    def is_waiting(self, name: str) -> bool:
        """Whether it is the opponent who thinks."""
        return self._house.is_waiting(name)

    # Leaving.

    def part(
        self, guest: Guest, name: str, parting: Parting = Parting.LOST
    ) -> asyncio.Task[None] | None:
        """Free a player's name, unless they go on in another session by now.

        They are seen out if they have not said ``quit``; what is returned then is done when
        everybody knows.
        """
        if self._by_name.get(name) is not guest:
            return None
        del self._by_name[name], self._shows[name]
        self._playing[name.lower()] -= 1
        if not self._playing[name.lower()]:
            del self._playing[name.lower()]
        self._replays.stop(name)
        if name in self._house and self._farewell is None:
            return self.scribe.part(name, parting)
        return None

    def keep_out(self, names: Collection[str]) -> None:
        """Show out whoever may be here no longer, and let them in no more.

        Args:
            names: in lower case, of all who may not be here.
        """
        self._barred = names
        for name in [name for name in self._by_name if name.lower() in names]:
            self._see_out(name, self._by_name[name])

    async def see_out_removed(self) -> None:
        """Show out who plays as a member and has no account any more.

        Raises:
            StoreError: it is not known who has.
        """
        members = self._house.hall.members
        for name, guest in [each for each in self._by_name.items() if each[0] in members]:
            is_removed = await self.store.find(name) is None
            if is_removed and self._by_name.get(name) is guest:
                self._see_out(name, guest)

    def farewell(self, guest: Guest) -> None:
        """Count a connection out that has ended."""
        self._guests.discard(guest)
        if not self._guests:
            self._empty.set()

    def close(self, sentence: str) -> None:
        """Tell everybody that it is over, and end every connection."""
        self._farewell = encode(sentence)
        self._replays.close()
        self._deliver(self._house.close(sentence))
        named = set(self._by_name.values())
        for guest in list(self._guests):
            self._show_out(guest, b"" if guest in named else self._farewell)

    async def emptied(self) -> None:
        """Wait until nobody is connected."""
        await self._empty.wait()

    # Within.

    @property
    def _bots(self) -> frozenset[str]:
        return self._house.hall.bots

    def _take(self, name: str, guest: Guest) -> bool:
        """Give a name to a session, if that may still have it."""
        if guest.ended:
            return False
        if name.lower() in self._barred:
            self._turn_away(guest)
            return False
        before, self._by_name[name] = self._by_name.get(name), guest
        self._shows[name] = guest.show
        self._playing[name.lower()] += before is None
        if before is not None and name in self._house:
            before.show(encode(ELSEWHERE))
            before.dismiss()
        return True

    def _see_out(self, name: str, guest: Guest) -> None:
        self._turn_away(guest)
        self.part(guest, name)

    @staticmethod
    def _turn_away(guest: Guest) -> None:
        guest.show(encode(BARRED))
        guest.dismiss()

    def _obeyed(
        self, name: str, obeyed: asyncio.Future[Done], done: asyncio.Task[Command | None]
    ) -> None:
        """Pass on what has come of a line."""
        if done.cancelled() or obeyed.cancelled():
            obeyed.cancel()
        elif (error := done.exception()) is not None:
            obeyed.set_exception(error)
        else:
            self._answered(name, obeyed, done.result())

    def _answered(self, name: str, obeyed: asyncio.Future[Done], command: Command | None) -> None:
        """Pass on what has come of a line, with the answer if it has asked somebody."""
        if answer := self._held.pop(name, None):
            answer.add_done_callback(lambda _: self._pass_on(name, obeyed, command))
        else:
            self._pass_on(name, obeyed, command)

    def _pass_on(self, name: str, obeyed: asyncio.Future[Done], command: Command | None) -> None:
        if obeyed.cancelled():
            return
        try:
            obeyed.set_result(self._done(name, command))
        except Exception as error:  # noqa: BLE001  (whoever waits for it is told)
            obeyed.set_exception(error)

    def _done(self, name: str, command: Command | None) -> Done:
        if isinstance(command, Quit) or name not in self._house:
            return Done.LEAVES
        if isinstance(command, _SHOWN_AGAIN):
            self._replays.go_on(name)
        return _DIALOGUES.get(type(command), Done.STAYS)

    async def _keep(self, name: str, styles: Mapping[str, Style], options: Options) -> None:
        account = await self.store.find(name)
        if account is not None:
            kept = {**account.preferences, **stored(styles, options)}
            await self.store.set_preferences(name, kept)

    def _deliver(self, messages: Iterable[Message]) -> None:
        for message in messages:
            if message.package:
                for name in message.to:
                    if (guest := self._by_name.get(name)) is not None:
                        guest.data(message.package, message.text)
            else:
                lines = encode(message.text)
                for show in map(self._shows.get, message.to):
                    if show is not None:
                        show(lines)

    @staticmethod
    def _show_out(guest: Guest, farewell: bytes) -> None:
        if farewell:
            guest.show(farewell)
        guest.end(linger=False)


def release(answer: asyncio.Future[None]) -> None:
    """Let go on whoever waits for an answer, if they still do."""
    if not answer.done():
        answer.set_result(None)
