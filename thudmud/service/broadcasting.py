"""Applies decisions to the hall, and tells everybody concerned.

That is: players in words, by their outboxes; programs that play in this process, by tellings;
onlookers; and other nodes, which are told of asides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial

from thudmud.errors import Refused
from thudmud.features.rooms import messages as rooms
from thudmud.features.rooms.commands import Go, Look
from thudmud.game.asides import Aside
from thudmud.game.command import Command
from thudmud.game.feature import AppliedEvent
from thudmud.game.hall import Decision
from thudmud.game.meaning import board_meant, named
from thudmud.game.people import DEFAULTS
from thudmud.game.refusals import Refusal
from thudmud.game.telling import Telling
from thudmud.service.driving import now
from thudmud.service.interface import Base, Result, Teller, Visit
from thudmud.service.onlookers import Onlookers
from thudmud.values import replace
from thudmud.views.facts import concerning, where
from thudmud.views.messages import (
    Message,
    fitted,
    messages,
    refusal_messages,
    sent,
)
from thudmud.views.view import Display, Screens, Terminal
from thudmud.views.words import wrapped


class Broadcaster:
    """Tells what happens to all who are here.

    Args:
        base: what the parts of a service share.
        told: called with all that is told, and its cause.

    Attributes:
        screens: everybody's terminals.
        onlookers: those who watch without a name.
        visits: the visits of those who are here, by name.
        watching: the visits that have a watcher, by name.
    """

    def __init__(self, base: Base, told: Teller | None) -> None:
        self._hall, self._clock, self._told = base.hall, base.clock, told
        self._node, self._realm, self._bus = base.node, base.realm, base.bus
        self.screens = Screens()
        self.onlookers = Onlookers(base.hall, self.screens)
        self.visits: dict[str, Visit] = {}
        self.watching: dict[str, Visit] = {}

    def carry_out(
        self,
        decision: Decision,
        cause: object = None,
        at: float | None = None,
        *,
        told: bool = True,
        crosses: bool = True,
        alone: str = "",
        is_ours: bool = True,
    ) -> None:
        """Apply a decision, and tell those concerned, also on other nodes if it ``crosses``.

        Queues its events on the bus.

        Args:
            decision: the decision.
            cause: the cause to pass to ``told``.
            at: the time, if known already.
            told: whether anybody is told.
            crosses: whether other nodes are told.
            alone: the only player to tell; "" for all.
            is_ours: whether it was decided by this service.
        """
        at = self._clock() if at is None else at
        before = self._hall.tables[str(decision.board)] if decision.events else None
        for telling in self._hall.commit(decision):
            if alone:
                audience = tuple(each for each in telling.audience if each == alone)
                telling = replace(telling, audience=audience)  # noqa: PLW2901
            try:
                if told:
                    self._spread(telling.told_at(at), cause)
            finally:
                if handlers := self._bus.handlers.get(type(telling.event)):
                    applied = AppliedEvent(telling.event, telling.table, before, is_ours, cause)
                    for handler in handlers:  # not by `defer`, which would be a call for each
                        self._bus.pending.append(partial(handler, applied))
        if told and crosses and self._node:
            self.pass_on(decision.asides)

    def _spread(self, telling: Telling, cause: object = None) -> None:
        """Tell an audience what happened: outboxes in words, watchers by the telling itself."""
        onlookers = self.onlookers
        seen = onlookers.join(telling) if onlookers.here else telling
        self.send(messages(self._hall, seen, self.screens), cause)
        if onlookers.here:
            onlookers.follow(telling)
        if self.watching:
            for name in [each for each in self.watching if each in telling.audience]:
                if watcher := self.watching[name].watcher:
                    watcher(telling)

    def send(self, told: Iterable[Message], cause: object = None) -> None:
        """Put messages into the outboxes of their readers."""
        visits = self.visits
        for message in told:
            if self._told:
                self._told(message, cause)
            for name in message.to:
                visit = visits.get(name)
                outbox = visit.outbox if visit else self.onlookers.outbox(name)
                if outbox:
                    outbox.put(message)

    def tell_here(self, aside: Aside, cause: object = None) -> None:
        """Tell an aside to those on this node only."""
        self.carry_out(Decision(aside.player, asides=(aside,)), cause, crosses=False)
        self._bus.dispatch(aside.player)

    def pass_on(self, asides: Sequence[Aside], *, always: bool = False) -> None:
        """Tell the other nodes, if any, those asides that cross.

        ``always`` says to do so though none has been heard of: this one may have just begun.
        """
        if self._node and (always or self._node.peers):
            crossing = tuple(each.abroad() for each in asides if each.crosses)
            if crossing:
                now(self._node.tell(self._realm, crossing))

    def announce(self, sentence: str) -> None:
        """Tell everybody a sentence."""
        if self._hall.people:
            self.send([Message(tuple(self._hall.people), sentence)])

    def say(self, name: str, sentence: str, cause: object = None) -> None:
        """Tell a player who is here a sentence."""
        display = self.display(name)
        lines = fitted(wrapped(sentence, display.width), display)
        self.send([Message((name,), "\n".join(lines))], cause)

    def introduce(self, name: str) -> None:
        """Tell the programs of a player who is here who they are."""
        self.send(sent(where(self._hall, name), (name,), self.screens.terminals))

    def display(self, name: str) -> Display:
        """Return the display of a player."""
        person = self._hall.people.get(name)
        return self.screens.display(name, person.options if person else DEFAULTS)

    def brief(self, name: str) -> list[Message]:
        """Return the present state for a player's program that has just come."""
        known = concerning(self._hall, name) if name in self._hall.people else ()
        return sent(known, (name,), self.screens.terminals)

    def fit(self, name: str, terminal: Terminal, *, brief: bool = False) -> None:
        """Note a player's terminal, now or before they come in.

        Args:
            name: the player's.
            terminal: the terminal.
            brief: whether a program that has just come is told the present state.
        """
        before = self.screens.terminals.get(name)
        self.screens.fit(name, terminal.nearest())
        if brief and before and terminal.packages - before.packages:
            self.send(self.brief(name))

    def refuse(self, name: str, command: Command | None, refusal: Refused, cause: object) -> Result:
        """Tell a player, and their programs, why a line or command was refused."""
        words = _words(command) if command else None
        if words is not None:
            self.carry_out(named(self._hall, name, words), cause)

        def board() -> str | None:
            if words is None and not hasattr(command, "on"):
                return None
            with suppress(Refused):
                return board_meant(self._hall, self._hall.people[name], words).name
            return None

        alone = refusal.code is Refusal.NEEDS_OPPONENT
        told = refusal_messages(
            refusal,
            name,
            self.display(name),
            self.screens.terminals.get(name),
            board=board,
            advice=rooms.seat_for_a_bot(self._hall) if alone else (),
            left_out=self._hall.left_out,
        )
        self.send(told, cause)
        return Result(command, refusal=refusal)


def _words(command: Command) -> str | None:
    """Return the words for a board in a command, if any."""
    match command:
        case Look(words) | Go(words):
            return words
    return getattr(command, "on", None)
