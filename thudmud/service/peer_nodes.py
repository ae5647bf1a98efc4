"""Applies the asides of other nodes: their players are in this hall as well.

Asides can arrive late: a node may sleep, and its players may come in elsewhere meanwhile. Such
asides must not change a player's room or preferences, which another node has reported since. So
each person records the node whose asides count (`Person.node`), and others are ignored.
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
from thudmud.service.coroutines import run_eagerly
from thudmud.service.interface import Base
from thudmud.store import StoreError
from thudmud.values import replace

_OF_A_VISIT = CameIn | WentOut | StyleChosen | OptionChosen | ObserveChosen
"""Asides that are ignored unless they come from the player's present node."""

_log = logging.getLogger(__name__)


class PeerNodes:
    """Applies and delivers the asides of other nodes.

    Args:
        base: the parts of the service that all others share.
        broadcaster: delivers the asides to the players here.
        lost: removes a player who is on no node, in the background.
    """

    def __init__(self, base: Base, broadcaster: Broadcaster, lost: Callable[[str], None]) -> None:
        self._hall, self._broadcaster, self._lost = base.hall, broadcaster, lost
        self._node, self._realm, self._bus = base.node, base.realm, base.bus
        self._bus.subscribe(BoardOpened, self._board_opened)
        self._awaiting_board: dict[str, tuple[CameIn, str]] = {}
        """By name, players who came to a board that isn't open here yet, and their node."""

    def people_here(self) -> tuple[Entered, ...]:
        """Return the players on this node, with their rooms and preferences, for another node."""
        return tuple(entered(self._hall.people[name]) for name in self._broadcaster.visits)

    def apply_remote_asides(self, asides: Iterable[Aside], node: str) -> None:
        """Apply and deliver another node's asides.

        Args:
            asides: the asides, or an `Entered` for each player on the node.
            node: the name of the node.
        """
        try:
            self._apply_remote_asides(asides, node)
        finally:
            self._bus.dispatch()

    def _apply_remote_asides(self, asides: Iterable[Aside], node: str) -> None:
        for aside in asides:
            name = aside.player
            person = self._hall.people.get(name)
            if name in self._broadcaster.visits:
                self._awaiting_board.pop(name, None)
                continue  # the player has come in here since
            if person and person.node not in ("", node):
                if isinstance(aside, Gone):
                    run_eagerly(self._handle_unexpected_gone(aside, node, person))
                    continue
                if isinstance(aside, _OF_A_VISIT):
                    continue
            if isinstance(aside, CameIn | Gone):
                self._awaiting_board.pop(name, None)  # replaced by this aside
            match aside:
                case Entered() if person:
                    self._update_person(person, aside, node)
                    continue
                case Gone() if person:
                    aside = self._gone_as_known_here(aside, person)  # noqa: PLW2901
                case ObserveChosen(observed=observed):
                    aside = replace(aside, observed=self._known_boards(observed))  # noqa: PLW2901
                case StyleChosen(_, board, style) if person and board not in self._hall.tables:
                    person.styles[board] = style
                    continue
                case Entered(room=str(room)) if room not in self._hall.tables:
                    aside = replace(aside, room=None)  # noqa: PLW2901
                case CameIn(room=str(room)) if room not in self._hall.tables:
                    # Asides may overtake events: the board may be opened here soon.
                    self._awaiting_board[name] = aside, node
                    continue
                case Spoke(room=str(room)) | Emoted(room=str(room)) | WentOut(room=str(room)):
                    if room not in self._hall.tables:
                        continue
            if person or isinstance(aside, Entered):
                decision = Decision(name, asides=(aside,))
                self._broadcaster.carry_out(decision, reaches_peers=False, is_ours=False)
            if isinstance(aside, Entered):
                self._hall.people[name].node = node

    def _update_person(self, person: Person, entered: Entered, node: str) -> None:
        """Bring a player who is known here up to date with their node's list of players."""
        room = entered.room if entered.room in self._hall.tables else None
        if room != person.room:  # the player's `CameIn` was lost
            self._broadcaster.carry_out(
                Decision(entered.player, asides=(CameIn(entered.player, room),)),
                should_deliver=False,
                reaches_peers=False,
            )
        person.is_member, person.last_active = entered.is_member, entered.active
        person.node = node
        self._hall.people.apply_preferences(person, entered)
        self._hall.observe(entered.player, self._known_boards(entered.observed))

    async def _handle_unexpected_gone(self, gone: Gone, node: str, person: Person) -> None:
        """Handle `Gone` sent by a node other than the one we believe hosts the player.

        Either the player's node has died, and the sender has reaped its claims; or the note is late
        and the player is still there. The claim in the store tells which.
        """
        known = person.node
        try:
            owner = await self._node.owner(self._realm, person.name) if self._node else None
        except StoreError as error:
            _log.error("could not find out who has gone: %s", error, extra={"player": person.name})
            self._lost(person.name)
            return
        is_still_there = self._hall.people.get(person.name) is person and person.node == known
        if is_still_there and owner in (None, node):
            person.node = node
            self.apply_remote_asides([gone], node)

    def _known_boards(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the names of boards that are open here."""
        return tuple(name for name in names if name in self._hall.tables)

    def _gone_as_known_here(self, gone: Gone, person: Person) -> Gone:
        """Return the aside with the room as known here, and whether it needs no announcement.

        At a seat it needs none: `Absent` was delivered there.
        """
        table = self._hall.tables.get(person.room) if person.room else None
        is_told = gone.is_announced or bool(table and table.side_of(person.name) in table.away)
        return replace(gone, room=person.room, is_announced=is_told)

    def _board_opened(self, applied: AppliedEvent) -> None:
        """Move players to a newly opened board who came to it on other nodes."""
        board = applied.table.name if applied.table else ""
        for name, (came, node) in list(self._awaiting_board.items()):
            if came.room == board:
                del self._awaiting_board[name]
                self.apply_remote_asides([came], node)


def entered(person: Person) -> Entered:
    """Return the aside that describes a player who is here to other nodes."""
    styles = tuple(person.styles.items())
    return Entered(
        person.name,
        person.room,
        person.is_member,
        styles,
        person.options,
        ignored=person.ignored,
        news=person.news,
        followed=person.followed,
        plan=person.plan,
        observed=person.observed,
        active=person.last_active,
    )
