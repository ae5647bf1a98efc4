"""One board of a client's: what happens at it is stored, and only then told.

Owns the way from a player's line to the store, and from there to what the players are told. Must
never know a link, nor who owns the board. One thing at a time: whoever calls sees to that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import cast

from thudmud.gateway.faults import Code, Fault
from thudmud.gateway.policy import GatewayPolicy
from thudmud.gateway.replies import Data
from thudmud.gateway.requests import EnterRequest
from thudmud.play.asides import Asked, Entered
from thudmud.play.commands import Style, ViewGame
from thudmud.play.events import Parting, TableEvent
from thudmud.play.hall import Decision, Telling, kept_for
from thudmud.play.lookups import AdjournedMatch, Found, Unread
from thudmud.play.projections import realm_of
from thudmud.play.table import BoardSpec
from thudmud.store import (
    Conflict,
    Entry,
    Store,
    StoreError,
    Subscription,
    as_stored,
    decided_elsewhere,
)
from thudmud.text import Message, Plan
from thudmud.text.board import full
from thudmud.text.display import Display, Terminal
from thudmud.text.facts import facts
from thudmud.text.premises import Premises

PACKAGES = frozenset({"thud"})
"""What a player's client gets that wants data."""


class Board:
    """A board, and the players at it.

    Args:
        store: where what happens is stored.
        spec: what the board is like, and under which key that is stored.
        policy: what holds at every board.
        clock: returns the seconds since the epoch.

    Every method may raise StoreError: then nothing has happened. What they return is what players
    are told.
    """

    def __init__(
        self,
        store: Store,
        spec: BoardSpec,
        policy: GatewayPolicy,
        clock: Callable[[], float],
    ) -> None:
        self.spec = spec
        self._store, self._policy, self._clock = store, policy, clock
        self._realm = realm_of(spec.key)
        self._house = Premises([spec], policy.quiet_plies, policy.seat_grace)
        self._following: Subscription | None = None
        self._stored_now: list[Entry] = []
        """What has been appended here, and is to be made so."""
        self._late: list[Message] = []
        """What others have done, which was found when something here had to be decided again."""

    @property
    def version(self) -> int:
        """How many events have come to it."""
        return self._house.version(self.spec.name)

    @property
    def players(self) -> Sequence[str]:
        """The names of those who are here."""
        return list(self._house.hall.people)

    async def open(self) -> None:
        """Bring the board to where the store is; all who have seats are away."""
        key, position = self.spec.key, await self._store.position()
        self._following = await self._store.subscribe([key], position, self._take, _unread)
        try:
            known = await self._store.board(key)
            first = known.beginning if known else 1
            entries = await self._store.read(key, first)
            events = [(cast("TableEvent", each.event), each.battle) for each in entries]
            self._house.restore(self.spec.name, first - 1, events)
            for name in self._house.seated(self.spec.name):
                await self._note(name, Parting.RESTART)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let nothing more happen here."""
        if self._following:
            self._following.close()

    async def enter(self, request: EnterRequest) -> list[Message]:
        """Let a player in, and back to the seat that was kept.

        Raises:
            Fault: nobody of that name can come in, or nobody at all.
        """
        name, board = request.player, self.spec.name
        away = await self._store.adjourned(name, realm=self._realm)
        self._check_name(name, away)
        if len(self.players) >= self._policy.players:
            raise Fault(Code.TOO_MANY, f"There are {len(self.players)} players here.")
        packages = PACKAGES if request.data else frozenset[str]()
        self._house.fit(
            name,
            Terminal(request.width, request.utf8, request.colours, request.reader, packages),
        )
        styles = {board: Style(request.style)} if request.style else {}
        now = self._clock()
        first, *_, last = self._house.arrive(
            name, now, member=request.member, styles=styles, adjourned=bool(away)
        )
        if request.room == "board":
            first = _at(board, first)
        told = self._house.carry_out(first)
        try:
            told += await self._note(name, Parting.LOST)
        except StoreError:
            self._house.carry_out(self._house.part(name, now)[-1])
            raise
        told += self._house.carry_out(last)
        if request.room == "board" and not last.asides:
            told += self._house.brief(name)
        return self._all(told)

    async def leave(self, name: str, parting: Parting) -> list[Message]:
        """See a player out; their seat is kept, or given up."""
        now = self._clock()
        gone = self._house.part(name, now, parting)[-1]
        told = await self._write(lambda: self._house.part(name, now, parting))
        return self._all(told + self._house.carry_out(gone))

    async def obey(
        self, name: str, line: str, at_version: int | None
    ) -> tuple[list[Message], Plan]:
        """Do what a player's line asks for; return what it came to, too.

        Raises:
            Fault: the board does not stand at that version.
        """
        found = Found()
        while True:
            if at_version is not None and self.version != at_version:
                text = f"The board stands at version {self.version}, not {at_version}."
                raise Fault(Code.CHANGED, text)
            try:
                plan = self._house.plan(name, line, self._clock(), found)
                told = [*plan.messages, *await self._carry_out(plan.decisions)]
                break
            except Unread as unread:
                answer = await self._store.look_up(unread.lookup, realm=self._realm)
                found.take(unread.lookup, answer)
            except Conflict:
                await self._catch_up()
                found = Found()
        return self._all(told + self._house.play_at_once(name)), plan

    def is_here(self, name: str) -> bool:
        """Whether a player is here."""
        return name in self._house

    def shown(self, width: int, *, utf8: bool) -> Data:
        """Return how it stands, as text and as data."""
        table = self._house.hall.tables[self.spec.name]
        seen = Telling(Asked("", ViewGame(), table.name), (), table)
        known = {fact.package: fact.data for fact in facts(self._house.hall, seen)}
        return {
            "text": "\n".join(full(table, Display(width, utf8))),
            "table": known["Thud.Table"],
            "position": known["Thud.Board"],
        }

    def _check_name(self, name: str, away: Iterable[AdjournedMatch]) -> None:
        """Raise Fault if nobody of that name can come in, of whom these matches are put away."""
        if problem := self._house.name_problem(name):
            raise Fault(Code.BAD_NAME, problem)
        if here := self._house.hall.names.get(name.lower()):
            raise Fault(Code.HERE_ALREADY, f"{here} is at this board already.")
        if kept := kept_for(self._house.hall, name, [each.match for each in away]):
            text = f"A name should differ by more than capitals: {kept} has a seat or a match here."
            raise Fault(Code.BAD_NAME, text)

    # Storing.

    async def _carry_out(self, decisions: Iterable[Decision]) -> list[Message]:
        """Store and tell decisions, of which only the first can need storing.

        Raises:
            Conflict: nothing has happened, since something else came first.
        """
        told = []
        for decision in decisions:
            if decision.events:
                told += await self._stored(decision)
            else:
                told += self._house.carry_out(decision)
        return told

    async def _stored(self, decision: Decision) -> list[Message]:
        key, version = self.spec.key, decision.version
        # Whoever follows has been handed the events when this is over.
        await self._store.append_to_board(key, version, decision.events, mark=self)
        entries, self._stored_now = self._stored_now, []
        return self._house.carry_out(as_stored(decision, entries))

    def _take(self, entries: Sequence[Entry]) -> None:
        """Take note of what has been stored; what others have stored is found when it matters."""
        self._stored_now += [entry for entry in entries if entry.mark is self]

    async def _note(self, name: str, parting: Parting) -> list[Message]:
        """Store and tell whether a player is here who has a seat."""
        now = self._clock()
        return await self._write(lambda: self._house.presence(name, self.spec.name, now, parting))

    async def _write(self, decide: Callable[[], Sequence[Decision]]) -> list[Message]:
        """Store and tell what is decided of what has to be stored."""
        while True:
            try:
                return await self._carry_out([each for each in decide() if each.events])
            except Conflict:
                await self._catch_up()

    async def _catch_up(self) -> None:
        """Make so what another process has stored."""
        for entry in await self._store.read(self.spec.key, self.version + 1):
            self._late += self._house.carry_out(decided_elsewhere(entry, self.spec.name))

    def _all(self, told: list[Message]) -> list[Message]:
        """Return what is told now, after what is told late."""
        late, self._late = self._late, []
        return late + told


def _unread(error: StoreError) -> None:
    """Take no notice: what others have stored is read when something is decided on it."""


def _at(board: str, entering: Decision) -> Decision:
    """Return the decision by which somebody enters the hall as one to enter at the board."""
    asides = [
        replace(each, room=board) if isinstance(each, Entered) else each for each in entering.asides
    ]
    return replace(entering, asides=tuple(asides))
