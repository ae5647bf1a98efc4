"""One board: its seats, its match, and what its players have offered each other.

Owns what a table is, and how each event changes it. A table is a frozen value, the fold of its
events. `thudmud.play.table_decisions` says what a command brings about. Must never know who
is merely looking on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import singledispatch
from types import MappingProxyType
from typing import TypeVar

from thudmud.errors import InvalidValueError
from thudmud.play.commands import Style
from thudmud.play.events import (
    Absent,
    Adjourned,
    BattleEnded,
    BattleId,
    BattleStarted,
    Cleared,
    Declined,
    Joined,
    Left,
    Moved,
    Offer,
    Offered,
    OfferLapsed,
    Resumed,
    Returned,
    RulesSet,
    TableEvent,
    TakenBack,
)
from thudmud.play.match import Match
from thudmud.rules import RULESETS, Game, Ruleset, Side


@dataclass(frozen=True, slots=True)
class BoardSpec:
    """A board as its owner configures it: its name, its ruleset's name, newcomers' style.

    Raises:
        InvalidValueError: there are no rules of that name, in any case.
    """

    name: str
    rules: str = "discworld"
    style: Style = Style.FULL

    def __post_init__(self) -> None:
        rules = str(self.rules).lower()
        if rules not in RULESETS:
            known = ", ".join(RULESETS)
            raise InvalidValueError(f"there are no {self.rules!r} rules; there are {known}")
        object.__setattr__(self, "rules", rules)


Key = TypeVar("Key")
Value = TypeVar("Value")

NO_SEATS: Mapping[Side, str] = MappingProxyType({})
NO_OFFERS: Mapping[Offer, Side] = MappingProxyType({})
NOBODY_AWAY: Mapping[Side, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Table:
    """The state of one board.

    Attributes:
        name: what the board is called, its noun last.
        own_rules: the board's own ruleset, with which it begins anew.
        ruleset: what the next match is played by; the match on the board has its own.
        quiet_limit: after how many plies without a capture one player may end the battle alone;
            0 for never.
        seat_grace: how many seconds a player may be away before the others need not wait.
        seats: who sits where; a free seat is not in it.
        away: since when those who have a seat and are not here are away, in seconds since the
            epoch.
        match: the match on the board, running or over; None before the first.
        offers: what was offered and still stands, and from which seat.
        version: how many events have been folded.
    """

    name: str
    own_rules: Ruleset
    ruleset: Ruleset
    quiet_limit: int = 200
    seat_grace: float = 300.0
    seats: Mapping[Side, str] = field(default_factory=lambda: NO_SEATS)
    match: Match | None = None
    offers: Mapping[Offer, Side] = field(default_factory=lambda: NO_OFFERS)
    away: Mapping[Side, float] = field(default_factory=lambda: NOBODY_AWAY)
    version: int = 0

    @classmethod
    def set_up(cls, spec: BoardSpec, quiet_limit: int = 200, seat_grace: float = 300.0) -> Table:
        """Return the empty table that ``spec`` describes.

        Raises:
            KeyError: there is no such ruleset.
        """
        rules = RULESETS[spec.rules]
        return cls(spec.name, rules, rules, quiet_limit, seat_grace)

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
    def under_way(self) -> bool:
        """Whether a match has begun and is not over."""
        return self.match is not None and not self.match.over

    @property
    def full(self) -> bool:
        """Whether both seats are taken."""
        return len(self.seats) == len(Side)

    @property
    def quiet(self) -> bool:
        """Whether nothing was captured for so long that one player may end the battle alone."""
        game = self.game
        return bool(game and self.quiet_limit and game.quiet_plies >= self.quiet_limit)

    def long_away(self, side: Side, now: float) -> bool:
        """Whether the holder of a seat has been away for so long that others need not wait."""
        since = self.away.get(side)
        return since is not None and now - since >= self.seat_grace

    def side_of(self, player: str) -> Side | None:
        """Return the side that ``player`` plays here, if any."""
        return next((side for side, holder in self.seats.items() if holder == player), None)


@singledispatch
def _applied(event: object, table: Table) -> Table:  # noqa: ARG001 (the signature that the cases share)
    raise TypeError(f"{type(event).__name__} is not an event of a table")


@_applied.register
def _(event: Joined, table: Table) -> Table:
    seats = MappingProxyType({**table.seats, event.side: event.player})
    match = table.match.with_player(event.side, event.player) if table.match else None
    # Who has just come has not waited yet for whoever is away from the match.
    away = dict.fromkeys(table.away, event.at) if table.under_way else table.away
    return replace(table, seats=seats, match=match, away=MappingProxyType(dict(away)))


@_applied.register
def _(event: Left, table: Table) -> Table:
    return replace(
        table, seats=_without(table.seats, event.side), away=_without(table.away, event.side)
    )


@_applied.register
def _(event: Absent, table: Table) -> Table:
    return replace(table, away=MappingProxyType({**table.away, event.side: event.at}))


@_applied.register
def _(event: Returned, table: Table) -> Table:
    return replace(table, away=_without(table.away, event.side))


@_applied.register(Cleared)
@_applied.register(Adjourned)
def _(_: Cleared | Adjourned, table: Table) -> Table:
    own = table.own_rules
    return Table(table.name, own, own, table.quiet_limit, table.seat_grace, version=table.version)


@_applied.register
def _(event: RulesSet, table: Table) -> Table:
    return replace(table, ruleset=RULESETS[event.rules], match=None)


@_applied.register
def _(event: BattleStarted, table: Table) -> Table:
    began = BattleId(table.name, table.version + 1)
    if event.number == 1:
        game = Game.start(RULESETS[event.rules])
        match = Match(game, began, event.dwarf, event.troll, event.rated)
    else:
        match = _match(table).second_battle(began, event.dwarf, event.troll, rated=event.rated)
    return _seated(table, match)


@_applied.register
def _(event: Resumed, table: Table) -> Table:
    return _seated(table, Match.restored(event.match))


@_applied.register
def _(event: Moved, table: Table) -> Table:
    match = _match(table)
    return replace(table, match=match.with_game(match.game.play(event.move)))


@_applied.register
def _(event: TakenBack, table: Table) -> Table:
    match = _match(table)
    game = match.game
    for _ in event.moves:
        game = game.undo()
    return replace(table, match=match.with_game(game), offers=NO_OFFERS)


@_applied.register
def _(event: Offered, table: Table) -> Table:
    side = table.side_of(event.player)
    if side is None:
        raise ValueError(f"the events of the {table.name} do not fit together: no seat")
    return replace(table, offers=MappingProxyType({**table.offers, event.offer: side}))


@_applied.register(OfferLapsed)
@_applied.register(Declined)
def _(event: OfferLapsed | Declined, table: Table) -> Table:
    return replace(table, offers=_without(table.offers, event.offer))


@_applied.register
def _(event: BattleEnded, table: Table) -> Table:
    match = _match(table)
    ended = replace(match.game, outcome=event.outcome)
    return replace(table, match=match.with_game(ended), offers=NO_OFFERS)


def _seated(table: Table, match: Match) -> Table:
    """Return the table with its contestants sitting at ``match``, as if nothing had been before."""
    return replace(
        table,
        ruleset=match.game.ruleset,
        match=match,
        seats=MappingProxyType({Side.DWARF: match.dwarf, Side.TROLL: match.troll}),
        offers=NO_OFFERS,
        away=NOBODY_AWAY,
    )


def _without(mapping: Mapping[Key, Value], key: Key) -> Mapping[Key, Value]:
    return MappingProxyType({each: value for each, value in mapping.items() if each is not key})


def _match(table: Table) -> Match:
    if table.match is None:
        raise ValueError(f"the events of the {table.name} do not fit together: no match")
    return table.match
