"""Broadcasting: applies decisions to the hall, and delivers their events.

Players and onlookers get messages in their outboxes; programs that play in this process get the
deliveries themselves (`Delivery`); and other nodes get the asides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial

from thudmud.errors import RefusedError
from thudmud.features.rooms import messages as rooms
from thudmud.features.rooms.commands import Go, Look
from thudmud.game.asides import Aside
from thudmud.game.command import Command
from thudmud.game.delivery import Delivery
from thudmud.game.feature import AppliedEvent
from thudmud.game.hall import Decision
from thudmud.game.people import DEFAULTS
from thudmud.game.refusals import Refusal
from thudmud.game.resolution import decision_after_refusal, resolve_board
from thudmud.service.coroutines import run_eagerly
from thudmud.service.interface import Base, Result, Teller, Visit
from thudmud.service.onlookers import Onlookers
from thudmud.values import replace
from thudmud.views.data import Fact
from thudmud.views.facts import player_state_facts, presence_facts, refusal_fact
from thudmud.views.messages import (
    Message,
    fact_messages,
    fit_lines,
    messages,
    refusal_messages,
    refusal_sentences,
)
from thudmud.views.view import Display, Screens, Terminal
from thudmud.views.words import wrap


class Broadcaster:
    """Applies decisions to the hall, and delivers their events.

    Args:
        base: the parts of the service that all others share.
        told: called with every message and its cause.

    Attributes:
        screens: the terminals of players and onlookers.
        onlookers: the spectators without a name.
        visits: the visits of the players on this node, by name.
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
        should_deliver: bool = True,
        reaches_peers: bool = True,
        only_to: str = "",
        is_ours: bool = True,
    ) -> None:
        """Apply a decision to the hall, deliver its events, and queue them on the bus.

        Args:
            decision: the decision.
            cause: the cause to deliver with the events.
            at: the time, in seconds since the epoch; None for now.
            should_deliver: whether the events are delivered at all.
            reaches_peers: whether asides are sent to other nodes.
            only_to: the only player to deliver to; "" for all.
            is_ours: whether this service made the decision, as opposed to another node.
        """
        at = self._clock() if at is None else at
        before = self._hall.tables[str(decision.board)] if decision.events else None
        for telling in self._hall.commit(decision):
            if only_to:
                audience = tuple(each for each in telling.recipients if each == only_to)
                telling = replace(telling, recipients=audience, programs=())  # noqa: PLW2901
            try:
                if should_deliver:
                    self._deliver(telling.stamp(at), cause)
            finally:
                if handlers := self._bus.handlers.get(type(telling.event)):
                    applied = AppliedEvent(telling.event, telling.table, before, is_ours, cause)
                    for handler in handlers:  # `defer` would cost a call for each
                        self._bus.pending.append(partial(handler, applied))
        if should_deliver and reaches_peers and self._node:
            self.send_to_peers(decision.asides)

    def may_defer_plies(self, board: str) -> bool:
        """Return whether nobody here is told of a ply at a board, see `Hall.may_defer_plies`."""
        if board in self.onlookers.rooms:
            return False
        return self._hall.may_defer_plies(board, self.visits.keys())

    def _deliver(self, telling: Delivery, cause: object = None) -> None:
        """Deliver an event: messages to outboxes, the delivery itself to watchers."""
        onlookers = self.onlookers
        seen = onlookers.with_onlookers(telling) if onlookers.here else telling
        self.send(messages(self._hall, seen, self.screens), cause)
        if onlookers.here:
            onlookers.follow_board_changes(telling)
        if self.watching:
            for name in [each for each in self.watching if each in telling.recipients]:
                if watcher := self.watching[name].watcher:
                    watcher(telling)

    def send(self, outgoing: Iterable[Message], cause: object = None) -> None:
        """Put messages into the outboxes of their readers."""
        visits = self.visits
        for message in outgoing:
            if self._told:
                self._told(message, cause)
            for name in message.to:
                visit = visits.get(name)
                outbox = visit.outbox if visit else self.onlookers.outbox(name)
                if outbox:
                    outbox.put(message)

    def deliver_locally(self, aside: Aside, cause: object = None) -> None:
        """Apply an aside, and deliver it on this node only."""
        self.carry_out(Decision(aside.player, asides=(aside,)), cause, reaches_peers=False)
        self._bus.dispatch(aside.player)

    def send_to_peers(self, asides: Sequence[Aside], *, always: bool = False) -> None:
        """Send asides to the other nodes, if they are of a type that crosses.

        Args:
            asides: the asides.
            always: whether to send them though no other node is known: this one may have just
                started.
        """
        if self._node and (always or self._node.peers):
            crossing = tuple(
                each.form_for_other_nodes() for each in asides if each.reaches_other_nodes
            )
            if crossing:
                run_eagerly(self._node.send_asides(self._realm, crossing))

    def announce(self, sentence: str) -> None:
        """Send a sentence to everybody in the hall."""
        if self._hall.people:
            self.send([Message(tuple(self._hall.people), sentence)])

    def say(self, name: str, sentence: str, cause: object = None) -> None:
        """Send a sentence to a player who is here."""
        display = self.display(name)
        lines = fit_lines(wrap(sentence, display.width), display)
        self.send([Message((name,), "\n".join(lines))], cause)

    def introduce(self, name: str) -> None:
        """Send a player's programs the facts about where the player is."""
        self.send(fact_messages(presence_facts(self._hall, name), (name,), self.screens.terminals))

    def display(self, name: str) -> Display:
        """Return a player's display: terminal and options."""
        person = self._hall.people.get(name)
        return self.screens.display(name, person.options if person else DEFAULTS)

    def current_facts(self, name: str) -> list[Message]:
        """Return the present state as facts, for a player's program that has just connected."""
        known = player_state_facts(self._hall, name) if name in self._hall.people else ()
        return fact_messages(known, (name,), self.screens.terminals)

    def set_terminal(self, name: str, terminal: Terminal, *, sends_facts: bool = False) -> None:
        """Set a player's terminal, perhaps before they come in.

        Args:
            name: the player's name.
            terminal: the terminal.
            sends_facts: whether to send the present state to a program that has just connected.
        """
        before = self.screens.terminals.get(name)
        self.screens.fit(name, terminal.nearest())
        if sends_facts and before and terminal.packages - before.packages:
            self.send(self.current_facts(name))

    def refuse(
        self, name: str, command: Command | None, refusal: RefusedError, cause: object
    ) -> Result:
        """Deliver a refusal to a player and their programs; return it as the line's result."""
        words = _words(command) if command else None
        if words is not None:
            self.carry_out(decision_after_refusal(self._hall, name, words), cause)

        def board() -> str | None:
            if words is None and not hasattr(command, "on"):
                return None
            with suppress(RefusedError):
                return resolve_board(self._hall, self._hall.people[name], words).name
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

    def refusal_fact(self, name: str, refusal: RefusedError) -> Fact:
        """Return the refusal of a question by a player's program; in words, too, if it draws."""
        terminal, told = self.screens.terminals.get(name), None
        if terminal and terminal.can_draw:
            left_out = self._hall.left_out
            told = refusal_sentences(refusal, name, self.display(name), left_out=left_out)
        return refusal_fact(refusal, name, None, told)


def _words(command: Command) -> str | None:
    """Return a command's words for a board, if it has any."""
    match command:
        case Look(words) | Go(words):
            return words
    return getattr(command, "on", None)
