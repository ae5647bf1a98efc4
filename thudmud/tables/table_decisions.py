"""What a command brings about at a table, or why it does not.

Owns who may do what at a board: seats, turns and agreements. Must never change anything: a
decision is events that have not happened yet.
"""

from __future__ import annotations

from functools import singledispatch

from thudmud.commands.model import End, Join, Leave, Play, Resign, SetRules, Start
from thudmud.engine import RULESETS, Ending, Game, Outcome, Side
from thudmud.engine.english import capitalised, does
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
    Parting,
    RulesSet,
    TableEvent,
)
from thudmud.tables.match import BATTLES
from thudmud.tables.refusals import Refusal, Refused
from thudmud.tables.table import Table

TableCommand = Join | Leave | Start | End | Resign | SetRules | Play
Events = tuple[TableEvent, ...]

OFFER_WORDS = {Offer.END: End, Offer.RESTART: Start}
"""The command that makes each offer, and agrees to it."""


def decide(table: Table, player: str, command: TableCommand, now: float) -> Events:
    """Return what ``command`` brings about at ``table``.

    Args:
        table: the table as it stands.
        player: the name of who asks.
        command: what is asked for; its ``on`` is not looked at.
        now: the time, in seconds since the epoch.

    Raises:
        Refused: the table does not allow it.
        IllegalMove: the rules of the game do not allow it.
    """
    return _decide(command, table, player, now)


def part(table: Table, player: str, parting: Parting, now: float) -> Events:
    """Return what happens when ``player`` gets up from ``table``, or is gone.

    Raises:
        Refused: ``player`` has no seat here.
    """
    left = Left(now, player, _seat(table, player), parting)
    if table.full:
        # An offer is made to a person: it goes with either of the two.
        return (*_lapsed(table, player, now), left)
    return (left,) if table.is_new else (left, Cleared(now, player))


@singledispatch
def _decide(command: object, table: Table, player: str, now: float) -> Events:  # noqa: ARG001 (the signature that the cases share)
    raise TypeError(f"a table knows nothing of {type(command).__name__}")


@_decide.register
def _(command: Join, table: Table, player: str, now: float) -> Events:
    mine, holder = table.side_of(player), table.seats.get(command.side)
    if holder == player:
        raise Refused(Refusal.SAME_SEAT, board=table.name, side=command.side.plural)
    if mine:
        raise Refused(Refusal.ONE_SEAT_EACH, board=table.name, side=mine.plural)
    if holder:
        hint = "You are welcome to watch." if table.full else free_seat(table)
        side = command.side.plural
        raise Refused(Refusal.SEAT_TAKEN, board=table.name, holder=holder, side=side, hint=hint)
    return (Joined(now, player, command.side),)


@_decide.register
def _(_command: Leave, table: Table, player: str, now: float) -> Events:
    return part(table, player, Parting.LEFT, now)


@_decide.register
def _(_command: Start, table: Table, player: str, now: float) -> Events:
    side = _seat(table, player)
    if not table.full:
        raise Refused(Refusal.NEEDS_OPPONENT, seats=free_seat(table))
    if table.running and table.offers.get(Offer.RESTART) is not side.other:
        return _offer(table, player, Offer.RESTART, now)
    dwarf, troll = table.seats[Side.DWARF], table.seats[Side.TROLL]
    if table.half_played:
        return (BattleStarted(now, player, BATTLES, table.ruleset.name, troll, dwarf),)
    return (BattleStarted(now, player, 1, table.ruleset.name, dwarf, troll),)


@_decide.register
def _(_command: End, table: Table, player: str, now: float) -> Events:
    side, game = _seat(table, player), battle(table, player)
    if table.offers.get(Offer.END) is side.other:
        return (_agreed(game, player, Ending.AGREEMENT, now),)
    if not table.full:
        return (_agreed(game, player, Ending.DESERTION, now),)
    if table.quiet:
        return (_agreed(game, player, Ending.QUIET, now),)
    return _offer(table, player, Offer.END, now)


@_decide.register
def _(_command: Resign, table: Table, player: str, now: float) -> Events:
    side, game = _seat(table, player), battle(table, player)
    return (BattleEnded(now, player, game.ruleset.resignation(game.position, side)),)


@_decide.register
def _(command: Play, table: Table, player: str, now: float) -> Events:
    side, game = _seat(table, player), battle(table, player)
    move = game.resolve(command.attempt, side)
    after = game.play(move)
    moved = Moved(now, player, side, move, len(after.moves))
    ended = (BattleEnded(now, player, after.outcome),) if after.outcome else ()
    return (*_lapsed(table, player, now), moved, *ended)


@_decide.register
def _(command: SetRules, table: Table, player: str, now: float) -> Events:
    board, rules = table.name, table.ruleset.name
    if command.rules not in RULESETS:
        known = ", ".join(RULESETS)
        raise Refused(Refusal.RULES_UNKNOWN, words=command.rules, known=known)
    if table.seats and table.side_of(player) is None:
        raise Refused(Refusal.RULES_SEATED_ONLY, board=board, seats=who_sits(table, player))
    if table.running:
        raise Refused(Refusal.RULES_RUNNING, board=board, rules=rules)
    if table.half_played:
        raise Refused(Refusal.RULES_MID_MATCH, board=board, rules=rules)
    if command.rules == rules:
        raise Refused(Refusal.RULES_ALREADY, board=board, rules=rules)
    return (RulesSet(now, player, command.rules),)


def battle(table: Table, player: str) -> Game:
    """Return the battle that is being played, which ``player`` asks about.

    Raises:
        Refused: there is none.
    """
    if table.match is None or not table.match.running:
        hint = f'"{Start(table.name)}" begins one.' if table.full else who_sits(table, player)
        raise Refused(Refusal.NO_BATTLE, board=table.name, hint=hint)
    return table.match.game


def who_sits(table: Table, me: str | None) -> str:
    """Return, as told to ``me``, who plays what at ``table``, and how to take a free seat."""
    plays = [
        f"{does(holder, me, 'play')} the {side.plural}" for side, holder in sorted_seats(table)
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


def _seat(table: Table, player: str) -> Side:
    side = table.side_of(player)
    if side is None:
        raise Refused(Refusal.NOT_SEATED, board=table.name, seats=who_sits(table, player))
    return side


def _lapsed(table: Table, player: str, now: float) -> Events:
    return tuple(OfferLapsed(now, player, offer) for offer in table.offers)


def _agreed(game: Game, player: str, ending: Ending, now: float) -> BattleEnded:
    outcome: Outcome = game.ruleset.by_agreement(game.position, ending)
    return BattleEnded(now, player, outcome)


def _offer(table: Table, player: str, offer: Offer, now: float) -> Events:
    side = _seat(table, player)
    if table.offers.get(offer) is side:
        other = table.seats[side.other]
        raise Refused(Refusal.ALREADY_OFFERED, other=other, words=OFFER_WORDS[offer](table.name))
    return (Offered(now, player, offer),)
