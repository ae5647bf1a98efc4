"""Hears what other nodes tell of their players, who are in this hall as well.

A node can tell something late: it slept, and its players have come in elsewhere meanwhile. What it
says then of where they are, and of how they see things there, must not change what is known of
them by now. So it is kept of each which node has told of them last (`Person.node`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from thudmud.features.options.model import OptionChosen, StyleChosen
from thudmud.game.asides import Aside, CameIn, Emoted, Entered, Gone, ObserveChosen, Spoke, WentOut
from thudmud.game.events import BoardOpened
from thudmud.game.feature import AppliedEvent
from thudmud.game.hall import Decision
from thudmud.game.people import Person
from thudmud.service.broadcasting import Broadcaster
from thudmud.service.driving import now
from thudmud.service.interface import Base
from thudmud.store import StoreError
from thudmud.values import replace

_OF_A_VISIT = CameIn | WentOut | StyleChosen | OptionChosen | ObserveChosen
"""What counts only on the node where the player is."""

_log = logging.getLogger(__name__)


class Neighbours:
    """Applies and tells what happened on other nodes and is not stored.

    Args:
        base: what the parts of a service share.
        broadcaster: tells those who are here.
        lost: sees out a player, in the background, whom no node has any more.
    """

    def __init__(self, base: Base, broadcaster: Broadcaster, lost: Callable[[str], None]) -> None:
        self._hall, self._broadcaster, self._lost = base.hall, broadcaster, lost
        self._node, self._realm, self._bus = base.node, base.realm, base.bus
        self._bus.on(BoardOpened, self._opened)
        self._on_the_way: dict[str, tuple[CameIn, str]] = {}
        """By name, players who came to a board that is unknown here yet, and on which node."""

    def people_here(self) -> tuple[Entered, ...]:
        """Return who is here, where, and with which preferences, for another node."""
        return tuple(entered(self._hall.people[name]) for name in self._broadcaster.visits)

    def hear(self, asides: Iterable[Aside], node: str) -> None:
        """Apply and tell what happened on another node, or note who is there."""
        try:
            self._hear(asides, node)
        finally:
            self._bus.dispatch()

    def _hear(self, asides: Iterable[Aside], node: str) -> None:
        for aside in asides:
            name = aside.player
            person = self._hall.people.get(name)
            if name in self._broadcaster.visits:
                self._on_the_way.pop(name, None)
                continue  # they came in here before this was heard
            if person and person.node not in ("", node):
                if isinstance(aside, Gone):
                    now(self._doubt(aside, node, person))
                    continue
                if isinstance(aside, _OF_A_VISIT):
                    continue
            if isinstance(aside, CameIn | Gone):
                self._on_the_way.pop(name, None)  # they have gone elsewhere by now
            match aside:
                case Entered() if person:
                    room = aside.room if aside.room in self._hall.tables else None
                    if room != person.room:  # the aside that told it was lost
                        self._broadcaster.carry_out(
                            Decision(name, asides=(CameIn(name, room),)), told=False, crosses=False
                        )
                    person.member, person.active = aside.member, aside.active
                    person.node = node
                    self._hall.people.adopt(person, aside)
                    self._hall.observe(name, self._known_boards(aside.observed))
                    continue
                case Gone() if person:
                    aside = self._gone(aside, person)  # noqa: PLW2901
                case ObserveChosen(observed=observed):
                    aside = replace(aside, observed=self._known_boards(observed))  # noqa: PLW2901
                case StyleChosen(_, board, style) if person and board not in self._hall.tables:
                    person.styles[board] = style
                    continue
                case Entered(room=str(room)) if room not in self._hall.tables:
                    aside = replace(aside, room=None)  # noqa: PLW2901
                case CameIn(room=str(room)) if room not in self._hall.tables:
                    self._on_the_way[name] = aside, node  # the board may be opened here soon
                    continue
                case Spoke(room=str(room)) | Emoted(room=str(room)) | WentOut(room=str(room)):
                    if room not in self._hall.tables:
                        continue
            if person or isinstance(aside, Entered):
                decision = Decision(name, asides=(aside,))
                self._broadcaster.carry_out(decision, crosses=False, is_ours=False)
            if isinstance(aside, Entered):
                self._hall.people[name].node = node

    async def _doubt(self, gone: Gone, node: str, person: Person) -> None:
        """See out a player of whom another node says so than where they are, as far as is known.

        Their node may have died, and this one may have its claims. Or this is said too late, and
        they are there.
        """
        known = person.node
        try:
            owner = await self._node.owner(self._realm, person.name) if self._node else None
        except StoreError as error:
            _log.error("it is not known who has gone: %s", error, extra={"player": person.name})
            self._lost(person.name)
            return
        is_still_there = self._hall.people.get(person.name) is person and person.node == known
        if is_still_there and owner in (None, node):
            person.node = node
            self.hear([gone], node)

    def _known_boards(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return those of some boards that are known here."""
        return tuple(name for name in names if name in self._hall.tables)

    def _gone(self, gone: Gone, person: Person) -> Gone:
        """Return the aside with the room as it is known here. At a seat it was told already."""
        table = self._hall.tables.get(person.room) if person.room else None
        is_told = gone.told or bool(table and table.side_of(person.name) in table.away)
        return replace(gone, room=person.room, told=is_told)

    def _opened(self, applied: AppliedEvent) -> None:
        """Move those to a newly opened board who came to it on other nodes."""
        board = applied.table.name if applied.table else ""
        for name, (came, node) in list(self._on_the_way.items()):
            if came.room == board:
                del self._on_the_way[name]
                self.hear([came], node)


def entered(person: Person) -> Entered:
    """Return what another node has to know of a player who is here."""
    styles = tuple(person.styles.items())
    return Entered(
        person.name,
        person.room,
        person.member,
        styles,
        person.options,
        ignored=person.ignored,
        news=person.news,
        followed=person.followed,
        plan=person.plan,
        observed=person.observed,
        active=person.active,
    )
