"""Who sits where, who is away, and when a seat may be had by somebody else.

Owns the coming and going at one table, and what is told about its seats. Must never change
anything: what it returns has not happened yet.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from thudmud.commands.model import Join, Start
from thudmud.rules import Game, Side
from thudmud.rules.english import capitalised, does, lasting
from thudmud.tables.events import (
    Absent,
    Adjourned,
    Cleared,
    Left,
    OfferLapsed,
    Parting,
    Returned,
    TableEvent,
)
from thudmud.tables.refusals import Refusal, Refused
from thudmud.tables.table import Table

Events = tuple[TableEvent, ...]


@dataclass(frozen=True, slots=True)
class Occasion:
    """What a decision needs to know beyond the table.

    Attributes:
        now: the time, in seconds since the epoch.
        members: the names of those here who have accounts.
    """

    now: float
    members: Container[str] = frozenset()


def part(table: Table, player: str, parting: Parting, now: float) -> Events:
    """Return what happens when ``player`` gives the seat at ``table`` up.

    Raises:
        Refused: ``player`` has no seat here.
    """
    left = Left(now, player, seat(table, player), parting)
    if table.full:
        # An offer is made to a person: it goes with either of the two.
        return (*lapsed(table, player, now), left)
    return (left,) if table.is_new else (left, Cleared(now, player))


def vanish(table: Table, player: str, parting: Parting, now: float) -> Events:
    """Return what happens when ``player``, who has a seat at ``table``, is gone.

    The seat is kept for them, unless they left on purpose with no match under way.
    """
    if parting is Parting.QUIT and not table.under_way:
        return part(table, player, parting, now)
    side = seat(table, player)
    return () if side in table.away else (Absent(now, player, side, parting),)


def come_back(table: Table, player: str, now: float) -> Events:
    """Return what happens at ``table`` when ``player`` is here again, if they were away."""
    side = table.side_of(player)
    return (Returned(now, player, side),) if side and side in table.away else ()


def made_free(table: Table, side: Side, player: str, occasion: Occasion) -> Events | None:
    """Return what makes a seat free for ``player``; None if it has to be left to its holder.

    Nobody gets a seat in a match under way: if all who sit at it have been gone for long, it is put
    away for another day.
    """
    holder = table.seats.get(side)
    if holder is None or holder == player:
        return ()
    if table.match and table.under_way:
        if all(table.long_away(each, occasion.now) for each in table.seats):
            return (Adjourned(occasion.now, player, table.match.saved()),)
        return None
    if table.long_away(side, occasion.now):
        return part(table, holder, Parting.LOST, occasion.now)
    return None


def require_long_gone(table: Table, side: Side, occasion: Occasion) -> None:
    """Refuse if whoever has a seat is here, or has not been away for long enough."""
    holder, since = table.seats[side], table.away.get(side)
    if since is None:
        raise Refused(Refusal.NOT_AWAY, other=holder)
    wait = since + table.seat_grace - occasion.now
    if wait > 0:
        raise Refused(Refusal.TOO_SOON, other=holder, wait=lasting(wait))


def seat(table: Table, player: str) -> Side:
    """Return the side that ``player`` plays.

    Raises:
        Refused: they play none.
    """
    side = table.side_of(player)
    if side is None:
        raise Refused(Refusal.NOT_SEATED, board=table.name, seats=who_sits(table, player))
    return side


def battle(table: Table, player: str) -> Game:
    """Return the battle that is being played, which ``player`` asks about.

    Raises:
        Refused: there is none.
    """
    match = table.match
    if match and match.running:
        return match.game
    ready = table.side_of(player) and table.full and not table.away
    hint = who_sits(table, player)
    if ready:
        hint = f'"{Start(table.name)}" begins {"the next" if match else "one"}.'
    reason = Refusal.BATTLE_OVER if match else Refusal.NO_BATTLE
    raise Refused(reason, board=table.name, hint=hint)


def lapsed(table: Table, player: str, now: float) -> tuple[OfferLapsed, ...]:
    """Return what becomes of the offers that stand when ``player`` does something else."""
    return tuple(OfferLapsed(now, player, offer) for offer in table.offers)


def who_sits(table: Table, me: str | None) -> str:
    """Return, as told to ``me``, who plays what at ``table``, and how to take a free seat."""
    plays = [
        f"{does(holder, me, 'play')} the {side.plural}{_away(table, side)}"
        for side, holder in sorted_seats(table)
    ]
    if not plays:
        joins = (f'"{Join(side, table.name)}"' for side in Side)
        return f"Both seats are free: {' or '.join(joins)}."
    said = f"{capitalised(' and '.join(plays))}."
    return said if table.full else f"{said} {free_seat(table)}"


def free_seat(table: Table) -> str:
    """Return a sentence on the first free seat of ``table``, and the words that take it."""
    side = next(side for side in Side if side not in table.seats)
    return f'The {side.value} seat is free: "{Join(side, table.name)}".'


def sorted_seats(table: Table) -> list[tuple[Side, str]]:
    """Return who sits where, the dwarfs' seat first."""
    return [(side, table.seats[side]) for side in Side if side in table.seats]


def _away(table: Table, side: Side) -> str:
    return " (away)" if side in table.away else ""
