"""Who is asked to which seat.

Owns what an invitation is for, and when there is none to make. Must never change anything: whoever
is asked sits down, or does not.
"""

from __future__ import annotations

from thudmud.commands import Join
from thudmud.rules import Side
from thudmud.tables.asides import Invited
from thudmud.tables.refusals import Refusal, Refused
from thudmud.tables.seating import Occasion, free_seat, made_free, who_sits
from thudmud.tables.table import Table


def invited(table: Table, player: str, to: str, side: Side | None, occasion: Occasion) -> Invited:
    """Return the invitation of a player by another.

    Args:
        table: where.
        player: who asks.
        to: who is asked.
        side: the seat; None for a free one.
        occasion: when, and what else matters.

    Raises:
        Refused: there is no such seat for whoever is asked.
    """
    if to == player:
        words = Join(side or Side.DWARF, table.name)
        raise Refused(Refusal.INVITE_SELF, words=words)
    theirs = table.side_of(to)
    if theirs:
        raise Refused(Refusal.PLAYS_THERE, other=to, side=theirs.plural, board=table.name)
    return Invited(player, to, table.name, _seat(table, player, to, side, occasion))


def _seat(table: Table, player: str, to: str, side: Side | None, occasion: Occasion) -> Side:
    free = [
        each
        for each in Side
        if table.seats.get(each) != player and made_free(table, each, to, occasion) is not None
    ]
    if side is None and free:
        return free[0]
    if side is None:
        raise Refused(Refusal.NO_SEAT_FREE, board=table.name, seats=who_sits(table, player))
    if table.side_of(player) is side:
        raise Refused(Refusal.SAME_SEAT, board=table.name, side=side.plural)
    if side not in free:
        hint = "" if table.full else free_seat(table)
        holder = table.seats[side]
        raise Refused(
            Refusal.SEAT_TAKEN, board=table.name, holder=holder, side=side.plural, hint=hint
        )
    return side
