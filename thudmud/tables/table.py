"""One board: its seats, its match, and what its players have offered each other.

Owns what a table is, and how each event changes it. A table is a frozen value, the fold of its
events. `thudmud.tables.table_decisions` says what a command brings about. Must never know who
is merely looking on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import singledispatch
from types import MappingProxyType

from thudmud.commands.model import Style
from thudmud.engine import RULESETS, Game, Ruleset, Side
from thudmud.tables.events import (
    BattleEnded,
    BattleStarted,
    Cleared,
    Joined,
    Left,
    Moved,
    Offer,
    Offered,
    OfferLapsed,
    RulesSet,
    TableEvent,
)
from thudmud.tables.match import Match


@dataclass(frozen=True, slots=True)
class BoardSpec:
    """A board as its owner configures it: its name, its ruleset's name, newcomers' style."""

    name: str
    rules: str = "discworld"
    style: Style = Style.FULL


NO_SEATS: Mapping[Side, str] = MappingProxyType({})
NO_OFFERS: Mapping[Offer, Side] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Table:
    """The state of one board.

    Attributes:
        name: what the board is called, its noun last.
        own_rules: the board's own ruleset, with which it begins anew.
        ruleset: what the next match is played by; the match on the board has its own.
        quiet_limit: after how many plies without a capture one player may end the battle alone;
            0 for never.
        seats: who sits where; a free seat is not in it.
        match: the match on the board, running or over; None before the first.
        offers: what was offered and still stands, and from which seat.
        version: how many events have been folded.
    """

    name: str
    own_rules: Ruleset
    ruleset: Ruleset
    quiet_limit: int = 200
    seats: Mapping[Side, str] = field(default_factory=lambda: NO_SEATS)
    match: Match | None = None
    offers: Mapping[Offer, Side] = field(default_factory=lambda: NO_OFFERS)
    version: int = 0

    @classmethod
    def set_up(cls, spec: BoardSpec, quiet_limit: int) -> Table:
        """Return the empty table that ``spec`` describes.

        Raises:
            KeyError: there is no such ruleset.
        """
        rules = RULESETS[spec.rules]
        return cls(spec.name, rules, rules, quiet_limit)

    def apply(self, event: TableEvent) -> Table:
        """Return the table after ``event``."""
        return replace(_applied(event, self), version=self.version + 1)

    @property
    def game(self) -> Game | None:
        """The battle on the board, running or ended; None before the first."""
        return self.match.game if self.match else None

    @property
    def running(self) -> bool:
        """Whether a battle is being played."""
        return self.match is not None and self.match.running

    @property
    def is_new(self) -> bool:
        """Whether the board stands as it was set up, whoever sits at it."""
        return self.match is None and self.ruleset == self.own_rules

    @property
    def half_played(self) -> bool:
        """Whether the first battle of a match has ended and the second has not begun."""
        return self.match is not None and not self.match.running and not self.match.over

    @property
    def full(self) -> bool:
        """Whether both seats are taken."""
        return len(self.seats) == len(Side)

    @property
    def quiet(self) -> bool:
        """Whether nothing was captured for so long that one player may end the battle alone."""
        game = self.game
        return bool(game and self.quiet_limit and game.quiet_plies >= self.quiet_limit)

    def side_of(self, player: str) -> Side | None:
        """Return the side that ``player`` plays here, if any."""
        return next((side for side, holder in self.seats.items() if holder == player), None)


@singledispatch
def _applied(event: object, table: Table) -> Table:  # noqa: ARG001 (the signature that the cases share)
    raise TypeError(f"{type(event).__name__} is not an event of a table")


@_applied.register
def _(event: Joined, table: Table) -> Table:
    return replace(table, seats=MappingProxyType({**table.seats, event.side: event.player}))


@_applied.register
def _(event: Left, table: Table) -> Table:
    stay = {side: holder for side, holder in table.seats.items() if side is not event.side}
    return replace(table, seats=MappingProxyType(stay))


@_applied.register
def _(_: Cleared, table: Table) -> Table:
    return replace(table, match=None, ruleset=table.own_rules)


@_applied.register
def _(event: RulesSet, table: Table) -> Table:
    return replace(table, ruleset=RULESETS[event.rules], match=None)


@_applied.register
def _(event: BattleStarted, table: Table) -> Table:
    if event.number == 1:
        match = Match.start(RULESETS[event.rules])
    else:
        match = _match(table).second_battle()
    seats = MappingProxyType({Side.DWARF: event.dwarf, Side.TROLL: event.troll})
    return replace(table, match=match, seats=seats, offers=NO_OFFERS)


@_applied.register
def _(event: Moved, table: Table) -> Table:
    match = _match(table)
    return replace(table, match=match.with_game(match.game.play(event.move)))


@_applied.register
def _(event: Offered, table: Table) -> Table:
    side = table.side_of(event.player)
    if side is None:
        raise ValueError(f"the events of the {table.name} do not fit together: no seat")
    return replace(table, offers=MappingProxyType({**table.offers, event.offer: side}))


@_applied.register
def _(event: OfferLapsed, table: Table) -> Table:
    left = {offer: side for offer, side in table.offers.items() if offer is not event.offer}
    return replace(table, offers=MappingProxyType(left))


@_applied.register
def _(event: BattleEnded, table: Table) -> Table:
    match = _match(table)
    ended = replace(match.game, outcome=event.outcome)
    return replace(table, match=match.with_game(ended), offers=NO_OFFERS)


def _match(table: Table) -> Match:
    if table.match is None:
        raise ValueError(f"the events of the {table.name} do not fit together: no match")
    return table.match
